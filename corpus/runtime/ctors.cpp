// Constructors before main and destructors and exit handlers after it, all touching shared data, one
// of them with threads of its own before main; order by priority and by declaration.
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

static int steps;
static std::mutex lock;

static void say(const char *text) {
    std::lock_guard<std::mutex> guard(lock);
    std::printf("%d %s\n", ++steps, text);
    std::fflush(stdout);
}

__attribute__((constructor(101))) static void earliest() { steps = 10; }

struct Object {
    const char *name;
    explicit Object(const char *n) : name(n) {
        std::thread t([this] { say(name); });
        t.join();
    }
    ~Object() {
        std::thread t([] { say("thread after main"); });
        t.join();
        say(name);
    }
};

static Object first("first object"), second("second object");

static void at_exit() { say("exit handler"); }
static void at_quick_exit() { say("not reached"); }

__attribute__((destructor)) static void latest() { say("destructor function"); }

static Object &local() {
    static Object object("local static");
    return object;
}

int main() {
    std::atexit(at_exit);
    std::at_quick_exit(at_quick_exit);
    say("main");
    std::thread a([] { local(); }), b([] { local(); });
    a.join();
    b.join();
    say("end of main");
}
