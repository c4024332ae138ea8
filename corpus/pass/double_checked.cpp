// Right: double-checked locking with an acquire load, a second look under the lock, and a release
// store. The pointer may change between the two looks; that is what the second one is for.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
struct Table {
    int entries[4];
};

std::mutex lock;
std::atomic<Table *> table{nullptr};
Table storage;
std::atomic<int> made{0}, sum{0};

Table *get_table() {
    Table *t = table.load(std::memory_order_acquire);
    if (t == nullptr) {
        std::lock_guard<std::mutex> guard(lock);
        t = table.load(std::memory_order_relaxed);
        if (t == nullptr) {
            t = &storage;
            for (int i = 0; i < 4; ++i) t->entries[i] = i + 1;
            made++;
            table.store(t, std::memory_order_release);
        }
    }
    return t;
}

void user() {
    Table *t = get_table();
    sum.fetch_add(t->entries[0] + t->entries[1] + t->entries[2] + t->entries[3]);
}
}  // namespace

int main() {
    std::thread a(user), b(user);
    a.join();
    b.join();
    std::printf("made %d, sum %d\n", made.load(), sum.load());
    return made != 1 || sum != 20;
}
