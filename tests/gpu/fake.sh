#!/bin/sh
# A plain C program and the driver it finds at run time: a fake one (a million scopes, two devices,
# not initialised, gone in the middle, gone at the exit), none at all, and AMD's only when asked for.
#
#     tests/gpu/fake.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose

cc=${1:?which compiler?}
need "$cc"
start_work
here=$root/tests/gpu
mkdir "$work/cuda" "$work/hip" "$work/half" "$work/nvml"
flags="-std=c99 -O2 -Wall -Wextra -Werror -I$root -I$root/tests"
try "the fake driver" "$cc" -O1 -fPIC -shared -fvisibility=hidden -I"$root" "$here/fake_libcuda.c" \
    -o "$work/cuda/libcuda.so.1"
try "the fake meters" "$cc" -O1 -fPIC -shared -fvisibility=hidden "$here/fake_meters.c" -o "$work/nvml/libnvidia-ml.so.1"
cp "$work/nvml/libnvidia-ml.so.1" "$work/hip/librocm_smi64.so.5"
echo 'int cuCtxGetCurrent(void **c) { *c = 0; return 3; }' >"$work/half.c"
try "half a driver" "$cc" -fPIC -shared "$work/half.c" -o "$work/half/libcuda.so.1"
try "the fake HIP" "$cc" -O1 -fPIC -shared -fvisibility=hidden -I"$root" \
    "$here/fake_libamdhip64.c" -o "$work/hip/libamdhip64.so.6"
cp "$work/hip/libamdhip64.so.6" "$work/hip/libamdhip64.so.5"
cp "$work/hip/libamdhip64.so.6" "$work/hip/libamdhip64.so.7"
try "the program" "$cc" $flags "$here/fake.c" -o "$work/fake" -ldl
try "the program, report at the exit" "$cc" $flags -DPERF_AT_EXIT=1 "$here/fake.c" -o "$work/fake_exit" -ldl
try "the program for HIP" "$cc" $flags -DPERF_HIP=1 "$here/fake.c" -o "$work/fake_hip" -ldl
[ "$failed" -eq 0 ] || finish

# run PROGRAM MODE LIBRARIES: keeps what it says in $work/log
run()
{
    tried=$((tried + 1))
    if LD_LIBRARY_PATH=$3 "$work/$1" "$2" >"$work/log" 2>&1; then
        grep 'scopes:' "$work/log" || true
    else
        fail "$1 $2"
        sed 's/^/    | /' "$work/log"
    fi
}

# says TEXT, silent TEXT
says()
{
    tried=$((tried + 1))
    grep -q -- "$1" "$work/log" || { fail "not said: $1"; sed 's/^/    | /' "$work/log"; }
}

silent()
{
    tried=$((tried + 1))
    ! grep -q -- "$1" "$work/log" || fail "said: $1"
}

both=$work/cuda:$work/hip
for mode in many two passive; do
    run fake $mode "$both"
    silent 'fake HIP'
done
run fake nvml "$both:$work/nvml"
run fake half "$work/half"
run fake deinit "$both"
says 'down, 0 calls after it shut down'
run fake exit "$both"
says 'down, 0 calls after it shut down'
export PERF_REPORT=1
run fake_exit exit "$both"              # the report at the exit has the device's times
says '^step  *100 .* device'
says '^host  *100 '
says 'down, 0 calls after it shut down'
run fake_exit deinit "$both"
says '^step  *100 .* device'
says 'the driver has shut down'
unset PERF_REPORT

# Without NVIDIA's library, and AMD's there: it is not loaded unasked.
if LD_LIBRARY_PATH=$work/hip "$work/fake" many >"$work/log" 2>&1; then
    echo "this machine has a driver of its own: what happens without one is not tested"
else
    run fake none "$work/hip"
    silent 'fake HIP'
    run fake none ''
fi
run fake_hip hip "$work/hip"
says 'fake HIP: loaded'
finish
