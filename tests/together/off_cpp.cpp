// Built with PERF_DISABLE=1 and -O0: the linker merges the members of a class that both kinds of file
// use, so an "off" scope of the same class as an "on" one would switch the other on or off.
#include "perf.h"

#include "work.h"

void work_off_cpp(void)
{
    for (int i = 0; i < CALLS_OFF; i++) {
        PERF_SCOPE("off_cpp.cpp scope");
        perf::scope s("off_cpp.cpp scope by name");
    }
}
