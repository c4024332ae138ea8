// The same with one critical section.

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

static void mark(int slot, int value)
{
    pthread_mutex_lock(&lock);
    busy[slot] = value;
    pthread_mutex_unlock(&lock);
}

int pool_take(void)
{
    INTERLOPER_ATOMIC_BEGIN("take");
    pthread_mutex_lock(&lock);
    int slot = 0;
    while (slot < SLOTS && busy[slot])
        slot++;
    if (slot < SLOTS)
        busy[slot] = 1;
    else
        slot = -1;
    pthread_mutex_unlock(&lock);
    INTERLOPER_ATOMIC_END("take");
    return slot;
}

void pool_give(int slot)
{
    mark(slot, 0);
}
