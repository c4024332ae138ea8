// Deferred cancellation: in pthread_cond_wait (the mutex is held again in the handler), in sleep,
// in a blocking read, at pthread_testcancel, while disabled; handlers run last in, first out, then
// key destructors; the joiner sees PTHREAD_CANCELED.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static pthread_key_t key;
static sem_t started, go;
static int pipe_ends[2];

static void unlock(void *m) { printf("  unlock %d\n", pthread_mutex_unlock(m)); }
static void say(void *text) { printf("  %s\n", (char *)text); }

static void *in_cond_wait(void *unused) {
    (void)unused;
    pthread_setspecific(key, "key destructor");
    pthread_cleanup_push(say, "outer handler");
    pthread_mutex_lock(&lock);
    pthread_cleanup_push(unlock, &lock);
    sem_post(&started);
    for (;;) pthread_cond_wait(&never, &lock);
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_sleep(void *unused) {
    (void)unused;
    pthread_cleanup_push(say, "left sleep");
    sem_post(&started);
    for (;;) sleep(1000);
    pthread_cleanup_pop(0);
    return NULL;
}

static void *in_read(void *unused) {
    char byte;
    (void)unused;
    pthread_cleanup_push(say, "left read");
    sem_post(&started);
    if (read(pipe_ends[0], &byte, 1) != 1) puts("read failed");
    pthread_cleanup_pop(0);
    return NULL;
}

static void *disabled(void *unused) {
    int old;
    (void)unused;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
    sem_post(&started);
    while (sem_wait(&go) != 0) continue;  // Cancelled by now, but disabled.
    pthread_testcancel();
    puts("  still here while disabled");
    pthread_setcancelstate(old, NULL);
    pthread_testcancel();
    puts("  not reached");
    return NULL;
}

static void *finishes(void *unused) {
    (void)unused;
    pthread_cleanup_push(say, "popped and run");
    pthread_cleanup_pop(1);
    sem_post(&started);
    return &lock;
}

static void cancel(const char *what, void *(*f)(void *), int expect_cancelled) {
    pthread_t t;
    void *result;
    printf("%s\n", what);
    pthread_create(&t, NULL, f, NULL);
    sem_wait(&started);
    if (expect_cancelled) pthread_cancel(t);
    sem_post(&go);
    pthread_join(t, &result);
    sem_trywait(&go);
    printf("  %s\n", result == PTHREAD_CANCELED ? "cancelled" : "returned");
}

int main(void) {
    sem_init(&started, 0, 0);
    sem_init(&go, 0, 0);
    pthread_key_create(&key, say);
    if (pipe(pipe_ends) != 0) return 1;
    cancel("cond_wait", in_cond_wait, 1);
    cancel("sleep", in_sleep, 1);
    cancel("read", in_read, 1);
    cancel("disabled", disabled, 1);
    cancel("none", finishes, 0);
    return 0;
}
