// C++ exceptions through many frames with locks and destructors, in two threads at once; rethrow,
// nested exceptions, exceptions in constructors, and noexcept functions that catch.
#include <cstdio>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace {
std::recursive_mutex lock;
int live, caught, deepest;

struct Guarded {
    Guarded() {
        std::lock_guard<std::recursive_mutex> guard(lock);
        live++;
    }
    ~Guarded() {
        std::lock_guard<std::recursive_mutex> guard(lock);
        live--;
    }
};

struct Half {
    Guarded first;
    Half(bool fail) { if (fail) throw std::runtime_error("half made"); }
};

void descend(int depth) {
    std::lock_guard<std::recursive_mutex> guard(lock);
    Guarded object;
    if (live > deepest) deepest = live;
    if (depth == 0) throw std::runtime_error("bottom");
    try {
        descend(depth - 1);
    } catch (const std::logic_error &) {
        std::puts("not reached");
    }
}

void worker() {
    for (int i = 0; i < 10; ++i) {
        try {
            descend(i);
        } catch (const std::exception &) {
            std::lock_guard<std::recursive_mutex> guard(lock);
            caught++;
        }
    }
}

std::string nested() {
    try {
        try {
            throw std::out_of_range("inner");
        } catch (...) {
            std::throw_with_nested(std::runtime_error("outer"));
        }
    } catch (const std::exception &e) {
        std::string text = e.what();
        try {
            std::rethrow_if_nested(e);
        } catch (const std::exception &inner) {
            text += std::string(" of ") + inner.what();
        }
        return text;
    }
}

bool contained() noexcept {
    try {
        Half half(true);
    } catch (...) {
        return true;
    }
    return false;
}
}  // namespace

int main() {
    std::thread a(worker), b(worker);
    a.join();
    b.join();
    std::printf("caught %d, live %d, deepest %d\n", caught, live, deepest);
    bool inside = contained();
    std::printf("nested: %s, contained %d, live %d\n", nested().c_str(), inside, live);
}
