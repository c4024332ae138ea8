#include <pthread.h>
#include <stdio.h>
#include <string.h>

static pthread_barrier_t barrier;
static char from[64], to[2][64];

__attribute__((noinline)) static void copy_to(char *there)
{
    memcpy(there, from, sizeof from);
}

static void *copy(void *argument)
{
    pthread_barrier_wait(&barrier);
    if (argument)
        for (int i = 0; i < 2; i++)
            copy_to(to[i]);
    else
        memset(from, 'b', sizeof from);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    memset(from, 'a', sizeof from);
    pthread_barrier_init(&barrier, NULL, 2);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, copy, i ? from : NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%.64s %.64s\n", to[0], to[1]);
    return 0;
}
