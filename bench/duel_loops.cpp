// The two bodies of duel.py: chains of dependent multiplies, 1,000 of them and as many as asked.
//
//     duel_loops google N          Google Benchmark's own main, further arguments are its options:
//                                  benchmarks base, cand
//     duel_loops perf N COUNT      COUNT verdicts "no more than 1 % slower?", one line each
#include "perf.h"

#include <stdio.h>
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <cstring>

static PERF_ATTR_((__noinline__)) uint64_t chain(uint64_t x, long n)
{
    for (; n > 0; n--) {
        x *= UINT64_C(0xd1342543de82ef95);
        perf_keep(x);
    }
    return x;
}

static void walk(benchmark::State &state, long n)
{
    uint64_t x = 3;

    for (auto _ : state)
        x = chain(x, n);
    benchmark::DoNotOptimize(x);
}

static void verdict(long n)
{
    perf_ab_opts o = PERF_ZERO;
    uint64_t     x = 3;
    int          v;

    o.accept.rule = perf_rule_make(PERF_RULE_NO_REGRESSION, 1.0, PERF_METRIC_PAIR);
    perf_ab ab = perf_ab_begin("chain", &o);
    while ((v = perf_ab_next(&ab)) >= 0)
        x = chain(x, v ? n : 1000);
    perf_ab_result r = perf_ab_end(&ab);
    perf_keep(x);
    std::printf("%s %.6f %.6f\n",
                r.verdict.decision == PERF_ACCEPT   ? "same"
                : r.verdict.decision == PERF_REJECT ? "slower"
                                                    : "open",
                r.verdict.ratio.estimate, r.seconds);
}

int main(int argc, char **argv)
{
    const long n = argc > 2 ? std::atol(argv[2]) : 0;

    if (n <= 0)
        return 2;
    if (argc > 3 && !std::strcmp(argv[1], "perf")) {
        for (int i = 0; i < std::atoi(argv[3]); i++)
            verdict(n);
        return 0;
    }
    argv[2] = argv[0];
    argc -= 2;
    argv += 2;
    benchmark::Initialize(&argc, argv);
    benchmark::RegisterBenchmark("base", walk, 1000L);
    benchmark::RegisterBenchmark("cand", walk, n);
    benchmark::RunSpecifiedBenchmarks();
    return 0;
}
