#!/bin/sh
# peer.py or collectors.py with the packages of tests/python.txt.
#
#     tests/formats/peer.sh SCRIPT PROGRAM
. "$(dirname "$0")/../lib.sh"
need python3
exec python3 "$root/tests/formats/${1:?which script?}" "${2:?which program?}"
