#!/bin/sh
# Runs PROGRAM SCRATCH-FOLDER ARGUMENT...  In memory where there is room: fsync waits for a disk.
. "$(dirname "$0")/../lib.sh"
room=$(df -Pk /dev/shm 2>/dev/null | awk 'END { print int($4 / 1024) }')
if [ -w /dev/shm ] && [ "${room:-0}" -ge 256 ]; then
    TMPDIR=/dev/shm
fi
start_work
program=${1:?which program?}
shift
"$program" "$work" "$@"
