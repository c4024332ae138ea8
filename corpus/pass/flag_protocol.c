// Right: a flag, kept under one lock and waited for on a condition variable, makes the owner of the
// record. The record itself is read and written outside of the lock, in several steps; lock sets
// alone make that look guilty, the flag's values show that nobody else can be there.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t freed = PTHREAD_COND_INITIALIZER;
static int busy;
static struct {
    int count, sum;
} record;

static void own(void) {
    pthread_mutex_lock(&lock);
    while (busy) pthread_cond_wait(&freed, &lock);
    busy = 1;
    pthread_mutex_unlock(&lock);
}

static void disown(void) {
    pthread_mutex_lock(&lock);
    busy = 0;
    pthread_cond_signal(&freed);
    pthread_mutex_unlock(&lock);
}

static int update(int value) {
    int count = record.count, sum = record.sum;
    record.sum = sum + value;
    record.count = count + 1;
    return record.count == count + 1 && record.sum == sum + value;
}

static void *worker(void *arg) {
    int *value = arg;
    for (int i = 0; i < 3; i++) {
        own();
        int right = update(*value);
        disown();
        if (!right) *value = -1000;
    }
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int one = 1, ten = 10;
    pthread_create(&a, NULL, worker, &one);
    pthread_create(&b, NULL, worker, &ten);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("count %d, sum %d\n", record.count, record.sum);
    return record.count != 6 || record.sum != 33;
}
