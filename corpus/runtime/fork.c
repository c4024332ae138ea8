// fork in a threaded program: the child has only the calling thread, pthread_atfork's handlers run
// in their order, locks work in the child, and waitpid tells how it ended. Also a child killed by a
// signal, a grandchild, and a pipe from the child.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int finish, shared = 5, prepared, in_parent, in_child;

static void prepare(void) { prepared = ++shared; pthread_mutex_lock(&lock); }
static void parent(void) { pthread_mutex_unlock(&lock); in_parent++; }
static void child(void) { pthread_mutex_unlock(&lock); in_child++; }

static void *background(void *unused) {
    (void)unused;
    pthread_mutex_lock(&lock);
    while (!finish) pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void *quick(void *arg) { return arg; }

static int wait_for(pid_t pid) {
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

int main(void) {
    pthread_t t;
    int ends[2], report[3];
    if (pipe(ends) != 0) return 1;
    pthread_create(&t, NULL, background, NULL);
    pthread_atfork(prepare, parent, child);
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t own;
        pthread_mutex_lock(&lock);
        shared += 100;
        pthread_mutex_unlock(&lock);
        pthread_create(&own, NULL, quick, NULL);  // Threads can be made in the child, too.
        pthread_join(own, NULL);
        pid_t grandchild = fork();
        if (grandchild == 0) _exit(9);
        int answer[3] = {shared, in_child, wait_for(grandchild)};
        if (write(ends[1], answer, sizeof answer) != sizeof answer) _exit(1);
        _exit(7);
    }
    if (read(ends[0], report, sizeof report) != sizeof report) return 1;
    printf("child: shared %d, handlers %d, grandchild %d\n", report[0], report[1], report[2]);
    printf("parent: status %d, shared %d, prepared %d, handlers %d\n", wait_for(pid), shared, prepared, in_parent);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        raise(SIGKILL);
        _exit(1);
    }
    printf("killed: %d\n", wait_for(pid));
    pthread_mutex_lock(&lock);
    finish = 1;
    pthread_cond_signal(&changed);
    pthread_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("joined\n");
    return 0;
}
