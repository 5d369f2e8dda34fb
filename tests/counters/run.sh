#!/bin/sh
# perf-ab run: instructions of commands, where a processor counts them (shim.c) and where none does.
#     run.sh PERF-AB
. "$(dirname "$0")/../lib.sh"
tool=$1
[ "$tool" != none ] || missing "perf-ab was not built: it needs Jansson"
case $tool in /*) ;; *) tool=$PWD/$tool ;; esac     # the build gives a path of its own folder
[ "$(uname -s)" = Linux ] || missing "counters are Linux' alone"
need gcc
start_work
cd "$work"

# asks STATUS WORD ARGUMENT...: perf-ab run with counters; its status and a line of what it says
asks()
{
    wanted=$1
    word=$2
    shift 2
    tried=$((tried + 1))
    status=0
    LD_PRELOAD=$work/shim.so "$tool" run "$@" >said 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: status $status, not $wanted: $(cat said)"
    grep -q -e "$word" said || fail "$*: no '$word' in: $(cat said)"
}

try 'a processor with counters' gcc -shared -fPIC -O1 "$root/tests/counters/shim.c" -o shim.so -ldl
a='echo 2000000 >count'
b='echo 1800000 >count'
asks 0 'instructions down by >= 5.0 %' --shell --accept 'instructions down >= 5 %' -- "$a" -- "$b"
grep -q '4000000 instr\|4e+06 instructions' said || fail "two millions of event 1: $(cat said)"
asks 1 REJECT --shell --accept 'instructions down >= 5 %' -- "$b" -- "$a"
asks 0 'cycles no more than 2.0 % worse' --shell --accept 'cycles no more than 2 % worse' -- "$a" -- "$b"
asks 1 REJECT --shell --accept 'branch-misses no more than 2 % worse' -- "$b" -- "$a"
asks 0 ACCEPT --shell --accept 'instructions down >= 5 %' --accept 'time no more than 400 % worse' -- "$a" -- "$b"
asks 0 '(instructions)' --shell --measure instructions --accept 'speedup >= 1.05' --save saved.json -- "$a" -- "$b"
# Equal counts in too few pairs for two rules: more pairs settle it, and no clock is to blame.
asks 2 'more pair' --pairs 7 --shell --accept 'instructions down >= 5 %' --accept 'p50 no more than 900 % worse' -- "$a" -- "$a "
grep -q 'too coarse' said && fail "a clock is blamed: $(cat said)"
NEVER=1 asks 3 'had no counter' --shell --measure cycles -- true -- true
tried=$((tried + 1))
"$tool" saved.json --accept 'instructions down >= 5 %' >said 2>&1 || fail "what was saved: $(cat said)"
tried=$((tried + 1))
"$tool" saved.json --accept 'cycles down >= 5 %' >said 2>&1 && fail "instructions as cycles: $(cat said)"
grep -q 'is in instructions: that is no such count' said || fail "instructions as cycles: $(cat said)"

# Where no counter is: a verdict, and why.  Machines that have them count, and then decide something.
status=0
tried=$((tried + 1))
"$tool" run --pairs 6 --accept 'instructions down >= 90 %' -- true -- true >said 2>&1 || status=$?
case $status in
2) grep -q 'INCONCLUSIVE: instructions cannot be counted: \|INCONCLUSIVE: 1 benchmark' said || fail "no reason: $(cat said)" ;;
1) ;;
*) fail "status $status: $(cat said)" ;;
esac

# refuses ERRNO WORD: a sandbox that answers the system call so is named, and nothing is run
refuses()
{
    tried=$((tried + 1))
    status=0
    ./refuse "$1" "$tool" run --accept 'instructions down >= 5 %' -- false -- false >said 2>&1 || status=$?
    [ "$status" -ne 77 ] || return 0                # no such filter here
    [ "$status" -eq 2 ] || fail "refused with $1: status $status: $(cat said)"
    grep -q "cannot be counted: .*$2" said || fail "refused with $1: no '$2' in: $(cat said)"
}

# results FILE INSTRUCTIONS MISSES: seven runs of a loop, with its counters, as the library saves them
results()
{
    comma=
    printf '{"perf_results": 1, "benchmarks": [' >"$1"
    for run in 1 2 3 4 5 6 7; do
        printf '%s{"name": "loop", "run": "%d", "unit": "ns", "design": "separate", "samples": [10, 11, 12],
"counters": {"instructions": %d, "branch misses": %s}}' "$comma" "$run" "$(($2 + run))" "$3" >>"$1"
        comma=,
    done
    printf ']}' >>"$1"
}

# compares STATUS WORD ARGUMENT...: perf-ab on two files
compares()
{
    wanted=$1
    word=$2
    shift 2
    tried=$((tried + 1))
    status=0
    "$tool" "$@" >said 2>&1 || status=$?
    [ "$status" -eq "$wanted" ] || fail "$*: status $status, not $wanted: $(cat said)"
    grep -q -e "$word" said || fail "$*: no '$word' in: $(cat said)"
}

results a.json 1000 0
results b.json 900 0.2
compares 2 'loop .*1004 instructions .*904 instructions .*-9.9' a.json b.json --accept 'instructions down >= 5 %'
compares 2 'would ACCEPT' a.json b.json --accept 'instructions down >= 5 %'
compares 2 'would REJECT' b.json a.json --accept 'instructions no more than 2 % worse'
compares 2 'time .*11' a.json b.json --accept 'instructions down >= 5 %' --accept 'time no more than 9 % worse'
compares 2 '0.01 branch misses .*0.2 branch misses' a.json b.json --accept 'branch-misses down >= 5 %'
compares 2 'INCONCLUSIVE: .*cycles were not counted' a.json b.json --accept 'cycles down >= 5 %'
compares 2 'INCONCLUSIVE: .*cycles were not counted' a.json b.json --accept 'p50 down >= 2 %' --accept 'cycles down >= 5 %'

try 'a sandbox' gcc -O1 "$root/tests/counters/refuse.c" -o refuse
refuses 1 'sandbox\|perf_event_paranoid'            # EPERM
refuses 13 'sandbox\|perf_event_paranoid'           # EACCES
refuses 38 'has no perf_event_open'                 # ENOSYS
refuses 2 'does not count it'                       # ENOENT
finish
