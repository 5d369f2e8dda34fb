#!/bin/sh
# Is this change slower than its base?  Builds both, runs them in random turns, writes a verdict.
#
#     compare.sh BASE BUILD_COMMAND RUN_COMMAND [RULE]
#     compare.sh origin/main 'make bench' ./bench 'no regression beyond 5 %'
#
# BASE is a commit; BUILD_COMMAND and RUN_COMMAND are run by sh in the top folder of a checkout of each.
# Writes perf.md (a table for a comment) and perf.html (plots).  Needs git and perf-ab: PERF_AB names
# it.  Ends with perf-ab's status: 0 ACCEPT, 1 REJECT, 2 INCONCLUSIVE, 3 something went wrong.
set -eu
[ $# -ge 3 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0"; exit 3; }
base=$1 build=$2 run=$3 rule=${4:-no regression beyond 5 %}
perf_ab=${PERF_AB:-perf-ab}
top=$(git rev-parse --show-toplevel)
work=$(mktemp -d)
trap 'git -C "$top" worktree remove --force "$work/base" 2>/dev/null || true; rm -rf "$work"' EXIT

git -C "$top" worktree add --quiet --detach "$work/base" "$base" || exit 3
(cd "$work/base" && sh -c "$build") || { echo "compare.sh: the base does not build" >&2; exit 3; }
(cd "$top" && sh -c "$build") || { echo "compare.sh: the change does not build" >&2; exit 3; }

status=0
"$perf_ab" run --shell --accept "$rule" --budget "${PERF_BUDGET:-120}" \
    --markdown "$top/perf.md" --html "$top/perf.html" \
    -- "cd '$work/base' && $run" -- "cd '$top' && $run" || status=$?
exit $status
