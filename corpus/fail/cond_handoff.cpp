// Consumers wait for an item under the lock, let the lock go, and take the item in a second
// critical section: two woken consumers may take one item, and the count goes below zero.
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
std::mutex lock;
std::condition_variable not_empty;
int items, taken, lowest;

void wait_for_item(std::unique_lock<std::mutex> &guard) {
    not_empty.wait(guard, [] { return items > 0; });  //~ first
}

void consume() {
    {
        std::unique_lock<std::mutex> guard(lock);
        wait_for_item(guard);
    }
    std::lock_guard<std::mutex> guard(lock);
    items--;  //~ remote second
    taken++;
    if (items < lowest) lowest = items;
}

void produce() {
    for (int i = 0; i < 2; ++i) {
        std::lock_guard<std::mutex> guard(lock);
        items++;
        not_empty.notify_all();
    }
}
}  // namespace

int main() {
    std::thread producer(produce), a(consume), b(consume);
    producer.join();
    a.join();
    b.join();
    if (lowest < 0) {
        std::fprintf(stderr, "an item was taken before it was there\n");
        return 1;
    }
    std::printf("taken %d, left %d\n", taken, items);
}
