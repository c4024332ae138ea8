// The fixed queue: try_pop() checks and takes in one critical section.
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

    bool try_pop(int *item) {
        std::lock_guard<std::mutex> guard(lock_);
        if (size_ == 0) return false;
        *item = items_[first_];
        first_ = (first_ + 1) % 8;
        size_--;
        return true;
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
    int item;
    if (queue.try_pop(&item)) results[me] = item;
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
