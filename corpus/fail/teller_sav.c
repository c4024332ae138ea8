// Tellers and an auditor, mended by half: the auditor waits for the teller's withdrawal before the second
// statement, but not before the first, which may still come between the two halves of withdraw().
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
#ifndef TELLERS
#define TELLERS 8
#endif

static pthread_mutex_t bank_lock = PTHREAD_MUTEX_INITIALIZER;
static int last_entry;
static struct account {
    pthread_mutex_t lock;
    pthread_cond_t idle;
    int done;
    int balance;
} accounts[TELLERS];
static int bad_receipts[TELLERS];

static void state(struct account *a, int balance) {
    pthread_mutex_lock(&a->lock);
    a->balance = balance;  //~ remote
    pthread_mutex_unlock(&a->lock);
}

static void state_when_done(struct account *a, int balance) {
    pthread_mutex_lock(&a->lock);
    while (!a->done) pthread_cond_wait(&a->idle, &a->lock);
    a->balance = balance;
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
    last_entry = amount;
    pthread_mutex_unlock(&bank_lock);
    pthread_mutex_unlock(&a->lock);
    INTERLOPER_ATOMIC_END("withdraw");
    return after == before - amount;
}

static void finish(struct account *a) {
    pthread_mutex_lock(&a->lock);
    a->done = 1;
    pthread_cond_signal(&a->idle);
    pthread_mutex_unlock(&a->lock);
}

static void *teller(void *arg) {
    int me = *(int *)arg;
    bad_receipts[me] = !withdraw(&accounts[me], 30);
    finish(&accounts[me]);
    return NULL;
}

static void *auditor(void *arg) {
    for (int i = 0; i < TELLERS; i++) state(&accounts[i], 200);
    for (int i = 0; i < TELLERS; i++) state_when_done(&accounts[i], 300);
    return arg;
}

int main(void) {
    pthread_t tellers[TELLERS], audit;
    int ids[TELLERS], bad = 0;
    for (int i = 0; i < TELLERS; i++) {
        ids[i] = i;
        pthread_mutex_init(&accounts[i].lock, NULL);
        pthread_cond_init(&accounts[i].idle, NULL);
        accounts[i].balance = 100;
    }
    for (int i = 0; i < TELLERS; i++) pthread_create(&tellers[i], NULL, teller, &ids[i]);
    pthread_create(&audit, NULL, auditor, NULL);
    for (int i = 0; i < TELLERS; i++) pthread_join(tellers[i], NULL);
    pthread_join(audit, NULL);
    for (int i = 0; i < TELLERS; i++) bad += bad_receipts[i];
    printf("%d receipts\n", TELLERS);
    if (bad) fprintf(stderr, "%d receipts do not add up\n", bad);
    return bad != 0;
}
