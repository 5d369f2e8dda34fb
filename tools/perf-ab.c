/* perf-ab - is the candidate better than the baseline by as much as you asked?
 *
 *     perf-ab before.json after.json --accept 'no regression beyond 2 %'
 *     perf-ab run --accept 'speedup >= 1.3' -- ./old input -- ./new input
 *
 * Build:  cc -O2 -I. tools/perf-ab.c -ljansson -o perf-ab      (C99, POSIX; Jansson reads JSON)
 * docs/perf-ab.md is the manual, docs/formats.md says what it reads and writes.
 * Parts: ab.h samples and messages, read.h formats, judge.h verdicts, write.h table JSON CSV
 * Markdown, page.h HTML, process.h one command, place.h where it lies, link.h its link, run.h
 * rounds of them, printed.h what they print, spread.h how they vary, ranks.h several processes,
 * merge.h, convert.h and history.h commands, diagnose.h traces of torch.profiler, protocol.h
 * calibration, look.h and top.h what runs or has died.  This file: options and order.
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
    "       perf-ab convert FILE... --to F [-o FILE]  in another tool's format: google go openmetrics\n"
    "                                            csv results; of .hlog: percentiles bars prometheus\n"
    "                                            otlp, with --name NAME --unit U\n"
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
    "  --reported[=TEXT] take the last number printed, or the first behind the last TEXT\n"
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

static int take_rule(options *opts, const char *text)
{
    perf_rule *rule = &opts->plan.rule[opts->plan.rules];

    if (opts->plan.rules == AB_RULES)
        return usage_error("more than 8 rules", "");
    if (perf_rule_parse(text, rule) != PERF_OK)
        return usage_error("not a rule: --accept", text);
    opts->plan.rules++;
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
static int take_whole(options *opts, const char *name, const char *value)
{
    const int pairs = !strcmp(name, "--pairs");
    double    x = 0.0;
    int       bad = take_number(pairs ? "a whole number from 1 is needed, not"
                                      : "a whole number is needed, not", value, pairs, 1e9, &x);

    if (!bad && x > (double)(uint64_t)x)
        return usage_error("a whole number is needed, not", value);
    if (pairs)
        opts->run.pairs = (size_t)x;
    else if (!strcmp(name, "--warmup"))
        opts->run.warmup = (size_t)x;
    else {
        opts->run.seed = (uint64_t)x;
        opts->run.seeded = 1;
    }
    return bad;
}

/* Where a text option of that name is kept; NULL: it is none. */
static const char **text_option(options *opts, const char *name)
{
    const struct {
        const char  *name;
        const char **value;
    } known[] = {{"--json", &opts->output[0]}, {"--csv", &opts->output[1]},
                 {"--markdown", &opts->output[2]}, {"--html", &opts->output[3]},
                 {"--value", &opts->read.value}, {"--setup", &opts->run.setup},
                 {"--cleanup", &opts->run.cleanup}, {"--save", &opts->run.save},
                 {"--unit", &opts->run.unit}};
    size_t i;

    for (i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(name, known[i].name))
            return known[i].value;
    return NULL;
}

/* One option of `perf-ab run` with a value.  -1: there is none of that name. */
static int take_run_value(options *opts, const char *name, const char *value)
{
    int i;

    if (!strcmp(name, "--prepare")) {
        if (opts->run.prepares == AB_PREPARES)
            return usage_error("more than 64 times --prepare", "");
        opts->run.prepare[opts->run.prepares++] = value;
        return 0;
    }
    if (!strcmp(name, "--link")) {
        if (opts->run.links == AB_PREPARES)
            return usage_error("more than 64 times --link", "");
        opts->run.link[opts->run.links++] = value;
        return 0;
    }
    if (!strcmp(name, "--parameter")) {
        if (opts->run.parameters == AB_PARAMETERS)
            return usage_error("more than 4 parameters", "");
        opts->run.parameter[opts->run.parameters++] = value;
        return 0;
    }
    if (!strcmp(name, "--measure")) {
        i = ab_measure_of(value);
        opts->run.measure = i < 0 ? AB_WALL : (ab_measure)i;
        opts->run.measured = 1;
        return i < 0 ? usage_error("wall, cpu, user, system, memory, instructions, cycles, "
                                   "branches or branch-misses is measured, not", value) : 0;
    }
    if (!strcmp(name, "--timeout"))
        return take_number("seconds are needed, not", value, 0.001, 1e8, &opts->run.timeout);
    if (!strcmp(name, "--budget"))
        return take_number("seconds are needed, not", value, 0.0, 1e9, &opts->run.budget);
    if (!strcmp(name, "--pairs") || !strcmp(name, "--warmup") || !strcmp(name, "--seed"))
        return take_whole(opts, name, value);
    return -1;
}

