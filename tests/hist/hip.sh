#!/bin/sh
# Does a HIP kernel that records into a histogram compile for AMD's server and desktop devices?
set -eu
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need hipcc
start_work
for chip in gfx90a gfx1030; do
    try "device.hip for $chip" hipcc --offload-arch=$chip -O2 -I"$root" -c \
        "$root/tests/hist/device.hip" -o "$work/device.o"
done
finish
