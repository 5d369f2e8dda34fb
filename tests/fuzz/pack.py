#!/usr/bin/env python3
"""pack.py FOLDER MOST FILE.pack: the inputs of a folder that have at most MOST bytes, smallest first, as
one file for run.c: for each its length (4 bytes, little-endian), then its bytes.  To renew a corpus:

    clang -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/merge.c -o merge
    mkdir all few; ./merge -max_total_time=600 -max_len=3000 all tests/fuzz/trace.pftrace
    ./merge -merge=1 few all && tests/fuzz/pack.py few 700 tests/fuzz/merge.pack
"""
import pathlib
import sys

folder, most, out = sys.argv[1:]
inputs = [p.read_bytes() for p in sorted(pathlib.Path(folder).iterdir())]
inputs = sorted((i for i in inputs if len(i) <= int(most)), key=lambda i: (len(i), i))
with open(out, "wb") as f:
    for i in inputs:
        f.write(len(i).to_bytes(4, "little") + i)
print(f"{len(inputs)} inputs, {sum(map(len, inputs))} bytes")
