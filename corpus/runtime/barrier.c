// Barriers: in every round exactly one thread is told PTHREAD_BARRIER_SERIAL_THREAD, nobody leaves
// before all have come, and the barrier serves many rounds. Also pthread_barrier_init's EINVAL.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 25 };

static pthread_barrier_t barrier;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int arrived[ROUNDS], serial[ROUNDS], early;

static void *walker(void *unused) {
    (void)unused;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_mutex_lock(&lock);
        arrived[round]++;
        pthread_mutex_unlock(&lock);
        int code = pthread_barrier_wait(&barrier);
        pthread_mutex_lock(&lock);
        if (code == PTHREAD_BARRIER_SERIAL_THREAD) serial[round]++;
        if (arrived[round] != THREADS) early++;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    printf("zero threads: %s\n", pthread_barrier_init(&barrier, NULL, 0) == EINVAL ? "EINVAL" : "?");
    pthread_barrier_init(&barrier, NULL, 1);
    printf("alone: %s\n", pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD ? "serial" : "?");
    pthread_barrier_destroy(&barrier);

    pthread_barrier_init(&barrier, NULL, THREADS);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, walker, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    int one_serial = 0;
    for (int round = 0; round < ROUNDS; round++) one_serial += serial[round] == 1;
    printf("rounds with one serial thread %d of %d, early %d\n", one_serial, ROUNDS, early);
    printf("destroy %d\n", pthread_barrier_destroy(&barrier));
    return 0;
}
