#!/bin/sh
# The documents and the reference as a site of plain files, by MkDocs (pip install mkdocs).
#
#     tools/site.sh OUT
#
# Every page of the repository at its place, so that the links between them hold, and reference/ from the
# headers.  A link that leads nowhere, or a public name without a place, ends it with 1.
set -eu
[ $# -eq 1 ] || { sed -n '2,7s/^# \{0,1\}//p' "$0"; exit 2; }
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)
command -v mkdocs >/dev/null || { echo "site.sh: needs mkdocs: pip install mkdocs" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/pages"
cd "$root"
for part in *.md LICENSE perf*.h docs examples bench cython packaging tests tools; do
    cp -r "$part" "$work/pages/"
done
find "$work/pages" -name __pycache__ -prune -exec rm -rf {} +
python3 tools/reference.py "$work/pages/reference"
# MkDocs takes README.md for the first page of its folder; its Markdown has no second word on a fence.
find "$work/pages" -name '*.md' -exec sed -i 's/^\( *```[a-z+]*\) .*/\1/' {} +
echo '.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal }
.wy-nav-content { max-width: 1000px }' >"$work/pages/wide.css"
cat >"$work/mkdocs.yml" <<'END'
site_name: perf.h
docs_dir: pages
use_directory_urls: false
extra_css: [wide.css]
theme: {name: readthedocs, highlightjs: false}
validation: {nav: {omitted_files: ignore}, links: {not_found: warn, anchors: warn, absolute_links: warn}}
nav:
  - README.md
  - Learn: [docs/tutorial.md, docs/how-to.md, docs/troubleshooting.md, docs/glossary.md, docs/comparison.md,
    docs/coming-from.md]
  - Subjects:
    - docs/statistics.md
    - docs/statistics-evidence.md
    - docs/loops.md
    - docs/results.md
    - docs/history.md
    - docs/histogram.md
    - docs/perf-ab.md
    - docs/formats.md
    - docs/counters.md
    - docs/auto.md
    - docs/look.md
    - docs/diagnose.md
    - docs/cuda.md
    - docs/cuda-kernels.md
    - docs/nvtx.md
    - docs/mpi.md
    - docs/switches.md
    - tests/portability.md
    - cython/README.md
    - packaging/README.md
  - Reference: reference/index.md
  - Project: [DESIGN.md, bench/README.md, tests/README.md, CONTRIBUTING.md, SECURITY.md, CHANGELOG.md]
END
mkdocs build --strict --config-file "$work/mkdocs.yml" --site-dir "$out" >"$work/said" 2>&1 ||
    { grep -E 'WARNING|ERROR|Abort' "$work/said"; exit 1; }
echo "wrote $out/index.html"
