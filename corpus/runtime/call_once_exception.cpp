// std::call_once: a call that throws does not count, the exception reaches its caller, and the next
// call (perhaps in another thread that is already waiting) runs the function again.
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {
std::once_flag flag;
std::mutex lock;
int attempts, caught, completed, config;

void load(bool quiet) {
    int attempt;
    {
        std::lock_guard<std::mutex> guard(lock);
        attempt = ++attempts;
    }
    if (attempt < 3) throw std::runtime_error("attempt " + std::to_string(attempt));
    config = 42;
    if (!quiet) std::cout << "loaded\n";
}

void user() {
    for (;;) {
        try {
            std::call_once(flag, load, true);
            break;
        } catch (const std::runtime_error &) {
            std::lock_guard<std::mutex> guard(lock);
            ++caught;
        }
    }
    std::lock_guard<std::mutex> guard(lock);
    completed += config == 42;
}
}  // namespace

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(user);
    for (auto &t : threads) t.join();
    std::cout << "attempts " << attempts << ", caught " << caught << ", completed " << completed << "\n";

    // In one thread the order is certain.
    std::once_flag other;
    int calls = 0;
    for (int i = 0; i < 4; ++i) {
        try {
            std::call_once(other, [&] {
                if (++calls == 1) throw i;
                std::cout << "second call completes at " << i << "\n";
            });
        } catch (int at) {
            std::cout << "first call throws at " << at << "\n";
        }
    }
    std::cout << "calls " << calls << "\n";
}
