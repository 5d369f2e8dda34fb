#!/bin/sh
# Clocks, energy, temperature and utilisation through NVML, found at run time: a stand-in for it.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
here=$root/tests/gpu
try "the fake NVML" gcc -DFAKE -O1 -fPIC -shared -fvisibility=hidden "$here/meters.c" -o "$work/libnvidia-ml.so.1"
try "the program" gcc -std=c99 -O1 -Wall -Wextra -Werror -I"$root" -I"$root/tests" "$here/meters.c" \
    -o "$work/meters" -ldl -lpthread
try "meters" env LD_LIBRARY_PATH="$work" "$work/meters"
finish
