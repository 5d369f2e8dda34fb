#!/bin/sh
# Is an #include still as cheap, and a file with one scope as small, as budgets.txt says?
. "$(dirname "$0")/../lib.sh"
need gcc g++ valgrind size
start_work
cd "$work"                              # __FILE__ is part of the text: no path in it
unset MALLOC_PERTURB_                   # of meson test: the compiler would fill what it frees
gcc=$(gcc -dumpversion | cut -d. -f1)
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | sed 's/^glibc //')
machine=$(uname -m)

# held WHAT LANGUAGE VALUE BUDGET; BUDGET is "none" where none was written down
held()
{
    tried=$((tried + 1))
    if [ "$4" = none ]; then
        echo "$1, $2: $3"
        return
    fi
    echo "$1, $2: $3 (at most $4)"
    [ "${3%.*}" -lt "$4" ] || fail "$1, $2: $3, more than $4"
}

cat >"$work/one_scope.c" <<'END'
#include "perf_scope.h"
void work(void);
void work(void)
{
    PERF_SCOPE("work");
}
END
cp "$work/one_scope.c" "$work/one_scope.cpp"

known=$(awk -v gcc="$gcc" -v glibc="$glibc" '$1 == gcc && $2 == glibc' "$root/tests/code/budgets.txt")
[ "$machine" = x86_64 ] || known=
rows=${known:-$(awk '$1 == 12 { $5 = $6 = "none"; print }' "$root/tests/code/budgets.txt")}
while read -r _ _ kind what c cpp; do
    case $kind in
    include)
        "$root/bench/include_cost.sh" --only "$what" >"$work/cost"
        # shellcheck disable=SC2046
        set -- $(tail -n 1 "$work/cost")
        held "#include $what" C "$2" "$c"
        held "#include $what" C++ "$3" "$cpp"
        ;;
    text)
        try "$what in C" gcc -O2 -I"$root" -c "$what.c" -o c.o
        try "$what in C++" g++ -O2 -I"$root" -c "$what.cpp" -o cpp.o
        held "text of $what" C "$(size c.o | awk 'NR == 2 { print $1 }')" "$c"
        held "text of $what" C++ "$(size cpp.o | awk 'NR == 2 { print $1 }')" "$cpp"
        ;;
    esac
done <<END
$rows
END
[ -n "$known" ] || [ "$failed" -gt 0 ] || skip "budgets.txt has no budget for gcc $gcc with glibc $glibc on $machine: nothing was compared"
finish
