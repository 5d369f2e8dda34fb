#!/bin/sh
# The harness as its user meets it: a program of three files, its options, its output, its status.
. "$(dirname "$0")/../lib.sh"
. "$root/tests/flags.sh"
need gcc g++ valgrind
start_work
cd "$work" || exit 1
export PERF_MACHINE=test

cat >one.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(mul)
{
    double x = 1;
    while (perf_bench_next(&b)) {
        x *= 1.0000001;
        perf_keep(x);
    }
}
PERF_BENCH_N(steps, 16, 4096)
{
    size_t i;
    while (perf_bench_next(&b))
        for (i = 0; i < n; i++)
            perf_clobber();
}
C
cat >two.c <<'C'
#ifdef PERF_MAIN
#include "perf_main.h"
#else
#include "perf_bench.h"
#endif
PERF_BENCH_THREADS(spin, 1, 2)
{
    double x = (double)thread;
    perf_bench_rates(&b, 8, 1);
    while (perf_bench_next(&b)) {
        x += 1;
        perf_keep(x);
    }
}
PERF_BENCH(forgotten)
{
}
PERF_BENCH(ends)
{
    double x = 1;
    while (perf_bench_next(&b)) {
        x *= 1.0000001;
        perf_keep(x);
    }
    perf_bench_end(&b);
}
PERF_BENCH(slow)
{
    long i;
    while (perf_bench_next(&b))
        for (i = 0; i < 3000000; i++)
            perf_clobber();
}
PERF_BENCH_N(down, 64, 4)
{
    size_t i;
    while (perf_bench_next(&b))
        for (i = 0; i < n; i++)
            perf_clobber();
}
PERF_BENCH_THREADS(fewer, 2, 1)
{
    double x = (double)thread + (double)threads;
    while (perf_bench_next(&b)) {
        x += 1;
        perf_keep(x);
    }
}
C
cat >three.cpp <<'C'
#include "perf_bench.h"
#include <map>
#include <vector>
PERF_BENCH(from_cxx)
{
    std::vector<int> v(16);
    while (perf_bench_next(&b)) {
        v[3]++;
        perf_keep(v.data());
    }
}
template <class Type> struct filled {
    std::vector<Type> v;
    filled() : v(16) {}
};
PERF_BENCH_T(each_type, int, std::vector<long>, std::map<int, std::vector<char> >)
{
    T value = T();
    while (perf_bench_next(&b))
        perf_keep(value);
}
PERF_BENCH_F(filled<short>, of_fixture)
{
    perf_bench_rates(&b, 2, 1);
    while (perf_bench_next(&b)) {
        v[3]++;
        perf_keep(v.data());
    }
    if (v[3] == 0)
        perf_bench_fail(&b, "nothing ran");
}
C

# build COMPILER C++-COMPILER FLAGS...: the program
build()
{
    cc_=$1 cxx_=$2
    shift 2
    # shellcheck disable=SC2086
    try "$cc_ compiles one.c" "$cc_" -std=c99 $warn_c "$@" -I"$root" -c one.c -o one.o
    # shellcheck disable=SC2086
    try "$cc_ compiles two.c" "$cc_" -std=c99 $warn_c "$@" -I"$root" -c two.c -o two.o
    # shellcheck disable=SC2086
    try "$cxx_ compiles three.cpp" "$cxx_" -std=c++11 $warn_cxx "$@" -I"$root" -c three.cpp -o three.o
    try "$cxx_ links" "$cxx_" "$@" one.o two.o three.o -o bench
}

# run STATUS WORDS OPTION...: exit status, and an extended regular expression in the output
run()
{
    want_=$1 words_=$2 status_=0
    shift 2
    tried=$((tried + 1))
    timeout 60 ./bench "$@" >out 2>err </dev/null || status_=$?
    cat out err >both
    if [ "$status_" -ne "$want_" ] || ! grep -Eq -- "$words_" both; then
        fail "bench $*: status $status_, wanted $want_ and '$words_'"
        head -n 20 both
    fi
}

build gcc g++ -O1
# shellcheck disable=SC2086
try 'perf_main.h before perf.h, in the file with main()' gcc -std=c99 $warn_c -DPERF_MAIN=1 \
    -I"$root" two.c -o alone

# names, in the order of files and lines
run 0 '^mul$' --list
printf '%s\n' mul steps spin forgotten ends slow down fewer from_cxx 'each_type<int>' 'each_type<std::vector<long>>' \
    'each_type<std::map<int, std::vector<char> >>' of_fixture >names
