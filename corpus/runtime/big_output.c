// Much output: 20000 lines by two threads in turns, through one stdout, in their order.
#include <pthread.h>
#include <stdio.h>

enum { LINES = 20000, BATCH = 100 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int next_line = 1;

static void *printer(void *arg) {
    int mine = *(int *)arg;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (next_line <= LINES && (next_line - 1) / BATCH % 2 != mine) pthread_cond_wait(&changed, &lock);
        if (next_line > LINES) break;
        for (int i = 0; i < BATCH; i++) printf("line %d of many, to fill the buffers of stdio\n", next_line++);
        pthread_cond_signal(&changed);
    }
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int even = 0, odd = 1;
    pthread_create(&a, NULL, printer, &even);
    pthread_create(&b, NULL, printer, &odd);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
