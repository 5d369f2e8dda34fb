/* child_steps.c - a signal handler marks at each instruction of the first mark of a forked child in turn: its parent
 * counts what the child does.  The processor's trap flag tells when. */
#define _GNU_SOURCE 1
#include "rows.h"
#include "child.h"
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(__linux__)

#define TRAP_FLAG 0x100
#define VISITS    65536
#define PART      400
#define TOO_LATE  100

static volatile long left;                      /* instructions until the handler marks              */
static unsigned char visits[VISITS];            /* 1: it has been at such an address                 */

static void marks(void)
{
    PERF_SCOPE("marks");
}

static void handler_marks(void)
{
    PERF_SCOPE("handler marks");
}

static void at_an_instruction(int number, siginfo_t *info, void *context)
{
    ucontext_t    *at = (ucontext_t *)context;
    unsigned char *visit = &visits[(size_t)at->uc_mcontext.gregs[REG_RIP] % VISITS];

    (void)number, (void)info;
    if (*visit)                                 /* in a loop: its first round                        */
        return;
    *visit = 1;
    if (--left > 0)
        return;
    handler_marks();
    at->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)TRAP_FLAG;
}

static void is_interrupted(void)
{
    struct sigaction act;

    alarm(10);
    memset(&act, 0, sizeof act);
    act.sa_sigaction = at_an_instruction;
    act.sa_flags = SA_SIGINFO;
    (void)sigaction(SIGTRAP, &act, NULL);
    __asm__ volatile("sub $128, %%rsp; pushfq; orq %0, (%%rsp); popfq; add $128, %%rsp" : : "i"(TRAP_FLAG) : "cc", "memory");
    marks();
    __asm__ volatile("sub $128, %%rsp; pushfq; andq %0, (%%rsp); popfq; add $128, %%rsp" : : "i"(~TRAP_FLAG) : "cc", "memory");
    if (left > 0)
        _exit(TOO_LATE);                        /* the mark has ended before                         */
    _exit((int)(row_of("marks", "scope").calls * 10 + row_of("handler marks", "scope").calls));
}

/* The instructions from `first` on: a parent sees some 500 children.  Returns the exit status. */
static int part(long first)
{
    double seen, now;
    long   n;
    int    counted, status;

    handler_marks();                            /* a name that is known                              */
    seen = number_of("child_calls");
    for (n = first; n < first + PART && check_failed_ < 5; n++) {
        left = n;
        status = child_of(is_interrupted);
        counted = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
        if (counted == TOO_LATE && n == 1) {
            puts("skipped: this system does not stop at each instruction");
            return 77;
        }
        if (counted == TOO_LATE)
            break;
        CHECK(counted == 11 || counted == 10, "instruction %ld: %d of 11 calls", n, counted);
        now = number_of("child_calls");
        CHECK((int)(now - seen) == counted / 10 + counted % 10, "instruction %ld: the parent sees %g of %d",
              n, now - seen, counted / 10 + counted % 10);
        seen = now;
    }
    return check_done();
}

int main(int argc, char **argv)
{
    long first;

    if (argc > 1)
        return part(atol(argv[1]));
    for (first = 1; first < 2 * PART; first += PART) {
        char  text[24];
        int   status = -1;
        pid_t pid = fork();

        snprintf(text, sizeof text, "%ld", first);
        if (!pid) {
            execl("/proc/self/exe", argv[0], text, (char *)NULL);
            _exit(1);
        }
        CHECK(waitpid(pid, &status, 0) == pid, "wait");
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
            return 77;
        CHECK(status == 0, "from instruction %ld", first);
    }
    return check_done();
}

#else
int main(void)
{
    puts("skipped: not x86-64 Linux");
    return 77;
}
#endif
