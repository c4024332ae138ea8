// setjmp and longjmp out of nested functions, with locks held and in several threads at once; also
// sigsetjmp out of a signal handler.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int entered, left, total;

struct parser {
    jmp_buf error;
    int held;
    int depth;
};

static void descend(struct parser *p, int depth) {
    if (depth < 0) return;
    __atomic_add_fetch(&entered, 1, __ATOMIC_SEQ_CST);
    if (depth == 0) {
        pthread_mutex_lock(&lock);
        p->held = 1;
        total++;
        longjmp(p->error, p->depth + 1);
    }
    descend(p, depth - 1);
    __atomic_add_fetch(&left, 1, __ATOMIC_SEQ_CST);  // Never reached.
}

static int parse(int depth) {
    struct parser p = {.held = 0, .depth = depth};
    int code = setjmp(p.error);
    if (code == 0) descend(&p, depth);
    if (p.held) pthread_mutex_unlock(&lock);
    return code;
}

static void *worker(void *arg) {
    int *result = arg;
    for (int depth = 0; depth < 20; depth++) *result += parse(depth);
    return NULL;
}

static sigjmp_buf from_signal;
static void on_signal(int n) { siglongjmp(from_signal, n); }

int main(void) {
    pthread_t a, b;
    int x = 0, y = 0;
    pthread_create(&a, NULL, worker, &x);
    pthread_create(&b, NULL, worker, &y);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("codes %d %d, entered %d, left %d, total %d\n", x, y, entered, left, total);
    signal(SIGUSR1, on_signal);
    for (volatile int round = 0; round < 3; round++) {
        int n = sigsetjmp(from_signal, 1);
        if (n == 0) raise(SIGUSR1);
        printf("round %d: %s\n", round, n == SIGUSR1 ? "out of the handler" : "?");
    }
    return 0;
}
