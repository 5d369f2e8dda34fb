#!/usr/bin/env python3
"""Makes docs/pictures/*.svg from real runs: a report, perf-ab top, and the page of perf-ab.

    tools/pictures.py [FOLDER [NAME...]]        default: docs/pictures, all of them

report.svg   quickstart as a terminal shows it.  It runs until the estimate lies inside its
             interval at the printed precision, 30 times at most
top.svg      `perf-ab top --once` beside the small server below
perf-ab.svg  head of the page that `perf-ab run --html` writes: gzip -9 against faster levels, on
             the headers of this folder; the plots are the page's own
NAME-narrow.svg, for phones: the same programs in a terminal of 60 columns, the same page.
All are plain SVG, light and dark by the reader's setting, and hold their text as text.  Nothing
is edited by hand: to change a picture, change a run.  Needs a C compiler, Linux and Jansson."""
import fcntl
import html
import os
import pathlib
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import textwrap
import time

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


def run_in_terminal(program, columns, *arguments):
    """What the program says to a terminal of so many columns."""
    child, terminal_ = pty.fork()
    if child == 0:
        os.chdir(ROOT)
        os.environ.update(TERM="dumb", COLUMNS=str(columns))
        os.execv(program, [str(program), *arguments])
    fcntl.ioctl(terminal_, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    said = b""
    try:
        while piece := os.read(terminal_, 4096):
            said += piece
    except OSError:                             # how Linux tells the end
        pass
    os.waitpid(child, 0)
    return said.decode().replace("\r", "")


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

WIDE, NARROW = 118, 60                          # columns of the terminal
BROKEN = 50                                     # where the narrow picture breaks its lines


def kind_of(line):
    """The class of a line, which gives its colour."""
    for kind, pattern in (("typed", r"\$ "), ("good", r".*\bACCEPT\b"), ("bad", r".*\bREJECT\b"),
                          ("head", r"(scope|  benchmark|clock) "), ("open", r"open for ")):
        if re.match(pattern, line):
            return kind
    return ""


def rows_of(lines, columns):
    """(class, text) of each line; those that are too long are broken at a blank."""
    for line in lines:
        kind = kind_of(line)
        while len(line) > columns:
            at = line.rfind(" ", 0, columns)
            yield kind, line[:at]
            line = "    " + line[at + 1:]
        yield kind, line.rstrip()


def joined(lines, columns):
    """The lines as they were before a terminal of so many columns made the report break them."""
    whole = []
    for line in lines:
        first = (line.split() or [""])[0]
        if whole and line.startswith("    ") and len(whole[-1][1]) + 1 + len(first) > columns:
            whole[-1] = (whole[-1][0] + " " + line.strip(), line)
        else:
            whole.append((line, line))
    return [line for line, _ in whole]


def tightened(lines):
    """A table's columns with no more than two blanks between them."""
    width = max(map(len, lines))
    padded = [line.ljust(width) for line in lines]
    blank = [all(line[i] == " " for line in padded) for i in range(width)]
    kept = [i for i in range(width) if i < 2 or not (blank[i] and blank[i - 1] and blank[i - 2])]
    return ["".join(line[i] for i in kept).rstrip() for line in padded]


def terminal(title, lines, columns):
    """Lines of text as a picture."""
    style = (f"text{{font:13px {MONO};fill:var(--ink);white-space:pre}}.card{{fill:var(--bg);"
             "stroke:var(--line)}.typed{fill:var(--a);font-weight:600}.good{fill:var(--good);"
             "font-weight:600}.bad{fill:var(--bad)}.head{fill:var(--soft)}.open{fill:var(--open)}")
    rows = list(rows_of(lines, columns))
    width, step = 28 + round(max(len(text) for _, text in rows) * 7.83), 18
    body = "".join(
        f'<text x="14" y="{28 + i * step}" textLength="{len(text) * 7.83:.0f}" '
        f'lengthAdjust="spacingAndGlyphs" xml:space="preserve"'
        f'{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}>{html.escape(text)}</text>\n'
        for i, (kind, text) in enumerate(rows) if text.strip())
    return svg(width, 28 + len(rows) * step, title, style, body)


def inside(said):
    """Does the estimate lie between its limits, and did caches stay out of it?"""
    found = re.search(r"speed-up ([\d.]+)x \(95 % CI ([\d.]+)x to ([\d.]+)x\)", " ".join(said.split()))
    return bool(found) and "leads" not in said and \
        float(found.group(2)) < float(found.group(1)) < float(found.group(3))


def report_picture(work, columns):
    program = work / "quickstart"
    run("cc", "-O2", "-I.", "examples/c/quickstart.c", "-o", str(program))
    for _ in range(30):
        said = run(str(program)) if columns == WIDE else run_in_terminal(program, columns)
        if inside(said):
            break
    else:
        sys.exit("quickstart: no run in 30 had its estimate inside the interval")
    lines = said.rstrip().splitlines()
    if columns == NARROW:
        lines = joined(lines, columns)
        tables = [i for i, line in enumerate(lines) if line.startswith(("scope ", "  benchmark "))]
        for at, rows in ((tables[0], 2), (tables[1], 3)):
            lines[at:at + rows] = tightened(lines[at:at + rows])
    return terminal("a report in a terminal", ["$ ./quickstart"] + lines,
                    BROKEN if columns == NARROW else columns)


# ---- perf-ab top -------------------------------------------------------------------------------

SERVER = r"""
#define PERF_AT_EXIT 1
#include "perf.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static void spend(int us)
{
    uint64_t end = perf_now() + (uint64_t)us * 1000;
    while (perf_now() < end) perf_clobber();
}

static void *worker(void *unused)
{
    unsigned seed = 1;
    struct timespec pause = {0, 500000};
    for (;;) {
        {
            PERF_SCOPE("request");
            { PERF_SCOPE("parse"); spend(20 + rand_r(&seed) % 10); }
            { PERF_SCOPE("query"); spend(rand_r(&seed) % 50 ? 60 : 900); }
            PERF_SCOPE("render");
            spend(40);
        }
        nanosleep(&pause, NULL);
    }
    return unused;
}

int main(void)
{
    pthread_t one, two;
    struct timespec long_wait = {20, 0};
    if (pthread_create(&one, NULL, worker, NULL) || pthread_create(&two, NULL, worker, NULL))
        return 1;
    PERF_SCOPE("save");
    PERF_SCOPE("wait for disk");
    nanosleep(&long_wait, NULL);
    return 0;
}
"""


def top_picture(work, columns):
    (work / "server.c").write_text(SERVER, encoding="utf-8")
    run("cc", "-O2", f"-I{ROOT}", "server.c", "-o", "server", "-pthread", cwd=work)
    perf_ab(work)
    server = subprocess.Popen([str(work / "server")], stderr=subprocess.DEVNULL)
    try:
        time.sleep(2)
        said = run(str(work / "perf-ab"), "top", str(server.pid), "--once", "--width",
                   str(min(columns, 100)))
    finally:
        server.kill()
        server.wait()
    lines = said.rstrip().splitlines()
    if columns == NARROW:
        at = next(i for i, line in enumerate(lines) if line.startswith("scope "))
        lines[at:] = tightened(lines[at:])
    return terminal("perf-ab top", ["$ perf-ab top server"] + lines,
                    BROKEN if columns == NARROW else columns)


# ---- the page of perf-ab -----------------------------------------------------------------------

def nested(picture, x, y):
    """An <svg> of the page, placed."""
    return re.sub(r"<svg ", f'<svg x="{x}" y="{y}" ', picture, count=1)


def words(text):
    return html.unescape(" ".join(re.sub(r"<[^>]*>", "", text).split()))


def page_style(page):
    own = re.search(r"<style>(.*?)</style>", page, re.S).group(1)
    own = "".join(re.findall(r"\.(?:grid|axis|ask|one|fa|fb|da|db|dr|la|lb|ra|rb|rr|band|i[A-Z]+)"
                             r"\{[^}]*\}", own))
    return (f"text{{font:13px {SANS};fill:var(--ink)}}svg svg text{{font-size:11px;fill:var(--soft)}}"
             ".card{fill:var(--bg);stroke:var(--line)}.rule{stroke:var(--line)}.soft{fill:var(--soft)}"
             ".ACCEPT{fill:var(--good);font-weight:600}.REJECT{fill:var(--bad);font-weight:600}"
             ".INCONCLUSIVE{fill:var(--open);font-weight:600}.big{font-size:22px}.n{text-anchor:end}"
             ".ka{fill:var(--a)}.kb{fill:var(--b)}" + own)


def page_picture(page):
    style = page_style(page)
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


def narrow_page(page):
    """The same for a phone: three lines a benchmark."""
    style = page_style(page)
    out, y, width = [], 36, 380

    def text(x, content, kind=""):
        out.append(f'<text x="{x}" y="{y}" class="{kind}">{html.escape(content)}</text>\n')

    verdict = words(re.search(r"<h1>(.*?)</h1>", page, re.S).group(1))
    text(16, verdict, f"{verdict} big")
    for line in re.findall(r"<p>(.*?)</p>", re.search(r"</h1>(.*?)<table>", page, re.S).group(1), re.S):
        for part in textwrap.wrap(words(line), 50):
            y += 20
            text(16, part, "soft")
    table = re.search(r"<table>(.*?)</table>", page, re.S).group(1)
    head, body = table.split("<tbody>")
    y += 12
    out.append(nested(re.search(r"<svg.*?</svg>", head, re.S).group(0), 60, y))
    y += 26
    for row in re.findall(r"<tr>(.*?)</tr>", body, re.S):
        cells = [words(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row, re.S)]
        out.append(f'<line class="rule" x1="16" x2="{width - 16}" y1="{y}" y2="{y}"/>\n')
        y += 20
        text(16, cells[0])
        text(100, cells[3])
        text(width - 16, cells[-1], cells[-1].split(" ")[0] + " n")
        plot = re.search(r"<svg.*?</svg>", row, re.S)
        if plot:
            out.append(nested(plot.group(0), 60, y + 5))
            y += 28
        y += 6
    return svg(width, y + 8, "the page of perf-ab", style, "".join(out))


def perf_ab(work):
    """Builds it, once."""
    if not (work / "perf-ab").exists():
        run("cc", "-O2", "-I.", "tools/perf-ab.c", "-ljansson", "-o", str(work / "perf-ab"))


def ab_picture(work, columns):
    perf_ab(work)
    page = work / "page.html"
    if not page.exists():
        data = work / "headers"
        data.write_bytes(b"".join(p.read_bytes() for p in sorted(ROOT.glob("perf*.h"))))
        print(run(str(work / "perf-ab"), "run", "--accept", "down >= 70 %", "--parameter",
                  "level=2,4,5,6,7,8", "--html", str(page), "--budget", "90",
                  "--", "gzip", "-9", "-c", "headers", "--", "gzip", "-{level}", "-c", "headers", cwd=work))
    text = page.read_text(encoding="utf-8")
    return page_picture(text) if columns == WIDE else narrow_page(text)


def main(argv):
    if len(argv) > 1 and argv[1].startswith("-"):
        sys.exit(__doc__)
    folder = pathlib.Path(argv[1]) if len(argv) > 1 else ROOT / "docs" / "pictures"
    folder.mkdir(parents=True, exist_ok=True)
    makers = {"report": report_picture, "top": top_picture, "perf-ab": ab_picture}
    with tempfile.TemporaryDirectory(prefix="perfh.") as work:
        for name in argv[2:] or makers:
            for columns, suffix in ((WIDE, ""), (NARROW, "-narrow")):
                picture = makers[name](pathlib.Path(work), columns)
                file = folder / f"{name}{suffix}.svg"
                file.write_text(picture, encoding="utf-8")
                print(f"wrote {file}")


if __name__ == "__main__":
    main(sys.argv)
