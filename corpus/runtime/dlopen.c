// dlopen and dlsym while threads run: a library that was not there at the start (libm), a symbol of
// the program itself, a missing library and a missing symbol.
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static double sum;

static void *worker(void *arg) {
    double (*cosine)(double);
    void *library = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return NULL;
    *(void **)&cosine = dlsym(library, "cos");
    double value = cosine(*(double *)arg);
    pthread_mutex_lock(&lock);
    sum += value;
    pthread_mutex_unlock(&lock);
    dlclose(library);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    double zero = 0.0, also_zero = 0.0;
    pthread_create(&a, NULL, worker, &zero);
    pthread_create(&b, NULL, worker, &also_zero);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("cos 0 + cos 0 = %.1f\n", sum);
    void *self = dlopen(NULL, RTLD_NOW);
    int (*found)(const char *);
    *(void **)&found = dlsym(self, "puts");
    found("puts by dlsym");
    printf("missing symbol: %s\n", dlsym(self, "no_such_symbol_anywhere") == NULL ? "NULL" : "?");
    printf("missing library: %s\n", dlopen("libno_such_library.so.99", RTLD_NOW) == NULL ? "NULL" : "?");
    printf("error text: %s\n", dlerror() != NULL ? "yes" : "no");
    dlclose(self);
    return 0;
}
