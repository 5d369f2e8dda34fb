#!/bin/sh
# Do the in-kernel timers compile at run time, where a compiler gets the text of perf_kernel.h and nothing
# else: NVRTC (CuPy, PyTorch, JAX) and hipRTC?  From a plain C program, without a device.
. "$(dirname "$0")/../lib.sh"
need cc
start_work
here=$root/tests/kernel

try "rtc.c" cc -std=gnu99 -O1 -Wall -Wextra -Werror "$here/rtc.c" -o "$work/rtc" -ldl
[ "$failed" -eq 0 ] || finish

# library NAME FOLDER...: the newest file NAME* in the folders
library()
{
    name=$1
    shift
    for folder in "$@"; do
        # shellcheck disable=SC2012
        found=$(ls "$folder"/"$name"* 2>/dev/null | grep -v alt | tail -n 1)
        [ -z "$found" ] || { echo "$found"; return 0; }
    done
}

has() { grep -q -- "$1" "$work/ptx"; }
hasnt() { ! has "$1"; }
# compile KIND PROGRAM LIBRARY ...: what the library itself opens lies beside it
compile() { LD_LIBRARY_PATH=$(dirname "$3") "$work/rtc" "$@" >"$work/ptx"; }

cuda=$(dirname "$(find_nvcc || echo /usr/local/cuda/bin/nvcc)")/..
std=
for folder in "$cuda/include/cccl" "$cuda/include" /usr/local/cuda/include/cccl; do
    [ -n "$std" ] || [ ! -f "$folder/cuda/std/cstdint" ] || std=$folder
done

# nvrtc LIBRARY: every kind of program, without a word from the compiler
nvrtc()
{
    name=$(basename "$1")
    for arch in 75 90; do
        try "$name for $arch" compile nvrtc plain "$1" "$root" --gpu-architecture=compute_$arch
        for word in clock64 globaltimer smid st.global.v atom 'entry step'; do
            try "$name, $arch: $word in the PTX" has "$word"
        done
        try "$name, $arch: off" compile nvrtc plain "$1" "$root" --gpu-architecture=compute_$arch -DPERF_DISABLE=1
        try "$name, $arch: the kernel is there when off" has 'entry step'
        for word in clock globaltimer smid atom; do
            try "$name, $arch: no $word when off" hasnt "$word"
        done
    done
    for program in before behind; do
        try "$name: types of the program's own $program the header" compile nvrtc $program "$1" "$root" \
            --gpu-architecture=compute_90
    done
    [ -z "$std" ] || try "$name: <cuda/std/cstdint> behind the header" compile nvrtc std "$1" "$root" \
        --gpu-architecture=compute_90 --std=c++17 "-I$std" "-I$std/.."
}

# NVRTC of the toolkit, and those of CUDA 12 and 13 that ./check brings ($NVRTC: where else to look)
nvrtcs=
for folder in ${NVRTC:-} "$root"/build-cuda/nvrtc12 "$root"/build-cuda/nvrtc13; do
    found=$(find "$folder/" -name 'libnvrtc.so.*' 2>/dev/null | grep -v alt | head -n 1)
    nvrtcs="$nvrtcs $found"
done
nvrtcs="$nvrtcs $(library libnvrtc.so "$cuda/lib64" "$cuda/lib" /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu)"
tried_nvrtc=
for found in $nvrtcs; do
    nvrtc "$found"
    tried_nvrtc=1
done
[ -n "$tried_nvrtc" ] || echo "no libnvrtc: not tried"

hiprtc=$(library libhiprtc.so /opt/rocm/lib)
[ -n "$hiprtc" ] || hiprtc=$(library libamdhip64.so /opt/rocm/lib /usr/lib/x86_64-linux-gnu)
if [ -n "$hiprtc" ]; then
    for chip in gfx90a gfx1030; do
        try "hipRTC for $chip" compile hiprtc plain "$hiprtc" "$root" --gpu-architecture=$chip
        try "$chip: the kernel" has step
    done
else
    echo "no hipRTC: not tried"
fi
[ -n "$tried_nvrtc$hiprtc" ] || skip "neither libnvrtc nor hipRTC is installed"
finish
