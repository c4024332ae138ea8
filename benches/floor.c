/*
 * The floor: what reading an STD trace costs when nothing is done with it.
 *
 * Reads the file in blocks, splits every line into thread, operation, operand and location, and
 * gives every thread, lock and variable a number by its name. It checks nothing (names are even told
 * apart by their 64-bit hashes alone), keeps no events and analyses nothing, so no analysis of the
 * same file can be expected to be faster; `make bench` gives the cost of ours as a multiple of it.
 *
 * Usage: floor FILE. Prints the counts, so that the compiler cannot drop the work.
 */

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 20 };

/* Numbers of names, by hash: an open-addressing table. The hash zero marks an empty place. */
struct names {
    struct place {
        uint64_t hash;
        uint32_t number;
    } *places;
    uint32_t count, mask;
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("floor: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static void names_resize(struct names *names, uint32_t places)
{
    struct names larger = {must(calloc(places, sizeof *names->places)), names->count, places - 1};
    for (uint32_t i = 0; names->places && i <= names->mask; i++) {
        if (names->places[i].hash) {
            uint32_t at = names->places[i].hash & larger.mask;
            while (larger.places[at].hash)
                at = (at + 1) & larger.mask;
            larger.places[at] = names->places[i];
        }
    }
    free(names->places);
    *names = larger;
}

static inline uint32_t number_of(struct names *names, const char *text, size_t length)
{
    uint64_t hash = 1469598103934665603u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211u;
    uint32_t at = hash & names->mask;
    while (names->places[at].hash && names->places[at].hash != hash)
        at = (at + 1) & names->mask;
    if (!names->places[at].hash) {
        names->places[at] = (struct place){hash, names->count++};
        uint32_t number = names->places[at].number;
        if (2 * names->count > names->mask)
            names_resize(names, 2 * (names->mask + 1));
        return number;
    }
    return names->places[at].number;
}

struct totals {
    struct names threads, locks, variables;
    uint64_t events, sum; /* of all numbers and locations */
};

static inline void take_line(struct totals *totals, const char *p, const char *end)
{
    const char *thread = p;
    while (*p != '|')
        p++;
    uint64_t sum = number_of(&totals->threads, thread, (size_t)(p - thread));
    const char *op = ++p;
    while (*p != '(' && *p != '|')
        p++;
    if (*p == '(') {
        const char *operand = ++p;
        while (*p != ')')
            p++;
        /* r and w are one letter long; of the others, fork and join begin with f and j. */
        struct names *names = op[1] == '(' ? &totals->variables
                              : *op == 'f' || *op == 'j' ? &totals->threads : &totals->locks;
        sum += number_of(names, operand, (size_t)(p - operand));
        p++;
    }
    uint64_t location = 0;
    for (p++; p < end; p++)
        location = location * 10 + (uint64_t)(*p - '0');
    totals->sum += sum + location;
    totals->events++;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fputs("usage: floor FILE\n", stderr);
        return 2;
    }
    int file = open(argv[1], O_RDONLY);
    if (file < 0) {
        perror(argv[1]);
        return 2;
    }
    static char block[BLOCK];
    struct totals totals = {0};
    names_resize(&totals.threads, 1 << 10);
    names_resize(&totals.locks, 1 << 10);
    names_resize(&totals.variables, 1 << 12);
    size_t kept = 0;
    for (ssize_t got; (got = read(file, block + kept, BLOCK - kept)) > 0;) {
        const char *line = block, *end = block + kept + got, *newline;
        while ((newline = memchr(line, '\n', (size_t)(end - line))) != NULL) {
            take_line(&totals, line, newline);
            line = newline + 1;
        }
        kept = (size_t)(end - line);
        memmove(block, line, kept);
    }
    printf("%llu events; %u threads, %u locks, %u variables; sum %llu\n", (unsigned long long)totals.events,
           totals.threads.count, totals.locks.count, totals.variables.count, (unsigned long long)totals.sum);
    return 0;
}
