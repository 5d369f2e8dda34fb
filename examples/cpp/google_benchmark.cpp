/* You have Google Benchmark.  Keep it, and add what it does not say.
 * Needs: benchmark
 *
 *     apt-get install libbenchmark-dev
 *     c++ -O2 -std=c++11 -I. examples/cpp/google_benchmark.cpp -o gb -lbenchmark -pthread && ./gb
 *
 * You will see Google Benchmark's own table.  Its "vector" lines have three more columns, from a
 * histogram of every single iteration: p50, p99 and worst in ns.  The line "reserve, A/B" is
 * perf.h's random-turns comparison run inside a benchmark: speedup and its interval low and high,
 * and decision (1 ACCEPT, 2 REJECT, 0 INCONCLUSIVE) on "at least 1.3 times as fast".  Last comes
 * perf.h's report, whose verdict says the same in a sentence.                                    */
#include "perf.h"

#include <stdio.h>
#include <benchmark/benchmark.h>
#include <vector>

namespace {

int fill(bool reserve)
{
    std::vector<int> v;

    if (reserve)
        v.reserve(1000);
    for (int i = 0; i < 1000; i++)
        v.push_back(i);
    perf_keep(v[999]);
    return v[999];
}

void vector(benchmark::State &state)
{
    static perf_hist each;
    const bool       reserve = state.range(0) != 0;

    perf_hist_reset(&each);
    for (auto _ : state) {
        uint64_t start = perf_ticks();
        benchmark::DoNotOptimize(fill(reserve));
        perf_hist_add_double(&each, perf_ticks_to_ns(perf_ticks() - start));
    }
    state.counters["p50"] = perf_hist_quantile(&each, 0.5);
    state.counters["p99"] = perf_hist_quantile(&each, 0.99);
    state.counters["worst"] = perf_hist_quantile(&each, 1);
}
BENCHMARK(vector)->ArgName("reserve")->Arg(0)->Arg(1)->MinTime(0.05);

void verdict(benchmark::State &state)
{
    for (auto _ : state) {
        int     v;
        perf_ab ab = perf_ab_begin("reserve", nullptr);
        while ((v = perf_ab_next(&ab)) >= 0)
            fill(v == 1);
        perf_ab_result r = perf_ab_end(&ab);
        state.counters["speedup"] = r.verdict.speedup.estimate;
        state.counters["low"] = r.verdict.speedup.low;
        state.counters["high"] = r.verdict.speedup.high;
        state.counters["decision"] = r.verdict.decision;
    }
}
BENCHMARK(verdict)->Name("reserve, A/B")->Iterations(1)->Unit(benchmark::kMillisecond);

} /* namespace */

int main(int argc, char **argv)
{
    benchmark::Initialize(&argc, argv);
    benchmark::RunSpecifiedBenchmarks();
    return perf_report_to(stdout, nullptr) != PERF_OK;
}
