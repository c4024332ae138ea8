#include <pthread.h>
#include <stdio.h>

static int tickets, waiting, winner;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_ticket = PTHREAD_COND_INITIALIZER, changed = PTHREAD_COND_INITIALIZER;

static void *take(void *argument)
{
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&changed);
    while (tickets == 0)
        pthread_cond_wait(&has_ticket, &lock);
    tickets--;
    if (winner == 0)
        winner = (int)(long)argument;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[3];
    for (long i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, take, (void *)(i + 1));
    pthread_mutex_lock(&lock);
    while (waiting < 3)
        pthread_cond_wait(&changed, &lock);
    for (int i = 0; i < 3; i++) {
        tickets++;
        pthread_cond_signal(&has_ticket);
        while (tickets > 0)
            pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", winner);
    return 0;
}
