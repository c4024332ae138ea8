// The fixed form: exchange() checks and acts in one step.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
std::atomic<bool> started{false};
std::atomic<int> runs{0};

void run_service() { runs.fetch_add(1); }

void start_once() {
    if (!started.exchange(true)) run_service();
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
