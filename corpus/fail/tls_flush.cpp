// Per-thread statistics in a thread_local object whose destructor adds them to the process's total.
// It reads and writes the total in two critical sections, so two threads that end together lose
// one's share.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
std::mutex lock;
long total;

long read_total() {
    std::lock_guard<std::mutex> guard(lock);
    return total;  //~ first
}

void write_total(long value) {
    std::lock_guard<std::mutex> guard(lock);
    total = value;  //~ remote second
}

struct Statistics {
    long requests = 0;
    void flush() { write_total(read_total() + requests); }
    ~Statistics() { flush(); }
};

thread_local Statistics statistics;

void serve(int n) {
    for (int i = 0; i < n; ++i) statistics.requests++;
}
}  // namespace

int main() {
    statistics.requests = 5;
    statistics.flush();
    statistics.requests = 0;  // So that main's destructor adds nothing.
    std::thread a(serve, 10), b(serve, 20);
    a.join();
    b.join();
    if (total != 35) {
        std::fprintf(stderr, "%ld requests of 35\n", total);
        return 1;
    }
    std::printf("%ld requests\n", total);
}
