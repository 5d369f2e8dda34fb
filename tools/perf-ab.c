/* perf-ab - is the candidate better than the baseline by as much as you asked?
 *
 *     perf-ab before.json after.json --accept 'no regression beyond 2 %'
 *     perf-ab run --accept 'speedup >= 1.3' -- ./old input -- ./new input
 *
 * Build:  cc -O2 -I. tools/perf-ab.c -ljansson -o perf-ab      (C99, POSIX; Jansson reads JSON)
 * docs/perf-ab.md is the manual, docs/formats.md says what it reads and writes.
 * Parts: ab.h samples and messages, read.h formats, judge.h verdicts, write.h table JSON CSV
 * Markdown, page.h HTML, process.h one command, place.h where it lies, link.h its link, run.h
 * rounds of them, spread.h how they vary, ranks.h several processes, merge.h, convert.h and history.h commands,
 * diagnose.h traces of torch.profiler, protocol.h calibration, look.h and top.h what runs or has
 * died.  This file: options and order.
 * SPDX-License-Identifier: MIT (full text in LICENSE)                                            */
#define _POSIX_C_SOURCE 200809L
#define _DEFAULT_SOURCE                         /* wait4, for what a command used                 */
#define _DARWIN_C_SOURCE

#include "ab.h"
#include "accept.h"
#include "convert.h"
#include "diagnose.h"
#include "history.h"
#include "judge.h"
#include "look.h"
#include "merge.h"
#include "page.h"
#include "protocol.h"
#include "ranks.h"
#include "read.h"
#include "run.h"
#include "say.h"
#include "top.h"
#include "write.h"

static const char help[] =
    "usage: perf-ab A B [option...]              two files: before and after\n"
    "       perf-ab A... -- B... [option...]     pairs of runs, one file a process\n"
    "       perf-ab PAIRS [option...]            one file with columns a,b or paired results\n"
    "       perf-ab run [option...] -- COMMAND_A... -- COMMAND_B... [-- COMMAND_C...]\n"
    "       perf-ab merge FILE... [-o FILE]      several runs or ranks into one results file, and\n"
    "                                            which is slowest; or traces of perf.h into one\n"
    "       perf-ab convert FILE... --to F       in another tool's format: google go openmetrics csv\n"
    "                                            results; of .hlog: percentiles bars prometheus otlp\n"
    "       perf-ab history FILE...   medians of many runs as curves, and what changed for good\n"
    "       perf-ab history --accept-change ENTRY[@RUN] FILE    the new level is the normal one\n"
    "       perf-ab diagnose TRACE...            five lines for traces of torch.profiler: what bounds\n"
    "                                            the program, where, what to try (docs/diagnose.md)\n"
    "       perf-ab --batch | --seq | --sample   calibration protocol on standard input\n"
    "       perf-ab top PROCESS                  what a running program does now, again and again\n"
    "       perf-ab look PROCESS | CORE          what a running program has recorded, or a dead one\n"
    "\n"
    "Says ACCEPT (exit status 0), REJECT (1) or INCONCLUSIVE (2); 3: unusable input.\n"
    "\n"
    "  --accept RULE     'speedup >= 1.3' (default), 'down >= 20 % on p95', 'down >= 5 % on "
    "memory',\n"
    "                    'no regression beyond 2 % on p99', ...; several are joined by AND\n"
    "  --metric M        for rules that name none: time p50 p95 p99 mean memory throughput pair\n"
    "  --confidence C    of the intervals, default 0.95\n"
    "  --paired          value i of A and of B were measured together, in random order\n"
    "  --random          all values of A and B were measured in random order\n"
    "  --turns           run i of A and of B were measured in turns, in random order\n"
    "  --trust           judge columns that look sorted, repeated or copied, too\n"
    "  --format F        plain csv json go google hyperfine pyperf pytest jmh benchmarkdotnet\n"
    "                    criterion asv catch2; default: look at the content\n"
    "  --value NAME      the column, unit or counter to read: cpu_time, allocs/op, ...\n"
    "  --json FILE  --csv FILE  --markdown FILE  --html FILE      write the report (- is stdout)\n"
    "  --ignore-failure  judge runs that ended with a failure, too\n"
    "  --plot            the intervals over each other, below the table\n"
    "  --quiet           no table\n"
    "\n"
    "perf-ab merge, for traces, before the file that it is about:\n"
    "  --name TEXT       what viewers call the process\n"
    "  --offset NS[+-NS] added to its times, and how wrong that may be\n"
    "and for both:\n"
    "  --ranks           rank 0, rank 1, ...: the number in each file's name, or their order\n"
    "\n";

