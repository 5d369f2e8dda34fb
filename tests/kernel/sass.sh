#!/bin/sh
# What a timer inside a kernel costs, in instructions of the machine code that nvcc makes; and that
# with PERF_DISABLE=1 the code is, byte for byte, that of the kernel without timers.
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/flags.sh
. "$root/tests/flags.sh"
need_nvcc
need python3
start_work
here=$root/tests/kernel
cd "$work"

build()                                 # build ARCH OUTPUT FLAG...
{
    arch=$1 out=$2
    shift 2
    # shellcheck disable=SC2086
    try "$out for sm_$arch" nvcc $warn_nvcc -DPERF_KERNEL_HOST=0 -O3 -cubin -arch="sm_$arch" -I"$root" "$@" \
        "$here/kernels.cu" -o "$out.cubin"
}

count()                                 # count KERNEL LIMIT
{
    tried=$((tried + 1))
    python3 "$here/sass.py" pair "$1" "$2" on8.cubin 8 on40.cubin 40 bare8.cubin bare40.cubin ||
        fail "sm_$arch: $1"
}

# in_loop KERNEL SCOPES LIMIT
in_loop()
{
    tried=$((tried + 1))
    python3 "$here/sass.py" loop "$1" "$3" "$2" "$arch" on8.cubin bare8.cubin || fail "sm_$arch: $1"
}

# What nvcc 13.0 makes of it, moves between registers and waits counted.  6 is what a scope needs: two
# clock readings, its id, its end, its store, its address; where several follow each other some move once more.
[ $# -gt 0 ] || set -- 75 80 90 100 120
for arch in "$@"; do
    build $arch on8 -DN=8
    build $arch on40 -DN=40
    build $arch off8 -DN=8 -DPERF_DISABLE=1
    build $arch bare8 -DN=8 -DBARE
    build $arch bare40 -DN=40 -DBARE
    echo "sm_$arch"
    ring=7 one=6 two=7
    [ $arch -lt 90 ] || two=6.5
    [ $arch -ne 120 ] || ring=6 two=6
    count ring $ring
    count sum 5
    in_loop loop 1 $one
    in_loop loop2 2 $two
    in_loop sumloop 1 3
    try "sm_$arch: off is off" python3 "$here/sass.py" same off8.cubin bare8.cubin
    tried=$((tried + 1))
    ! python3 "$here/sass.py" same on8.cubin bare8.cubin >/dev/null ||
        fail "timers leave no trace when on: this test sees nothing"
done
finish
