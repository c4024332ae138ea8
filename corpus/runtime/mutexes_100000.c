// A hundred thousand mutexes, each with its own counter, used by two threads; then all destroyed and
// the memory used again for others.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { MUTEXES = 100000 };

struct cell {
    pthread_mutex_t lock;
    int value;
};

static struct cell *cells;

static void *forward(void *unused) {
    (void)unused;
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_lock(&cells[i].lock);
        cells[i].value++;
        pthread_mutex_unlock(&cells[i].lock);
    }
    return NULL;
}

static void *backward(void *unused) {
    (void)unused;
    for (int i = MUTEXES - 1; i >= 0; i--) {
        pthread_mutex_lock(&cells[i].lock);
        cells[i].value += 2;
        pthread_mutex_unlock(&cells[i].lock);
    }
    return NULL;
}

int main(void) {
    for (int round = 0; round < 2; round++) {
        pthread_t a, b;
        long wrong = 0;
        cells = calloc(MUTEXES, sizeof *cells);
        if (cells == NULL) return 2;
        for (int i = 0; i < MUTEXES; i++) pthread_mutex_init(&cells[i].lock, NULL);
        pthread_create(&a, NULL, forward, NULL);
        pthread_create(&b, NULL, backward, NULL);
        pthread_join(a, NULL);
        pthread_join(b, NULL);
        for (int i = 0; i < MUTEXES; i++) {
            wrong += cells[i].value != 3;
            pthread_mutex_destroy(&cells[i].lock);
        }
        free(cells);
        printf("round %d: wrong %ld\n", round, wrong);
    }
    // All held at once.
    static pthread_mutex_t many[MUTEXES];
    for (int i = 0; i < MUTEXES; i++) {
        pthread_mutex_init(&many[i], NULL);
        pthread_mutex_lock(&many[i]);
    }
    for (int i = MUTEXES - 1; i >= 0; i--) pthread_mutex_unlock(&many[i]);
    printf("held all\n");
    return 0;
}
