#!/bin/sh
# Headers may be precompiled: the compiler takes the precompiled file (it rejects one that it does not
# trust), and the program made with it does what it should.
#
#     tests/alone/precompiled.sh gcc|g++|clang|clang++
. "$(dirname "$0")/../lib.sh"

cc=${1:?which compiler?}
need "$cc"
case $cc in
*++) ext=cpp language=c++-header std=-std=c++11 ;;
*)   ext=c language=c-header std=-std=c99 ;;
esac
start_work
cat >"$work/main.$ext" <<'EOF'
#include "perf.h"
#include <string.h>
int main(void)
{
    char text[4096];
    {
        PERF_SCOPE("precompiled");
        perf_clobber();
    }
    perf_report_text(text, sizeof text, PERF_NULL_);
    return !strstr(text, "precompiled");
}
EOF
for header in $(headers); do
    printf '#include "%s"\n' "$header"
done >"$work/all.h"
case $cc in
clang*) pch=pch ;;
*)      pch=gch ;;
esac
try "$cc: precompile perf.h" \
    "$cc" "$std" -O2 -I"$root" -x $language "$root/perf.h" -o "$work/perf.h.$pch"
try "$cc: precompile all headers" \
    "$cc" "$std" -O2 -I"$root" -x $language "$work/all.h" -o "$work/all.h.$pch"
case $cc in
clang*)
    try "$cc: a program" \
        "$cc" "$std" -O2 -I"$root" -include-pch "$work/perf.h.pch" "$work/main.$ext" -o "$work/main"
    ;;
*)
    try "$cc: a program" "$cc" "$std" -O2 -Winvalid-pch -Werror -I"$work" -I"$root" -H \
        "$work/main.$ext" -o "$work/main"
    grep -q '^! .*perf.h.gch' "$work/output" || fail "$cc did not take the precompiled perf.h"
    ;;
esac
try "$cc: it runs" "$work/main"
finish
