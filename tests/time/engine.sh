#!/bin/sh
# Files that include perf_bench.h alone run on the engine of another file, or the linker says what to do:
# engine.sh gcc|clang|g++
. "$(dirname "$0")/../lib.sh"
. "$root/tests/flags.sh"
compiler=$1
need "$compiler"
case "$(uname -m)-$(uname -s)" in
x86_64-Linux | aarch64-Linux) ;;
*) skip 'one engine in a program: x86-64 and AArch64 ELF only' ;;
esac
start_work
cd "$work" || exit 1
case $compiler in
*++) language='-x c++ -std=c++11' strict=$warn_cxx ;;
*) language='-std=c99' strict=$warn_c ;;
esac

cat >alone.c <<'C'
#include "perf_bench.h"
#ifdef PERF_LOOP_H
#error "perf_bench.h brought the engine along"
#endif
double alone(int kind);
double alone(int kind)                  /* each kind of loop; ns of the slowest                   */
{
    perf_ab_opts   o = PERF_ZERO;
    perf_bench     b;
    perf_ab        ab;
    perf_race      race;
    perf_ab_result r;
    double         x = 1.0, ns;
    int            v, i;

    o.max_seconds = 0.05;
    if (kind == 0) {
        perf_result one;
        b = perf_bench_begin("alone", PERF_NULL_);
        while (perf_bench_next(&b)) {
            if (perf_loop_slice_begins(&b)) {
                perf_bench_pause(&b);
                perf_bench_resume(&b);
            }
            x *= 1.0000001;
            perf_keep(x);
        }
        one = perf_bench_end(&b);
        return one.status == PERF_OK && *perf_result_text(&one) ? one.time.p50 : -1.0;
    }
    if (kind == 1) {
        perf_accuracy same = PERF_ZERO;
        same.compared = 1;
        ab = perf_ab_begin("alone", &o);
        while ((v = perf_ab_next(&ab)) >= 0)
            for (i = 0; i < (v ? 100 : 300); i++) {
                x *= 1.0000001;
                perf_keep(x);
            }
        perf_ab_accuracy(&ab, same);
        r = perf_ab_end(&ab);
        return r.status == PERF_OK ? r.baseline.p50 : -1.0;
    }
    race = perf_race_begin("alone", 3, &o);
    perf_race_name(&race, 1, "one");
    while ((v = perf_race_next(&race)) >= 0)
        for (i = 0; i < 100 * (v + 1); i++) {
            x *= 1.0000001;
            perf_keep(x);
        }
    {
        perf_race_result all = perf_race_end(&race);
        ns = all.status == PERF_OK ? all.entry[2].time.p50 : -1.0;
    }
    return ns;
}
C
cat >engine.c <<'C'
#include "perf.h"
#include <string.h>
double alone(int kind);
int main(void)
{
    perf_ab_opts o = PERF_ZERO;
    perf_bench   b = perf_bench_begin("here", PERF_NULL_);
    perf_ab      ab;
    perf_race    race;
    char         text[4096];
    int          kind, v, i;

    o.max_seconds = 0.01;
    while (perf_bench_next(&b))
        for (i = 0; i < 9; i++)
            perf_clobber();
    (void)perf_bench_end(&b);
    ab = perf_ab_begin("here", &o);
    while ((v = perf_ab_next(&ab)) >= 0)
        for (i = 0; i < 9; i++)
            perf_clobber();
    (void)perf_ab_end(&ab);
    race = perf_race_begin("here", 2, &o);
    while ((v = perf_race_next(&race)) >= 0)
        for (i = 0; i < 9; i++)
            perf_clobber();
    (void)perf_race_end(&race);
    for (kind = 0; kind < 3; kind++)
        if (!(alone(kind) > 0.0))
            return kind + 1;
    (void)perf_report_text(text, sizeof text, PERF_NULL_);
    return !strstr(text, "alone") || !strstr(text, "here");
}
C
printf 'double alone(int kind);\nint main(void)\n{\n    return alone(0) < 0.0;\n}\n' >none.c
sed 's/"perf_bench.h"/"perf.h"/; /PERF_LOOP_H/,/endif/d' alone.c >whole.c

# both FLAGS LINK-FLAGS: every kind of loop in a file without an engine, beside one with and the main file
both()
{
    flags=$1 link=$2
    for file in alone engine whole none; do
        # shellcheck disable=SC2086,SC2046
        try "$flags: $file.c compiles" "$compiler" $language $strict $flags -I"$root" -c "$file.c" -o "$file.o" \
            $([ "$file" != whole ] || echo -Dalone=another)
    done
    # shellcheck disable=SC2086
    try "$flags $link: links" "$compiler" $flags $link alone.o whole.o engine.o -o program
    try "$flags $link: runs" timeout 60 ./program
    # shellcheck disable=SC2086
    "$compiler" $language $flags -I"$root" -Dalone=twin -c alone.c -o twin.o
    # shellcheck disable=SC2086
    if "$compiler" $flags $link none.o alone.o twin.o -o program >link 2>&1; then
        fail "$flags: links without an engine"
    else
        try "$flags: the linker names the cure, once for two files" test 1 = \
            "$(grep -c 'undefined.*perf_bench_h_alone__include_perf_h_in_one_file_that_runs_a_bench' link)"
    fi
}

both -O0 ''
both '-O1 -flto' ''
both '-O0 -fPIC' -shared-libgcc
both '-O2 -ffunction-sections -fdata-sections' -Wl,--gc-sections
text=$(size alone.o | awk 'END { print $1 }')
whole=$(size whole.o | awk 'END { print $1 }')
try "a file with perf_bench.h alone has a tenth of the text: $text of $whole bytes" \
    test $((10 * text)) -lt "$whole"
finish
