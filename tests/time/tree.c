/* The call tree of the whole run: it agrees with the table to the tick whatever the program does, and
 * a model that keeps its own stack knows every number.  The clock only moves when the test says so.
 * argv[1]: seed of the random programs.                                                          */
#include <stdint.h>
static uint64_t now_ns = 1000;
static uint64_t fake_clock(void)
{
    return now_ns;
}
#define PERF_CLOCK_FN fake_clock
#include "perf_export.h"
#include "rows.h"
#include "inside.h"

#define NAMES 6
#define DEPTH 40

static const char *const name[NAMES] = {"n0", "n1", "n2", "n3", "n4", "n5"};
static uint64_t          seed;

static unsigned dice(unsigned n)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(seed >> 33) % n;
}

/* What the model knows of a name. */
static struct {
    uint64_t calls, total, self;
    int      open;
} model[NAMES];

static struct {
    perf_scope scope;
    int        name;
    uint64_t   start, inside;
} stack[DEPTH];

static uint64_t top_level;

static void push(int depth, int n)
{
    stack[depth].name = n;
    stack[depth].start = now_ns;
    stack[depth].inside = 0;
    stack[depth].scope = perf_scope_begin(name[n]);
    model[n].open++;
}

static void pop(int depth)
{
    int      n = stack[depth].name;
    uint64_t d = now_ns - stack[depth].start;

    perf_scope_end(&stack[depth].scope);
    model[n].calls++;
    model[n].open--;
    model[n].total += model[n].open ? 0 : d;
    model[n].self += d - stack[depth].inside;
    if (depth)
        stack[depth - 1].inside += d;
    else
        top_level += d;
}

/* Sums over the nodes of the tree against the rows of the table and the model. */
static void agree(void)
{
    core_registry *r = core_get();
    core_tree     *tree = core_tree_make();
    uint64_t       self = 0;
    uint32_t       i, k;

    for (k = 0; k < NAMES; k++) {
        uint64_t calls = 0, total = 0, own = 0;
        row      t = row_of(name[k], "scope");
        for (i = 1; tree && i < tree->count; i++) {
            if (strcmp(r->names[tree->node[i].name]->site.name, name[k]))
                continue;
            calls += tree->node[i].calls;
            total += tree->node[i].total;
            own += tree->node[i].self;
        }
        CHECK(calls == model[k].calls && (double)calls == t.calls, "%s: %.0f calls, tree %.0f, model %.0f",
              name[k], t.calls, (double)calls, (double)model[k].calls);
        CHECK(total == model[k].total && (double)total == t.total, "%s: total %.0f, tree %.0f, model %.0f",
              name[k], t.total, (double)total, (double)model[k].total);
        CHECK(own == model[k].self && (double)own == t.self, "%s: self %.0f, tree %.0f, model %.0f",
              name[k], t.self, (double)own, (double)model[k].self);
        self += own;
    }
    CHECK(self == top_level, "all self %.0f, outermost scopes %.0f", (double)self, (double)top_level);
    for (i = 1; tree && i < tree->count; i++) {
        uint32_t up = tree->node[i].parent;
        CHECK(!up || tree->node[i].total <= tree->node[up].total, "node %u exceeds its parent", i);
        for (k = up; k; k = tree->node[k].parent)
            CHECK(tree->node[k].name != tree->node[i].name, "a name below itself");
    }
    core_tree_free(tree);
}

/* Any nesting of six names, recursion through others included. */
static void random_programs(void)
{
    int depth = 0, step;

    for (step = 0; step < 30000; step++) {
        now_ns += dice(50);
        if (depth < DEPTH && (depth == 0 || dice(2)))
            push(depth, (int)dice(NAMES)), depth++;
        else
            pop(--depth);
        if (step % 10000 == 9999) {
            while (depth)
                pop(--depth);
            agree();
        }
    }
}

/* More events than the ring has: what came first is still in the tree. */
static void whole_run(void)
{
    char *text;
    long  i;

    perf_reset();
    {
        PERF_SCOPE("load");
        now_ns += 1000000;
    }
    for (i = 0; i < 3 * PERF_TRACE_EVENTS; i++) {
        PERF_SCOPE("tail");
        now_ns += 1;
    }
    text = report_text(PERF_VIEW_TREE, PERF_SORT_SELF);
    CHECK(count_of(text, "\n  83.6 %      83.6 %    1.00 ms    1.00 ms         1  load\n") == 1, "1000000 of 1196608: %s", text);
    free(text);
}

/* A report from inside of a scope, as in main(): what is open is as large as what it called.  A lap
 * stands beside the scopes of its phase, and takes no room of theirs on the flame page.           */
