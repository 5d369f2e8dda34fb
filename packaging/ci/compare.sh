#!/bin/sh
# Is this change slower than its base?  Builds both, runs them in random turns, writes a verdict.
#
#     compare.sh BASE BUILD_COMMAND RUN_COMMAND [RULE]
#     compare.sh origin/main 'make bench' './bench --json {out}' 'no regression beyond 5 %'
#
# BASE is a commit; BUILD_COMMAND and RUN_COMMAND are run by sh in the top folder of a checkout of each.
# RUN_COMMAND with {out} writes its results to that file, in any format that perf-ab merge reads: programs
# of PERF_BENCHes by --json {out}, Google Benchmark by --benchmark_out={out}.  Each of PERF_ROUNDS rounds
# (default 8) runs both, and each benchmark gets a verdict.  Without {out} the wall time of the whole
# command is compared: right for a command with a fixed job, never for a program of benchmarks, which
# takes as many iterations as fit into its time.
# Writes perf.md (a table for a comment) and perf.html (plots).  Needs git and perf-ab: PERF_AB names
# it.  Ends with perf-ab's status: 0 ACCEPT, 1 REJECT, 2 INCONCLUSIVE, 3 something went wrong.
set -eu
[ $# -ge 3 ] || { sed -n '2,15s/^# \{0,1\}//p' "$0"; exit 3; }
base=$1 build=$2 run=$3 rule=${4:-no regression beyond 5 %}

die() { echo "compare.sh: $*" >&2; exit 3; }

perf_ab=$(command -v "${PERF_AB:-perf-ab}") || die "no ${PERF_AB:-perf-ab}: PERF_AB names it"
case $perf_ab in /*) ;; *) perf_ab=$PWD/$perf_ab ;; esac
top=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'git -C "$top" worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT

git -C "$top" worktree add --quiet --detach "$work/base" "$base" || exit 3
(cd "$work/base" && sh -c "$build") || die 'the base does not build'
(cd "$top" && sh -c "$build") || die 'the change does not build'

# measure SIDE FOLDER ROUND: one process, whose results go to a file of its own
measure()
{
    out=$work/$1.$3.json
    one=$(printf '%s\n' "$run" | sed "s|{out}|$out|g")
    (cd "$2" && sh -c "$one") >"$work/said" 2>&1 || { cat "$work/said" >&2; die "$1 failed: $one"; }
    [ -s "$out" ] || die "$1 wrote no results to {out}: $one"
}

coin() { [ "$(od -An -N1 -tu1 /dev/urandom)" -lt 128 ]; }

case $run in
*'{out}'*)
    round=1
    while [ "$round" -le "${PERF_ROUNDS:-8}" ]; do
        if coin; then
            measure base "$work/base" "$round"
            measure change "$top" "$round"
        else
            measure change "$top" "$round"
            measure base "$work/base" "$round"
        fi
        round=$((round + 1))
    done
    for side in base change; do
        "$perf_ab" merge "$work/$side".[0-9]*.json -o "$work/$side.json" >"$work/said" || exit 3
    done
    cd "$work"                      # the report names the two files
    set -- --turns base.json change.json
    ;;
*) set -- run --shell --budget "${PERF_BUDGET:-120}" -- "cd '$work/base' && $run" -- "cd '$top' && $run" ;;
esac
how=$1                              # run, or --turns: the coin was tossed here
shift
status=0
"$perf_ab" "$how" --accept "$rule" --markdown "$top/perf.md" --html "$top/perf.html" "$@" || status=$?
exit $status
