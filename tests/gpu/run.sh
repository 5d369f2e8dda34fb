#!/bin/sh
# Everything that needs an NVIDIA GPU, in one command of less than ten minutes: builds it all with nvcc, runs
# the examples and the tests that use a device, and measures what only a device can tell (device.cu).
#
#     tests/gpu/run.sh [RESULTS.json]           default: bench/results/gpu-DATE.json
#
# Prints a line for each, and keeps the same in the file with date, GPU, driver and CUDA version.  Exit
# status: 0 all passed and every limit kept, 1 not, 77 no nvcc or no device (then it has compiled
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

# step NAME STATUS COMMAND...: runs it, at most 100 seconds, and all of them within 310 seconds of the
# start, so that device.cu has its 240; it has to end with STATUS (or 77: skipped).
set --
step()
{
    step_=$1 want_=$2
    shift 2
    status_=0
    left_=$((began + 310 - $(date +%s)))
    [ $left_ -lt 100 ] || left_=100
    if [ $left_ -lt 1 ]; then
        status_=124
        echo "no time left" >"$work/step.log"
    else
        timeout -k 5 $left_ "$@" >"$work/step.log" 2>&1 </dev/null || status_=$?
    fi
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

# What the examples print is what their readers see: keep it in the log of this run.
for name in $programs; do
    [ -e "$work/$name.built" ] || continue
    step "$name" 0 "$root/tests/examples/run.sh" "$work/$name"
    sed 's/^/    /' "$work/step.log"
    set -- "$@" --ran "$name" "$status_"
done
if [ -e "$work/transpose.built" ]; then         # a wrong answer is rejected however fast it is
    step 'transpose --broken' 1 "$work/transpose" --broken
    set -- "$@" --ran 'transpose --broken' "$status_"
fi
for test in "hist/device.sh $root" "together/together.sh cuda"; do
    # shellcheck disable=SC2086
    step "tests/${test%% *}" 0 "$root/tests/"$test
    set -- "$@" --ran "tests/${test%% *}" "$status_"
done

[ -e "$work/device.built" ] || exit 1
mkdir -p "$(dirname "$out")"
status=0
timeout -k 5 240 "$work/device" --json "$out" --date "$date" --driver "${driver:-unknown}" \
    --commit "$commit" "$@" || status=$?
echo "$(($(date +%s) - began)) s in all"
[ $bad -eq 0 ] || exit 1
exit $status
