#!/bin/sh
# Clocks, energy, temperature and utilisation through NVML or ROCm SMI, and roctx around a profile, all
# found at run time: stand-ins for them, good ones and bad ones.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
here=$root/tests/gpu
try "the fake meters" gcc -O1 -fPIC -shared -fvisibility=hidden "$here/fake_meters.c" -o "$work/libnvidia-ml.so.1"
cp "$work/libnvidia-ml.so.1" "$work/librocm_smi64.so.7"
try "the fake roctx" gcc -O1 -fPIC -shared "$root/tests/nvtx/roctx.c" -o "$work/librocprofiler-sdk-roctx.so.1"
try "the program" gcc -std=gnu99 -O1 -Wall -Wextra -Werror -I"$root" -I"$root/tests" "$here/meters.c" \
    -o "$work/meters" -ldl -lpthread
for whose in nvidia amd; do
    for wrong in nothing poor back twice absurd slow; do
        try "$whose, $wrong" env LD_LIBRARY_PATH="$work" FAKE_METERS=$wrong "$work/meters" $whose
    done
done
finish
