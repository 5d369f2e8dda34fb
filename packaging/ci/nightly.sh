#!/bin/sh
# Is the program slower than it used to be?  Holds a program of benchmarks against its history, and adds
# the run to it.
#
#     nightly.sh BASELINE BENCH [OPTION...]
#     nightly.sh perf-base.json ./bench --again-after 60 --accept 'no regression beyond 5 %'
#
# BENCH is a program of PERF_BENCHes.  With PERF_ADD=no it is compared only: for merge requests.
# Writes perf-history.md (a table for a comment) and perf-history.html (curves).  Needs perf-ab: PERF_AB
# names it.  What is accused is measured again first.  Ends with 0: no slower; 1: slower, confirmed;
# 2: something went wrong; 3: not decided, as with fewer than six runs.
set -eu
[ $# -ge 2 ] || { sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 2; }
base=$1 bench=$2
shift 2

die() { echo "nightly.sh: $*" >&2; exit 2; }

perf_ab=$(command -v "${PERF_AB:-perf-ab}") || die "no ${PERF_AB:-perf-ab}: PERF_AB names it"
said=$(mktemp)
trap 'rm -f "$said"' EXIT

# measure OPTION...: runs the program, shows what it says, and keeps its status
measure()
{
    status=0
    "$bench" "$@" >"$said" 2>&1 || status=$?
    cat "$said"
}

if [ -f "$base" ] && [ "${PERF_ADD:-yes}" = yes ]; then
    measure "$@" --compare "$base" --strict --add "$base"
elif [ -f "$base" ]; then
    measure "$@" --compare "$base" --strict
elif [ "${PERF_ADD:-yes}" = yes ]; then
    measure "$@" --add "$base"
    [ "$status" != 0 ] || status=3
else
    echo "nightly.sh: $base: no such history yet"
    exit 3
fi
[ -f "$base" ] || die "$base: was not written"
"$perf_ab" history "$base" --html perf-history.html --markdown perf-history.table || status=2
{
    echo '```text'
    sed -n '/^baseline: /,$p' "$said"
    printf '```\n\n'
    cat perf-history.table
} >perf-history.md
rm -f perf-history.table
case $status in
    0) echo 'nightly.sh: no slower' ;;
    1) echo 'nightly.sh: slower; if that is meant: perf-ab history --accept-change ENTRY FILE' ;;
    3) echo 'nightly.sh: not decided yet' ;;
    *) status=2 ;;
esac
exit $status
