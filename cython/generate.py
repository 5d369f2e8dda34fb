#!/usr/bin/env python3
"""Writes perfh/*.pxd from the headers.

    generate.py             writes them
    generate.py --check     changes nothing; fails when one of them is not what would be written

Needs clang, which parses the headers; nobody who uses the files needs it, they are kept in the
repository.  A header perf_x.h becomes perfh/perf_x.pxd: its functions, structs, enums and numeric
macros.  Names that end in an underscore are private and left out; so are fields of such types.
perf_main.h has none: a Cython module has no main.
"""
import difflib
import json
import keyword
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(ROOT / "tests"))
import api  # noqa: E402

# What to write instead of a macro that takes arguments.  A macro that is not listed is for C only.
INSTEAD = {
    "PERF_SCOPE": "s = perf_scope_begin(b\"x\"), try/finally: perf_scope_end(&s)",
    "PERF_FUNCTION": "the same, with the function's name",
    "PERF_WAIT": "s = perf_wait_begin(b\"x\"), try/finally: perf_scope_end(&s)",
    "PERF_LAP": "perf_lap_end(&lap, b\"x\")",
    "PERF_COUNT": "perf_count(b\"x\", value)",
    "PERF_INSTANT": "perf_instant(b\"x\")",
    "PERF_SCOPE_VALUE": "perf_scope_value(b\"x\", value)",
    "PERF_SCOPE_TEXT": "perf_scope_text(b\"x\", b\"text\")",
    "PERF_GPU_SCOPE": "g = perf_gpu_scope_begin(b\"x\", stream), try/finally: perf_gpu_scope_end(&g)",
    "PERF_GPU_COPY_IN": "g = perf_gpu_copy_begin(b\"x\", stream, PERF_GPU_HOST_TO_DEVICE), the same end",
    "PERF_GPU_COPY_OUT": "g = perf_gpu_copy_begin(b\"x\", stream, PERF_GPU_DEVICE_TO_HOST), the same end",
    "PERF_GPU_COPY": "g = perf_gpu_copy_begin(b\"x\", stream, PERF_GPU_DEVICE_TO_DEVICE), the same end",
    "PERF_GPU_WAIT": "s = perf_wait_begin(b\"x\"): counted as a wait for data, not for the device",
    "PERF_MALLOC": "set for the C compiler: define_macros, c_args",
    "PERF_FREE": "see PERF_MALLOC",
}
# Macros that Cython can call like functions.
LIKE_A_FUNCTION = {"perf_keep": "void perf_keep(...) noexcept    # a number or a pointer",
                   "perf_bench_opts_default": "perf_bench_opts perf_bench_opts_default() noexcept",
                   "perf_ab_opts_default": "perf_ab_opts perf_ab_opts_default() noexcept"}
# headers without a public name
NOTHING = {"perf_activity.h", "perf_core.h", "perf_file.h", "perf_layout.h", "perf_math.h", "perf_proc.h",
           "perf_registry.h", "perf_rocprofiler.h", "perf_sink.h", "perf_text.h", "perf_rows.h", "perf_tree.h", "perf_events.h",
           "perf_loop.h", "perf_loop_rows.h", "perf_loop_state.h", "perf_gpu_meters.h",
           "perf_gpu_state.h"}
INTERNAL = {"PERF_BEGIN_DECLS", "PERF_END_DECLS", "PERF_ZERO", "PERF_FN", "PERF_HD_FN"}
BUILTIN = {"void", "char", "short", "int", "long", "float", "double", "size_t", "unsigned",
           "signed", "const"}
FROM_LIBC = {"FILE": "libc.stdio", **{f"{u}int{n}_t": "libc.stdint" for u in ("", "u")
                                      for n in (8, 16, 32, 64)}, "uintptr_t": "libc.stdint"}


# ---- reading -----------------------------------------------------------------------------------

