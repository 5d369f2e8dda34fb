/* anywhere.c - a signal after each single instruction of a mark, one run an instruction: the processor
 * steps (the trap flag of x86-64), so windows of two instructions are met too, every time.  A scope in
 * the handler and the one that it interrupts are both counted, in their buckets as well.          */
#define _GNU_SOURCE
#include <stdint.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TEST_HOT                  /* that clock, through the hot path                       */
#include "perf.h"
#include "check.h"

#if !defined(__x86_64__) || !defined(__linux__)
int main(void)
{
    printf("skipped: only x86-64 Linux has the trap flag that this test steps with\n");
    return 77;
}
#else
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "inside.h"

enum { MOST = 40000, AROUND = 60 };     /* instructions; none of these marks has a tenth of it     */

static volatile long  left;             /* instructions until the handler has its scope            */
static volatile int   landed, traps;
static core_recorder *volatile waiting;        /* does not count before this one's table changes  */

/* Below the 128 bytes under the stack pointer that a function may use without moving it. */
#define FLAGS(change)                                                                             \
    __asm__ __volatile__("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                            \
                         "\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : : "cc", "memory")

static void from_handler(void)
{
    PERF_SCOPE("handler");
    now_ns += 10;
}

static void trap(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = (ucontext_t *)context;

    (void)sig;
    (void)info;
    traps++;
    if (waiting && waiting->seen == waiting->table && waiting->table && waiting->slots == 128 &&
        waiting->seen_mask == 127 * sizeof(void *))
        return;
    if (left-- > 0)
        return;
    c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    landed = 1;
    from_handler();
}

static void step_begin(long k)
{
    left = k;
    landed = 0;
    FLAGS("orq $0x100, (%%rsp)");
}

static void step_end(void)
{
    FLAGS("andq $-0x101, (%%rsp)");
}

static void call(const char *name, uint64_t ns)
{
    perf_scope s = perf_scope_begin(name);

    now_ns += ns;
    perf_scope_end(&s);
}

/* What is interrupted, after five calls of 100 ns: each returns how many calls it has made. */
static uint64_t hot(const char *name, long k)
{
    (void)name;
    step_begin(k);
    {
        PERF_SCOPE("hot");
        now_ns += 100;
    }
    step_end();
    return 1;
}

static uint64_t again(const char *name, long k)
{
    perf_scope s = perf_scope_begin(name);

    now_ns += 50;
    step_begin(k);
    {
        PERF_SCOPE("again");
        now_ns += 100;
    }
    step_end();
    now_ns += 50;
    perf_scope_end(&s);
    return 2;
}

static uint64_t grow(const char *name, long k)          /* its buckets move to more room          */
{
    perf_scope s = perf_scope_begin(name);

    now_ns += 1000000;
    step_begin(k);
    perf_scope_end(&s);
    step_end();
    return 1;
}

/* Each run of `mark` needs a name that has not grown yet, where `fresh`.  A scope of the handler may be
 * counted in a bucket of the name (perf_bucket_add_ says so): never lost, never twice.            */
static void everywhere(const char *what, uint64_t (*mark)(const char *, long), int fresh)
{
    uint64_t calls, buckets, made, seen, seen_in, calls0, buckets0, seen0, seen_in0;
    char     name[40];
    long     k;
    int      i, moved = 0;

    for (k = 0; k < MOST; k++) {
        snprintf(name, sizeof name, fresh ? "%s %ld" : "%s", what, k);
        for (i = 0; i < 5; i++)                 /* so the late ones are this name's; the first    */
            call(name, 100);                    /* call of a name counts at once                  */
        seen0 = core_calls("handler", &seen_in0);
        calls0 = core_calls(name, &buckets0);
        made = mark(name, k);
        calls = core_calls(name, &buckets);
        seen = core_calls("handler", &seen_in);
        CHECK(calls == calls0 + made && seen == seen0 + (landed != 0),
              "%s, instruction %ld: %d more calls of %d, %d more in the handler", what, k,
              (int)(calls - calls0), (int)made, (int)(seen - seen0));
        CHECK(buckets + seen_in == buckets0 + seen_in0 + made + (landed != 0),
              "%s, instruction %ld: %d + %d more in buckets", what, k, (int)(buckets - buckets0),
              (int)(seen_in - seen_in0));
        moved += buckets != buckets0 + made;
        if (!landed)
            break;
    }
    CHECK(k > 20 && k < MOST, "%s: %ld instructions", what, k);
    printf("%s: after each of %ld instructions, %d counted elsewhere\n", what, k, moved);
}

/* A number with a new name, where the table of cells is full and a larger one takes its place: after each of
 * the first instructions from which on that shows.  Afterwards table, mask and what the hot path sees fit
 * one another.                                                                                    */
static void tables(void)
{
    core_recorder *t = core_here();
    char            name[40];
    long            k;

    for (k = 0; k < AROUND; k++) {
        snprintf(name, sizeof name, "table %ld", k);
        core_forget_seen(t);              /* no table, then the smallest, then a full one   */
        t->table = NULL;
        t->slot = NULL;
        t->seen_mask = t->slots = t->slots_used = 0;
        from_handler();
        t->slots_used = t->slots / 2;
        waiting = t;
        step_begin(k);
        perf_count(name, 1.0);
        step_end();
        waiting = NULL;
        CHECK(landed && t->slots == 256 && t->seen_mask == 255 * sizeof(void *) &&
                  (!t->seen || t->seen == t->table), "table, instruction %ld: %u slots, mask %u, %s", k,
              t->slots, t->seen_mask, t->seen == t->table ? "the new table" : "another one");
        from_handler();
    }
}

int main(void)
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_sigaction = trap;
    act.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &act, NULL);
    from_handler();                             /* its name is known                               */
    step_begin(0);
    step_end();
    if (!traps) {
        printf("skipped: the trap flag has no effect here\n");
        return 77;
    }
    everywhere("hot", hot, 0);
    everywhere("again", again, 0);
    everywhere("grow", grow, 1);
    tables();
    return check_done();
}
#endif
