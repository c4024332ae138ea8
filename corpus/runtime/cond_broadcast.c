// Condition variables: signal wakes at least one waiter, broadcast wakes all, the mutex is held
// again after each wait, and a signal with nobody waiting is not remembered.
#include <pthread.h>
#include <stdio.h>

enum { WAITERS = 5 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, progress = PTHREAD_COND_INITIALIZER;
static int waiting, tickets, open_gate, passed_ticket, passed_gate;

static void *waiter(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&progress);
    while (tickets == 0) pthread_cond_wait(&changed, &lock);
    tickets--;
    passed_ticket++;
    pthread_cond_signal(&progress);
    while (!open_gate) pthread_cond_wait(&changed, &lock);
    passed_gate++;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t threads[WAITERS];
    pthread_cond_signal(&changed);     // Nobody waits: lost.
    pthread_cond_broadcast(&changed);  // Likewise.
    for (int i = 0; i < WAITERS; i++) pthread_create(&threads[i], NULL, waiter, NULL);

    pthread_mutex_lock(&lock);
    while (waiting < WAITERS) pthread_cond_wait(&progress, &lock);
    printf("waiting %d, passed %d\n", waiting, passed_ticket);
    tickets = 1;
    pthread_cond_signal(&changed);
    while (passed_ticket < 1) pthread_cond_wait(&progress, &lock);
    printf("one ticket: passed %d, tickets left %d\n", passed_ticket, tickets);
    tickets = WAITERS - 1;
    pthread_cond_broadcast(&changed);
    while (passed_ticket < WAITERS) pthread_cond_wait(&progress, &lock);
    printf("all tickets: passed %d, through the gate %d\n", passed_ticket, passed_gate);
    open_gate = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);

    for (int i = 0; i < WAITERS; i++) pthread_join(threads[i], NULL);
    printf("gate open: through %d\n", passed_gate);
    return 0;
}
