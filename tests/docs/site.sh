#!/bin/sh
# tools/site.sh: does it make a site with every page and every public name, and see a link that leads nowhere?
. "$(dirname "$0")/../lib.sh"
need python3 git
start_work
try 'README has what tools/fresh.sh types on a bare machine' "$root/tools/fresh.sh" -n
try 'the reference has every name' python3 "$root/tools/reference.py" "$work/reference"
try 'a page for perf_ab_begin, with its comment' grep -q 'perf_ab_begin(const char' "$work/reference/perf_bench.md"
try 'no private name' sh -c '! grep -lE "^PERF_FN [^(]*_\(" "$1"/*.md' - "$work/reference"
command -v mkdocs >/dev/null || missing 'mkdocs is not installed (tests/python.txt)'
mkdir "$work/copy"
for file in "$root"/*; do
    case ${file##*/} in
    build*) ;;
    *) cp -r "$file" "$work/copy/" ;;
    esac
done
try 'the site' "$work/copy/tools/site.sh" "$work/site"
for page in index.html docs/tutorial.html reference/perf_bench.html cython/index.html; do
    try "$page" test -s "$work/site/$page"
done
echo '[nowhere](nowhere.md)' >>"$work/copy/docs/glossary.md"
try 'a broken link fails it' sh -c '! "$1/copy/tools/site.sh" "$1/site2"' - "$work"
finish