/* One option with a value.  -1: there is none of that name. */
static int take_value(options *opts, const char *name, const char *value)
{
    const char **text = text_option(opts, name);
    int          i;

    if (text) {
        *text = value;
        return 0;
    }
    if (!strcmp(name, "--accept"))
        return take_rule(opts, value);
    if (!strcmp(name, "--metric")) {
        opts->metric = ab_metric_of(value);
        if (!strcmp(value, "pair"))
            opts->plan.vouch = AB_VOUCH_PAIRED;
        return opts->metric < 0 ? usage_error("no such metric:", value) : 0;
    }
    if (!strcmp(name, "--confidence"))
        return take_number("a confidence between 0.5 and 0.9999 is needed, not", value, 0.5, 0.9999,
                           &opts->plan.confidence);
    if (!strcmp(name, "--format")) {
        i = ab_format_of(value);
        opts->read.format = i < 0 ? AB_DETECT : (ab_format)i;
        return i < 0 ? usage_error("no such format:", value) : 0;
    }
    return take_run_value(opts, name, value);
}

/* One option without a value.  -1: there is none of that name. */
static int take_flag(options *opts, const char *name)
{
    if (!strcmp(name, "--paired"))
        opts->plan.vouch = AB_VOUCH_PAIRED;
    else if (!strcmp(name, "--random"))
        opts->plan.vouch = AB_VOUCH_RANDOM;
    else if (!strcmp(name, "--turns"))
        opts->plan.vouch = AB_VOUCH_TURNS;
    else if (!strcmp(name, "--trust"))
        opts->plan.trust = 1;
    else if (!strcmp(name, "--plot"))
        opts->plot = 1;
    else if (!strcmp(name, "--quiet"))
        opts->quiet = 1;
    else if (!strcmp(name, "--shell"))
        opts->run.shell = 1;
    else if (!strcmp(name, "--ignore-failure"))
        opts->run.ignore_failure = opts->plan.failures_count = 1;
    else if (!strcmp(name, "--show-output"))
        opts->run.show_output = 1;
    else if (!strcmp(name, "--reported"))
        opts->run.reported = "";
    else if (!strncmp(name, "--reported=", 11))
        opts->run.reported = name + 11;
    else if (!strcmp(name, "--each") || !strncmp(name, "--each=", 7)) {
        opts->run.reported = name[6] ? name + 7 : "";
        opts->run.each = 1;
    } else if (!strcmp(name, "--duet"))
        opts->run.duet = 1;
    else if (!strcmp(name, "--no-placement"))
        opts->run.one_placement = 1;
    else
        return -1;
    return 0;
}

/* Reads the option argv[*i]; moves *i to the last argument used.  0, or an exit status. */
static int take_option(options *opts, int argc, char **argv, int *i)
{
    char        name[32];
    const char *text = argv[*i], *equals = strchr(text, '=');
    size_t      len = equals ? (size_t)(equals - text) : strlen(text);
    int         result;

    if (belongs_elsewhere(text, len, opts->running))
        return usage_error(opts->running ? "perf-ab run measures itself, it takes no option"
                                         : "only perf-ab run takes the option", text);
    result = take_flag(opts, text);
    if (result >= 0)
        return result;
    if (len >= sizeof name)
        return usage_error("no such option:", text);
    memcpy(name, text, len);
    name[len] = '\0';
    if (equals)
        result = take_value(opts, name, equals + 1);
    else if (*i + 1 < argc)
        result = take_value(opts, name, argv[*i + 1]);
    else
        return usage_error("no such option, or its value is missing:", text);
    if (result < 0)
        return usage_error("no such option:", text);
    *i += equals == NULL;
    return result;
}