static void from_inside(void)
{
    char    *text;
    perf_lap lap;
    int      i;

    perf_reset();
    {
        PERF_SCOPE("main");
        now_ns += 7;
        lap = perf_lap_begin();
        for (i = 0; i < 4; i++) {
            {
                PERF_SCOPE("draw");
                now_ns += 90;
            }
            now_ns += 10;
            PERF_LAP(&lap, "frame");
        }
        text = report_text(PERF_VIEW_TREE, PERF_SORT_SELF);
        CHECK(count_of(text, "\n 100.0 %     100.0 %     400 ns    0.00 ns         0  main\n") == 1 &&
                  count_of(text, "\n 100.0 %     100.0 %     400 ns    40.0 ns         4    frame\n") == 1 &&
                  count_of(text, "\n  90.0 %      90.0 %     360 ns     360 ns         4    draw\n") == 1, "%s", text);
        free(text);
        CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FLAME, NULL) == PERF_OK, "flame");
        text = file_text(scratch_file());
        CHECK(strstr(text, "node=[[0,\"all\",400,0,400,1],\n[0,\"main\",400,0,400,0],\n[1,\"frame\",400,40,40,4],\n"
                           "[1,\"draw\",360,360,360,4]];"), "%.400s", text ? strstr(text, "node=") : "");
        free(text);
        remove(scratch_file());
    }
    text = report_text(PERF_VIEW_TREE, PERF_SORT_SELF);
    CHECK(count_of(text, "\n 100.0 %     100.0 %     407 ns    7.00 ns         1  main\n") == 1, "%s", text);
    free(text);
}

/* A lap that goes from one call of a scope to the next one takes no more of their time than there is. */
static void lap_of_two_calls(void)
{
    static perf_lap frame;
    core_tree      *tree;
    int             i;

    perf_reset();
    for (i = 0; i < 9; i++, now_ns += 90) {
        PERF_SCOPE("draw");
        PERF_LAP(&frame, "frame");
        now_ns += 10;
    }
    CHECK(row_of("frame", "scope").calls == 8 && row_of("frame", "scope").mean == 100, "%g frames of %g ns",
          row_of("frame", "scope").calls, row_of("frame", "scope").mean);
    CHECK(row_of("draw", "scope").total == 90 && row_of("draw", "scope").self == 10, "draw: %g, itself %g",
          row_of("draw", "scope").total, row_of("draw", "scope").self);
    tree = core_tree_make();
    CHECK(tree && tree->node[0].total == 90, "tree: %.0f ns", tree ? (double)tree->node[0].total : 0);
    core_tree_free(tree);
}

/* Days and weeks. */
static void long_calls(void)
{
    const double hour = 3600e9;
    int          i;

    perf_reset();
    for (i = 0; i < 100; i++) {
        PERF_SCOPE("long");
        now_ns += (uint64_t)((i == 0 ? 10 : 300) * hour);
    }
    CHECK(row_of("long", "scope").p50 > 295 * hour && row_of("long", "scope").p50 <= 300 * hour, "p50: %g h",
          row_of("long", "scope").p50 / hour);
}

static void put_longest(core_out *o, int json)
{
    (void)json;
    while (core_out_length(o) < 2047)
        core_out_put(o, '<');
}

/* A diagnosis of the worst kind, each character of which takes six on the page. */
static void longest_diagnosis(void)
{
    core_registry *r = core_get();
    char          *text, *at;
    int            n = 0;

    r->put_diagnosis = put_longest;
    CHECK(perf_export_save(scratch_file(), PERF_EXPORT_FLAME, NULL) == PERF_OK, "flame");
    r->put_diagnosis = NULL;
    text = file_text(scratch_file());
    at = text ? strstr(text, "const diagnosis=\"") : NULL;
    for (at = at ? at + 17 : NULL; at && !strncmp(at, "\\u003c", 6); at += 6)
        n++;
    CHECK(n == 2047 && !strncmp(at, "\";\n", 3), "%d of 2047", n);
    free(text);
    remove(scratch_file());
}

