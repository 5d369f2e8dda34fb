#!/usr/bin/env python3
"""Documents that cannot rot.

    docs.py blocks      every code block of README.md, docs/*.md, tests/README.md and the first
                        comment of each header compiles; those with a main() run
    docs.py outputs [PAGE.md [WORD]]
                        what a document quotes of a program's output is what a run of it says, and
                        its sums, totals and intervals agree; of one page only, and of that the runs
                        whose commands contain WORD
    docs.py switches    every macro and variable that a header reads stands in docs/switches.md, with the
                        default that the header gives it
    docs.py messages    every message of the headers stands in docs/troubleshooting.md
    docs.py names       every public name of the headers has a comment above or beside it
    docs.py links       relative links and #anchors in *.md resolve; headers are plain ASCII; README.md
                        stays short and narrow
    docs.py list        shows the blocks and what is done with each

A fence in a .md file says what it holds:  ```c  C99   ```c c++  C99 and C++11   ```c++  C++11
```cuda  nvcc   ```sh  sh -n   ```python  compile()   ```json  parsed   ```text  a program's output.
Others (see UNCHECKED) are passed over; a fence with none, or an unknown one, is a failure.
A block with no main() may be file-level code or statements, and may use tests/docs/context.h.

A fence below the comment <!-- run: COMMANDS --> quotes what they print; below <!-- run --> its own
lines that begin with "$ " are the commands.  All those of a document run in one folder, from its first
to its last, as a reader would who follows it; the folder holds the repository's files, and those
that <!-- file: NAME --> above an earlier fence of the same document names.  Every quoted line must
come up in the run, in that order; other lines may lie between, one may be broken where it is too
long, "..." leaves something out; numbers, the machine and the clock may be others.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE.parent))
import api  # noqa: E402

HEADERS = sorted(ROOT.glob("perf*.h"))
UNCHECKED = {"text", "meson", "cmake", "make", "cython", "diff", "console", "ini", "yaml"}
C = ["gcc", "-std=c99", "-x", "c"]
CXX = ["g++", "-std=c++11", "-x", "c++"]
LANGUAGES = {"c": C, "c++": CXX, "cpp": CXX}
SECONDS = 120                           # for one program


class Block:
    def __init__(self, path, line, tags, text):
        self.path, self.line, self.tags, self.text = path, line, tags, text
        self.where = f"{path.relative_to(ROOT)}:{line}"
        self.whole = bool(re.search(r"\bmain\s*\(|define PERF_MAIN 1", text))


# ---- finding -----------------------------------------------------------------------------------

def markdown_files():
    return sorted(p for p in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"),
                              *ROOT.glob("tests/**/*.md"), *ROOT.glob("examples/**/*.md"),
                              *ROOT.glob("bench/**/*.md"), *ROOT.glob("tools/**/*.md"),
                              *ROOT.glob("cython/**/*.md"), *ROOT.glob("packaging/**/*.md")])


def markdown_blocks(path):
    blocks, fence = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        match = re.match(r"^( *)(```+|~~~+)\s*(.*)$", line)
        if fence is None and match:
            fence = (match.group(2), number, match.group(3).split(), len(match.group(1)), [])
        elif fence and match and line.strip() == fence[0]:
            blocks.append(Block(path, fence[1] + 1, fence[2], "\n".join(fence[4]) + "\n"))
            fence = None
        elif fence:
            fence[4].append(line[fence[3]:] if line[:fence[3]].isspace() else line)
    if fence:
        raise SystemExit(f"FAILED: {path}:{fence[1]}: this fence is never closed")
    return blocks


def header_blocks(path):
    """In the first comment: what is indented by four or more after a blank line.  Further blank
    lines do not end it.  What a header offers to the library itself is no example for users."""
    blocks, current, start, blank_above = [], [], 0, False
    comment = re.match(r"\s*/\*.*?\*/", path.read_text(encoding="utf-8"), flags=re.S)
    if comment and "For the library itself" in comment.group(0):
        return []
    for number, line in enumerate(comment.group(0).splitlines() if comment else [], 1):
        body = re.sub(r"^ \*", "", line)
        if body.startswith("     ") and (current or blank_above):
            start = start or number
            current.append(body[5:])
        elif body.strip() == "" and current:
            current.append("")
        elif current:
            text = "\n".join(current).rstrip() + "\n"
            device = "<<<" in text or "__global__" in text
            blocks.append(Block(path, start, ["cuda" if device else "c"], text))
            current, start = [], 0
        blank_above = body.strip() == ""
    return blocks


def all_blocks():
    blocks = [b for path in markdown_files() for b in markdown_blocks(path)]
    return blocks + [b for path in HEADERS for b in header_blocks(path)]


# ---- blocks ------------------------------------------------------------------------------------

def run(command, **options):
    return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, errors="replace", **options)


def include_of(block):
    """A block out of a header uses that header; one out of a document says what it includes, or
    uses perf.h, which brings perf_stats.h."""
    if block.path.suffix == ".h":
        return f'#include "{block.path.name}"\n'
    for header, names in (("perf_gpu_bench.h", r"perf_gpu_(bench|ab)"),
                          ("perf_kernel.h", r"perf_kernel_|PERF_KERNEL_"),
                          ("perf_cuda.h", r"perf_gpu_|PERF_GPU_")):
        if re.search(names, block.text):
            return f'#include "{header}"\n'
    return '#include "perf.h"\n'


def split_includes(text):
    """(settings of ours, #includes, the rest with empty lines in their place)"""
    settings = r"\s*#\s*define\s+PERF_"
    include = r"\s*#\s*include"
    lines = text.splitlines()
    parts = [[line for line in lines if re.match(what, line)] for what in (settings, include)]
    parts.append([line if not re.match(f"{settings}|{include}", line) else "" for line in lines])
    return ["\n".join(part) + "\n" for part in parts]


def candidates(block):
    """The ways to read a block as a file, the strictest first."""
    if block.whole:
        return [("a program", block.text)]
    settings, includes, rest = split_includes(block.text)
    context = settings + include_of(block) + includes + '#include "context.h"\n'
    numbered = f'#line {block.line} "{block.where}"\n'
    return [("code at file level", context + numbered + rest),
            ("statements", context + "void fragment(void);\nvoid fragment(void)\n{\n" +
             numbered + rest + "}\n")]


def compile_c(block, compiler, scratch):
    """None, or what is wrong."""
    strict = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", f"-I{ROOT}", f"-I{HERE}", f"-I{scratch}"]
    if not block.whole:
        strict += ["-Wno-unused", "-Wno-unused-parameter", "-Wno-comment"]
    if named_files(block.path):
        strict += ["-Wno-unused-function"]      # a file of the document may hold more than is used
    if "define PERF_NVTX 1" in block.text:
        nvtx = tool("find_nvtx")
        if not nvtx:
            return "NVTX is not installed" if os.environ.get("CI") == "true" else None
        strict += ["-isystem", nvtx]
    outputs = []
    for kind, text in candidates(block):
        source = scratch / "block.c"
        program = scratch / "block"
        source.write_text(text, encoding="utf-8")
        output = ["-O0", "-o", str(program)] if block.whole else ["-fsyntax-only"]
        done = run(compiler[:1] + strict + output + compiler[1:] + [str(source)], cwd=scratch)
        if done.returncode == 0:
            return execute(program, scratch) if block.whole else None
        outputs.append(f"as {kind}, {' '.join(compiler[:2])}:\n{done.stdout}")
    return "\n".join(outputs)


def link_repository(scratch):
    """Links to its files, in folders of our own: `cc -o bench` fails there as it does in ours."""
    for path in ROOT.iterdir():
        place = scratch / path.name
        if path.name.startswith((".", "build")) or place.exists():
            continue
        if path.is_dir():
            place.mkdir()
            for inner in path.iterdir():
                (place / inner.name).symlink_to(inner)
        else:
            place.symlink_to(path)


def execute(program, scratch):
    """Runs beside the repository's files, as a reader would.  A verdict is an answer, no failure:
    statuses 1 and 2 are fine where the output says REJECT or INCONCLUSIVE."""
    link_repository(scratch)
    try:
        done = run([str(program)], cwd=scratch, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    if done.returncode in (1, 2) and re.search(r"\b(REJECT|INCONCLUSIVE)\b", done.stdout):
        return None
    return f"ended with status {done.returncode}:\n{done.stdout}" if done.returncode else None


def tool(find):
    """What a find_ function of tests/lib.sh prints."""
    return run(["sh", "-c", f'root="{ROOT}"; . "$root/tests/lib.sh"; {find}']).stdout.strip()


def compile_cuda(block, scratch):
    nvcc = tool("find_nvcc")
    if not nvcc:
        return "nvcc is not installed" if os.environ.get("CI") == "true" else None
    source = scratch / "block.cu"
    outputs = []
    for kind, text in candidates(block):
        source.write_text(text, encoding="utf-8")
        done = run([nvcc, f"-I{ROOT}", f"-I{HERE}", "-c", str(source), "-o",
                    str(scratch / "block.o")])
        if done.returncode == 0:
            return None
        outputs.append(f"as {kind}, nvcc:\n{done.stdout}")
    return "\n".join(outputs)


def named_files(path):
    """{name: text} of the fences of a document below <!-- file: NAME -->."""
    text = path.read_text(encoding="utf-8") if path.suffix == ".md" else ""
    return dict(re.findall(r"^<!-- file: (.*?) -->\n```[^\n]*\n(.*?)^```", text, re.M | re.S))


def wrong_with(block, scratch):
    """A list of complaints about one block."""
    for name, text in named_files(block.path).items():
        (scratch / name).write_text(text, encoding="utf-8")
    if not block.tags:
        return ["the fence does not say what it holds (```c, ```sh, ```text, ...)"]
    bad = []
    for tag in block.tags:
        if tag in LANGUAGES:
            bad.append(compile_c(block, LANGUAGES[tag], scratch))
        elif tag in ("cuda", "cu"):
            bad.append(compile_cuda(block, scratch))
        elif tag in ("sh", "bash"):
            done = run([tag, "-n", "-c", block.text])
            bad.append(done.stdout if done.returncode else None)
        elif tag == "python":
            try:
                compile(block.text, block.where, "exec")
            except SyntaxError as error:
                bad.append(str(error))
        elif tag == "json":
            try:
                json.loads(block.text)
            except ValueError as error:
                bad.append(str(error))
        elif tag not in UNCHECKED:
            bad.append(f"unknown language '{tag}'")
    return [b for b in bad if b]


def check_blocks():
    for compiler in ("gcc", "g++"):
        if not shutil.which(compiler):
            print(f"skipped: {compiler} is not installed")
            sys.exit(1 if os.environ.get("CI") == "true" else 77)
    bad = 0
    blocks = all_blocks()
    for block in blocks:
        with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
            for complaint in wrong_with(block, pathlib.Path(scratch)):
                bad += 1
                print(f"FAILED: {block.where}: {indent(complaint)}")
    print(f"{len(blocks)} blocks, {bad} failed")
    return bad


def indent(text):
    lines = text.rstrip().splitlines()
    return "\n    ".join(lines[:24])


def list_blocks():
    for block in all_blocks():
        what = "program, run" if block.whole else "compiled"
        tags = " ".join(block.tags) or "?"
        print(f"{block.where}: {tags}{', ' + what if set(block.tags) & set(LANGUAGES) else ''}")
    return 0


# ---- outputs -----------------------------------------------------------------------------------

NUMBER = r"[~+-]*(?:\d+(?:[.,]\d+)*(?:e[+-]?\d+)?|inf)"
UNIT = r"(?:\s?(?:[munp]?s|min|[KMGT]?B(?:/s)?|[MGT]?Hz|ppm|%|x)(?![\w]))?"


def shape(text):
    """The text with its numbers, their units and its spaces made alike."""
    text = re.sub(r"^environment: .*", "environment:", text, flags=re.M)
    text = re.sub(r"^clock \w+:", "clock:", text, flags=re.M)
    text = re.sub(rf"(?<![\w.]){NUMBER}{UNIT}", "#", text)
    text = re.sub(r"the median of the pairs' ratios (clears|misses)", r"the whole interval \1", text)
    text = re.sub(r"\b(second|minute|hour|pair|run|time)s\b", r"\1", text)
    text = re.sub(r"by processor time|by the wall's clock", "by a clock", text)
    return " ".join(text.split())


def quoted(path):
    """(line, commands, text, {name: text of a file}) of each fence below <!-- run -->."""
    text = path.read_text(encoding="utf-8")
    files, found = {}, []
    for m in re.finditer(r"^<!-- (run|file)(?:: (.*?))? -->\n( *)```[^\n]*\n(.*?)^ *```", text,
                         re.M | re.S):
        if m.group(1) == "file":
            files[m.group(2)] = m.group(4)
        else:
            own = "\n".join(re.findall(r"^ *\$ (.*)", m.group(4), re.M))
            found.append((text.count("\n", 0, m.start()) + 1, m.group(2) or own, m.group(4),
                          dict(files)))
    return found


def missing_lines(said, text):
    """The quoted lines that do not come up in what was said, in order."""
    said, at, missing = shape(said), 0, []
    for line in text.splitlines():
        for wanted in filter(None, shape(line).split("...")):
            place = -1 if line.startswith("$ ") else said.find(wanted.strip(), at)
            if place >= 0:
                at = place + len(wanted.strip())
            elif not line.startswith("$ "):
                missing.append(line)
    return missing


UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9, "min": 60e9, "%": 1, "": 1}
VALUE = r"~?-?(\d+(?:\.\d+)?)(?: (ns|us|ms|s|min|%)(?!\w))?"
TIME = r"\d+(?:\.\d+)? (?:ns|us|ms|s)"
SLACK = 1.01                                    # three digits are shown


def values_of(line, count):
    """The last so many values of a line, times in ns; None when it has fewer."""
    found = re.findall(VALUE, line)[-count:]
    if len(found) < count or not re.search(rf"{VALUE}\s*$", line):
        return None
    return [float(number) * UNITS[unit] for number, unit in found]


def scope_tables(text):
    """(wall time above in ns or None, rows as {column: value, "name": line}, whole) of each table."""
    wall, lines = None, text.splitlines()
    for at, line in enumerate(lines):
        above = re.match(r"processor time: .* in (\S+ \w+)\)", line)
        if above:
            wall = values_of(above.group(1), 1)[0]
        if not re.match(r"scope +calls +total ", line):
            continue
        names, rows, whole = line.split()[1:], [], lines[at - 1:at] != ["..."]
        for row in lines[at + 1:]:
            values = values_of(row, len(names))
            whole = whole and not row.startswith("...")
            if values:
                rows.append(dict(zip(names, values), name=row.split("  ")[0].strip()))
            elif not row.startswith("..."):
                break
        yield wall, rows, whole


def rows_at_odds(rows, whole):
    """What the rows of one table say against themselves."""
    share = sum(row["self"] for row in rows)
    for row in rows:
        rising = [row[q] for q in ("p50", "p95", "p99", "max") if q in row]
        if row["self"] > row["total"] * SLACK:
            yield f"{row['name']}: self is more than total"
        if "mean" in row and abs(row["mean"] * row["calls"] - row["total"]) > .01 * row["total"]:
            yield f"{row['name']}: mean times calls is not total"
        if any(a > b * SLACK for a, b in zip(rising, rising[1:])):
            yield f"{row['name']}: a percentile is above a larger one"
        if whole and abs(100 * row["self"] / share - row["share"]) > .6:
            yield f"{row['name']}: share is not self over the sum of all"


def disagreements(text, threads=False):
    """Sentences about what a quoted output says against itself.  threads: scopes of several threads
    may add up to more than the time by the wall."""
    for line in text.splitlines():
        used = re.match(r"processor time: (\d+) % of one processor \((\S+ \w+) in (\S+ \w+)\)", line)
        if used:
            cpu, wall = (values_of(used.group(k), 1)[0] for k in (2, 3))
            if abs(100 * cpu / wall - float(used.group(1))) > 1.1:
                yield f"not {used.group(1)} %: {used.group(2)} in {used.group(3)}"
    for wall, rows, whole in scope_tables(text):
        yield from rows_at_odds(rows, whole)
        mine = sum(row["self"] for row in rows)
        if wall and not threads and mine > wall * SLACK:
            yield f"scopes of {mine / 1e6:.3g} ms, and {wall / 1e6:.3g} ms by the wall"
    flat = " ".join(text.split())
    for name, shown in (("speed-up", rf"speed-up ({NUMBER})x \(95 % CI ({NUMBER})x to ({NUMBER})x\)"),
                        ("change", rf"({NUMBER}) % \[({NUMBER}) %, ({NUMBER}) %\]"),
                        ("median", rf"(?<![-+.\d])({TIME}) \[({TIME}), ({TIME})\]")):
        for m in re.finditer(shown, flat):
            if name == "median":
                middle, low, high = (values_of(m.group(k), 1)[0] for k in (1, 2, 3))
            else:
                middle, low, high = (float(m.group(k).replace("+", "")) for k in (1, 2, 3))
            if not low <= middle <= high:
                yield f"the {name} lies outside of its interval: {m.group(0)}"


def check_sums(page):
    """How many quoted outputs disagree with themselves, run or not"""
    bad = 0
    for path in markdown_files():
        if page not in ("", path.name):
            continue
        threads = {line + 2 for line, commands, _, files in quoted(path)
                   if any(name in commands and "pthread_create" in files[name] for name in files)}
        for block in markdown_blocks(path):
            if block.tags[:1] == ["text"]:
                for sentence in disagreements(block.text, block.line in threads):
                    bad += 1
                    print(f"FAILED: {block.where}: {sentence}")
    return bad


def check_outputs(page="", word=""):
    bad, runs, verdicts, withheld = check_sums(page), 0, 0, 0
    for path in markdown_files():
        if page in ("", path.name):
            with tempfile.TemporaryDirectory(prefix="perfh.") as scratch:
                link_repository(pathlib.Path(scratch))
                for result in follow(path, pathlib.Path(scratch), word):
                    runs += 1
                    bad += result == "failed"
                    verdicts += result in ("decided", "withheld")
                    withheld += result == "withheld"
    print(f"{runs} quoted outputs, {bad} failed; {withheld} of {verdicts} verdicts withheld by a busy machine")
    if verdicts > 3 and withheld > verdicts / 2:            # of a page or two all may be
        bad += 1
        print("FAILED: more than half of the quoted verdicts were not reached")
    return bad if runs else 1


def follow(path, scratch, word):
    """How each quoted output of one document came out in this folder: "ok", "failed", or, where a
    verdict is quoted, "decided" or "withheld"."""
    for line, commands, text, files in [run for run in quoted(path) if word in run[1]]:
        where = f"{path.relative_to(ROOT)}:{line}"
        for name, content in files.items():
            (scratch / name).write_text(content, encoding="utf-8")
        done, withheld = run_quote(commands, text, scratch)
        if done.returncode in (76, 77):     # 76: this alone; 77, no network: nor what follows from it
            below = " and below" if done.returncode == 77 else ""
            print(f"skipped: {where}{below}: {done.stdout.strip().splitlines()[-1]}")
            yield "ok"
            if below:
                return
            continue
        missing = missing_lines(done.stdout, text)
        if withheld:
            print(f"withheld: {where}: the quoted verdict, in each of {TRIES} runs")
            yield "withheld"
        elif missing:
            print(f"FAILED: {where}: {commands}\n    does not say:")
            print("".join(f"        {quote.strip()}\n" for quote in missing) + "    but:\n        " +
                  "\n        ".join(done.stdout.splitlines()[:40]))
            yield "failed"
        else:
            yield "decided" if VERDICT.search(text) else "ok"


TRIES = 5
VERDICT = re.compile(r"\b(ACCEPT|REJECT):")
WITHHELD = re.compile(r"(?<!\b0 )INCONCLUSIVE")


def run_quote(commands, text, scratch):
    """(what the commands said, was a quoted verdict withheld?)  A busy machine may withhold it, so
    that is tried again, each time from the files that were there before."""
    if not VERDICT.search(text):
        return run(["sh", "-c", commands], cwd=scratch, timeout=SECONDS), False
    with tempfile.TemporaryDirectory(prefix="perfh.") as place:
        before = pathlib.Path(place) / "before"
        shutil.copytree(scratch, before, symlinks=True)
        for _ in range(TRIES):
            done = run(["sh", "-c", commands], cwd=scratch, timeout=SECONDS)
            if len(WITHHELD.findall(done.stdout)) <= len(WITHHELD.findall(text)):
                return done, False
            for inside in list(scratch.iterdir()):
                if inside.is_dir() and not inside.is_symlink():
                    shutil.rmtree(inside)
                else:
                    inside.unlink()
            shutil.copytree(before, scratch, symlinks=True, dirs_exist_ok=True)
    return done, True


# ---- names -------------------------------------------------------------------------------------

DECLARATION = re.compile(r"""
      ^[ \t]*\#[ \t]*define[ \t]+(?P<macro>PERF_\w*[A-Z0-9]|perf_\w*[a-z0-9])\b
    | ^[ \t]*PERF_(?:HD_)?FN\b[^;{}()=]*?\b(?P<function>perf_\w*[a-z0-9])\s*\(
    | ^[ \t]*typedef\b[^;{}]*?\b(?P<type>perf_\w*[a-z0-9])\s*(?=;|\[|\))
    | ^[ \t]*(?:typedef\s+)?(?:struct|enum|union)\s+(?P<tag>perf_\w*[a-z0-9])\s*\{
    """, re.M | re.X)


def documented(lines, code, first, last):
    """Is there a comment beside lines first..last (0-based), or on its own directly above?  Above
    also counts through declarations that have none of their own: one comment for a small group."""
    if any(lines[k] != code[k] for k in range(first, last + 1)):
        return True
    k = first - 1
    while k >= 0 and lines[k].strip():
        alone = not code[k].strip()             # nothing but comment on this line
        if alone or (lines[k] != code[k] and code[k].lstrip().startswith("#if")):
            return True
        if lines[k] != code[k]:
            return False                        # a declaration with a comment of its own
        k -= 1
    return False


def undocumented(path):
    """(line, name) of each public name none of whose declarations has a comment."""
    source = path.read_text(encoding="utf-8")
    blank = api.blank_comments(source)
    lines, code = source.splitlines(), blank.splitlines()
    first_line, found, good = {}, {}, set()
    for match in DECLARATION.finditer(api_shape(blank)):
        name = match.group(match.lastgroup)
        if name in ("PERF_" + path.stem.removeprefix("perf_").upper() + "_H", "PERF_H"):
            continue                            # the include guard
        first = blank.count("\n", 0, match.start())
        last = blank.count("\n", 0, declaration_end(blank, match))
        first_line.setdefault(name, first + 1)
        found[name] = True
        if match.lastgroup == "tag":
            last += 1                           # a comment beside the first member will do
        if documented(lines, code, first, min(last, len(lines) - 1)):
            good.add(name)
    return len(found), [(first_line[n], n) for n in found if n not in good]


def api_shape(text):
    """The same text, same length, without attributes: they hide the name in front of the ( ."""
    return re.sub(r"\bPERF_ATTR_\(\([^()]*(?:\([^()]*\)[^()]*)*\)\)",
                  lambda m: " " * len(m.group(0)), text)


def declaration_end(text, match):
    """Where a declaration's own lines end: ; or { of a prototype, the logical line of a macro."""
    if match.lastgroup == "macro":
        end = match.end()
        while True:
            end = text.find("\n", end)
            if end < 0:
                return len(text) - 1
            if text[end - 1] != "\\":
                return end - 1
            end += 1
    end = re.compile(r"[;{]").search(text, match.end() - 1)
    return end.start() if end else match.end()


def check_names():
    bad = total = 0
    for path in HEADERS:
        count, missing = undocumented(path)
        total += count
        for line, name in missing:
            bad += 1
            print(f"FAILED: {path.name}:{line}: {name} has no comment above or beside it")
    print(f"{total} public names, {bad} without a comment")
    return bad if total else 1


# ---- messages ----------------------------------------------------------------------------------

TROUBLES = ROOT / "docs" / "troubleshooting.md"
LISTED = re.compile(r"X\(\s*(PERF_(?:E[A-Z]+|WARN_\w+|CLOCK_\w+))\s*,")
# Strings of three words or more that are no message: other formats, assembly, column headings, labels.
NO_MESSAGE = re.compile(r"""
      [{}<>]|":|^,?\.\w|%%\w|^\W*\w+(?:[,"]+\w+)+\W*$      # JSON, HTML, assembly, files, CSV
    | ^[ ]*--[a-z-]+[ ][A-Z]                                    # the options, as --help lists them
    | Histogram[ ]log[ ]format|^\(seconds[ ]since|TotalCount|^Median[ ]time|^Time[ ]between
    | ^Last[ ]value[ ]given|p95[ ]+p99|lag[ ]+max[ ]lag|^memory[ ]phase|memory[ ]phase[ ]+GPU|^counter[ ]
    | ^of[ ]total|^name[ ]+before|up[ ]to[ ]+count|^benchmark[ ]+median|stream[ ]per[ ]thread
    | O\([a-z ]+\)|comdat|popsection|\.long[ ]|^total[ ]self|^thread[ ]ran[ ]no|^PROGRAM[ ]--save|\\[rb]|\\\\|const[ ]node
    | ^\(perf\.h[ ]writes|hardware[ ]slow-down|clock[ ]moved[ ]by|^no[ ]more[ ]than$|optimised[ ]for[ ]size
    | ^threads[ ]+an[ ]iteration
    | ^--[a-z-]+[ ]needs[ ]                                     # an option says itself what it needs
    """, re.X)


def messages(path):
    """(line, text) of each message that a header can print, and of its #error lines."""
    text = re.sub(r"\\\n", "  ", api.blank_comments(path.read_text(encoding="utf-8")))
    string = r'"(?:\\.|[^"\\\n])*"'
    for match in re.finditer(rf"{string}(?:\s*{string})*", text):
        line = text[text.rfind("\n", 0, match.start()) + 1:match.start()]
        if re.search(r"#\s*(include|pragma)|_Pragma|__asm__|PERF_SYM_\($", line):
            continue
        said = "".join(re.findall(r'"((?:\\.|[^"\\\n])*)"', match.group(0)))
        said = " ".join(re.sub(r"\\n|\\[0x]\w\w", " ", said).replace('\\"', '"').split())
        words = re.findall(r"(?<![\w/%\\\\])[A-Za-z][a-z']*(?![\w/])", said)
        if len(words) >= 3 and " " in said and not NO_MESSAGE.search(said):
            yield text.count("\n", 0, match.start()) + 1, said


def plain(text):
    """A message without what Markdown puts around it, and without its numbers' plurals."""
    text = re.sub(r"perf_\w+\.h\b", "perf.h", text)      # of each header alike
    text = re.sub(r"<br>|`|\*", " ", text).replace("\\|", "|").replace("%%", "%").lower()
    for many, one in ((r"(\w\w+)s", r"\1"), ("were", "wa"), ("are", "is"), ("them", "it"),
                      ("their", "it")):
        text = re.sub(rf"\b{many}\b", one, text)        # "1 scope was" as "2 scopes were"
    return " ".join(text.split()).strip(" ,;:")


def listed(said, rows):
    """Does a row hold the message, with anything where it has a %s or %.4f, in that order?"""
    said = re.sub(r"^(note|warning): ", "", said).replace("%%", "% ")
    parts = [plain(p) for p in re.split(r"%[-+0#]*\*?\d*(?:\.(?:\d+|\*))?[hlz]*[a-zA-Z]", said)]
    pattern = re.compile(".*?".join(re.escape(p) for p in parts if p))
    return any(pattern.search(row) for row in rows)


def entries(text):
    """(line, message, whether a cause or a cure follows) of each entry of troubleshooting.md.

    An entry is a list item, `- **message**: cause. *Cure:* cure`, without the cure where there is nothing
    to do and without the cause where the message says it, or a row of a table with three cells.
    """
    item, first = [], 0
    for number, line in enumerate(text.splitlines() + [""], 1):
        if item and line.startswith("  "):
            item.append(line.strip())
            continue
        if item:
            match = re.match(r"- \*\*(.+?)\*\*: .*(\*Cure:\* .{2,}|\w.*\.)$", " ".join(item))
            yield first, plain(match.group(1) if match else item[0]), match is not None
            item = []
        if line.startswith("- **"):
            item, first = [line], number
        cells = [c.strip() for c in re.split(r"(?<!\\)\|", line)[1:-1]] if line.startswith("|") else []
        if cells and not set(cells[0]) <= set("- :"):
            yield number, plain(cells[0]), len(cells) == 3 and all(cells)


def check_messages():
    bad, known = 0, []
    text = TROUBLES.read_text(encoding="utf-8")
    for number, message, complete in entries(text):
        known.append(message)
        if not complete:
            bad += 1
            print(f"FAILED: docs/troubleshooting.md:{number}: not a message with a cause or a cure")
    total = 0
    for path in HEADERS:
        source = path.read_text(encoding="utf-8")
        for line, said in messages(path):
            total += 1
            if not listed(said, known):
                bad += 1
                print(f"FAILED: {path.name}:{line}: not in docs/troubleshooting.md: {said}")
        for name in LISTED.findall(source):
            total += 1
            if not re.search(rf"\b{name}\b", text):
                bad += 1
                print(f"FAILED: {path.name}: {name} is not in docs/troubleshooting.md")
    print(f"{total} messages and names, {len(known)} rows, {bad} failed")
    return bad if total > 100 else 1


# ---- links and text ----------------------------------------------------------------------------

def anchors(path):
    """The #names that a Markdown viewer gives to the headings of a file."""
    names = set()
    for heading in re.findall(r"^#+[ \t]+(.*?)[ \t]*#*$", path.read_text(encoding="utf-8"), re.M):
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.lower())
        names.add(re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", text)))
    return names


def check_links():
    bad = links = 0
    for path in markdown_files():
        prose = re.sub(r"^( *)```.*?^\1```", lambda m: "\n" * m.group(0).count("\n"),
                       path.read_text(encoding="utf-8"), flags=re.M | re.S)
        prose = re.sub(r"`[^`\n]*`", "", prose)
        targets = re.findall(r"\]\(\s*<?([^)\s>]+)", prose)
        targets += re.findall(r"^\s*\[[^\]]+\]:\s*(\S+)", prose, flags=re.M)
        for target in targets:
            if re.match(r"[a-z][a-z0-9+.-]*:", target):
                continue                        # another site: not ours to vouch for
            links += 1
            name, _, anchor = target.partition("#")
            file = (path.parent / name).resolve() if name else path
            where = path.relative_to(ROOT)
            if not file.exists():
                bad += 1
                print(f"FAILED: {where}: link to {target}: no such file")
            elif anchor and file.suffix == ".md" and anchor not in anchors(file):
                bad += 1
                print(f"FAILED: {where}: link to {target}: no such heading")
    for path in HEADERS:
        for number, line in enumerate(path.read_bytes().decode("latin-1").split("\n"), 1):
            if re.search(r"[^\x20-\x7e]", line):
                bad += 1
                print(f"FAILED: {path.name}:{number}: a tab, or not ASCII")
            elif line.endswith(" ") or len(line) > 120:
                bad += 1
                print(f"FAILED: {path.name}:{number}: blank at the end, or over 120 columns")
    readme = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(readme, 1):
        if len(line) > 100:
            bad += 1
            print(f"FAILED: README.md:{number}: over 100 columns")
    words = len(" ".join(readme).split())
    if words > 1150:
        bad += 1
        print(f"FAILED: README.md: {words} words: what is more than a few minutes goes to docs/")
    words = sum(len(page.read_text(encoding="utf-8").split()) for page in (ROOT / "docs").glob("*.md")
                if page.name != "statistics-evidence.md")
    if words > 25000:
        bad += 1
        print(f"FAILED: docs/: {words} words without statistics-evidence.md: cut as many as you add")
    print(f"{links} links, {len(HEADERS)} headers, {bad} failures")
    return bad


# ---- switches ----------------------------------------------------------------------------------

# Words of the preprocessor that no user sets: guards, values, the version, hooks of our own tests.
NO_SWITCH = re.compile(r"PERF_(\w*_?H(_\w+)?|VERSION|CLOCK_(AUTO|MONOTONIC|TSC)|TEST_\w+)$")


def switches_of(path):
    """Macros that a user may set before a header, and variables of the environment that it reads."""
    text = api.blank_comments(path.read_text(encoding="utf-8"))
    found = set(re.findall(r'getenv_?\("(PERF_\w+)"\)', text))
    if path.suffix == ".h":
        for line in re.sub(r"\\\n", " ", text).splitlines():
            if re.match(r"\s*#\s*(if|ifdef|ifndef|elif)\b", line):
                found |= set(re.findall(r"\bPERF_[A-Z0-9_]*[A-Z0-9]\b", line))
    return {name for name in found if not NO_SWITCH.match(name)}


def default_of(name, source):
    """What a header makes of a macro that nobody has defined, as the page writes it; None: nothing."""
    found = re.search(rf"#ifndef {name}\b.*\n(?:#if.*\n)?#define {name}\b(?:\(\w+\))?(.*)", source)
    if not found:
        return None
    value = found[1].partition("/*")[0].strip()
    power = re.fullmatch(r"\(UINT64_C\(1\) << (\d+)\)", value)
    value = re.sub(r"^__builtin_|\(\w+\)$", "", value)
    return f"2^{power[1]}" if power else value or None


def wrong_defaults(page, source):
    """Rows of the table of macros whose default is another one than that of the header."""
    wrong = []
    for line in page.partition("## Macros")[2].partition("\n## ")[0].splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 4 or not cells[0].startswith("`"):
            continue
        name, said = (re.search(r"[^`, ]+", cell)[0] for cell in cells[:2])
        default = default_of(name, source)
        if default != (None if cells[1] in ("none", "not defined") else said):
            wrong.append(f"{name} is {default} by default, not {said}")
    return wrong


def check_switches():
    page = ROOT / "docs" / "switches.md"
    listed_ = set(re.findall(r"`(PERF_\w+)`", "\n".join(
        line.split("|")[1] for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("| `"))))
    found = {}
    single = ROOT / "single_include" / "perf.h"         # has a switch of its own
    for path in [*HEADERS, single, *sorted((ROOT / "tools").glob("*.[ch]"))]:
        for name in switches_of(path):
            found.setdefault(name, path.name)
    bad = 0
    for name in sorted(found.keys() - listed_):
        bad += 1
        print(f"FAILED: {found[name]}: {name} is not in docs/switches.md")
    source = "\n".join(path.read_text(encoding="utf-8") for path in [*HEADERS, single])
    for name in sorted(listed_):
        if not re.search(rf"\b{name}\b", source):
            bad += 1
            print(f"FAILED: docs/switches.md: {name} is in no header")
    for wrong in wrong_defaults(page.read_text(encoding="utf-8"), source):
        bad += 1
        print(f"FAILED: docs/switches.md: {wrong}")
    print(f"{len(found)} switches, {bad} failed")
    return bad if len(found) > 10 else 1


if __name__ == "__main__":
    actions = {"switches": check_switches,
               "blocks": check_blocks, "outputs": check_outputs, "messages": check_messages,
               "names": check_names, "links": check_links, "list": list_blocks}
    args = sys.argv[2:]
    if len(sys.argv) < 2 or sys.argv[1] not in actions or len(args) > 2 * (sys.argv[1] == "outputs"):
        sys.exit(__doc__)
    sys.exit(1 if actions[sys.argv[1]](*args) else 0)
