#!/bin/sh
# Everything that needs an NVIDIA GPU, in one command of less than eight minutes, offline: builds it all with
# nvcc, measures what only a device can tell (device.cu, the most important first), runs a scope and a bench
# under CUDA_LAUNCH_BLOCKING=1, compute-sanitizer and ncu, then the examples and the tests that use a device.
#
#     tests/gpu/run.sh [RESULTS.json]           default: bench/results/gpu-DATE.json
#
# Prints each result as it comes, goes on after a miss, and keeps the same in the file with date, GPU, driver
# and CUDA version, written anew with each result.  Exit status: 0 all passed and every limit kept, 1 not, 77 no nvcc or no device (then it has compiled
# everything, and seen each program say so).
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/flags.sh
. "$root/tests/flags.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose
need_nvcc
start_work
began=$(date +%s)
date=$(date -u +%Y-%m-%dT%H:%M:%SZ)
out=${1:-$root/bench/results/gpu-$(date -u +%Y%m%d-%H%M).json}
driver=$(nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1) || true
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null) || commit=unknown
bad=0

# build NAME COMMAND...: compiles in the background to $work/NAME
build()
{
    name=$1
    shift
    ("$@" -I"$root" -o "$work/$name" >"$work/$name.log" 2>&1 && : >"$work/$name.built") &
}

build device nvcc -O2 $warn_nvcc -std=c++17 -arch=native "$root/tests/gpu/device.cu"
programs=
for source in "$root"/examples/cuda/*.cu "$root"/tests/gpu/*.cu; do
    name=$(basename "$source" .cu)
    [ "$name" != device ] || continue
    programs="$programs $name"
    build "$name" nvcc -O2 $warn_nvcc -std=c++17 "$source"
done
build gpu_stream gcc -std=c99 -O2 "$root/examples/c/gpu_stream.c" -ldl
programs="$programs gpu_stream"
wait
# Without a device there is no native architecture.
if [ ! -e "$work/device.built" ]; then
    build device nvcc -O2 $warn_nvcc -std=c++17 "$root/tests/gpu/device.cu"
    wait
fi
for name in device $programs; do
    [ -e "$work/$name.built" ] && continue
    echo "FAILED: $name does not compile:"
    head -n 20 "$work/$name.log" | sed 's/^/    | /'
    bad=1
done
echo "built in $(($(date +%s) - began)) s"

# left SECONDS: no more than that, and no more than is left of 470 seconds
left()
{
    left_=$((began + 470 - $(date +%s)))
    [ $left_ -lt "$1" ] || left_=$1
    [ $left_ -gt 0 ] || left_=0
}

# step NAME STATUS SECONDS COMMAND...: runs it; it has to end with STATUS (or 77: skipped).
step()
{
    step_=$1 want_=$2 status_=0
    left "$3"
    shift 3
    if [ $left_ -lt 1 ]; then
        status_=124
        echo "no time left" >"$work/step.log"
    else
        timeout -k 5 $left_ "$@" >"$work/step.log" 2>&1 </dev/null || status_=$?
    fi
    printf '%-40s %8s %10s  %s\n' "$step_" "$want_" "$status_" \
        "$(case $status_ in "$want_") echo yes ;; 77) echo skipped ;; *) echo NO ;; esac)" >>"$work/table"
    [ $status_ -ne "$want_" ] || status_=0
    case $status_ in
    0) echo "$step_: passed" ;;
    77) echo "$step_: skipped" ;;
    *)
        echo "$step_: FAILED (status $status_)"
        tail -n 20 "$work/step.log" | sed 's/^/    | /'
        bad=1
        ;;
    esac
}

status=0
skipped=0
if [ -e "$work/device.built" ]; then
    mkdir -p "$(dirname "$out")"
    left 260
    timeout -k 5 $left_ "$work/device" --json "$out" --date "$date" --driver "${driver:-unknown}" \
        --commit "$commit" --seconds $((left_ - 10)) || status=$?
    [ $status -ne 77 ] || skipped=1
    [ $status -ne 124 ] || echo "FAILED: device.cu has not ended in $left_ s; what it found is in $out"
fi

# A scope and a bench where each launch is waited for, and under the tools that people use.
if [ -e "$work/device.built" ] && [ $skipped -eq 0 ]; then
    step 'CUDA_LAUNCH_BLOCKING=1' 0 30 env CUDA_LAUNCH_BLOCKING=1 "$work/device" --here brief
    sed 's/^/    /' "$work/step.log"
    # Only what is wrong with memory: an event that is asked too early is no fault.  In some sandboxes it
    # refuses the device.
    if command -v compute-sanitizer >/dev/null; then
        # shellcheck disable=SC2016
        step 'compute-sanitizer' 0 60 sh -c 'status=0
            compute-sanitizer --report-api-errors no --error-exitcode 9 "$1" --here brief >"$1.checked" 2>&1 ||
                status=$?
            cat "$1.checked"
            ! grep -q "Device not supported" "$1.checked" || exit 77
            exit $status' sh "$work/device"
    fi
    left 60
    if command -v ncu >/dev/null && [ $left_ -gt 0 ]; then      # may not be allowed to read counters: only told
        timeout -k 5 $left_ ncu --clock-control none --launch-count 3 "$work/device" --here brief \
            >"$work/step.log" 2>&1 </dev/null || echo "ncu: status $?"
        grep -e brief "$work/step.log" | sed 's/^/    /' || true
    fi
fi

# What the examples print is what their readers see: keep it in the log of this run.
for name in $programs; do
    [ -e "$work/$name.built" ] || continue
    step "$name" 0 60 "$root/tests/examples/run.sh" "$work/$name"
    sed 's/^/    /' "$work/step.log"
done
if [ -e "$work/transpose.built" ]; then         # a wrong answer is rejected however fast it is
    step 'transpose --broken' 1 60 "$work/transpose" --broken
fi
for test in "hist/device.sh $root" "together/together.sh cuda"; do
    # shellcheck disable=SC2086
    step "tests/${test%% *}" 0 100 "$root/tests/"$test
done

if [ -e "$work/table" ]; then
    printf '\n%-40s %8s %10s  %s\n' "beside them (exit status)" expected measured held
    cat "$work/table"
fi
echo "$(($(date +%s) - began)) s in all; results in $out"
[ $bad -eq 0 ] || exit 1
exit $status
