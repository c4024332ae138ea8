// The fixed two-stage update: writer and reader hold the document's lock while they take the
// index's, so the pair changes as one.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t document_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static int document_version = 1, index_version = 1;
static int stale_reads;

static void *update(void *unused) {
    (void)unused;
    pthread_mutex_lock(&document_lock);
    int version = ++document_version;
    pthread_mutex_lock(&index_lock);
    index_version = version;
    pthread_mutex_unlock(&index_lock);
    pthread_mutex_unlock(&document_lock);
    return NULL;
}

static void *lookup(void *unused) {
    (void)unused;
    pthread_mutex_lock(&document_lock);
    pthread_mutex_lock(&index_lock);
    if (document_version != index_version) stale_reads++;
    pthread_mutex_unlock(&index_lock);
    pthread_mutex_unlock(&document_lock);
    return NULL;
}

int main(void) {
    pthread_t writer, reader;
    pthread_create(&writer, NULL, update, NULL);
    pthread_create(&reader, NULL, lookup, NULL);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    if (stale_reads) {
        fprintf(stderr, "the index did not match the document\n");
        return 1;
    }
    printf("document %d, index %d\n", document_version, index_version);
    return 0;
}
