// Standard input, read by one thread and added up by another.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int values[64], filled, finished;

static void *reader(void *unused) {
    char line[128];
    (void)unused;
    while (fgets(line, sizeof line, stdin)) {
        pthread_mutex_lock(&lock);
        values[filled++] = atoi(line);
        pthread_cond_signal(&changed);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    finished = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t t;
    int used = 0, sum = 0;
    pthread_create(&t, NULL, reader, NULL);
    pthread_mutex_lock(&lock);
    while (!finished || used < filled) {
        while (used < filled) sum += values[used++];
        if (!finished) pthread_cond_wait(&changed, &lock);
    }
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("lines %d, sum %d\n", used, sum);
    return 0;
}
