// The fixed connection pool: finding and marking are one critical section.
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

namespace {
struct Connection {
    bool busy = false;
    std::atomic<int> users{0};
    std::atomic<int> queries{0};
};

class Pool {
public:
    Connection *acquire() {
        std::lock_guard<std::mutex> guard(lock_);
        for (Connection &c : connections_) {
            if (c.busy) continue;
            c.busy = true;
            return &c;
        }
        return nullptr;
    }

    void release(Connection *c) {
        std::lock_guard<std::mutex> guard(lock_);
        c->busy = false;
    }

    int queries() const { return connections_[0].queries + connections_[1].queries; }

private:
    std::mutex lock_;
    Connection connections_[2];
} pool;

std::atomic<bool> shared{false};

void request() {
    Connection *c = pool.acquire();
    if (c->users.fetch_add(1) != 0) shared = true;
    c->queries.fetch_add(1);
    c->users.fetch_sub(1);
    pool.release(c);
}
}  // namespace

int main() {
    std::thread a(request), b(request);
    a.join();
    b.join();
    if (shared) {
        std::fprintf(stderr, "two requests on one connection\n");
        return 1;
    }
    std::printf("%d queries\n", pool.queries());
}
