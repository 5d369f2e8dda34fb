/* Loops for idle.sh: ./idle KIND ROUNDS.  Built with and without PERF_NVTX 1. */
#include "perf_nvtx.h"
#include <stdlib.h>
#include <string.h>

#define LOOP(name, body)                                                                          \
    static __attribute__((__noinline__)) void name(long n)                                           \
    {                                                                                             \
        for (; n; n--) {                                                                          \
            body;                                                                                 \
            perf_clobber();                                                                       \
        }                                                                                         \
    }

LOOP(empty, (void)0)
LOOP(scope, PERF_SCOPE("scope"))

int main(int argc, char **argv)
{
    long n = argc > 2 ? atol(argv[2]) : 1;

    scope(10);                                  /* finds that there is no tool                    */
    if (!strcmp(argv[1], "empty"))
        empty(n);
    if (!strcmp(argv[1], "scope"))
        scope(n);
    if (argc > 3)                               /* somebody reads: scopes are recorded            */
        perf_report();
    return 0;
}
