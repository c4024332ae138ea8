// POSIX semaphores: counting, wait, post, trywait, timedwait, clockwait, getvalue; unnamed ones as a
// bounded buffer between two threads.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>

enum { ITEMS = 200, SLOTS = 4 };

static sem_t empty_slots, full_slots;
static int buffer[SLOTS], received, in_order = 1;

static void *consumer(void *unused) {
    (void)unused;
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&full_slots);
        if (buffer[i % SLOTS] != i) in_order = 0;
        received += buffer[i % SLOTS];
        sem_post(&empty_slots);
    }
    return NULL;
}

static const char *outcome(int result) {
    return result == 0 ? "0" : errno == EAGAIN ? "EAGAIN" : errno == ETIMEDOUT ? "ETIMEDOUT"
         : errno == EINVAL ? "EINVAL" : "?";
}

static long long now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void timed(clockid_t clock) {
    long long begin = now_ns(clock), end = begin + 25000000;
    struct timespec until = {end / 1000000000, end % 1000000000};
    sem_t none;
    sem_init(&none, 0, 0);
    int result = clock == CLOCK_REALTIME ? sem_timedwait(&none, &until) : sem_clockwait(&none, clock, &until);
    printf("timed %s", outcome(result));
    printf(", %s", now_ns(clock) >= end ? "late enough" : "too early");
    sem_post(&none);
    printf(", then %s\n", outcome(sem_timedwait(&none, &until)));
    sem_destroy(&none);
}

int main(void) {
    sem_t s;
    int value;
    sem_init(&s, 0, 2);
    printf("try %s", outcome(sem_trywait(&s)));
    printf(" %s", outcome(sem_trywait(&s)));
    printf(" %s", outcome(sem_trywait(&s)));
    sem_getvalue(&s, &value);
    printf(", value %d", value);
    sem_post(&s);
    sem_post(&s);
    sem_post(&s);
    sem_getvalue(&s, &value);
    printf(", after three posts %d\n", value);
    sem_destroy(&s);
    timed(CLOCK_REALTIME);
    timed(CLOCK_MONOTONIC);

    pthread_t t;
    sem_init(&empty_slots, 0, SLOTS);
    sem_init(&full_slots, 0, 0);
    pthread_create(&t, NULL, consumer, NULL);
    for (int i = 0; i < ITEMS; i++) {
        sem_wait(&empty_slots);
        buffer[i % SLOTS] = i;
        sem_post(&full_slots);
    }
    pthread_join(t, NULL);
    printf("received %d, %s\n", received, in_order ? "in order" : "out of order");
    return 0;
}
