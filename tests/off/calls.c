/* Like macros.c, for the functions: at -O0 a call to an empty function is still a call, so these
 * two are compared where the compiler inlines.                                                   */
#ifdef PLAIN
#define ON(...)
#else
#include "perf.h"
#define ON(...) __VA_ARGS__
#endif

#ifdef __cplusplus
extern "C" {
#endif
unsigned sum_of(const unsigned *v, int n);
#ifdef __cplusplus
}
#endif

unsigned sum_of(const unsigned *v, int n)
{
    ON(perf_scope whole = perf_scope_begin("sum_of");)
    ON(perf_scope wait = perf_wait_begin("wait");)
    ON(perf_lap lap = perf_lap_begin();)
    unsigned sum = 0;
    int      i;

    for (i = 0; i < n; i++) {
        ON(perf_scope one = perf_scope_begin("one");)
        sum += v[i];
        ON(perf_scope_end(&one);)
    }
    ON(perf_scope_end(&wait);)
    ON(perf_lap_end(&lap, "lap");)
    ON(perf_scope_end(&whole);)
    ON(perf_scope_end(&whole);)
    ON(perf_scope_end(NULL);)
    return sum;
}
