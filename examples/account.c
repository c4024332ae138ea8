// Two tellers, one account. Every access is under the lock, so there is no data race; still, a deposit
// is two critical sections, and what the other teller does between them is lost.

#include <pthread.h>
#include <stdio.h>

static struct {
    pthread_mutex_t mutex;
    long balance;
} account = {PTHREAD_MUTEX_INITIALIZER, 0};

static long get_balance(void)
{
    pthread_mutex_lock(&account.mutex);
    long balance = account.balance;
    pthread_mutex_unlock(&account.mutex);
    return balance;
}

static void set_balance(long balance)
{
    pthread_mutex_lock(&account.mutex);
    account.balance = balance;
    pthread_mutex_unlock(&account.mutex);
}

static void deposit(long amount)
{
    set_balance(get_balance() + amount);
}

static void *teller(void *amount)
{
    deposit(*(long *)amount);
    return NULL;
}

int main(void)
{
    long amounts[] = {100, 20};
    pthread_t tellers[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&tellers[i], NULL, teller, &amounts[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(tellers[i], NULL);
    printf("balance: %ld of 120\n", account.balance);
    return account.balance == 120 ? 0 : 1;
}
