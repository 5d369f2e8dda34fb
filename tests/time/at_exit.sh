#!/bin/sh
# PERF_AT_EXIT: the environment asks for a report and a trace at the end of a program; without it
# nothing is printed.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
cd "$work"
cat > program.c <<'C'
#define PERF_AT_EXIT 1
#include "perf.h"
int main(void) { PERF_SCOPE("whole"); return 0; }
C
try "compiles" gcc -O2 -I"$root" program.c -o program
try "silent" test -z "$(./program 2>&1)"
try "silent at 0" test -z "$(PERF_REPORT=0 ./program 2>&1)"
try "silent at nothing" test -z "$(PERF_REPORT='' PERF_TRACE='' ./program 2>&1)"
PERF_REPORT=diagnosis ./program 2>diagnosis
try "PERF_REPORT=diagnosis" grep -q PERF_DIAGNOSIS diagnosis
for view in 1 tree csv json; do
    PERF_REPORT=$view ./program 2>"$view"
    try "PERF_REPORT=$view" grep -q whole "$view"
done
PERF_TRACE=t.json ./program
try "PERF_TRACE" grep -q whole t.json
try "a trace that cannot be written is said" test -n "$(PERF_TRACE=no/such/t.json ./program 2>&1)"
finish
