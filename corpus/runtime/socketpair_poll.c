// A server thread that polls two socket pairs, and two client threads that ask it; poll with a
// timeout that expires, select, and a peer that closes.
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { CLIENTS = 2, REQUESTS = 20 };

static int pairs[CLIENTS][2];
static long answers[CLIENTS];
static int served;

static void *server(void *unused) {
    struct pollfd fds[CLIENTS];
    int open_clients = CLIENTS;
    (void)unused;
    for (int i = 0; i < CLIENTS; i++) fds[i] = (struct pollfd){.fd = pairs[i][0], .events = POLLIN};
    while (open_clients > 0) {
        if (poll(fds, CLIENTS, -1) <= 0) continue;
        for (int i = 0; i < CLIENTS; i++) {
            int number;
            if (!(fds[i].revents & (POLLIN | POLLHUP))) continue;
            if (recv(fds[i].fd, &number, sizeof number, MSG_WAITALL) == sizeof number) {
                number *= number;
                served++;
                send(fds[i].fd, &number, sizeof number, 0);
            } else {
                close(fds[i].fd);
                fds[i].fd = -1;
                open_clients--;
            }
        }
    }
    return NULL;
}

static void *client(void *arg) {
    int me = *(int *)arg;
    for (int i = 1; i <= REQUESTS; i++) {
        int number = i;
        send(pairs[me][1], &number, sizeof number, 0);
        recv(pairs[me][1], &number, sizeof number, MSG_WAITALL);
        answers[me] += number;
    }
    close(pairs[me][1]);
    return NULL;
}

int main(void) {
    pthread_t s, c[CLIENTS];
    int ids[CLIENTS] = {0, 1};
    for (int i = 0; i < CLIENTS; i++)
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, pairs[i]) != 0) return 1;
    struct pollfd quiet = {.fd = pairs[0][0], .events = POLLIN};
    printf("poll: %d", poll(&quiet, 1, 10));
    fd_set set;
    FD_ZERO(&set);
    FD_SET(pairs[0][0], &set);
    struct timeval shortly = {0, 5000};
    printf(", select: %d\n", select(pairs[0][0] + 1, &set, NULL, NULL, &shortly));
    pthread_create(&s, NULL, server, NULL);
    for (int i = 0; i < CLIENTS; i++) pthread_create(&c[i], NULL, client, &ids[i]);
    for (int i = 0; i < CLIENTS; i++) pthread_join(c[i], NULL);
    pthread_join(s, NULL);
    printf("served %d, answers %ld %ld\n", served, answers[0], answers[1]);
    return 0;
}
