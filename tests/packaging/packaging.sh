#!/bin/sh
# The two ways in for a project that uses meson or pkg-config: as a subproject, and installed.
. "$(dirname "$0")/../lib.sh"

need meson ninja pkg-config gcc
start_work
version=$(sh "$root/tests/version.sh")
cat >"$work/user.c" <<'EOF'
#include <perf.h>
int main(void)
{
    return perf_status_text(PERF_OK)[0] == 'o' ? 0 : 1;
}
EOF

# A strict user whose own settings must neither break us nor be broken by us.
mkdir -p "$work/sub/subprojects"
ln -s "$root" "$work/sub/subprojects/perfh"
cp "$work/user.c" "$work/sub/"
cat >"$work/sub/meson.build" <<'EOF'
project('user', 'c', default_options: ['c_std=c11', 'warning_level=3', 'werror=true'])
perf = dependency('perfh', version: '>=0.1')
assert(import('fs').exists(perf.get_variable('cythondir') / 'perfh' / 'perf.pxd'))
test('user', executable('user', 'user.c', dependencies: perf))
EOF
try 'subproject: setup' meson setup --wrap-mode=forcefallback "$work/sub/build" "$work/sub"
try 'subproject: build' meson compile -C "$work/sub/build"
try 'subproject: the program runs' "$work/sub/build/user"
meson introspect --tests "$work/sub/build" >"$work/tests.json" || true
try 'subproject: brings no test of its own' python3 -c '
import json, sys
names = [t["name"] for t in json.load(open(sys.argv[1]))]
sys.exit(0 if names == ["user"] else f"tests: {names}")' "$work/tests.json"

# Installed.
CFLAGS=-O0                              # perf-ab runs here, it does not work
export CFLAGS
try 'install: setup' meson setup -Dtests=disabled --prefix="$work/usr" "$work/build" "$root"
try 'install' meson install -C "$work/build"
for header in $(headers); do
    try "install: $header" cmp "$root/$header" "$work/usr/include/$header"
done
installed=$(cd "$work/usr/include" && echo *)
[ "$installed" = "$(headers)" ] || fail "installed headers: $installed; public headers: $(headers)"

PKG_CONFIG_PATH=$work/usr/share/pkgconfig
export PKG_CONFIG_PATH
try 'pkg-config: the version of PERF_VERSION' \
    [ "$(pkg-config --modversion perfh)" = "$version" ]
try 'pkg-config: no library to link' [ -z "$(pkg-config --libs --static perfh | tr -d ' ')" ]
try 'pkg-config: the declarations for Cython' \
    [ -f "$(pkg-config --variable=cythondir perfh)/perfh/perf.pxd" ]
# shellcheck disable=SC2046
try 'pkg-config: a program' gcc $(pkg-config --cflags perfh) "$work/user.c" -o "$work/user"
try 'pkg-config: the program runs' "$work/user"

if pkg-config --exists jansson; then                # perf-ab, its page and its completion
    try 'perf-ab: runs' "$work/usr/bin/perf-ab" --version
    try 'perf-ab: man page' cmp "$root/tools/perf-ab.1" "$work/usr/share/man/man1/perf-ab.1"
    try 'perf-ab: completion' bash "$root/tests/packaging/completion.sh" \
        "$work/usr/share/bash-completion/completions/perf-ab" "$work/usr/bin/perf-ab"
    try 'no perf-ab: setup' meson setup -Dtests=disabled -Dperf_ab=disabled --prefix="$work/bare" \
        "$work/build-bare" "$root"
    try 'no perf-ab: install' meson install -C "$work/build-bare"
    try 'no perf-ab' [ ! -e "$work/bare/bin" ]
fi
finish
