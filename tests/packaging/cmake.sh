#!/bin/sh
# The ways in for a project that uses CMake: installed, add_subdirectory, FetchContent, and the
# versions that find_package takes.
. "$(dirname "$0")/../lib.sh"

need cmake gcc g++ pkg-config meson ninja
start_work
version=$(sh "$root/tests/version.sh")
cat >"$work/user.c" <<'EOT'
#include <perf.h>
int main(void)
{
    PERF_SCOPE("main");
    return perf_status_text(PERF_OK)[0] == 'o' ? 0 : 1;
}
EOT
cp "$work/user.c" "$work/user.cpp"

# consumer NAME LINES [LANGUAGES]: a project in C and C++ that gets perfh::perfh by LINES
consumer()
{
    languages=${3:-C CXX}
    mkdir "$work/$1"
    cat >"$work/$1/CMakeLists.txt" <<EOT
cmake_minimum_required(VERSION 3.14)
project(user $languages)
$2
foreach(language $(echo "$languages" | sed 's/CXX/cpp/; s/C/c/'))
  add_executable(user_\${language} ../user.\${language})
  target_link_libraries(user_\${language} PRIVATE perfh::perfh)
endforeach()
get_target_property(libraries perfh::perfh INTERFACE_LINK_LIBRARIES)
if(libraries)
  message(FATAL_ERROR "something to link: \${libraries}")
endif()
EOT
}

# built NAME FLAG...: configures, builds and runs it
built()
{
    name=$1
    shift
    try "$name: configure" cmake -S "$work/$name" -B "$work/$name/build" "$@" \
        -DCMAKE_C_FLAGS='-Wall -Wextra -Werror' -DCMAKE_INSTALL_PREFIX="$work/$name/usr"
    try "$name: build" cmake --build "$work/$name/build"
    try "$name: C" "$work/$name/build/user_c"
    case $languages in
    *CXX) try "$name: C++" "$work/$name/build/user_cpp" ;;
    esac
}

# Installed, then moved: nothing in there may know where it was.
try 'install: configure' cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_PREFIX="$work/first"
try 'install' cmake --install "$work/build"
mv "$work/first" "$work/usr"
for header in $(headers); do
    try "install: $header" cmp "$root/$header" "$work/usr/include/$header"
done
consumer installed "find_package(perfh ${version%.*} CONFIG REQUIRED)"
built installed -DCMAKE_PREFIX_PATH="$work/usr"
try 'pkg-config after cmake' [ "$(PKG_CONFIG_PATH=$work/usr/share/pkgconfig pkg-config \
    --cflags perfh | tr -d ' ')" = "-I$work/usr/share/pkgconfig/../../include" ]

# The same files as meson installs.
tools=disabled
if pkg-config --exists jansson; then                # with perf-ab, which must be built
    tools=enabled
    try 'with perf-ab: configure' cmake -S "$root" -B "$work/build" -DPERFH_TOOLS=ON \
        -DCMAKE_INSTALL_PREFIX="$work/usr"
    try 'with perf-ab: build' cmake --build "$work/build"
    try 'with perf-ab: install' cmake --install "$work/build"
    try 'perf-ab runs' "$work/usr/bin/perf-ab" --version
fi
try 'meson: setup' env CFLAGS=-O0 meson setup -Dtests=disabled -Dperf_ab=$tools --prefix="$work/meson" \
    "$work/build-meson" "$root"
try 'meson: install' meson install -C "$work/build-meson"
for prefix in usr meson; do
    (cd "$work/$prefix" && find . -type f | sort) >"$work/$prefix.files"
done
try 'cmake and meson install the same files' diff "$work/usr.files" "$work/meson.files"
try 'cmake and meson: one CMake package' diff -r "$work/usr/share/cmake" "$work/meson/share/cmake"
try 'cmake and meson: the same headers' diff -r "$work/usr/include" "$work/meson/include"
try 'an odd folder' cmake -S "$root" -B "$work/build" -DCMAKE_INSTALL_PREFIX="$work/odd" \
    -DCMAKE_INSTALL_INCLUDEDIR=inc/deep -DCMAKE_INSTALL_DATADIR=lib/data
try 'an odd folder: install' cmake --install "$work/build"
consumer odded 'find_package(perfh CONFIG REQUIRED)' C
built odded -Dperfh_DIR="$work/odd/lib/data/cmake/perfh"

# Versions: asks WANTED EXPECTED(0 found, 1 not)
asks()
{
    mkdir -p "$work/asks"
    printf '%s\n' 'cmake_minimum_required(VERSION 3.19)' 'project(asks NONE)' \
        "find_package(perfh $1 CONFIG QUIET)" \
        'if(perfh_FOUND)' 'message(STATUS "found it")' 'endif()' >"$work/asks/CMakeLists.txt"
    rm -rf "$work/asks/build"
    found=1
    cmake -S "$work/asks" -B "$work/asks/build" -DCMAKE_PREFIX_PATH="$work/usr" 2>&1 |
        grep -q 'found it' && found=0
    try "find_package(perfh $1): $found, wanted $2" [ $found = "$2" ]
}
major=${version%%.*}
asks '' 0
asks "$version EXACT" 0
asks "$version" 0
asks "$major.0" 0
asks "$major.999" 1
asks "$((major + 1)).0" 1
asks "$major.999 EXACT" 1
asks "$major.0...$((major + 1)).0" 0
asks "$version...$version" 0
asks "$version...<$version" 1
asks "$((major + 1)).0...$((major + 2)).0" 1

# In the tree of somebody else, who installs nothing of ours unless asked to.
consumer subdirectory "add_subdirectory($root perfh)"
built subdirectory
try 'subdirectory: installs nothing' cmake --install "$work/subdirectory/build"
try 'subdirectory: nothing there' [ ! -e "$work/subdirectory/usr" ]
consumer fetched "include(FetchContent)
FetchContent_Declare(perfh SOURCE_DIR $root)
FetchContent_MakeAvailable(perfh)" C
built fetched

# A broken install says so instead of failing at the first #include.
rm "$work/usr/include/perf.h"
rm -rf "$work/installed/build"
try 'a missing header: not found' sh -c '! cmake -S "$1/installed" -B "$1/installed/build" \
    -DCMAKE_PREFIX_PATH="$1/usr" >"$1/out" 2>&1 && grep -q "perf.h is missing" "$1/out"' - "$work"
finish
