#!/bin/sh
# The release archive: the same bytes twice, checksums that hold, and all that a user needs in it.
# With `debian`: the Debian package made from it, through lintian, used from its own folder.
. "$(dirname "$0")/../lib.sh"

need git tar gzip sha256sum gcc meson python3
git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || skip 'not a git repository'
start_work
version=$(sh "$root/tests/version.sh")
try 'archive' "$root/tools/release.sh" --dirty "$work/one"
archive=$work/one/perfh-$version.tar.gz

if [ "${1:-}" = debian ]; then
    need dpkg-buildpackage dh lintian pkg-config cmake
    try 'dpkg-buildpackage' "$root/tools/debian.sh" "$work/debian" "$archive"
    cd "$work/debian"
    # Each release of Debian knows another newest policy; the one the package names is bookworm's.
    lintian --allow-root --display-info --pedantic \
        --suppress-tags out-of-date-standards-version,newer-standards-version \
        ./*.changes >"$work/lintian.txt" 2>&1 || true
    grep -v '^N: ' "$work/lintian.txt" || true
    try 'lintian has nothing to say' sh -c '! grep -qv "^N: " "$1"' - "$work/lintian.txt"
    try 'the version' [ "$(dpkg-deb -f libperfh-dev_*.deb Version)" = "$version-0upstream1" ]
    try 'any architecture' [ "$(dpkg-deb -f libperfh-dev_*.deb Architecture)" = all ]
    try 'unpack' dpkg-deb -x libperfh-dev_*.deb "$work/root"
    # shellcheck disable=SC2144
    try 'perf-ab: unpack' dpkg-deb -x perf-ab_*.deb "$work/tool"
    try 'perf-ab: runs' "$work/tool/usr/bin/perf-ab" --version
    try 'perf-ab: man page' [ -s "$work/tool/usr/share/man/man1/perf-ab.1.gz" ]
    try 'perf-ab: completion' [ -s "$work/tool/usr/share/bash-completion/completions/perf-ab" ]
    for header in $(headers); do
        try "package: $header" cmp "$root/$header" "$work/root/usr/include/$header"
    done
    printf '#include <perf.h>\nint main(void) { PERF_SCOPE("x"); return 0; }\n' >"$work/user.c"
    export PKG_CONFIG_PATH="$work/root/usr/share/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$work/root"
    export PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1
    # shellcheck disable=SC2046
    try 'pkg-config: a program' gcc $(pkg-config --cflags perfh) "$work/user.c" -o "$work/user"
    try 'it runs' "$work/user"
    mkdir "$work/cmake"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.14)' 'project(user C)' \
        'find_package(perfh CONFIG REQUIRED)' 'add_executable(user ../user.c)' \
        'target_link_libraries(user perfh::perfh)' >"$work/cmake/CMakeLists.txt"
    try 'cmake: configure' cmake -S "$work/cmake" -B "$work/cmake/build" \
        -DCMAKE_PREFIX_PATH="$work/root/usr"
    try 'cmake: build' cmake --build "$work/cmake/build"
    finish
fi

try 'checksums' sh -c 'cd "$1" && sha256sum --quiet -c SHA256SUMS' - "$work/one"
# Another folder, umask, time zone and language, and files with other dates.
git clone -q --no-hardlinks "$root" "$work/clone"
(cd "$root" && git ls-files -z --cached --others --exclude-standard |
    xargs -0 sh -c 'for f; do if [ -f "$f" ]; then echo "$f"; fi; done' - |
    tar cf - -T -) | (umask 077 && tar xf - -C "$work/clone" --touch)
(cd "$root" && git ls-files --deleted) | while read -r gone; do rm -f "$work/clone/$gone"; done
try 'archive of a clone' sh -c 'umask 077; TZ=Asia/Tokyo LC_ALL=C.UTF-8 "$1/tools/release.sh" --dirty \
    "$2"' - "$work/clone" "$work/two"
try 'the same bytes' cmp "$archive" "$work/two/perfh-$version.tar.gz"
echo x >>"$work/clone/perf.h"
try 'uncommitted changes are refused' sh -c '! "$1/tools/release.sh" "$2"' - "$work/clone" "$work/no"

mkdir "$work/tree"
tar xzf "$archive" -C "$work/tree"
tree=$work/tree/perfh-$version
for header in $(headers); do
    try "archive: $header" cmp "$root/$header" "$tree/$header"
done
try 'archive: quickstart' gcc -O2 -I"$tree" "$tree/examples/c/quickstart.c" -o "$work/quickstart"
try 'archive: quickstart with single_include/perf.h' sh -c 'cp "$1/examples/c/quickstart.c" "$2" &&
    gcc -O2 -I"$1/single_include" "$2/quickstart.c" -o "$2/quickstart"' - "$tree" "$work"
try 'archive: meson' meson setup -Dtests=disabled --prefix="$work/usr" "$work/build" "$tree"
try 'archive: install' meson install -C "$work/build"
for words in 'nosuch' 'time nosuch' 'quick time'; do
    try "archive: ./check $words is refused before anything is done" sh -c \
        'cd "$1" && ! timeout 60 ./check --no-install $2 >said.txt && grep -q "nothing was installed or run$" said.txt' \
        - "$tree" "$words"
done
try 'archive: a folder of tests/ is a suite' "$tree/check" time hist --help
try 'archive: no build leftovers' sh -c '! tar tzf "$1" | grep -E "/build|__pycache__|\.o$|\.so$"' \
    - "$archive"
finish
