// A cache behind a read-write lock: render() asks whether a page is there and then gets it, in two
// read-locked sections. When an insertion evicts the page in between, get() finds nothing and the
// result is a null pointer that nobody checks.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { SLOTS = 2 };

struct page {
    int key;
    char body[16];
};

static pthread_rwlock_t cache_lock = PTHREAD_RWLOCK_INITIALIZER;
static struct page cache[SLOTS] = {{1, "one"}, {2, "two"}};
static int next_victim;

static struct page *find(int key) {
    for (int i = 0; i < SLOTS; i++)
        if (cache[i].key == key) return &cache[i];  //~ first second
    return NULL;
}

static int contains(int key) {
    pthread_rwlock_rdlock(&cache_lock);
    int found = find(key) != NULL;
    pthread_rwlock_unlock(&cache_lock);
    return found;
}

static void get(int key, char *to) {
    pthread_rwlock_rdlock(&cache_lock);
    strcpy(to, find(key)->body);
    pthread_rwlock_unlock(&cache_lock);
}

static void insert(int key, const char *body) {
    pthread_rwlock_wrlock(&cache_lock);
    struct page *victim = &cache[next_victim++ % SLOTS];
    victim->key = key;  //~ remote
    strcpy(victim->body, body);
    pthread_rwlock_unlock(&cache_lock);
}

static void *render(void *out) {
    if (contains(1)) get(1, out);
    else strcpy(out, "one");
    return NULL;
}

static void *load(void *unused) {
    (void)unused;
    insert(3, "three");
    return NULL;
}

int main(void) {
    pthread_t a, b;
    char text[16];
    pthread_create(&a, NULL, render, text);
    pthread_create(&b, NULL, load, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("page %s\n", text);
    return 0;
}