static const char help_run[] =
    "perf-ab run [option...] -- A... -- B... [-- C...]: random turns until it is decided\n"
    "  --measure M       wall (default), cpu, user, system, memory, instructions, cycles,\n"
    "                    branches, branch-misses\n"
    "  --reported[=TEXT] take the last number printed, or the first behind TEXT, instead\n"
    "  --each[=TEXT]     the same of several numbers a run: one a line, or behind each TEXT\n"
    "  --unit U          of reported numbers\n"
    "  --parameter P=... 1,2,8 or 1..8 or 0..1:0.25, for {P}; one command: its values compete\n"
    "  --prepare CMD     untimed, before each run           --setup CMD     before all of them\n"
    "  --cleanup CMD     after all of them                  --warmup N      unmeasured runs (1)\n"
    "  --link CMD        links before each run, the .o files of CMD in random order\n"
    "  --pairs N         at most N pairs (default 100)      --budget S      at most S seconds\n"
    "  --timeout S       what takes longer is ended         --seed N        of the random order\n"
    "  --save FILE       keep the values                    --show-output   do not discard it\n"
    "  --shell           each command is one text for sh -c\n"
    "  --duet            both at once, each on a processor of its own\n"
    "  --no-placement    the environment of each run has the same size\n"
    "perf-ab diagnose: --against TRACE (what changed), --ranks, --json FILE\n"
    "perf-ab top: --once --json --tree --interval S --count N; perf-ab look: --view V --trace FILE\n"
    "--flame FILE; both: --sort KEY --thread ID --rows N --width N (docs/look.md)\n";

typedef struct options {
    ab_plan       plan;
    int           rules_without_metric[AB_RULES];
    int           metric;               /* -1: not given                                          */
    ab_read_opts  read;
    const char   *output[4];            /* files for JSON, CSV, Markdown, HTML; NULL: none        */
    int           quiet, plot, running;
    ab_run_opts   run;
    const char  **file;
    size_t        files, split;         /* files of A; 0: no -- was given                         */
} options;

/* ---- options ---- */

static int take_rule(options *o, const char *text)
{
    perf_rule *r = &o->plan.rule[o->plan.rules];

    if (o->plan.rules == AB_RULES)
        return usage_error("more than 8 rules", "");
    if (perf_rule_parse(text, r) != PERF_OK)
        return usage_error("not a rule: --accept", text);
    o->plan.rules++;
    return 0;
}

static int take_number(const char *name, const char *text, double low, double high, double *out)
{
    char *end;

    *out = strtod(text, &end);
    if (end == text || *end || !(*out >= low) || !(*out <= high))
        return usage_error(name, text);
    return 0;
}

/* Options that mean something to one of `perf-ab run` and the comparison of files alone. */
static int belongs_elsewhere(const char *name, size_t len, int running)
{
    static const char *const of_files[] = {"--paired", "--random", "--turns", "--format", "--value",
                                           "--trust"};
    static const char *const of_run[] = {
        "--measure", "--reported", "--unit", "--parameter", "--prepare", "--setup", "--cleanup",
        "--warmup", "--pairs", "--budget", "--timeout", "--seed", "--save", "--shell",
        "--show-output", "--each", "--duet", "--no-placement", "--link"};
    const char *const *list = running ? of_files : of_run;
    size_t n = running ? sizeof of_files / sizeof *of_files : sizeof of_run / sizeof *of_run, i;

    for (i = 0; i < n; i++)
        if (strlen(list[i]) == len && !memcmp(list[i], name, len))
            return 1;
    return 0;
}

/* A whole number of `perf-ab run`. */
static int take_whole(options *o, const char *name, const char *value)
{
    const int pairs = !strcmp(name, "--pairs");
    double    x = 0.0;
    int       bad = take_number(pairs ? "a whole number from 1 is needed, not"
                                      : "a whole number is needed, not", value, pairs, 1e9, &x);

    if (!bad && x > (double)(uint64_t)x)
        return usage_error("a whole number is needed, not", value);
    if (pairs)
        o->run.pairs = (size_t)x;
    else if (!strcmp(name, "--warmup"))
        o->run.warmup = (size_t)x;
    else {
        o->run.seed = (uint64_t)x;
        o->run.seeded = 1;
    }
    return bad;
}

