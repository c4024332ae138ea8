// The futex system call used directly: a mutex of three states, wait with a stale value, wake of
// nobody, a timeout, requeue-free bitset wait with an absolute time.
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 100 };

static atomic_int word;  // 0 free, 1 held, 2 held with waiters.
static int counter;

static long futex(atomic_int *at, int op, int value, const struct timespec *timeout, unsigned bits) {
    return syscall(SYS_futex, at, op | FUTEX_PRIVATE_FLAG, value, timeout, NULL, bits);
}

static void lock(void) {
    int state = 0;
    if (atomic_compare_exchange_strong(&word, &state, 1)) return;
    if (state != 2) state = atomic_exchange(&word, 2);
    while (state != 0) {
        futex(&word, FUTEX_WAIT, 2, NULL, 0);
        state = atomic_exchange(&word, 2);
    }
}

static void unlock(void) {
    if (atomic_exchange(&word, 0) == 2) futex(&word, FUTEX_WAKE, 1, NULL, 0);
}

static void *worker(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        lock();
        counter++;
        unlock();
    }
    return NULL;
}

int main(void) {
    pthread_t threads[3];
    atomic_int value = 7;
    struct timespec short_time = {0, 10000000}, t0, t1, past = {1, 0};
    printf("stale: %s\n", futex(&value, FUTEX_WAIT, 8, NULL, 0) == -1 && errno == EAGAIN ? "EAGAIN" : "?");
    printf("wake nobody: %ld\n", futex(&value, FUTEX_WAKE, 1, NULL, 0));
    clock_gettime(CLOCK_MONOTONIC, &t0);
    printf("timeout: %s", futex(&value, FUTEX_WAIT, 7, &short_time, 0) == -1 && errno == ETIMEDOUT ? "ETIMEDOUT" : "?");
    clock_gettime(CLOCK_MONOTONIC, &t1);
    long long elapsed = (t1.tv_sec - t0.tv_sec) * 1000000000LL + t1.tv_nsec - t0.tv_nsec;
    printf(", %s\n", elapsed >= 10000000 ? "late enough" : "too early");
    printf("absolute past: %s\n", futex(&value, FUTEX_WAIT_BITSET, 7, &past, FUTEX_BITSET_MATCH_ANY) == -1
           && errno == ETIMEDOUT ? "ETIMEDOUT" : "?");
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, worker, NULL);
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("counter %d\n", counter);
    return 0;
}
