// Memory and string functions on buffers that two threads share, in turns: memcpy, memmove, memset,
// memcmp, memchr, strlen, strcpy, strncpy, strcat, strcmp, strchr, strrchr, strstr, sprintf, sscanf,
// qsort, strtok_r, and a struct assignment.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    char name[24];
    int numbers[8];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;
static char text[128];
static unsigned char bytes[256];
static struct record shared, copy;

static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static void wait_turn(int mine) {
    pthread_mutex_lock(&lock);
    while (turn != mine) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void end_turn(void) {
    pthread_mutex_lock(&lock);
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void *writer(void *unused) {
    (void)unused;
    strcpy(text, "atomicity");
    strcat(text, " violation");
    strncat(text, "s", sizeof text - strlen(text) - 1);
    memset(bytes, 0xab, sizeof bytes);
    memcpy(bytes, text, 10);
    memmove(bytes + 3, bytes, 10);
    strncpy(shared.name, "shared record", sizeof shared.name);
    int numbers[8] = {5, 3, 8, 1, 9, 2, 7, 4};
    memcpy(shared.numbers, numbers, sizeof numbers);
    end_turn();
    wait_turn(2);
    printf("sorted %d..%d, name \"%s\", copy %s\n", shared.numbers[0], shared.numbers[7], shared.name,
           memcmp(&shared, &copy, sizeof shared) == 0 ? "equal" : "different");
    end_turn();
    return NULL;
}

static void *reader(void *unused) {
    char word[16], *state, *token, list[] = "a,b,,c";
    int number, tokens = 0;
    (void)unused;
    wait_turn(1);
    printf("\"%s\" length %zu, strchr %td, strrchr %td, strstr %td\n", text, strlen(text), strchr(text, 'i') - text,
           strrchr(text, 'i') - text, strstr(text, "viol") - text);
    printf("bytes \"%.13s\" then %02x, memchr %td, strcmp %d, strncmp %d\n", bytes, bytes[13],
           (unsigned char *)memchr(bytes, 0xab, sizeof bytes) - bytes, strcmp(text, "b") < 0, strncmp(text, "atom", 4));
    qsort(shared.numbers, 8, sizeof shared.numbers[0], compare);
    copy = shared;
    snprintf(text, sizeof text, "%s=%d", shared.name, shared.numbers[3]);
    if (sscanf(text, "%15s record=%d", word, &number) == 2) printf("scanned %s %d\n", word, number);
    for (token = strtok_r(list, ",", &state); token; token = strtok_r(NULL, ",", &state)) tokens++;
    printf("tokens %d, %s, strspn %zu\n", tokens, strpbrk(text, "=") ? "has =" : "?", strspn("aab", "a"));
    end_turn();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, writer, NULL);
    pthread_create(&b, NULL, reader, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    return 0;
}
