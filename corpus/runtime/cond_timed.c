// Timed waits in virtual time: each returns ETIMEDOUT, the clock has moved by at least the timeout,
// and the program, which "waits" for over two minutes under a virtual clock, may end at once.
// With the argument "short" (as in the expect file) the waits are short enough for a real clock.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static long long now_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static struct timespec at(long long ns) {
    struct timespec t = {ns / 1000000000, ns % 1000000000};
    return t;
}

static void report(const char *what, int code, long long elapsed, long long wanted) {
    printf("%s: %s, %s\n", what, code == ETIMEDOUT ? "timed out" : code == 0 ? "done" : "error",
           elapsed >= wanted ? "late enough" : "too early");
}

int main(int argc, char **argv) {
    long long wait = argc > 1 && strcmp(argv[1], "short") == 0 ? 20000000LL : 30000000000LL;
    pthread_cond_t real = PTHREAD_COND_INITIALIZER, mono;
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&mono, &attr);
    pthread_mutex_lock(&lock);

    long long begin = now_ns(CLOCK_REALTIME);
    struct timespec until = at(begin + wait);
    int code = pthread_cond_timedwait(&real, &lock, &until);
    report("realtime", code, now_ns(CLOCK_REALTIME) - begin, wait);

    begin = now_ns(CLOCK_MONOTONIC);
    until = at(begin + wait);
    code = pthread_cond_timedwait(&mono, &lock, &until);
    report("monotonic", code, now_ns(CLOCK_MONOTONIC) - begin, wait);

    begin = now_ns(CLOCK_MONOTONIC);
    until = at(begin + wait);
    code = pthread_cond_clockwait(&real, &lock, CLOCK_MONOTONIC, &until);
    report("clockwait", code, now_ns(CLOCK_MONOTONIC) - begin, wait);

    until = at(1000000000LL);
    code = pthread_cond_timedwait(&real, &lock, &until);
    report("past", code, 0, 0);
    printf("held again: %s\n", pthread_mutex_trylock(&lock) == EBUSY ? "yes" : "no");
    pthread_mutex_unlock(&lock);

    begin = now_ns(CLOCK_MONOTONIC);
    struct timespec pause = at(wait);
    code = nanosleep(&pause, NULL);
    report("nanosleep", code, now_ns(CLOCK_MONOTONIC) - begin, wait);
    begin = now_ns(CLOCK_MONOTONIC);
    code = usleep(20000);
    report("usleep", code, now_ns(CLOCK_MONOTONIC) - begin, 20000000);
    begin = now_ns(CLOCK_MONOTONIC);
    until = at(begin + wait);
    code = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
    report("clock_nanosleep", code, now_ns(CLOCK_MONOTONIC) - begin, wait);
    pthread_cond_destroy(&mono);
    return 0;
}
