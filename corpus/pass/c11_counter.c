// The fixed counter: one call, one critical section.
#include <stdio.h>
#include <threads.h>

static struct counter {
    mtx_t lock;
    long value;
} downloads;

static long counter_get(struct counter *c) {
    mtx_lock(&c->lock);
    long value = c->value;
    mtx_unlock(&c->lock);
    return value;
}

static void count_download(struct counter *c) {
    mtx_lock(&c->lock);
    c->value++;
    mtx_unlock(&c->lock);
}

static int session(void *arg) {
    for (int i = 0; i < 3; i++) count_download(arg);
    return 0;
}

int main(void) {
    thrd_t a, b;
    mtx_init(&downloads.lock, mtx_plain);
    thrd_create(&a, session, &downloads);
    thrd_create(&b, session, &downloads);
    thrd_join(a, NULL);
    thrd_join(b, NULL);
    long total = counter_get(&downloads);
    mtx_destroy(&downloads.lock);
    if (total != 6) {
        fprintf(stderr, "%ld downloads counted of 6\n", total);
        return 1;
    }
    printf("%ld downloads\n", total);
    return 0;
}
