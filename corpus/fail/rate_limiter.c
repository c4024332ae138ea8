// A rate limiter that looks whether a token is left and then takes one, two atomic steps: more
// requests than tokens may be let through.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TOKENS = 2, CLIENTS = 3 };

static atomic_int tokens = TOKENS;
static atomic_int granted, denied;

static int allow(void) {
    if (atomic_load(&tokens) <= 0) return 0;  //~ first
    atomic_fetch_sub(&tokens, 1);             //~ remote second
    return 1;
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