try '--list has all, once' cmp names out
run 0 '^steps$' --list --filter '^s'
printf 'steps\nspin\nslow\n' >names
try '--filter ^s' cmp names out
run 0 '^from_cxx$' --list --filter=cxx
run 0 'GB/s, .*items/s' --filter of_fixture --budget 0.01 --no-env
run 0 '^each_type<int> ' --filter 'each_type<int>' --budget 0.01 --no-env
run 0 '^from_cxx$' --list --filter=cxx
try 'a plain text matches inside' test "$(wc -l <out)" -eq 1
run 0 '^steps/256 ' --filter steps/256 --filter 'down/(8|16)$' --budget 0.01 --no-env
try 'one entry of a sweep' test "$(grep -o '^[a-z]*/[0-9]*' out | tr '\n' ' ')" = 'steps/256 down/8 down/16 '
run 0 '^mul$' --list --filter 'm.l'
run 2 'no benchmark is called like nothing' --filter nothing
run 0 '^steps$' --list --filter '^(steps|sp.n)$' --filter 'm.l'
printf 'mul\nsteps\nspin\n' >names
try 'two filters, one of them a regular expression' cmp names out
run 2 'needs a text or a pattern' --list --filter '['

# usage
run 0 '^usage: .*OPTION' --help
try 'help is standard output' test -s out
for wrong in --nonsense --repeat=0 --repeat=x --repeat=1.5 --budget=-1 --budget= \
             --threads=257 --min-time=0 --format=xml --accept=nonsense --json= --filter= mul; do
    run 2 '^usage: ' "$wrong"
    try "$wrong: nothing on standard output" test ! -s out
    try "$wrong: what is wrong stays on the screen" test "$(wc -l <err)" -le 3
done
run 2 'usage: ' --repeat
run 2 'benchmarks measure time and counts, not .memory down >= 10 %' --accept 'memory down >= 10 %' --compare base.json
run 2 '[-]-format needs --output FILE' --format google
another='[-]-output needs another file than --compare, --add and --save, not .same'
run 2 "$another" --json same --add same --filter mul --budget 0.02
run 2 "$another" --output same --compare same --add other
run 2 "$another" --output same --format google --save same --filter mul --budget 0.02
run 2 'measures nothing that could go into the baseline .same' --profile --save same --filter mul
run 2 'measures nothing that could go into the baseline .same' --profile --add same --filter mul
try 'nothing was written' test ! -e same

# running
run 0 '^environment: [0-9]+ x ' --filter mul --budget 0.05
try 'a row' grep -Eq '^mul +[0-9.]+ [nu]s \[' out
try 'no progress where there is no terminal' test ! -s err
run 0 '^mul' --filter mul --budget 0.05 --no-env
try '--no-env' sh -c '! grep -q environment both'
run 0 '^mul' --filter mul --budget 0.05 --repeat 3
try '--repeat 3' test "$(grep -c '^mul' out)" -eq 3
# which law it names hangs on the machine: complexity.c has times of known growth
run 0 '^  steps: (O\(|no fit)' --filter steps --budget 0.05
try '9 sizes' test "$(grep -c '^steps/' out)" -eq 9
for i in 1 2 3 4 5 6 7 8; do
    run 0 '^(mul|ends|from_cxx)' --filter '^(mul|ends|from_cxx)$' --shuffle --budget 0.005 --no-env
    sed -n 's/^\([a-z_]*\) *[0-9.~].*/\1/p' out | tr '\n' ' ' >>orders
    echo >>orders
done
try '--shuffle: more than one order' test "$(sort -u orders | wc -l)" -gt 1
try '--shuffle: each once' test "$(grep -c mul orders)$(grep -c ends orders)$(grep -c from_cxx orders)" = 888
run 0 '^    [0-9.]* GB/s.* items/s' --filter spin --budget 0.05
try 'each thread' test "$(grep -c '^  thread [01] ' out)" -eq 2
run 0 '^spin/threads:4 ' --filter spin --threads 4 --budget 0.05
try 'each of 4 threads' test "$(grep -c '^  thread [0-3] ' out)" -eq 4
run 2 'forgotten +not measured: no data' --filter forgotten
run 0 '^ends +[0-9.]+ [nu]s \[' --filter ends --budget 0.05         # the body ended its own copy
run 0 '^down/64 ' --filter down --budget 0.02                       # from either end
try '5 sizes, rising' test "$(sed -n 's,^down/\([0-9]*\) .*,\1,p' out | tr '\n' ' ')" = '4 8 16 32 64 '
run 0 '^fewer/threads:2 ' --filter fewer --budget 0.02
try '1 thread, then 2' test "$(sed -n 's,^fewer/threads:\([0-9]*\) .*,\1,p' out | tr '\n' ' ')" = '1 2 '
run 0 '^ +(cpu|wall) time decides: .*; (cpu|wall) [0-9]' --filter slow --budget 0.05
others=
for i in 1 2 3 4; do
    timeout 60 sh -c 'while :; do :; done' &            # ends by itself, should this script not
    others="$others $!"
