// Built with PERF_DISABLE=1 and -O0: the members of a class that both kinds of file use are merged by
// the linker, so an "off" scope that is the same class as an "on" one would switch the other on or off.
#include "perf.h"

#include "work.h"

void work_off_cpp(void)
{
    for (int i = 0; i < CALLS_OFF; i++) {
        PERF_SCOPE("off_cpp.cpp scope");
    }
}
