#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct box { long before, value; };
static struct box *box;
static long seen;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct box *current(void)
{
    pthread_mutex_lock(&lock);
    struct box *found = box;
    pthread_mutex_unlock(&lock);
    return found;
}

static void *look(void *argument)
{
    (void)argument;
    struct box *found = current();
    if (found)
        seen = found->value;
    return NULL;
}

static void *drop(void *argument)
{
    (void)argument;
    struct box *old = current();
    old->value++;
    pthread_mutex_lock(&lock);
    box = NULL;
    pthread_mutex_unlock(&lock);
    free(old);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    box = calloc(1, sizeof *box);
    pthread_create(&threads[0], NULL, look, NULL);
    pthread_create(&threads[1], NULL, drop, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", seen);
    return 0;
}
