/* children.c - what forked children record is counted and named in their parent, however they end: by _exit, by a
 * signal, in threads, with names of their own, with children of their own, and more than there is room for. */
#define _GNU_SOURCE 1
#include "rows.h"
#include "child.h"
#include "unwiped.h"
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static void fetch(int calls)
{
    int i;

    for (i = 0; i < calls; i++) {
        PERF_SCOPE("fetch");
    }
}

static void decode(int calls)
{
    int i;

    for (i = 0; i < calls; i++) {
        PERF_SCOPE("decode");
    }
}

static void works(void)
{
    fetch(100);
}

static void is_killed(void)
{
    decode(10);
    raise(SIGKILL);
}

static void *in_a_thread(void *unused)
{
    (void)unused;
    decode(7);
    return NULL;
}

static void has_threads(void)
{
    pthread_t thread[3];
    int       i;

    for (i = 0; i < 3; i++)
        pthread_create(&thread[i], NULL, in_a_thread, NULL);
    for (i = 0; i < 3; i++)
        pthread_join(thread[i], NULL);
}

static void many_names(void)
{
    char name[32];
    int  i;

    for (i = 0; i < 700; i++) {
        perf_scope s;

        sprintf(name, "name %d of a child", i);
        s = perf_scope_begin(name);
        perf_scope_end(&s);
    }
}

/* A child that has children: its report has theirs, and not those of its parent. */
static void has_children(void)
{
    many_names();
    CHECK(number_of("child_calls") == 0, "%g: those of a sister", number_of("child_calls"));
    (void)child_of(works);
    (void)child_of(many_names);
    CHECK(number_of("child_processes") == 2 && number_of("child_calls") == 800, "%g processes, %g calls",
          number_of("child_processes"), number_of("child_calls"));
    CHECK(place_of("fetch", PERF_SORT_SELF) == 0, "a row of a child's");
}

/* A child that finds no room sees its own children, forgets them, and has no hand in its sisters. */
static void has_no_room(void)
{
    many_names();
    CHECK(number_of("child_calls") == 0, "%g: those of sisters", number_of("child_calls"));
    (void)child_of(works);
    CHECK(number_of("child_processes") == 1 && number_of("child_calls") == 100, "%g processes, %g calls",
          number_of("child_processes"), number_of("child_calls"));
    perf_reset();
    CHECK(number_of("child_calls") == 0, "%g: not forgotten", number_of("child_calls"));
}

static void only_looks(void)
{
    PERF_COUNT("a count is no scope", 1);
}

static void has_note(const char *text)
{
    char *report = report_text(PERF_VIEW_TABLE, PERF_SORT_SELF);

    CHECK(strstr(report, text), "no \"%s\" in %s", text, report);
    free(report);
}

int main(void)
{
    double calls;
    int    i;

    if (sizeof(long) == 4) {
        printf("skipped: where long has 32 bits nobody shares a page with forked children\n");
        return 77;
    }
    CHECK(child_of(works) == 0, "of a parent that has marked nothing, nor read");
    has_note("note: 1 forked process recorded 100 calls that are in no row: fetch 100\n");
    perf_reset();
    CHECK(number_of("child_processes") == 0 && number_of("child_calls") == 0, "none yet");
    {
        PERF_SCOPE("known before the fork");
    }
    CHECK(child_of(works) == 0 && child_of(works) == 0, "works");
    has_note("note: 2 forked processes recorded 200 calls that are in no row: fetch 200\n");
    (void)child_of(is_killed);
    CHECK(child_of(only_looks) == 0, "looks");
    has_note("note: 3 forked processes recorded 210 calls that are in no row: fetch 200, decode 10\n");
    CHECK(child_of(has_threads) == 0, "threads");
    CHECK(number_of("child_calls") == 231, "%g", number_of("child_calls"));
    fetch(5);                                   /* a name that its children had first */
    CHECK(child_of(works) == 0 && number_of("child_calls") == 331, "%g", number_of("child_calls"));
    CHECK(row_of("fetch", "scope").calls == 5, "%g", row_of("fetch", "scope").calls);
    perf_reset();
    CHECK(number_of("child_processes") == 0 && number_of("child_calls") == 0, "forgotten");
    CHECK(child_of(has_children) == 0, "grandchildren");
    CHECK(number_of("child_processes") == 3 && number_of("child_calls") == 700 + 100 + 700, "%g processes, %g calls",
          number_of("child_processes"), number_of("child_calls"));
    perf_reset();
    for (i = 0; i < 400; i++)
        CHECK(child_of(many_names) == 0, "one of many");
    calls = number_of("child_calls");
    CHECK(calls >= 700 && calls < 400 * 700, "%g calls: more than there is room for", calls);
    has_note(" (and more)\n");
    CHECK(child_of(has_no_room) == 0, "no room");
    CHECK(number_of("child_calls") == calls, "%g, not %g: a child has forgotten its sisters", number_of("child_calls"),
          calls);
    CHECK(perf_error() == PERF_OK, "%s", perf_status_text(perf_error()));
    return check_done();
}
