#!/bin/sh
# Do the in-kernel timers compile for AMD's server and desktop devices, and leave no trace when off?
. "$(dirname "$0")/../lib.sh"
need hipcc cmp
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
finish
