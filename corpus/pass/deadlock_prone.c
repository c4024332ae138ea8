// Not an atomicity violation: two threads take two locks in opposite order. Usually one is done
// before the other begins; if not, they deadlock. What is done under the locks is atomic.
#include <pthread.h>
#include <stdio.h>

struct account {
    pthread_mutex_t lock;
    int balance;
};

static struct account first = {PTHREAD_MUTEX_INITIALIZER, 50}, second = {PTHREAD_MUTEX_INITIALIZER, 50};

static void move(struct account *from, struct account *to, int amount) {
    pthread_mutex_lock(&from->lock);
    pthread_mutex_lock(&to->lock);
    from->balance -= amount;
    to->balance += amount;
    pthread_mutex_unlock(&to->lock);
    pthread_mutex_unlock(&from->lock);
}

static void *there(void *unused) {
    (void)unused;
    move(&first, &second, 10);
    return NULL;
}

static void *back(void *unused) {
    (void)unused;
    move(&second, &first, 30);
    return NULL;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, there, NULL);
    pthread_create(&b, NULL, back, NULL);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("first %d, second %d\n", first.balance, second.balance);
    return 0;
}
