// Fibers on stacks of the program's own, announced as ThreadSanitizer wants it, each within functions of its own when
// it gives way. One goes on in another thread than it began in.
#include <pthread.h>
#include <stdio.h>
#include <ucontext.h>

#define WEAK __attribute__((weak))
WEAK void *__tsan_get_current_fiber(void);
WEAK void *__tsan_create_fiber(unsigned flags);
WEAK void __tsan_destroy_fiber(void *fiber);
WEAK void __tsan_switch_to_fiber(void *fiber, unsigned flags);
WEAK void __tsan_set_fiber_name(void *fiber, const char *name);

enum { FIBERS = 2, ROUNDS = 3, STACK = 64 * 1024 };

static struct fiber {
    ucontext_t context, back;
    void *own, *resumer;
    int done;
    char stack[STACK];
} fibers[FIBERS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int steps[FIBERS], total;

static void give_way(struct fiber *fiber) {
    if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(fiber->resumer, 0);
    swapcontext(&fiber->context, &fiber->back);
}

static void resume(struct fiber *fiber) {
    if (__tsan_get_current_fiber) fiber->resumer = __tsan_get_current_fiber();
    if (__tsan_switch_to_fiber) __tsan_switch_to_fiber(fiber->own, 0);
    swapcontext(&fiber->back, &fiber->context);
}

__attribute__((noinline)) static void step(struct fiber *fiber, int depth) {
    if (depth > 0) {
        step(fiber, depth - 1);
        steps[fiber - fibers] += 10;
        return;
    }
    pthread_mutex_lock(&lock);
    total++;
    pthread_mutex_unlock(&lock);
    steps[fiber - fibers]++;
    give_way(fiber);
}

static void body(int number) {
    struct fiber *fiber = &fibers[number];
    for (int round = 0; round < ROUNDS; round++) step(fiber, number + round);
    fiber->done = 1;
    give_way(fiber);
}

static void *work(void *argument) {
    (void)argument;
    for (int number = 0; number < FIBERS; number++) {
        while (!fibers[number].done) resume(&fibers[number]);
    }
    return 0;
}

static void make(struct fiber *fiber) {
    getcontext(&fiber->context);
    fiber->context.uc_stack.ss_sp = fiber->stack;
    fiber->context.uc_stack.ss_size = STACK;
    makecontext(&fiber->context, (void (*)(void))body, 1, (int)(fiber - fibers));
    if (__tsan_create_fiber) fiber->own = __tsan_create_fiber(0);
    if (__tsan_set_fiber_name) __tsan_set_fiber_name(fiber->own, "a fiber");
}

int main(void) {
    for (int number = 0; number < FIBERS; number++) make(&fibers[number]);
    // In turns, so that each gives way within functions while the other is within some.
    for (int number = 0; number < FIBERS; number++) resume(&fibers[number]);
    for (int number = 0; number < FIBERS; number++) resume(&fibers[number]);
    pthread_t thread;
    pthread_create(&thread, 0, work, 0);
    pthread_mutex_lock(&lock);
    total += 100;
    pthread_mutex_unlock(&lock);
    pthread_join(thread, 0);
    if (__tsan_destroy_fiber) {
        for (int number = 0; number < FIBERS; number++) __tsan_destroy_fiber(fibers[number].own);
    }
    printf("%d %d %d\n", total, steps[0], steps[1]);
    return 0;
}
