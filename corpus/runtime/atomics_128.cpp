// Atomics of 16 bytes: the operations libatomic offers for __int128 and for a struct of pointer and
// counter, results checked, then a tagged counter raised by two threads.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <thread>

__extension__ typedef unsigned __int128 u128;

static int failures;
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            failures++; \
            std::printf("line %d: %s\n", __LINE__, #condition); \
        } \
    } while (0)

static u128 wide(std::uint64_t high, std::uint64_t low) { return (u128)high << 64 | low; }

struct Tagged {
    std::uint64_t value, tag;
    bool operator==(const Tagged &o) const { return value == o.value && tag == o.tag; }
};

static void operations() {
    u128 x = wide(1, 2);
    CHECK(__atomic_load_n(&x, __ATOMIC_SEQ_CST) == wide(1, 2));
    __atomic_store_n(&x, wide(3, UINT64_MAX), __ATOMIC_RELEASE);
    CHECK(__atomic_fetch_add(&x, (u128)1, __ATOMIC_SEQ_CST) == wide(3, UINT64_MAX) && x == wide(4, 0));
    CHECK(__atomic_fetch_sub(&x, (u128)1, __ATOMIC_ACQ_REL) == wide(4, 0) && x == wide(3, UINT64_MAX));
    CHECK(__atomic_exchange_n(&x, wide(5, 6), __ATOMIC_ACQUIRE) == wide(3, UINT64_MAX));
    CHECK(__atomic_fetch_or(&x, wide(8, 1), __ATOMIC_RELAXED) == wide(5, 6) && x == wide(13, 7));
    CHECK(__atomic_fetch_and(&x, wide(9, 5), __ATOMIC_RELAXED) == wide(13, 7) && x == wide(9, 5));
    CHECK(__atomic_fetch_xor(&x, wide(1, 1), __ATOMIC_RELAXED) == wide(9, 5) && x == wide(8, 4));
    u128 expected = 0;
    CHECK(!__atomic_compare_exchange_n(&x, &expected, wide(1, 1), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    CHECK(expected == wide(8, 4));
    CHECK(__atomic_compare_exchange_n(&x, &expected, wide(1, 1), false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    CHECK(x == wide(1, 1));
}

int main() {
    operations();
    std::atomic<Tagged> tagged{Tagged{0, 100}};
    auto raise = [&] {
        for (int i = 0; i < 500; ++i) {
            Tagged old = tagged.load();
            while (!tagged.compare_exchange_weak(old, Tagged{old.value + 1, old.tag + 2})) continue;
        }
    };
    std::thread a(raise), b(raise);
    a.join();
    b.join();
    Tagged end = tagged.exchange(Tagged{7, 8});
    CHECK((end == Tagged{1000, 2100}));
    tagged.store(Tagged{9, 10});
    CHECK((tagged.load() == Tagged{9, 10}));
    std::printf("failures %d, value %d, tag %d\n", failures, (int)end.value, (int)end.tag);
    return failures != 0;
}
