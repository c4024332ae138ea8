// pthread_once: three threads, the routine runs once, and all see what it wrote. One control for
// each of two routines, and a call from inside another routine.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 3 };

static pthread_once_t outer_once = PTHREAD_ONCE_INIT, inner_once = PTHREAD_ONCE_INIT;
static int outer_runs, inner_runs, table[64], seen_wrong[THREADS];

static void make_inner(void) {
    inner_runs++;
    for (int i = 0; i < 64; i++) table[i] = i * i;
}

static void make_outer(void) {
    pthread_once(&inner_once, make_inner);
    outer_runs++;
}

static void *user(void *arg) {
    int me = *(int *)arg;
    pthread_once(me == 1 ? &inner_once : &outer_once, me == 1 ? make_inner : make_outer);
    for (int i = 0; i < 64; i++) seen_wrong[me] += table[i] != i * i;
    return NULL;
}

int main(void) {
    pthread_t threads[THREADS];
    int ids[THREADS] = {0, 1, 2};
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, user, &ids[i]);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("outer %d, inner %d, wrong %d\n", outer_runs, inner_runs,
           seen_wrong[0] + seen_wrong[1] + seen_wrong[2]);
    return 0;
}