done
run 0 '^ +(cpu|wall) time decides: ' --filter slow --budget 0.2 --json r.json
# shellcheck disable=SC2086
kill $others || true                            # one that ended by itself is no matter
cat >decides.py <<'P'
import json, re, statistics, sys
text = open("out").read()
clock = re.search(r"^ +(cpu|wall) time decides: ", text, re.M)[1]
shown = re.search(r"^slow +([0-9.]+) (us|ms|s) ", text, re.M)
shown = float(shown[1]) * {"us": 1e3, "ms": 1e6, "s": 1e9}[shown[2]]
b = json.load(open("r.json"))["benchmarks"][0]
assert b["decides"] == clock, b
for p50 in b["summary"]["p50"], statistics.median(b["samples"]):
    assert abs(p50 / shown - 1) < 0.01, (p50, shown)
P
try 'the row and the file: the same clock, the same times' python3 decides.py
run 0 '^slow .* ~[0-9.]+ [mu]?s +~[0-9.]+ [mu]?s ' --filter slow --budget 0.05      # too few slices

# files
run 0 '^mul' --filter 'm.*l' --budget 0.05 --json r.json
try 'JSON' python3 -c 'import json; d = json.load(open("r.json"));
assert [b["name"] for b in d["benchmarks"]] == ["mul"] and d["runs"][0]["machine"] == "test", d'
run 0 '^mul' --filter mul --budget 0.05 --json -
try 'JSON on standard output, and nothing else' python3 -c 'import json; json.load(open("out"))'
run 0 '^mul' --filter mul --budget 0.05 --output r.google --format google
try 'Google Benchmark' grep -q '"run_name":"mul"' r.google
run 0 '^mul' --filter mul --budget 0.05 --output r.go --format go
try 'Go text' grep -q '^BenchmarkMul	' r.go
run 0 '^spin' --filter spin --budget 0.02 --json r.json
try 'threads in JSON: each, and merged' python3 -c 'import json; d = json.load(open("r.json"))
b = {b["name"]: len(b["samples"]) for b in d["benchmarks"]}
assert b["spin/threads:2"] == b["spin/threads:2 #0"] + b["spin/threads:2 #1"], b'
run 2 'no/such/r.json: input/output error' --filter mul --budget 0.02 --json no/such/r.json
[ ! -e /dev/full ] || run 2 '/dev/full: input/output error' --filter mul --budget 0.02 --json /dev/full
if [ -e /dev/full ]; then
    status=0
    ./bench --filter mul --budget 0.02 >/dev/full 2>err || status=$?
    try 'a table that cannot be written' test "$status" -eq 2
    status=0
    ./bench --help >/dev/full 2>err || status=$?
    try 'a help that cannot be written' test "$status" -eq 2
fi

# baselines: the numbers are planted, so that no clock decides
run 2 'base.json: no such file' --filter mul --budget 0.02 --compare base.json
run 0 '^mul' --filter mul --budget 0.02 --save base.json
run 0 'fewer than 6 saved runs' --filter mul --budget 0.02 --compare base.json
for i in 2 3 4 5 6; do
    run 0 '^mul' --filter mul --budget 0.02 --add base.json
done
run 0 'baseline: 6 runs of this machine and build' --filter mul --budget 0.02 --compare base.json \
    --accept 'no regression beyond 900 %'
# plant FACTOR: the saved times times that
cat >plant.py <<'P'
import json, sys
d = json.load(open("base.json"))
for i, b in enumerate(d["benchmarks"]):
    b["samples"] = [float(sys.argv[1]) * (1 + 0.001 * (i % 3)) for x in b["samples"]]
for i, r in enumerate(d["runs"]):
    r["time"] -= 86400 * (6 - i)
json.dump(d, open("planted.json", "w"))
P
plant()
{
    try "planted times $1" python3 plant.py "$1"
}
plant 0.001
run 1 '^REJECT: 1 entry, 0 ACCEPT, 1 REJECT' --filter mul --budget 0.02 --compare planted.json \
    --save anew.json --output result.json
try 'a REJECT is marked' grep -q '"level":"rejected"' result.json
try '--save accepts it: no mark' sh -c '! grep "\"level\"" anew.json'
plant 1e6
run 0 '^ACCEPT: 1 entry, 1 ACCEPT' --filter mul --budget 0.02 --compare planted.json
# screen [SETTING]: the same on a screen, which knows colours unless the environment says otherwise
screen()
{
    status_=0
    tried=$((tried + 1))
    timeout 60 env TERM=xterm "$@" python3 -c 'import os, pty, sys
sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))' \
        ./bench --filter mul --budget 0.02 --compare planted.json >out 2>&1 </dev/null || status_=$?
    if [ "$status_" -ne 0 ]; then
        fail "on a screen, $*: status $status_"
        head -n 20 out
    fi
}
if python3 -c 'import pty; pty.openpty()' 2>/dev/null; then
    screen NO_COLOR=
    try 'on a screen an ACCEPT is green' test "$(grep -c "$(printf '\033\[32mACCEPT\033')" out)" -eq 2
    screen NO_COLOR=1
    try 'NO_COLOR' test "$(grep -c "$(printf '\033')" out)$(grep -c ' ACCEPT' out)" = 02
