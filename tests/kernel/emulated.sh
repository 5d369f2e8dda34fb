#!/bin/sh
# The in-kernel timers' own machine code for an AMD device (gfx1100), run instruction by instruction on
# the RDNA3 emulator of tinygrad (github.com/tinygrad/tinygrad, a source folder):
#
#     TINYGRAD=/path/to/tinygrad tests/kernel/emulated.sh
#
# Skipped where there is none, or no clang that knows gfx1100 (AMD_CLANG names one that is elsewhere).
. "$(dirname "$0")/../lib.sh"
[ -f "${TINYGRAD:-/opt/tinygrad}/test/mockgpu/amd/emu.py" ] || skip "no RDNA3 emulator: TINYGRAD names its folder"
clang=$(command -v "${AMD_CLANG:-clang-22}" || command -v "${AMD_CLANG:-clang-19}") ||
    skip "no clang 22 or 19: AMD_CLANG names one"
need hipcc gcc python3                  # hipcc: its headers
here=$root/tests/kernel
start_work
# That hipcc's headers ask for one word more.
try "emulated.hip for gfx1100" "$clang" -x hip --offload-arch=gfx1100 --cuda-device-only --no-gpu-bundle-output \
    -O2 -nogpulib -D__AMDGCN_WAVEFRONT_SIZE=32 -D__HIP_PLATFORM_AMD__ -Wno-unused-command-line-argument \
    -I"$root" -I"$here" "$here/emulated.hip" -o "$work/kernels.co"
try "emulated.c" gcc -shared -fPIC -O1 -g -Wall -Wextra -Werror -I"$root" -I"$root/tests" "$here/emulated.c" \
    -o "$work/host.so"
[ "$failed" -eq 0 ] || finish
try "runs" python3 "$here/emulated.py" "${TINYGRAD:-/opt/tinygrad}" "$work/kernels.co" "$work/host.so"
finish