/* Crossing ends: nothing is negative, nothing exceeds what is around it. */
static void crossing(void)
{
    core_registry *r = core_get();
    core_tree     *tree;
    perf_scope     s[3];
    uint32_t       i;
    int            k, n;

    perf_reset();
    for (k = 0; k < 2000; k++) {
        PERF_SCOPE("around");
        for (n = 0; n < 3; n++) {
            s[n] = perf_scope_begin(name[n]);
            now_ns += dice(20);
        }
        for (n = 0; n < 3; n++) {
            unsigned which = dice(3);
            perf_scope_end(&s[which]);          /* some twice, some never                         */
            now_ns += dice(20);
        }
    }
    tree = core_tree_make();
    for (i = 1; tree && i < tree->count; i++) {
        uint32_t up = tree->node[i].parent;
        CHECK(tree->node[i].self <= tree->node[i].total, "self beyond the total");
        CHECK(!up || tree->node[i].total <= tree->node[up].total, "%s exceeds %s",
              r->names[tree->node[i].name]->site.name, r->names[tree->node[up].name]->site.name);
    }
    core_tree_free(tree);
}

/* No time counts twice and no child exceeds its parent, while scopes are open, recursive calls have
 * no outermost one yet, and others will never end. */
static void no_more_than_there_is(const char *what, uint64_t from)
{
    core_registry *r = core_get();
    core_tree     *tree = core_tree_make();
    uint64_t       self = 0;
    uint32_t       i;

    for (i = 1; tree && i < tree->count; i++) {
        uint32_t up = tree->node[i].parent;
        self += tree->node[i].self;
        CHECK(!up || tree->node[i].total <= tree->node[up].total, "%s: %s exceeds %s", what,
              r->names[tree->node[i].name]->site.name, r->names[tree->node[up].name]->site.name);
    }
    CHECK(self <= now_ns - from, "%s: self %.0f of %.0f", what, (double)self, (double)(now_ns - from));
    core_tree_free(tree);
}

static void left_open(void)
{
    static const char order[] = "0( 2( 2( 1( 0( 3) 1( 2) 0) ";   /* (: begins that name; ): ends that depth */
    perf_scope        s[DEPTH];
    uint64_t          from;
    int               depth = 0, step, k;

    perf_reset();
    from = now_ns;
    for (k = 0; order[k]; k += 3) {
        int n = order[k] - '0';
        now_ns += 10;
        if (order[k + 1] == '(') {
            s[depth++] = perf_scope_begin(name[n]);
        } else {
            perf_scope_end(&s[n]);
            memmove(&s[n], &s[n + 1], (size_t)(--depth - n) * sizeof *s);
        }
        no_more_than_there_is(order + k, from);
    }
    for (step = 0; step < 20000; step++) {
        now_ns += dice(50);
        if (step % 1000 == 0) {
            while (depth)
                perf_scope_end(&s[--depth]);
            perf_reset();
            from = now_ns;
        }
        if (depth < DEPTH && (depth == 0 || dice(2)))
            s[depth++] = perf_scope_begin(name[dice(NAMES)]);
        else if (dice(10))
            perf_scope_end(&s[--depth]);
        else
            depth -= 1 + (int)dice((unsigned)depth);
        if (step % 16 == 0)
            no_more_than_there_is("random", from);
    }
    perf_reset();
}

/* Scopes of 5 ns, "what 0" to "what n - 1". */
static void numbered(const char *what, long n)
{
    char name[64];
    long i;

    for (i = 0; i < n; i++) {
        perf_scope s;
        snprintf(name, sizeof name, "%s %ld", what, i);
        s = perf_scope_begin(name);
        now_ns += 5;
        perf_scope_end(&s);
    }
}

/* Where rows end at the limit, the tree says how many more there are, as the table does. */
static void limited(void)
{
    static const perf_view view[] = {PERF_VIEW_TABLE, PERF_VIEW_TREE};
    static char            text[65536];
    perf_report_opts       o = PERF_ZERO;
    int                    i;

    perf_reset();
    numbered("limited", 120);
    for (i = 0; i < 2; i++) {
        o.view = view[i];
        o.rows = 0;
        CHECK(perf_report_text(text, sizeof text, &o) < sizeof text && count_of(text, "limited ") == 50 &&
                  count_of(text, "\n... and 70 more\n") == 1, "%s", text);
        o.rows = 120;
        CHECK(perf_report_text(text, sizeof text, &o) < sizeof text && !strstr(text, " more\n"), "%s", text);
    }
}

/* An id inside a name: memory stays small. */
static void many_names(void)
{
    perf_reset();
    numbered("request", 100000);
    CHECK(row_of("request 99999", "scope").total > 4.99, "the last name");
}

int main(int argc, char **argv)
{
    seed = argc > 1 ? strtoull(argv[1], NULL, 0) : perf_now();
    printf("seed %llu\n", (unsigned long long)seed);
    limited();                                  /* nothing is open yet */
    random_programs();
    whole_run();
    from_inside();
    crossing();
    left_open();
    lap_of_two_calls();
    long_calls();
    longest_diagnosis();
    many_names();
    return check_done();
}
