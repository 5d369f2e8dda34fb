/* One file, compiled twice, as C and as C++.  With -DPLAIN the preprocessor sees no instrumentation
 * at all; otherwise PERF_DISABLE=1 must make the same machine code of it, already at -O0.        */
#ifdef PLAIN
#define ON(...)
#else
#ifdef SCOPES_ONLY
#include "perf_scope.h"
#else
#include "perf.h"
#endif
#define ON(...) __VA_ARGS__
#endif

#ifdef __cplusplus
extern "C" {
#endif
unsigned leaf(unsigned x);
unsigned branches(const unsigned *v, int n, unsigned stop);
int      choose(int what);
#ifdef __cplusplus
}
#endif

unsigned leaf(unsigned x)
{
    ON(PERF_FUNCTION();)
    return x * 2654435761u;
}

/* Every way out of a scope: break, continue, return, goto, the end of the block. */
unsigned branches(const unsigned *v, int n, unsigned stop)
{
    ON(PERF_SCOPE("branches");)
    unsigned sum = 0;
    int      i;

    for (i = 0; i < n; i++) {
        ON(PERF_SCOPE("one element");)
        if (v[i] == stop)
            break;
        if (v[i] & 1u)
            continue;
        if (v[i] == 7u)
            return 0;
        {
            ON(PERF_SCOPE("inner"); PERF_SCOPE("two on a line");)
            sum += leaf(v[i]);
        }
    }
    return sum;
}

int choose(int what)
{
    switch (what) {
    case 0: {
        ON(PERF_SCOPE("case 0");)
        return 4;
    }
    default:
        break;
    }
    if (what < 0)
        goto out;
    {
        ON(PERF_SCOPE("after");)
        what += 3;
    }
out:
    return what;
}
