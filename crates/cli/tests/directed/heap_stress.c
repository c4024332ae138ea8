#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SLOTS = 256, ROUNDS = 1000 };
struct slot { unsigned char *block; size_t len; unsigned char mark; };
static struct slot slots[SLOTS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Of long blocks some bytes do. */
#define SOME(i, len) size_t i = 0; i < (len); i += i < 32 ? 1 : (len) / 20 + 1

static void check(struct slot *slot)
{
    for (SOME(i, slot->len))
        if (slot->block[i] != slot->mark) {
            puts("a block was overwritten");
            exit(1);
        }
}

static void *churn(void *argument)
{
    uint64_t random = (uintptr_t)argument * 0x9e3779b97f4a7c15;
    for (int i = 0; i < ROUNDS; i++) {
        random = random * 6364136223846793005 + 1442695040888963407;
        struct slot *slot = &slots[random >> 33 & (SLOTS - 1)];
        size_t len = 1 + (random >> 12 & 255);
        if (i % 50 == 0) len = 1 + (random >> 12 & 0xffff);
        if (i % 100 == 0) len = 1 + (random >> 12 & 0x3ffffff);
        pthread_mutex_lock(&lock);
        check(slot);
        if (random >> 60 == 0 && slot->block && slot->len <= 32) {
            slot->block = realloc(slot->block, len);
            slot->len = len < slot->len ? len : slot->len;
            check(slot);
        } else {
            free(slot->block);
            slot->block = random >> 60 == 1 ? aligned_alloc(256, (len + 255) / 256 * 256) : malloc(len);
        }
        slot->len = len;
        slot->mark = i;
        for (SOME(at, len))
            slot->block[at] = slot->mark;
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static void *produce(void *argument)
{
    for (int i = 0; i < 40000; i++)
        ((void **)argument)[i] = malloc(100);
    return NULL;
}

static void *spawn(void *argument)
{
    for (int i = 0; i < 5; i++) {
        pthread_t child;
        pthread_create(&child, NULL, churn, (char *)argument + i + 1);
        pthread_join(child, NULL);
    }
    return NULL;
}

int main(void)
{
    static void *blocks[40000];
    pthread_t threads[6];
    for (uintptr_t i = 0; i < 6; i++)
        pthread_create(&threads[i], NULL, i < 3 ? churn : spawn, (void *)(i * 1000 + 1));
    for (int i = 0; i < 6; i++)
        pthread_join(threads[i], NULL);
    for (int round = 0; round < 6; round++) {
        pthread_create(&threads[0], NULL, produce, blocks);
        pthread_join(threads[0], NULL);
        for (int i = 0; i < 40000; i++)
            free(blocks[i]);
    }
    for (int i = 0; i < SLOTS; i++)
        check(&slots[i]);
    puts("whole");
    return 0;
}
