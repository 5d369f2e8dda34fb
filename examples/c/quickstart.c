/* Is a faster way to count the lines of a file really faster, and by how much?
 *
 *     cc -O2 -I. examples/c/quickstart.c -o quickstart && ./quickstart [FILE]
 *
 * You will see the clock in use, where the time of this program went, the first and the
 * typical time of a loop over bytes and of one over words of eight bytes, and a verdict: is the
 * second at least 1.3 times as fast, with 95 % confidence?  FILE defaults to perf.h in the folder
 * where you start it.
 * Exit status: 0 ACCEPT, 1 REJECT, 2 INCONCLUSIVE or nothing to measure.                         */
#include "perf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One byte at a time is the point of the baseline, so compilers may not vectorise it. */
#if defined(__GNUC__) && !defined(__clang__)
__attribute__((optimize("no-tree-vectorize")))
#endif
static size_t count_bytewise(const unsigned char *text, size_t n)
{
    size_t i, lines = 0;

#if defined(__clang__)
#pragma clang loop vectorize(disable) interleave(disable)
#endif
    for (i = 0; i < n; i++)
        if (text[i] == '\n')
            lines++;
    return lines;
}

/* Eight bytes at a time: a byte of `word ^ newlines` is zero where the text has a newline; the
 * arithmetic below turns that byte into 0x01 and every other one into 0x00, without carries
 * between bytes.  Up to 255 such words add up in their bytes before the bytes are summed.        */
static size_t count_wordwise(const unsigned char *text, size_t n)
{
    const uint64_t low7 = UINT64_C(0x7f7f7f7f7f7f7f7f), ones = UINT64_C(0x0101010101010101);
    size_t         i = 0, lines = 0;

    while (n - i >= 8) {
        uint64_t sums = 0, word;
        int      k;

        for (k = 0; k < 255 && n - i >= 8; k++, i += 8) {
            memcpy(&word, text + i, 8);
            word ^= ones * '\n';
            word = ~(((word & low7) + low7) | word | low7);
            sums += word >> 7;
        }
        for (k = 0; k < 64; k += 8)
            lines += (sums >> k) & 0xff;
    }
    for (; i < n; i++)
        lines += text[i] == '\n';
    return lines;
}

/* The whole file; the caller frees it.  NULL after saying why there is nothing to measure. */
static unsigned char *read_file(const char *path, size_t *n)
{
    PERF_SCOPE("read file");
    FILE          *f = fopen(path, "rb");
    unsigned char *text = NULL, *more;
    size_t         room = 0;

    *n = 0;
    if (!f) {
        fprintf(stderr, "quickstart: cannot open %s: %s%s\n", path, strerror(errno),
                strcmp(path, "perf.h") ? "" : " (start it in the folder of perf.h, or name a file)");
        return NULL;
    }
    for (;;) {
        if (*n == room) {
            room = room ? 2 * room : 1 << 16;
            more = realloc(text, room);
            if (!more) {
                fprintf(stderr, "quickstart: %s does not fit into memory\n", path);
                break;
            }
            text = more;
        }
        *n += fread(text + *n, 1, room - *n, f);
        if (ferror(f)) {
            fprintf(stderr, "quickstart: cannot read %s: %s\n", path, strerror(errno));
            break;
        }
        if (feof(f)) {
            fclose(f);
            if (*n)
                return text;
            fprintf(stderr, "quickstart: %s is empty: nothing to measure\n", path);
            free(text);
            return NULL;
        }
    }
    fclose(f);
    free(text);
    return NULL;
}

/* Times both counters in turns; lines[] receives what each of them counted. */
static perf_ab_result compare(const unsigned char *text, size_t n, double lines[2])
{
    PERF_SCOPE("compare");
    perf_ab_opts opts = perf_ab_opts_default();
    size_t       counted;
    perf_ab      ab;
    int          variant;

    opts.accept.rule = perf_rule_make(PERF_RULE_SPEEDUP, 1.3, PERF_METRIC_PAIR);
    opts.max_seconds = 10.0;                    /* enough for files of some 100 MB                */
    ab = perf_ab_begin("count lines", &opts);
    while ((variant = perf_ab_next(&ab)) >= 0) {
        counted = variant ? count_wordwise(text, n) : count_bytewise(text, n);
        perf_keep(counted);
        lines[variant] = (double)counted;
    }
    return perf_ab_end(&ab);
}

int main(int argc, char **argv)
{
    const char    *path = argc > 1 ? argv[1] : "perf.h", *trace = "trace.json";
    unsigned char *text;
    size_t         n;
    double         lines[2] = {-1.0, -2.0};
    perf_guard     same = PERF_ZERO;
    perf_ab_result r;
    perf_status    saved;

    if (argc > 2 || (argc > 1 && (!strcmp(path, "--help") || !strcmp(path, "-h")))) {
        fprintf(stderr, "usage: quickstart [FILE]\n");
        return 2;
    }
    text = read_file(path, &n);
    if (!text)
        return 2;
    r = compare(text, n, lines);
    free(text);
    if (r.status != PERF_OK) {
        fprintf(stderr, "quickstart: not measured: %s\n", perf_status_text(r.status));
        return 2;
    }
    same.required = 1;                          /* a wrong count is never fast enough             */
    same.seen = perf_accuracy_f64(&lines[0], &lines[1], 1);
    perf_verdict_guard(&r.verdict, &same);
    printf("%s: %lu bytes, %.0f lines by bytes, %.0f by words: %s\n\n", path, (unsigned long)n,
           lines[0], lines[1], lines[0] == lines[1] ? "they agree" : "THEY DIFFER");
    perf_report_to(stdout, NULL);
    printf("\nfirst run: %.1f us by bytes, %.1f us by words\n", r.first_baseline_ns / 1e3,
           r.first_candidate_ns / 1e3);
    errno = 0;
    saved = perf_trace_save(trace);
    if (saved == PERF_OK)
        printf("trace: %s (open it in https://ui.perfetto.dev)\n", trace);
    else
        printf("trace: not written to %s: %s\n", trace,
               saved == PERF_EIO && errno ? strerror(errno) : perf_status_text(saved));
    printf("%s\n", perf_verdict_text(&r.verdict));
    return r.verdict.decision == PERF_ACCEPT ? 0 : r.verdict.decision == PERF_REJECT ? 1 : 2;
}
