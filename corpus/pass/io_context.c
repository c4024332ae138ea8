// The fixed form: the reader holds the task's lock from the check to the last use.
#include <pthread.h>
#include <stdio.h>

#define READ_ONCE(x) (*(volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v) (*(volatile __typeof__(x) *)&(x) = (v))

struct io_context {
    int priority;
    int users;
};

static struct io_context context = {4, 1};
static struct task {
    pthread_mutex_t lock;
    struct io_context *io;
} task = {PTHREAD_MUTEX_INITIALIZER, &context};

static int get_priority(struct task *t) {
    int priority = 0;
    pthread_mutex_lock(&t->lock);
    if (READ_ONCE(t->io) != NULL) {
        priority = READ_ONCE(t->io)->priority;
    }
    pthread_mutex_unlock(&t->lock);
    return priority;
}

static void *reader(void *arg) {
    int priority = get_priority(arg);
    if (priority != 0 && priority != 4) fprintf(stderr, "strange priority %d\n", priority);
    return NULL;
}

static void *exiting(void *arg) {
    struct task *t = arg;
    pthread_mutex_lock(&t->lock);
    struct io_context *io = t->io;
    WRITE_ONCE(t->io, NULL);
    pthread_mutex_unlock(&t->lock);
    io->users--;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, reader, &task);
    pthread_create(&b, NULL, exiting, &task);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("users %d\n", context.users);
    return 0;
}
