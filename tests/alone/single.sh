#!/bin/sh
# The three files of single_include/: are they what the headers of the tree give, and is each enough
# as the only file of ours in a folder?  Do they go together with the headers of the tree?
#
#     tests/alone/single.sh
. "$(dirname "$0")/../lib.sh"
need gcc g++
start_work
try 'single_include/ is not stale' python3 "$root/tools/single.py" --check

# compile WHAT COMMAND...: of the file $work/f.c, without a warning
compile()
{
    what_=$1
    shift
    try "$what_" "$@" -Wall -Wextra -Werror -fsyntax-only "$work/f.c"
}

for header in perf.h perf_stats.h; do
    mkdir "$work/alone"
    cp "$root/single_include/$header" "$work/alone/"
    for all in 0 1; do
        printf '#define PERF_ALL %s\n#include "%s"\n#include "%s"\n' $all $header $header >"$work/f.c"
        compile "$header, PERF_ALL $all, C99" gcc -std=c99 -I"$work/alone"
        compile "$header, PERF_ALL $all, C++11" g++ -x c++ -std=c++11 -I"$work/alone"
        compile "$header, PERF_ALL $all, C++23" g++ -x c++ -std=c++23 -I"$work/alone"
    done
    rm -r "$work/alone"
done

# a program of one file, and of that header
cat >"$work/f.c" <<'C'
#define PERF_AT_EXIT 1
#define PERF_ALL 1
#include "perf.h"
int main(void)
{
    perf_result r;
    double      x = 1;
    perf_bench  b = perf_bench_begin("product", NULL);

    while (perf_bench_next(&b)) {
        PERF_SCOPE("product");
        x *= 1.0000001;
        perf_keep(x);
    }
    r = perf_bench_end(&b);
    return r.status != PERF_OK || perf_trace_save("trace.json") != PERF_OK;
}
C
try 'a program of one header' gcc -std=c99 -I"$root/single_include" "$work/f.c" -o "$work/f"
try 'it runs' sh -c 'cd "$1" && PERF_REPORT=diagnosis ./f 2>report && grep -q product report trace.json' - "$work"

# beside the headers of the tree, of the same release: the guards are the same
printf '#include "%s"\n' "$root/single_include/perf.h" perf.h perf_trace.h perf_stats.h perf_results.h \
    "$root/single_include/perf_stats.h" >"$work/f.c"
compile 'the file, then the tree' gcc -std=c99 -I"$root"
printf '#include "%s"\n' perf_trace.h perf_memory.h "$root/single_include/perf.h" \
    "$root/single_include/perf_stats.h" >"$work/f.c"
compile 'the tree, then the file' gcc -std=c99 -DPERF_ALL=1 -I"$root"

# devices: alone in its folder, and beside perf.h
if nvcc=$(find_nvcc); then
    mkdir "$work/alone"
    cp "$root/single_include/perf.h" "$work/alone/"
    printf '#include "perf.h"\nint main() { PERF_SCOPE("host"); return perf_report(); }\n' >"$work/f.cu"
    try 'nvcc: perf.h alone' "$nvcc" -I"$work/alone" -c "$work/f.cu" -o "$work/f.o"
    rm "$work/alone/perf.h"
    printf '#include "perf_cuda.h"\nint main() { return perf_gpu_collect() == PERF_OK ? 0 : 1; }\n' \
        >"$work/f.cu"
    for files in perf_cuda.h 'perf.h perf_cuda.h'; do
        for file in $files; do
            cp "$root/single_include/$file" "$work/alone/"
        done
        try "nvcc: $files" "$nvcc" -I"$work/alone" -c "$work/f.cu" -o "$work/f.o"
    done
fi
finish
