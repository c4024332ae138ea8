// Function-local statics made by whoever comes first while others wait (__cxa_guard): three threads,
// one of them; a constructor that throws the first time; recursion through two statics.
#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {
std::atomic<int> made{0}, attempts{0}, caught{0}, sum{0};

struct Table {
    int entries[100];
    Table() {
        made++;
        for (int i = 0; i < 100; ++i) {
            entries[i] = i;
            if (i % 10 == 0) std::this_thread::yield();
        }
    }
};

struct Fragile {
    int value;
    Fragile() : value(3) {
        if (++attempts == 1) throw std::runtime_error("first attempt");
    }
};

const Table &table() {
    static Table instance;
    return instance;
}

int total() {
    static int value = [] {
        int t = 0;
        for (int e : table().entries) t += e;
        return t;
    }();
    return value;
}

int fragile() {
    static Fragile instance;
    return instance.value;
}

void user() {
    sum += total() + table().entries[99];
    for (;;) {
        try {
            sum += fragile();
            return;
        } catch (const std::runtime_error &) {
            caught++;
        }
    }
}
}  // namespace

int main() {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) threads.emplace_back(user);
    for (auto &t : threads) t.join();
    std::printf("made %d, attempts %d, caught %d, sum %d\n", made.load(), attempts.load(), caught.load(), sum.load());
}
