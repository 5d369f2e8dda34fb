/* Why is it faster?  Two ways to count lines, held against a rule on time and one on instructions.
 *
 *     cc -O2 -I. examples/c/why.c -o why && ./why
 *
 * You will see both times and, where the processor counts, what an iteration of each takes in
 * instructions, cycles and branches.  Then the verdict by each rule: both have to hold.  Fewer
 * instructions: it does less.  As many, in fewer cycles: it waits less.  Where nothing counts, the
 * second rule is INCONCLUSIVE and says why: docs/counters.md has the cures.                      */
#include "perf.h"
#include "perf_counters.h"
#include <stdio.h>

static unsigned char text[65536];

static int by_byte(void)
{
    int i, n = 0;

    for (i = 0; i < 65536; i++)
        if (text[i] == '\n')
            n++;
    return n;
}

static int by_four(void)
{
    int i, n = 0;

    for (i = 0; i < 65536; i += 4)
        n += (text[i] == '\n') + (text[i + 1] == '\n') +
             (text[i + 2] == '\n') + (text[i + 3] == '\n');
    return n;
}

int main(void)
{
    perf_ab_opts   opts = perf_ab_opts_default();
    perf_counters  c = perf_counters_open(NULL);
    perf_ab_result r;
    perf_ab        ab;
    int            i, v, n;

    for (i = 0; i < 65536; i += 40)
        text[i] = '\n';
    opts.max_seconds = 1.0;
    opts.accept.rule = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_PAIR);
    opts.also = perf_rule_make(PERF_RULE_REDUCTION, 5, PERF_METRIC_INSTRUCTIONS);
    ab = perf_ab_begin("count lines", &opts);
    perf_counters_loop(&c, &ab);                /* after begin, before next                       */
    while ((v = perf_ab_next(&ab)) >= 0) {
        perf_keep(text);                        /* it may have changed                            */
        n = v ? by_four() : by_byte();
        perf_keep(n);
    }
    r = perf_ab_end(&ab);
    perf_report();
    printf("%s\n", perf_decision_text(r.verdict.decision));
    perf_counters_close(&c);
    return 0;
}
