#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *blocks[3][8];
static char *last[3];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *allocate(void *argument)
{
    long own = (long)argument;
    for (int i = 0; i < 8; i++) {
        char *block = malloc(20 + 700 * (i % 3) + 200000 * (i == 7));
        memset(block, i, 20);
        pthread_mutex_lock(&lock);
        blocks[own][i] = block;
        pthread_mutex_unlock(&lock);
        if (i % 2)
            free(block);
    }
    last[own] = aligned_alloc(64, 640);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, allocate, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 8; j++)
            printf("%p ", blocks[i][j]);
        printf("%p\n", (void *)last[i]);
    }
    return 0;
}
