// Recursion a hundred thousand frames deep in two threads (with stacks to match), each frame with a
// local that its callee writes; and a shared counter raised on the way.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEPTH = 100000 };

static atomic_long frames;

__attribute__((noinline)) static long descend(long depth, long *above) {
    long mine = depth;
    atomic_fetch_add(&frames, 1);
    if (depth == 0) {
        *above += 1;
        return 0;
    }
    long below = descend(depth - 1, &mine);
    *above += 1;
    return below + (mine == depth + 1);
}

static void *worker(void *result) {
    long top = 0;
    *(long *)result = descend(DEPTH, &top) + top;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_attr_t attr;
    long x, y;
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 128ul << 20);
    if (pthread_create(&a, &attr, worker, &x) != 0 || pthread_create(&b, &attr, worker, &y) != 0) return 2;
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("results %ld %ld, frames %ld\n", x, y, atomic_load(&frames));
    return 0;
}
