#!/bin/sh
# viewers.py with the packages of tests/python.txt.
#
#     tests/time/viewers.sh WRITER
. "$(dirname "$0")/../lib.sh"
need python3
exec python3 "$root/tests/time/viewers.py" "${1:?which program?}"
