#!/bin/sh
# Kernels without marks (perf_cupti.h): on a stand-in for libcupti, on NVIDIA's own without a device, and
# our structs against NVIDIA's headers.  Those two are in build-cuda/cupti12 and cupti13, or in $CUPTI:
# folders of unpacked wheels, separated by blanks.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
here=$root/tests/gpu
flags="-std=gnu99 -Wall -Wextra -Werror -I$root -I$root/tests"
# shellcheck disable=SC2086     # flag lists are split on purpose
try "the stand-in" gcc $flags -O1 -fPIC -shared -fvisibility=hidden "$here/fake_cupti.c" -o "$work/libfake_cupti.so" -lpthread
# shellcheck disable=SC2086
try "the program" gcc $flags -O2 -DPERF_AT_EXIT=1 "$here/cupti.c" -o "$work/cupti" -ldl -lpthread
# shellcheck disable=SC2086
try "the program, with pages that no fork wipes" gcc $flags -O1 -DUNWIPED "$here/cupti.c" -o "$work/cupti_unwiped" -ldl -lpthread
# shellcheck disable=SC2086
try "the program, tsan" gcc $flags -g -O1 -fsanitize=thread "$here/cupti.c" -o "$work/cupti_tsan" -ldl -lpthread
# shellcheck disable=SC2086
try "the stand-in, tsan" gcc $flags -g -O1 -fsanitize=thread -fPIC -shared -fvisibility=hidden "$here/fake_cupti.c" \
    -o "$work/libfake_tsan.so" -lpthread
cat >"$work/libcuda.c" <<'DRIVER'
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { const char *m = getenv("FAKE_CUPTI"); return m && !strcmp(m, "no device") ? 100 : (int)flags; }
DRIVER
mkdir "$work/driver"
try "a driver that says it is there" gcc -fPIC -shared "$work/libcuda.c" -o "$work/driver/libcuda.so.1"
[ "$failed" -eq 0 ] || finish
export LD_LIBRARY_PATH="$work/driver"
fake=$work/libfake_cupti.so
cd "$work"

try "off: nothing is opened" ./cupti off "$fake"
try "records in the thread of the flush" ./cupti flush "$fake"
try "pages that no fork wipes" ./cupti_unwiped flush "$fake"
try "the trace has the kernels" grep -q '"saxpy.u003cfloat>"' cupti_trace.json
try "streams without a line of their own" grep -q '"other GPU streams"' streams.json
try "and their stream" grep -q '"GPU 0 kernels 7"' cupti_trace.json
try "records on a thread of CUPTI's" ./cupti worker "$fake"
try "tsan" env TSAN_OPTIONS=halt_on_error=1 ./cupti_tsan worker "$work/libfake_tsan.so"
try "tsan, a start beside launches" env TSAN_OPTIONS=halt_on_error=1 ./cupti_tsan beside "$fake"
tried=$((tried + 1))
PERF_CUPTI=$fake PERF_REPORT=1 ./cupti asked "$fake" >said 2>&1 || fail "PERF_CUPTI=path"
try "the report at the exit has them" grep -q '^saxpy<float>  *all ' said
try "and knows the variable" sh -c '! grep "PERF_CUPTI is set" said'
tried=$((tried + 1))
PERF_CUPTI=0 ./cupti off "$fake" >said 2>&1 || fail "PERF_CUPTI=0"

if command -v musl-gcc >/dev/null; then
    printf '#include "perf_cupti.h"\nint main(void) { return perf_cupti_start(NULL) != PERF_ENOGPU; }\n' >static.c
    try "a static program" musl-gcc -std=gnu99 -O1 -static -I"$root" static.c -o static
    try "it finds no library" ./static
fi

# newest HEADERS STRUCT: its highest number there
newest()
{
    cat "$1"/cupti_activity.h "$1"/cupti_activity_deprecated.h 2>/dev/null | grep -o "^} CUpti_Activity$2[0-9]*;" |
        tr -dc '0-9\n' | sort -n | tail -n 1
}

mkdir stubs                              # CUPTI's headers ask for CUDA's: for a few types
cat >stubs/cuda.h <<'STUB'
#pragma once
#include <stddef.h>
#include <stdint.h>
typedef void *CUcontext, *CUstream, *CUmodule, *CUfunction, *CUgraph, *CUgraphNode, *CUgraphExec, *CUevent;
typedef int CUdevice, CUdevice_attribute, CUgraphNodeType, CUresult, CUstreamAttrID;
typedef uint64_t CUdeviceptr;
typedef struct { char bytes[16]; } CUuuid;
typedef struct { int x; } CUstreamAttrValue, CUaccessPolicyWindow;
STUB
: >stubs/builtin_types.h
seen=0
for folder in ${CUPTI:-"$root/build-cuda/cupti12" "$root/build-cuda/cupti13"}; do
    headers=$(find "$folder/" -name cupti_activity.h 2>/dev/null | head -n 1)
    library=$(find "$folder/" -name 'libcupti.so.1?' 2>/dev/null | head -n 1)
    [ -n "$headers" ] && [ -n "$library" ] || continue
    seen=$((seen + 1))
    headers=$(dirname "$headers")
    try "the structs of $folder" gcc -std=gnu11 -w -c -Istubs -I"$headers" -I"$root" -I"$root/tests" \
        "-DNEWEST_KERNEL=$(newest "$headers" Kernel)" "-DNEWEST_COPY=$(newest "$headers" Memcpy)" \
        "-DNEWEST_FILL=$(newest "$headers" Memset)" "-DNEWEST_PEER=$(newest "$headers" MemcpyPtoP)" \
        "$here/cupti_offsets.c" -o offsets.o
    if grep -q '^} CUpti_ActivityKernel10;' "$headers"/cupti_activity*.h; then
        try "the stand-in's, of $folder" gcc -std=gnu11 -w -c -DCUPTI_HEADERS -Istubs -I"$headers" "$here/fake_cupti.c" -o fake.o
    fi
    try "NVIDIA's own, without a device: $library" ./cupti real "$library"
    [ -e /dev/nvidiactl ] || try "and without a driver" env LD_LIBRARY_PATH= ./cupti real "$library"
done
[ $seen -gt 0 ] || echo "no CUPTI of NVIDIA's in build-cuda/: not tried"
finish
