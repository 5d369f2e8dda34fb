#!/bin/sh
# Runs `write`, then has every format read by the tool it is for: formats.py.
#
#     tests/results/formats.sh PROGRAM [PERF-AB]
. "$(dirname "$0")/../lib.sh"
start_work
program=${1:?which program?}
"$program" "$work"
python3 "$(dirname "$0")/formats.py" "$work" ${2:+"$2"}
