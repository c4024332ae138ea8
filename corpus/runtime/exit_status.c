// exit(3) from a second thread while main waits: handlers run, buffers are written, the status is 3.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void goodbye(void) { printf(", and the exit handler\n"); }

static void *leaver(void *unused) {
    (void)unused;
    exit(3);
}

int main(void) {
    pthread_t t;
    atexit(goodbye);
    printf("not flushed before exit");
    pthread_create(&t, NULL, leaver, NULL);
    pthread_join(t, NULL);
    printf("not reached\n");
    return 0;
}
