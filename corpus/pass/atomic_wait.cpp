// The fixed gate: passing and closing is one compare-and-swap, tried again after each wait.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
std::atomic<int> gate{1};  // 1: open.
std::atomic<int> inside{0}, most{0};

void pass_gate() {
    int open = 1;
    while (!gate.compare_exchange_strong(open, 0)) {
        gate.wait(0);
        open = 1;
    }
}

void open_gate() {
    gate.store(1);
    gate.notify_one();
}

void visitor() {
    pass_gate();
    int now = inside.fetch_add(1) + 1;
    if (now > 1) most.store(now);
    inside.fetch_sub(1);
    open_gate();
}
}  // namespace

int main() {
    std::thread a(visitor), b(visitor);
    a.join();
    b.join();
    if (most > 1) {
        std::fprintf(stderr, "%d passed one opening\n", most.load());
        return 1;
    }
    std::printf("gate %d, inside %d\n", gate.load(), inside.load());
}
