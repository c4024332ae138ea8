// Not an atomicity violation: the counter is right under every schedule, and the assertion about it
// is wrong under every schedule (two workers of three steps make six, not five).
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int steps;

static void step(void) {
    pthread_mutex_lock(&lock);
    steps++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused) {
    (void)unused;
    for (int i = 0; i < 3; i++) step();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("steps %d\n", steps);
    fflush(stdout);
    assert(steps == 5);
    return 0;
}
