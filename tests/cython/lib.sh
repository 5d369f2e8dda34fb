# shellcheck shell=sh
# Shared by the tests of this folder: the package built once a run, kept while its sources stay.
. "$(dirname "$0")/../lib.sh"

PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1 PIP_ROOT_USER_ACTION=ignore PIP_NO_INDEX=1
PYTHONDONTWRITEBYTECODE=1
export PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_ROOT_USER_ACTION PIP_NO_INDEX
export PYTHONDONTWRITEBYTECODE

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

# Installs perfh into $work/site and puts that folder before all others.
install_perfh()
{
    copy_sources
    try 'pip install ./cython' pip_install "$work/source/cython" "$work/site"
    PYTHONPATH=$work/site
    export PYTHONPATH
    [ -f "$work/site/perfh/perf.pxd" ] || { echo 'perfh was not installed'; finish; }
}
