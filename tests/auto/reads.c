/* The file that reads.  PERF_SAYS: also whether something went wrong. */
#define PERF_AT_EXIT 1
#include "perf_auto.h"
#include <stdio.h>

#ifdef PERF_SAYS
static __attribute__((__destructor__, __no_instrument_function__)) void says(void)
{
    (void)fprintf(stderr, "status: %s\n", perf_status_text(perf_error()));
}
#endif
