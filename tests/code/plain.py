#!/usr/bin/env python3
"""plain.py FOLDER [LIMITS]: is the code still written for reading speed?

Counts, for every header, what a reader pays for, and compares it with the limits in plain.txt beside
this file.  Prints a row a header and a line for each limit that is broken; the exit status says
whether any is.  `plain.py FOLDER --functions` lists the public functions instead.

    ?:        lines with a conditional operator, per 1,000 lines of code
    nested    conditional operators inside another one's branches
    letters   names of one letter, per 1,000 lines of code
    long      functions over 60 lines;  wide: with more than six parameters
    lines     of the header;  columns: lines over 100 columns
"""
import collections
import json
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FOR_ALL = {"perf_base.h", "perf_text.h", "perf_file.h"}         # their private words serve every header
FUNCTION_WORDS = ("PERF_FN,PERF_HD_FN,PERF_COLD_FN_,PERF_OUTLINE_FN_,PERF_HOT_FN_,PERF_INLINE_FN_,"
                  "PERF_DEVICE_FN_,PERF_NOINLINE_FN_")
PRIVATE = re.compile(r"\b(?:perf|PERF)_\w+_\b")
SOURCES = {".c", ".cpp", ".cu", ".hip", ".h"}


def code_of(text):
    """The text without comments, with its strings emptied; lines stay where they are."""
    def blank(match):
        token = match.group(0)
        if token.startswith("/"):
            return re.sub(r"[^\n]", " ", token)
        return token[0] + token[-1]
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', blank, text, flags=re.S)


def conditionals(code):
    """(lines with `?:`, conditionals whose branches hold another one)."""
    lines = sum("?" in line for line in code.splitlines())
    nested = len(re.findall(r"\?[^;?]{0,160}:[^;?]{0,160}\?", code))
    return lines, nested


def functions(path):
    """(name, lines, parameters) of every function with a body, by universal-ctags."""
    out = subprocess.run(["ctags", "--output-format=json", "--fields=+neS", "--kinds-C=f", "--language-force=C",
                          "-I", FUNCTION_WORDS, "-o", "-", str(path)], capture_output=True, text=True, check=True)
    for line in out.stdout.splitlines():
        tag = json.loads(line)
        if "end" in tag:
            inside = re.sub(r"\([^()]*\)", "", tag.get("signature", "()")[1:-1])
            count = inside.count(",") + 1
            yield tag["name"], tag["end"] - tag["line"] + 1, count


def public_functions(code):
    names = re.findall(r"\bPERF_(?:HD_)?FN\b[^;{()]*?\b(perf_\w+)\s*\(", code)
    return sorted({name for name in names if not name.endswith("_")})


def crossing(codes):
    """{owner: private names that another header uses}."""
    owner = {}
    for name in sorted(codes, key=lambda name: name not in FOR_ALL):    # a call looks like a definition
        code = codes[name]
        for word in re.findall(r"^(?:#\s*define\s+|.*?\b)((?:perf|PERF)_\w+_)\s*\(.*$", code, flags=re.M):
            owner.setdefault(word, name)
        for word in re.findall(r"#\s*define\s+(PERF_\w+_)\b", code):
            if owner.get(word) not in FOR_ALL:                          # perf_kernel.h has some of its own
                owner[word] = name
    used = collections.defaultdict(set)
    for name, code in codes.items():
        for word in set(PRIVATE.findall(code)):
            if word in owner and owner[word] != name and owner[word] not in FOR_ALL:
                used[owner[word]].add(word)
    return used


def strokes(codes):
    """Private names that are a public one with a stroke behind it: perf_keep_ beside perf_keep."""
    words = set().union(*(re.findall(r"\b(?:perf|PERF)_\w+\b", code) for code in codes.values()))
    return sorted(word for word in words if word.endswith("_") and word[:-1] in words)


def tests_with_private_names(root):
    """The test files in C, C++, CUDA and HIP that use a private name of a header."""
    found = []
    for path in sorted((root / "tests").rglob("*")):
        if path.suffix in SOURCES and PRIVATE.search(code_of(path.read_text(errors="replace"))):
            found.append(str(path.relative_to(root)))
    return found


