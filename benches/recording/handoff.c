/* Handoffs: two threads take turns by a condition variable, 200,000 times in all. */

#include <pthread.h>
#include <stdio.h>

enum { HANDOFFS = 200000 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static int turn;

static void *work(void *mine)
{
    int me = *(int *)mine;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < HANDOFFS / 2; i++) {
        while (turn % 2 != me)
            pthread_cond_wait(&moved, &lock);
        turn++;
        pthread_cond_signal(&moved);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    static int names[2] = {0, 1};
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, work, &names[i]))
            return 2;
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d\n", turn);
    return turn == HANDOFFS ? 0 : 2;
}
