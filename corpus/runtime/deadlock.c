// A certain deadlock: each thread holds one mutex, meets the other at a barrier, and asks for the
// other's mutex.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t left = PTHREAD_MUTEX_INITIALIZER, right = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t both;

static void *worker(void *arg) {
    int from_left = *(int *)arg;
    pthread_mutex_t *mine = from_left ? &left : &right, *other = from_left ? &right : &left;
    pthread_mutex_lock(mine);
    pthread_barrier_wait(&both);
    pthread_mutex_lock(other);
    pthread_mutex_unlock(other);
    pthread_mutex_unlock(mine);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int yes = 1, no = 0;
    printf("two locks, two threads\n");
    fflush(stdout);
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&a, NULL, worker, &yes);
    pthread_create(&b, NULL, worker, &no);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("not reached\n");
    return 0;
}
