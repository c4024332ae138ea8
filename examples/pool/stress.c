#include "pool.h"
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int users[SLOTS];

static void *work(void *none)
{
    int slot = pool_take();
    if (slot >= 0) {
        assert(atomic_fetch_add(&users[slot], 1) == 0);    /* nobody else has it */
        atomic_fetch_sub(&users[slot], 1);
        pool_give(slot);
    }
    return none;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    puts("all given back");
    return 0;
}