/* The defaults that depend on what was given. */
static int settle_options(options *opts)
{
    const char *to[5];
    int         i;

    memcpy(to, opts->output, sizeof opts->output);
    to[4] = opts->run.save;
    if (would_replace(to, 5, NULL, 0))
        return AB_UNUSABLE;
    if (opts->run.save && !strcmp(opts->run.save, "-"))
        return usage_error("--save needs a file", "");
    if (opts->run.unit && !opts->run.reported)
        return usage_error("--unit is that of --reported numbers", "");
    if (opts->run.measured && opts->run.reported)
        return usage_error("--measure or --reported: one of them", "");

    if (!opts->plan.rules)
        opts->plan.rule[opts->plan.rules++] =
            perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    for (i = 0; i < opts->plan.rules; i++) {
        if (opts->plan.rule[i].metric == PERF_METRIC_PAIR && opts->metric >= 0)
            opts->plan.rule[i].metric = (perf_metric)opts->metric;
        opts->plan.kind[i] = ab_rule_kind(&opts->plan.rule[i]);
    }
    return 0;
}

/* The research form  perf-ab A B ratio [metric]. */
static int take_ratio(options *opts)
{
    double ratio;
    char  *end;

    if (opts->split || opts->files < 3 || opts->files > 4 || opts->plan.rules)
        return 0;
    ratio = strtod(opts->file[2], &end);
    if (*end || end == opts->file[2] || !(ratio > 0.0) || !perf_is_finite_(ratio))
        return 0;
    if (opts->files == 4 && take_value(opts, "--metric", opts->file[3]) != 0)
        return AB_UNUSABLE;
    opts->plan.rule[opts->plan.rules++] = ab_rule_of_ratio(ratio, PERF_METRIC_PAIR);
    opts->files = 2;
    return 0;
}

/* ---- reports ---- */

static int write_report(const ab_report *report, const options *opts)
{
    static void (*const writer[4])(FILE *, const ab_report *) = {
        ab_print_report_json, ab_print_csv, ab_print_markdown, ab_print_page};
    perf_file_ file;
    int        i, table = !opts->quiet, failed = 0;

    for (i = 0; i < 4; i++) {
        const char *path = opts->output[i];
        if (!path)
            continue;
        if (!strcmp(path, "-")) {
            writer[i](stdout, report);
            table = 0;
            continue;
        }
        if (ab_begin_file(&file, path)) {
            writer[i](file.file, report);
            if (ab_end_file(&file, path) == 0)
                continue;
        }
        unwritten(path);
        failed = 1;
    }
    if (table)
        ab_print_table(stdout, report);
    else
        ab_print_notes(stderr, report);
    failed |= written();
    return failed ? AB_UNUSABLE : ab_status(report);
}

/* ---- comparing files ---- */

typedef struct sides {
    ab_set side[2];                     /* of a single file only the first is used                */
} sides;

enum { SLOTS = AB_OTHER + 1 + PERF_METRIC_BRANCH_MISSES - PERF_METRIC_INSTRUCTIONS + 1 };

/* Where the figures of a rule are kept: those of a kind together, each counter apart. */
static int slot_of(const options *opts, int rule)
{
    const perf_metric metric = opts->plan.rule[rule].metric;

    if (metric >= PERF_METRIC_INSTRUCTIONS && opts->plan.kind[rule] == AB_OTHER)
        return AB_OTHER + 1 + (int)(metric - PERF_METRIC_INSTRUCTIONS);
    return opts->plan.kind[rule];
}

/* Reads the files of one side as runs of it. */
static int read_side(ab_set *set, const options *opts, size_t first, size_t n, int rule,
                     ab_error *error)
{
    ab_read_opts ro = opts->read;
    ab_set       one;
    char         id[32];
    size_t       i;

    ro.want = opts->plan.kind[rule];
    if (slot_of(opts, rule) > AB_OTHER)
        ro.counter = perf_rule_subject_(&opts->plan.rule[rule]);
    if (n == 1)
        return ab_read_file(set, opts->file[first], &ro, error);
    memset(&one, 0, sizeof one);
    for (i = 0; i < n; i++) {
        snprintf(id, sizeof id, "%zu", i + 1);
        ro.run = id;
        if (ab_read_file(&one, opts->file[first + i], &ro, error) < 0 ||
            ab_absorb(set, &one, i + 1, opts->file[first + i], error) < 0) {
            ab_set_free(&one);
            return -1;
        }
    }
    return 0;
}

