// The wrong lock: snapshot() reads the table's length twice under one lock, grow() changes it under
// another. When grow() comes between the two reads, the copy overruns the room made for it.
#include <pthread.h>
#include <stdio.h>

enum { CAPACITY = 16 };

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t config_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    int length;
    int entries[CAPACITY];
} table = {4, {1, 2, 3, 4}};
static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static int snapshots, overrun;

static void *snapshot(void *unused) {
    (void)unused;
    pthread_mutex_lock(&table_lock);
    int room = table.length;  //~ first
    pthread_mutex_lock(&stats_lock);
    snapshots++;
    pthread_mutex_unlock(&stats_lock);
    int copy[room];
    for (int i = 0; i < table.length; i++) {  //~ second
        if (i >= room) {
            overrun = 1;
            break;
        }
        copy[i] = table.entries[i];
    }
    pthread_mutex_unlock(&table_lock);
    return copy[0] == 1 ? NULL : &overrun;
}

static void *grow(void *unused) {
    (void)unused;
    pthread_mutex_lock(&config_lock);
    table.entries[table.length] = 5;
    table.length++;  //~ remote
    pthread_mutex_unlock(&config_lock);
    return NULL;
}

int main(void) {
    pthread_t reader, writer;
    pthread_create(&reader, NULL, snapshot, NULL);
    pthread_create(&writer, NULL, grow, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    if (overrun) {
        fprintf(stderr, "the table grew during the snapshot\n");
        return 1;
    }
    printf("length %d\n", table.length);
    return 0;
}
