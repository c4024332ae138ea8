// C11 threads: thrd_*, mtx_* (plain, recursive, timed), cnd_*, tss_* with destructor, call_once.
#include <stdio.h>
#include <threads.h>
#include <time.h>

static mtx_t plain, recursive, timed;
static cnd_t changed;
static tss_t slot;
static once_flag once = ONCE_FLAG_INIT;
static int turns, made, destroyed, turn;

static const char *name(int code) {
    return code == thrd_success ? "success" : code == thrd_busy ? "busy" : code == thrd_timedout ? "timedout" : "error";
}

static void make(void) { made++; }

static void destroy(void *value) {
    mtx_lock(&plain);
    destroyed += *(int *)value;
    mtx_unlock(&plain);
}

static int player(void *arg) {
    int me = *(int *)arg;
    call_once(&once, make);
    tss_set(slot, arg);
    for (int i = 0; i < 10; i++) {
        mtx_lock(&plain);
        while (turn != me) cnd_wait(&changed, &plain);
        turns++;
        turn = !turn;
        cnd_broadcast(&changed);
        mtx_unlock(&plain);
    }
    if (me == 1) thrd_exit(*(int *)tss_get(slot) + 40);
    return 40;
}

static int visitor(void *unused) {
    (void)unused;
    struct timespec past = {1, 0};
    printf("other: try %s, timed %s\n", name(mtx_trylock(&timed)), name(mtx_timedlock(&timed, &past)));
    return 0;
}

int main(void) {
    thrd_t a, b;
    int zero = 0, one = 1, x, y;
    mtx_init(&plain, mtx_plain);
    mtx_init(&recursive, mtx_plain | mtx_recursive);
    mtx_init(&timed, mtx_timed);
    cnd_init(&changed);
    tss_create(&slot, destroy);
    thrd_create(&a, player, &zero);
    thrd_create(&b, player, &one);
    thrd_join(a, &x);
    thrd_join(b, &y);
    printf("turns %d, results %d %d, made %d, destroyed %d\n", turns, x, y, made, destroyed);

    mtx_lock(&recursive);
    printf("recursive: lock %s, try %s\n", name(mtx_lock(&recursive)), name(mtx_trylock(&recursive)));
    for (int i = 0; i < 3; i++) mtx_unlock(&recursive);
    mtx_lock(&timed);
    thrd_create(&a, visitor, NULL);
    thrd_join(a, NULL);

    struct timespec until;
    timespec_get(&until, TIME_UTC);
    until.tv_nsec += 10000000;
    if (until.tv_nsec >= 1000000000) { until.tv_sec++; until.tv_nsec -= 1000000000; }
    printf("timedwait %s\n", name(cnd_timedwait(&changed, &timed, &until)));
    mtx_unlock(&timed);
    thrd_yield();
    printf("sleep %d, equal %d\n", thrd_sleep(&(struct timespec){0, 1000000}, NULL),
           thrd_equal(thrd_current(), thrd_current()) != 0);
    tss_delete(slot);
    cnd_destroy(&changed);
    mtx_destroy(&timed);
    mtx_destroy(&recursive);
    mtx_destroy(&plain);
    return 0;
}
