"""What do the loops add to each iteration, and do they leave the user's own code as it is?

    tests/time/next.py COMPILER            gcc, clang, g++ or clang++

1. Reads the assembly of next.c: the shortest way from the body back to the body may have one
   decrement and one branch, whichever way the compiler lays it out.  Where it unrolls the loop (gcc 14
   at -O2) the way leads through a copy of the body, and may have one more instruction.
2. gcc takes a function that is bound to call a cold function for cold, and compiles it for size.  A
   loop that becomes vectors at -O3 has to become vectors also next to calls of ours.
"""
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
VECTOR = re.compile(r"\s(v?(add|mul|fmadd)\w*ps)\s")


def functions(text):
    """{name: [line, ...]}: labels as "name:", instructions as "mnemonic operands", the body as "#BODY"."""
    found, lines = {}, None
    for line in text.splitlines():
        start = re.match(r"_?((loop|vector)_\w+):", line)
        if start:
            lines = found[start.group(1)] = []
        elif re.match(r"\s*\.(size|cfi_endproc)\b", line):
            lines = None
        elif lines is not None:
            if "#BODY" in line:
                lines.append("#BODY")
                continue
            line = line.split("#")[0].strip()
            if re.match(r"[.\w$]+:", line) or (line and not line.startswith(".")):
                lines.append(line)
    return found


def shortest_cycle(lines):
    """The instructions from a body back to it, calls excluded, and how many bodies ran; None: no way."""
    labels = {line[:-1]: i for i, line in enumerate(lines) if line.endswith(":")}
    best = None
    for start in (i for i, line in enumerate(lines) if line == "#BODY"):
        ways, seen = [(start + 1, (), 1)], set()
        while ways:
            at, path, bodies = ways.pop(0)
            if at >= len(lines) or at in seen:
                continue
            line = lines[at]
            word, _, target = line.partition("\t")
            # A copy of the body outside the loop (the first of a slice) leads to it, not back.
            if at == start:
                if best is None or len(path) < len(best[0]):
                    best = path, bodies
                continue
            seen.add(at)
            if line == "#BODY":
                ways.insert(0, (at + 1, path, bodies + 1))
            elif line.endswith(":"):
                ways.insert(0, (at + 1, path, bodies))
            elif word.startswith("call") or word.startswith("ret"):
                continue
            elif word.startswith("jmp"):
                if target.strip() in labels:
                    ways.append((labels[target.strip()], path + (line,), bodies))
            else:
                if word.startswith("j") and target.strip() in labels:
                    ways.append((labels[target.strip()], path + (line,), bodies))
                ways.append((at + 1, path + (line,), bodies))
                ways.sort(key=lambda way: len(way[1]))
    return best


def main():
    compiler = sys.argv[1]
    if platform.machine() != "x86_64" or not shutil.which(compiler):
        print("skipped: needs", compiler, "on x86_64")
        return 1 if os.environ.get("CI") == "true" and platform.machine() == "x86_64" else 77
    language = ["-x", "c++", "-std=c++11"] if compiler.endswith("++") else ["-std=c99"]
    failed = tried = 0

    def assembly(options):
        with tempfile.TemporaryDirectory() as work:
            out = os.path.join(work, "next.s")
            subprocess.run([compiler, *language, *options, "-S", "-I", ROOT, os.path.join(HERE, "next.c"),
                            "-o", out], check=True)
            with open(out, encoding="utf-8") as f:
                return functions(f.read())

    for options in (["-O2"], ["-O3", "-fPIC"], ["-O3", "-march=haswell"]):
        found = assembly(options)
        for name in ("loop_bench", "loop_ab", "loop_race"):
            tried += 1
            path, bodies = shortest_cycle(found.get(name, [])) or (("?",), 0)
            print(compiler, *options, name + ":", "; ".join(path).replace("\t", " "), "for", bodies)
            if (not 2 <= len(path) <= bodies + 1 or not re.match(r"dec|sub|add", path[0]) or
                    not re.match(r"j[a-z]+\t", path[-1]) or path[-1].startswith("jmp")):
                failed += 1
                print("FAILED: not one decrement and one branch")
        if "-O3" not in options:
            continue
        for name in sorted(found):
            if name.startswith("vector_"):
                tried += 1
                if not any(VECTOR.search(" " + line) for line in found[name]):
                    failed += 1
                    print("FAILED:", compiler, *options, name, "has no vectors: compiled for size?")
    print(tried, "checks,", failed, "failed")
    return 1 if failed or tried < 35 else 0


if __name__ == "__main__":
    sys.exit(main())
