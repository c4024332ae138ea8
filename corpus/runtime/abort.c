// abort in a second thread: the process dies of SIGABRT, what was flushed is there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *failing(void *unused) {
    (void)unused;
    abort();
}

int main(void) {
    pthread_t t;
    printf("before\n");
    fflush(stdout);
    pthread_create(&t, NULL, failing, NULL);
    pthread_join(t, NULL);
    printf("not reached\n");
    return 0;
}
