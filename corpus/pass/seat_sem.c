// The fixed form: the semaphore is held from looking to selling.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t door;
static int seats = 1;

static int sell(void) {
    sem_wait(&door);
    int sold = seats > 0;
    if (sold) seats--;
    sem_post(&door);
    return sold;
}

static void *clerk(void *sold) {
    *(int *)sold = sell();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    int sold[2];
    sem_init(&door, 0, 1);
    pthread_create(&a, NULL, clerk, &sold[0]);
    pthread_create(&b, NULL, clerk, &sold[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (seats < 0) {
        fprintf(stderr, "%d seats left\n", seats);
        return 1;
    }
    printf("sold %d, left %d\n", sold[0] + sold[1], seats);
    return 0;
}