else
    echo 'no screen: this system gives no pseudo-terminal (is /dev/pts mounted?)'
fi
run 0 'INCONCLUSIVE: new|new: not in the baseline' --filter cxx --budget 0.02 --compare planted.json
PERF_MACHINE=other run 0 'warning: 6 runs of another machine' --filter mul --budget 0.02 \
    --compare planted.json
printf '{"perf_results":1,"runs":[}' >broken.json
run 2 'broken.json: malformed or truncated data at byte 26' --filter mul --budget 0.02 \
    --compare broken.json
run 0 '^mul' --filter mul --budget 0.02 --add broken.json
try 'a broken file is kept beside the new one' test "$(wc -c <broken.json.damaged)" -eq 27
run 0 'fewer than 6 saved runs' --filter mul --budget 0.02 --compare broken.json

# a body that calls exit(): what came before it is in the file; a child that it forks writes nothing
cat >leaves.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
#include <unistd.h>
PERF_BENCH(stays)
{
    if (getenv("FAILS"))
        perf_bench_fail(&b, "wrong checksum");
    while (perf_bench_next(&b))
        perf_clobber();
}
PERF_BENCH(leaves)
{
    while (perf_bench_next(&b)) {
        if (fork() == 0)
            exit(3);
        exit(0);
    }
}
C
try 'leaves.c compiles' gcc -O0 -I"$root" leaves.c -o bench
run 0 'a benchmark called exit' --budget 0.02 --json left.json
try 'exit() in a body: the file is there' python3 -c 'import json; d = json.load(open("left.json"))
assert [b["name"] for b in d["benchmarks"]] == ["stays"], d'
try 'said once' test "$(grep -c 'called exit' err)" -eq 1
FAILS=1 run 2 'a benchmark called exit' --budget 0.02
if [ -e /dev/full ]; then
    status=0
    ./bench --budget 0.02 >/dev/full 2>err || status=$?
    try 'exit() in a body, and a table that cannot be written' test "$status" -eq 2
fi

# What follows is decided by a clock of its own, so that no busy machine decides it: a nanosecond for each reading,
# and what a benchmark adds.
cat >clock.h <<'C'
#include <stdint.h>
#include <stdlib.h>
uint64_t planted_clock(void);
#define PERF_CLOCK_FN planted_clock
#define PERF_MAIN 1
#include "perf.h"
#include <unistd.h>
static __thread uint64_t at = 1;
uint64_t planted_clock(void) { return at += 2; }
/* A body that takes so many nanoseconds, and up to 7 more, by a hash of the process, in another run. */
#define TAKES(ns)                                                                           \
    do {                                                                                    \
        const uint64_t each = (uint64_t)(ns) + ((uint32_t)getpid() * 2654435761u >> 29);    \
        while (perf_bench_next(&b))                                                         \
            at += each;                                                                     \
    } while (0)
C

# it calls exit() only when it is measured again: the comparison and the file are there, and what cannot run is said once
cat >slows.c <<'C'
#include "clock.h"
PERF_BENCH(slows)
{
    static int calls;

    if (getenv("SLOW") && ++calls > 1)
        exit(0);
    TAKES(getenv("SLOW") ? 40000 : 2000);
}
PERF_BENCH_THREADS(nobody, 0, 0)
{
    while (perf_bench_next(&b))
        perf_keep(thread + threads);
}
PERF_BENCH_N(sized, 64, 256)
{
    while (perf_bench_next(&b))
        perf_keep(n);
}
C
try 'slows.c compiles' gcc -O0 -I"$root" slows.c -o bench
for i in 1 2 3 4 5 6; do
    try "saved run $i" ./bench --filter slows --budget 0.02 --add slows.json
