# shellcheck shell=sh
# Shared by the tests of this folder: the package built once a run, kept while its sources stay.
. "$(dirname "$0")/../lib.sh"

PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INDEX=1
PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_ROOT_USER_ACTION PIP_NO_INDEX
export PYTHONDONTWRITEBYTECODE
CFLAGS="${CFLAGS:-} -O1"                # behind the -O3 of the builders, which takes twice as long
export CFLAGS

# need_python MODULE...: Python packages of tests/python.txt
need_python()
{
    need python3
    for module_ in "$@"; do
        python3 -c "import $module_" 2>/dev/null ||
            missing "the Python package of the module $module_ is not installed (tests/python.txt)"
    done
}

# pip_install FOLDER TARGET: as a user would, without the network
pip_install()
{
    python3 -m pip install --quiet --no-build-isolation --no-deps --target "$2" "$1"
}

# What the package is built from, to $work/source.
copy_sources()
{
    mkdir "$work/source"
    cp -r "$root"/perf*.h "$root/LICENSE" "$root/cmake" "$root/cython" "$work/source/"
}

# The wheel of perfh, to $wheel: built as users build it by the first test that asks, in build/wheels/,
# and kept while what it is made of stays.
build_wheel()
{
    wheels=$root/build/wheels
    mkdir -p "$wheels"
    exec 9>"$wheels/lock"
    ! command -v flock >/dev/null || flock 9
    made_of=$(cd "$work/source" && find . -type f | LC_ALL=C sort | xargs cat | cksum | tr ' ' -)-$(
        python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
    if [ ! -d "$wheels/$made_of" ]; then
        rm -rf "$wheels"/[0-9]*             # one at a time
        try 'pip wheel ./cython' python3 -m pip wheel --quiet --no-build-isolation --no-deps \
            --wheel-dir "$work/wheels" "$work/source/cython"
        [ "$failed" -eq 0 ] || finish
        mv "$work/wheels" "$wheels/$made_of"
    fi
    cp "$wheels/$made_of"/*.whl "$work/"
    exec 9>&-
    wheel=$(echo "$work"/perfh-*.whl)
}

# Installs perfh into $work/site and puts that folder before all others.
install_perfh()
{
    copy_sources
    build_wheel
    try 'pip install perfh' pip_install "$wheel" "$work/site"
    PYTHONPATH=$work/site
    export PYTHONPATH
    [ -f "$work/site/perfh/perf.pxd" ] || { echo 'perfh was not installed'; finish; }
}
