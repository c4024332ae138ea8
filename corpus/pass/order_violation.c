// Not an atomicity violation but one of order: the provider says "ready" and only then publishes the
// configuration. The user, who waits for "ready", usually is not that quick. Each side is a single
// atomic access, so nothing is torn; the user may simply be too early.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct config {
    int level;
};

static struct config config = {3};
static _Atomic(struct config *) current;
static sem_t ready;
static int level;
static unsigned checksum;

static void *provider(void *unused) {
    (void)unused;
    sem_post(&ready);
    atomic_store(&current, &config);
    return NULL;
}

static unsigned self_test(unsigned sum) {
    for (unsigned i = 0; i < 500000; i++) sum = sum * 31 + i;
    return sum;
}

static void *user(void *unused) {
    (void)unused;
    checksum = self_test(1);
    sem_wait(&ready);
    checksum = self_test(checksum);
    struct config *c = atomic_load(&current);
    if (c == NULL) {
        fprintf(stderr, "no configuration yet\n");
        exit(1);
    }
    level = c->level;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    sem_init(&ready, 0, 0);
    pthread_create(&a, NULL, provider, NULL);
    pthread_create(&b, NULL, user, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("level %d, self-test %u\n", level, checksum);
    return 0;
}
