// A sequence number behind a pthread spin lock, read in one section and raised in another: packets
// may go out with the same number.
#include <pthread.h>
#include <stdio.h>

enum { PACKETS = 3 };

static pthread_spinlock_t lock;
static unsigned sequence;

static unsigned next_sequence(void) {
    pthread_spin_lock(&lock);
    unsigned mine = sequence;  //~ first
    pthread_spin_unlock(&lock);
    pthread_spin_lock(&lock);
    sequence = mine + 1;  //~ remote second
    pthread_spin_unlock(&lock);
    return mine;
}

static void *sender(void *arg) {
    unsigned *sent = arg;
    for (int i = 0; i < PACKETS; i++) sent[i] = next_sequence();
    return NULL;
}

int main(void) {
    pthread_t a, b;
    unsigned sent[2][PACKETS], seen = 0;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    pthread_create(&a, NULL, sender, sent[0]);
    pthread_create(&b, NULL, sender, sent[1]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_spin_destroy(&lock);
    for (int i = 0; i < PACKETS; i++) seen |= 1u << sent[0][i] | 1u << sent[1][i];
    if (seen != (1u << 2 * PACKETS) - 1) {
        fprintf(stderr, "a sequence number was used twice\n");
        return 1;
    }
    printf("next %u\n", sequence);
    return 0;
}
