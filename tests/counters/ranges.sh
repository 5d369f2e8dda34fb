#!/bin/sh
# Scopes that are ranges of a profiler and shall be counted, too: with a tool the ranges have them, all
# of them, and that is said; without one they are counted.
. "$(dirname "$0")/../lib.sh"
need gcc
start_work
cd "$work"
gcc -O1 -shared -fPIC "$root/tests/nvtx/roctx.c" -o libroctx64.so

# says WORD COMMAND...: it ends well and says so, or with !WORD does not
says()
{
    word=$1
    shift
    tried=$((tried + 1))
    rm -f log
    env NVTX_LOG=log "$@" >said 2>&1 || fail "$*: status $?"
    case $word in
    !*) ! grep -q -e "${word#!}" said || fail "$*: '${word#!}' in: $(cat said)" ;;
    *) grep -q -e "$word" said || fail "$*: no '$word' in: $(cat said)" ;;
    esac
}

# pairs COUNT: so many ranges were begun, and as many ended
pairs()
{
    tried=$((tried + 1))
    [ "$(grep -c '	push	' log)" = "$1" ] && [ "$(grep -c '	pop	' log)" = "$1" ] || fail "not $1 ranges: $(cat log)"
}

# both PROGRAM TOOL...: the variables of the environment that attach the tool
both()
{
    program=$1
    shift
    says 'a profiler has the scopes, they count nothing' PERF_COUNTERS=1 "$@" "./$program"
    pairs 20
    says '!counted, of a call' PERF_COUNTERS=1 "$@" "./$program"
    says 'start: 7' "$@" "./$program" call
    pairs 40
    says 'loop: 7' "$@" "./$program" call
    says '!a profiler has the scopes' PERF_COUNTERS=1 "./$program"
    says 'counted, of a call' PERF_COUNTERS=1 "./$program"
    says 'start: 0' "./$program" call
    says 'loop: 0' "./$program" call
    says 'counted, of a call' "./$program" call
}

try "ranges.c, roctx" gcc -std=gnu99 -O1 -Wall -Wextra -DPERF_ROCTX=1 -I"$root" "$root/tests/counters/ranges.c" -o roctx -ldl
both roctx LD_LIBRARY_PATH=.
if nvtx=$(find_nvtx); then
    try "inject.c" gcc -O1 -shared -fPIC -I"$nvtx" "$root/tests/nvtx/inject.c" -o inject.so -ldl
    try "ranges.c, nvtx" gcc -std=gnu99 -O1 -Wall -Wextra -DPERF_NVTX=1 -I"$root" -isystem "$nvtx" "$root/tests/counters/ranges.c" -o nvtx -ldl
    both nvtx NVTX_INJECTION64_PATH="$work/inject.so"
fi
finish
