#!/bin/sh
# Every macro that our headers define begins with PERF_ (with perf_ where it stands for a function:
# perf_keep, and several that are off), keeps clear of the prefixes that
# <linux/perf_event.h> owns, and no header drags in a system header beyond those of ISO C.
. "$(dirname "$0")/../lib.sh"

start_work
public=$(headers)

# In the source text: every branch of every #if, for every platform.
# shellcheck disable=SC2086
try "names of macros" python3 "$root/tests/alone/macros.py" "$root" $public

# What one header uses of another is public, or a contract in a section of the provider.
try "private names of other headers" python3 "$root/tests/alone/internal.py" "$root"

# What the preprocessor really has afterwards, against the ISO C headers alone.  Reserved names
# (__x, _X) are the compiler's; ours would have been seen above.
iso='float.h inttypes.h limits.h math.h stdarg.h stddef.h stdint.h stdio.h stdlib.h string.h time.h'
for header in $iso; do
    printf '#include <%s>\n' "$header"
done >"$work/iso.c"

# leaked HEADER...: writes the macros that they bring beside ours and ISO C's to $work/leaked
leaked()
{
    printf '#include "%s"\n' "$@" >"$work/f.c"
    # shellcheck disable=SC2086
    $cc -dM -E -I"$root" "$work/f.c" | awk '{ sub(/[(].*/, "", $2); print $2 }' | sort |
        comm -13 "$work/before" - | grep -Ev '^(PERF_|perf_|__|_[A-Z])' >"$work/leaked" || true
}

for cc in gcc 'gcc -std=c99' 'g++ -x c++' clang 'clang++ -x c++' musl-gcc x86_64-w64-mingw32-gcc
do
    command -v "${cc%% *}" >/dev/null || continue
    # shellcheck disable=SC2086
    $cc -dM -E "$work/iso.c" | awk '{ sub(/[(].*/, "", $2); print $2 }' | sort >"$work/before"
    tried=$((tried + 1))
    # shellcheck disable=SC2086
    leaked $public
    [ -s "$work/leaked" ] || continue
    for header in $public; do
        leaked "$header"
        [ ! -s "$work/leaked" ] ||
            fail "$cc: $header brings $(wc -l <"$work/leaked") foreign macros:" \
                 "$(head -n 8 "$work/leaked" | tr '\n' ' ')"
    done
done

finish
