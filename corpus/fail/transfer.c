// A transfer between accounts that checks the balance in one critical section and debits in
// another. Two transfers that both pass the check overdraw the account.
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

static int balance(struct account *a) {
    pthread_mutex_lock(&a->lock);
    int value = a->balance;  //~ first
    pthread_mutex_unlock(&a->lock);
    return value;
}

static void add(struct account *a, int amount) {
    pthread_mutex_lock(&a->lock);
    a->balance += amount;  //~ remote second
    pthread_mutex_unlock(&a->lock);
}

static int transfer(struct account *from, struct account *to, int amount) {
    if (balance(from) < amount) return 0;
    add(from, -amount);
    add(to, amount);
    return 1;
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
