// A work-stealing deque whose owner and thief advance `top` by load and store instead of
// compare-and-swap. When both go for the last task, or two thieves for one, it is run twice.
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
        if (top.load() != t) return false;
        top.store(t + 1);  //~ remote second
        return true;
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
        int t = top.load();  //~ first
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
