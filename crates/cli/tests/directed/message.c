#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int x, ends[2];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void set(int value)
{
    pthread_mutex_lock(&lock);
    x = value;
    pthread_mutex_unlock(&lock);
}

static void *tell(void *argument)
{
    char *message = malloc(1);
    (void)argument;
    set(1);
    *message = 'm';
    if (write(ends[1], message, 1) != 1)
        abort();
    free(message);
    set(2);
    return NULL;
}

static void *hear(void *argument)
{
    char message;
    (void)argument;
    if (read(ends[0], &message, 1) != 1)
        abort();
    set(3);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    if (pipe(ends))
        abort();
    pthread_create(&threads[0], NULL, tell, NULL);
    pthread_create(&threads[1], NULL, hear, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", x);
    return 0;
}
