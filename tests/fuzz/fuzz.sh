#!/bin/sh
# fuzz.sh ROOT [INPUTS]: a fixed number of mutated inputs through each fuzz target that needs no library,
# under ASan and UBSan.  libfuzzer.sh runs them by libFuzzer; for AFL++, with the seeds that this leaves in
# SEEDS=folder:
#   afl-clang-fast -O1 -I. tests/fuzz/hlog.c tests/fuzz/run.c -o hlog && afl-fuzz -i seeds -o out -- ./hlog @@
set -eu
root=$1
inputs=${2:-200000}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seeds=${SEEDS:-$scratch/seeds}
cc=${CC:-cc}
mkdir -p "$seeds"
"$cc" -std=c99 -O1 -I "$root" "$root/tests/fuzz/seeds.c" -o "$scratch/seeds.exe"
"$scratch/seeds.exe" "$root/tests/data/hlog" "$seeds"
passed=0
printf 'latency p95 down >= 20 %% on memory' >"$seeds/rule"
for target in hlog kernel ops rule; do
    "$cc" -std=c99 -g -O1 -fsanitize=address,undefined -fno-sanitize-recover=all -I "$root" \
        "$root/tests/fuzz/$target.c" "$root/tests/fuzz/run.c" -o "$scratch/$target"
    n=$inputs
    case $target in
    hlog)   set -- "$seeds"/log-* "$seeds"/V* "$seeds"/ours* ;;
    kernel) set -- "$seeds"/kernel-*; n=$((inputs / 10)) ;;         # each writes a file
    ops)    set -- "$seeds"/ops-*; n=$((inputs / 20)) ;;            # each clears some hundred KB
    rule)   set -- "$seeds/rule" ;;
    esac
    set -- "$@" "$root/tests/fuzz/$target.pack"
    if "$scratch/$target" -n "$n" "$@" > "$scratch/out" 2>&1; then
        echo "$target: $n inputs, clean"
        passed=$((passed + 1))
    else
        tail -n 30 "$scratch/out"
        echo "$passed passed, 1 failed"
        exit 1
    fi
done
echo "$passed passed, 0 failed"
