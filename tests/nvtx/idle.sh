#!/bin/sh
# What PERF_NVTX 1 costs while no tool is attached: a scope no instruction (callgrind), a file without
# PERF_NVTX 1 no text.
#
#     tests/nvtx/idle.sh gcc|clang
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc" valgrind
nvtx=$(find_nvtx) || missing "nvtx3/nvToolsExt.h, of the CUDA toolkit, is not installed"
start_work
here=$root/tests/nvtx
unset NVTX_INJECTION64_PATH NVTX_INJECTION32_PATH
cd "$work"

count()                                 # count PROGRAM KIND ROUNDS: in the function of that name
{
    valgrind --tool=callgrind --toggle-collect="$2" --callgrind-out-file=/dev/null "./$1" "$2" "$3" 2>&1 |
        sed -n 's/.*Collected : //p'
}

each()                                  # each PROGRAM KIND: instructions of one round
{
    with=$(($(count "$1" "$2" 30000) - $(count "$1" "$2" 10000)))
    without=$(($(count "$1" empty 30000) - $(count "$1" empty 10000)))
    echo $(((with - without + 10000) / 20000))
}

try "on" "$cc" -O2 -I"$root" -isystem "$nvtx" -DPERF_NVTX=1 "$here/idle.c" -o on -ldl
try "off" "$cc" -O2 -I"$root" "$here/idle.c" -o off
[ "$failed" -eq 0 ] || finish
# A duration that is a new extreme takes another way, so the mean may round up or down, and a busy machine
# has more of them: up to five turns.
for turn in 1 2 3 4 5; do
    on=$(each on scope) off=$(each off scope)
    echo "$cc: a scope: $on instructions with PERF_NVTX 1, $off without (turn $turn)"
    [ "$on" -gt $((off + 1)) ] || break
done
try "a scope costs the same" [ "$on" -le $((off + 1)) ]

# A file that only includes both headers has no text at all, one that does not ask no NVTX symbol.
echo '#include "perf_nvtx.h"' >unused.c
try "unused.c" "$cc" -O2 -I"$root" -c unused.c -o unused.o
try "no text" [ "$(size unused.o | awk 'NR == 2 { print $1 + $2 }')" = 0 ]
try "idle.o" "$cc" -O2 -I"$root" -c "$here/idle.c" -o idle.o
try "no symbol of NVTX" sh -c '! nm idle.o | grep -i "nvtx\(Global\|Init\)"'
finish
