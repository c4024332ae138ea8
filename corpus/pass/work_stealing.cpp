// The fixed work-stealing deque: whoever takes a task from the top does so by compare-and-swap, the
// owner too when it is the last one.
#include <atomic>
#include <cstdio>
#include <thread>

namespace {
enum { TASKS = 6 };
std::atomic<int> runs[TASKS];

struct Deque {
    std::atomic<int> top{0}, bottom{0};
    std::atomic<int> tasks[TASKS];

    void push(int task) {
        int b = bottom.load();
        tasks[b].store(task);
        bottom.store(b + 1);
    }

    bool take_top(int t) {
        return top.compare_exchange_strong(t, t + 1);
    }

    int pop() {  // By the owner.
        int b = bottom.load() - 1;
        bottom.store(b);
        int t = top.load();
        if (t < b) return tasks[b].load();
        int task = t == b && take_top(t) ? tasks[b].load() : -1;
        bottom.store(b + 1);
        return task;
    }

    int steal() {  // By anybody else.
        int t = top.load();
        if (t >= bottom.load()) return -1;
        int task = tasks[t].load();
        return take_top(t) ? task : -1;
    }
} deque;

void owner() {
    int task;
    while ((task = deque.pop()) >= 0) runs[task].fetch_add(1);
}

void thief() {
    for (int i = 0; i < 3; ++i) {
        int task = deque.steal();
        if (task >= 0) runs[task].fetch_add(1);
    }
}
}  // namespace

int main() {
    for (int i = 0; i < TASKS; ++i) deque.push(i);
    std::thread a(owner), b(thief), c(thief);
    a.join();
    b.join();
    c.join();
    for (int i = 0; i < TASKS; ++i) {
        if (runs[i] != 1) {
            std::fprintf(stderr, "task %d ran %d times\n", i, runs[i].load());
            return 1;
        }
    }
    std::puts("every task ran once");
}
