// The fixed id generator: reading and writing are one exclusive section; peek() may share.
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

namespace {
std::shared_mutex lock;
int next_id = 100;

int peek() {
    std::shared_lock<std::shared_mutex> guard(lock);
    return next_id;
}

int draw() {
    std::unique_lock<std::shared_mutex> guard(lock);
    return next_id++;
}

void worker(std::vector<int> *ids) {
    for (int i = 0; i < 2; ++i) ids->push_back(draw());
}
}  // namespace

int main() {
    int own = draw();
    std::vector<int> first, second;
    std::thread a(worker, &first), b(worker, &second);
    a.join();
    b.join();
    for (int x : first) {
        for (int y : second) {
            if (x != y) continue;
            std::fprintf(stderr, "id %d was drawn twice\n", x);
            return 1;
        }
    }
    std::printf("own %d, next %d\n", own, peek());
}
