#include <pthread.h>
#include <unistd.h>

static int x;
static volatile int waste;

static void *say(void *argument)
{
    (void)argument;
    if (x++ == 0)
        return write(1, "first\n", 6) == 6 ? NULL : argument;
    return NULL;
}

int main(void)
{
    pthread_t thread;
    pthread_create(&thread, NULL, say, NULL);
    for (int i = 0; i < 50; i++)
        waste++;
    return x + 5;
}
