#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int x;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void wander(void)
{
    int ends[2];
    char byte = 1;
    sched_yield();
    usleep(1000);
    if (pipe(ends) || poll(NULL, 0, 10))
        abort();
    struct pollfd end = { ends[0], POLLIN, 0 };
    if (poll(&end, 1, 20) || write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
        abort();
    sched_yield();
}

static void *add(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    int read = x;
    pthread_mutex_unlock(&lock);
    wander();
    pthread_mutex_lock(&lock);
    x = read + 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