static int read_sides(sides *both, const options *opts, int rule, ab_error *error)
{
    size_t na = opts->split ? opts->split : 1;

    if (read_side(&both->side[0], opts, 0, na, rule, error) < 0)
        return -1;
    return opts->files > na
               ? read_side(&both->side[1], opts, na, opts->files - na, rule, error) : 0;
}

/* The benchmark of B that belongs to one of A; NULL: there is none. */
static const ab_series *partner(const sides *both, int one_file, const ab_series *first)
{
    const ab_set    *set = &both->side[1];
    const ab_series *found;
    size_t           i;

    if (one_file && first->design == AB_PAIRS)
        return first;
    if (one_file)                                   /* two commands of one file: first and second */
        return &both->side[0].s[1];
    if (both->side[0].n == 1 && set->n == 1)
        return &set->s[0];                          /* one on each side: they are meant           */
    found = ab_find(set, first->key);
    if (found || !strcmp(first->key, first->name))
        return found;
    for (i = 0; i < set->n; i++)                    /* B does not say its package                 */
        if (!strcmp(set->s[i].key, first->name))
            return &set->s[i];
    return NULL;
}

/* How many rows there are; -1 with a message when there is nothing to compare. */
static int count_rows(const sides *both, const options *opts, size_t *rows, ab_error *error)
{
    const ab_set *before = &both->side[0], *after = &both->side[1];
    size_t        i, pairs = 0, common = 0;

    for (i = 0; i < before->n; i++) {
        pairs += before->s[i].design == AB_PAIRS;
        common += partner(both, 0, &before->s[i]) != NULL;
    }
    *rows = before->n;
    if (opts->files == 1) {
        if (pairs == before->n)
            return 0;
        *rows = 1;
        if (pairs || before->n != 2)
            return ab_fail(error, opts->file[0], 0, 0,
                           "one file must hold pairs (columns a,b), or exactly two "
                           "benchmarks to compare; this has %zu",
                           before->n);
        return 0;
    }
    for (i = 0; i < after->n; i++)
        pairs += after->s[i].design == AB_PAIRS;
    if (pairs)
        return ab_fail(error, opts->file[0], 0, 0,
                       "these files hold pairs, both sides in each: give one, or "
                       "perf-ab merge them first");
    if (!common)
        return ab_fail(error, opts->file[opts->files - 1], 0, 0,
                       "no benchmark of that name is in both: A has "
                       "'%.60s', B has '%.60s'",
                       before->s[0].name, after->s[0].name);
    return 0;
}

/* "x -> y" where one benchmark of each side is compared with the other and both have names; NULL:
 * the names are no news.                                                                         */
static char *unlike_names(const char *one, const char *other)
{
    size_t size = strlen(one) + strlen(other) + 5;
    char  *text;

    if (!*one || !*other || !strcmp(one, other))
        return NULL;
    text = (char *)ab_grow(NULL, size, 1);
    snprintf(text, size, "%s -> %s", one, other);
    return text;
}

/* Why a benchmark has nothing to compare on a side; NULL: it has. */
static const char *absence(const ab_series *series)
{
    static const char *const word[] = {"missing", "refused", "failed", "skipped"};

    if (series && series->lack == AB_HAS && ab_total(series))
        return NULL;
    return word[series ? series->lack : AB_HAS];
}

