// Check, then act, on a std::atomic: `if (!started.load()) started.store(true)` in two threads. Both
// may find it false and both run the service. There is no data race to detect.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
std::atomic<bool> started{false};
std::atomic<int> runs{0};

void run_service() { runs.fetch_add(1); }

void start_once() {
    if (!started.load()) {     //~ first
        started.store(true);  //~ remote second
        run_service();
    }
}
}  // namespace

int main() {
    std::thread a(start_once), b(start_once);
    a.join();
    b.join();
    if (runs != 1) {
        std::fprintf(stderr, "the service was started %d times\n", runs.load());
        return 1;
    }
    std::puts("started once");
}
