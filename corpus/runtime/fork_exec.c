// exec in a forked child, posix_spawn, system and popen from a threaded program.
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int wait_for(pid_t pid) {
    int status;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *spawner(void *unused) {
    char *arguments[] = {"sh", "-c", "echo from posix_spawn; exit 4", NULL};
    pid_t pid;
    (void)unused;
    fflush(stdout);
    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, arguments, environ) != 0) return NULL;
    printf("posix_spawn: %d\n", wait_for(pid));
    return NULL;
}

int main(void) {
    pthread_t t;
    char line[64] = "";
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/echo", "echo", "from exec", (char *)NULL);
        _exit(127);
    }
    printf("exec: %d\n", wait_for(pid));
    pthread_create(&t, NULL, spawner, NULL);
    pthread_join(t, NULL);
    fflush(stdout);
    pid = fork();
    if (pid == 0) {
        execl("/nonexistent", "nonexistent", (char *)NULL);
        _exit(127);
    }
    printf("no such program: %d\n", wait_for(pid));
    FILE *p = popen("echo from popen", "r");
    if (p == NULL || fgets(line, sizeof line, p) == NULL) return 1;
    line[strcspn(line, "\n")] = 0;
    printf("popen: \"%s\", %d\n", line, WEXITSTATUS(pclose(p)));
    fflush(stdout);
    int status = system("exit 6");
    printf("system: %d\n", WEXITSTATUS(status));
    return 0;
}
