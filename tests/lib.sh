# shellcheck shell=sh
# Shared by the shell tests and by ./check.  A test in tests/NAME/ begins with
#
#     . "$(dirname "$0")/../lib.sh"
#     need gcc objcopy              commands it cannot do without: else it skips, fails if CI=true
#     try "C at -O2" gcc -O2 ...    runs a command; if it fails, prints what, it and its output
#     fail "f.o has 3 more bytes"   for failures that are no command
#     finish                        prints the count and ends with 0 or 1
#
# $root is the repository, $work a scratch folder that goes away at the end (KEEP=1 keeps it).
set -eu

root=${root:-$(CDPATH='' cd -- "$(dirname -- "$0")/../.." && pwd)}
for bin_ in "$root/build-promtool" "$root/build-python/bin"; do             # see ./check
    [ ! -d "$bin_" ] || PATH=$bin_:$PATH
done
tried=0
failed=0
said_=0                                 # 1: the last line says how it ended

# A command outside `try` that fails ends the test (set -e), and most say nothing.
leave_()
{
    [ "$1" -eq 0 ] || [ "$1" -eq 77 ] || [ "$said_" -eq 1 ] ||      # 77: what it ran has skipped
        echo "FAILED: a command outside \`try\` ended this test with status $1 (sh -x $0 shows which)"
    [ "${KEEP:-0}" = 1 ] || rm -rf "$work"
}

start_work()
{
    work=$(mktemp -d "${TMPDIR:-/tmp}/perfh.XXXXXX")
    [ "${KEEP:-0}" != 1 ] || echo "working in $work"
    trap 'leave_ $?' EXIT
    trap 'echo "stopped by a signal"; said_=1; exit 1' HUP INT TERM
    TMPDIR=$work                        # clang for devices and lintian leave folders there
    export TMPDIR
}

skip()
{
    echo "skipped: $*"
    said_=1
    exit 77
}

# A toolchain that CI promises to have is missing: a skip here would hide that it went untested.
missing()
{
    if [ "${CI:-}" = true ]; then
        echo "failed: $* (CI=true: a missing toolchain is a failure)"
        said_=1
        exit 1
    fi
    skip "$*"
}

need()
{
    for command_ in "$@"; do
        command -v "$command_" >/dev/null || missing "$command_ is not installed"
    done
}

fail()
{
    failed=$((failed + 1))
    echo "FAILED: $*"
}

try()
{
    what_=$1
    shift
    tried=$((tried + 1))
    if "$@" >"$work/output" 2>&1; then
        return 0
    fi
    fail "$what_"
    if [ "$failed" -le 3 ]; then         # the rest is mostly the same again
        echo "    $*"
        head -n 20 "$work/output" | sed 's/^/    | /'
    fi
    return 0
}

finish()
{
    echo "$tried checks, $failed failed"
    said_=1
    [ "$failed" -eq 0 ] || exit 1
    [ "$tried" -gt 0 ] || { echo "FAILED: this test checked nothing"; exit 1; }
    exit 0
}

# The public headers, space separated: perf.h perf_stats.h ...
headers()
{
    (cd "$root" && echo perf*.h)
}

# Prints the CUDA compiler: $NVCC, or on PATH, or where NVIDIA's and our own installers put it.
# NVCC=none hides it.
find_nvcc()
{
    [ "${NVCC:-}" != none ] || return 1
    for nvcc_ in "${NVCC:-}" "$(command -v nvcc || true)" /usr/local/cuda*/bin/nvcc \
                 "$root"/build-cuda/nvidia/*/bin/nvcc; do
        if [ -n "$nvcc_" ] && [ -x "$nvcc_" ]; then
            echo "$nvcc_"
            return 0
        fi
    done
    return 1
}

# Prints the folder that holds nvtx3/nvToolsExt.h: of the CUDA toolkit, or where ./check put it.
find_nvtx()
{
    for nvtx_ in "${NVTX:-}" "$(dirname "$(find_nvcc || true)")/../include" \
                 "$root"/build-cuda/nvtx/nvidia/*/include /usr/local/cuda*/include; do
        if [ -n "$nvtx_" ] && [ -f "$nvtx_/nvtx3/nvToolsExt.h" ]; then
            echo "$nvtx_"
            return 0
        fi
    done
    return 1
}

# Needs the CUDA compiler, and puts it on PATH.
need_nvcc()
{
    found_=$(find_nvcc) || missing "nvcc, the CUDA compiler, is not installed"
    PATH=$(dirname "$found_"):$PATH
    need g++
}
