#!/bin/sh
# Compiles a .cu example with nvcc or a .hip one with hipcc.  With a device runs it; without one it has to
# say so and end with 77.
#
#     tests/examples/cuda.sh FILE
. "$(dirname "$0")/../lib.sh"
# shellcheck source=tests/flags.sh
. "$root/tests/flags.sh"
# shellcheck disable=SC2086     # flag lists are split on purpose

case $1 in
*.hip)
    need hipcc
    start_work
    hipcc --offload-arch=gfx90a --offload-arch=gfx1030 -O2 -Wall -Wextra -Werror -I"$root" "$1" \
        -o "$work/example"
    device=/dev/kfd
    [ ! -e $device ] || hipcc -O2 -I"$root" "$1" -o "$work/example"
    ;;
*)
    need_nvcc
    start_work
    nvcc -O2 $warn_nvcc -I"$root" "$1" -o "$work/example"
    device=/dev/nvidia0
    ;;
esac
[ ! -e $device ] || exec "$root/tests/examples/run.sh" "$work/example"

status=0
(cd "$work" && ./example) >"$work/output" 2>&1 || status=$?
if [ $status -ne 77 ] || ! grep -q '^no [A-Z]* device' "$work/output" ||
    [ "$(wc -l <"$work/output")" -ne 1 ]; then
    cat "$work/output"
    echo "FAILED: without a device: status $status, not 77 and one line that says so"
    exit 1
fi
skip "compiled; says that there is no device"
