// The fixed ring buffer: a slot is reserved by fetch-and-add, so each producer has its own.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { SLOTS = 16, MESSAGES = 3 };

static struct ring {
    atomic_uint head, tail;
    atomic_int slots[SLOTS];  // 0: empty.
} ring;

static void ring_put(struct ring *r, int message) {
    unsigned at = atomic_fetch_add(&r->head, 1);
    atomic_store(&r->slots[at % SLOTS], message);
}

static int ring_get(struct ring *r) {
    unsigned at = atomic_load(&r->tail);
    if (at == atomic_load(&r->head)) return 0;
    atomic_store(&r->tail, at + 1);
    return atomic_exchange(&r->slots[at % SLOTS], 0);
}

static void *producer(void *arg) {
    int first = *(int *)arg;
    for (int i = 0; i < MESSAGES; i++) ring_put(&ring, first + i);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int ten = 10, twenty = 20, received = 0, sum = 0, message;
    pthread_create(&a, NULL, producer, &ten);
    pthread_create(&b, NULL, producer, &twenty);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    while ((message = ring_get(&ring)) != 0) {
        received++;
        sum += message;
    }
    if (received != 2 * MESSAGES) {
        fprintf(stderr, "%d of %d messages\n", received, 2 * MESSAGES);
        return 1;
    }
    printf("received %d, sum %d\n", received, sum);
    return 0;
}
