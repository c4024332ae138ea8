// The log buffer of a web server: log_write() reads the fill length, copies the line to that
// offset and then adds to the length, with no lock around the three. Two writers at once use the
// same offset: one line overwrites the other, and the length counts bytes that are not there.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { LOG_SIZE = 256 };

struct log {
    size_t length;
    char text[LOG_SIZE];
};

static struct log access_log;

static void log_write(struct log *log, const char *line) {
    size_t n = strlen(line);
    size_t at = log->length;  //~ first
    if (at + n > LOG_SIZE) return;
    memcpy(log->text + at, line, n);
    log->length = at + n;  //~ remote second
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
