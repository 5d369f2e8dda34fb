#!/bin/sh
# What an #include costs the compiler, in million instructions (callgrind on cc1 and cc1plus; the same
# on every run; a locale or a long environment adds up to 1 %, so there is none).  Needs gcc, g++ and
# valgrind:  bench/include_cost.sh [--only HEADER | HEADER...]
# A precompiled perf.h comes last: what each file of a large program pays (bench/README.md).
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
multiarch=$(gcc -print-multiarch)

# cost COMPILER(cc1, cc1plus) FILE FLAG...
cost()
{
    pass_name=$1
    pass=$(gcc -print-prog-name="$1")
    file=$2
    shift 2
    [ $pass_name = cc1 ] || set -- -D_GNU_SOURCE "$@"       # as g++ does
    env -i PATH="$PATH" valgrind --tool=callgrind --callgrind-out-file=/dev/null "$pass" -quiet \
        ${multiarch:+-imultiarch "$multiarch"} -O2 "$@" -I"$root" "$file" \
        -o /dev/null 2>&1 | sed -n 's/.*Collected : //p' | awk '{ printf "%.1f", $1 / 1e6 }'
}

line()
{
    printf '%-28s %8s %8s\n' "$@"
}

line '#include of' C C++
if [ "${1:-}" = --only ]; then
    echo "#include <$2>" >"$work/file.c"
    cp "$work/file.c" "$work/file.cpp"
    line "$2" "$(cost cc1 "$work/file.c")" "$(cost cc1plus "$work/file.cpp")"
    exit
fi
: >"$work/empty.c"
cp "$work/empty.c" "$work/empty.cpp"
line '(an empty file)' "$(cost cc1 "$work/empty.c")" "$(cost cc1plus "$work/empty.cpp")"
[ $# -gt 0 ] || set -- stdio.h perf_clock.h perf_scope.h perf_record.h perf_hist.h perf_stats.h perf_bench.h perf.h
for header in "$@"; do
    echo "#include <$header>" >"$work/file.c"
    cp "$work/file.c" "$work/file.cpp"
    line "$header" "$(cost cc1 "$work/file.c")" "$(cost cc1plus "$work/file.cpp")"
done

mkdir "$work/c" "$work/cpp"
gcc -O2 -I"$root" -x c-header "$root/perf.h" -o "$work/c/perf.h.gch"
g++ -O2 -I"$root" -x c++-header "$root/perf.h" -o "$work/cpp/perf.h.gch"
echo '#include "perf.h"' >"$work/file.c"
cp "$work/file.c" "$work/file.cpp"
line 'perf.h, precompiled' "$(cost cc1 "$work/file.c" -I"$work/c")" \
    "$(cost cc1plus "$work/file.cpp" -I"$work/cpp")"
