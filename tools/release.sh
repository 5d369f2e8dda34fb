#!/bin/sh
# The release archive and its checksums: perfh-VERSION.tar.gz and SHA256SUMS in folder OUT.
#
#     tools/release.sh [--dirty] OUT
#
# The same commit gives the same bytes on Debian bookworm and trixie (GNU tar 1.34 and 1.35, GNU gzip
# 1.12 and 1.13; tools/fresh.sh compares them): sorted names, the commit's time, no owner, and tar's
# format gnu, as the bytes of ustar differ between those two.  Other tools may give other bytes around
# the same files.
# --dirty takes the files as they are now instead of refusing.
set -eu
export LC_ALL=C TZ=UTC
umask 022
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
dirty=no
[ "${1:-}" != --dirty ] || { dirty=yes; shift; }
[ $# -eq 1 ] || { sed -n '2,10s/^# \{0,1\}//p' "$0"; exit 2; }
mkdir -p "$1"
out=$(CDPATH='' cd -- "$1" && pwd)

cd "$root"
git rev-parse --verify -q HEAD >/dev/null || { echo "release.sh: not a git repository" >&2; exit 1; }
if [ $dirty = no ] && [ -n "$(git status --porcelain)" ]; then
    echo "release.sh: uncommitted changes; commit them, or say --dirty" >&2
    exit 1
fi
version=$(sh tests/version.sh)
name=perfh-$version
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# A copy with the modes that git knows, 644 and 755, whatever the umask of the checkout was.
mkdir "$scratch/$name"
git ls-files -z --cached --others --exclude-standard | sort -z >"$scratch/list"
xargs -0 sh -c 'for f; do if [ -f "$f" ]; then printf "%s\0" "$f"; fi; done' - \
    <"$scratch/list" >"$scratch/files"
tar --null --no-recursion -cf - -T "$scratch/files" | tar -xf - -C "$scratch/$name"
find "$scratch/$name" -type d -exec chmod 755 {} +
find "$scratch/$name" -type f -perm -u+x -exec chmod 755 {} +
find "$scratch/$name" -type f ! -perm -u+x -exec chmod 644 {} +

tar -C "$scratch" --sort=name --format=gnu --mtime="@$(git log -1 --format=%ct)" --owner=0 \
    --group=0 --numeric-owner -cf "$scratch/$name.tar" "$name"
gzip -9 -n "$scratch/$name.tar"
mv "$scratch/$name.tar.gz" "$out/"
(cd "$out" && sha256sum "$name.tar.gz" >SHA256SUMS && cat SHA256SUMS)
