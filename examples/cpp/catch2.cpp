/* Performance as a test among your Catch2 tests: it fails when the new code is shown to be slower.
 * Needs: catch2
 *
 *     apt-get install catch2           # version 2; version 3 works too, link catch2-with-main
 *     c++ -O2 -std=c++14 -I. examples/cpp/catch2.cpp -o tests && ./tests -s
 *
 * You will see Catch2 pass three assertions.  With -s it prints them all: that both give the same,
 * and the sentence of the verdict, "ACCEPT: speed-up ...".  A REJECT (the whole interval on the
 * wrong side) fails the test, an INCONCLUSIVE warns: a noisy machine must not break your build.  */
#if defined(__has_include)
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#define HAVE_CATCH3 1
#endif
#endif
#ifndef HAVE_CATCH3
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#endif

#include "perf.h"
#include <string.h>

static bool has_slow(const unsigned char *text, int n, unsigned char wanted)
{
    bool found = false;

    for (int i = 0; i < n; i++) {
        found |= text[i] == wanted;
        perf_clobber();
    }
    return found;
}

static bool has_fast(const unsigned char *text, int n, unsigned char wanted)
{
    return memchr(text, wanted, static_cast<size_t>(n)) != nullptr;
}

TEST_CASE("the fast search is right, and fast")
{
    static unsigned char text[4096] = {1};
    text[4000] = 7;

    REQUIRE(has_fast(text, 4096, 7));
    REQUIRE(has_fast(text, 4096, 9) == has_slow(text, 4096, 9));

    int     v;
    perf_ab ab = perf_ab_begin("search", nullptr);      /* at least 1.3 times as fast?            */
    while ((v = perf_ab_next(&ab)) >= 0) {
        bool found = v ? has_fast(text, 4096, 7) : has_slow(text, 4096, 7);
        perf_keep(found);
    }
    perf_ab_result r = perf_ab_end(&ab);
    INFO(perf_verdict_text(&r.verdict));
    if (r.verdict.decision == PERF_INCONCLUSIVE)
        WARN(perf_verdict_text(&r.verdict));
    CHECK(r.verdict.decision != PERF_REJECT);
}
