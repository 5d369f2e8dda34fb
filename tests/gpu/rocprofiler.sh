#!/bin/sh
# Kernels without marks on AMD's devices (perf_rocprofiler.h): on a stand-in for librocprofiler-sdk, and our
# structs against AMD's headers where $ROCPROFILER names a folder that has rocprofiler-sdk/ and hsa/, such as
# triton/backends/amd/include of the wheel "triton".
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
here=$root/tests/gpu
flags="-std=gnu99 -Wall -Wextra -Werror -I$root -I$root/tests"
# shellcheck disable=SC2086     # flag lists are split on purpose
try "the stand-in" gcc $flags -O1 -fPIC -shared -fvisibility=hidden "$here/fake_rocprofiler.c" -o "$work/libfake.so" -lpthread
# shellcheck disable=SC2086
try "the program" gcc $flags -O2 -DPERF_AT_EXIT=1 "$here/rocprofiler.c" -o "$work/rocprofiler" -ldl -lpthread
# shellcheck disable=SC2086
try "the program, sanitized" gcc $flags -g -O1 -fsanitize=address,undefined "$here/rocprofiler.c" -o "$work/sanitized" \
    -ldl -lpthread
[ "$failed" -eq 0 ] || finish
fake=$work/libfake.so
cd "$work"

try "off: nothing is opened" ./rocprofiler off "$fake"
try "0 is off" env PERF_ROCPROFILER=0 ./rocprofiler off "$fake"
for release in 0.5 1.1 'late 1.1'; do
    try "release $release" env FAKE_ROCPROFILER="$release" PERF_ROCPROFILER="$fake" ./rocprofiler on "$fake"
    try "release $release, sanitized" env FAKE_ROCPROFILER="$release" PERF_ROCPROFILER="$fake" ASAN_OPTIONS=detect_leaks=0 \
        ./sanitized on "$fake"
done
try "the trace has the kernels" grep -q '"saxpy.u003cfloat>"' rocprofiler_trace.json
try "and their queue" grep -q '"GPU 0 kernels 7"' rocprofiler_trace.json
try "each direction of copies has its line" sh -c \
    'grep -q "\"GPU 0 copy host to device\"" copies.json && grep -q "\"GPU 0 copy device to host\"" copies.json'
try "no time of a copy is cut" sh -c 'grep "\"copy device to host\"" copies.json | grep -q "\"dur\":1000.000"'
try "and none is on a device that is not there" sh -c '! grep -q "\"GPU 2" copies.json'
tried=$((tried + 1))
PERF_ROCPROFILER=$fake PERF_REPORT=1 ./rocprofiler on "$fake" >said 2>&1 || fail "PERF_REPORT=1"
try "the report at the exit has them" grep -q '^saxpy<float>  *one ' said

no='note: no kernels from rocprofiler: '
try "no library" env PERF_ROCPROFILER=1 ./rocprofiler "${no}there is no librocprofiler-sdk.so that the loader finds" ""
try "another one" env PERF_ROCPROFILER=libc.so.6 ./rocprofiler "${no}that librocprofiler-sdk.so lacks functions" ""
for case in "nothing:there is no driver, or no device" "locked:another profiler has this process: 16 ROCPROFILER_STATUS_ERROR_CONF" \
            "refused:it refuses: 17 ROCPROFILER_STATUS_ERROR_NOT_IMPLEMENTED" "deaf:it refuses"; do
    try "${case%%:*}" env FAKE_ROCPROFILER="${case%%:*}" PERF_ROCPROFILER="$fake" ./rocprofiler "$no${case#*:}" ""
done

echo '#include "perf_rocprofiler.h"' >image.c
# shellcheck disable=SC2086
try "a library with the header" gcc $flags -O1 -fPIC -shared image.c -o image.so
try "a reason stays with its profiler" env FAKE_ROCPROFILER=refused PERF_ROCPROFILER="$fake" ./rocprofiler "${no}it refuses" \
    "$work/image.so"

if [ -n "${ROCPROFILER:-}" ]; then
    some=
    grep -q memory_copy_record "$ROCPROFILER/rocprofiler-sdk/buffer_tracing.h" || some=-DNO_COPIES
    # shellcheck disable=SC2086
    try "AMD's structs" gcc -std=gnu11 -w -fsyntax-only $some -D__HIP_PLATFORM_AMD__ -I"$ROCPROFILER" -I"$root" \
        -I"$root/tests" "$here/rocprofiler_offsets.c"
fi
finish
