#!/usr/bin/env python3
"""Instructions of kernels, read from the machine code of .cubin files (16 bytes each, sm_70 and later).

sass.py pair KERNEL LIMIT A.cubin N_A B.cubin N_B BARE_A.cubin BARE_B.cubin
    instructions a scope: what N_B - N_A more of them add, less what they add without timers; no MEMBAR
sass.py loop KERNEL LIMIT SCOPES ARCH A.cubin BARE.cubin
    instructions a scope in a loop of SCOPES of them: those of the loop less those of the bare one
sass.py same A.cubin B.cubin
    the same kernels with the same code
"""
import struct
import sys

NOP, MEMBAR, ERRBAR, CCTL = 0x918, 0x992, 0x9AB, 0x98F
BRANCHES = 0x947, 0x547                 # BRA and BRA.U


def kernels(path):
    data = open(path, "rb").read()
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, offset + i * size) for i in range(count)]
    found = {}
    for s in sections:
        start = sections[names][4] + s[0]
        name = data[start:data.index(b"\0", start)].decode()
        if name.startswith(".text."):
            found[name[6:]] = data[s[4]:s[4] + s[5]]
    return found


def opcodes(code):
    """All of them, moves and waits included; only what pads the end is left out."""
    all_ = [struct.unpack_from("<Q", code, i)[0] & 0xFFF for i in range(0, len(code), 16)]
    while all_ and all_[-1] == NOP:
        all_.pop()
    return all_


def loop(code, arch):
    """Instructions of the first loop.  Distances are in words of 4 bytes, from sm_90 on in two parts."""
    for at in range(0, len(code), 16):
        low, high = struct.unpack_from("<QQ", code, at)
        if low & 0xFFF in BRANCHES:
            far = (high << 64 | low) >> 34 & 0xFFFFFFFFFFFF
            far -= far >> 47 << 48
            if arch >= 90:
                far = far << 8 | low >> 16 & 0xFF
            if -far * 4 > 16:
                return -far * 4 // 16
    raise SystemExit("no loop")


def main(what, *args):
    if what == "same":
        a, b = kernels(args[0]), kernels(args[1])
        if not a or a != b:
            print("different:", [k for k in sorted(set(a) | set(b)) if a.get(k) != b.get(k)])
            return 1
        return 0
    if what == "loop":
        kernel, limit, scopes, arch, a, bare = args
        more = loop(kernels(a)[kernel], int(arch)) - loop(kernels(bare)[kernel], int(arch))
        print(f"{kernel}: {more / int(scopes):.3g} instructions a scope (at most {limit})")
        return more > float(limit) * int(scopes) or more < 1
    kernel, limit, a, n_a, b, n_b, bare_a, bare_b = args
    ops = {path: opcodes(kernels(path)[kernel]) for path in (a, b, bare_a, bare_b)}
    barriers = sum(op in (MEMBAR, ERRBAR, CCTL) for op in ops[b])
    pair = ((len(ops[b]) - len(ops[a])) - (len(ops[bare_b]) - len(ops[bare_a]))) / (int(n_b) - int(n_a))
    print(f"{kernel}: {pair:.3g} instructions a scope (at most {limit}), {barriers} barriers")
    return pair > float(limit) or pair < 1 or barriers != 0


sys.exit(main(*sys.argv[1:]))