done
export SLOW=1
run 1 'REJECT' --filter 'slows|nobody' --budget 0.02 --compare slows.json --output exited.json
try 'exit() in a second round: said' grep -q 'called exit' err
try 'exit() in a second round: the file is there' grep -q '"slows"' exited.json
try 'it had been measured again' grep -q 'measured again, 1 of 4' out
try 'no thread: said once' test "$(grep -c 'not at 0' out)" -eq 1
# the report at its end is there, too, and what stdio holds; a forked child's status is the child's
sed 's/exit(0);/{ printf("held"); exit(fork() ? 0 : 7); }/' slows.c >reports.c
try 'reports.c compiles' gcc -O0 -DPERF_AT_EXIT=1 -I"$root" reports.c -o bench
export PERF_REPORT=1
run 1 'REJECT' --filter slows --budget 0.02 --compare slows.json --output exited.json
unset PERF_REPORT SLOW
try 'exit() in a second round: the report is there' grep -q '^clock ' err
try 'exit() in a second round: what stdio held is there' grep -q held out
# the baseline goes while it is measured again: the first answer stays, and that is said
sed 's/exit(0);/(void)remove("gone.json");/' slows.c >gone.c
try 'gone.c compiles' gcc -O0 -I"$root" gone.c -o bench
cp slows.json gone.json
SLOW=1 run 1 '^not compared again, the first answers stay: gone.json: no such file' --filter slows --budget 0.02 --compare gone.json
try 'nothing is confirmed' sh -c 'grep REJECT out && ! grep -q confirmed out'
try 'slows.c compiles' gcc -O0 -I"$root" slows.c -o bench
run 0 '^sized$' --list --filter sized/64
try 'only that one' test "$(wc -l <out)" -eq 1

# a body that finds itself wrong, before, within, after and in threads: the others run, the status says so
cat >fails.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(before) { perf_bench_fail(&b, "no input"); while (perf_bench_next(&b)) perf_clobber(); }
PERF_BENCH(within) { int i = 0; while (perf_bench_next(&b)) if (++i == 900) perf_bench_fail(&b, "sum"); }
PERF_BENCH(after) { while (perf_bench_next(&b)) perf_clobber(); perf_bench_fail(&b, NULL); }
PERF_BENCH_THREADS(hand, 2, 2) { while (perf_bench_next(&b)) if (thread) perf_bench_fail(&b, "hand"); }
PERF_BENCH(well) { while (perf_bench_next(&b)) perf_clobber(); perf_bench_fail(NULL, "nobody"); }
C
try 'fails.c compiles' gcc -O0 -Wall -Wextra -I"$root" fails.c -o bench
run 2 '^well +[0-9.]+ [nu]s \[' --budget 0.02 --json r.json
try 'each failed' test "$(grep -c '^[a-z/:2]* *not measured: the benchmark says that it failed' out)" -eq 4
try 'each says why' test "$(grep -c '^    \(no input\|sum\|hand\)$' out)" -eq 4 # a thread, and all of them
try 'the file says so' python3 -c 'import json
b = {b["name"]: b["status"] for b in json.load(open("r.json"))["benchmarks"]}
assert b["well"] == "ok" and "failed" in b["before"] and "failed" in b["within"], b'

# numbers of the body's own, and words about the run: in the row, in our JSON and in Google's
cat >counts.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
PERF_BENCH(cache)
{
    double zero = 0;
    char   name[60] = "of the stack, and longer than a name may be at most";
    perf_keep(zero);
    perf_bench_rates(&b, 8, 0);
    perf_bench_counter(&b, "hits", 1);
    while (perf_bench_next(&b)) perf_clobber();
    perf_bench_counter(&b, "hits", 12);
    perf_bench_counter(&b, "share", 0.8125);
    perf_bench_counter(&b, "q\"uote", -2.5e-7);
    perf_bench_counter(&b, "real_time", 3e20);
    perf_bench_counter(&b, "none", zero / zero);
    perf_bench_counter(&b, name, 1);
    memset(name, 'x', sizeof name - 1);
    perf_bench_counter(NULL, "nobody", 1);
}
PERF_BENCH_THREADS(crew, 2, 2)
{
    while (perf_bench_next(&b)) perf_clobber();
    perf_bench_counter(&b, "both", (double)thread + 1);
    perf_bench_counter(&b, thread ? "second" : "first", 5);
}
PERF_BENCH(room)
{
    char name[20];
    int  i;
    for (i = 0; i < 16 + (getenv("MANY") != NULL); i++) {
        (void)snprintf(name, sizeof name, "n%d", i);
        perf_bench_counter(&b, name, i);
    }
    while (perf_bench_next(&b)) perf_clobber();
    b.left = -1;
    perf_bench_end(&b);
    perf_bench_counter(&b, "n3", 100);          /* too late                                       */
}
C
try 'counts.c compiles' gcc -O0 -Wall -Wextra -fsanitize=address,undefined -I"$root" counts.c -o bench
run 0 ' GB/s, hits 12, share 0.8125, q"uote -0.00000025, real_time 3.00e20, none nan, of the stack' \
    --budget 0.02 --json r.json --context commit=old --context=date=today --context commit=a=b --context empty=
