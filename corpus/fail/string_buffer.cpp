// A synchronised string buffer whose append() takes the other buffer's length and then its
// characters in two critical sections. Every method locks, so there is no data race; but when the
// other buffer is truncated in between, the length is stale and get_chars() throws.
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
        return count_;  //~ first
    }

    void get_chars(std::size_t n, char *to) const {
        std::lock_guard<std::mutex> guard(lock_);
        if (n > count_) throw std::out_of_range("get_chars past the end");  //~ second
        std::memcpy(to, chars_, n);
    }

    void set_length(std::size_t n) {
        std::lock_guard<std::mutex> guard(lock_);
        count_ = n;  //~ remote
    }

    void append(const StringBuffer &other) {
        std::lock_guard<std::mutex> guard(lock_);
        std::size_t n = other.length();
        if (count_ + n > sizeof chars_) throw std::length_error("append");
        other.get_chars(n, chars_ + count_);
        count_ += n;
    }

private:
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
