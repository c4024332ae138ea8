// The fixed booking: room is looked for and booked in one critical section.
#include <cstdio>
#include <future>
#include <mutex>
#include <stdexcept>

namespace {
std::mutex lock;
int booked = 2;
constexpr int capacity = 3;

// The seat's number, or 0 when there is no room.
int try_book() {
    std::lock_guard<std::mutex> guard(lock);
    if (booked >= capacity) return 0;
    return ++booked;
}
}  // namespace

int main() {
    std::printf("booked %d of %d\n", booked, capacity);
    auto a = std::async(std::launch::async, try_book);
    auto b = std::async(std::launch::async, try_book);
    try {
        int sum = a.get() + b.get();
        std::printf("seat %d\n", sum);
    } catch (const std::exception &e) {
        std::fprintf(stderr, "booking: %s\n", e.what());
        return 1;
    }
}