def drop_bodies(text):
    """Function bodies become ';': the declarations are all we want, and clang is quicker so."""
    out, pos, depth, start = [], 0, 0, None
    last = ""
    for match in re.finditer(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|[{}]|[^\s{}"\']', text):
        token = match.group(0)
        if token == "{":
            if depth == 0 and last == ")":
                out.append(text[pos:match.start()] + ";")
                start = True
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0 and start:
                pos, start = match.end(), None
        last = token
    return "".join(out) + text[pos:]


def preprocess(header, extra=""):
    """The header and what it includes, with a marker where each of our own files begins."""
    source = f'#include "{header}"\n{extra}'
    text = subprocess.run(["clang", "-E", "-std=gnu99", "-x", "c", f"-I{ROOT}", "-"], text=True,
                          cwd=ROOT, input=source, capture_output=True, check=True).stdout
    lines, count, before = [], 0, None
    for line in text.splitlines():
        match = re.match(r'# \d+ "([^"]*)"', line)
        if match:                           # one of ours, or "other": systems include inside structs
            name = pathlib.Path(match.group(1)).name
            name = name if (ROOT / name).exists() and name.startswith("perf") else "other"
            if name == before:
                continue
            before, count = name, count + 1
            line = f"extern int perfh_file_{count}_{re.sub(r'[^A-Za-z0-9]', '_', name)}_;"
        elif line.startswith("#"):
            continue
        lines.append(line)
    return "\n".join(lines)


def declarations(header):
    """clang's declarations of one header alone, in order."""
    text = drop_bodies(api.drop_attributes(preprocess(header)))
    ast = json.loads(subprocess.run(
        ["clang", "-std=gnu99", "-w", "-x", "c", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"],
        text=True, input=text, capture_output=True, check=True).stdout)
    mark, inside, nodes = re.sub(r"[^A-Za-z0-9]", "_", header) + "_", False, []
    for node in ast["inner"]:
        name = node.get("name", "")
        marker = re.match(r"perfh_file_\d+_(.*)$", name)
        if marker:
            inside = marker.group(1) == mark
        elif inside:
            nodes.append(node)
    return nodes


def numbers(header):
    """(name, C type) of the macros that stand for a number, on this machine."""
    source = (ROOT / header).read_text()
    # of each #define in any branch: one that does not expand to a number here is passed over
    names = [n for n, _ in api.macros(source) if not n.endswith("_")]
    names = list(dict.fromkeys(names))
    text = preprocess(header, "\n".join(f"PERFH_VALUE {i} <<<{n}>>>" for i, n in enumerate(names)))
    found = []
    for i, value in re.findall(r"PERFH_VALUE\s+(\d+)\s+<<<(.*?)>>>", text, flags=re.S):
        name, value = names[int(i)], " ".join(value.split())
        if value and value != name and re.fullmatch(
                r"[\s()+*/<|~-]*(?:(?:0[xX][0-9a-fA-F]+|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
                r"[uUlL]*[\s()+*/<|~-]*)+", value):
            plain = re.sub(r"(?<=[0-9a-fA-F])[uUlL]+", "", value)
            number = eval(plain)                    # digits and operators only, see the pattern
            kind = "double" if isinstance(number, float) else \
                "int" if -2**31 <= number < 2**31 else "uint64_t"
            found.append((name, kind))
    return found


def macros_with_arguments(header):
    source = api.blank_comments((ROOT / header).read_text())
    names = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)\(", source, flags=re.M)
    return [n for n in dict.fromkeys(names)
            if not n.endswith("_") and n not in INTERNAL and n.startswith("PERF_")]


def opens_with(header):
    """Our own headers that this one includes before its declarations."""
    head, declarations, _ = (ROOT / header).read_text().partition("PERF_BEGIN_DECLS")
    return re.findall(r'^#include "(perf\w*\.h)"', head, flags=re.M) if declarations else []


def included(header):
    """Our own headers that this one always includes, but for those that it brings behind its own
    declarations, which need it: two .pxd files cannot import each other."""
    text = preprocess(header)
    seen = re.findall(r"perfh_file_\d+_(perf\w*)_h_;", text)
    return [h for h in dict.fromkeys(seen) if h + ".h" != header and h + ".h" not in NOTHING
            and header not in opens_with(h + ".h")]


# ---- writing -----------------------------------------------------------------------------------

class Unusable(Exception):
    """A declaration that Cython has no words for."""


def public(name):
    return not name.endswith("_")


def words(ctype):
    return re.findall(r"[A-Za-z_]\w*", ctype)


def ident(name):
    return name + "_" if keyword.iskeyword(name) or name in ("cdef", "cpdef", "ctypedef", "NULL") \
        else name


def declare(ctype, name, used):
    """C's "char[240]" and a name become Cython's "char name[240]"."""
    ctype = re.sub(r"\b(struct|enum|union)\s+", "", ctype)
    ctype = re.sub(r"\b(restrict|__restrict|volatile)\b ?", "", ctype)
    ctype = ctype.replace("_Bool", "bint")
    used.update(words(ctype))
    if "(*)" in ctype:
        left, right = ctype.split("(*)", 1)
        right = "()" if right == "(void)" else right
        return f"{left}(*{name}){right} noexcept nogil"
    match = re.match(r"^(.*?)\s*((?:\[\d*\])*)$", ctype)
    left, array = match.group(1), match.group(2)
    if "(" in left:
        raise Unusable(ctype)
    left = re.sub(r"\* ?const\b", "*", left)        # Cython 0.29 knows const only on the left
    return f"{left}{'' if left.endswith('*') else ' '}{name}{array}"


def private_comment(source, name):
    """Does the header say beside the struct that its fields are private?"""
    match = re.search(r"(?:typedef\s+)?struct\s+%s\s*\{(.*?)\n\}" % name, source, flags=re.S)
    return bool(match) and bool(re.search(r"/\*[^*]*\b(private|read it through)", match.group(1)))


def record(node, source, used):
    name, out = node["name"], []
    fields = [f for f in node.get("inner", []) if f["kind"] == "FieldDecl"]
    private = not fields or private_comment(source, name) or any(
        not public(w) for f in fields for w in words(f["type"]["qualType"]) if public(f["name"]))
    for field in [] if private else fields:
        if public(field["name"]):
            used_here = set()
            out.append("        " + declare(field["type"]["qualType"], ident(field["name"]),
                                            used_here))
            used |= used_here
    return [f"    ctypedef struct {name}:"] + (out or ["        pass"])


def function(node, used):
    params = [p for p in node.get("inner", []) if p["kind"] == "ParmVarDecl"]
    result = node["type"]["qualType"].split("(", 1)[0].strip()
    texts = []
    for p in params:
        texts.append(declare(p["type"].get("qualType"), ident(p.get("name", "")), used).strip())
    if node.get("variadic"):
        texts.append("...")
    head = "    " + declare(result, node["name"], used) + "("
    line, lines = head, []
    for i, text in enumerate(texts):
        piece = text + (", " if i + 1 < len(texts) else "")
        if len(line) + len(piece.rstrip()) > 86 and line.strip() and line != head:
            lines.append(line.rstrip())
            line = " " * 12
        line += piece
    return lines + [line + ") noexcept"]


def generate(header):
    """The text of the .pxd, or "" when the header declares nothing for Cython."""
    source, used, body, done = (ROOT / header).read_text(), set(), [], set()
    kind_before = None
    nodes = declarations(header)
    complete = {n.get("name") for n in nodes if n.get("completeDefinition")}
    for node in nodes:
        name, kind = node.get("name", ""), node["kind"]
        if not name.startswith("perf_") or not public(name):
            continue
        if kind == "EnumDecl":
            values = [e["name"] for e in node["inner"]
                      if e["kind"] == "EnumConstantDecl" and public(e["name"])]
            lines = [f"    ctypedef enum {name}:"] + [f"        {v}" for v in values]
        elif kind == "RecordDecl" and node.get("completeDefinition"):
            lines = record(node, source, used)
        elif kind == "TypedefDecl":
            ctype = node["type"]["qualType"]
            if ctype in (f"struct {name}", f"enum {name}"):
                if name in done:
                    continue
                if name in complete:                # declared here, defined further down
                    body += ["", f"    ctypedef struct {name}"]
                    kind_before = kind
                    continue
                lines = [f"    ctypedef struct {name}:", "        pass"]
            else:
                lines = ["    ctypedef " + declare(ctype, name, used)]
        elif kind == "FunctionDecl":
            lines = function(node, used)
        else:
            continue
        if name in done:
            continue
        done.add(name)
        if body and (kind != kind_before or kind != "FunctionDecl"):
            body.append("")
        kind_before = kind
        body += lines
    constants = numbers(header)
    macros = macros_with_arguments(header)
    body += [""] + ["    " + text for name, text in LIKE_A_FUNCTION.items()
                    if re.search(rf"^[ \t]*#[ \t]*define {name}\(", source, flags=re.M)]
    while body and not body[-1]:
        body.pop()
    if not body and header != "perf.h":             # the door: it only includes others
        return ""

    out = [f"# {header} for Cython 0.29 and 3, C and C++.  Written by cython/generate.py: do not edit.",
           f"# What each name means stands beside it in {header}; cython/README.md shows the use."]
    if macros:
        out += ["#", "# Macros that Cython cannot use, and what to write instead:"]
        width = max(len(m) for m in macros)
        out += [f"#     {m.ljust(width)}  {INSTEAD.get(m, 'for C and C++ only')}" for m in macros]
    ints = [n for n, k in constants if k == "int"]
    others = [(n, k) for n, k in constants if k != "int"]
    used |= {k for _, k in others}
    for module in sorted({FROM_LIBC[w] for w in used if w in FROM_LIBC}):
        names = sorted(w for w in used if FROM_LIBC.get(w) == module)
        out.append(f"from {module} cimport {', '.join(names)}")
    for other in sorted(included(header)):
        out.append(f"from perfh.{other} cimport *")
    if not body:                                    # its #include brings the engine of the loops
        return "\n".join([*out, "", f'cdef extern from "{header}" nogil:', "    pass"]) + "\n"
    out += ["", f'cdef extern from "{header}" nogil:']
    if ints:
        out += ["    enum:"] + [f"        {n}" for n in ints]
    out += [f"    const {k} {n}" for n, k in others]
    if constants:
        out.append("")
    return "\n".join(out + body) + "\n"


def main(argv):
    check = argv[1:] == ["--check"]
    if argv[1:] and not check:
        sys.exit(__doc__)
    folder, wrong = HERE / "perfh", []
    wanted = {}
    for header in sorted(p.name for p in ROOT.glob("perf*.h") if p.name != "perf_main.h"):
        text = generate(header)
        if text:
            wanted[header[:-2] + ".pxd"] = text
    if "perf.pxd" not in wanted or "perf_scope_begin" not in "".join(wanted.values()):
        sys.exit("generate.py: no header declares perf_scope_begin: did the headers change form?")
    stale = {p.name for p in folder.glob("perf*.pxd")} - set(wanted)
    for name, text in wanted.items():
        path = folder / name
        before = path.read_text() if path.exists() else ""
        if before == text:
            continue
        wrong.append(name)
        if check:
            sys.stdout.writelines(list(difflib.unified_diff(
                before.splitlines(True), text.splitlines(True), name, "from the headers"))[:40])
        else:
            path.write_text(text)
    for name in stale:
        wrong.append(name)
        if not check:
            (folder / name).unlink()
    if check and wrong:
        sys.exit(f"not what the headers say: {', '.join(wrong)}; run cython/generate.py")
    print(f"{len(wanted)} files, {len(wrong)} changed")


if __name__ == "__main__":
    main(sys.argv)
