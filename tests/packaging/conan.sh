#!/bin/sh
# The Conan recipe: `conan create` with its test package, without the network.
. "$(dirname "$0")/../lib.sh"

need conan cmake gcc make
start_work
CONAN_HOME=$work/home
export CONAN_HOME
mkdir "$work/tree"
cp -r "$root"/perf*.h "$root/LICENSE" "$root/cython" "$root/packaging" "$work/tree/"
cd "$work/tree"
version=$(sh "$root/tests/version.sh")
try 'profile' conan profile detect
conan remote disable '*' >/dev/null 2>&1 || true
try 'conan create' conan create packaging/conan --build=missing
grep -q '^user ' "$work/output" || fail 'the test package printed no report'
try 'the version' conan list "perfh/$version:*"
! grep -q ERROR "$work/output" || fail "no perfh/$version in the cache"
folder=$(conan cache path "perfh/$version:$(conan list "perfh/$version:*" --format=json |
    python3 -c 'import json, sys
recipe = list(json.load(sys.stdin)["Local Cache"].values())[0]
print(list(list(recipe["revisions"].values())[0]["packages"])[0])')")
for header in $(headers); do
    try "package: $header" cmp "$root/$header" "$folder/include/$header"
done
try 'package: the licence' [ -f "$folder/licenses/LICENSE" ]
try 'package: no library' [ ! -e "$folder/lib" ]
finish
