#!/bin/sh
# Compiles device.cu with nvcc and runs it.  Exit status 77 (skipped) without nvcc or a device.
set -eu
root=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if [ -r "$root/tests/lib.sh" ]; then
    # shellcheck source=tests/lib.sh
    . "$root/tests/lib.sh"
fi
nvcc=${NVCC:-$(command -v nvcc || true)}
if [ -z "$nvcc" ] || [ "$nvcc" = none ]; then
    echo "no nvcc"
    exit 77
fi
"$nvcc" -O2 -I "$root" "$root/tests/hist/device.cu" -o "$scratch/device"
"$scratch/device"
