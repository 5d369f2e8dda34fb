/* The same harness from C++: bodies are blocks, so anything that lives in a block works in them.
 *
 *     c++ -O2 -I. examples/cpp/harness.cpp -o harness && ./harness --filter sort
 *
 * You will see how the time of std::sort on random numbers grows, and two ways to build a string,
 * with and without reserve().  Do not be surprised by "no fit": small sorts repeat the same numbers,
 * the processor learns their branches, and they come out cheaper than n log n says.              */
#define PERF_MAIN 1
#include "perf.h"

#include <algorithm>
#include <string>
#include <vector>

PERF_BENCH_N(sort_random, 64, 16384)
{
    std::vector<uint32_t> random(n), work(n);
    uint32_t              x = 1;

    for (uint32_t &v : random)
        v = x = x * 1664525u + 1013904223u;
    while (perf_bench_next(&b)) {
        work = random;                          // the copy is part of the time
        std::sort(work.begin(), work.end());
        perf_keep(work.data());
    }
}

PERF_BENCH(string_grown)
{
    while (perf_bench_next(&b)) {
        std::string s;
        for (int i = 0; i < 1000; i++)
            s += 'x';
        perf_keep(s.data());
    }
}

PERF_BENCH(string_reserved)
{
    while (perf_bench_next(&b)) {
        std::string s;
        s.reserve(1000);
        for (int i = 0; i < 1000; i++)
            s += 'x';
        perf_keep(s.data());
    }
}
