/* anywhere.c - a signal after each single instruction of a mark, one run an instruction: the processor
 * steps (the trap flag of x86-64), so windows of two instructions are met too, every time.  A scope in
 * the handler and the one that it interrupts are both counted, in their buckets as well, and both stand
 * in the trace, once and whole.  So do those of two handlers, after each pair of instructions of the ends,
 * one after the other or one in the other; and all but the interrupted one's where a handler jumps away.
 * A handler may also call what it interrupts, or empty all. */
#define _GNU_SOURCE
#include <stdint.h>
static uint64_t now_ns = UINT64_C(7000000000);
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#define PERF_TEST_HOT                  /* that clock, through the hot path                       */
#define PERF_TRACE_EVENTS 1024
#include "rows.h"

#if !defined(__x86_64__) || !defined(__linux__)
int main(void)
{
    printf("skipped: only x86-64 Linux has the trap flag that this test steps with\n");
    return 77;
}
#else
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "inside.h"

enum { MOST = 40000, AROUND = 60 };     /* instructions; none of these marks has a tenth of it     */

static volatile long  left;             /* instructions until the handler has its scope            */
static volatile long  second = -1;      /* from there to another one; < 0: there is none           */
static volatile int   within;           /* 1: that one interrupts the first; 0: it comes after it  */
static volatile int   jumps;            /* 1: the handler jumps away                               */
static volatile uint64_t began;         /* when the mark did                                      */
static volatile int   reads, in_it;     /* 1: it reads the trace, and found so many of its scopes   */
static volatile int   stepping, landed, traps;
static const char *volatile same;       /* the handler calls this name, if any                     */
static volatile uint64_t handler_ns = 10;
static volatile uint64_t same_ns;       /* ... for so long; 0: it empties all                      */
static sigjmp_buf     away;
static core_recorder *volatile waiting;        /* does not count before this one's table changes  */

/* Below the 128 bytes under the stack pointer that a function may use without moving it. */
#define FLAGS(change)                                                                             \
    __asm__ __volatile__("lea -128(%%rsp), %%rsp\n\tpushfq\n\t" change                            \
                         "\n\tpopfq\n\tlea 128(%%rsp), %%rsp" : : : "cc", "memory")

static void call(const char *name, uint64_t ns)
{
    perf_scope s = perf_scope_begin(name);

    now_ns += ns;
    perf_scope_end(&s);
}

static void from_handler(void)
{
    if (!same)
        call("handler", handler_ns);
    else if (same_ns)
        call(same, same_ns);
    else
        perf_reset();
}

/* Events since `from`: how many have this name, and are as long, but for the handlers in them. */
static core_event event[600];

static int traced(uint64_t from, const char *name, uint64_t length, uint64_t value)
{
    size_t i, n = core_events_since(from, event, 600);
    int    found = 0;

    for (i = 0; i < n; i++)
        found += !strcmp(event[i].name, name) && event[i].value == value &&
                 event[i].length >= length && event[i].length <= length + 10 * (uint64_t)landed;
    return found;
}

static void trap(int sig, siginfo_t *info, void *context)
{
    ucontext_t *c = (ucontext_t *)context;
    perf_scope  s;

    (void)sig;
    (void)info;
    traps++;
    if (waiting && waiting->quick == waiting->table && waiting->table && waiting->slot_room == 128 &&
        waiting->quick_mask == 127 * sizeof(void *))
        return;
    if (stepping && left-- > 0)
        return;
    c->uc_mcontext.gregs[REG_EFL] &= ~0x100;
    if (!stepping)
        return;
    landed++;
    left = second;
    second = -1;
    if (left >= 0 && !within) {
        c->uc_mcontext.gregs[REG_EFL] |= 0x100;
    } else if (left >= 0) {
        s = perf_scope_begin("handler");
        now_ns += 10;
        FLAGS("orq $0x100, (%%rsp)");
        perf_scope_end(&s);
        FLAGS("andq $-0x101, (%%rsp)");
        return;
    }
    from_handler();
    if (reads)
        in_it = traced(began, "handler", 10, 0);
    if (jumps)
        siglongjmp(away, 1);
}

