#!/bin/sh
# What scopes cost, counted and not timed: instructions a scope under callgrind, bytes of text a call
# site, no sleep and no thread at the start.
#
#     tests/time/cost.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc" valgrind objdump
start_work
here=$root/tests/time
cd "$work"

# instructions KIND N: executed by N rounds of that kind
instructions()
{
    valgrind --tool=callgrind --callgrind-out-file=/dev/null ./cost "$1" "$2" 2>&1 |
        sed -n 's/.*Collected : //p'
}

# at_most KIND LIMIT: instructions above those of the empty loop, of one round.  Who is interrupted takes
# the cold path now and then: the least of up to four counts.
at_most()
{
    least=1000000
    for turn in 1 2 3 4; do
        a=$(instructions "$1" 10000)
        b=$(instructions "$1" 30000)
        spent=$((((b - a) - empty + 10000) / 20000))
        [ "$spent" -ge "$least" ] || least=$spent
        [ "$least" -gt "$2" ] || break
    done
    tried=$((tried + 1))
    echo "$cc: $1: $least instructions (at most $2, turn $turn)"
    [ "$least" -le "$2" ] || fail "$1 costs $least instructions with $cc, more than $2"
}

try "cost.c with $cc" "$cc" -O2 -I"$root" "$here/cost.c" -o cost
empty=$(($(instructions empty 30000) - $(instructions empty 10000)))
at_most scope 79
at_most event 90
at_most off 5
lap=111
[ "$cc" != gcc ] || [ "$(gcc -dumpversion | cut -d. -f1)" -lt 13 ] || lap=114    # and three for a clock set back below 0
at_most lap $lap                # six are the queue of buckets, eight the search by caller and name, three ask if the caller has ended, four the event without xadd
try "calls" "$cc" -O2 -DCALLS -I"$root" "$here/cost.c" -o cost
at_most again 340               # a call, and within it a recursive one
at_most callers 380             # four scopes, two of which were called from elsewhere before

try "one site" "$cc" -O2 -I"$root" -DSITES=1 -c "$here/cost.c" -o one.o
try "nine sites" "$cc" -O2 -I"$root" -DSITES=9 -c "$here/cost.c" -o nine.o
text()
{
    size -A "$1" | awk '/^\.text/ { n += $2 } END { print n }'
}
site=$((($(text nine.o) - $(text one.o)) / 8))
tried=$((tried + 1))
echo "$cc: $site bytes of text a site (at most 100)"
[ "$site" -le 100 ] || fail "a site takes $site bytes of text with $cc"

if command -v strace >/dev/null; then
    tried=$((tried + 1))
    strace -f -o calls ./cost scope 1
    ! grep -E 'sleep|clone|nanosleep|ppoll' calls || fail "a start with a wait or a thread"
fi
finish
