#!/bin/sh
# Do the in-kernel timers compile for AMD's server and desktop devices, read the clocks and registers that
# each of them has, and leave no trace when off?
. "$(dirname "$0")/../lib.sh"
need hipcc cmp python3
start_work
objcopy=
for name in llvm-objcopy "$(ls /usr/lib/llvm-*/bin/llvm-objcopy /opt/rocm/llvm/bin/llvm-objcopy 2>/dev/null | head -n 1)"; do
    [ -n "$objcopy" ] || objcopy=$(command -v "$name") || true
done

# text NAME FLAG...: the machine code of the kernels to $work/NAME.text
text()
{
    name=$1
    shift
    try "$name for $chip" hipcc --offload-arch=$chip -O2 -I"$root" "$@" -x hip --cuda-device-only \
        --no-gpu-bundle-output -c "$root/tests/kernel/kernels.cu" -o "$work/$name.o"
    try "$name: its code" "$objcopy" -O binary --only-section=.text "$work/$name.o" "$work/$name.text"
}

has() { grep -q -- "$1" "$work/kernels.s"; }
hasnt() { ! has "$1"; }

# reads COMPILER...: its assembly for $chip has the clock of cycles, the common clock, and the unit's place
reads()
{
    scope=13 two=13.5
    [ "$chip" != gfx1100 ] || scope=12 two=12
    [ "$chip" != gfx1200 ] || scope=14 two=14   # two registers a reading
    [ "$1" != hipcc ] || scope=17 two=16.5      # clang 15 adds, compares and chooses
    case $chip in
    gfx9*)  cycles=s_memtime wall=s_memrealtime place='HW_REG_HW_ID, 8, 8' ;;
    gfx10*) cycles=s_memtime wall=s_memrealtime place='HW_REG_HW_ID1, 10, 11' ;;
    gfx11*) cycles=MSG_RTN_GET_REALTIME wall=$cycles place='HW_REG_HW_ID1, 10, 11' ;;
    *)      cycles=HW_REG_SHADER_CYCLES_HI wall=MSG_RTN_GET_REALTIME place='HW_ID1, 10, 11' ;;
    esac
    try "assembly for $chip" "$@" -x hip --offload-arch=$chip --cuda-device-only -O2 -nogpulib \
        -D__HIP_PLATFORM_AMD__ -I"$root" -S "$root/tests/kernel/kernels.cu" -o "$work/kernels.s"
    for word in "$cycles" "$wall" "$place"; do
        try "$chip: $word" has "$word"
    done
    try "$chip: no counter of 20 bits" hasnt 'HW_REG_SHADER_CYCLES[,)]'
    case $chip in
    gfx94* | gfx95*) try "$chip: its XCD" has 'HW_REG_XCC_ID, 0, 4' ;;
    *)               try "$chip: has no XCD" hasnt XCC_ID ;;
    esac
    clock=$cycles
    [ "$chip" != gfx1200 ] || clock=HW_REG_SHADER_CYCLES_LO         # one of three that it reads
    [ "$chip" = gfx1100 ] ||                                        # its two clocks are one
        try "$chip: what a scope loads" python3 "$root/tests/kernel/amd.py" "$work/kernels.s" inside again $clock
    try "bare assembly for $chip" "$@" -x hip --offload-arch=$chip --cuda-device-only -O2 -nogpulib -DBARE \
        -D__HIP_PLATFORM_AMD__ -I"$root" -S "$root/tests/kernel/kernels.cu" -o "$work/bare.s"
    echo "$chip"
    for limit in "loop 1 $scope" "loop2 2 $two" 'sumloop 1 5'; do
        # shellcheck disable=SC2086
        try "$chip: $limit" amd_count $limit
    done
}

# amd_count KERNEL SCOPES LIMIT, with what it says
amd_count() { python3 "$root/tests/kernel/amd.py" "$work/kernels.s" "$work/bare.s" "$@" >&3; }
exec 3>&1

for chip in gfx90a gfx1030; do
    for flags in '' -DPERF_DISABLE=1; do
        # shellcheck disable=SC2086
        try "kernels for $chip $flags" hipcc --offload-arch=$chip -O2 -Wall -Wextra -Werror \
            -I"$root" $flags -x hip -c "$root/tests/kernel/kernels.cu" -o "$work/kernels.o"
    done
    if [ -n "$objcopy" ]; then
        text on
        text off -DPERF_DISABLE=1
        text bare -DBARE
        try "$chip: off is off" cmp "$work/off.text" "$work/bare.text"
        try "$chip: on is on" [ "$(wc -c <"$work/on.text")" -gt "$(wc -c <"$work/bare.text")" ]
    fi
done
for chip in gfx90a gfx1030; do
    reads hipcc
done

# Devices that came after Debian's hipcc: clang 22, whose code the limits were counted on, with the headers
# of that hipcc, which ask for one word more.  (clang 19 knows no gfx950, adds and chooses as clang 15 does,
# and does not take those headers for gfx1100.)  AMD_CLANG names one that is elsewhere.
if clang=$(command -v "${AMD_CLANG:-clang-22}"); then
    for chip in gfx942 gfx950 gfx1100 gfx1200; do
        reads "$clang" -D__AMDGCN_WAVEFRONT_SIZE=64 -Wno-unused-command-line-argument
    done
else
    echo "no clang 22: gfx942, gfx950, gfx1100 and gfx1200 were not tried"
fi
finish
