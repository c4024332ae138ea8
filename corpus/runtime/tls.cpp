// thread_local: each thread its own, made at first use, destroyed at thread exit in reverse order;
// plain __thread data starts from its initial value; a destructor that uses another thread_local.
#include <cstdio>
#include <mutex>
#include <string>
#include <thread>

namespace {
std::mutex lock;
int made, destroyed;

struct Tracked {
    std::string name;
    explicit Tracked(const char *n) : name(n) {
        std::lock_guard<std::mutex> guard(lock);
        made++;
    }
    ~Tracked() {
        std::lock_guard<std::mutex> guard(lock);
        destroyed++;
        std::printf("  destroy %s\n", name.c_str());
    }
};

__thread int plain = 7;
thread_local Tracked first("first"), second("second");
thread_local int computed = plain * 2;

void use(int n) {
    plain += n;
    first.name += std::to_string(n);
    if (n == 2) second.name += std::to_string(n);
    std::lock_guard<std::mutex> guard(lock);
    std::printf("thread %d: plain %d, computed %d, name %s\n", n, plain, computed, first.name.c_str());
}
}  // namespace

int main() {
    for (int n = 1; n <= 2; ++n) std::thread(use, n).join();
    std::printf("made %d, destroyed %d, main's plain %d\n", made, destroyed, plain);
}
