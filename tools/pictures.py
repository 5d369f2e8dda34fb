#!/usr/bin/env python3
"""Makes docs/pictures/*.svg from real runs: what a terminal shows, and the page of perf-ab.

    tools/pictures.py [FOLDER]          default: docs/pictures; needs a C compiler and Jansson

report.svg   quickstart, with the command lines above it, as a terminal shows them
perf-ab.svg  head of the page that `perf-ab run --html` writes: gzip -9 against faster levels, on
             the headers of this folder; the plots are the page's own
Both are plain SVG, light and dark by the reader's setting, and hold their text as text.  Nothing
is edited by hand: to change a picture, change a run."""
import html
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIGHT = {"bg": "#ffffff", "ink": "#1c2430", "soft": "#5c6675", "line": "#d9dee5", "a": "#2f6db5",
         "b": "#d9722b", "good": "#1a7f46", "bad": "#c02b2b", "open": "#8a6100", "band": "#d3deed"}
DARK = {"bg": "#14181f", "ink": "#e6eaf0", "soft": "#9aa5b4", "line": "#313a47", "a": "#6aa5ea",
        "b": "#f0975a", "good": "#4cc07f", "bad": "#f07070", "open": "#e0b040", "band": "#2c3a4d"}
MONO = "ui-monospace,SFMono-Regular,Menlo,Consolas,'DejaVu Sans Mono',monospace"
SANS = "system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif"


def run(*command, cwd=ROOT, fail=True):
    done = subprocess.run(command, cwd=cwd, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    if fail and done.returncode not in (0, 1, 2):
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}")
    return done.stdout


def rules(style, colours):
    """CSS with var(--x) filled in."""
    return re.sub(r"var\(--(\w+)\)", lambda m: colours[m.group(1)], style)


def svg(width, height, title, style, body):
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" aria-label="{html.escape(title)}">\n'
            f"<title>{html.escape(title)}</title>\n<style>\n{rules(style, LIGHT)}\n"
            f"@media (prefers-color-scheme: dark) {{\n{rules(style, DARK)}\n}}\n</style>\n"
            f'<rect class="card" x=".5" y=".5" width="{width - 1}" height="{height - 1}" rx="8"/>\n'
            f"{body}</svg>\n")


# ---- a terminal --------------------------------------------------------------------------------

def terminal(lines, columns=100):
    """Lines of text as a picture; those that are too long are broken at a blank."""
    style = (f"text{{font:13px {MONO};fill:var(--ink);white-space:pre}}.card{{fill:var(--bg);"
             "stroke:var(--line)}.typed{fill:var(--a);font-weight:600}.good{fill:var(--good);"
             "font-weight:600}.bad{fill:var(--bad)}.head{fill:var(--soft)}")
    rows = []
    for line in lines:
        kind = "typed" if line.startswith("$ ") else \
            "good" if re.search(r"\bACCEPT\b", line) else \
            "bad" if re.search(r"\bREJECT\b", line) else \
            "head" if re.match(r"(scope|  benchmark|clock) ", line) else ""
        while len(line) > columns:
            at = line.rfind(" ", 0, columns)
            rows.append((kind, line[:at]))
            line = "    " + line[at + 1:]
        rows.append((kind, line))
    width, step = 24 + round(columns * 7.83), 18
    body = "".join(
        f'<text x="14" y="{28 + i * step}" textLength="{len(text) * 7.83:.0f}" '
        f'lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
        f'{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{html.escape(text)}</text>\n'
        for i, (kind, text) in enumerate(rows) if text.strip())
    return svg(width, 28 + len(rows) * step, "a report in a terminal", style, body)


def report_picture(work):
    build = ["cc", "-O2", "-I.", "examples/c/quickstart.c", "-o", str(work / "quickstart")]
    run(*build)
    said = run(str(work / "quickstart"), "perf_report.h", cwd=ROOT)
    (ROOT / "trace.json").unlink(missing_ok=True)
    lines = ["$ cc -O2 -I. examples/c/quickstart.c -o quickstart && ./quickstart perf_report.h"]
    return terminal(lines + said.rstrip().splitlines(), 118)


# ---- the page of perf-ab -----------------------------------------------------------------------

def nested(picture, x, y):
    """An <svg> of the page, placed."""
    return re.sub(r"<svg ", f'<svg x="{x}" y="{y}" ', picture, count=1)


def words(text):
    return html.unescape(" ".join(re.sub(r"<[^>]*>", "", text).split()))


