// The fixed transfer: check, debit and credit under both accounts' locks, taken in one order.
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account accounts[3] = {
    {PTHREAD_MUTEX_INITIALIZER, 100},
    {PTHREAD_MUTEX_INITIALIZER, 0},
    {PTHREAD_MUTEX_INITIALIZER, 0},
};

static int transfer(struct account *from, struct account *to, int amount) {
    struct account *low = from < to ? from : to, *high = from < to ? to : from;
    pthread_mutex_lock(&low->lock);
    pthread_mutex_lock(&high->lock);
    int enough = from->balance >= amount;
    if (enough) {
        from->balance -= amount;
        to->balance += amount;
    }
    pthread_mutex_unlock(&high->lock);
    pthread_mutex_unlock(&low->lock);
    return enough;
}

static void *customer(void *to) {
    transfer(&accounts[0], to, 80);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, customer, &accounts[1]);
    pthread_create(&b, NULL, customer, &accounts[2]);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    if (accounts[0].balance < 0) {
        fprintf(stderr, "overdrawn: %d\n", accounts[0].balance);
        return 1;
    }
    printf("left %d, moved %d\n", accounts[0].balance, accounts[1].balance + accounts[2].balance);
    return 0;
}
