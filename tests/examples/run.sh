#!/bin/sh
# Runs a program as its reader would, beside the files of the repository, in a folder of its own.
# A verdict is an answer: statuses 1 and 2 are fine where the output says REJECT or INCONCLUSIVE.
#
#     tests/examples/run.sh [--expect NAME] [--valgrind] PROGRAM [ARGUMENT...]
#
# NAME: expected/NAME.txt holds patterns (grep -E) that lines of the output match in this order, and
# expected/NAME.awk, where there is one, reads the output and exits with 1 if it is wrong.
. "$(dirname "$0")/../lib.sh"

expected=
if [ "${1:-}" = --expect ]; then
    expected=$root/tests/examples/expected/$2
    [ -f "$expected.txt" ] || { echo "no $expected.txt: what will its reader see?"; exit 1; }
    shift 2
fi
wrapper=
if [ "${1:-}" = --valgrind ]; then
    need valgrind
    wrapper='valgrind --quiet --error-exitcode=99 --leak-check=full'
    wrapper="$wrapper --errors-for-leak-kinds=definite"
    shift
fi
program=$(realpath "${1:?which program?}")
shift
start_work
for file in "$root"/*; do
    case ${file##*/} in
    build*) ;;
    *) ln -s "$file" "$work/" ;;
    esac
done

cd "$work" || exit 1
status=0
# shellcheck disable=SC2086
$wrapper "$program" "$@" >output 2>&1 </dev/null || status=$?
cat output
case $status in
1 | 2) ! grep -Eqw 'REJECT|INCONCLUSIVE' output || status=0 ;;
esac
if [ -n "$expected" ]; then
    awk 'NR == FNR { if ($0 != "") want[++n] = $0; next }
         at < n && $0 ~ want[at + 1] { at++ }
         END { if (at < n) { print "FAILED: no line (after those before it) matches: " want[at + 1]; exit 1 } }' \
        "$expected.txt" output || status=1
    [ ! -f "$expected.awk" ] || awk -f "$expected.awk" output || status=1
fi
exit $status
