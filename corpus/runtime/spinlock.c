// pthread spin locks: lock, trylock, unlock; and a hand-made one that spins without yielding.
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { ROUNDS = 200 };

static pthread_spinlock_t spin;
static atomic_flag own = ATOMIC_FLAG_INIT;
static int counted, counted_own;

static void *worker(void *unused) {
    (void)unused;
    for (int i = 0; i < ROUNDS; i++) {
        pthread_spin_lock(&spin);
        counted++;
        pthread_spin_unlock(&spin);
        while (atomic_flag_test_and_set_explicit(&own, memory_order_acquire)) continue;
        counted_own++;
        atomic_flag_clear_explicit(&own, memory_order_release);
    }
    return NULL;
}

static void *visitor(void *result) {
    *(int *)result = pthread_spin_trylock(&spin);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int code;
    pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
    pthread_spin_lock(&spin);
    pthread_create(&a, NULL, visitor, &code);
    pthread_join(a, NULL);
    pthread_spin_unlock(&spin);
    printf("held: %s", code == EBUSY ? "EBUSY" : "?");
    printf(", free: %d\n", pthread_spin_trylock(&spin));
    pthread_spin_unlock(&spin);
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("counted %d and %d\n", counted, counted_own);
    pthread_spin_destroy(&spin);
    return 0;
}
