// Right: a sequence lock. The reader takes two values without a lock and starts again when the
// sequence number moved meanwhile, so what it keeps belongs together.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
std::atomic<unsigned> sequence{0};
std::atomic<int> x{0}, y{0};
std::atomic<bool> torn{false};

void write_point(int value) {
    sequence.fetch_add(1);  // Odd: being written.
    x.store(value);
    y.store(-value);
    sequence.fetch_add(1);
}

int read_point() {
    for (;;) {
        unsigned before = sequence.load();
        int a = x.load(), b = y.load();
        if (before % 2 == 0 && sequence.load() == before) {
            if (a != -b) torn = true;
            return a;
        }
        std::this_thread::yield();
    }
}

void writer() {
    for (int i = 1; i <= 3; ++i) write_point(i);
}

void reader() {
    for (int i = 0; i < 3; ++i) read_point();
}
}  // namespace

int main() {
    std::thread a(writer), b(reader);
    a.join();
    b.join();
    if (torn) {
        std::fprintf(stderr, "a torn point was kept\n");
        return 1;
    }
    std::printf("point %d\n", read_point());
}
