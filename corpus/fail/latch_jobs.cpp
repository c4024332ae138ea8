// C++20: workers limited by a counting_semaphore raise a high-water mark, load and then store, and
// report to a latch. A smaller mark may overwrite a larger one.
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
    if (high_water.load() < level) {  //~ first
        high_water.store(level);      //~ remote second
    }
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
