#!/bin/sh
# Do the in-kernel timers compile for AMD's server and desktop devices, and leave no trace when off?
. "$(dirname "$0")/../lib.sh"
need hipcc
start_work
for chip in gfx90a gfx1030; do
    for flags in '' -DPERF_DISABLE=1; do
        # shellcheck disable=SC2086
        try "kernels for $chip $flags" hipcc --offload-arch=$chip -O2 -Wall -Wextra -Werror \
            -I"$root" $flags -x hip -c "$root/tests/kernel/kernels.cu" -o "$work/kernels.o"
    done
done
finish
