// Atomics of 1, 2, 4 and 8 bytes, every operation with its result checked: load, store, exchange,
// compare-and-swap (strong, weak, succeeding and failing), add, sub, and, or, xor, nand; wrap-around;
// all memory orders; pointers, bool, flags, fences, floating point; then two threads at once.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <initializer_list>
#include <limits>
#include <thread>

static int failures;
#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            failures++; \
            std::printf("line %d: %s\n", __LINE__, #condition); \
        } \
    } while (0)

template <class T> static void operations(std::memory_order order) {
    const bool can_load = order != std::memory_order_release && order != std::memory_order_acq_rel;
    const auto load_order = can_load ? order : std::memory_order_acquire;
    const bool can_store = order == std::memory_order_relaxed || order == std::memory_order_release ||
                           order == std::memory_order_seq_cst;
    const auto store_order = can_store ? order : std::memory_order_release;
    std::atomic<T> a{T(5)};
    CHECK(a.load(load_order) == T(5));
    a.store(T(9), store_order);
    CHECK(a.exchange(T(12), order) == T(9));
    T expected = T(12);
    CHECK(a.compare_exchange_strong(expected, T(20), order, load_order) && a == T(20));
    expected = T(1);
    CHECK(!a.compare_exchange_strong(expected, T(30), order, load_order) && expected == T(20) && a == T(20));
    while (!a.compare_exchange_weak(expected, T(40), order, load_order)) continue;
    CHECK(a == T(40));
    CHECK(a.fetch_add(T(7), order) == T(40) && a == T(47));
    CHECK(a.fetch_sub(T(3), order) == T(47) && a == T(44));
    CHECK(a.fetch_and(T(0x3c), order) == T(44) && a == T(44 & 0x3c));
    CHECK(a.fetch_or(T(0x41), order) == T(44) && a == T(44 | 0x41));
    CHECK(a.fetch_xor(T(0xff), order) == T(0x6d) && a == T(0x6d ^ 0xff));
    a = std::numeric_limits<T>::max();
    CHECK(a.fetch_add(T(1), order) == std::numeric_limits<T>::max() && a == std::numeric_limits<T>::min());
    CHECK(--a == std::numeric_limits<T>::max());
    CHECK((a &= T(3)) == T(3) && (a |= T(8)) == T(11) && (a ^= T(1)) == T(10) && (a += T(2)) == T(12) && a++ == T(12));
    T raw = T(6);
    CHECK(__atomic_fetch_nand(&raw, T(3), __ATOMIC_SEQ_CST) == T(6) && raw == T(~2));
    CHECK(__sync_fetch_and_add(&raw, T(4)) == T(~2) && raw == T(T(~2) + 4));
    CHECK(!__sync_bool_compare_and_swap(&raw, T(77), T(1)) && __sync_val_compare_and_swap(&raw, T(1), T(6)) == T(1));
    CHECK(__sync_lock_test_and_set(&raw, T(2)) == T(6));
    __sync_lock_release(&raw);
    CHECK(raw == T(0));
}

template <class T> static void sizes() {
    for (auto order : {std::memory_order_relaxed, std::memory_order_consume, std::memory_order_acquire,
                       std::memory_order_release, std::memory_order_acq_rel, std::memory_order_seq_cst})
        operations<T>(order);
    std::atomic<T> shared{0};
    auto work = [&] { for (int i = 0; i < 500; ++i) shared.fetch_add(T(1), std::memory_order_relaxed); };
    std::thread a(work), b(work);
    a.join();
    b.join();
    CHECK(shared == T(1000));
}

static void others() {
    int array[4] = {};
    std::atomic<int *> pointer{array};
    CHECK(pointer.fetch_add(2) == array && pointer.load() == array + 2 && --pointer == array + 1);
    std::atomic<bool> truth{false};
    CHECK(!truth.exchange(true) && truth.load());
    std::atomic_flag flag = ATOMIC_FLAG_INIT;
    CHECK(!flag.test_and_set() && flag.test_and_set());
    flag.clear();
    CHECK(!flag.test_and_set());
    std::atomic<double> real{1.5};
    double seen = 1.5;
    CHECK(real.compare_exchange_strong(seen, 2.5) && real.load() == 2.5);
    std::atomic_thread_fence(std::memory_order_seq_cst);
    std::atomic_signal_fence(std::memory_order_acq_rel);
    __sync_synchronize();
    int data = 0;
    std::atomic<int> ready{0};
    std::thread t([&] {
        data = 17;
        std::atomic_thread_fence(std::memory_order_release);
        ready.store(1, std::memory_order_relaxed);
    });
    while (!ready.load(std::memory_order_relaxed)) std::this_thread::yield();
    std::atomic_thread_fence(std::memory_order_acquire);
    CHECK(data == 17);
    t.join();
}

int main() {
    sizes<std::int8_t>();
    sizes<std::uint8_t>();
    sizes<std::int16_t>();
    sizes<std::uint16_t>();
    sizes<std::int32_t>();
    sizes<std::uint32_t>();
    sizes<std::int64_t>();
    sizes<std::uint64_t>();
    others();
    std::printf("failures %d\n", failures);
    return failures != 0;
}
