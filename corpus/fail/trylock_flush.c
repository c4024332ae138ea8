// A write-behind counter: flush() takes the pending count if it gets the lock at once, and clears
// it in a second critical section. What is added in between is cleared unwritten.
#include <pthread.h>
#include <stdio.h>

enum { ADDS = 2 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int pending, written;

static void flush(void) {
    if (pthread_mutex_trylock(&lock) != 0) return;  // Busy: the next flush will do.
    int taken = pending;  //~ first
    pthread_mutex_unlock(&lock);
    if (taken == 0) return;
    pthread_mutex_lock(&lock);
    pending = 0;  //~ second
    written += taken;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *unused) {
    (void)unused;
    for (int i = 0; i < ADDS; i++) {
        pthread_mutex_lock(&lock);
        pending++;  //~ remote
        pthread_mutex_unlock(&lock);
        flush();
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, writer, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    flush();
    if (written != 2 * ADDS) {
        fprintf(stderr, "written %d of %d\n", written, 2 * ADDS);
        return 1;
    }
    printf("written %d\n", written);
    return 0;
}
