// Thread-specific data: each thread its own value, destructors run at thread exit with the value,
// again for a value set by a destructor, not for NULL, not for a deleted key, and not for main's
// when it returns. The order of destructors of one round is the order of the keys' creation in glibc.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static pthread_key_t first, second, again, deleted, silent;
static int rounds;

static void on_first(void *value) { printf("  first %d\n", (int)(intptr_t)value); }
static void on_second(void *value) { printf("  second %d\n", (int)(intptr_t)value); }
static void on_deleted(void *value) { printf("  deleted %p\n", value); }

static void on_again(void *value) {
    printf("  again %d\n", (int)(intptr_t)value);
    if (++rounds < 3) pthread_setspecific(again, (void *)((intptr_t)value + 1));
}

static void *user(void *arg) {
    intptr_t n = (intptr_t)arg;
    printf("thread %d, fresh %s\n", (int)n, pthread_getspecific(first) == NULL ? "NULL" : "?");
    rounds = 0;
    pthread_setspecific(second, (void *)(n * 10 + 2));
    pthread_setspecific(again, (void *)(n * 10 + 3));
    pthread_setspecific(first, (void *)(n * 10 + 1));
    pthread_setspecific(deleted, arg);
    pthread_setspecific(silent, arg);
    if (n == 2) pthread_setspecific(second, NULL);
    pthread_key_delete(deleted);
    if (n == 2) pthread_exit(NULL);
    return NULL;
}

int main(void) {
    pthread_key_create(&first, on_first);
    pthread_key_create(&second, on_second);
    pthread_key_create(&again, on_again);
    pthread_key_create(&silent, NULL);
    pthread_setspecific(first, (void *)99);
    for (intptr_t n = 1; n <= 2; n++) {
        pthread_t t;
        pthread_key_create(&deleted, on_deleted);
        pthread_create(&t, NULL, user, (void *)n);
        pthread_join(t, NULL);
    }
    printf("main still has %d\n", (int)(intptr_t)pthread_getspecific(first));
    return 0;
}
