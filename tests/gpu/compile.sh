#!/bin/sh
# The headers in .cu and .hip files: do they compile, without a warning, for every generation of
# devices, and does the program run to its end where there is no device?
#
#     tests/gpu/compile.sh nvcc|clang++|hipcc
. "$(dirname "$0")/../lib.sh"
. "$root/tests/flags.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose

compiler=${1:?which compiler?}
here=$root/tests/gpu
case $compiler in
nvcc)
    need_nvcc
    start_work
    chips=
    for sm in 75 80 90 100; do
        chips="$chips -gencode arch=compute_$sm,code=sm_$sm"
    done
    try "one.cu for sm_75, 80, 90, 100" nvcc $warn_nvcc -O2 $chips -I"$root" "$here/one.cu" \
        -o "$work/one"
    try "loops.cu for sm_75, 80, 90, 100" nvcc $warn_nvcc $chips -I"$root" "$here/loops.cu" \
        -o "$work/loops"
    try "loops.cu, off" nvcc $warn_nvcc -arch=sm_75 -DPERF_DISABLE=1 -I"$root" \
        "$here/loops.cu" -o "$work/off"
    if command -v clang++ >/dev/null; then      # as the host compiler, which then sees no headers
        for off in 0 1; do
            try "loops.cu, clang++ on the host, PERF_DISABLE=$off" nvcc -ccbin clang++ -arch=sm_75 -DPERF_DISABLE=$off \
                -Werror all-warnings -Xcompiler=-Wall,-Wextra,-Werror -I"$root" -c "$here/loops.cu" -o "$work/clang.o"
        done
    fi
    if [ ! -e /dev/nvidia0 ]; then
        for program in one loops off; do
            try "$program without a device" env LD_LIBRARY_PATH= "$work/$program"
        done
    fi
    ;;
clang++)
    need_nvcc
    need clang++
    start_work
    cuda=$(dirname "$(dirname "$(command -v nvcc)")")
    flags="-x cuda -std=c++17 -Wall -Wextra -Werror -Wno-unknown-cuda-version -nocudainc -nocudalib
        --cuda-path=$cuda -isystem $cuda/include -I$here -include clang_cuda.h -O2 -I$root"
    for file in one.cu loops.cu; do
        try "$file, host" clang++ $flags -O0 --cuda-host-only -c "$here/$file" -o "$work/f.o"
        for sm in 75 80; do
            try "$file for sm_$sm" clang++ $flags --cuda-device-only --cuda-gpu-arch=sm_$sm -S \
                "$here/$file" -o "$work/f.ptx"
        done
    done
    ;;
hipcc)
    need hipcc
    start_work
    for file in one.cu loops.cu; do
        try "$file for gfx90a, gfx1030" hipcc -x hip --offload-arch=gfx90a --offload-arch=gfx1030 \
            -O2 -Wall -Wextra -Werror -I"$root" -c "$here/$file" -o "$work/f.o"
    done
    try "the fake HIP" gcc -O1 -fPIC -shared -fvisibility=hidden -I"$root" "$here/fake_libamdhip64.c" \
        -o "$work/fake.so"
    try "table.hip" hipcc --offload-arch=gfx90a -O1 -Wall -Wextra -Werror -I"$root" "$here/table.hip" \
        -o "$work/table"
    try "table.hip on the fake HIP" env LD_PRELOAD="$work/fake.so" "$work/table"
    try "table.hip, a default stream per thread" hipcc --offload-arch=gfx90a -O1 -Wall -Wextra -Werror -DPER_THREAD \
        -fgpu-default-stream=per-thread -I"$root" "$here/table.hip" -o "$work/table"
    try "table.hip, per thread, on the fake HIP" env LD_PRELOAD="$work/fake.so" "$work/table"
    ;;
*)
    echo "unknown compiler: $compiler"
    exit 1
    ;;
esac
finish
