#!/bin/sh
# Runs PROGRAM SCRATCH-FOLDER ARGUMENT...
. "$(dirname "$0")/../lib.sh"
start_work
program=${1:?which program?}
shift
"$program" "$work" "$@"
