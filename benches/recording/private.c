/*
 * Private memory: a thread reads cells that nobody else knows 100 million times, then writes them as
 * often; one access an iteration, 200 million in all. None of them is recorded.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { CELLS = 1024, TURNS = 100000000 };

static void *work(void *unused)
{
    long *cells = calloc(CELLS, sizeof *cells), sum = 0;
    if (!cells)
        exit(2);
    for (long i = 0; i < TURNS; i++)
        sum += cells[i % CELLS];
    for (long i = 0; i < TURNS; i++)
        cells[i % CELLS] = i;
    printf("%ld %ld\n", sum, cells[7]);
    free(cells);
    return unused;
}

int main(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL))
        return 2;
    pthread_join(thread, NULL);
    return 0;
}
