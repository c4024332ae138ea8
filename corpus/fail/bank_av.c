// The bank, with all its violations: withdraw() reads the balance for its receipt in one critical
// section and debits in another, and each of the neighbour's two deposits may come in between.
// Per worker: 2 deposits x (RWR, RWW) = 4 violations of the annotated region.
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
    int balance;
} accounts[WORKERS];
static int bad_receipts[WORKERS];

static void deposit(struct account *a, int amount) {
    pthread_mutex_lock(&a->lock);
    a->balance += amount;  //~ remote
    pthread_mutex_lock(&bank_lock);
    turnover += amount;
    pthread_mutex_unlock(&bank_lock);
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
    bad_receipts[me] = !withdraw(mine, 30);
    deposit(next, 20);
    deposit(next, 10);
    return NULL;
}

int main(void) {
    pthread_t threads[WORKERS];
    int ids[WORKERS], total = 0, bad = 0;
    for (int i = 0; i < WORKERS; i++) {
        ids[i] = i;
        pthread_mutex_init(&accounts[i].lock, NULL);
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
