// A reference count after Apache's: it is decremented in one critical section and looked at in another. If both
// users have decremented before either looks, both free the object. Between them stands a counter of requests that
// has nothing to do with it, but that the filter takes for a reason why it cannot happen.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined(__has_include)
#if __has_include(<interloper.h>)
#include <interloper.h>
#endif
#endif
#ifndef INTERLOPER_ATOMIC_BEGIN
#define INTERLOPER_ATOMIC_BEGIN(name)
#define INTERLOPER_ATOMIC_END(name)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER, stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int requests;
static struct object {
    int refs;
    int frees;
} object = {2, 0};

static void count_request(void) {
    pthread_mutex_lock(&stats_lock);
    requests++;
    pthread_mutex_unlock(&stats_lock);
}

static void release(struct object *o) {
    INTERLOPER_ATOMIC_BEGIN("release");
    pthread_mutex_lock(&lock);
    o->refs--;  //~ first remote
    pthread_mutex_unlock(&lock);
    pthread_mutex_lock(&lock);
    int is_free = o->refs == 0;  //~ second
    if (is_free) o->frees++;
    pthread_mutex_unlock(&lock);
    INTERLOPER_ATOMIC_END("release");
}

static void *first_user(void *arg) {
    release(&object);
    count_request();
    return arg;
}

static void *second_user(void *arg) {
    count_request();
    release(&object);
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, first_user, NULL);
    pthread_create(&two, NULL, second_user, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    printf("%d requests, %s\n", requests, object.frees == 1 ? "freed once" : "freed twice");
    if (object.frees != 1) abort();
    return 0;
}
