// Threads: arguments, results by return and by pthread_exit, join, detach, attributes, equality, a
// thread that starts threads, joining by somebody else, tryjoin and timedjoin.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int detached_done, may_end;

static void deep_exit(int value) { pthread_exit((void *)(intptr_t)value); }

static void *square(void *arg) {
    intptr_t n = (intptr_t)arg;
    if (n % 2) deep_exit((int)(n * n));
    return (void *)(n * n);
}

static void *tree(void *arg) {
    intptr_t depth = (intptr_t)arg;
    if (depth == 0) return (void *)1;
    pthread_t left, right;
    void *a, *b;
    pthread_create(&left, NULL, tree, (void *)(depth - 1));
    pthread_create(&right, NULL, tree, (void *)(depth - 1));
    pthread_join(left, &a);
    pthread_join(right, &b);
    return (void *)((intptr_t)a + (intptr_t)b + 1);
}

static void *detached(void *unused) {
    (void)unused;
    if (pthread_detach(pthread_self()) != EINVAL) puts("detached twice?");
    pthread_mutex_lock(&lock);
    detached_done++;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *patient(void *arg) {
    pthread_mutex_lock(&lock);
    while (!may_end) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return arg;
}

static void *joiner(void *arg) {
    void *result;
    pthread_join(*(pthread_t *)arg, &result);
    return result;
}

int main(void) {
    pthread_t t[4], u;
    void *result;
    for (intptr_t i = 0; i < 4; i++) pthread_create(&t[i], NULL, square, (void *)i);
    for (int i = 3; i >= 0; i--) {
        pthread_join(t[i], &result);
        printf("square %d = %d\n", i, (int)(intptr_t)result);
    }
    printf("tree of %d\n", (int)(intptr_t)(tree((void *)3)));

    pthread_attr_t attr;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, 256 * 1024);
    pthread_create(&u, &attr, detached, NULL);
    pthread_mutex_lock(&lock);
    while (!detached_done) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    printf("detached ran\n");

    struct timespec past = {1, 0};
    pthread_create(&t[0], NULL, patient, &lock);
    printf("tryjoin %s", pthread_tryjoin_np(t[0], NULL) == EBUSY ? "EBUSY" : "?");
    printf(", timedjoin %s\n", pthread_timedjoin_np(t[0], NULL, &past) == ETIMEDOUT ? "ETIMEDOUT" : "?");
    pthread_create(&t[1], NULL, joiner, &t[0]);
    pthread_mutex_lock(&lock);
    may_end = 1;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(t[1], &result);
    printf("joined by another: %s\n", result == (void *)&lock ? "its result" : "?");
    printf("self: %s, join %s\n", pthread_equal(pthread_self(), pthread_self()) ? "equal" : "?",
           pthread_join(pthread_self(), NULL) == EDEADLK ? "EDEADLK" : "?");
    return 0;
}
