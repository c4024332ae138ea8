/*
 * The floor: what reading an STD trace costs when nothing is done with it.
 *
 * Reads the file in blocks, splits every line into thread, operation, operand and location, and
 * gives every thread, lock and variable a number by its name. It checks nothing, keeps no events
 * and analyses nothing, so no analysis of the same file can be expected to be faster; `make bench`
 * gives the cost of ours as a multiple of it. Written to be plain and quick, not to be clever.
 *
 * Usage: floor FILE. Prints the counts, so that the compiler cannot drop the work.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 20, SLACK = 8 };

/* Names in the order they came, found again by an open-addressing hash table. */
struct names {
    struct name {
        char *text;
        size_t length;
        uint64_t hash, word;
    } *all;
    uint32_t *slots; /* index + 1, or 0 for an empty slot */
    size_t count, capacity, mask;
};

static void *must(void *memory)
{
    if (!memory) {
        fputs("floor: out of memory\n", stderr);
        exit(2);
    }
    return memory;
}

static void names_init(struct names *names)
{
    names->count = 0;
    names->capacity = 64;
    names->mask = 2 * names->capacity - 1;
    names->all = must(malloc(names->capacity * sizeof *names->all));
    names->slots = must(calloc(names->mask + 1, sizeof *names->slots));
}

static void names_grow(struct names *names)
{
    names->capacity *= 2;
    names->mask = 2 * names->capacity - 1;
    names->all = must(realloc(names->all, names->capacity * sizeof *names->all));
    free(names->slots);
    names->slots = must(calloc(names->mask + 1, sizeof *names->slots));
    for (size_t i = 0; i < names->count; i++) {
        size_t slot = names->all[i].hash & names->mask;
        while (names->slots[slot])
            slot = (slot + 1) & names->mask;
        names->slots[slot] = (uint32_t)i + 1;
    }
}

/* The first bytes of a text, up to eight (little-endian); the buffer is readable that far past any of them. */
static inline uint64_t word_of(const char *text, size_t length)
{
    uint64_t word;
    memcpy(&word, text, 8);
    return length < 8 ? word & (((uint64_t)1 << 8 * length) - 1) : word;
}

/* Most names are no longer than eight bytes, and then one multiplication is all it takes. */
static inline uint64_t hash_of(const char *text, size_t length)
{
    const uint64_t multiplier = 0x9e3779b97f4a7c15u;
    uint64_t hash = (word_of(text, length) ^ length) * multiplier;
    for (size_t i = 8; i < length; i += 8)
        hash = (hash ^ word_of(text + i, length - i)) * multiplier;
    return hash ^ hash >> 32;
}

static inline uint32_t number_of(struct names *names, const char *text, size_t length)
{
    uint64_t hash = hash_of(text, length);
    size_t slot = hash & names->mask;
    for (uint32_t found; (found = names->slots[slot]) != 0; slot = (slot + 1) & names->mask) {
        const struct name *name = &names->all[found - 1];
        if (name->hash == hash && name->length == length && name->word == word_of(text, length)
            && (length <= 8 || memcmp(name->text, text, length) == 0))
            return found - 1;
    }
    if (names->count == names->capacity) {
        names_grow(names);
        slot = hash & names->mask;
        while (names->slots[slot])
            slot = (slot + 1) & names->mask;
    }
    char *copy = must(malloc(length + 1));
    memcpy(copy, text, length);
    names->all[names->count] = (struct name){copy, length, hash, word_of(text, length)};
    names->slots[slot] = (uint32_t)++names->count;
    return (uint32_t)names->count - 1;
}

struct totals {
    struct names threads, locks, variables;
    uint64_t events, accesses, lock_operations, others;
    uint64_t sum; /* of all numbers and locations */
};

static inline void take_line(struct totals *totals, const char *line, const char *end)
{
    const char *bar = memchr(line, '|', (size_t)(end - line));
    if (!bar)
        return;
    uint64_t sum = number_of(&totals->threads, line, (size_t)(bar - line));
    const char *op = bar + 1;
    const char *p = op;
    while (p < end && *p != '(' && *p != '|')
        p++;
    if (p < end && *p == '(') {
        const char *operand = p + 1;
        while (p < end && *p != ')')
            p++;
        size_t length = (size_t)(p - operand);
        if (*op == 'a' || op[1] == 'e') { /* acq, rel, req */
            sum += number_of(&totals->locks, operand, length);
            totals->lock_operations++;
        } else if (op[1] == '(') { /* r, w */
            sum += number_of(&totals->variables, operand, length);
            totals->accesses++;
        } else { /* fork, join */
            sum += number_of(&totals->threads, operand, length);
            totals->others++;
        }
        while (p < end && *p != '|')
            p++;
    } else {
        totals->others++;
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
    FILE *file = fopen(argv[1], "rb");
    if (!file) {
        perror(argv[1]);
        return 2;
    }
    setvbuf(file, NULL, _IONBF, 0);

    struct totals totals = {0};
    names_init(&totals.threads);
    names_init(&totals.locks);
    names_init(&totals.variables);

    /* The part of a line left at the end of a block moves to the front of the next. */
    char *buffer = must(calloc(1, BLOCK + SLACK));
    size_t kept = 0;
    for (size_t got; (got = fread(buffer + kept, 1, BLOCK - kept, file)) > 0;) {
        const char *line = buffer;
        const char *end = buffer + kept + got;
        for (const char *newline; (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1)
            take_line(&totals, line, newline);
        kept = (size_t)(end - line);
        if (kept == BLOCK) {
            fputs("floor: a line is longer than a block\n", stderr);
            return 2;
        }
        memmove(buffer, line, kept);
    }
    if (ferror(file)) {
        perror(argv[1]);
        return 2;
    }
    if (kept > 0)
        take_line(&totals, buffer, buffer + kept);

    printf("%llu events: %llu accesses, %llu lock operations, %llu others; "
           "%zu threads, %zu locks, %zu variables; sum %llu\n",
           (unsigned long long)totals.events, (unsigned long long)totals.accesses,
           (unsigned long long)totals.lock_operations, (unsigned long long)totals.others, totals.threads.count,
           totals.locks.count, totals.variables.count, (unsigned long long)totals.sum);
    return 0;
}
