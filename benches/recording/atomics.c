/* Atomic-heavy: two threads add to, compare-and-swap and load shared atomics, a million times each. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

enum { TURNS = 1000000 };

static atomic_long added, swapped;

static void *work(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        atomic_fetch_add(&added, 1);
        long seen = atomic_load(&swapped);
        while (!atomic_compare_exchange_weak(&swapped, &seen, seen + 1))
            ;
    }
    return unused;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, NULL))
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld %ld\n", atomic_load(&added), atomic_load(&swapped));
    return added == 2L * TURNS && swapped == 2L * TURNS ? 0 : 2;
}
