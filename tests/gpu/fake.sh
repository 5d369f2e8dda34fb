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
level=-O2
[ "$cc" != clang ] || level=-O0            # gcc optimises, before a release
flags="-std=c99 $level -Wall -Wextra -Werror -I$root -I$root/tests"
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

what=
# run PROGRAM MODE LIBRARIES: keeps what it says in $work/log; $what is a second word for it
run()
{
    tried=$((tried + 1))
    if LD_LIBRARY_PATH=$3 "$work/$1" "$2" "$what" >"$work/log" 2>&1; then
        grep 'scopes:' "$work/log" || true
    else
        fail "$1 $2 $what"
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
for mode in many two poor passive; do
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

# What is left when NVML or SMI lacks a function (there it has another name), or answers errors: c clock, r reasons
# for it, e energy, h heat, b busy.  The name without "_v2" will do.
# lacking LIBRARY FUNCTION [OTHER_NAME]: such a library, in $work/lacks
lacking()
{
    rm -rf "$work/lacks"
    mkdir "$work/lacks"
    case $1 in
    libamdhip64*) of=fake_libamdhip64.c ;;
    libcuda*)     of=fake_libcuda.c ;;
    *)            of=fake_meters.c ;;
    esac
    try "$1 without $2" "$cc" -O1 -fPIC -shared -fvisibility=hidden "-D$2=${3:-not_$2}" -I"$root" "$here/$of" \
        -o "$work/lacks/$1"
}

# meters PROGRAM MODE LEFT LIBRARIES
meters()
{
    what=$3
    run "$1" "$2" "$4"
}

nvml=libnvidia-ml.so.1
for f in nvmlInit_v2 nvmlDeviceGetHandleByPciBusId_v2 nvmlDeviceGetClockInfo; do
    lacking $nvml $f
    meters fake meters '' "$both:$work/lacks"
done
lacking $nvml nvmlInit_v2 nvmlInit
meters fake meters crehb "$both:$work/lacks"
lacking $nvml nvmlDeviceGetCurrentClocksThrottleReasons nvmlDeviceGetCurrentClocksEventReasons
meters fake meters crehb "$both:$work/lacks"
lacking $nvml nvmlDeviceGetCurrentClocksThrottleReasons
meters fake meters cehb "$both:$work/lacks"
lacking $nvml nvmlDeviceGetTotalEnergyConsumption
meters fake meters crhb "$both:$work/lacks"
lacking $nvml nvmlDeviceGetTemperature
meters fake meters creb "$both:$work/lacks"
lacking $nvml nvmlDeviceGetUtilizationRates
meters fake meters creh "$both:$work/lacks"
lacking libcuda.so.1 cuDeviceGetPCIBusId
meters fake meters '' "$work/lacks:$work/hip:$work/nvml"
for wrong in asleep: poor:cre dead: mute:cehb; do
    export FAKE_METERS=${wrong%:*}
    meters fake meters "${wrong#*:}" "$both:$work/nvml"
done
export FAKE_METERS=asleep
meters fake_hip hip-meters '' "$work/hip"
export FAKE_METERS=poor
meters fake_hip hip-meters e "$work/hip"
export FAKE_METERS=dead
meters fake_hip hip-meters '' "$work/hip"
unset FAKE_METERS
meters fake_hip hip-meters ehb "$work/hip"
for f in rsmi_init rsmi_dev_pci_id_get rsmi_dev_energy_count_get rsmi_dev_temp_metric_get rsmi_dev_busy_percent_get; do
    lacking librocm_smi64.so.7 $f
    meters fake_hip hip-meters '' "$work/lacks:$work/hip"
done
lacking libamdhip64.so.6 hipDeviceGetPCIBusId
cp "$work/lacks/libamdhip64.so.6" "$work/lacks/libamdhip64.so.7"
meters fake_hip hip-meters '' "$work/lacks:$work/hip"

# HIP of other versions, and without a function: what it cannot do without is no HIP at all.
for wrong in placeless:ehb elsewhere:; do
    export FAKE_HIP=${wrong%:*}
    meters fake_hip hip-meters "${wrong#*:}" "$work/hip"
done
for wrong in none uncounted; do
    export FAKE_HIP=$wrong
    run fake_hip hip-none "$work/hip"
done
export FAKE_HIP=lost
run fake_hip hip-lost "$work/hip"
for wrong in 50700000:wo 60200000:wo 60300000:wo 60400000:wo 70000000:o 70200000:o ageless:o; do
    export FAKE_HIP=${wrong%:*}
    meters fake_hip hip-other "${wrong#*:}" "$work/hip"
done
for release in 50700000 60200000 60300000 60400000 70000000 70200000; do
    export FAKE_HIP=$release
    age=
    [ $release -lt 70000000 ] || age=newer
    meters fake_hip hip-errors "$age" "$work/hip"
    meters fake_hip hip-refused "$age" "$work/hip"
    meters fake_hip hip-unread "$age" "$work/hip"
    what=
    for mode in hip-capture hip-bench; do
        run fake_hip $mode "$work/hip"
    done
    export FAKE_HIP_SHORT=1
    run fake_hip hip-short "$work/hip"
    unset FAKE_HIP_SHORT
done
unset FAKE_HIP
for f in hipGetDevice hipSetDevice hipGetDeviceCount hipEventQuery; do
    lacking libamdhip64.so.7 $f
    run fake_hip hip-none "$work/lacks"
done
for f in hipStreamGetDevice:w hipPeekAtLastError:o hipStreamIsCapturing:wo hipRuntimeGetVersion:o; do
    lacking libamdhip64.so.6 ${f%:*}
    cp "$work/lacks/libamdhip64.so.6" "$work/lacks/libamdhip64.so.7"
    [ $f != hipRuntimeGetVersion:o ] || export FAKE_HIP=ageless
    meters fake_hip hip-other "${f#*:}" "$work/lacks"
done
unset FAKE_HIP
run fake_hip hip-none ''

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
