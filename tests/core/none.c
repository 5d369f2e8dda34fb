/* A program that marks and never reads: nothing is kept, and the switch of the image says so. */
#include "perf_scope.h"

void mark(void);

int main(void)
{
    mark();
    mark();
    return perf_anchor_v1_.registry != PERF_NULL_ || perf_anchor_v1_.off != PERF_OFF_NO_CORE_;
}
