#!/bin/sh
# Builds the Debian packages libperfh-dev and perf-ab into folder OUT from a release archive.
#
#     tools/debian.sh OUT ARCHIVE       ARCHIVE: perfh-VERSION.tar.gz of tools/release.sh
#
# Needs: apt-get install dpkg-dev debhelper meson libjansson-dev pkgconf
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
[ $# -eq 2 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)
archive=$(CDPATH='' cd -- "$(dirname -- "$2")" && pwd)/$(basename -- "$2")
version=$(basename -- "$2" .tar.gz)
version=${version#perfh-}
[ -f "$archive" ] || { echo "debian.sh: no file $2" >&2; exit 1; }

cp "$archive" "$out/perfh_$version.orig.tar.gz"
rm -rf "$out/perfh-$version"
tar xzf "$archive" -C "$out"
cp -r "$root/packaging/debian" "$out/perfh-$version/debian"
cd "$out/perfh-$version"
# 0upstream1: a package of Debian itself, -1, would replace this one.
date=$(date -u -R -d "@$(stat -c %Y LICENSE)")      # the release's, so that builds repeat
cat >debian/changelog <<END
perfh ($version-0upstream1) unstable; urgency=medium

  * Release $version: see CHANGELOG.md.

 -- The perf.h authors <perfh@example.org>  $date
END
dpkg-buildpackage --unsigned-source --unsigned-changes --no-check-builddeps
