// The fixed string buffer: append() holds both buffers' locks over length and characters, so that
// nobody truncates the other buffer in between.
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <stdexcept>
#include <thread>

class StringBuffer {
public:
    explicit StringBuffer(const char *text) : count_(std::strlen(text)) {
        std::memcpy(chars_, text, count_);
    }

    std::size_t length() const {
        std::lock_guard<std::mutex> guard(lock_);
        return count_;
    }

    void get_chars(std::size_t n, char *to) const {
        std::lock_guard<std::mutex> guard(lock_);
        copy_out(n, to);
    }

    void set_length(std::size_t n) {
        std::lock_guard<std::mutex> guard(lock_);
        count_ = n;
    }

    void append(const StringBuffer &other) {
        std::scoped_lock guard(lock_, other.lock_);
        std::size_t n = other.count_;
        if (count_ + n > sizeof chars_) throw std::length_error("append");
        other.copy_out(n, chars_ + count_);
        count_ += n;
    }

private:
    void copy_out(std::size_t n, char *to) const {
        if (n > count_) throw std::out_of_range("get_chars past the end");
        std::memcpy(to, chars_, n);
    }

    mutable std::mutex lock_;
    char chars_[64];
    std::size_t count_;
};

int main() {
    StringBuffer line("hello, "), word("world");
    bool failed = false;
    std::thread appender([&] {
        try {
            line.append(word);
        } catch (const std::exception &e) {
            std::fprintf(stderr, "append: %s\n", e.what());
            failed = true;
        }
    });
    std::thread truncator([&] { word.set_length(0); });
    appender.join();
    truncator.join();
    if (failed) return 1;
    std::puts("appended");
}
