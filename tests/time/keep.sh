#!/bin/sh
# perf_keep takes a value of any kind, with every compiler: also what has no register of its own, and
# what has no address; and what its argument does is done once.
#
#     tests/time/keep.sh gcc|clang|g++|clang++
. "$(dirname "$0")/../lib.sh"
cc=${1:?which compiler?}
need "$cc"
start_work
cd "$work"
case $cc in *++) ext=cpp std=-std=c++11 ;; *) ext=c std=-std=c99 ;; esac

cat >"kinds.$ext" <<'C'
#include "perf.h"
typedef float four __attribute__((vector_size(16)));
typedef float eight __attribute__((vector_size(32)));
typedef double sixteen __attribute__((vector_size(64)));
typedef char small __attribute__((vector_size(2)));
struct point { int a; double b; char c[40]; };
struct bits { unsigned a : 3; signed b : 5; };
enum letter { A, B };
static int calls;
static long double wide(void) { calls++; return 1.0L; }
static int plain(void) { calls++; return 1; }

static void kinds(int n, struct point *p)
{
    long double           l = n, many[3] = {0, 0, 0};
    four                  v4 = {0, 0, 0, 0};
    eight                 v8 = {0, 0, 0, 0, 0, 0, 0, 0};
    sixteen               v16 = {0, 0, 0, 0, 0, 0, 0, 0};
    small                 v2 = {0, 0};
    struct bits           b = {1, 1};
    volatile struct point vp = {1, 2, {0}};
    const volatile double cv = n;
    const int             list[3] = {n, n, n};
    void                 *any = p;
    enum letter           e = B;

    perf_keep(l);
    perf_keep(n ? 1.0L : 2.0L);
    perf_keep(many);
    perf_keep(v4);
    perf_keep(v8);
    perf_keep(v16);
    perf_keep(v2);
    perf_keep(b.a);
    perf_keep(b.b);
    perf_keep(b);
    perf_keep(vp.b);
    perf_keep(cv);
    perf_keep(*p);
    perf_keep(p->c);
    perf_keep(p);
    perf_keep(kinds);
    perf_keep("text");
    perf_keep(list);
    perf_keep(any);
    perf_keep(e);
    perf_keep(n + 1);
    perf_keep(2.5f);
#ifdef __cplusplus
    perf_keep(nullptr);
    perf_keep(n > 1);
#else
    {
        _Complex double z = n;
        _Complex float  zf = (float)n;
        _Bool           yes = n > 1;
        perf_keep(z);
        perf_keep(zf);
        perf_keep(yes);
    }
#endif
}

int main(void)
{
    struct point p = {1, 2, {0}};

    kinds(calls, &p);
    perf_keep(wide());
    perf_keep(plain());
    return calls != 2;
}
C
for level in -O0 -O2; do
    try "$cc $level" "$cc" "$std" -Wall -Wextra -Wno-psabi -Werror $level -I"$root" "kinds.$ext" -o kinds
    try "$cc $level: what the argument does is done once" ./kinds
done
[ "$(uname -m)" != x86_64 ] ||
    try "$cc -mavx" "$cc" "$std" -Wall -Wextra -Wno-psabi -Werror -O2 -mavx -I"$root" -c "kinds.$ext" -o kinds.o
finish
