// Signals: raise runs the handler before it returns, pthread_kill interrupts a waiting thread, a
// timer's SIGALRM ends a pause, alarm's remaining time, a blocked signal stays pending, sigaction's
// SA_SIGINFO, and EINTR from a semaphore.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>
#include <unistd.h>

static volatile sig_atomic_t usr1, usr2, alarms, sender_is_me;
static sem_t waiting, done;
static pthread_t target;
static volatile sig_atomic_t in_target;

static void on_usr1(int n) {
    (void)n;
    usr1++;
    in_target = pthread_equal(pthread_self(), target) != 0;
}

static void on_alarm(int n) { (void)n; alarms++; }

static void on_usr2(int n, siginfo_t *info, void *context) {
    (void)n;
    (void)context;
    usr2++;
    sender_is_me = info->si_pid == getpid();
}

static void install(int number, void (*handler)(int)) {
    struct sigaction action = {.sa_handler = handler};
    sigaction(number, &action, NULL);
}

static void *waiter(void *unused) {
    sigset_t none;
    (void)unused;
    sigemptyset(&none);
    sem_post(&waiting);
    while (usr1 < 2) sigsuspend(&none);  // SIGUSR1 is blocked outside of sigsuspend.
    sem_post(&done);
    return NULL;
}

int main(void) {
    sigset_t set, old, pending;
    sem_init(&waiting, 0, 0);
    sem_init(&done, 0, 0);
    install(SIGUSR1, on_usr1);
    install(SIGALRM, on_alarm);
    struct sigaction action = {.sa_sigaction = on_usr2, .sa_flags = SA_SIGINFO};
    sigaction(SIGUSR2, &action, NULL);

    target = pthread_self();
    raise(SIGUSR1);
    printf("raise: %d\n", (int)usr1);
    kill(getpid(), SIGUSR2);
    printf("kill: %d, from me %d\n", (int)usr2, (int)sender_is_me);

    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, &old);
    pthread_create(&target, NULL, waiter, NULL);  // Inherits the mask.
    sem_wait(&waiting);
    pthread_kill(target, SIGUSR1);
    while (sem_wait(&done) == -1 && errno == EINTR) continue;
    pthread_join(target, NULL);
    printf("pthread_kill: %d, in the target %d\n", (int)usr1, (int)in_target);

    raise(SIGUSR1);
    sigpending(&pending);
    printf("blocked: %d, pending %d\n", (int)usr1, sigismember(&pending, SIGUSR1));
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    printf("unblocked: %d\n", (int)usr1);

    struct itimerval timer = {{0, 0}, {0, 10000}}, repeated = {{0, 2000}, {0, 2000}}, off = {{0, 0}, {0, 0}};
    sigset_t no_alarm;
    sigemptyset(&no_alarm);
    sigaddset(&no_alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &no_alarm, &old);
    setitimer(ITIMER_REAL, &timer, NULL);
    while (alarms < 1) sigsuspend(&old);
    printf("timer: %d\n", (int)alarms);
    setitimer(ITIMER_REAL, &repeated, NULL);
    while (alarms < 4) sigsuspend(&old);
    setitimer(ITIMER_REAL, &off, NULL);
    printf("repeated: %s\n", alarms >= 4 ? "three more" : "?");
    alarm(100);
    unsigned left = alarm(0);
    printf("alarm: %s\n", left > 90 && left <= 100 ? "time left" : "?");
    return 0;
}
