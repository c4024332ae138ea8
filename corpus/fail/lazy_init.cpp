// Lazy initialisation with each half locked: the pointer is read in one critical section and set in
// another, and two threads that both find it null make two instances. No data race.
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

int count_made() {
    std::lock_guard<std::mutex> guard(lock);
    return made;
}

Registry *make() {
    std::lock_guard<std::mutex> guard(lock);
    return &storage[made++];
}

Registry *peek() {
    std::lock_guard<std::mutex> guard(lock);
    return instance;  //~ first
}

void publish(Registry *made_now) {
    std::lock_guard<std::mutex> guard(lock);
    instance = made_now;  //~ remote second
}

Registry *get_instance() {
    if (peek() == nullptr) publish(make());
    return peek();
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
