// Much allocation: malloc, calloc, realloc, aligned_alloc, posix_memalign, memalign, strdup, new and
// delete in their forms; blocks made by one thread, checked and freed by another.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <new>
#include <thread>
#include <vector>

namespace {
constexpr int rounds = 3000;
std::mutex lock;
std::vector<unsigned char *> mailbox;
bool finished;
long wrong, handed, freed;

struct alignas(64) Wide {
    char bytes[64];
};

void complain(bool condition) {
    if (condition) return;
    std::lock_guard<std::mutex> guard(lock);
    wrong++;
}

// The first two bytes hold the size, the rest its low byte.
unsigned char *block(int size) {
    auto *p = static_cast<unsigned char *>(std::malloc(size));
    std::memset(p, size & 0xff, size);
    p[0] = size & 0xff;
    p[1] = size >> 8;
    return p;
}

void maker() {
    for (int i = 0; i < rounds; ++i) {
        unsigned char *p = block(2 + i * 7 % 3000);
        std::lock_guard<std::mutex> guard(lock);
        mailbox.push_back(p);
        handed++;
    }
    std::lock_guard<std::mutex> guard(lock);
    finished = true;
}

void breaker() {
    for (;;) {
        std::vector<unsigned char *> taken;
        bool last;
        {
            std::lock_guard<std::mutex> guard(lock);
            taken.swap(mailbox);
            last = finished;
        }
        for (unsigned char *p : taken) {
            int size = p[0] | p[1] << 8;
            for (int i = 2; i < size; ++i) complain(p[i] == (size & 0xff));
            std::free(p);
            freed++;
        }
        if (last) return;
        std::this_thread::yield();
    }
}

void forms() {
    for (int i = 1; i < 400; ++i) {
        auto *zero = static_cast<char *>(std::calloc(i, 3));
        for (int k = 0; k < 3 * i; ++k) complain(zero[k] == 0);
        zero[0] = 'x';
        auto *grown = static_cast<char *>(std::realloc(zero, 40 * i));
        complain(grown[0] == 'x' && malloc_usable_size(grown) >= static_cast<std::size_t>(40 * i));
        auto *shrunk = static_cast<char *>(std::realloc(grown, 1));
        complain(shrunk[0] == 'x');
        std::free(shrunk);
        void *aligned = std::aligned_alloc(256, 512), *posix = nullptr, *old = memalign(64, i);
        complain(posix_memalign(&posix, 1024, i) == 0);
        complain(reinterpret_cast<std::uintptr_t>(aligned) % 256 == 0);
        complain(reinterpret_cast<std::uintptr_t>(posix) % 1024 == 0);
        complain(reinterpret_cast<std::uintptr_t>(old) % 64 == 0);
        std::free(aligned);
        std::free(posix);
        std::free(old);
        std::unique_ptr<Wide> wide(new Wide);
        complain(reinterpret_cast<std::uintptr_t>(wide.get()) % 64 == 0);
        std::unique_ptr<int[]> array(new int[i]());
        complain(array[i - 1] == 0);
        char *copy = strdup("copied");
        complain(std::strcmp(copy, "copied") == 0);
        std::free(copy);
        delete new (std::nothrow) int(i);
    }
    std::free(nullptr);
}
}  // namespace

int main() {
    std::thread a(maker), b(breaker), c(forms), d(forms);
    a.join();
    b.join();
    c.join();
    d.join();
    volatile std::size_t impossible = SIZE_MAX / 2;
    std::printf("handed %ld, freed %ld, wrong %ld, impossible %s\n", handed, freed, wrong,
                std::malloc(impossible) == nullptr ? "null" : "?");
}
