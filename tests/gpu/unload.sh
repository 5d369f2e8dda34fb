#!/bin/sh
# A shared object that timed a device and was then closed: its functions are still known to the
# process, so the report must find them.
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc"
[ "$(uname -s)" = Linux ] || skip 'dlclose: Linux only'
start_work
cd "$work"
cat >module.c <<'C'
#include "perf_cuda.h"
void work(void);
void work(void)
{
    PERF_GPU_SCOPE("device", NULL);
}
C
cat >main.c <<'C'
#include "perf.h"
#include <dlfcn.h>
#include <string.h>
int main(void)
{
    void  *module = dlopen("./module.so", RTLD_NOW | RTLD_LOCAL), *found;
    void (*work)(void);

    if (!module || !(found = dlsym(module, "work")))
        return 2;
    memcpy(&work, &found, sizeof work);
    work();
    if (dlclose(module))
        return 3;
    {
        PERF_SCOPE("host");
    }
    perf_reset();
    {
        PERF_SCOPE("host");
    }
    return perf_report() != PERF_OK;
}
C
try 'a module with GPU scopes' "$cc" -O2 -shared -fPIC -I"$root" module.c -o module.so
try 'a program that closes it' "$cc" -O2 -I"$root" main.c -o main -ldl
try 'the report after dlclose' ./main
finish
