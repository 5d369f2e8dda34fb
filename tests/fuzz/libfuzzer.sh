#!/bin/sh
# libfuzzer.sh TARGET [SECONDS]: libFuzzer on one target under ASan and UBSan, from its packed corpus
# and its seeds.  By hand it looks for so many seconds (60) where chance takes it; with CI=true it makes
# some 20 s of inputs from one seed, so that a failure is the change's.  An input that fails is saved, and
# printed in base64 where it is small; libFuzzer's own seed is in the log.  KEEP=1 keeps the corpus that
# has grown.
. "$(dirname "$0")/../lib.sh"

runs_of()                               # what 20 s are enough for on one of two busy cores
{
    case $target in
    hlog)    echo 200000 ;;
    kernel)  echo 50000 ;;
    merge)   echo 30000 ;;
    ops)     echo 13000 ;;
    results) echo 37000 ;;
    rule)    echo 7000000 ;;
    samples) echo 100000 ;;
    esac
}

target=$1
seconds=${2:-60}
[ "${CI:-}" = true ] || [ $# -gt 1 ] || skip "$seconds s a target are for CI=true; by hand: $0 $target $seconds"
need clang python3
start_work
echo 'int LLVMFuzzerTestOneInput(const unsigned char *p, unsigned long n) { return p && n ? 0 : 0; }' >"$work/none.c"
clang -fsanitize=fuzzer,address "$work/none.c" -o "$work/none" >"$work/output" 2>&1 &&
    "$work/none" -runs=1 >"$work/output" 2>&1 ||
    skip "clang -fsanitize=fuzzer does not work: $(tail -n 1 "$work/output")"
libs=
if [ "$target" = samples ]; then
    echo '#include <jansson.h>' | clang -fsyntax-only -x c - 2>/dev/null || missing "jansson.h is not installed"
    libs=-ljansson
fi

here=$root/tests/fuzz
seeds=$work/seeds
mkdir "$seeds" "$work/grown"
python3 "$here/pack.py" --unpack "$here/$target.pack" "$seeds"
case $target in
hlog | kernel | ops)
    mkdir "$work/all"
    clang -std=c99 -O1 -I "$root" "$here/seeds.c" -o "$work/seeds.exe"
    "$work/seeds.exe" "$root/tests/data/hlog" "$work/all"
    case $target in
    hlog) cp "$work/all"/log-* "$work/all"/V* "$work/all"/ours* "$seeds" ;;
    *)    cp "$work/all/$target"-* "$seeds" ;;
    esac ;;
merge)   cp "$here/trace.pftrace" "$seeds" ;;
results) cp "$root/tests/results/seed.json" "$seeds" ;;
samples) cp "$root"/tests/data/formats/*.* "$root/tests/results/seed.json" "$seeds" ;;
esac
# shellcheck disable=SC2086
clang -std=c99 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -I "$root" \
    "$here/$target.c" -o "$work/$target" $libs

saved=$root/build/fuzz
mkdir -p "$saved"
cd "$work"
set -- -max_total_time="$seconds"
fixed=
if [ "${CI:-}" = true ]; then           # the inputs depend on addresses and on the time, too
    set -- -max_total_time=150 -seed=1 -entropic=0 -reload=0 -runs="$(runs_of)"
    fixed="env -i setarch -R"
    $fixed true 2>/dev/null || fixed=
fi
status=0                                # a slow machine is no failure: only an endless input is
# shellcheck disable=SC2086
$fixed "$work/$target" "$@" -timeout=300 -rss_limit_mb=4096 -print_final_stats=1 \
    -artifact_prefix="$saved/$target-" grown seeds >"$work/log" 2>&1 || status=$?
grep -E 'INFO: (Seed|.*files found|seed corpus)|stat::number_of_executed' "$work/log" || true
tried=1
if [ "$status" -ne 0 ]; then
    sed -n "/ERROR: \|runtime error: \|$target.c: /,\$p" "$work/log" | head -n 40 | cut -c 1-200
    fail "$target: libFuzzer ended with $status"
    input=$(sed -n "s/.*Test unit written to //p" "$work/log" | tail -n 1)
    if [ -f "$input" ]; then
        echo "the input is $input; run it: clang -g -O1 -fsanitize=address,undefined -I." \
            "tests/fuzz/$target.c tests/fuzz/run.c -o $target $libs && ./$target $input"
        [ "$(wc -c <"$input")" -gt 8192 ] || { echo "the same in base64, for base64 -d:"; base64 "$input"; }
    fi
fi
finish
