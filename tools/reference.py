#!/usr/bin/env python3
"""Writes a reference of every public name, from the headers themselves: Markdown, a page a header.

    tools/reference.py FOLDER

A page has the header's first comment and its public sections as they stand in the file, declarations
with the comments beside them and without bodies; index.md lists all names with their page.  Nothing
is kept in the repository: tools/site.sh makes it for the site.  A public name that comes up on no
page is an error."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "docs")]
import api  # noqa: E402
import docs  # noqa: E402

HIDDEN = re.compile(r"^(private|internal|platform)\b")


def sections(text):
    """(title, text) of each `/* >>title ---` of a header, its first comment and end left out."""
    marks = [(m.start(), m.group(1)) for m in re.finditer(r"^/\* >>([^\n]*?)\s*-*(?:\s*\*/)?$", text, re.M)]
    ends = [at for at, _ in marks[1:]] + [len(text)]
    return [(title.strip(), text[at:end]) for (at, title), end in zip(marks, ends)]


def without_bodies(text):
    """Function bodies become ";", preprocessor lines that guard or silence go."""
    blank, out, at = api.blank_comments(text), [], 0
    for m in re.finditer(r"\)\s*\n\{\n", blank):
        if m.start() < at:
            continue
        end = blank.find("\n}\n", m.end() - 1)
        if end < 0:
            break
        out.append(text[at:m.start() + 1] + ";\n")
        at = end + 3
    text = "".join(out) + text[at:]
    text = re.sub(r"^#\s*(?:pragma|error|undef|if|ifdef|ifndef|elif|else|endif|include)\b"
                  r"(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)
    text = re.sub(r"^[ \t]*#[ \t]*define[ \t]+\w+_\b(?:[^\n]*\\\n)*[^\n]*\n", "", text, flags=re.M)
    text = re.sub(r"^PERF_\w*FN\w* [^;{}()]*_\([^;{}]*\);[^\n]*\n", "", text, flags=re.M)
    text = re.sub(r"^(?:PERF_BEGIN_DECLS|PERF_END_DECLS)\n", "", text, flags=re.M)
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def without_private(text):
    """Paragraphs that declare nothing but names that end in an underscore go, with their comments."""
    kept = []
    for part in re.split(r"\n\s*\n", text):
        code = api.blank_comments(part)
        names = re.findall(r"^[ \t]*#[ \t]*define[ \t]+(\w+)|^\w[^;{}=]*?\b(\w+)\s*\(|^typedef\b.*?\b(\w+);",
                           code, re.M)
        names = ["".join(n) for n in names]
        if not names or not all(n.endswith("_") for n in names):
            kept.append(part)
    return "\n\n".join(kept)


def comment_text(comment):
    """The first comment of a header as Markdown: indented code stays code."""
    lines = [re.sub(r"^ ?\*? ?", "", line.rstrip("/* ").rstrip())
             for line in comment.strip().removeprefix("/*").splitlines()]
    return "\n".join(line for line in lines if not line.startswith(("SPDX", "Sections ")))


def names_of(path):
    blank = api.blank_comments(path.read_text(encoding="utf-8"))
    found = {}
    for match in docs.DECLARATION.finditer(docs.api_shape(blank)):
        name = match.group(match.lastgroup)
        if name not in ("PERF_" + path.stem.removeprefix("perf_").upper() + "_H", "PERF_H"):
            found.setdefault(name, match.lastgroup)
    return found


def page(path):
    text = path.read_text(encoding="utf-8")
    first = re.match(r"\s*/\*.*?\*/", text, re.S).group(0)
    title = re.search(r"- (.*)", " ".join(comment_text(first).split("\n\n")[0].split()))
    out = [f"# {path.name}\n", comment_text(first) + "\n"]
    shown = ""
    for name, body in sections(text):
        if HIDDEN.match(name):
            continue
        code = without_private(without_bodies(body))
        shown += code
        out.append(f"## {re.split(r'[:-]', name)[0].strip() or name}\n\n```c\n{code}\n```\n")
    rest = [n for n in names_of(path) if not re.search(rf"\b{n}\b", shown)]
    if rest:                                    # declared among the bodies: their lines, with comments
        lines = []
        for name in rest:
            at = re.search(rf"^(?:[ \t]*#[ \t]*define[ \t]+|PERF_\w*FN\b[^\n]*?|[^\n#]*){name}\b[^\n]*", text, re.M)
            before = re.search(r"(/\*(?:[^*]|\*(?!/))*\*/\n)$", text[:at.start()])
            lines.append((before.group(1) if before else "") + at.group(0).rstrip("\\ {"))
        out.append("## More\n\n```c\n" + "\n\n".join(lines) + "\n```\n")
    return title.group(1) if title else "", "\n".join(out)


def main(argv):
    if len(argv) != 2 or argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    rows, names, bad = [], [], 0
    for path in sorted(ROOT.glob("perf*.h")):
        purpose, text = page(path)
        (folder / f"{path.stem}.md").write_text(text, encoding="utf-8")
        rows.append(f"| [{path.name}]({path.stem}.md) | {purpose} |")
        for name, kind in names_of(path).items():
            names.append((name, kind, path))
            if not re.search(rf"\b{name}\b", text):
                bad += 1
                print(f"FAILED: {path.name}: {name} is on no page")
    kinds = {"tag": "type"}
    index = "# Reference\n\nWritten from the headers by `tools/reference.py`.\n\n| header | |\n|---|---|\n" + \
        "\n".join(rows) + "\n\n## Names\n\n| name | is a | in |\n|---|---|---|\n" + "\n".join(
            f"| `{n}` | {kinds.get(k, k)} | [{p.name}]({p.stem}.md) |" for n, k, p in sorted(
                names, key=lambda row: row[0].lower())) + "\n"
    (folder / "index.md").write_text(index, encoding="utf-8")
    print(f"{len(names)} names, {len(rows)} pages, {bad} failed")
    return 1 if bad or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