def page_picture(page):
    own = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    own = "".join(re.findall(r"\.(?:grid|axis|ask|one|fa|fb|da|db|dr|la|lb|ra|rb|rr|band|i[A-Z]+)"
                             r"\{[^}]*\}", own))
    style = (f"text{{font:13px {SANS};fill:var(--ink)}}svg svg text{{font-size:11px;fill:var(--soft)}}"
             ".card{fill:var(--bg);stroke:var(--line)}.rule{stroke:var(--line)}.soft{fill:var(--soft)}"
             ".ACCEPT{fill:var(--good);font-weight:600}.REJECT{fill:var(--bad);font-weight:600}"
             ".INCONCLUSIVE{fill:var(--open);font-weight:600}.big{font-size:22px}.n{text-anchor:end}"
             ".ka{fill:var(--a)}.kb{fill:var(--b)}" + own)
    out, width, y = [], 960, 40

    def text(x, content, kind=""):
        out.append(f'<text x="{x}" y="{y}" class="{kind}">{html.escape(content)}</text>\n')

    verdict = words(re.search(r"<h1>(.*?)</h1>", page, re.S).group(1))
    text(20, verdict, f"{verdict} big")
    for p in re.findall(r"</h1>(.*?)<table>", page, re.S)[:1]:
        for line in re.findall(r"<p>(.*?)</p>", p, re.S):
            y += 21
            key = re.search(r'key (k[ab])"', line)
            if key:
                out.append(f'<rect class="{key.group(1)}" x="20" y="{y - 10}" width="11" height="11"'
                           ' rx="2"/>\n')
            text(38 if key else 20, words(line), "soft")
    table = re.search(r"<table>(.*?)</table>", page, re.S).group(1)
    at, plot = [20, 255, 345, 360, 565], 565
    y += 30
    head = re.search(r"<thead>(.*?)</thead>", table, re.S).group(1)
    for x, name, kind in ((at[0], "benchmark", "soft"), (at[1], "before", "soft n"),
                          (at[2], "after", "soft n"), (at[3] + 10, "change [interval]", "soft"),
                          (plot + 275, "verdict", "soft")):
        text(x, name, kind)
    out.append(nested(re.search(r"<svg.*?</svg>", head, re.S).group(0), plot, y - 15))
    for row in re.findall(r"<tr>(.*?)</tr>", table.split("<tbody>")[1], re.S):
        cells = re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)
        y += 27
        out.append(f'<line class="rule" x1="20" x2="{width - 20}" y1="{y - 18}" y2="{y - 18}"/>\n')
        answer = words(cells[-1])
        text(at[0], words(cells[0]))
        text(at[1], words(cells[1]), "n")
        text(at[2], words(cells[2]), "n")
        text(at[3] + 10, words(cells[3]))
        picture = re.search(r"<svg.*?</svg>", row, re.S)
        if picture:
            out.append(nested(picture.group(0), plot, y - 17))
        text(plot + 275, answer, answer.split(" ")[0])
    y += 24
    text(20, words(re.search(r'<p class="note">(.*?)</p>', page, re.S).group(1)), "soft")
    section = re.findall(r"<section>(.*?)</section>", page, re.S)[1]
    y += 34
    out.append(f'<line class="rule" x1="20" x2="{width - 20}" y1="{y - 22}" y2="{y - 22}"/>\n')
    text(20, words(re.search(r"<h2[^>]*>(.*?)</h2>", section, re.S).group(1)))
    y += 10
    for k, figure in enumerate(re.findall(r"<figure>(.*?)</figure>", section, re.S)[:2]):
        out.append(nested(re.search(r"<svg.*?</svg>", figure, re.S).group(0), 5 + 475 * k, y))
    y += 245
    for k, figure in enumerate(re.findall(r"<figure>(.*?)</figure>", section, re.S)[:2]):
        caption = re.search(r"<figcaption>(.*?)</figcaption>", figure, re.S)
        if caption:
            text(20 + 475 * k, re.split(r"(?<=[.;:]) ", words(caption.group(1)))[0].rstrip(";:."), "soft")
    return svg(width, y + 18, "the page of perf-ab", style, "".join(out))


def ab_picture(work):
    run("cc", "-O2", "-I.", "tools/perf-ab.c", "-ljansson", "-o", str(work / "perf-ab"))
    data = work / "headers"
    data.write_bytes(b"".join(p.read_bytes() for p in sorted(ROOT.glob("perf*.h"))))
    print(run(str(work / "perf-ab"), "run", "--accept", "down >= 70 %", "--parameter",
              "level=2,4,5,6,7,8", "--html", str(work / "page.html"), "--budget", "90",
              "--", "gzip", "-9", "-c", "headers", "--", "gzip", "-{level}", "-c", "headers", cwd=work))
    return page_picture((work / "page.html").read_text(encoding="utf-8"))


def main(argv):
    folder = pathlib.Path(argv[1]) if len(argv) > 1 else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="perfh.") as work:
        for name, make in (("report", report_picture), ("perf-ab", ab_picture)):
            (folder / f"{name}.svg").write_text(make(pathlib.Path(work)), encoding="utf-8")
            print(f"wrote {folder / name}.svg")


if __name__ == "__main__":
    main(sys.argv)
