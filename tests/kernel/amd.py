#!/usr/bin/env python3
"""Instructions that timers add to a loop of a kernel, from clang's assembly for AMD devices.

amd.py ON.s BARE.s KERNEL SCOPES LIMIT
    instructions a scope in a loop of SCOPES of them: those of the loop less those of the bare one,
    waits and moves included, on the way of a lane that records
amd.py ON.s inside KERNEL CLOCK
    between the last two readings of CLOCK but one, those of the kernel's only scope, there is a load
"""
import re
import sys

JUMP = re.compile(r"\s+s_c?branch\w*\s+(\.LBB\w+)")


def blocks(path, kernel):
    """[label, instructions] of each block of the kernel."""
    found = [["", []]]
    inside = False
    for line in open(path, encoding="utf-8"):
        if line.startswith(kernel + ":"):
            inside = True
        elif inside and line.startswith(".Lfunc_end"):
            break
        elif inside and re.match(r"\.LBB\w+:", line):
            found.append([line.split(":")[0], []])
        elif inside and re.match(r"\s+[a-z]", line):
            found[-1][1].append(line.rstrip())
            if re.match(r"\s+s_(c?branch|endpgm|setpc)", line):
                found.append(["", []])
    return found


def loop(path, kernel):
    """How many instructions can follow each other and come round, with the kernel's arithmetic."""
    all_ = blocks(path, kernel)
    at = {label: i for i, (label, _) in enumerate(all_) if label}
    after = []
    for i, (_, code) in enumerate(all_):
        last = code[-1] if code else ""
        jump = JUMP.match(last)
        after.append([at[jump.group(1)]] if jump else [])
        if not re.match(r"\s+s_(branch|endpgm|setpc)", last) and i + 1 < len(all_):
            after[-1].append(i + 1)

    def reached(start):
        seen, todo = set(), list(after[start])
        while todo:
            i = todo.pop()
            if i not in seen:
                seen.add(i)
                todo += after[i]
        return seen

    far = [reached(i) for i in range(len(all_))]
    loops = {tuple(sorted(j for j in far[i] if i in far[j])) for i in range(len(all_)) if i in far[i]}
    code = [[line for i in one for line in all_[i][1]] for one in loops]
    return min(len(lines) for lines in code if any("_fma" in line or "_fmac" in line for line in lines))


def inside(path, kernel, clock):
    code = [line for _, lines in blocks(path, kernel) for line in lines]
    reads = [i for i, line in enumerate(code) if clock in line]
    between = code[reads[-3]:reads[-2]]         # the last one closes the ring
    return not any("global_load" in line or "flat_load" in line or "buffer_load" in line for line in between)


def main(on, bare, kernel, scopes, limit=None):
    if bare == "inside":
        return inside(on, kernel, scopes)
    more = (loop(on, kernel) - loop(bare, kernel)) / int(scopes)
    print(f"{kernel}: {more:.3g} instructions a scope (at most {limit})")
    return not 1 < more <= float(limit)


sys.exit(main(*sys.argv[1:]))
