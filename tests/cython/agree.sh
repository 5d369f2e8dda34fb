#!/bin/sh
# Are cython/perfh/*.pxd what the headers say now?  And does the check see a change?
. "$(dirname "$0")/../lib.sh"
need clang python3
start_work

try 'declarations and headers agree (else run cython/generate.py)' \
    python3 "$root/cython/generate.py" --check

# A copy whose headers changed: a function has another name, a field and a macro are new.
mkdir -p "$work/copy/tests"
cp "$root"/perf*.h "$work/copy/"
cp "$root/tests/api.py" "$work/copy/tests/"
cp -r "$root/cython" "$work/copy/"
sed -i 's/perf_ticks_to_ns/perf_ticks_in_ns/
s/^    double rel_ci; /    double added; double rel_ci; /
s/^#define PERF_CLOCK_AUTO /#define PERF_ADDED 1\n&/' "$work/copy"/perf*.h
python3 "$work/copy/cython/generate.py" --check >"$work/changes" 2>&1 && fail 'the changed copy agrees'
for new in 'perf_ticks_in_ns' 'double added' 'PERF_ADDED'; do
    try "the change is seen: $new" grep -q "^+.*$new" "$work/changes"
done
finish
