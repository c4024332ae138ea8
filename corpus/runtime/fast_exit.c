// _exit(5) from a second thread: no handlers, no flush; only what was written goes out.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static void goodbye(void) { printf("not reached\n"); }

static void *leaver(void *unused) {
    (void)unused;
    printf("lost in the buffer");
    _exit(5);
}

int main(void) {
    pthread_t t;
    static char buffer[4096];
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    atexit(goodbye);
    printf("written\n");
    fflush(stdout);
    pthread_create(&t, NULL, leaver, NULL);
    pthread_join(t, NULL);
    pause();
    return 0;
}