try 'threads: each, and added up' test "$(grep -o '^    \(first .*\|both.*\)' out | tr '\n' '|')" = \
    '    both 3, first 5, second 5|    both 1, first 5|    both 2, second 5|'
cat >counts.py <<'P'
import json
def one(pairs):
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)
d = json.load(open("r.json"), object_pairs_hook=one)
assert d["runs"][-1]["context"] == {"commit": "a=b", "date": "today", "empty": ""}, d["runs"]
c = {b["name"]: b.get("counters") for b in d["benchmarks"]}
assert c["cache"] == {"hits": 12, "share": 0.8125, 'q"uote': -2.5e-7, "real_time": 3e20, "none": None,
                      "of the stack, and longer than a name may be at most"[:39]: 1}, c["cache"]
assert c["crew/threads:2"] == {"both": 3, "first": 5, "second": 5}, c
assert c["crew/threads:2 #1"] == {"both": 2, "second": 5}, c
assert c["room"] == {f"n{i}": i for i in range(16)}, c
P
try 'counters and context in our JSON' python3 counts.py
run 0 '^cache' --budget 0.02 --filter cache --output r.google --format google --context commit=a=b --context date=x
try 'and in that of Google Benchmark, whose own names stay its own' python3 -c 'import json
d = json.load(open("r.google"))
assert d["context"]["commit"] == "a=b" and d["context"]["date"].startswith("20"), d["context"]
for b in d["benchmarks"]:
    assert 0 < b["real_time"] < 1e9 and "none" not in b, b
    if b["name"] != "cache_stddev":
        assert b["hits"] == 12 and b["share"] == 0.8125, b'
rm -f context.json
run 0 '^cache' --budget 0.02 --filter cache --save context.json --context n=1
run 0 '^cache' --budget 0.02 --filter cache --add context.json --context n=2
run 0 '^cache' --budget 0.02 --filter cache --add context.json
try 'each run of a baseline keeps its context' python3 -c 'import json
d = [r.get("context") for r in json.load(open("context.json"))["runs"]]
assert d == [{"n": "1"}, {"n": "2"}, None], d'
MANY=1 run 2 'perf_bench_counter: more than 16 names' --budget 0.02 --filter room
run 0 '^BenchmarkCache	.* ns/op	.* MB/s	12 hits	0.8125 share	-2.5e-7 q"uote	3e.20 real_time	1 of_the_stack,' \
    --budget 0.02 --filter cache --output - --format go
for wrong in --context= --context=a --context==b; do
    run 2 '[-]-context needs KEY=VALUE, 64 at most, not ' "$wrong" --list
done

# tuples of numbers
cat >args.c <<'C'
#define PERF_MAIN 1
#include "perf.h"
static int64_t seen;
PERF_BENCH_ARGS(copy, 2, {4, 1}, {-8, 7}, {INT64_MIN, INT64_MAX})
{
    seen = arg[0] + arg[1];
    while (perf_bench_next(&b)) perf_keep(seen);
    perf_bench_counter(&b, "sum", (double)seen);
}
PERF_BENCH_ARGS(one, 1, {3}) { while (perf_bench_next(&b)) perf_keep(arg[0]); }
C
for lang in c c++; do
    # shellcheck disable=SC2086
    try "args.c compiles as $lang" g++ -x $lang -O0 -Wall -Wextra -pedantic -fsanitize=address,undefined -I"$root" args.c -o bench
    run 0 '^one/3 ' --budget 0.01 --json r.json
    try 'an entry for each tuple' python3 -c 'import json
b = {b["name"]: b.get("counters") for b in json.load(open("r.json"))["benchmarks"]}
assert b == {"copy/4/1": {"sum": 5}, "copy/-8/7": {"sum": -1},
             "copy/-9223372036854775808/9223372036854775807": {"sum": -1}, "one/3": None}, b'
    run 0 '^copy/-8/7 ' --budget 0.01 --filter '/-8'
    try 'that alone' test "$(grep -c '^[a-z]*/' out)" -eq 1
done

# a body that does nothing is measured, and called that
printf '#define PERF_MAIN 1\n#include "perf.h"\nPERF_BENCH(nothing)\n{\n    while (perf_bench_next(&b))\n        ;\n}\n' >nothing.c
try 'nothing.c compiles' gcc -O2 -I"$root" nothing.c -o bench
./bench --budget 0.05 >out 2>&1 || true
try 'an empty body is named' grep -Eq 'little more than an empty loop|deleted the body' out

# The run that was just added counts in what its baseline can find: it alone differs.
printf '#include "clock.h"\nPERF_BENCH(planted) { TAKES(atoi(getenv("STEP"))); }\n' >outlook.c
try 'outlook.c compiles' gcc -O1 -I"$root" outlook.c -o bench
export STEP=1000
for i in 1 2 3 4 5; do
    run 0 "^outlook.json: $i run" --budget 0.01 --add outlook.json