/* Where a text option of that name is kept; NULL: it is none. */
static const char **text_option(options *o, const char *name)
{
    const struct {
        const char  *name;
        const char **value;
    } known[] = {{"--json", &o->output[0]}, {"--csv", &o->output[1]}, {"--markdown", &o->output[2]},
                 {"--html", &o->output[3]}, {"--value", &o->read.value},
                 {"--setup", &o->run.setup}, {"--cleanup", &o->run.cleanup},
                 {"--save", &o->run.save}, {"--unit", &o->run.unit}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            return known[i].value;
    return NULL;
}

/* One option of `perf-ab run` with a value.  -1: there is none of that name. */
static int take_run_value(options *o, const char *name, const char *value)
{
    int i;

    if (!strcmp(name, "--prepare")) {
        if (o->run.prepares == AB_PREPARES)
            return usage_error("more than 64 times --prepare", "");
        o->run.prepare[o->run.prepares++] = value;
        return 0;
    }
    if (!strcmp(name, "--link")) {
        if (o->run.links == AB_PREPARES)
            return usage_error("more than 64 times --link", "");
        o->run.link[o->run.links++] = value;
        return 0;
    }
    if (!strcmp(name, "--parameter")) {
        if (o->run.parameters == AB_PARAMETERS)
            return usage_error("more than 4 parameters", "");
        o->run.parameter[o->run.parameters++] = value;
        return 0;
    }
    if (!strcmp(name, "--measure")) {
        i = ab_measure_of(value);
        o->run.measure = i < 0 ? AB_WALL : (ab_measure)i;
        o->run.measured = 1;
        return i < 0 ? usage_error("wall, cpu, user, system, memory, instructions, cycles, branches or branch-misses "
                                   "is measured, not", value) : 0;
    }
    if (!strcmp(name, "--timeout"))
        return take_number("seconds are needed, not", value, 0.001, 1e8, &o->run.timeout);
    if (!strcmp(name, "--budget"))
        return take_number("seconds are needed, not", value, 0.0, 1e9, &o->run.budget);
    if (!strcmp(name, "--pairs") || !strcmp(name, "--warmup") || !strcmp(name, "--seed"))
        return take_whole(o, name, value);
    return -1;
}

/* One option with a value.  -1: there is none of that name. */
static int take_value(options *o, const char *name, const char *value)
{
    const char **text = text_option(o, name);
    int          i;

    if (text) {
        *text = value;
        return 0;
    }
    if (!strcmp(name, "--accept"))
        return take_rule(o, value);
    if (!strcmp(name, "--metric")) {
        o->metric = ab_metric_of(value);
        if (!strcmp(value, "pair"))
            o->plan.vouch = AB_VOUCH_PAIRED;
        return o->metric < 0 ? usage_error("no such metric:", value) : 0;
    }
    if (!strcmp(name, "--confidence"))
        return take_number("a confidence between 0.5 and 0.9999 is needed, not", value, 0.5, 0.9999,
                           &o->plan.confidence);
    if (!strcmp(name, "--format")) {
        i = ab_format_of(value);
        o->read.format = i < 0 ? AB_DETECT : (ab_format)i;
        return i < 0 ? usage_error("no such format:", value) : 0;
    }
    return take_run_value(o, name, value);
}

/* One option without a value.  -1: there is none of that name. */
static int take_flag(options *o, const char *name)
{
    if (!strcmp(name, "--paired"))
        o->plan.vouch = AB_VOUCH_PAIRED;
    else if (!strcmp(name, "--random"))
        o->plan.vouch = AB_VOUCH_RANDOM;
    else if (!strcmp(name, "--turns"))
        o->plan.vouch = AB_VOUCH_TURNS;
    else if (!strcmp(name, "--trust"))
        o->plan.trust = 1;
    else if (!strcmp(name, "--plot"))
        o->plot = 1;
    else if (!strcmp(name, "--quiet"))
        o->quiet = 1;
    else if (!strcmp(name, "--shell"))
        o->run.shell = 1;
    else if (!strcmp(name, "--ignore-failure"))
        o->run.ignore_failure = o->plan.failures_count = 1;
    else if (!strcmp(name, "--show-output"))
        o->run.show_output = 1;
    else if (!strcmp(name, "--reported"))
        o->run.reported = "";
    else if (!strncmp(name, "--reported=", 11))
        o->run.reported = name + 11;
    else if (!strcmp(name, "--each") || !strncmp(name, "--each=", 7)) {
        o->run.reported = name[6] ? name + 7 : "";
        o->run.each = 1;
    } else if (!strcmp(name, "--duet"))
        o->run.duet = 1;
    else if (!strcmp(name, "--no-placement"))
        o->run.one_placement = 1;
    else
        return -1;
    return 0;
}

/* Reads the option argv[*i]; moves *i to the last argument used.  0, or an exit status. */
static int take_option(options *o, int argc, char **argv, int *i)
{
    char        name[32];
    const char *text = argv[*i], *equals = strchr(text, '=');
    size_t      len = equals ? (size_t)(equals - text) : strlen(text);
    int         r;

    if (belongs_elsewhere(text, len, o->running))
        return usage_error(o->running ? "perf-ab run measures itself, it takes no option"
                                      : "only perf-ab run takes the option", text);
    r = take_flag(o, text);
    if (r >= 0)
        return r;
    if (len >= sizeof name)
        return usage_error("no such option:", text);
    memcpy(name, text, len);
    name[len] = '\0';
    if (equals)
        r = take_value(o, name, equals + 1);
    else if (*i + 1 < argc)
        r = take_value(o, name, argv[*i + 1]);
    else
        return usage_error("no such option, or its value is missing:", text);
    if (r < 0)
        return usage_error("no such option:", text);
    *i += equals == NULL;
    return r;
}

/* The defaults that depend on what was given. */
static int settle_options(options *o)
{
    const char *to[5];
    int         i, k, n = 0;

    for (i = 0; i < 5; i++) {
        to[n] = i < 4 ? o->output[i] : o->run.save;
        for (k = 0; to[n] && k < n; k++)
            if (!strcmp(to[k], to[n]))
                return usage_error("two reports into one:", to[n]);
        n += to[n] != NULL;
    }
    if (o->run.save && !strcmp(o->run.save, "-"))
        return usage_error("--save needs a file", "");
    if (o->run.unit && !o->run.reported)
        return usage_error("--unit is that of --reported numbers", "");
    if (o->run.measured && o->run.reported)
        return usage_error("--measure or --reported: one of them", "");

    if (!o->plan.rules)
        o->plan.rule[o->plan.rules++] = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    for (i = 0; i < o->plan.rules; i++) {
        if (o->plan.rule[i].metric == PERF_METRIC_PAIR && o->metric >= 0)
            o->plan.rule[i].metric = (perf_metric)o->metric;
        o->plan.kind[i] = ab_rule_kind(&o->plan.rule[i]);
    }
    return 0;
}

/* The research form  perf-ab A B ratio [metric]. */
static int take_ratio(options *o)
{
    double t;
    char  *end;

    if (o->split || o->files < 3 || o->files > 4 || o->plan.rules)
        return 0;
    t = strtod(o->file[2], &end);
    if (*end || end == o->file[2] || !(t > 0.0) || !perf_is_finite_(t))
        return 0;
    if (o->files == 4 && take_value(o, "--metric", o->file[3]) != 0)
        return AB_UNUSABLE;
    o->plan.rule[o->plan.rules++] = ab_rule_of_ratio(t, PERF_METRIC_PAIR);
    o->files = 2;
    return 0;
}

/* ---- reports ---- */

static int write_report(const ab_report *r, const options *o)
{
    static void (*const writer[4])(FILE *, const ab_report *) = {
        ab_print_report_json, ab_print_csv, ab_print_markdown, ab_print_page};
    perf_file_ file;
    int        i, table = !o->quiet, failed = 0;

    for (i = 0; i < 4; i++) {
        const char *path = o->output[i];
        if (!path)
            continue;
        if (!strcmp(path, "-")) {
            writer[i](stdout, r);
            table = 0;
            continue;
        }
        if (ab_begin_file(&file, path)) {
            writer[i](file.file, r);
            if (ab_end_file(&file, path) == 0)
                continue;
        }
        unwritten(path);
        failed = 1;
    }
    if (table)
        ab_print_table(stdout, r);
    else
        ab_print_notes(stderr, r);
    failed |= written();
    return failed ? AB_UNUSABLE : ab_status(r);
}

/* ---- comparing files ---- */

typedef struct sides {
    ab_set side[2];                     /* of a single file only the first is used                */
} sides;

enum { SLOTS = AB_OTHER + 1 + PERF_METRIC_BRANCH_MISSES - PERF_METRIC_INSTRUCTIONS + 1 };

/* Where the figures of a rule are kept: those of a kind together, each counter apart. */
static int slot_of(const options *o, int rule)
{
    const perf_metric metric = o->plan.rule[rule].metric;

    if (metric >= PERF_METRIC_INSTRUCTIONS && o->plan.kind[rule] == AB_OTHER)
        return AB_OTHER + 1 + (int)(metric - PERF_METRIC_INSTRUCTIONS);
    return o->plan.kind[rule];
}

/* Reads the files of one side as runs of it. */
static int read_side(ab_set *set, const options *o, size_t first, size_t n, int rule, ab_error *e)
{
    ab_read_opts ro = o->read;
    ab_set       one;
    char         id[32];
    size_t       i;

    ro.want = o->plan.kind[rule];
    if (slot_of(o, rule) > AB_OTHER)
        ro.counter = perf_rule_subject_(&o->plan.rule[rule]);
    if (n == 1)
        return ab_read_file(set, o->file[first], &ro, e);
    memset(&one, 0, sizeof one);
    for (i = 0; i < n; i++) {
        snprintf(id, sizeof id, "%zu", i + 1);
        ro.run = id;
        if (ab_read_file(&one, o->file[first + i], &ro, e) < 0 ||
            ab_absorb(set, &one, i + 1, o->file[first + i], e) < 0) {
            ab_set_free(&one);
            return -1;
        }
    }
    return 0;
}

static int read_sides(sides *s, const options *o, int rule, ab_error *e)
{
    size_t na = o->split ? o->split : 1;

    if (read_side(&s->side[0], o, 0, na, rule, e) < 0)
        return -1;
    return o->files > na ? read_side(&s->side[1], o, na, o->files - na, rule, e) : 0;
}

/* The benchmark of B that belongs to one of A; NULL: there is none. */
static const ab_series *partner(const sides *s, int one_file, const ab_series *a)
{
    const ab_set    *b = &s->side[1];
    const ab_series *found;
    size_t           i;

    if (one_file && a->design == AB_PAIRS)
        return a;
    if (one_file)                                   /* two commands of one file: first and second */
        return &s->side[0].s[1];
    if (s->side[0].n == 1 && b->n == 1)
        return &b->s[0];                            /* one on each side: they are meant           */
    found = ab_find(b, a->key);
    if (found || !strcmp(a->key, a->name))
        return found;
    for (i = 0; i < b->n; i++)                      /* B does not say its package                 */
        if (!strcmp(b->s[i].key, a->name))
            return &b->s[i];
    return NULL;
}

/* How many rows there are; -1 with a message when there is nothing to compare. */
static int count_rows(const sides *s, const options *o, size_t *rows, ab_error *e)
{
    const ab_set *a = &s->side[0], *b = &s->side[1];
    size_t        i, pairs = 0, common = 0;

    for (i = 0; i < a->n; i++) {
        pairs += a->s[i].design == AB_PAIRS;
        common += partner(s, 0, &a->s[i]) != NULL;
    }
    *rows = a->n;
    if (o->files == 1) {
        if (pairs == a->n)
            return 0;
        *rows = 1;
        if (pairs || a->n != 2)
            return ab_fail(e, o->file[0], 0, 0,
                           "one file must hold pairs (columns a,b), or exactly two "
                           "benchmarks to compare; this has %zu",
                           a->n);
        return 0;
    }
    for (i = 0; i < b->n; i++)
        pairs += b->s[i].design == AB_PAIRS;
    if (pairs)
        return ab_fail(e, o->file[0], 0, 0,
                       "these files hold pairs, both sides in each: give one, or "
                       "perf-ab merge them first");
    if (!common)
        return ab_fail(e, o->file[o->files - 1], 0, 0,
                       "no benchmark of that name is in both: A has "
                       "'%.60s', B has '%.60s'",
                       a->s[0].name, b->s[0].name);
    return 0;
}

/* "x -> y" where one benchmark of each side is compared with the other and both have names; NULL:
 * the names are no news.                                                                         */
static char *unlike_names(const char *a, const char *b)
{
    size_t size = strlen(a) + strlen(b) + 5;
    char  *t;

    if (!*a || !*b || !strcmp(a, b))
        return NULL;
    t = (char *)ab_grow(NULL, size, 1);
    snprintf(t, size, "%s -> %s", a, b);
    return t;
}

/* Why a benchmark has nothing to compare on a side; NULL: it has. */
static const char *absence(const ab_series *s)
{
    static const char *const word[] = {"missing", "refused", "failed", "skipped"};

    if (s && s->lack == AB_HAS && ab_total(s))
        return NULL;
    return word[s ? s->lack : AB_HAS];
}

/* A row that cannot be judged: what stands in the way on either side. */
static void lacking(ab_row *row, const ab_series *a, const ab_series *b)
{
    const ab_series *side[2] = {a, b};
    size_t           len = 0;
    int              k;

    for (k = 0; k < 2; k++) {
        row->absent[k] = absence(side[k]);
        if (!row->absent[k])
            continue;
        row->missing = k ? "B" : "A";
        if (side[k] && side[k]->why && len + 40 < sizeof row->why)
            len += (size_t)snprintf(row->why + len, sizeof row->why - len, "%s%s in %s: %.400s",
                                    len ? "; " : "", row->absent[k], row->missing, side[k]->why);
    }
}

/* Notes that a row with values on both sides leaves: commands that failed. */
static void note_failures(ab_report *r, const char *name, const ab_series *a, const ab_series *b)
{
    char what[160];

    if (!a->failed && !b->failed)
        return;
    if (a == b)
        snprintf(what, sizeof what, "%zu of %zu runs ended with a failure", a->failed,
                 2 * ab_total(a));
    else
        snprintf(what, sizeof what, "%zu of %zu runs of A and %zu of %zu of B ended with a failure",
                 a->failed, ab_total(a), b->failed, ab_total(b));
    ab_note_add(&r->about, *name ? name : "(all)", what, 1);
}

/* Columns that were sorted, repeated or copied are refused, with their place. */
static void doubt_columns(ab_row *row, const ab_data *d, const options *o, int one_file)
{
    static const char *const column[] = {"a (baseline)", "b (candidate)"};
    const size_t last = o->files - 1;
    const char  *doubt;
    char         what[120];
    int          side;

    for (side = 0; side < 2 && !row->missing && !o->plan.trust; side++) {
        doubt = ab_doubt(d, side, side);
        if (!doubt)
            continue;
        row->missing = side ? "B" : "A";
        row->absent[side] = "refused";
        row->doubted = 1;
        *what = '\0';
        if (*row->name)
            snprintf(what, sizeof what, " of '%.100s'", row->name);
        if (one_file)
            snprintf(row->why, sizeof row->why, "%.300s: column %s%s: %s; --trust judges it",
                     o->file[0], column[side], what, doubt);
        else
            snprintf(row->why, sizeof row->why, "%.300s: the values%s: %s; --trust judges them",
                     o->file[side ? last : 0], what, doubt);
    }
}

/* One row under every rule.  -1 with a message. */
static int compare_row(ab_report *r, const options *o, const sides *kind, size_t which, ab_error *e)
{
    const ab_series *of = &kind[slot_of(o, 0)].side[0].s[which], *a, *b;
    ab_row          *row = &r->row[r->n];
    int              k;

    row->name = of->name;
    for (k = 0; k < o->plan.rules && !row->missing; k++) {
        const sides *s = &kind[slot_of(o, k)];
        row->d[k].rule = o->plan.rule[k];
        a = ab_find(&s->side[0], of->key);
        b = a ? partner(s, o->files == 1, a) : ab_find(&s->side[1], of->key);
        if (absence(a) || absence(b)) {
            lacking(row, a, b);
            continue;
        }
        if (ab_collect(&row->d[k], a, b, &r->plan, o->file[o->files - 1], e) < 0)
            return -1;
        if (strcmp(s->side[0].format, "perf_results") != 0) {   /* those took turns               */
            doubt_columns(row, &row->d[k], o, a == b);
            if (!row->missing && !o->plan.trust)
                ab_doubt_pairs(&row->d[k], r->plan.confidence);
        }
        if (k == 0)
            note_failures(r, of->name, a, b);
    }
    r->n++;
    return 0;
}

/* A benchmark that both sides left out on purpose is no row. */
static int skipped_twice(ab_report *r, const sides *s, const ab_series *a)
{
    const ab_series *b = partner(s, 0, a);
    size_t           size = strlen(a->name) + 32;
    char            *what;

    if (a->lack != AB_SKIPPED || !b || b->lack != AB_SKIPPED)
        return 0;
    what = (char *)ab_grow(NULL, size, 1);
    snprintf(what, size, "'%s', skipped in A and B", a->name);
    ab_note_add(&r->about, what, a->why, 1);
    free(what);
    return 1;
}

/* Counts and names what only B has, and why some of that has no values. */
static void only_in_b(ab_report *r, const sides *s)
{
    size_t i, j;

    for (i = 0; i < s->side[0].n; i++) {
        const ab_series *b = partner(s, 0, &s->side[0].s[i]);
        if (b)
            r->known[b - s->side[1].s] = 1;
    }
    for (i = j = 0; i < s->side[1].n; i++) {
        if (r->known[i])
            continue;
        if (r->fresh++ < 3)
            r->fresh_name[j++] = s->side[1].s[i].name;
        if (s->side[1].s[i].why)
            ab_note_add(&r->about, "only in B", s->side[1].s[i].why, 1);
    }
}

/* The two commands of one file are two sides, each with its name. */
static void name_commands(ab_report *r, const ab_set *set)
{
    int k;

    for (k = 0; k < 2; k++) {
        size_t size = strlen(r->name[k]) + strlen(set->s[k].name) + 3;
        r->owned[k] = (char *)ab_grow(NULL, size, 1);
        snprintf(r->owned[k], size, "%s: %s", r->name[k], set->s[k].name);
        r->name[k] = r->owned[k];
    }
    r->row[0].name = "";
}

/* The rows of the report.  -1 with a message. */
static int compare_rows(ab_report *r, const options *o, const sides *kind, ab_error *e)
{
    const sides *first = &kind[slot_of(o, 0)];
    size_t       i, rows;

    if (count_rows(first, o, &rows, e) < 0)
        return -1;
    r->row = (ab_row *)ab_grow(NULL, rows, sizeof *r->row);
    memset(r->row, 0, rows * sizeof *r->row);
    for (i = 0; i < rows; i++) {
        if (o->files > 1 && skipped_twice(r, first, &first->side[0].s[i]))
            continue;
        if (compare_row(r, o, kind, i, e) < 0) {
            r->n = rows;                            /* all to be freed                            */
            return -1;
        }
    }
    if (o->files > 1) {
        r->known = (char *)ab_grow(NULL, first->side[1].n + 1, 1);
        memset(r->known, 0, first->side[1].n + 1);
        only_in_b(r, first);
    }
    if (!r->n)
        return ab_fail(e, o->file[0], 0, 0, "every benchmark is skipped in A and B");
    for (i = 0; i < r->n && r->row[i].doubted; i++)
        continue;
    if (i < r->n)
        return 0;
    snprintf(e->text, sizeof e->text, "%.590s", r->row[0].why);
    ab_make_safe(e->text);
    return -1;
}

static int compare(ab_report *r, const options *o, sides *kind, ab_error *e)
{
    const sides  *first = &kind[slot_of(o, 0)];
    const ab_set *a = &first->side[0], *b = &first->side[1];
    size_t        i;
    int           k;

    for (k = 0; k < o->plan.rules; k++)
        if (!kind[slot_of(o, k)].side[0].n &&
            read_sides(&kind[slot_of(o, k)], o, k, e) < 0)
            return -1;
    if (compare_rows(r, o, kind, e) < 0)
        return -1;
    for (k = 0; k < 2; k++)
        for (i = 0; i < first->side[k].notes; i++)
            ab_note_add(&r->about, first->side[k].note[i].where, first->side[k].note[i].what,
                        first->side[k].note[i].count);
    r->format[0] = a->format;
    r->format[1] = o->files > 1 ? b->format : a->format;
    if (o->files > 1 && a->n == 1 && b->n == 1)
        r->unlike = unlike_names(a->s[0].name, b->s[0].name);
    r->row[0].name = r->unlike ? r->unlike : r->row[0].name;
    ab_judge(r);
    if (o->files == 1 && r->row[0].d[0].how == AB_HOW_SEPARATE && a->n == 2)
        name_commands(r, a);
    return 0;
}

/* "first.json" or "first.json and 5 more". */
static void side_name(char *out, size_t size, const options *o, size_t first, size_t n)
{
    if (n > 1)
        snprintf(out, size, "%s and %zu more", o->file[first], n - 1);
    else
        snprintf(out, size, "%s", o->file[first]);
}

static void free_rows(ab_report *r)
{
    size_t i;
    int    k;

    for (i = 0; i < r->n; i++)
        for (k = 0; k < AB_RULES; k++)
            ab_data_free(&r->row[i].d[k]);
    for (i = 0; i < r->usages; i++)
        free(r->usage[i].name);
    free(r->usage);
    free(r->known);
    ab_set_free(&r->about);
    free(r->unlike);
    free(r->row);
    free(r->owned[0]);
    free(r->owned[1]);
}

/* 1: the report would replace one of the files that it is about. */
static int onto_input(const options *o)
{
    struct stat in, out;
    size_t      k;
    int         i;

    for (i = 0; i < 4; i++)
        for (k = 0; k < o->files && o->output[i] && stat(o->output[i], &out) == 0; k++)
            if (S_ISREG(out.st_mode) && stat(o->file[k], &in) == 0 && in.st_dev == out.st_dev &&
                in.st_ino == out.st_ino)
                return usage_error("the report would replace the measurements in", o->output[i]);
    return 0;
}

/* The status of a comparison that has no report: a counter that is not there decides nothing. */
static int no_report(const sides *kind, const ab_error *e)
{
    int i;

    for (i = AB_OTHER + 1; i < SLOTS; i++)
        if (kind[i].side[0].uncounted || kind[i].side[1].uncounted) {
            fprintf(stderr, "perf-ab: INCONCLUSIVE: %s\n", e->text);
            return 2;
        }
    return unusable(e);
}

static int compare_files(options *o)
{
    sides     kind[SLOTS];
    ab_report r;
    ab_error  e;
    char      name[2][300];
    size_t    na = o->split ? o->split : 1;
    int       status, i;

    if (onto_input(o))
        return AB_UNUSABLE;
    memset(kind, 0, sizeof kind);
    memset(&r, 0, sizeof r);
    r.plan = o->plan;
    r.plot = o->plot;
    side_name(name[0], sizeof name[0], o, 0, na);
    side_name(name[1], sizeof name[1], o, o->files > na ? na : 0,
              o->files > na ? o->files - na : 1);
    r.name[0] = name[0];
    r.name[1] = name[1];
    status = compare(&r, o, kind, &e) < 0 ? no_report(kind, &e) : write_report(&r, o);
    free_rows(&r);
    for (i = 0; i < SLOTS; i++) {
        ab_set_free(&kind[i].side[0]);
        ab_set_free(&kind[i].side[1]);
    }
    return status;
}

/* ---- perf-ab run ---- */

/* Can that file be written?  Asked before anything is measured, what stands there is left alone. */
static int can_write(const char *path)
{
    perf_file_ f;
    unsigned   mode;

    if (!strcmp(path, "-"))
        return 1;
    if (perf_file_kind_(path, &mode) == PERF_FILE_DIRECT_) {
        if (access(path, W_OK) == 0)
            return 1;                               /* who reads a pipe would see it end          */
    } else if (ab_begin_file(&f, path)) {
        perf_file_end_(&f, path, 0);
        return 1;
    }
    unwritten(path);
    return 0;
}

static int run_commands(options *o, char **argv)
{
    ab_report   r;
    ab_set      set;
    ab_commands c;
    int         status, i;

    memset(&r, 0, sizeof r);
    memset(&set, 0, sizeof set);
    memset(&c, 0, sizeof c);
    r.plan = o->plan;
    r.plot = o->plot;
    for (i = 0; i < 4; i++)
        if (o->output[i] && !can_write(o->output[i]))
            return AB_UNUSABLE;
    if (o->run.save && !can_write(o->run.save))
        return AB_UNUSABLE;
    status = ab_run_commands(&r, &c, &set, &o->run, argv);
    if (status == 0) {
        status = write_report(&r, o);
        if (o->run.save && ab_save(o->run.save, &set) < 0)
            status = unwritten(o->run.save);
        ab_run_leave();
    }
    free_rows(&r);
    ab_commands_free_(&c);
    ab_set_free(&set);
    return status;
}

/* The arguments of a comparison or of `perf-ab run`, from `i` on, up to the commands of the latter.
 * *protocol: one of calibration, if it is asked for.  0, or an exit status.                      */
static int take_arguments(options *o, int argc, char **argv, int *i, int *protocol)
{
    int status = 0;

    for (; *i < argc && !status; ++*i) {
        const char *text = argv[*i];
        if (!strcmp(text, "--") && o->running)
            break;
        if (!strcmp(text, "--")) {
            if (o->split || !o->files)
                status = usage_error("-- stands once, between the files of A and of B", "");
            o->split = o->files;
        } else if (!strcmp(text, "--batch")) {
            *protocol = AB_BATCH;
        } else if (!strcmp(text, "--seq")) {
            *protocol = AB_SEQ;
        } else if (!strcmp(text, "--sample")) {
            *protocol = AB_SAMPLE;
        } else if (text[0] == '-' && text[1]) {
            status = take_option(o, argc, argv, i);
        } else if (o->running) {
            status = usage_error("the commands stand behind --, not", text);
        } else {
            o->file[o->files++] = text;
        }
    }
    if (!status)
        status = take_ratio(o);
    return status ? status : settle_options(o);
}

/* A comparison of files, or with `running` of commands.  An exit status. */
static int ask(int argc, char **argv, int running)
{
    options o;
    int     i = running ? 2 : 1, protocol = -1, status;

    memset(&o, 0, sizeof o);
    o.metric = -1;
    o.plan.confidence = 0.95;
    o.run = ab_run_opts_default();
    o.running = running;
    o.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *o.file);
    status = take_arguments(&o, argc, argv, &i, &protocol);
    if (!status && protocol >= 0)
        status = ab_serve((ab_protocol)protocol, o.plan.confidence);
    else if (!status && running)
        status = run_commands(&o, argv + i);
    else if (!status && (!o.files || (o.split && o.split == o.files)))
        status = usage_error("which files?", "");
    else if (!status && !o.split && o.files > 2)
        status = usage_error("more than two files: put -- between those of A and those of B", "");
    else if (!status)
        status = compare_files(&o);
    free(o.file);
    return status;
}

