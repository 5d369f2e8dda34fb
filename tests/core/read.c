/* A file that reads: how often "mark" was recorded. */
#include "perf_tally.h"

#ifdef __cplusplus
extern "C"
#endif
    int total(void);

int total(void)
{
    static perf_tally t;

    return perf_tally_of("mark", 0, &t) == PERF_OK ? (int)t.calls : 0;
}