/* A row that cannot be judged: what stands in the way on either side. */
static void lacking(ab_row *row, const ab_series *first, const ab_series *second)
{
    const ab_series *side[2] = {first, second};
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
static void note_failures(ab_report *report, const char *name, const ab_series *first,
                          const ab_series *second)
{
    char what[160];

    if (!first->failed && !second->failed)
        return;
    if (first == second)
        snprintf(what, sizeof what, "%zu of %zu runs ended with a failure", first->failed,
                 2 * ab_total(first));
    else
        snprintf(what, sizeof what, "%zu of %zu runs of A and %zu of %zu of B ended with a failure",
                 first->failed, ab_total(first), second->failed, ab_total(second));
    ab_note_add(&report->about, *name ? name : "(all)", what, 1);
}

/* Columns that were sorted, repeated or copied are refused, with their place. */
static void doubt_columns(ab_row *row, const ab_data *data, const options *opts, int one_file)
{
    static const char *const column[] = {"a (baseline)", "b (candidate)"};
    const size_t last = opts->files - 1;
    const char  *doubt;
    char         what[120];
    int          side;

    for (side = 0; side < 2 && !row->missing && !opts->plan.trust; side++) {
        doubt = ab_doubt(data, side, side);
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
                     opts->file[0], column[side], what, doubt);
        else
            snprintf(row->why, sizeof row->why, "%.300s: the values%s: %s; --trust judges them",
                     opts->file[side ? last : 0], what, doubt);
    }
}

/* One row under every rule.  -1 with a message. */
static int compare_row(ab_report *report, const options *opts, const sides *kind, size_t which,
                       ab_error *error)
{
    const ab_series *of = &kind[slot_of(opts, 0)].side[0].s[which], *first, *second;
    ab_row          *row = &report->row[report->n];
    int              k;

    row->name = of->name;
    for (k = 0; k < opts->plan.rules && !row->missing; k++) {
        const sides *both = &kind[slot_of(opts, k)];
        row->d[k].rule = opts->plan.rule[k];
        first = ab_find(&both->side[0], of->key);
        second = first ? partner(both, opts->files == 1, first) : ab_find(&both->side[1], of->key);
        if (absence(first) || absence(second)) {
            lacking(row, first, second);
            continue;
        }
        if (ab_collect(&row->d[k], first, second, &report->plan, opts->file[opts->files - 1],
                       error) < 0)
            return -1;
        if (strcmp(both->side[0].format, "perf_results") != 0) { /* those took turns              */
            doubt_columns(row, &row->d[k], opts, first == second);
            if (!row->missing && !opts->plan.trust)
                ab_doubt_pairs(&row->d[k], report->plan.confidence);
        }
        if (k == 0)
            note_failures(report, of->name, first, second);
    }
    report->n++;
    return 0;
}

/* A benchmark that both sides left out on purpose is no row. */
static int skipped_twice(ab_report *report, const sides *both, const ab_series *first)
{
    const ab_series *second = partner(both, 0, first);
    size_t           size = strlen(first->name) + 32;
    char            *what;

    if (first->lack != AB_SKIPPED || !second || second->lack != AB_SKIPPED)
        return 0;
    what = (char *)ab_grow(NULL, size, 1);
    snprintf(what, size, "'%s', skipped in A and B", first->name);
    ab_note_add(&report->about, what, first->why, 1);
    free(what);
    return 1;
}

/* Counts and names what only B has, and why some of that has no values. */
static void only_in_b(ab_report *report, const sides *both)
{
    size_t i, j;

    for (i = 0; i < both->side[0].n; i++) {
        const ab_series *second = partner(both, 0, &both->side[0].s[i]);
        if (second)
            report->known[second - both->side[1].s] = 1;
    }
    for (i = j = 0; i < both->side[1].n; i++) {
        if (report->known[i])
            continue;
        if (report->fresh++ < 3)
            report->fresh_name[j++] = both->side[1].s[i].name;
        if (both->side[1].s[i].why)
            ab_note_add(&report->about, "only in B", both->side[1].s[i].why, 1);
    }
}

/* The two commands of one file are two sides, each with its name. */
static void name_commands(ab_report *report, const ab_set *set)
{
    int k;

    for (k = 0; k < 2; k++) {
        size_t size = strlen(report->name[k]) + strlen(set->s[k].name) + 3;
        report->owned[k] = (char *)ab_grow(NULL, size, 1);
        snprintf(report->owned[k], size, "%s: %s", report->name[k], set->s[k].name);
        report->name[k] = report->owned[k];
    }
    report->row[0].name = "";
}

