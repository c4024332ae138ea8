// What a program may say about itself: locks of its own making, also shared and several levels at once, and what comes
// before what. All of it goes without saying where nobody listens.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define WEAK __attribute__((weak))
WEAK void AnnotateRWLockCreate(const char *file, int line, const volatile void *lock);
WEAK void AnnotateRWLockDestroy(const char *file, int line, const volatile void *lock);
WEAK void AnnotateRWLockAcquired(const char *file, int line, const volatile void *lock, long is_writer);
WEAK void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_writer);
WEAK void AnnotateHappensBefore(const char *file, int line, const volatile void *address);
WEAK void AnnotateHappensAfter(const char *file, int line, const volatile void *address);
WEAK void AnnotateThreadName(const char *file, int line, const char *name);
WEAK void AnnotateIgnoreReadsBegin(const char *file, int line);
WEAK void AnnotateIgnoreReadsEnd(const char *file, int line);
WEAK void AnnotateBenignRaceSized(const char *file, int line, const volatile void *address, long size, const char *why);
WEAK int RunningOnValgrind(void);
WEAK void __tsan_mutex_create(void *lock, unsigned flags);
WEAK void __tsan_mutex_destroy(void *lock, unsigned flags);
WEAK void __tsan_mutex_pre_lock(void *lock, unsigned flags);
WEAK void __tsan_mutex_post_lock(void *lock, unsigned flags, int levels);
WEAK int __tsan_mutex_pre_unlock(void *lock, unsigned flags);
WEAK void __tsan_mutex_post_unlock(void *lock, unsigned flags);
WEAK void __tsan_acquire(void *address);
WEAK void __tsan_release(void *address);
#define SAY(call, ...) do { if (call) call(__VA_ARGS__); } while (0)

enum { ROUNDS = 4, WRITE_REENTRANT = 2, ALL_LEVELS_UNLOCK = 1 << 7 };

// -1 is a writer, anything above 0 so many readers.
static atomic_int gate;
static int guarded;

static void lock_gate(int is_writer) {
    for (;;) {
        int found = atomic_load(&gate);
        int wanted = is_writer ? -1 : found + 1;
        if ((is_writer ? found == 0 : found >= 0) && atomic_compare_exchange_strong(&gate, &found, wanted)) break;
    }
    SAY(AnnotateRWLockAcquired, __FILE__, __LINE__, &gate, is_writer);
}

static void unlock_gate(int is_writer) {
    SAY(AnnotateRWLockReleased, __FILE__, __LINE__, &gate, is_writer);
    if (is_writer) atomic_store(&gate, 0);
    else atomic_fetch_sub(&gate, 1);
}

static struct { atomic_int owner; int depth, value; } nested;

static void take_nested(int me) {
    SAY(__tsan_mutex_pre_lock, &nested, WRITE_REENTRANT);
    if (atomic_load(&nested.owner) != me) {
        int nobody = 0;
        while (!atomic_compare_exchange_strong(&nested.owner, &nobody, me)) nobody = 0;
    }
    nested.depth++;
    SAY(__tsan_mutex_post_lock, &nested, WRITE_REENTRANT, 0);
}

static int leave_nested(int all) {
    int levels = __tsan_mutex_pre_unlock
        ? __tsan_mutex_pre_unlock(&nested, WRITE_REENTRANT | (all ? ALL_LEVELS_UNLOCK : 0))
        : all ? nested.depth : 1;
    nested.depth -= all ? nested.depth : 1;
    if (nested.depth == 0) atomic_store(&nested.owner, 0);
    SAY(__tsan_mutex_post_unlock, &nested, WRITE_REENTRANT);
    return levels;
}

static int message;
static atomic_int is_sent;

static void *work(void *argument) {
    int me = (int)(long)argument;
    SAY(AnnotateThreadName, __FILE__, __LINE__, "worker");
    for (int round = 0; round < ROUNDS; round++) {
        lock_gate(1);
        guarded++;
        unlock_gate(1);
        lock_gate(0);
        if (guarded < 1) puts("nothing there");
        unlock_gate(0);
        take_nested(me);
        take_nested(me);
        nested.value++;
        // Left altogether, and taken again as it was. Unrecorded, nobody keeps the count for us.
        int levels = leave_nested(1);
        if (levels != 2 && levels != 1) puts("another number of levels");
        take_nested(me);
        nested.value++;
        leave_nested(0);
    }
    if (me == 1) {
        message = 42;
        SAY(AnnotateHappensBefore, __FILE__, __LINE__, &message);
        SAY(__tsan_release, &is_sent);
        atomic_store(&is_sent, 1);
    }
    return 0;
}

int main(void) {
    SAY(AnnotateRWLockCreate, __FILE__, __LINE__, &gate);
    SAY(AnnotateBenignRaceSized, __FILE__, __LINE__, &guarded, sizeof guarded, "none at all");
    SAY(__tsan_mutex_create, &nested, WRITE_REENTRANT);
    pthread_t threads[2];
    for (long i = 0; i < 2; i++) pthread_create(&threads[i], 0, work, (void *)(i + 1));
    while (!atomic_load(&is_sent)) {
    }
    SAY(AnnotateHappensAfter, __FILE__, __LINE__, &message);
    SAY(__tsan_acquire, &is_sent);
    int received = message;
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    SAY(AnnotateIgnoreReadsBegin, __FILE__, __LINE__);
    printf("%d %d %d\n", received, guarded, nested.value);
    SAY(AnnotateIgnoreReadsEnd, __FILE__, __LINE__);
    SAY(__tsan_mutex_destroy, &nested, 0);
    SAY(AnnotateRWLockDestroy, __FILE__, __LINE__, &gate);
    if (RunningOnValgrind && RunningOnValgrind()) puts("valgrind");
    return 0;
}
