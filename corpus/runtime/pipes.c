// Blocking reads and writes between threads: a pipeline of two pipes, one of them filled beyond its
// capacity so that the writer blocks, and end of file.
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TOTAL = 200000 };

static int raw[2], cooked[2];

static void *produce(void *unused) {
    char block[1000];
    (void)unused;
    for (int sent = 0; sent < TOTAL; sent += (int)sizeof block) {
        memset(block, 'a' + sent / 1000 % 26, sizeof block);
        if (write(raw[1], block, sizeof block) != sizeof block) break;
    }
    close(raw[1]);
    return NULL;
}

static void *transform(void *unused) {
    char block[777];
    ssize_t n;
    (void)unused;
    while ((n = read(raw[0], block, sizeof block)) > 0) {
        for (ssize_t i = 0; i < n; i++) block[i] -= 'a' - 'A';
        if (write(cooked[1], block, (size_t)n) != n) break;
    }
    close(cooked[1]);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    char block[4096];
    long bytes = 0, sum = 0;
    ssize_t n;
    if (pipe(raw) != 0 || pipe(cooked) != 0) return 1;
    pthread_create(&b, NULL, transform, NULL);
    pthread_create(&a, NULL, produce, NULL);
    while ((n = read(cooked[0], block, sizeof block)) > 0) {
        bytes += n;
        for (ssize_t i = 0; i < n; i++) sum += block[i];
    }
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("bytes %ld, sum %ld, then %zd\n", bytes, sum, n);
    return 0;
}
