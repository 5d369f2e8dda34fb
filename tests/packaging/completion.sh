#!/bin/bash
# completion.sh FILE PERF_AB: what bash offers for perf-ab, and that it knows every option of --help.
set -eu
. "$1"
options=$("$2" --help | grep -oE -- '(^|[ (])--?[a-z][a-z-]*' | tr -d ' (' | sort -u)
known=$(sed 's/[^-a-z]/\n/g' "$1" | sort -u)
bad=0

offered()                               # offered WANT WORD...: WANT is among what is offered for the last
{
    local want=$1 word
    shift
    COMP_WORDS=(perf-ab "$@")
    COMP_CWORD=$#
    _perf_ab
    for word in "${COMPREPLY[@]}"; do
        [ "$word" != "$want" ] || return 0
    done
    echo "completion.sh: '$want' is not offered for: perf-ab $*: ${COMPREPLY[*]}"
    bad=1
}

for option in $options; do
    grep -qx -- "$option" <<<"$known" || { echo "completion.sh: no $option"; bad=1; }
done
cd /usr
offered run r
offered merge mer
offered --accept --ac
offered --turns --t
offered "'speedup >= 1.3'" --accept spe
offered p95 --metric p9
offered --parameter run --par
offered memory run --measure m
offered true run -- tru
offered bin run -- true -- ls b
offered -o merge -
exit $bad
