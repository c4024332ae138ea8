// The fixed form: the buffer is taken off the socket in the critical section that found it, so one
// caller owns it.
#include <pthread.h>
#include <stdio.h>

struct buffer {
    int length;
    int freed;
};

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;
static struct buffer storage = {128, 0};
static struct socket {
    pthread_mutex_t lock;
    struct buffer *pending;
    int delivered;
} sock = {PTHREAD_MUTEX_INITIALIZER, &storage, 0};

// As an allocator that keeps books would: a double free is noticed, and told at the end.
static void buffer_free(struct buffer *b) {
    pthread_mutex_lock(&heap_lock);
    b->freed++;
    pthread_mutex_unlock(&heap_lock);
}

static void finish_dump(struct socket *s) {
    pthread_mutex_lock(&s->lock);
    struct buffer *b = s->pending;
    s->pending = NULL;
    if (b != NULL) s->delivered += b->length;
    pthread_mutex_unlock(&s->lock);
    if (b != NULL) buffer_free(b);
}

static void *dump(void *arg) {
    finish_dump(arg);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, dump, &sock);
    pthread_create(&b, NULL, dump, &sock);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (storage.freed > 1) {
        fprintf(stderr, "double free\n");
        return 1;
    }
    printf("delivered %d, freed %d\n", sock.delivered, storage.freed);
    return 0;
}
