#include <pthread.h>
#include <sched.h>
#include <stdio.h>

static int flags[3];

static void *wait(void *argument)
{
    int number = (int)(long)argument;
    if (number == 0)
        while (!__atomic_load_n(&flags[0], __ATOMIC_ACQUIRE)) { }
    else if (number == 1)
        while (!*(volatile int *)&flags[1]) { }
    else
        while (!__atomic_load_n(&flags[2], __ATOMIC_ACQUIRE)) sched_yield();
    return NULL;
}

static void *set(void *argument)
{
    (void)argument;
    for (int i = 0; i < 3; i++)
        __atomic_store_n(&flags[i], 1, __ATOMIC_RELEASE);
    return NULL;
}

int main(void)
{
    pthread_t threads[4];
    pthread_create(&threads[0], NULL, set, NULL);
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i + 1], NULL, wait, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    return 0;
}
