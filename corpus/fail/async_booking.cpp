// Bookings by std::async: a task looks for room, then books, in two critical sections. A booking
// over capacity throws, and the exception reaches main through the future.
#include <cstdio>
#include <future>
#include <mutex>
#include <stdexcept>

namespace {
std::mutex lock;
int booked = 2;
constexpr int capacity = 3;

bool has_room() {
    std::lock_guard<std::mutex> guard(lock);
    return booked < capacity;  //~ first
}

int book() {
    std::lock_guard<std::mutex> guard(lock);
    if (booked >= capacity) throw std::runtime_error("overbooked");  //~ second
    return ++booked;  //~ remote
}

// The seat's number, or 0 when there is no room.
int try_book() {
    return has_room() ? book() : 0;
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