def wide_lines(paths):
    return sum(len(line) > 100 for path in paths for line in path.read_text(errors="replace").splitlines())


def read_limits(path):
    limits = {}
    for line in path.read_text().splitlines():
        line = line.split("#")[0].strip()
        if line:
            what, most = line.rsplit(None, 1)
            limits[what] = float(most)
    return limits


class House:
    def __init__(self, root):
        self.root = root
        self.paths = sorted(root.glob("perf*.h"))
        self.codes = {p.name: code_of(p.read_text(errors="replace")) for p in self.paths}
        self.found = {}

    def count(self):
        total = collections.Counter()
        longest, widest, most_lines = [], [], ("", 0)
        print(f"{'header':22} {'lines':>6} {'?:':>5} {'nested':>7} {'letters':>8} {'public':>7}")
        worst = 0.0
        for path in self.paths:
            code = self.codes[path.name]
            lines = sum(1 for line in code.splitlines() if line.strip())
            choices, nested = conditionals(code)
            letters = len(re.findall(r"\b[a-z]\b", code))
            public = len(public_functions(code))
            length = path.read_text(errors="replace").count("\n")
            total.update(lines=lines, choices=choices, nested=nested, letters=letters, public=public, length=length)
            rate = 1000 * choices / max(lines, 1)
            worst = max(worst, rate if lines >= 100 else 0)
            most_lines = max(most_lines, (path.name, length), key=lambda pair: pair[1])
            print(f"{path.name:22} {length:6} {rate:5.0f} {nested:7} {1000 * letters / max(lines, 1):8.0f} {public:7}")
            for name, long_, parameters in functions(path):
                if long_ > 60:
                    longest.append(f"{path.name}: {name} has {long_} lines")
                if parameters > 6:
                    widest.append(f"{path.name}: {name} has {parameters} parameters")
        names = crossing(self.codes)
        tests = tests_with_private_names(self.root)
        documents = [self.root / "README.md", *sorted((self.root / "docs").glob("*.md"))]
        self.found = {
            "conditionals in a header": worst,
            "conditionals": 1000 * total["choices"] / total["lines"],
            "nested conditionals": total["nested"],
            "one-letter names": 1000 * total["letters"] / total["lines"],
            "long functions": len(longest),
            "functions with many parameters": len(widest),
            "private names across headers": len(set().union(*names.values()) if names else ()),
            "private names one stroke from a public one": len(strokes(self.codes)),
            "public functions": total["public"],
            "lines of a header": most_lines[1],
            "wide lines of code": wide_lines(self.paths),
            "wide lines of documents": wide_lines(documents),
            "tests that use private names": len(tests),
        }
        print(f"{'all':22} {total['length']:6} {self.found['conditionals']:5.0f} {total['nested']:7} "
              f"{self.found['one-letter names']:8.0f} {total['public']:7}\n")
        for line in longest + widest:
            print(line)
        print("private names across headers: " + ", ".join(
            f"{owner} {len(words)}" for owner, words in sorted(names.items(), key=lambda item: -len(item[1]))))
        for name in strokes(self.codes):
            print(f"{name} differs from {name[:-1]} by a stroke")
        print("tests that use private names: " + ", ".join(tests))


def main(arguments):
    root = pathlib.Path(arguments[0] if arguments else ".")
    house = House(root)
    if "--functions" in arguments:
        for name, code in house.codes.items():
            for function in public_functions(code):
                print(name, function)
        return 0
    if not shutil.which("ctags"):
        print("skipped: no ctags (apt-get install universal-ctags)")
        return 77
    house.count()
    limits = read_limits(HERE / "plain.txt")
    broken = 0
    print()
    for what, most in limits.items():
        value = house.found[what]
        mark = ""
        if value > most:
            broken += 1
            mark = "   TOO MANY"
        print(f"{what}: {value:.0f} (at most {most:.0f}){mark}")
    print(f"{len(limits) - broken} passed, {broken} failed")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
