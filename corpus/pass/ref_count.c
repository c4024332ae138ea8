// The fixed reference count: the decrement's own result says who was last.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct cached {
    atomic_int refs;
    int in_pool;
    int payload;
};

// A pool of one object, which notices a double free as a hardened allocator would.
static pthread_mutex_t pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cached object;

static struct cached *pool_take(int refs) {
    pthread_mutex_lock(&pool_lock);
    object.in_pool = 0;
    pthread_mutex_unlock(&pool_lock);
    atomic_store(&object.refs, refs);
    return &object;
}

static void pool_free(struct cached *c) {
    pthread_mutex_lock(&pool_lock);
    if (c->in_pool) {
        fprintf(stderr, "double free\n");
        abort();
    }
    c->in_pool = 1;
    pthread_mutex_unlock(&pool_lock);
}

static void release(struct cached *c) {
    if (atomic_fetch_sub(&c->refs, 1) == 1) pool_free(c);
}

static void *owner(void *arg) {
    release(arg);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    struct cached *c = pool_take(2);
    pthread_create(&a, NULL, owner, c);
    pthread_create(&b, NULL, owner, c);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("refs %d, %s\n", atomic_load(&c->refs), c->in_pool ? "freed" : "leaked");
    return 0;
}
