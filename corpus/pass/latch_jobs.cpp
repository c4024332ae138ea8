// The fixed high-water mark: a compare-and-swap loop stores only what is larger.
#include <atomic>
#include <cstdio>
#include <latch>
#include <semaphore>
#include <thread>

namespace {
std::counting_semaphore<2> slots(2);
std::latch done(3);
std::atomic<int> high_water{0};

void raise_mark(int level) {
    int seen = high_water.load();
    while (seen < level && !high_water.compare_exchange_weak(seen, level)) continue;
}

void job(int level) {
    slots.acquire();
    raise_mark(level);
    slots.release();
    done.count_down();
}
}  // namespace

int main() {
    std::thread a(job, 10), b(job, 20), c(job, 30);
    done.wait();
    int mark = high_water.load();
    a.join();
    b.join();
    c.join();
    if (mark != 30) {
        std::fprintf(stderr, "high-water mark %d instead of 30\n", mark);
        return 1;
    }
    std::printf("high-water mark %d\n", mark);
}
