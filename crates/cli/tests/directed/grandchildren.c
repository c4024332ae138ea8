#include <pthread.h>
#include <stdio.h>

static long x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *add(void *argument)
{
    pthread_mutex_lock(&lock);
    long read = x;
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    x = read + *(long *)argument;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *make(void *argument)
{
    pthread_t child;
    pthread_attr_t attributes;
    long amount = (long)argument;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 1UL << 44);
    if (pthread_create(&child, &attributes, add, &amount) == 0)
        return NULL; /* Nobody has so much memory. */
    pthread_create(&child, NULL, add, &amount);
    pthread_join(child, NULL);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, make, (void *)(10 * i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%ld\n", x);
    return 0;
}