static void step_begin(long k)
{
    left = k;
    landed = 0;
    stepping = 1;
    FLAGS("orq $0x100, (%%rsp)");
}

static void step_end(void)
{
    stepping = 0;
    FLAGS("andq $-0x101, (%%rsp)");
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

static void end(long k)
{
    perf_scope s = perf_scope_begin("end");

    now_ns += 100;
    step_begin(k);
    perf_scope_end(&s);
    step_end();
}

/* Each run of `mark` needs a name that has not grown yet, where `fresh`.  A scope of the handler may be
 * counted in a bucket of the name (perf_bucket_add_ says so): never lost, never twice.            */
static void everywhere(const char *what, uint64_t (*mark)(const char *, long), int fresh)
{
    uint64_t calls, buckets, made, seen, seen_in, calls0, buckets0, seen0, seen_in0, from;
    char     name[40];
    long     k;
    int      i, moved = 0;

    for (k = 0; k < MOST; k++) {
        snprintf(name, sizeof name, fresh ? "%s %ld" : "%s", what, k);
        for (i = 0; i < 5; i++)                 /* so the late ones are this name's; the first    */
            call(name, 100);                    /* call of a name counts at once                  */
        seen0 = core_calls("handler", &seen_in0);
        calls0 = core_calls(name, &buckets0);
        from = ++now_ns;
        made = mark(name, k);
        calls = core_calls(name, &buckets);
        seen = core_calls("handler", &seen_in);
        CHECK(calls == calls0 + made && seen == seen0 + (landed != 0),
              "%s, instruction %ld: %d more calls of %d, %d more in the handler", what, k,
              (int)(calls - calls0), (int)made, (int)(seen - seen0));
        CHECK(buckets + seen_in == buckets0 + seen_in0 + made + (landed != 0),
              "%s, instruction %ld: %d + %d more in buckets", what, k, (int)(buckets - buckets0),
              (int)(seen_in - seen_in0));
        CHECK(traced(from, name, mark == grow ? 1000000 : 100, 0) + (mark == again) == (int)made &&
                  traced(from, name, 200, 0) == (mark == again) &&
                  traced(from, "handler", 10, 0) == landed &&
                  core_events_since(from, event, 600) == made + (uint64_t)landed,
              "%s, instruction %ld: traced %d of %d, and %d of %d in the handler", what, k,
              (int)core_events_since(from, event, 600) - traced(from, "handler", 10, 0), (int)made,
              traced(from, "handler", 10, 0), landed);
        moved += buckets != buckets0 + made;
        if (!landed)
            break;
    }
    CHECK(k > 20 && k < MOST, "%s: %ld instructions", what, k);
    printf("%s: after each of %ld instructions, %d counted elsewhere\n", what, k, moved);
}

/* The fifth call of a place gives its durations counters, in place of entries: a handler that has a call of
 * that place and length loses none, and one that empties all leaves nothing of before.            */
static void moves(const char *what, uint64_t ns)
{
    uint64_t   calls, buckets, lost = core_uncounted();
    perf_scope s;
    char       name[40];
    long       k;
    int        i;

    for (k = 0; k < MOST; k += 1 + k / 20) {
        snprintf(name, sizeof name, "%s %ld", what, k);
        for (i = 0; i < 4; i++)
            call(name, 100);
        s = perf_scope_begin(name);
        now_ns += 100;
        same = name;
        same_ns = ns;
        step_begin(k);
        perf_scope_end(&s);
        step_end();
        same = NULL;
        calls = core_calls(name, &buckets);
        if (ns)
            CHECK(calls == 5 + (uint64_t)landed && buckets == calls && core_uncounted() == lost,
                  "%s, instruction %ld: %d calls, %d in buckets, %d lost", what, k, (int)calls, (int)buckets,
                  (int)(core_uncounted() - lost));
        else
            CHECK(calls <= 5 && buckets <= calls, "%s, instruction %ld: %d calls, %g in buckets", what, k,
                  (int)calls, (double)buckets);
        if (!landed)
            break;
    }
    CHECK(k > 500 && k < MOST, "%s: %ld instructions", what, k);
}

/* The first call of a handler since a reset, a long one: counted, or lost as counters move.         */
static void long_ones(void)
{
    uint64_t   calls, buckets, lost = 0;
    perf_scope s;
    char       name[40];
    long       k;
    int        i;

    for (k = 0; k < MOST; k += 1 + k / 20) {
        perf_reset();
        snprintf(name, sizeof name, "long %ld", k);
        for (i = 0; i < 4; i++)
            call(name, 100);
        s = perf_scope_begin(name);
        now_ns += 100;
        handler_ns = 1 << 22;
        step_begin(k);
        perf_scope_end(&s);
        step_end();
        handler_ns = 10;
        calls = core_calls("handler", &buckets);
        CHECK(calls == buckets && calls + core_uncounted() == (uint64_t)landed,
              "long, instruction %ld: %d calls, %d in buckets, %d lost", k, (int)calls, (int)buckets,
              (int)core_uncounted());
        lost += core_uncounted();
        if (!landed)
            break;
    }
    CHECK(lost && k < MOST, "long: %ld instructions, %d lost", k, (int)lost);
}

/* A handler calls what ends a recursive call, for a shorter time than any before.  The outer call lasts longer
 * than any before, and is the longest.                                                            */
static void extremes(void)
{
    static const uint64_t usual[] = {100, 150, 200, 300, 400};
    perf_scope            outer, inner;
    char                  name[40];
    uint64_t              begun, shortest;
    row                   r;
    long                  k;
    int                   i;

    for (k = 0; k < MOST; k++) {
        snprintf(name, sizeof name, "extreme %ld", k);
        for (i = 0; i < 40; i++)
            call(name, usual[i % 5]);
        begun = now_ns;
        outer = perf_scope_begin(name);
        inner = perf_scope_begin(name);
        now_ns += 100;
        same = name;
        same_ns = 99;
        step_begin(k);
        perf_scope_end(&inner);
        step_end();
        same = NULL;
        now_ns = begun + 401;
        perf_scope_end(&outer);
        r = row_of(name, "scope");
        shortest = landed ? 99 : 100;
        CHECK(r.min == (double)shortest && r.max == 401, "extreme, instruction %ld: %g to %g, not %d to 401", k,
              r.min, r.max, (int)shortest);
        if (!landed)
            break;
    }
    CHECK(k > 20 && k < MOST, "extreme: %ld instructions", k);
}

/* A number of two entries in the trace. */
static void counters(void)
{
    uint64_t from, bits;
    double   eight = 8.0;
    long     k;

    memcpy(&bits, &eight, sizeof bits);
    perf_count("counter", 8.0);
    for (k = 0; k < MOST; k++) {
        from = ++now_ns;
        step_begin(k);
        perf_count("counter", 8.0);
        step_end();
        CHECK(traced(from, "counter", 0, bits) == 1 && traced(from, "handler", 10, 0) == landed,
              "counter, instruction %ld: traced %d, and %d of %d in the handler", k,
              traced(from, "counter", 0, bits), traced(from, "handler", 10, 0), landed);
        if (!landed)
            break;
    }
    CHECK(k > 20 && k < MOST, "counter: %ld instructions", k);
    printf("counter: after each of %ld instructions\n", k);
}

/* Two handlers, the second so many instructions after the first has come, or has gone.  The first 40 of
 * an end touch nothing that is written.                                                           */
static void pairs(int inner)
{
    uint64_t from;
    long     k, next, runs = 0;
    int      one = 1;

    within = inner;
    end(0);
    for (k = 40; one; k++) {
        for (next = 0; next < MOST; next++, runs++) {
            from = ++now_ns;
            second = next;
            end(k);
            second = -1;
            CHECK(traced(from, "end", 100, 0) == 1 && traced(from, "handler", 10, 0) == landed &&
                      core_events_since(from, event, 600) == 1 + (size_t)landed,
                  "instructions %ld and %ld%s: traced %d of 1 and %d of %d in handlers", k, next,
                  inner ? " within" : "", traced(from, "end", 100, 0),
                  traced(from, "handler", 10, 0), landed);
            if (landed < 2)
                break;
        }
        one = landed == 1;
    }
    CHECK(k > 60 && runs > 300, "%ld and %ld", k, runs);
    printf("two handlers%s: %ld pairs\n", inner ? ", one in the other" : "", runs);
    within = 0;
}

/* 1: what began before `from` does not stand among what came later. */
static int in_order(uint64_t from)
{
    size_t i = 0, n = core_events_since(0, event, 600);

    while (i < n && event[i].start >= from)
        i++;
    while (i < n && event[i].start < from)
        i++;
    return i == n;
}

static void number(long k)
{
    step_begin(k);
    perf_count("counter", 8.0);
    step_end();
}

/* A handler that jumps out of what it has interrupted, at each instruction.  Its writer may have taken
 * its place in the trace: what comes afterwards is there nevertheless, 300 scopes later, and nothing
 * that has stood at that place before.                                                            */
static void jump(void (*mark)(long), uint64_t ns)
{
    volatile uint64_t from;
    volatile long     k;
    perf_scope        s;
    int               i;

    jumps = 1;
    for (k = 0; k < MOST; k++) {
        from = ++now_ns;
        s = perf_scope_begin("around");
        call("before", 0);
        if (!sigsetjmp(away, 1))
            mark(k);
        for (i = 0; i < 300; i++) {
            PERF_SCOPE("after");
            now_ns += 20;
        }
        perf_scope_end(&s);
        CHECK(traced(from, "after", 20, 0) == 300 && traced(from, "handler", 10, 0) == landed &&
                  traced(from, "around", 6000 + ns, 0) == 1 && in_order(from) &&
                  core_events_since(from, event, 600) <= 303 + (uint64_t)landed,
              "jump after instruction %ld: %d of 300 after it, %d of %d in the handler, %d in all", k,
              traced(from, "after", 20, 0), traced(from, "handler", 10, 0), landed,
              (int)core_events_since(from, event, 600));
        if (!landed)
            break;
    }
    jumps = 0;
    CHECK(k > 20 && k < MOST, "jump: %ld instructions", k);
    printf("jump: after each of %ld instructions\n", k);
}

/* A handler that reads the trace, as one does that ends the program: what it has done so far is there,
 * and what it interrupts, once and at the latest when it has gone on.                             */
static void reading(void)
{
    long k;

    reads = 1;
    for (k = 0; k < MOST; k++) {
        began = ++now_ns;
        end(k);
        CHECK(!landed || in_it == 1, "read after instruction %ld: %d of 1 in the handler", k, in_it);
        CHECK(traced(began, "end", 100, 0) == 1 && traced(began, "handler", 10, 0) == landed &&
                  core_events_since(began, event, 600) == 1 + (size_t)landed,
              "read after instruction %ld: traced %d of 1, and %d of %d in the handler", k,
              traced(began, "end", 100, 0), traced(began, "handler", 10, 0), landed);
        if (!landed)
            break;
    }
    reads = 0;
    CHECK(k > 20 && k < MOST, "reading: %ld instructions", k);
    printf("read in the handler: after each of %ld instructions\n", k);
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
        t->quick_mask = t->slot_room = t->slots_used = 0;
        from_handler();
        t->slots_used = t->slot_room / 2;
        waiting = t;
        step_begin(k);
        perf_count(name, 1.0);
        step_end();
        waiting = NULL;
        CHECK(landed && t->slot_room == 256 && t->quick_mask == 255 * sizeof(void *) &&
                  (!t->quick || t->quick == t->table), "table, instruction %ld: %u slots, mask %u, %s", k,
              t->slot_room, t->quick_mask, t->quick == t->table ? "the new table" : "another one");
        from_handler();
    }
}

int main(void)
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_sigaction = trap;
    act.sa_flags = SA_SIGINFO | SA_NODEFER;
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
    moves("move", 100);
    moves("empty", 0);
    long_ones();
    extremes();
    counters();
    pairs(0);
    pairs(1);
    reading();
    jump(number, 0);
    tables();
    jump(end, 100);
    return check_done();
}
#endif
