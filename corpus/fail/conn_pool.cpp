// A connection pool that looks for a free connection in one critical section and marks it busy in
// another: two requests may get the same connection.
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
        int at = find_free();
        if (at < 0) return nullptr;
        mark(at, true);
        return &connections_[at];
    }

    void release(Connection *c) {
        mark(static_cast<int>(c - connections_), false);
    }

    int queries() const { return connections_[0].queries + connections_[1].queries; }

private:
    int find_free() {
        std::lock_guard<std::mutex> guard(lock_);
        for (int i = 0; i < 2; ++i)
            if (!connections_[i].busy) return i;  //~ first
        return -1;
    }

    void mark(int at, bool busy) {
        std::lock_guard<std::mutex> guard(lock_);
        connections_[at].busy = busy;  //~ remote second
    }

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
