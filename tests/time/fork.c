/* A child starts clean, whatever was open; the parent loses nothing. */
#define _GNU_SOURCE 1
#include "rows.h"
#include "perf_memory.h"
#include "child.h"
#include "unwiped.h"
#include <sched.h>
#include <signal.h>
#include "inside.h"

static perf_scope around;

/* Ends a scope of the parent first, before any of its own. */
static void ends_first(void)
{
    perf_scope_end(&around);
    CHECK(row_of("around", "scope").calls == 0, "not the child's");
    CHECK(number_of("begun_before_fork") == 1, "%g", number_of("begun_before_fork"));
    CHECK(!place_of("before the fork", PERF_SORT_SELF), "the parent's scopes are gone");
}

static perf_scope inner;

/* The same within a recursion, whose ends are cold. */
static void ends_inner(void)
{
    perf_scope_end(&inner);
    perf_scope_end(&around);
    CHECK(number_of("begun_before_fork") == 2, "%g", number_of("begun_before_fork"));
}

/* Leaves a block that the parent has entered twice. */
static void recurses(int deeper)
{
    int   status = -1;
    pid_t child;

    PERF_SCOPE("recursion");
    if (deeper) {
        recurses(0);
        return;
    }
    fflush(stdout);
    child = fork();
    if (!child)
        return;
    CHECK(waitpid(child, &status, 0) == child && status == 0, "child that returns from a recursion: %d", status);
}

/* What the parent has lost, misused, marked and spent is not the child's. */
static void knows_nothing(void)
{
    char *text = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);

    CHECK(!strstr(text, "mark of the parent"), "%s", text);
    free(text);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    CHECK(number_of("uncounted") == 0 && number_of("cut_names") == 0 && number_of("misused") == 0 &&
              number_of("overwritten_events") == 0, "%g lost, %g names cut, %g misused, %g overwritten",
          number_of("uncounted"), number_of("cut_names"), number_of("misused"), number_of("overwritten_events"));
    CHECK(number_of("wall_ns") >= 0 && number_of("wall_ns") < 1800e9 && number_of("cpu_ns") >= 0 &&
              number_of("cpu_ns") < 1800e9, "%g ns, %g of a processor", number_of("wall_ns"), number_of("cpu_ns"));
}

static perf_lap lap;

/* Goes on with phases of the parent. */
static void laps(void)
{
    PERF_LAP(&lap, "phase");
    PERF_LAP(&lap, "phase");
    PERF_LAP(&lap, "phase");
    CHECK(row_of("phase", "scope").calls == 2, "%.0f", row_of("phase", "scope").calls);
    CHECK(number_of("begun_before_fork") == 1 && number_of("open") == 0, "a lap of the parent");
}

/* The first call of the child is the one of a switch, or of a scope by name. */
static void switches_first(void)
{
    perf_trace_enable(1);
    {
        PERF_SCOPE("own");
    }
    CHECK(row_of("own", "scope").calls == 1, "%.0f", row_of("own", "scope").calls);
}

static void names_first(void)
{
    perf_scope s = perf_scope_begin("own by name");

    perf_scope_end(&s);
    CHECK(row_of("own by name", "scope").calls == 1, "%.0f", row_of("own by name", "scope").calls);
    CHECK(!place_of("before the fork", PERF_SORT_SELF), "the parent's scopes are gone");
}

static void reports_only(void)
{
    char *text = report_text(PERF_VIEW_CSV, PERF_SORT_SELF);

    CHECK(count_of(text, "\n") == 1, "%s", text);
    CHECK(core_get()->reading == 0, "the parent's report is not the child's");
    free(text);
}

/* Begins one of its own inside. */
static void nests(void)
{
    char *text;
    {
        PERF_SCOPE("own");
        perf_clobber();
    }
    {
        PERF_SCOPE("before the fork");
        perf_clobber();
    }
    perf_scope_end(&around);
    CHECK(row_of("own", "scope").calls == 1, "own");
    CHECK(row_of("before the fork", "scope").calls == 1, "%.0f", row_of("before the fork", "scope").calls);
    CHECK(row_of("around", "scope").calls == 0, "around");
    CHECK(perf_trace_save(scratch_file()) == PERF_OK, "save");
    text = file_text(scratch_file());
    CHECK(json_valid(text) && count_of(text, "\"ph\":\"X\"") == 2, "%s", text);
    free(text);
    CHECK(child_of(reports_only) == 0, "grandchild");
}

