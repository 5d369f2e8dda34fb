#!/bin/sh
# Is a record equally fast however it is compiled?  Builds bench/hist.c with each compiler and level
# and compares the least lognormal record.  Guards against accumulators joined into one vector: that
# costs a factor of four and comes and goes with flags.  Exit status 1: a build is 1.5 times slower
# than another.        bench/hist_builds.sh        (from the root of the repository)
set -eu
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
native=-march=native
for compiler in gcc clang; do
    command -v "$compiler" >/dev/null || continue
    for flags in -O2 -O3 "-O2 $native" "-O3 $native"; do
        # shellcheck disable=SC2086
        "$compiler" $flags -std=gnu99 -I. -Itests/hist bench/hist.c -o "$scratch/hist"
        "$scratch/hist" | awk -v build="$compiler $flags" '/^lognormal/ {
            for (i = 1; i < NF; i++) {
                if ($i == "add") add = $(i + 1)
                if ($i == "add64") wide = $(i + 1)
            }
            printf "%-24s add %.2f ns  add64 %.2f ns\n", build, add, wide
        }' | tee -a "$scratch/rows"
    done
done
awk '{
    for (i = 1; i < NF; i++) {
        if ($i == "add") { x = $(i + 1); if (!a || x < a) a = x; if (x > b) b = x }
        if ($i == "sum") { x = $(i + 1); if (!c || x < c) c = x; if (x > d) d = x }
    }
} END {
    printf "slowest / fastest build: add %.2f, without the sum %.2f\n", b / a, d / c
    exit b / a > 1.5 || d / c > 1.5
}' "$scratch/rows"
