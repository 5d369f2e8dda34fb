#!/bin/sh
# What a GPU scope costs beside the driver's own calls, in instructions under callgrind: in the
# program (two records and the question whether the stream is being captured are the driver's), and
# when it is fetched (the two questions for times are).
#
#     tests/gpu/cost.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc" valgrind
start_work
cd "$work"

# instructions KIND N: within counted()
instructions()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=counted ./cost "$1" "$2" >log 2>&1 ||
        fail "cost $1 $2: a wrong count"
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
calls=$(each calls)
scope=$(each scope)
asks=$(($(each asks) - scope))
harvest=$(($(each harvest) - scope))
at_most "a scope" $((scope - calls)) 50
case $cc in clang*) most=252 ;; *) most=232 ;; esac     # a duration and its event are two calls
at_most "its harvest" $((harvest - asks)) $most         # three ask whether its length has a counter
try "cost.c with $cc, nested" "$cc" -O2 -DNESTED -I"$root" "$root/tests/gpu/cost.c" -o cost
at_most "the harvest of a nested scope" $(($(each harvest) - $(each asks))) 380
finish
