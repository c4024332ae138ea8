// A null pointer followed in a second thread: the process dies of SIGSEGV.
#include <pthread.h>
#include <stdio.h>

static int *volatile nowhere;

static void *failing(void *unused) {
    (void)unused;
    *nowhere = 1;
    return NULL;
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
