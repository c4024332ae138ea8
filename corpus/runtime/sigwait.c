// A signal-handling thread: all threads block the signals, one takes them synchronously with
// sigwait, sigwaitinfo and sigtimedwait.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static sigset_t set;
static int got[3];

static void *handler_thread(void *unused) {
    siginfo_t info;
    (void)unused;
    for (;;) {
        int number = sigwaitinfo(&set, &info);
        if (number == SIGTERM) return NULL;
        if (number == SIGUSR1) got[0]++;
        if (number == SIGRTMIN) got[1] += info.si_value.sival_int;
        if (info.si_pid == getpid()) got[2]++;
    }
}

int main(void) {
    pthread_t t;
    int number = 0;
    struct timespec shortly = {0, 5000000};
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGRTMIN);
    sigaddset(&set, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    printf("sigtimedwait: %s\n", sigtimedwait(&set, NULL, &shortly) == -1 && errno == EAGAIN ? "EAGAIN" : "?");
    raise(SIGUSR1);
    sigwait(&set, &number);
    printf("sigwait: %s\n", number == SIGUSR1 ? "SIGUSR1" : "?");
    pthread_create(&t, NULL, handler_thread, NULL);
    pthread_kill(t, SIGUSR1);
    for (int i = 1; i <= 4; i++) sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
    kill(getpid(), SIGTERM);
    while (pthread_tryjoin_np(t, NULL) == EBUSY) usleep(1000);
    // Several may be pending when SIGTERM, the lower number, is taken: then the rest is still there.
    while ((number = sigtimedwait(&set, NULL, &(struct timespec){0, 0})) > 0) got[number == SIGUSR1 ? 0 : 2]++;
    printf("thread ended, usr1 %d\n", got[0]);
    return 0;
}
