// Every kind of pthread mutex, with the return codes POSIX and glibc promise: normal, errorcheck,
// recursive, adaptive, and the static initialisers; lock, trylock, timedlock, clocklock, unlock.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t static_errorcheck = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;
static pthread_mutex_t static_recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static const char *name(int code) {
    switch (code) {
    case 0: return "0";
    case EBUSY: return "EBUSY";
    case EDEADLK: return "EDEADLK";
    case EPERM: return "EPERM";
    case EINVAL: return "EINVAL";
    case ETIMEDOUT: return "ETIMEDOUT";
    default: return "?";
    }
}

static struct timespec after(clockid_t clock, long ms) {
    struct timespec t;
    clock_gettime(clock, &t);
    t.tv_nsec += ms * 1000000;
    t.tv_sec += t.tv_nsec / 1000000000;
    t.tv_nsec %= 1000000000;
    return t;
}

// What a second thread sees of a mutex that the first holds.
static void *visitor(void *arg) {
    pthread_mutex_t *m = arg;
    struct timespec soon = after(CLOCK_REALTIME, 20), mono = after(CLOCK_MONOTONIC, 20);
    struct timespec past = {1, 0}, broken = {1, 1000000000};
    printf("  other: try %s", name(pthread_mutex_trylock(m)));
    printf(", timed %s", name(pthread_mutex_timedlock(m, &soon)));
    printf(", clock %s", name(pthread_mutex_clocklock(m, CLOCK_MONOTONIC, &mono)));
    printf(", past %s", name(pthread_mutex_timedlock(m, &past)));
    printf(", broken %s\n", name(pthread_mutex_timedlock(m, &broken)));
    return NULL;
}

static void *unlocker(void *arg) {
    printf("  other: unlock %s\n", name(pthread_mutex_unlock(arg)));
    return NULL;
}

static void in_thread(void *(*f)(void *), pthread_mutex_t *m) {
    pthread_t t;
    pthread_create(&t, NULL, f, m);
    pthread_join(t, NULL);
}

static void exercise(const char *kind, pthread_mutex_t *m, int relock, int checks_owner) {
    struct timespec soon = after(CLOCK_REALTIME, 1000);
    printf("%s: lock %s", kind, name(pthread_mutex_lock(m)));
    printf(", try again %s", name(pthread_mutex_trylock(m)));
    if (relock) printf(", lock again %s", name(pthread_mutex_lock(m)));
    if (relock) printf(", timed again %s", name(pthread_mutex_timedlock(m, &soon)));
    printf("\n");
    in_thread(visitor, m);
    if (checks_owner) in_thread(unlocker, m);
    printf("  unlock");
    printf(" %s", name(pthread_mutex_unlock(m)));
    if (checks_owner) printf(", unlock free %s", name(pthread_mutex_unlock(m)));
    printf("\n");
}

static void typed(const char *kind, int type, int relock, int checks_owner) {
    pthread_mutexattr_t attr;
    pthread_mutex_t m;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, type);
    pthread_mutex_init(&m, &attr);
    exercise(kind, &m, relock, checks_owner);
    if (type == PTHREAD_MUTEX_RECURSIVE)
        for (int i = 0; i < 3; i++) printf("  unlock %s\n", name(pthread_mutex_unlock(&m)));
    pthread_mutexattr_destroy(&attr);
    printf("  destroy %s\n", name(pthread_mutex_destroy(&m)));
}

int main(void) {
    typed("normal", PTHREAD_MUTEX_NORMAL, 0, 0);
    typed("errorcheck", PTHREAD_MUTEX_ERRORCHECK, 1, 1);
    typed("recursive", PTHREAD_MUTEX_RECURSIVE, 1, 0);
    typed("adaptive", PTHREAD_MUTEX_ADAPTIVE_NP, 0, 0);
    exercise("static errorcheck", &static_errorcheck, 1, 1);
    printf("static recursive: %s", name(pthread_mutex_lock(&static_recursive)));
    printf(" %s", name(pthread_mutex_lock(&static_recursive)));
    printf(", unlock %s", name(pthread_mutex_unlock(&static_recursive)));
    printf(" %s", name(pthread_mutex_unlock(&static_recursive)));
    printf(" %s\n", name(pthread_mutex_unlock(&static_recursive)));
    return 0;
}
