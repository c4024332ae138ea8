// The fixed form: within a phase, parts are added by fetch-and-add.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { WORKERS = 3, PHASES = 2 };

static pthread_barrier_t phase_end;
static atomic_int sums[PHASES];

static void add(atomic_int *sum, int part) {
    atomic_fetch_add(sum, part);
}

static void *worker(void *arg) {
    int part = *(int *)arg;
    for (int phase = 0; phase < PHASES; phase++) {
        add(&sums[phase], part);
        pthread_barrier_wait(&phase_end);
        part = atomic_load(&sums[phase]);
    }
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int parts[WORKERS] = {1, 2, 3};
    pthread_barrier_init(&phase_end, NULL, WORKERS);
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, worker, &parts[i]);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&phase_end);
    int first = atomic_load(&sums[0]), second = atomic_load(&sums[1]);
    if (first != 6 || second != 18) {
        fprintf(stderr, "sums %d and %d\n", first, second);
        return 1;
    }
    printf("sums %d and %d\n", first, second);
    return 0;
}