/* The rows of the report.  -1 with a message. */
static int compare_rows(ab_report *report, const options *opts, const sides *kind, ab_error *error)
{
    const sides *both = &kind[slot_of(opts, 0)];
    size_t       i, rows;

    if (count_rows(both, opts, &rows, error) < 0)
        return -1;
    report->row = (ab_row *)ab_grow(NULL, rows, sizeof *report->row);
    memset(report->row, 0, rows * sizeof *report->row);
    for (i = 0; i < rows; i++) {
        if (opts->files > 1 && skipped_twice(report, both, &both->side[0].s[i]))
            continue;
        if (compare_row(report, opts, kind, i, error) < 0) {
            report->n = rows;                       /* all to be freed                            */
            return -1;
        }
    }
    if (opts->files > 1) {
        report->known = (char *)ab_grow(NULL, both->side[1].n + 1, 1);
        memset(report->known, 0, both->side[1].n + 1);
        only_in_b(report, both);
    }
    if (!report->n)
        return ab_fail(error, opts->file[0], 0, 0, "every benchmark is skipped in A and B");
    for (i = 0; i < report->n && report->row[i].doubted; i++)
        continue;
    if (i < report->n)
        return 0;
    snprintf(error->text, sizeof error->text, "%.590s", report->row[0].why);
    ab_make_safe(error->text);
    return -1;
}

static int compare(ab_report *report, const options *opts, sides *kind, ab_error *error)
{
    const sides  *both = &kind[slot_of(opts, 0)];
    const ab_set *before = &both->side[0], *after = &both->side[1];
    size_t        i;
    int           k;

    for (k = 0; k < opts->plan.rules; k++)
        if (!kind[slot_of(opts, k)].side[0].n &&
            read_sides(&kind[slot_of(opts, k)], opts, k, error) < 0)
            return -1;
    if (compare_rows(report, opts, kind, error) < 0)
        return -1;
    for (k = 0; k < 2; k++)
        for (i = 0; i < both->side[k].notes; i++)
            ab_note_add(&report->about, both->side[k].note[i].where, both->side[k].note[i].what,
                        both->side[k].note[i].count);
    report->format[0] = before->format;
    report->format[1] = opts->files > 1 ? after->format : before->format;
    if (opts->files > 1 && before->n == 1 && after->n == 1)
        report->unlike = unlike_names(before->s[0].name, after->s[0].name);
    report->row[0].name = report->unlike ? report->unlike : report->row[0].name;
    ab_judge(report);
    if (opts->files == 1 && report->row[0].d[0].how == AB_HOW_SEPARATE && before->n == 2)
        name_commands(report, before);
    return 0;
}

/* "first.json" or "first.json and 5 more". */
static void side_name(char *out, size_t size, const options *opts, size_t first, size_t n)
{
    if (n > 1)
        snprintf(out, size, "%s and %zu more", opts->file[first], n - 1);
    else
        snprintf(out, size, "%s", opts->file[first]);
}

static void free_rows(ab_report *report)
{
    size_t i;
    int    k;

    for (i = 0; i < report->n; i++)
        for (k = 0; k < AB_RULES; k++)
            ab_data_free(&report->row[i].d[k]);
    for (i = 0; i < report->usages; i++)
        free(report->usage[i].name);
    free(report->usage);
    free(report->known);
    ab_set_free(&report->about);
    free(report->unlike);
    free(report->row);
    free(report->owned[0]);
    free(report->owned[1]);
}

/* The status of a comparison that has no report: a counter that is not there decides nothing. */
static int no_report(const sides *kind, const ab_error *error)
{
    int i;

    for (i = AB_OTHER + 1; i < SLOTS; i++)
        if (kind[i].side[0].uncounted || kind[i].side[1].uncounted) {
            fprintf(stderr, "perf-ab: INCONCLUSIVE: %s\n", error->text);
            return 2;
        }
    return unusable(error);
}

