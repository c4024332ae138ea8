// stdio from two threads: single calls are whole, flockfile makes several calls one, ftrylockfile
// says when another thread has the stream, and unlocked calls work inside.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { PAIRS = 50 };

static FILE *file;

static void *pairs(void *unused) {
    (void)unused;
    for (int i = 0; i < PAIRS; i++) {
        flockfile(stdout);
        fputs("one ", stdout);
        putchar_unlocked('t');
        putchar_unlocked('w');
        printf("o\n");
        funlockfile(stdout);
    }
    return NULL;
}

static void *lines(void *text) {
    for (int i = 0; i < PAIRS; i++) fprintf(file, "%s %s\n", (char *)text, (char *)text);
    return NULL;
}

static void *try_lock(void *result) {
    int code = ftrylockfile(file);
    if (code == 0) funlockfile(file);
    *(int *)result = code;
    return NULL;
}

int main(void) {
    pthread_t a, b;
    char line[64];
    int whole = 0, all = 0, busy = 0, idle = 1;
    pthread_create(&a, NULL, pairs, NULL);
    pthread_create(&b, NULL, pairs, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);

    file = tmpfile();
    if (file == NULL) return 1;
    pthread_create(&a, NULL, lines, "left");
    pthread_create(&b, NULL, lines, "right");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    rewind(file);
    while (fgets(line, sizeof line, file)) {
        all++;
        whole += strcmp(line, "left left\n") == 0 || strcmp(line, "right right\n") == 0;
    }
    flockfile(file);
    pthread_create(&a, NULL, try_lock, &busy);
    pthread_join(a, NULL);
    funlockfile(file);
    pthread_create(&a, NULL, try_lock, &idle);
    pthread_join(a, NULL);
    printf("lines %d, whole %d, trylock %s then %s\n", all, whole, busy ? "busy" : "free", idle ? "busy" : "free");
    fclose(file);
    return 0;
}
