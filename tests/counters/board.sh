#!/bin/sh
# board.sh: boots a machine whose processor has counters, QEMU's virt board; board.c is all that it
# runs.  -icount shift=0 lets its counters tell each instruction.  Debian's kernel is in
# build-board/, where ./check puts it; LINUX names another one for aarch64.
. "$(dirname "$0")/../lib.sh"

kernel=${LINUX:-$(ls "$root"/build-board/vmlinuz-* 2>/dev/null | head -n 1)}
for command in qemu-system-aarch64 aarch64-linux-gnu-gcc cpio gzip timeout; do
    command -v "$command" >/dev/null || skip "$command is not installed"
done
[ -f "$kernel" ] || skip "there is no Linux kernel for aarch64 in build-board/"

start_work
mkdir "$work/files"
# builds FILE OPTION...: board.c as a program of the board
builds()
{
    to=$1
    shift
    try "board.c as $to" aarch64-linux-gnu-gcc -std=gnu99 -O2 -Wall -Wextra -static "$@" \
        -I"$root" -I"$root/tests" "$root/tests/counters/board.c" -o "$work/files/$to" -lpthread
}
builds init
builds bench -DBOARD_BENCH
[ "$failed" -eq 0 ] || finish
(cd "$work/files" && printf 'init\nbench\n' | cpio -o -H newc --quiet | gzip -1 >"$work/initrd.gz")

boot()
{
    timeout 300 qemu-system-aarch64 -M virt -cpu max -icount shift=0 -m 256 -nographic -nic none \
        -kernel "$kernel" -initrd "$work/initrd.gz" -append 'console=ttyAMA0 quiet panic=-1' \
        </dev/null >"$work/console" 2>&1
    cat "$work/console"
    grep -q '^board: passed' "$work/console"
}
try "the board" boot
grep '^board: ' "$work/console" || cat "$work/console"
finish
