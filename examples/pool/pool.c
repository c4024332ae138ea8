// A pool of slots that threads take and give back. Every access is under the lock; still, two threads can get the
// same slot, for taking one is two critical sections.

#include "pool.h"
#include <pthread.h>
#if __has_include(<interloper.h>)
#include <interloper.h>
#else
#define INTERLOPER_ATOMIC_BEGIN(name)
#define INTERLOPER_ATOMIC_END(name)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int busy[SLOTS];

static int find_free(void)
{
    pthread_mutex_lock(&lock);
    int slot = 0;
    while (slot < SLOTS && busy[slot])
        slot++;
    pthread_mutex_unlock(&lock);
    return slot < SLOTS ? slot : -1;
}

static void mark(int slot, int value)
{
    pthread_mutex_lock(&lock);
    busy[slot] = value;
    pthread_mutex_unlock(&lock);
}

int pool_take(void)
{
    INTERLOPER_ATOMIC_BEGIN("take");
    int slot = find_free();
    if (slot >= 0)
        mark(slot, 1);
    INTERLOPER_ATOMIC_END("take");
    return slot;
}

void pool_give(int slot)
{
    mark(slot, 0);
}
