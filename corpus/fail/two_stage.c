// Two-stage update: a document and its index belong together but are updated in two critical
// sections. A reader that comes in between sees the new document with the old index. No data race,
// no single variable is torn: a violation over two variables.
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t document_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t index_lock = PTHREAD_MUTEX_INITIALIZER;
static int document_version = 1, index_version = 1;
static int stale_reads;

static void *update(void *unused) {
    (void)unused;
    pthread_mutex_lock(&document_lock);
    int version = ++document_version;  //~ first
    pthread_mutex_unlock(&document_lock);
    pthread_mutex_lock(&index_lock);
    index_version = version;  //~ second
    pthread_mutex_unlock(&index_lock);
    return NULL;
}

static void *lookup(void *unused) {
    (void)unused;
    pthread_mutex_lock(&document_lock);
    pthread_mutex_lock(&index_lock);
    if (document_version != index_version) stale_reads++;  //~ remote
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
