#!/bin/sh
# examples/c/gpu_stream.c as it is, on the simulated driver: it finds the library, and measures what the
# simulated device does.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
try "the driver" gcc -O1 -shared -fPIC -I"$root" "$root/tests/examples/fake_driver.c" \
    -o "$work/libcuda.so.1"
try "the example" gcc -std=c99 -O2 -I"$root" "$root/examples/c/gpu_stream.c" -o "$work/gpu_stream" -ldl
try "runs" env LD_LIBRARY_PATH="$work" "$work/gpu_stream"
cp "$work/output" "$work/said"
# 64 MiB at 3,000 GB/s are 22.37 us.
for line in '^100 fills: 22\.[34][0-9] us each on the device' '^fill of 64 MiB: 22\.[34][0-9] us' ; do
    try "says $line" grep -q "$line" "$work/said"
done
[ $failed -eq 0 ] || cat "$work/said"
finish
