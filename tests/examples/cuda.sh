#!/bin/sh
# Compiles a .cu example with nvcc and, where there is a device, runs it.
#
#     tests/examples/cuda.sh FILE.cu
. "$(dirname "$0")/../lib.sh"

need_nvcc
start_work
nvcc -O2 -I"$root" "$1" -o "$work/example"
[ -e /dev/nvidia0 ] || skip "compiled; no CUDA device to run it on"
exec "$root/tests/examples/run.sh" "$work/example"
