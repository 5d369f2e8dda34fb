#!/bin/sh
# HIP code that runs on the host, by AMD's HIP-CPU (github.com/ROCm/HIP-CPU, headers; needs g++ and TBB):
#
#     HIP_CPU=/path/to/HIP-CPU tests/gpu/hip_cpu.sh
#
# Skipped where there is none.  TBB outside the compiler's folders: CPATH, LIBRARY_PATH, LD_LIBRARY_PATH.
. "$(dirname "$0")/../lib.sh"
[ -f "${HIP_CPU:-/opt/hip-cpu}/include/hip/hip_runtime.h" ] || skip "no HIP-CPU: HIP_CPU names its folder"
need g++
start_work
for standard in c++17 c++20; do
    try "hip_cpu.cpp, $standard" g++ -std=$standard -O2 -Wall -Wextra -Werror \
        -isystem "${HIP_CPU:-/opt/hip-cpu}/include" -I"$root" -I"$root/tests" "$root/tests/gpu/hip_cpu.cpp" \
        -o "$work/hip_cpu" -ltbb -lpthread
    try "runs, $standard" "$work/hip_cpu"
done
finish
