// A queue with a locked empty() and a locked pop(), used as `if (!q.empty()) q.pop()` by two
// consumers: the last item may go between one consumer's check and its pop, which then throws.
#include <cstddef>
#include <cstdio>
#include <mutex>
#include <stdexcept>
#include <thread>

class Queue {
public:
    void push(int item) {
        std::lock_guard<std::mutex> guard(lock_);
        items_[(first_ + size_) % 8] = item;
        size_++;
    }

    bool empty() {
        std::lock_guard<std::mutex> guard(lock_);
        return size_ == 0;  //~ first
    }

    int pop() {
        std::lock_guard<std::mutex> guard(lock_);
        if (size_ == 0) throw std::logic_error("pop of an empty queue");  //~ second
        int item = items_[first_];
        first_ = (first_ + 1) % 8;
        size_--;  //~ remote
        return item;
    }

private:
    std::mutex lock_;
    int items_[8] = {};
    std::size_t first_ = 0, size_ = 0;
};

namespace {
Queue queue;
int results[2];
bool failed[2];

void consume(int me) {
    try {
        if (!queue.empty()) results[me] = queue.pop();
    } catch (const std::logic_error &e) {
        std::fprintf(stderr, "consumer %d: %s\n", me, e.what());
        failed[me] = true;
    }
}
}  // namespace

int main() {
    queue.push(7);
    std::thread a(consume, 0), b(consume, 1);
    a.join();
    b.join();
    if (failed[0] || failed[1]) return 1;
    std::printf("consumed %d\n", results[0] + results[1]);
}
