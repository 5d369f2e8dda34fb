#!/bin/sh
# secure.sh PROGRAM: in a setuid program the environment says nothing (PERF_MACHINE here).
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
start_work
program=${1:?which program?}
[ "$(id -u)" -eq 0 ] || skip "needs root, to make a setuid program"
cp "$program" "$work/plain"
cp "$program" "$work/setuid"
chmod 755 "$work"
chown 65534 "$work/setuid"
chmod 4755 "$work/setuid"
says()                                  # says STATUS PROGRAM: 10 it believed us, 11 it did not
{
    status=0
    PERF_MACHINE='of the environment' "$2" machine >/dev/null || status=$?
    [ "$status" = "$1" ]
}
try "the environment of a plain program" says 10 "$work/plain"
if [ "$("$work/setuid" uid)" = 65534 ]; then
    try "the environment of a setuid program" says 11 "$work/setuid"
else
    skip "this file system has no setuid programs"
fi
finish
