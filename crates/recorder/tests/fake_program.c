/* Stands in for a program with the runtime in it: writes records into the shared file by hand. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SWITCH = 1, READ = 2, WRITE = 3, ACQUIRE = 9, RELEASE = 11, FORK = 23, START = 25, FINISH = 26, THREAD = 27,
       HOT = 41, NOTICE = 43, END = 44 };
enum { TRY = 1, FULL = 2, HOT_MODE = 3 };

static volatile uint64_t *words;
static uint64_t at;

static void append(int kind, int arg, uint64_t address, unsigned aux, int count, const uint64_t *more)
{
    uint64_t ring = words[9], len = 16 + 8 * count;
    uint64_t room = ring - at % ring;
    volatile uint64_t *produced = words + 512, *consumed = words + 512 + 16;
    if (room < len) {
        while (at + room - *consumed > ring) usleep(100);
        words[1024 + at % ring / 8] = room << 16;
        at += room;
        *produced = at;
    }
    while (at + len - *consumed > ring) usleep(100);
    volatile uint64_t *place = words + 1024 + at % ring / 8;
    place[0] = kind | (uint64_t)arg << 8 | address << 16;
    place[1] = 0x1234 | (uint64_t)aux << 48;
    for (int i = 0; i < count; i++) place[2 + i] = more[i];
    at += len;
    __sync_synchronize();
    *produced = at;
}

#define APPEND(kind, arg, address, aux, ...) do { \
        uint64_t more[] = { __VA_ARGS__ }; \
        append(kind, arg, address, aux, sizeof more / 8, more); \
    } while (0)

static void begin(void)
{
    APPEND(SWITCH, 0, 0, 0, 0);
    APPEND(THREAD, 0, 0, 0, 0, 0, 0x20000, 0x10000);
    append(START, 0, 0, 0, 0, 0);
    APPEND(THREAD, 0, 1, 0, 0, 0, 0x40000, 0x30000);
    append(FORK, 0, 1, 0, 0, 0);
}

static void accesses(int count, int hot)
{
    for (int i = 0; i < count; i++) {
        APPEND(WRITE, 8, 0x1000, 0, i);
        if (!hot) APPEND(READ, 8, 0x2000, 0, i);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "exit";
    const char *number = getenv("INTERLOPER_CONTROL");
    struct stat file;
    if (!number || strlen(number) != 5 || fstat(atoi(number), &file)) return 99;
    words = mmap(0, file.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, atoi(number), 0);
    if (words == MAP_FAILED) return 98;
    int mode = words[1], policy = words[2];
    if (!strcmp(what, "unattached")) return 7;
    words[512 + 32] = 1; /* The claim. */
    if (!strcmp(what, "silent")) return 0;
    if (!strcmp(what, "no shadow")) {
        APPEND(NOTICE, 8, 0, 0, 0, 0, 0);
        usleep(300000);
        return 0;
    }
    begin();
    if (!strcmp(what, "kill")) {
        accesses(1000, 0);
        kill(getpid(), SIGKILL);
    } else if (!strcmp(what, "crash")) {
        accesses(10, 0);
        abort();
    } else if (!strcmp(what, "term")) {
        printf("ready\n");
        fflush(stdout);
        for (;;) pause();
    } else if (!strcmp(what, "garble")) {
        words[1024 + at % words[9] / 8] = ~0ull;
        words[512] = at + 64;
        return 5;
    } else if (!strcmp(what, "fill")) {
        accesses(100000, 0);
    } else if (!strcmp(what, "orphan")) {
        /* A grandchild keeps the shared file open. */
        if (fork() == 0) { sleep(5); _exit(0); }
    } else if (!strcmp(what, "long") || !strcmp(what, "unfaithful")) {
        printf("run\n");
        if (mode == TRY) {
            APPEND(READ, 8, 0x1000, 0, 5);
            APPEND(NOTICE, 4, 0, 0, 0, 0, 0);
            APPEND(HOT, 0, 0x1000, 0, 0, 0x1000, 8);
        } else if (mode == HOT_MODE) {
            /* The plan and the hot locations of the first run. */
            if (policy != 3 || words[11] != 3 || words[13] != 1) return 97;
            APPEND(READ, 8, 0x1000, 0, 5);
        } else {
            APPEND(READ, 8, 0x1000, 0, 5);
            APPEND(READ, 8, 0x2000, 0, 6);
        }
        append(ACQUIRE, 0, 0x3000, 0, 0, 0);
        append(RELEASE, 0, 0x3000, 0, 0, 0);
        int odd = mode == HOT_MODE && !strcmp(what, "unfaithful");
        APPEND(SWITCH, 0, 1, 1, odd ? 12 : 11);
        append(START, 0, 0, 0, 0, 0);
        append(FINISH, 0, 0, 0, 0, 0);
        APPEND(SWITCH, 0, 0, 3, 2);
    }
    APPEND(END, 0, 0, 0, 7);
    return 5;
}
