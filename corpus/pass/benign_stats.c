// A benign race: hit statistics are counted without synchronisation, on purpose; a lost count does
// no harm and shows nowhere. What matters is counted under the lock.
#include <pthread.h>
#include <stdio.h>

enum { REQUESTS = 4 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int served;
static unsigned long approximate_hits;

static void serve(void) {
    approximate_hits++;
    pthread_mutex_lock(&lock);
    served++;
    pthread_mutex_unlock(&lock);
}

static void *worker(void *unused) {
    (void)unused;
    for (int i = 0; i < REQUESTS; i++) serve();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, worker, NULL);
    pthread_create(&b, NULL, worker, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("served %d, hits %s\n", served, approximate_hits > 0 ? "some" : "none");
    return 0;
}
