// The bank with half a repair: a withdrawal marks its account busy, and deposits of cheques wait on
// a condition variable until it is idle; deposits of cash do not. Per worker 2 violations of the
// annotated region are left (RWR, RWW by the cash deposit); a model that ignores data sees 4.
#include <pthread.h>
#include <stdio.h>

#if defined(__has_include)
#if __has_include(<interloper.h>)
#include <interloper.h>
#endif
#endif
#ifndef INTERLOPER_ATOMIC_BEGIN
#define INTERLOPER_ATOMIC_BEGIN(name)
#define INTERLOPER_ATOMIC_END(name)
#endif
#ifndef WORKERS
#define WORKERS 2
#endif

static pthread_mutex_t bank_lock = PTHREAD_MUTEX_INITIALIZER;
static int turnover;
static struct account {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    int busy;  // A withdrawal is under way.
    int balance;
} accounts[WORKERS];
static int bad_receipts[WORKERS];

static void deposit(struct account *a, int amount, int cheque) {
    pthread_mutex_lock(&a->lock);
    while (cheque && a->busy) pthread_cond_wait(&a->idle, &a->lock);
    a->balance += amount;  //~ remote
    pthread_mutex_lock(&bank_lock);
    turnover += amount;
    pthread_mutex_unlock(&bank_lock);
    pthread_mutex_unlock(&a->lock);
}

static void enter(struct account *a) {
    pthread_mutex_lock(&a->lock);
    a->busy = 1;
    pthread_mutex_unlock(&a->lock);
}

static void leave(struct account *a) {
    pthread_mutex_lock(&a->lock);
    a->busy = 0;
    pthread_cond_broadcast(&a->idle);
    pthread_mutex_unlock(&a->lock);
}

// Returns whether the receipt (balance before and after) adds up.
static int withdraw(struct account *a, int amount) {
    INTERLOPER_ATOMIC_BEGIN("withdraw");
    pthread_mutex_lock(&a->lock);
    int before = a->balance;  //~ first
    pthread_mutex_unlock(&a->lock);
    pthread_mutex_lock(&a->lock);
    int after = a->balance -= amount;  //~ second
    pthread_mutex_lock(&bank_lock);
    turnover += amount;
    pthread_mutex_unlock(&bank_lock);
    pthread_mutex_unlock(&a->lock);
    INTERLOPER_ATOMIC_END("withdraw");
    return after == before - amount;
}

static void *worker(void *arg) {
    int me = *(int *)arg;
    struct account *mine = &accounts[me], *next = &accounts[(me + 1) % WORKERS];
    enter(mine);
    bad_receipts[me] = !withdraw(mine, 30);
    leave(mine);
    deposit(next, 20, 0);
    deposit(next, 10, 1);
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int ids[WORKERS], total = 0, bad = 0;
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i;
        pthread_mutex_init(&accounts[i].lock, NULL);
        pthread_cond_init(&accounts[i].idle, NULL);
        accounts[i].balance = 0;
        accounts[i].balance += 100;
    }
    for (int i = 0; i < WORKERS; i++) pthread_create(&threads[i], NULL, worker, &ids[i]);
    for (int i = 0; i < WORKERS; i++) pthread_join(threads[i], NULL);
    for (int i = 0; i < WORKERS; i++) {
        accounts[i].balance -= 5;
        total += accounts[i].balance;
        accounts[i].balance = 0;
        bad += bad_receipts[i];
    }
    if (bad) {
        fprintf(stderr, "%d receipts do not add up\n", bad);
        return 1;
    }
    printf("total %d, turnover %d\n", total, turnover);
    return 0;
}
