// The fixed rate limiter: a token is taken by compare-and-swap, only while there is one.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TOKENS = 2, CLIENTS = 3 };

static atomic_int tokens = TOKENS;
static atomic_int granted, denied;

static int allow(void) {
    int left = atomic_load(&tokens);
    while (left > 0)
        if (atomic_compare_exchange_weak(&tokens, &left, left - 1)) return 1;
    return 0;
}

static void *client(void *unused) {
    (void)unused;
    atomic_fetch_add(allow() ? &granted : &denied, 1);
    return NULL;
}

int main(void) {
    pthread_t threads[CLIENTS];
    for (int i = 0; i < CLIENTS; i++) pthread_create(&threads[i], NULL, client, NULL);
    for (int i = 0; i < CLIENTS; i++) pthread_join(threads[i], NULL);
    if (atomic_load(&granted) > TOKENS) {
        fprintf(stderr, "%d requests for %d tokens\n", atomic_load(&granted), TOKENS);
        return 1;
    }
    printf("granted %d, denied %d\n", atomic_load(&granted), atomic_load(&denied));
    return 0;
}
