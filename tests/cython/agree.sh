#!/bin/sh
# Are cython/perfh/*.pxd what the headers say now?  And does the check see a change?
. "$(dirname "$0")/../lib.sh"
need clang python3
start_work

try 'declarations and headers agree (else run cython/generate.py)' \
    python3 "$root/cython/generate.py" --check

# A copy in which one header changed: a function gone, a field added, a macro added.
mkdir -p "$work/copy/tests"
cp "$root"/perf*.h "$work/copy/"
cp "$root/tests/api.py" "$work/copy/tests/"
cp -r "$root/cython" "$work/copy/"
for change in 's/perf_ticks_to_ns/perf_ticks_in_ns/' \
              's/^    double rel_ci; /    double added; double rel_ci; /' \
              's/^#define PERF_CLOCK_AUTO /#define PERF_ADDED 1\n&/'; do
    changed=no
    for header in $(headers); do
        sed "$change" "$root/$header" >"$work/copy/$header"
        cmp -s "$root/$header" "$work/copy/$header" || changed=yes
    done
    [ $changed = yes ] || fail "no header has what $change changes"
    try "the change $change is seen" sh -c '! python3 "$1/cython/generate.py" --check' - "$work/copy"
done
finish
