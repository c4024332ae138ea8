// The fixed lazy initialisation: std::call_once makes the one instance.
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
struct Registry {
    int entries = 0;
};

std::mutex lock;
Registry storage[2];
Registry *instance;
int made;
std::once_flag once;

int count_made() {
    std::lock_guard<std::mutex> guard(lock);
    return made;
}

Registry *make() {
    std::lock_guard<std::mutex> guard(lock);
    return &storage[made++];
}

Registry *get_instance() {
    std::call_once(once, [] { instance = make(); });
    return instance;
}

void add_entry() {
    Registry *r = get_instance();
    std::lock_guard<std::mutex> guard(lock);
    r->entries++;
}
}  // namespace

int main() {
    std::printf("made %d\n", count_made());
    std::thread a(add_entry), b(add_entry);
    a.join();
    b.join();
    if (made != 1) {
        std::fprintf(stderr, "%d instances, the published one has %d of 2 entries\n", made, instance->entries);
        return 1;
    }
    std::printf("one instance, %d entries\n", instance->entries);
}
