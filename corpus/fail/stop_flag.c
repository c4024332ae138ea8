// A device driver's stop protocol. io_begin() checks the stopping flag and then counts itself in;
// when stop() runs in between, it finds nobody inside, stops the device, and the request goes on
// with a stopped device. All accesses are atomic: silent for race detectors.
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
    if (atomic_load(&d->stopping)) return 0;  //~ first
    atomic_fetch_add(&d->pending, 1);         //~ second
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
    atomic_store(&d->stopping, 1);  //~ remote
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
