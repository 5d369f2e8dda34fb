/* A program that only marks: no file of it reads a recording, so that the file with PERF_NVTX 1, linked or
 * in the module it is given, must bring what scopes need.                                          */
#include "perf_scope.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
    void *module;

    { PERF_SCOPE("early"); }
    module = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    { PERF_SCOPE("middle"); }
    if (module)
        dlclose(module);
    { PERF_SCOPE("late"); }
    return 0;
}
