/* A program whose calls are known: recursion, callbacks, longjmp, a signal, a fork, a mark. */
#include "perf_scope.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define APART __attribute__((__noinline__))

int in_twin(int n);

static jmp_buf      back;
static volatile int sink;

static APART void leaf(int n)
{
    int i;

    for (i = 0; i < n; i++)
        sink += i;
}

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static APART void thrown(int n)
{
    if (n == 0)
        longjmp(back, 1);
    leaf(n);
    longjmp(back, 2);
}

static APART void catcher(int n)
{
    if (!setjmp(back))
        thrown(n);
    leaf(10);
}

/* Each turn leaves a function that never returns. */
static APART void server(void)
{
    volatile int turn = 0;

    (void)setjmp(back);
    if (turn++ < 5)
        thrown(1);
}

static int order(const void *a, const void *b)
{
    return (*(const int *)a > *(const int *)b) - (*(const int *)a < *(const int *)b);
}

static void sorts(void)
{
    int v[3] = {1, 0, 2};

    qsort(v, 3, sizeof *v, order);
    sink += v[0];
}

static void on_signal(int number)
{
    leaf(number);
}

static void signals(void)
{
    (void)signal(SIGUSR1, on_signal);
    (void)raise(SIGUSR1);
}

static APART int twin(int n)
{
    return n + sink;
}

static void marked(void)
{
    PERF_SCOPE("a mark");
    leaf(3);
}

/* More calls at once than have a frame. */
static APART int down(int n)
{
    return n > 0 ? down(n - 1) + sink : sink;
}

static APART void slow(void)
{
    uint64_t until = perf_now() + 3000000;

    while (perf_now() < until)
        sink++;
}

static void child(void)
{
    pid_t pid = fork();

    if (pid == 0) {
        leaf(2);
        exit(0);
    }
    (void)waitpid(pid, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    int         i;

    if (!strcmp(what, "down")) {
        sink += down(70000);
        leaf(1);
    } else if (!strcmp(what, "least")) {
        slow();
        for (i = 0; i < 1000; i++)
            leaf(1);
    } else if (!strcmp(what, "fork")) {
        child();
    } else {
        leaf(1000);
        sink += fib(10);
        for (i = 0; i < 3; i++)
            catcher(i);
        server();
        leaf(5);
        sorts();
        signals();
        sink += twin(1) + in_twin(1);
        marked();
    }
    return 0;
}
