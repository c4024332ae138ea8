// Seats sold by two clerks, the counter guarded by a binary semaphore that is taken once for looking
// and once for selling: the last seat may be sold twice.
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>

static sem_t door;
static int seats = 1;

static int seats_left(void) {
    sem_wait(&door);
    int left = seats;  //~ first
    sem_post(&door);
    return left;
}

static void take_seat(void) {
    sem_wait(&door);
    seats--;  //~ remote second
    sem_post(&door);
}

static int sell(void) {
    if (seats_left() == 0) return 0;
    take_seat();
    return 1;
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
