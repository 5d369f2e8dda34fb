#!/usr/bin/env python3
"""pack.py FOLDER MOST FILE.pack: the inputs of a folder that have at most MOST bytes, smallest first, as
one file for run.c: for each its length (4 bytes, little-endian), then its bytes.
pack.py --unpack FILE.pack FOLDER: the other way round.  To renew a corpus:

    KEEP=1 tests/fuzz/libfuzzer.sh merge 600       # names its folders: seeds, grown
    clang -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/merge.c -o merge
    mkdir few && ./merge -merge=1 few seeds grown && tests/fuzz/pack.py few 700 tests/fuzz/merge.pack
"""
import pathlib
import sys


def pack(folder, most, out):
    inputs = [p.read_bytes() for p in sorted(pathlib.Path(folder).iterdir())]
    inputs = sorted((i for i in inputs if len(i) <= int(most)), key=lambda i: (len(i), i))
    with open(out, "wb") as f:
        for i in inputs:
            f.write(len(i).to_bytes(4, "little") + i)
    print(f"{len(inputs)} inputs, {sum(map(len, inputs))} bytes")


def unpack(file, folder):
    packed, at, n = pathlib.Path(file).read_bytes(), 0, 0
    while at < len(packed):
        size = int.from_bytes(packed[at:at + 4], "little")
        at += 4 + size
        if at > len(packed):
            sys.exit(f"{file} is cut off")
        (pathlib.Path(folder) / f"{pathlib.Path(file).stem}-{n:04}").write_bytes(packed[at - size:at])
        n += 1


if sys.argv[1] == "--unpack":
    unpack(*sys.argv[2:])
else:
    pack(*sys.argv[1:])
