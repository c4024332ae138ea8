// What a program is given: arguments, environment variables, and changes to the environment.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static void *look(void *unused) {
    (void)unused;
    const char *given = getenv("CORPUS_GIVEN"), *set = getenv("CORPUS_SET");
    printf("thread: given \"%s\", set \"%s\"\n", given ? given : "(none)", set ? set : "(none)");
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t t;
    for (int i = 1; i < argc; i++) printf("argument %d: \"%s\"\n", i, argv[i]);
    setenv("CORPUS_SET", "by main", 1);
    pthread_create(&t, NULL, look, NULL);
    pthread_join(t, NULL);
    unsetenv("CORPUS_GIVEN");
    printf("unset: %s\n", getenv("CORPUS_GIVEN") ? "?" : "gone");
    return 0;
}
