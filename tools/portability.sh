#!/bin/sh
# The compiled tests on other machines, emulated: before a release, not in ./check.
#
#     tools/portability.sh [MACHINE...]     without one, all of the table below
#
# Builds every test that is one program of ours (no sanitizers, no scripts) with Debian's cross
# compilers, runs it under qemu's user emulation or wine, and prints what passed as the table of
# tests/portability.md.  The exit status is 0 when nothing failed.
# Needs: apt-get install meson ninja-build qemu-user-static, and per machine what it names.
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
case ${1:-} in -*) sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 2 ;; esac

# machine   compiler                        emulator                family   endian  flags
table='
aarch64     aarch64-linux-gnu-gcc           qemu-aarch64-static     aarch64  little
armhf       arm-linux-gnueabihf-gcc         qemu-arm-static         arm      little
i386        i686-linux-gnu-gcc              -                       x86      little  -msse2,-mfpmath=sse
mips64el    mips64el-linux-gnuabi64-gcc     qemu-mips64el-static    mips64   little
musl        musl-gcc                        -                       x86_64   little
ppc64el     powerpc64le-linux-gnu-gcc       qemu-ppc64le-static     ppc64    little
riscv64     riscv64-linux-gnu-gcc           qemu-riscv64-static     riscv64  little
s390x       s390x-linux-gnu-gcc             qemu-s390x-static       s390x    big
mingw       x86_64-w64-mingw32-gcc          wine                    x86_64   little
'
# Loops that measure an emulated machine judge the emulator, and 64 threads on it take an hour.
timing='loops, disturbed|loops -O0|loops -O2|threads'

# shellcheck disable=SC2046
[ $# -gt 0 ] || set -- $(echo "$table" | awk 'NF { print $1 }')
work=$(mktemp -d "${TMPDIR:-/tmp}/perfh.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
meson=$root/build-python/bin/meson
[ -x "$meson" ] || meson=meson

# The names of its tests that are one program, and the programs, a line each: PROGRAM<tab>SUITE<tab>NAME
programs()
{
    "$meson" introspect "$work/$1" --tests | python3 -c '
import json, os, sys
place, timing = sys.argv[1], sys.argv[2].split("|")
for test in json.load(sys.stdin):
    program, name = test["cmd"][0], test["name"]
    if test["cmd"][0].startswith(place + "/") or test["cmd"][1:] and test["cmd"][1].startswith(place + "/tests/"):
        program = [c for c in test["cmd"] if c.startswith(place + "/tests/")][0]
        if not any(word in name for word in ["sanitized", "tsan", "fuzz", "hot path", "images"]) and name not in timing:
            print(os.path.relpath(program, place), test["suite"][0].split(":")[-1], name, sep="\t")
' "$work/$1" "$timing"
}

# of MACHINE COLUMN: a cell of the table
of()
{
    echo "$table" | awk -v machine="$1" -v column="$2" '$1 == machine { print $column }'
}

# run MACHINE: appends its row to $work/rows
run()
{
    compiler=$(of "$1" 2)
    emulator=$(of "$1" 3)
    system=linux static=
    [ "$1" != mingw ] || system=windows
    case $1 in mingw | musl | i386) static="'-static'" ;; esac
    for tool in "$compiler" "$emulator"; do
        [ "$tool" = - ] || command -v "$tool" >/dev/null || {
            echo "| $1 | not run: no $tool | | | | |" >>"$work/rows"
            return 0
        }
    done
    {
        printf "[binaries]\nc = '%s'\n" "$compiler"
        case $emulator in
        qemu*) printf "exe_wrapper = ['%s', '-L', '/usr/%s']\n" "$emulator" "${compiler%-gcc}" ;;
        wine)  printf "exe_wrapper = '%s'\n" "$emulator" ;;
        esac
        printf "[built-in options]\nc_link_args = [%s]\nc_args = [%s]\n" "$static" \
            "$(of "$1" 6 | sed "s/[^,][^,]*/'&'/g")"
        printf "[host_machine]\nsystem = '%s'\ncpu_family = '%s'\ncpu = '%s'\nendian = '%s'\n" \
            "$system" "$(of "$1" 4)" "$(of "$1" 4)" "$(of "$1" 5)"
    } >"$work/$1.ini"
    "$meson" setup "$work/$1" "$root" --cross-file "$work/$1.ini" -Dwerror=false >"$work/log" 2>&1 ||
        { tail -n 5 "$work/log"; echo "| $1 | not configured | | | | |" >>"$work/rows"; return 1; }
    programs "$1" >"$work/$1.programs"
    passed=0; failed=0; names=; unbuilt=; skipped=
    while IFS='	' read -r program suite name; do
        if ! ninja -C "$work/$1" "$program" >"$work/log" 2>&1; then
            unbuilt="$unbuilt${unbuilt:+, }$name"
            grep -m 1 'error:' "$work/log" || tail -n 3 "$work/log"
        elif "$meson" test -C "$work/$1" --no-rebuild -t 20 --suite "$suite" "$name" >"$work/log" 2>&1 </dev/null; then
            if grep -q '^Skipped: *1' "$work/log"; then
                skipped="$skipped${skipped:+, }$name"
            else
                passed=$((passed + 1))
            fi
        else
            failed=$((failed + 1))
            names="$names${names:+, }$name"
            echo "== $1: $name"; tail -n 40 "$work/log"
            [ ! -f "$work/$1/meson-logs/testlog.txt" ] || tail -n 20 "$work/$1/meson-logs/testlog.txt"
        fi
    done <"$work/$1.programs"
    echo "| $1 | $("$compiler" -dumpfullversion) | $passed | ${skipped:-none} | ${names:-none} | ${unbuilt:-none} |" >>"$work/rows"
    echo "$1: $passed passed, $failed failed"
    rm -rf "${work:?}/$1"
    [ $failed -eq 0 ]
}

failures=0
for machine; do
    [ -n "$(of "$machine" 2)" ] || { echo "portability.sh: $machine is not in the table" >&2; exit 2; }
    run "$machine" || failures=$((failures + 1))
done
echo '| machine | gcc | passed | skipped | failed | cannot be built there |'
echo '|---|---|---|---|---|---|'
cat "$work/rows"
exit $((failures > 0))
