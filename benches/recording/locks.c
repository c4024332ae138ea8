/* Lock-heavy: two threads take one mutex a million times each, to increment what it guards. */

#include <pthread.h>
#include <stdio.h>

enum { TURNS = 1000000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long counter;

static void *work(void *unused)
{
    for (int i = 0; i < TURNS; i++) {
        pthread_mutex_lock(&lock);
        counter++;
        pthread_mutex_unlock(&lock);
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
    printf("%ld\n", counter);
    return counter == 2L * TURNS ? 0 : 2;
}
