#!/bin/sh
# examples/cython as its first comment says, and the defects that its verdicts must see.
. "$(dirname "$0")/lib.sh"
need gcc
need_python Cython mesonpy setuptools numpy
start_work
install_perfh

cp -r "$root/examples/cython" "$work/example"
cd "$work/example"
try 'build_ext' python3 setup.py build_ext --inplace
python3 -c 'import sums; sums.main()' >"$work/out" 2>&1 || fail 'main() failed'
cat "$work/out"
for line in '^memoryview against naive: ACCEPT: speed-up' \
            '^numpy against memoryview: (ACCEPT|REJECT|INCONCLUSIVE): ' \
            '^main +1 ' '^naive +1 ' '^numpy +1 ' '^memoryview +[0-9]+ ' \
            '^  memoryview, candidate' '^  numpy, baseline'; do
    try "its output: $line" grep -Eq "$line" "$work/out"
done
try 'a slower, a wrong and a raising candidate' python3 -c '
import numpy as np
import sums
x = np.ones(2000)
assert sums.ask("slower", sums.memoryview, sums.naive, 1.3, x)[0] == "REJECT"
wrong = sums.ask("wrong", sums.naive, lambda x: 2 * sums.memoryview(x), 1.3, x)
assert wrong[0] == "REJECT", wrong
calls = []
def raises(x):
    calls.append(1)
    if len(calls) > 50:
        raise ValueError("as planned")
    return sums.memoryview(x)
try:
    sums.ask("raises", sums.memoryview, raises, 1.3, x)
except ValueError:
    pass
else:
    raise SystemExit("the exception was swallowed")
assert sums.ask("after it", sums.naive, sums.memoryview, 10, x)[0] == "ACCEPT"'
finish
