// Right: one request counts bytes twice, head and body, in two critical sections. Other requests may
// come in between, but additions commute and nobody looks at the sum before the end.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long bytes;

static void count(long n) {
    pthread_mutex_lock(&lock);
    bytes += n;
    pthread_mutex_unlock(&lock);
}

static void request(long body) {
    count(16);
    count(body);
}

static void *worker(void *arg) {
    long body = *(long *)arg;
    for (int i = 0; i < 3; i++) request(body);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    long small = 100, large = 1000;
    pthread_create(&a, NULL, worker, &small);
    pthread_create(&b, NULL, worker, &large);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("bytes %ld\n", bytes);
    return bytes != 3396;
}
