#!/bin/sh
# What a GPU scope costs beside the driver's own calls, in instructions under callgrind: in the
# program (two records and the question whether the stream is being captured are the driver's), and
# when it is fetched (the two questions for times are).  The counts are exact: nothing is counted that
# depends on the clock, as making sure of a context does.
#
#     tests/gpu/cost.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc" valgrind
start_work
cd "$work"

# instructions KIND N
instructions()
{
    valgrind --tool=callgrind --toggle-collect=counted --callgrind-out-file=/dev/null \
        ./cost "$1" "$2" >log 2>&1 || fail "cost $1 $2: a wrong count"
    sed -n 's/.*Collected : //p' log
}

# each KIND: of one round
each()
{
    echo $((($(instructions "$1" 15000) - $(instructions "$1" 5000)) / 100))    # hundredths
}

# at_most WHAT HUNDREDTHS LIMIT
at_most()
{
    tried=$((tried + 1))
    echo "$cc: $1: $(($2 / 100)) instructions (at most $3)"
    [ $(($2 / 100)) -le "$3" ] || fail "$1: $(($2 / 100)) instructions with $cc, more than $3"
}

try "cost.c with $cc" "$cc" -O2 -I"$root" "$root/tests/gpu/cost.c" -o cost
at_most "a scope" $(($(each scope) - $(each calls))) 50
at_most "its harvest" $(($(each harvest) - $(each asks))) 232     # clang 231, gcc 216
try "cost.c with $cc, nested" "$cc" -O2 -DNESTED -I"$root" "$root/tests/gpu/cost.c" -o cost
at_most "the harvest of a nested scope" $(($(each harvest) - $(each asks))) 380
finish