done
STEP=1300 run 0 '^outlook.json: 6 runs .* a check finds [+]' --budget 0.01 --add outlook.json
run 0 '^planted' --budget 5 --min-time 0.1 --json r.json
try '--min-time' python3 -c 'import json; b = json.load(open("r.json"))["benchmarks"][0]
assert 0.09e9 <= sum(b["samples"]) * b["batch"] < 1e9, (sum(b["samples"]), b["batch"])'
unset STEP

# other compilers and settings: they register and run
build gcc g++ -O0
run 0 '^mul' --filter mul --budget 0.02
build gcc g++ -O0 -fsanitize=address,undefined
run 0 'WITH A SANITIZER' --filter mul --budget 0.02
run 0 '^spin/threads:2' --filter spin --budget 0.02
build gcc g++ -O0 -fsanitize=thread
run 0 '^spin/threads:2' --filter spin --budget 0.02
build gcc g++ -O0 -DPERF_DISABLE=1
run 2 'compiled with PERF_DISABLE=1'
build gcc g++ -O1 -flto
run 0 '^from_cxx$' --list
if command -v clang++ >/dev/null; then
    build clang clang++ -O0
    run 0 '^spin/threads:2' --filter spin --budget 0.02
fi
for other in musl-gcc tcc; do
    command -v "$other" >/dev/null || continue
    try "$other compiles" "$other" -O0 -I"$root" one.c two.c -o bench
    run 0 '^mul' --filter mul --budget 0.02
    run 0 '^forgotten$' --list
done
if command -v x86_64-w64-mingw32-gcc >/dev/null; then
    try 'mingw links' x86_64-w64-mingw32-gcc -O0 -I"$root" one.c two.c -o bench.exe
fi
# What is about to be accused is measured again: confirmed where it stays, withdrawn where it was once.
cat >again.c <<'C'
#include "clock.h"
static int seen;
PERF_BENCH(one) { TAKES(getenv("SLOW") || (getenv("ONCE") && !seen++) ? 600000 : 6000); }
PERF_BENCH(two)
{
    if (getenv("FAILS"))
        perf_bench_fail(&b, "wrong checksum");
    TAKES(getenv("BOTH") ? 1000000 : 10000);
}
C
try 'again.c compiles' gcc -O2 -Wall -Wextra -I"$root" again.c -o bench
for i in 1 2 3 4 5; do
    run 0 "^again.json: $i run" --budget 0.03 --add again.json
done
FAILS=1 run 2 'wrong checksum' --budget 0.03 --compare again.json --strict
try 'a failed benchmark: no other status is said' sh -c '! grep "exit status 3" both'
run 3 '^--strict: not decided, exit status 3' --budget 0.03 --compare again.json --strict
try 'it says what would decide' grep -q '^  to decide one: 1 more saved run' both
run 0 '^again.json: 6 runs .* a check finds [+][0-9]+ %, a day later [+][0-9]+ %; add one a day' --budget 0.03 --add again.json
try 'a day between two runs' python3 "$root/tests/planted.py" again.json
wide='no regression beyond 300 %'
SLOW=1 run 1 '  one .*REJECT; measured again 4 times: confirmed' --budget 0.03 --compare again.json --accept "$wide"
try 'in turns with another one' test "$(grep -c '^two' out)" -eq 5
SLOW=1 run 1 '^REJECT: ' --budget 0.03 --compare again.json --accept "$wide" --strict --again-after 0.01
ONCE=1 run 0 '  one .*measured again 4 times: REJECT withdrawn' --budget 0.03 --compare again.json --accept "$wide"
run 0 '^ACCEPT: 2 entries' --budget 0.03 --compare again.json --accept "$wide" --strict
try 'what is as before is measured once' sh -c '! grep -q again,  out'
run 3 '  two .*missing' --budget 0.03 --compare again.json --accept "$wide" --strict --filter one --filter two --filter two --threads 1 --profile
run 2 'need the option .--compare' --strict
# so are an entry of one thread, and one whose name is longer than what is kept of it
long=$(printf 'x%.0s' $(seq 260))
cat >crew.c <<C
#include "clock.h"
PERF_BENCH_THREADS(par, 2, 2) { TAKES(getenv("SLOW") && !thread ? 600000 : 6000); }
PERF_BENCH($long) { TAKES(getenv("SLOW") ? 600000 : 6000); }
C
try 'crew.c compiles' gcc -O1 -I"$root" crew.c -o bench
for i in 1 2 3 4 5 6; do
    run 0 "^crew.json: $i run" --budget 0.03 --add crew.json
