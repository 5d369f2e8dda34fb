#!/bin/sh
# Every name of the .pxd files, compiled by one version of Cython and run: names.sh 3|0.29 c|c++
. "$(dirname "$0")/lib.sh"
version=$1 language=$2
need gcc g++
if [ "$version" = 0.29 ]; then
    PYTHONPATH=$root/build-python/cython-0.29
    export PYTHONPATH
fi
need_python Cython
found=$(python3 -c 'import Cython; print(Cython.__version__)')
case $found in
"$version".*) ;;
*) missing "Cython $version is not installed (build-python/), only $found" ;;
esac
if [ "$version" = 0.29 ]; then
    python3 -c 'import sys; sys.exit(sys.version_info >= (3, 13))' ||
        skip 'Cython 0.29 writes C that Python 3.13 does not take'
fi
start_work

case $language in
c) compile='gcc -std=gnu99 -Wincompatible-pointer-types -Wdiscarded-qualifiers' ;;
*) compile='g++ -std=c++11' ;;
esac
suffix=$(python3 -c 'import sysconfig; print(sysconfig.get_config_var("EXT_SUFFIX"))')
include=$(python3 -c 'import sysconfig; print(sysconfig.get_path("include"))')
mode=$([ "$language" = c ] || echo --cplus)

# build NAME FLAG...: $work/NAME.pyx to a module
build()
{
    name=$1
    shift
    try "$name.pyx: cython" python3 -m cython -3 $mode -I "$root/cython" \
        -o "$work/$name.${language#c}c" "$work/$name.pyx"
    # shellcheck disable=SC2086
    try "$name: compile $*" $compile -shared -fPIC -Wall -Werror -Wno-unused-function \
        -Wno-deprecated-declarations -Wno-cpp \
        -I"$include" -I"$root" "$@" -x "$language" "$work/$name.${language#c}c" \
        -o "$work/$name$suffix"
}

python3 "$root/tests/cython/names.py" "$root"/cython/perfh/perf*.pxd >"$work/names.pyx"
cp "$root/tests/cython/basics.pyx" "$work/"
build names -O0
build basics -O1
cd "$work"
try 'every name is there' python3 -c '
import names
assert len(names.pointers) > 100 and all(names.pointers), len(names.pointers)
assert sum(f.startswith("constants_") for f in dir(names)) > 5'
try 'the calls do what they do in C' python3 -c 'import basics; basics.all()'
build basics -O0 -DPERF_DISABLE=1
try 'and nothing with PERF_DISABLE=1' python3 -c 'import basics; basics.off()'
finish
