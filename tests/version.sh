#!/bin/sh
# Prints the version that PERF_VERSION of the headers holds (major*10000 + minor*100 + patch).
set -eu
cat "$(dirname "$0")"/../perf*.h |
    awk '$1 == "#define" && $2 == "PERF_VERSION" {
             v = $3 + 0
             printf "%d.%d.%d\n", v / 10000, v / 100 % 100, v % 100
             found = 1
             exit
         }
         END { if (!found) exit 1 }'