done
try 'a day between two runs' python3 "$root/tests/planted.py" crew.json
SLOW=1 run 1 '  par/threads:2 #0 .*REJECT; measured again 4 times: confirmed' --budget 0.03 --compare crew.json --accept "$wide"
try 'a long name' test "$(grep -c 'REJECT; measured again 4 times: confirmed' out)" -eq 2
try 'again.c compiles' gcc -O2 -Wall -Wextra -I"$root" again.c -o bench

# REJECTed, kept out, and accepted: what was before it is past, and the new level needs six runs
for i in 7 8; do
    SLOW=1 run 1 '  one .*REJECT' --budget 0.03 --compare again.json --accept "$wide" --add again.json
done
cp again.json before.json
SLOW=1 run 2 "not measured in this run: 'three'" --budget 0.03 --compare before.json --accept "$wide" --add before.json --accept-change three
# a refused acceptance changes nothing: of an entry that was not measured, of one that failed
for why in --filter=one --budget=0.03; do
    cp before.json kept.json
    FAILS=1 run 2 "not measured in this run: 'two'" "$why" --budget 0.03 --compare kept.json --accept "$wide" --add kept.json \
        --accept-change two
    try "$why: nothing is past" sh -c '! grep "\"level\":\"past\"" kept.json'
done
# one is accepted beside another that is REJECTed: valgrind sees each byte
SLOW=1 BOTH=1 valgrind -q --error-exitcode=9 ./bench --budget 0.03 --compare before.json --accept "$wide" --add before.json \
    --accept-change one >both 2>&1 && status_=0 || status_=$?
try 'one of two is accepted' test "$status_" -eq 1
try 'the other is marked' sh -c 'grep "\"two\"" before.json | grep -q "\"level\":\"rejected\""'
try 'and it alone' sh -c '! grep "\"one\"" before.json | grep -q "\"level\":\"rejected\""'
SLOW=1 run 0 '^accepted: one is normal as it is now, since run 7$' --budget 0.03 --compare again.json --accept "$wide" \
    --add again.json --accept-change one
try 'the older ones are past' test "$(grep -c '"level":"past",.*"one"' again.json)" -eq 6
try 'and the REJECTed ones normal, measured five times' test "$(grep -c '"one".*"level":"normal"' again.json)" -eq 10
try 'no other entry is' sh -c '! grep "\"two\"" again.json | grep -q level'
for i in 4 5 6; do
    SLOW=1 run 0 '^  to decide one: ' --budget 0.03 --compare again.json --accept "$wide" --add again.json
done
try 'a day between two runs' python3 "$root/tests/planted.py" again.json
SLOW=1 run 0 '^ACCEPT: 2 entries' --budget 0.03 --compare again.json --accept "$wide"
# what is open though there are six runs is marked, and stays in the baseline
cat >wild.py <<'P'
import json
d = json.load(open("again.json"))
for i, b in enumerate(d["benchmarks"]):
    b["samples"] = [2000 * 5.0 ** (i % 3 - 1)] * 7
    b.pop("level", None)
with open("wild.json", "w") as f:
    f.write(json.dumps(d, separators=(",", ":")).replace("},{", "},\n{"))
P
try 'wild times' python3 wild.py
run 0 ' 2 INCONCLUSIVE' --budget 0.03 --compare wild.json --accept 'no regression beyond 1 %' --add wild.json \
    --save open.json
try '--save has no mark of it' sh -c '! grep "\"level\"" open.json'
for name in one two; do
    try "$name is marked" sh -c "grep '\"$name\"' wild.json | grep -q '\"level\":\"undecided\"'"
done
cat >marks.py <<'P'
import json, sys
schema = json.load(open(sys.argv[1]))["properties"]["benchmarks"]["items"]["properties"]["level"]["enum"]
marks = {b["level"] for f in ("wild.json", "again.json") for b in json.load(open(f))["benchmarks"] if "level" in b}
sys.exit(f"no such level in the schema: {marks - set(schema)}" if marks - set(schema) or not marks else 0)
P
try 'the schema knows each mark' python3 marks.py "$root/docs/perf_results.schema.json"
run 0 '  one  .* 13 +[+-]' --budget 0.03 --compare wild.json --accept 'no regression beyond 1 %'
cp before.json two.json
SLOW=1 run 0 '^accepted: one is' --budget 0.03 --compare two.json --accept "$wide" --accept 'cycles no more than 300 % worse' \
    --add two.json --accept-change one
try 'by two rules it is said once' test "$(grep -c '^accepted: one is' out)" -eq 1
run 2 'needs --compare and --add of one file, for .one' --compare again.json --accept-change one
run 2 'needs a benchmark, 64 at most, not' --compare again.json --add again.json --accept-change=
run 2 'again-after needs seconds' --again-after=-1 --compare again.json

finish
