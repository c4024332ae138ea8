// A log buffer after Apache's, mended: who flushes it waits until the line is written. Lock sets do not tell, but that
// it reads what the writer writes last does.
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#if defined(__has_include)
#if __has_include(<interloper.h>)
#include <interloper.h>
#endif
#endif
#ifndef INTERLOPER_ATOMIC_BEGIN
#define INTERLOPER_ATOMIC_BEGIN(name)
#define INTERLOPER_ATOMIC_END(name)
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t turn = PTHREAD_COND_INITIALIZER;
static int lines;
static char buffer[64] = "GET /\n";
static size_t length = 6;

static size_t get_length(void) {
    pthread_mutex_lock(&lock);
    size_t now = length;
    pthread_mutex_unlock(&lock);
    return now;
}

static void set_length(size_t now) {
    pthread_mutex_lock(&lock);
    length = now;
    pthread_mutex_unlock(&lock);
}

static void log_line(const char *line, size_t size) {
    INTERLOPER_ATOMIC_BEGIN("log_line");
    size_t at = get_length();
    pthread_mutex_lock(&lock);
    memcpy(buffer + at, line, size);
    pthread_mutex_unlock(&lock);
    set_length(at + size);
    INTERLOPER_ATOMIC_END("log_line");
}

static void count_line(void) {
    pthread_mutex_lock(&lock);
    lines = 1;
    pthread_cond_signal(&turn);
    pthread_mutex_unlock(&lock);
}

static void flush(void) {
    pthread_mutex_lock(&lock);
    while (lines < 1) pthread_cond_wait(&turn, &lock);
    length = 0;
    pthread_mutex_unlock(&lock);
}

static void *writer(void *arg) {
    log_line("PUT /a\n", 7);
    count_line();
    return arg;
}

static void *flusher(void *arg) {
    flush();
    return arg;
}

int main(void) {
    pthread_t one, two;
    pthread_create(&one, NULL, writer, NULL);
    pthread_create(&two, NULL, flusher, NULL);
    pthread_join(one, NULL);
    pthread_join(two, NULL);
    // Flushed last, or before the line.
    int is_whole = length == 0 || length == 7;
    printf("%s\n", is_whole ? "whole lines" : "lines that are gone");
    return !is_whole;
}
