// SIGSEGV with a handler: a bad read is caught and left by siglongjmp, a page is made accessible by
// the handler and the instruction runs again.
#define _GNU_SOURCE
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>

static sigjmp_buf back;
static char *volatile page;
static int *volatile nowhere;
static volatile sig_atomic_t faults;

static void on_fault(int n, siginfo_t *info, void *context) {
    (void)n;
    (void)context;
    faults++;
    if ((char *)info->si_addr == page) mprotect(page, 4096, PROT_READ | PROT_WRITE);
    else siglongjmp(back, 1);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};
    sigaction(SIGSEGV, &action, NULL);
    page = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (sigsetjmp(back, 1) == 0) printf("not reached %d\n", *nowhere);
    printf("faults %d\n", (int)faults);
    page[0] = 42;
    printf("faults %d, page %d\n", (int)faults, page[0]);
    return 0;
}
