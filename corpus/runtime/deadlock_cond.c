// A certain deadlock without a cycle of locks: main waits for a signal that nobody is left to send.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int ready;

static void *worker(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    pthread_cond_signal(&changed);  // Forgets to set ready.
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    printf("waiting for ready\n");
    fflush(stdout);
    pthread_create(&t, NULL, worker, NULL);
    pthread_mutex_lock(&lock);
    while (!ready) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    return 0;
}
