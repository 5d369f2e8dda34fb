#!/bin/sh
# Compiles device.cu with nvcc and runs it.  Skipped without nvcc, or without a device to run it on.
. "$(dirname "$0")/../lib.sh"
need_nvcc
start_work
nvcc -O2 -I "$root" "$root/tests/hist/device.cu" -o "$work/device" || exit 1
"$work/device"
