#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static int waiting, woken, late;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER, changed = PTHREAD_COND_INITIALIZER;

static void *impatient(void *argument)
{
    (void)argument;
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    time.tv_sec++;
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&changed);
    late = pthread_cond_timedwait(&condition, &lock, &time) == ETIMEDOUT;
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *patient(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    waiting++;
    pthread_cond_signal(&changed);
    pthread_cond_wait(&condition, &lock);
    woken = 1;
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void)
{
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, impatient, NULL);
    pthread_create(&threads[1], NULL, patient, NULL);
    pthread_mutex_lock(&lock);
    while (waiting < 2)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    sleep(2);
    pthread_cond_signal(&condition);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    printf("%d %d\n", woken, late);
    return 0;
}
