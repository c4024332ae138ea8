// The fixed log buffer: reading the length, copying and adding to the length are one critical
// section.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOG_SIZE = 256 };

struct log {
    size_t length;
    char text[LOG_SIZE];
};

static struct log access_log;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

static void log_write(struct log *log, const char *line) {
    size_t n = strlen(line);
    pthread_mutex_lock(&log_lock);
    size_t at = log->length;
    if (at + n <= LOG_SIZE) {
        memcpy(log->text + at, line, n);
        log->length = at + n;
    }
    pthread_mutex_unlock(&log_lock);
}

static void *serve(void *line) {
    log_write(&access_log, line);
    return NULL;
}

static int count(char c) {
    int n = 0;
    for (size_t i = 0; i < access_log.length; i++) n += access_log.text[i] == c;
    return n;
}

int main(void) {
    pthread_t a, b;
    log_write(&access_log, "started\n");
    pthread_create(&a, NULL, serve, "GET /aaa\n");
    pthread_create(&b, NULL, serve, "GET /bbb\n");
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (count('\n') != 3 || count('a') != 4 || count('b') != 3) {
        fprintf(stderr, "a log line is lost\n");
        return 1;
    }
    printf("%zu bytes, %d lines\n", access_log.length, count('\n'));
    return 0;
}
