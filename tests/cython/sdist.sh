#!/bin/sh
# The source distribution, made by `python3 -m build cython` in a git repository: does it hold all that
# it takes to install it, with nothing above its folder?  And the wheel of it?
. "$(dirname "$0")/lib.sh"
need gcc git meson ninja
need_python Cython mesonpy build
start_work
copy_sources
cd "$work"
try 'a repository' sh -c 'git init -q source && git -C source add -A &&
    git -C source -c user.name=x -c user.email=x@example.org commit -q -m x'
try 'python3 -m build cython' python3 -m build --no-isolation \
    --skip-dependency-check --outdir "$work/dist" source/cython
rm -rf source
archive=$(echo dist/perfh-*.tar.gz)
try 'pip install perfh-VERSION.tar.gz' pip_install "$archive" "$work/site"
try 'pip install perfh-VERSION.whl' pip_install "$(echo dist/perfh-*.whl)" "$work/site2"
for site in site site2; do
    for header in $(headers); do
        try "$site: $header" cmp "$root/$header" "$site/perfh/include/$header"
    done
    try "$site: a scope" env PYTHONPATH="$work/$site" python3 -c '
import perfh
with perfh.scope("load"):
    pass
assert "load" in perfh.report_text()'
done
try 'pip install, the headers alone' python3 -m pip install --quiet --no-build-isolation --no-deps \
    --config-settings=setup-args=-Dhelper=disabled --target "$work/site3" "$archive"
try 'the headers alone: only text' sh -c '[ -f site3/perfh/include/perf.h ] &&
    ! find site3 -name "*.so" | grep .'
finish
