/* What does it cost to add up the tallies of 10,000 ranks: bytes, merges, time?
 *
 *     cc -O2 -I. bench/ranks.c -o bench-ranks && ./bench-ranks [RANKS [CALLS]]
 *
 * Every rank's perf_tally (1,000 calls around 1 ms, each rank with a speed of its own) is made and
 * merged here, in the binary tree that MPI_Reduce uses; of the tree only one path is in memory at a
 * time.  Merges are timed.  Times "with network" are a model, not measured: 2 us a message and
 * 10 GB/s, all merges of a level at once.  Ends with 1 when the sum is not that of all calls.    */
#include "perf.h"
#include "perf_hlog.h"
#include "perf_tally.h"

#include <stdio.h>
#include <stdlib.h>

enum { LEVELS = 24 };
static const perf_hlog_interval no_interval;
static const double latency_ns = 2000.0, bytes_per_ns = 10.0;

static perf_tally *level_tally;
static uint64_t    calls = 1000, total_ns, merges, saved_leaf, saved_root, state = 1;
static double     *merge_ns;

static double uniform(void)             /* (0, 1)                                                 */
{
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return ((double)(state >> 11) + 0.5) / 9007199254740992.0;
}

/* What perf_tally_of would give on that rank. */
static void leaf(perf_tally *t, uint32_t rank)
{
    double   speed = 1e6 * perf_exp_(0.03 * perf_normal_quantile_(uniform()));
    uint64_t i, ns;

    memset(t, 0, sizeof *t);
    for (i = 0; i < calls; i++) {
        ns = (uint64_t)(speed * perf_exp_(0.1 * perf_normal_quantile_(uniform())));
        perf_hist_add(&t->hist, ns);
        t->sum_ns += ns;
    }
    t->hist.head.lo = t->hist.head.width[0] = 0;
    t->parts = 1;
    t->calls = calls;
    t->total_ns = t->self_ns = t->most_ns = t->least_ns = t->sum_ns;
    t->most = t->least = rank;
    total_ns += t->sum_ns;
}

/* The sum of ranks [from, from + n) into level_tally[depth]. */
static int tree(uint32_t from, uint32_t n, int depth)
{
    uint32_t left = 1;
    uint64_t start;

    if (n == 1) {
        leaf(&level_tally[depth], from);
        return 0;
    }
    while (left * 2 < n)
        left *= 2;
    if (tree(from, left, depth) || tree(from + left, n - left, depth + 1))
        return 1;
    start = perf_now();
    if (perf_tally_merge(&level_tally[depth], &level_tally[depth + 1]) != PERF_OK)
        return 1;
    merge_ns[merges++] = (double)(perf_now() - start);
    return 0;
}

int main(int argc, char **argv)
{
    uint32_t     ranks = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000;
    perf_tally  *sum;
    perf_summary s;
    uint64_t     start = perf_now();
    double       elapsed, message;
    int          levels = 0;

    calls = argc > 2 ? strtoull(argv[2], NULL, 10) : calls;
    if (ranks < 2 || ranks > 1000000 || !calls)
        return fprintf(stderr, "usage: ranks [2 .. 1000000 [CALLS]]\n"), 2;
    level_tally = (perf_tally *)calloc(LEVELS, sizeof *level_tally);
    merge_ns = (double *)calloc(ranks, sizeof *merge_ns);
    if (!level_tally || !merge_ns)
        return 2;
    while ((1u << levels) < ranks)
        levels++;
    leaf(&level_tally[0], 0);
    saved_leaf = perf_hlog_text(NULL, 0, &level_tally[0].hist, &no_interval);
    total_ns = 0;
    if (tree(0, ranks, 0))
        return 1;
    elapsed = (double)(perf_now() - start);
    sum = &level_tally[0];
    saved_root = perf_hlog_text(NULL, 0, &sum->hist, &no_interval);
    s = perf_summarize(merge_ns, (size_t)merges);
    message = latency_ns + (double)sizeof(perf_tally) / bytes_per_ns;

    printf("%u ranks, %llu calls each; tree of %d levels, %llu merges\n", ranks, (unsigned long long)calls,
           levels, (unsigned long long)merges);
    printf("sum: %llu parts, %llu calls, p50 %.1f us, p99 %.1f us, slowest rank %u, imbalance %.1f %%\n",
           (unsigned long long)sum->parts, (unsigned long long)sum->calls,
           perf_hist_quantile(&sum->hist, 0.5) / 1e3, perf_hist_quantile(&sum->hist, 0.99) / 1e3,
           sum->most, 100 * sum->imbalance);
    printf("bytes: %zu a message, %.1f MB in all, %.2f MB through the busiest rank (one that gathers: "
           "%.1f MB)\n", sizeof(perf_tally), (double)sizeof(perf_tally) * (ranks - 1) / 1e6,
           (double)sizeof(perf_tally) * levels / 1e6, (double)sizeof(perf_tally) * (ranks - 1) / 1e6);
    printf("bytes, as a line of perf_hlog_text: %llu of a rank, %llu of the sum\n",
           (unsigned long long)saved_leaf, (unsigned long long)saved_root);
    printf("merge: p50 %.2f us, p95 %.2f us; on the longest path %d merges, %.1f us; gathered at one rank "
           "%.1f ms\n", s.p50 / 1e3, s.p95 / 1e3, levels, s.p50 * levels / 1e3,
           s.p50 * (double)merges / 1e6);
    printf("with network (model: %.0f us and %.0f GB/s a message): tree %.2f ms, gathered at one rank "
           "%.1f ms\n", latency_ns / 1e3, bytes_per_ns, levels * (message + s.p50) / 1e6,
           (ranks - 1) * (message + s.p50) / 1e6);
    printf("this program: %.1f s, %.2f MB of tallies\n", elapsed / 1e9,
           (double)sizeof(perf_tally) * LEVELS / 1e6);
    if (sum->parts != ranks || sum->calls != ranks * calls || sum->total_ns != total_ns ||
        perf_hist_count(&sum->hist) != sum->calls) {
        puts("the sum is wrong");
        return 1;
    }
    free(level_tally);
    free(merge_ns);
    return 0;
}