#if defined(CLONE_NEWPID)
/* The first process of a name space, and so is its child in another one: both have the number 1. */
static void first_of_two(void)
{
    perf_reset();
    {
        PERF_SCOPE("before the fork");
    }
    CHECK(getpid() == 1 && unshare(CLONE_NEWPID) == 0 && child_of(nests) == 0, "child with its parent's number");
}

static void ends(int number)
{
    (void)number;
    _exit(3);
}

static void same_number(void)
{
    signal(SIGALRM, ends);                      /* without a handler none reaches a first process */
    if (unshare(CLONE_NEWPID) == 0)             /* else this user may not                         */
        CHECK(child_of(first_of_two) == 0, "parent with its child's number");
}
#endif

static void known(void)
{
    PERF_SCOPE("known");
}

static volatile int in_our_memory;

/* A child of vfork is in its parent's memory: what it marks there forgets nothing.  Some systems (qemu)
 * fork instead: then there is nothing to see here. */
static void shares(void)
{
    pid_t child;
    int   status = -1, i;

    for (i = 0; i < 10; i++)
        known();
    {
        PERF_SCOPE("around");
        child = vfork();
        if (child == 0) {
            perf_scope s = perf_scope_begin("new in the child");
            perf_scope_end(&s);
            known();
            perf_reset();
            in_our_memory = 1;
            _exit(0);
        }
        CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%d", status);
    }
    CHECK(row_of("around", "scope").calls == 1 && number_of("begun_before_fork") == 0, "its parent's");
    if (!in_our_memory) {
        printf("vfork is fork here\n");
        return;
    }
    CHECK(row_of("known", "scope").calls == 11, "%.0f", row_of("known", "scope").calls);
    CHECK(number_of("uncounted") == 1, "%g: a name that is new needs the lock", number_of("uncounted"));
}

int main(void)
{
    core_registry *r = core_get();
    perf_scope      never = PERF_ZERO;
    pid_t           parent = getpid();
    int             i;

    (void)scratch_file();                       /* the child's is its parent's                     */
    for (i = 0; i < 1000; i++) {
        PERF_SCOPE("before the fork");
        perf_clobber();
    }
    around = perf_scope_begin("around");
    CHECK(child_of(shares) == 0, "vfork");
#if defined(CLONE_NEWPID)
    CHECK(child_of(same_number) == 0, "name spaces of numbers");
#endif
    CHECK(child_of(nests) == 0, "child that nests");
    CHECK(child_of(switches_first) == 0, "child that switches first");
    CHECK(child_of(names_first) == 0, "child that begins a scope by name");
    lap = perf_lap_begin();
    CHECK(child_of(laps) == 0, "child that goes on with a phase that has no name yet");
    PERF_LAP(&lap, "phase");
    CHECK(child_of(laps) == 0, "child that goes on with phases");
    core_get()->reading++;            /* as while another thread reports */
    CHECK(child_of(reports_only) == 0, "child that only reports");
    core_get()->reading--;
    {
        perf_scope mine = around;
        CHECK(child_of(ends_first) == 0, "child that ends first");
        inner = perf_scope_begin("around");
        CHECK(child_of(ends_inner) == 0, "child that ends the calls of a recursion");
        perf_scope_end(&inner);
        recurses(1);
        if (getpid() != parent)
            _exit(0);
        around = mine;
    }
    for (i = 0; i < 10; i++) {
        PERF_SCOPE("before the fork");
        perf_clobber();
    }
    perf_scope_end(&around);
    CHECK(row_of("before the fork", "scope").calls == 1010, "%.0f", row_of("before the fork", "scope").calls);
    CHECK(row_of("around", "scope").calls == 2, "around");
    CHECK(row_of("own", "scope").calls == 0, "the child's");
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    perf_scope_end(&never);
    r->lost = r->cut_names = r->retired_lost = 5;
    r->spent.ns -= UINT64_C(3600000000000);     /* an hour ago                                     */
    (void)perf_memory_mark("mark of the parent");
    CHECK(perf_error() == PERF_ESTATE && number_of("uncounted") == 5 && number_of("cut_names") == 5 &&
              number_of("overwritten_events") == 5 && number_of("misused") == 1, "the parent's");
    CHECK(child_of(knows_nothing) == 0, "child that asks what went wrong");
    remove(scratch_file());
    return check_done();
}
