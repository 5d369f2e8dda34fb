#!/bin/sh
# Compiles device.cu with nvcc and runs it.  Exit status 77 (skipped) without nvcc or a device.
set -eu
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
# shellcheck source=tests/lib.sh
. "$root/tests/lib.sh"
need_nvcc
nvcc -O2 -I "$root" "$root/tests/hist/device.cu" -o "$scratch/device"
"$scratch/device"
