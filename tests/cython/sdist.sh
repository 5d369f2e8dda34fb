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
# It makes the wheel of the archive; nothing here depends on how well the compiler optimised.
try 'python3 -m build cython' python3 -m build --no-isolation \
    --config-setting=setup-args=-Doptimization=0 --skip-dependency-check --outdir "$work/dist" source/cython
rm -rf source
archive=$(echo dist/perfh-*.tar.gz)
try 'pip install perfh-VERSION.whl' pip_install "$(echo dist/perfh-*.whl)" "$work/site"
try 'a scope' env PYTHONPATH="$work/site" python3 -c '
import perfh
with perfh.scope("load"):
    pass
assert "load" in perfh.report_text()'
try 'pip install perfh-VERSION.tar.gz, the headers alone' python3 -m pip install --quiet --no-build-isolation --no-deps \
    --config-settings=setup-args=-Dhelper=disabled --target "$work/plain" "$archive"
try 'the headers alone: only text' sh -c '[ -f plain/perfh/include/perf.h ] &&
    ! find plain -name "*.so" | grep .'
for site in site plain; do
    for header in $(headers); do
        try "$site: $header" cmp "$root/$header" "$site/perfh/include/$header"
    done
done
finish
