#!/bin/sh
# peer.py with the packages of tests/python.txt.
#
#     tests/formats/peer.sh PROGRAM
. "$(dirname "$0")/../lib.sh"
need python3
exec python3 "$root/tests/formats/peer.py" "${1:?which program?}"
