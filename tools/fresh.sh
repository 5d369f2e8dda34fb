#!/bin/sh
# README's first program and its test command on a bare Debian, as a newcomer would type them: the last
# check of a release.
#
#     tools/fresh.sh [SUITE...]         SUITE: a Debian release; without one, bookworm and trixie
#     tools/fresh.sh -n                 shows what it found in the README, and does nothing
#
# Unpacks a minimal Debian (made by debootstrap, kept in ~/.cache/perfh/) into a scratch folder, puts a
# clone of HEAD there, installs a C compiler, saves number.c of "A first program", and runs the command
# beside it and that of "Run the tests", showing what they say.  Then makes the release archive in each
# of them: the bytes must be the same.
# The exit status is 0 when all of it passed; a verdict is no failure.
# Needs: root, and apt-get install debootstrap git.
#
#     CI=true     environment: passed on to ./check
#     KEEP=1      environment: the scratch folders stay and are named
set -eu
root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd)
case ${1:-} in
-n) ;;
-*) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
esac
[ $# -gt 0 ] || set -- bookworm trixie
[ "${1:-}" = -n ] || [ "$(id -u)" -eq 0 ] || { echo "fresh.sh: debootstrap and chroot need root" >&2; exit 1; }
cache=${XDG_CACHE_HOME:-$HOME/.cache}/perfh

# make_base SUITE: a tarball of its smallest system.  Delete it to get a newer one.
make_base()
{
    [ ! -f "$cache/$1.tar" ] || return 0
    mkdir -p "$cache"
    made=$(mktemp -d)
    debootstrap --variant=minbase "$1" "$made" >"$cache/$1.log" 2>&1 ||
        { tail -n 5 "$cache/$1.log"; rm -rf "$made"; return 1; }
    tar -C "$made" -cf "$cache/$1.tar.part" .
    mv "$cache/$1.tar.part" "$cache/$1.tar"
    rm -rf "$made"
}

# How this machine reaches the package registries: names, certificates, settings of apt-get and pip.
copy_network()
{
    for file in /etc/resolv.conf /etc/hosts /etc/pip.conf /etc/ssl/certs/ca-certificates.crt \
                /usr/local/share/ca-certificates/*.crt; do
        [ ! -f "$file" ] || { mkdir -p "$1${file%/*}" && cp -L "$file" "$1$file"; }
    done
    apt-config dump | grep -E '^Acquire::(https?|Check-[^ ]*)[: ]' >"$1/etc/apt/apt.conf.d/99host" || true
}

# README's first program, and the two commands, a line each.
first_program()
{
    sed -n '/^<!-- file: number.c -->/,/^```$/p' "$root/README.md" | sed '/^<!--/d; /^```/d'
}

commands()
{
    sed -n '/^## A first program/,/^## [^A]/s/^\$ //p' "$root/README.md"
    sed -n '/^## Run the tests/,/^## [^R]/s/^`\([^`]*\)`.*/\1/p' "$root/README.md" | head -n 1
}

# The script that runs the commands in there.
inside()
{
    cat <<'END'
cd /root/perfh
apt-get update -qq && apt-get install -qq -y --no-install-recommends gcc libc6-dev >/root/apt.log 2>&1 ||
    { tail /root/apt.log; exit 1; }
while read -r line; do
    echo "\$ $line"
    { sh -c "$line" </dev/null 2>&1; echo $? >/root/status; } | tee /root/output
    status=$(cat /root/status)
    case "$status $line" in                     # a verdict is an answer
    [12]*number*) ! grep -Eqw 'REJECT|INCONCLUSIVE' /root/output || status=0 ;;
    esac
    [ "$status" -eq 0 ] || exit 1
    rm -f number number.c                       # a clean tree for what follows
done </root/commands
tools/release.sh /root/release
END
}

# fresh SUITE: 0 when both commands did what the README says
fresh()
{
    echo "== $1"
    make_base "$1" || return 1
    place=$(mktemp -d)
    tar -C "$place" -xf "$cache/$1.tar"
    chmod 755 "$place"                              # its / is for every user, as on a real one
    copy_network "$place"
    git clone -q --no-hardlinks "$root" "$place/root/perfh"
    first_program >"$place/root/perfh/number.c"
    commands >"$place/root/commands"
    inside >"$place/root/inside"
    # Mounts and processes of its own: both are gone when the last command ends.
    status=0
    # shellcheck disable=SC2016,SC2046
    unshare --mount --pid --fork --kill-child sh -c '
        mount -t proc proc "$0/proc"
        mount -t sysfs -o ro sysfs "$0/sys"     # MPI looks for processors there
        mount -t tmpfs tmpfs "$0/dev/shm"
        mkdir -p "$0/dev/pts"
        mount -t devpts -o newinstance,ptmxmode=0666 devpts "$0/dev/pts" && ln -sf pts/ptmx "$0/dev/ptmx" ||
            echo "fresh.sh: no terminals in there"
        exec chroot "$0" /usr/bin/env -i "$@" sh /root/inside' "$place" \
        HOME=/root TERM=dumb LANG=C.UTF-8 CI="${CI:-}" DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        $(env | grep -iE '^(https?|no)_proxy=' || true) </dev/null || status=$?
    [ $status -ne 0 ] || cat "$place/root/release/SHA256SUMS" >>"$sums"
    if [ "${KEEP:-0}" = 1 ]; then
        echo "fresh.sh: $1 is in $place"
    else
        rm -rf --one-file-system "$place"
    fi
    return $status
}

[ -n "$(first_program)" ] && [ "$(commands | wc -l)" -eq 2 ] ||
    { echo "fresh.sh: README.md has no first program, or not two commands" >&2; exit 1; }
if [ "$1" = -n ]; then
    first_program
    commands
    exit 0
fi
[ -z "$(git -C "$root" status --porcelain)" ] || echo "fresh.sh: takes HEAD, without uncommitted changes"
sums=$(mktemp)
trap 'rm -f "$sums"' EXIT
failed=
for suite; do
    before=$(date +%s)
    fresh "$suite" || failed="$failed $suite"
    echo "== $suite: $((($(date +%s) - before + 30) / 60)) minutes"
done
[ "$(sort -u "$sums" | wc -l)" -le 1 ] || failed="$failed: the release archives differ"
[ -z "$failed" ] || { echo "fresh.sh: failed on$failed"; exit 1; }
echo "fresh.sh: both commands pass on $*"
