#!/bin/sh
# launcher.py with the packages of tests/python.txt.
#
#     tests/mpi/launcher.sh PERF-AB WORKER
. "$(dirname "$0")/../lib.sh"
need python3
exec python3 "$root/tests/mpi/launcher.py" "${1:?which perf-ab?}" "${2:?which worker?}"
