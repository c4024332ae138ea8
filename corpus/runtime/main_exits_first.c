// pthread_exit from main: the process lives until the last thread ends, and then leaves with status
// 0 through exit handlers.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_t main_thread;
static int steps;

static void goodbye(void) { printf("exit handler, steps %d\n", steps); }

static void *survivor(void *unused) {
    (void)unused;
    pthread_join(main_thread, NULL);
    printf("main has ended\n");
    for (int i = 0; i < 1000; i++) steps++;
    return NULL;
}

int main(void) {
    pthread_t t;
    atexit(goodbye);
    main_thread = pthread_self();
    pthread_create(&t, NULL, survivor, NULL);
    pthread_detach(t);
    pthread_exit(NULL);
}
