#!/bin/sh
# One program of two C files, a C++ file, a C and a C++ file with perf_scope.h, two files built with
# PERF_DISABLE=1 and (cuda) a .cu file shares one registry, whatever compilers, levels and settings its
# files were built with.
#
#     tests/together/together.sh gcc|clang|mixed|cuda
. "$(dirname "$0")/../lib.sh"
# shellcheck disable=SC2086

kind=${1:?which kind?}
need gcc g++
case $kind in
clang | mixed) need clang clang++ ;;
cuda) need_nvcc ;;
esac
start_work
here=$root/tests/together
link=g++

# object FILE COMPILER FLAGS: compiles one of our files into $work/$folder
object()
{
    what="$name: $1 with $2 $3"
    try "$what" $2 $3 -I"$root" -c "$here/$1" -o "$work/$folder${1%.*}.o"
}

# The same in every program.
mkdir "$work/same"
name=same folder=same/
object scope.c 'gcc -std=c99' -O2
object both.cpp 'g++ -std=c++11' -O0
object off.c gcc '-O2 -DPERF_DISABLE=1'
object off_cpp.cpp g++ '-O0 -DPERF_DISABLE=1'
folder=

# program LINKFLAGS: links the objects of this run, runs the program, starts afresh
program()
{
    try "$name: links with $link $1" $link "$work"/*.o "$work"/same/*.o -o "$work/program" $1
    if [ -f "$work/program" ]; then
        try "$name: one registry" "$work/program"
    fi
    rm -f "$work/program" "$work"/*.o
}

# same NAME CC CXX FLAGS LINKFLAGS: all files with the same flags
same()
{
    name=$1
    link=$3
    object main.c "$2 -std=c99" "$4"
    object second.c "$2 -std=c11" "$4"
    object cpp.cpp "$3 -std=c++11" "$4"
    program "$5"
}

case $kind in
gcc | clang)
    [ $kind = gcc ] && cxx=g++ || cxx=clang++
    same -O0 $kind $cxx -O0 ''
    same gc-sections $kind $cxx '-O1 -ffunction-sections -fdata-sections' -Wl,--gc-sections
    same pie $kind $cxx '-O2 -fPIE -fvisibility=hidden' -pie
    [ $kind = gcc ] || finish
    same lto $kind $cxx '-O1 -flto' '-O1 -flto'

    name='all headers, lto'             # the linker sees the declarations of C and C++ side by side
    for ext in c cpp; do
        for h in $(headers); do echo "#include \"$h\""; done >"$work/all.$ext"
        echo 'int NAME(void *s);
              int NAME(void *s) { PERF_GPU_SCOPE("x", s); return (int)perf_gpu_collect(); }' >>"$work/all.$ext"
    done
    echo 'extern "C" int c_(void *); int main() { return c_(0) != cpp_(0); }' >>"$work/all.cpp"
    try "$name: C" gcc -O2 -flto -I"$root" -DNAME=c_ -c "$work/all.c" -o "$work/all_c.o"
    try "$name: C++" g++ -O2 -flto -I"$root" -DNAME=cpp_ -c "$work/all.cpp" -o "$work/all_cpp.o"
    try "$name: no word" g++ -O2 -flto=auto -Werror "$work/all_c.o" "$work/all_cpp.o" -o "$work/all"
    try "$name: runs" "$work/all"
    ;;
mixed)
    name='levels and compilers'
    object main.c 'gcc -std=c99' -O0
    object second.c 'clang -std=c99' -O2
    object cpp.cpp 'g++ -std=c++17' -O3
    program ''

    name='lto beside non-lto'
    object main.c 'gcc -std=c99' '-O2 -flto'
    object second.c 'gcc -std=c99' -O0
    object cpp.cpp 'g++ -std=c++11' '-O2 -flto'
    program '-O2 -flto'

    name='settings'
    object main.c 'gcc -std=c99' '-O2 -DPERF_TRACE_EVENTS=64'
    object second.c 'gcc -std=c99' '-O2 -DPERF_TRACE_EVENTS=100000 -funsigned-char -ffast-math'
    object cpp.cpp 'clang++ -std=c++11' '-O2 -fno-exceptions -fno-rtti -DNDEBUG'
    program ''

    name='sanitized beside not'
    object main.c 'gcc -std=c99' '-O1 -fsanitize=address,undefined'
    object second.c 'clang -std=c99' -O2
    object cpp.cpp 'g++ -std=c++11' '-O1 -fsanitize=address,undefined'
    program -fsanitize=address,undefined
    ;;
cuda)
    for level in -O0 -O2; do
        name="with a .cu, $level"
        link=nvcc
        object main.c 'gcc -std=c99' "$level -DWITH_CU"
        object second.c 'gcc -std=c11' "$level"
        object cpp.cpp 'g++ -std=c++11' "$level"
        object cu.cu nvcc "$level"
        program ''
    done
    ;;
*)
    echo "unknown kind: $kind"
    exit 1
    ;;
esac

finish
