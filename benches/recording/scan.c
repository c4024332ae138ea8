/*
 * An array scan shared by two threads: the one that wrote the array and another read all of it, again
 * and again. Every access is to a location that is shared, and thus recorded.
 */

#include <pthread.h>
#include <stdio.h>

enum { CELLS = 1 << 16, PASSES = 50 };

static long cells[CELLS];
static long sums[2];

static void *scan(void *sum)
{
    long total = 0;
    for (int pass = 0; pass < PASSES; pass++)
        for (int i = 0; i < CELLS; i++)
            total += cells[i] ^ pass;
    *(long *)sum = total;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    for (int i = 0; i < CELLS; i++)
        cells[i] = i;
    if (pthread_create(&thread, NULL, scan, &sums[1]))
        return 2;
    scan(&sums[0]);
    pthread_join(thread, NULL);
    printf("%ld\n", sums[0]);
    return sums[0] == sums[1] ? 0 : 2;
}
