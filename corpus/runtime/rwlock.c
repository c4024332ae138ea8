// Read-write locks: readers share, a writer excludes, try and timed variants say so, and the owner
// that asks again is told EDEADLK where glibc knows.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_rwlock_t rw = PTHREAD_RWLOCK_INITIALIZER;
static pthread_barrier_t both_inside;
static int table[4], reads;

static const char *name(int code) {
    return code == 0 ? "0" : code == EBUSY ? "EBUSY" : code == ETIMEDOUT ? "ETIMEDOUT"
         : code == EDEADLK ? "EDEADLK" : "?";
}

static struct timespec soon(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += 15000000;
    if (t.tv_nsec >= 1000000000) { t.tv_sec++; t.tv_nsec -= 1000000000; }
    return t;
}

static void *visitor(void *unused) {
    (void)unused;
    int code = pthread_rwlock_tryrdlock(&rw);
    printf("  tryrd %s", name(code));
    if (code == 0) pthread_rwlock_unlock(&rw);
    code = pthread_rwlock_trywrlock(&rw);
    printf(", trywr %s", name(code));
    if (code == 0) pthread_rwlock_unlock(&rw);
    struct timespec t = soon(CLOCK_REALTIME);
    code = pthread_rwlock_timedrdlock(&rw, &t);
    printf(", timedrd %s", name(code));
    if (code == 0) pthread_rwlock_unlock(&rw);
    t = soon(CLOCK_REALTIME);
    code = pthread_rwlock_timedwrlock(&rw, &t);
    printf(", timedwr %s", name(code));
    if (code == 0) pthread_rwlock_unlock(&rw);
    t = soon(CLOCK_MONOTONIC);
    code = pthread_rwlock_clockwrlock(&rw, CLOCK_MONOTONIC, &t);
    printf(", clockwr %s\n", name(code));
    if (code == 0) pthread_rwlock_unlock(&rw);
    return NULL;
}

static void visit(const char *state) {
    pthread_t t;
    printf("%s\n", state);
    pthread_create(&t, NULL, visitor, NULL);
    pthread_join(t, NULL);
}

// Both readers stand inside together, or the barrier would never open.
static void *reader(void *unused) {
    (void)unused;
    pthread_rwlock_rdlock(&rw);
    pthread_barrier_wait(&both_inside);
    int sum = table[0] + table[1] + table[2] + table[3];
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_wrlock(&rw);
    reads += sum;
    pthread_rwlock_unlock(&rw);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_rwlock_wrlock(&rw);
    for (int i = 0; i < 4; i++) table[i] = i + 1;
    printf("own again: rd %s, wr %s\n", name(pthread_rwlock_rdlock(&rw)), name(pthread_rwlock_wrlock(&rw)));
    visit("write-locked");
    pthread_rwlock_unlock(&rw);
    pthread_rwlock_rdlock(&rw);
    pthread_rwlock_rdlock(&rw);
    visit("read-locked twice");
    pthread_rwlock_unlock(&rw);
    visit("read-locked once");
    pthread_rwlock_unlock(&rw);
    visit("free");
    pthread_barrier_init(&both_inside, NULL, 2);
    pthread_create(&a, NULL, reader, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("sum of two readers %d, destroy %s\n", reads, name(pthread_rwlock_destroy(&rw)));
    return 0;
}