static int run(int argc, char **argv)
{
    return ask(argc, argv, 1);
}

static const struct {
    const char *name;
    int       (*go)(int argc, char **argv);         /* returns the exit status                    */
} command[] = {
    {"run", run},
    {"merge", merge},
    {"convert", convert},
    {"history", history_main},
    {"diagnose", diagnose_main},
    {"look", look_main},
    {"top", top_main},
};

static void print_help(FILE *f)
{
    fputs(help, f);
    fputs(help_run, f);
}

/* Help or version, wherever they are asked for; -1: they are not. */
static int about(int argc, char **argv)
{
    int i;

    if (argc < 2) {
        print_help(stderr);
        return AB_UNUSABLE;
    }
    for (i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
        if (!strcmp(argv[i], "--help") || !strcmp(argv[i], "-h")) {
            print_help(stdout);
            return written();
        }
        if (!strcmp(argv[i], "--version")) {
            printf("perf-ab %d.%d.%d\n", PERF_VERSION / 10000, PERF_VERSION / 100 % 100,
                   PERF_VERSION % 100);
            return written();
        }
    }
    return -1;
}

int main(int argc, char **argv)
{
    size_t k;
    int    i, status;

    for (i = 0; i < 3; i++)                         /* a closed one must not become a file of ours*/
        if (fcntl(i, F_GETFD) < 0 && open("/dev/null", i ? O_RDONLY : O_WRONLY) != i)
            return AB_UNUSABLE;
    status = about(argc, argv);
    if (status >= 0)
        return status;
    for (k = 0; k < sizeof command / sizeof *command; k++)
        if (!strcmp(argv[1], command[k].name))
            return command[k].go(argc, argv);
    return ask(argc, argv, 0);
}