static int compare_files(options *opts)
{
    sides     kind[SLOTS];
    ab_report report;
    ab_error  error;
    char      name[2][300];
    size_t    na = opts->split ? opts->split : 1;
    int       status, i;

    if (would_replace(opts->output, 4, opts->file, opts->files))
        return AB_UNUSABLE;
    memset(kind, 0, sizeof kind);
    memset(&report, 0, sizeof report);
    report.plan = opts->plan;
    report.plot = opts->plot;
    side_name(name[0], sizeof name[0], opts, 0, na);
    side_name(name[1], sizeof name[1], opts, opts->files > na ? na : 0,
              opts->files > na ? opts->files - na : 1);
    report.name[0] = name[0];
    report.name[1] = name[1];
    status = compare(&report, opts, kind, &error) < 0 ? no_report(kind, &error)
                                                      : write_report(&report, opts);
    free_rows(&report);
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
    perf_file_ file;
    unsigned   mode;

    if (!strcmp(path, "-"))
        return 1;
    if (perf_file_kind_(path, &mode) == PERF_FILE_DIRECT_) {
        if (access(path, W_OK) == 0)
            return 1;                               /* who reads a pipe would see it end          */
    } else if (ab_begin_file(&file, path)) {
        perf_file_end_(&file, path, 0);
        return 1;
    }
    unwritten(path);
    return 0;
}

static int run_commands(options *opts, char **argv)
{
    ab_report   report;
    ab_set      set;
    ab_commands commands;
    int         status, i;

    memset(&report, 0, sizeof report);
    memset(&set, 0, sizeof set);
    memset(&commands, 0, sizeof commands);
    report.plan = opts->plan;
    report.plot = opts->plot;
    for (i = 0; i < 4; i++)
        if (opts->output[i] && !can_write(opts->output[i]))
            return AB_UNUSABLE;
    if (opts->run.save && !can_write(opts->run.save))
        return AB_UNUSABLE;
    status = ab_run_commands(&report, &commands, &set, &opts->run, argv);
    if (status == 0) {
        status = write_report(&report, opts);
        if (opts->run.save && ab_save(opts->run.save, &set) < 0)
            status = unwritten(opts->run.save);
        ab_run_leave();
    }
    free_rows(&report);
    ab_commands_free_(&commands);
    ab_set_free(&set);
    return status;
}

/* The arguments of a comparison or of `perf-ab run`, from `i` on, up to the commands of the latter.
 * *protocol: one of calibration, if it is asked for.  0, or an exit status.                      */
static int take_arguments(options *opts, int argc, char **argv, int *i, int *protocol)
{
    int status = 0;

    for (; *i < argc && !status; ++*i) {
        const char *text = argv[*i];
        if (!strcmp(text, "--") && opts->running)
            break;
        if (!strcmp(text, "--")) {
            if (opts->split || !opts->files)
                status = usage_error("-- stands once, between the files of A and of B", "");
            opts->split = opts->files;
        } else if (!strcmp(text, "--batch")) {
            *protocol = AB_BATCH;
        } else if (!strcmp(text, "--seq")) {
            *protocol = AB_SEQ;
        } else if (!strcmp(text, "--sample")) {
            *protocol = AB_SAMPLE;
        } else if (text[0] == '-' && text[1]) {
            status = take_option(opts, argc, argv, i);
        } else if (opts->running) {
            status = usage_error("the commands stand behind --, not", text);
        } else {
            opts->file[opts->files++] = text;
        }
    }
    if (!status)
        status = take_ratio(opts);
    return status ? status : settle_options(opts);
}

/* A comparison of files, or with `running` of commands.  An exit status. */
static int ask(int argc, char **argv, int running)
{
    options opts;
    int     i = running ? 2 : 1, protocol = -1, status;

    memset(&opts, 0, sizeof opts);
    opts.metric = -1;
    opts.plan.confidence = 0.95;
    opts.run = ab_run_opts_default();
    opts.running = running;
    opts.file = (const char **)ab_grow(NULL, (size_t)argc, sizeof *opts.file);
    status = take_arguments(&opts, argc, argv, &i, &protocol);
    if (!status && protocol >= 0)
        status = ab_serve((ab_protocol)protocol, opts.plan.confidence);
    else if (!status && running)
        status = run_commands(&opts, argv + i);
    else if (!status && (!opts.files || (opts.split && opts.split == opts.files)))
        status = usage_error("which files?", "");
    else if (!status && !opts.split && opts.files > 2)
        status = usage_error("more than two files: put -- between those of A and those of B", "");
    else if (!status)
        status = compare_files(&opts);
    free(opts.file);
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

static void print_help(FILE *file)
{
    fputs(help, file);
    fputs(help_run, file);
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
