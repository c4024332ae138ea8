// The fixed stop protocol: io_begin() counts itself in first and looks at the flag afterwards, so
// stop() either is seen or sees the request and leaves the stopping to it.
#include <assert.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct device {
    atomic_int stopping;
    atomic_int pending;  // Requests inside, plus one for the driver itself.
    atomic_int stopped;
} device = {0, 1, 0};

static void io_end(struct device *d) {
    if (atomic_fetch_sub(&d->pending, 1) == 1) atomic_store(&d->stopped, 1);
}

static int io_begin(struct device *d) {
    atomic_fetch_add(&d->pending, 1);
    if (atomic_load(&d->stopping)) {
        io_end(d);
        return 0;
    }
    return 1;
}

static void *request(void *arg) {
    struct device *d = arg;
    if (!io_begin(d)) return NULL;
    assert(!atomic_load(&d->stopped));
    io_end(d);
    return NULL;
}

static void *stop(void *arg) {
    struct device *d = arg;
    atomic_store(&d->stopping, 1);
    io_end(d);
    return NULL;
}

int main(void) {
    pthread_t user, driver;
    pthread_create(&user, NULL, request, &device);
    pthread_create(&driver, NULL, stop, &device);
    pthread_join(user, NULL);
    pthread_join(driver, NULL);
    printf("pending %d, stopped %d\n", atomic_load(&device.pending), atomic_load(&device.stopped));
    return 0;
}
