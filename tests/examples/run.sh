#!/bin/sh
# Runs a program as its reader would, beside the files of the repository, in a folder of its own.
# A verdict is an answer: statuses 1 and 2 are fine where the output says REJECT or INCONCLUSIVE.
#
#     tests/examples/run.sh [--valgrind] PROGRAM [ARGUMENT...]
. "$(dirname "$0")/../lib.sh"

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
exit $status
