// The fixed lock-free stack: the head carries a counter that every push and pop raises, so a node
// that went away and came back is not taken for unchanged.
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NODES = 3 };

// Nodes are numbered from 1; 0 is the end. The upper half of the head is the counter.
static struct {
    atomic_uint next;
    atomic_int owned;
} nodes[NODES + 1];
static atomic_uint_fast64_t head;

static uint64_t successor(uint64_t old, unsigned node) {
    return ((old >> 32) + 1) << 32 | node;
}

static void push(unsigned node) {
    if (!atomic_exchange(&nodes[node].owned, 0)) abort();
    uint64_t old = atomic_load(&head);
    do {
        atomic_store(&nodes[node].next, (uint32_t)old);
    } while (!atomic_compare_exchange_weak(&head, &old, successor(old, node)));
}

static unsigned pop(void) {
    uint64_t old = atomic_load(&head);
    unsigned next;
    do {
        if ((uint32_t)old == 0) return 0;
        next = atomic_load(&nodes[(uint32_t)old].next);
    } while (!atomic_compare_exchange_weak(&head, &old, successor(old, next)));
    if (atomic_exchange(&nodes[(uint32_t)old].owned, 1)) {
        fprintf(stderr, "node %u has two owners\n", (unsigned)old);
        abort();
    }
    return (uint32_t)old;
}

static void *borrower(void *unused) {
    (void)unused;
    unsigned a = pop(), b = pop();
    if (a) push(a);
    if (b) push(b);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    for (unsigned i = 1; i <= NODES; i++) {
        atomic_store(&nodes[i].owned, 1);
        push(i);
    }
    pthread_create(&a, NULL, borrower, NULL);
    pthread_create(&b, NULL, borrower, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    int left = 0;
    while (pop()) left++;
    printf("%d nodes\n", left);
    return left != NODES;
}
