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
compile() { "$work/rtc" "$@" >"$work/ptx"; }

cuda=$(dirname "$(find_nvcc || echo /usr/local/cuda/bin/nvcc)")/..
nvrtc=$(library libnvrtc.so "$cuda/lib64" "$cuda/lib" /usr/local/cuda/lib64 /usr/lib/x86_64-linux-gnu)
if [ -n "$nvrtc" ]; then
    for arch in 75 90; do
        try "NVRTC for $arch" compile nvrtc "$nvrtc" "$root" --gpu-architecture=compute_$arch
        for word in clock64 globaltimer smid st.global.v atom 'entry step'; do
            try "$arch: $word in the PTX" has "$word"
        done
        try "$arch: off" compile nvrtc "$nvrtc" "$root" --gpu-architecture=compute_$arch -DPERF_DISABLE=1
        try "$arch: the kernel is there when off" has 'entry step'
        for word in clock globaltimer smid atom; do
            try "$arch: no $word when off" hasnt "$word"
        done
    done
else
    echo "no libnvrtc: not tried"
fi

hiprtc=$(library libhiprtc.so /opt/rocm/lib)
[ -n "$hiprtc" ] || hiprtc=$(library libamdhip64.so /opt/rocm/lib /usr/lib/x86_64-linux-gnu)
if [ -n "$hiprtc" ]; then
    for chip in gfx90a gfx1030; do
        try "hipRTC for $chip" compile hiprtc "$hiprtc" "$root" --gpu-architecture=$chip
        try "$chip: the kernel" has step
    done
else
    echo "no hipRTC: not tried"
fi
[ -n "$nvrtc$hiprtc" ] || skip "neither libnvrtc nor hipRTC is installed"
finish
