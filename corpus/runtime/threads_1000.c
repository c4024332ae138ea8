// A thousand threads alive at once, small stacks, all waiting for one gate and all joined.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 1000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t arrived = PTHREAD_COND_INITIALIZER, opened = PTHREAD_COND_INITIALIZER;
static int waiting, gate;
static long sum;

static void *visitor(void *arg) {
    pthread_mutex_lock(&lock);
    if (++waiting == THREADS) pthread_cond_signal(&arrived);
    while (!gate) pthread_cond_wait(&opened, &lock);
    sum += (long)(intptr_t)arg;
    pthread_mutex_unlock(&lock);
    return arg;
}

int main(void) {
    static pthread_t threads[THREADS];
    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 64 * 1024);
    for (int i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], &attr, visitor, (void *)(intptr_t)i) != 0) {
            fprintf(stderr, "no thread %d\n", i);
            return 2;
        }
    }
    pthread_mutex_lock(&lock);
    while (waiting < THREADS) pthread_cond_wait(&arrived, &lock);
    printf("waiting %d\n", waiting);
    gate = 1;
    pthread_cond_broadcast(&opened);
    pthread_mutex_unlock(&lock);
    long results = 0;
    for (int i = 0; i < THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        results += (long)(intptr_t)result;
    }
    printf("sum %ld, results %ld\n", sum, results);
    return 0;
}
