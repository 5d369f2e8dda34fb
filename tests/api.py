#!/usr/bin/env python3
"""What the public API is, read from the headers themselves.

    api.py functions FILE.i          public functions in a preprocessed file, one name a line
    api.py touch FILE.i HEADER...    a C/C++ program that takes the address of each of them,
                                     so that the compiler must compile every body
"""
import re
import sys

# Names that <linux/perf_event.h> may own (PERF_SAMPLE_..., PERF_MEM_..., ...).  None of its names
# ends in an underscore, so our private ones cannot meet them.
KERNEL_NAME = re.compile(
    r"(PERF_(SAMPLE|MEM|RECORD|BR|COUNT|FORMAT|EVENT|TYPE|TXN|ATTR|CONTEXT|BPF|AUX|FLAG|MAX)_"
    r"|perf_event_)\w*(?<!_)$")


def blank_comments(text):
    """The same text with comments turned into spaces: line numbers and columns stay."""
    def blank(match):
        token = match.group(0)
        return re.sub(r"[^\n]", " ", token) if token.startswith("/") else token
    return re.sub(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', blank, text,
                  flags=re.S)


def drop_attributes(text):
    """Removes __attribute__((...)) and its relatives, whatever they nest."""
    out, pos = [], 0
    for match in re.finditer(r"\b(__attribute(?:__)?|__declspec|PERF_ATTR_)\s*\(", text):
        if match.start() < pos:
            continue
        out.append(text[pos:match.start()])
        depth, pos = 1, match.end()
        while depth and pos < len(text):
            depth += {"(": 1, ")": -1}.get(text[pos], 0)
            pos += 1
    return "".join(out) + text[pos:]


def functions(preprocessed):
    """Names of the public functions, in order of appearance.  A trailing _ marks a private one."""
    text = re.sub(r"^#.*$", "", preprocessed, flags=re.M)
    names = re.findall(r"\bstatic\s+(?:__)?inline(?:__)?\b[^;{}()=]*?\b(perf_\w*[a-z0-9])\s*\(",
                       drop_attributes(text))
    return list(dict.fromkeys(names))


def macros(source):
    """(name, line number) of each #define in a header, in every branch of every #if."""
    return [(m.group(1), source.count("\n", 0, m.start()) + 1) for m in
            re.finditer(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", blank_comments(source), flags=re.M)]


TOUCH = """\
{includes}
#ifdef __clang__                        /* the casts below are this file's, not the headers' */
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wcast-function-type-strict"
#endif
typedef void (*touch_fn)(void);
#ifdef __cplusplus
#define TOUCH(f) reinterpret_cast<touch_fn>(f)
#else
#define TOUCH(f) (touch_fn)(f)
#endif

static touch_fn volatile touched[] = {{
{entries}
}};

int main(void)
{{
    unsigned i;

    for (i = 0; i < sizeof touched / sizeof touched[0]; i++)
        if (!touched[i])
            return 1;
    return 0;
}}
"""


def touch(names, headers):
    """A name may be a macro under PERF_DISABLE=1; one that is neither macro nor function fails."""
    entries = "\n".join(f"#ifndef {n}\n    TOUCH({n}),\n#endif" for n in names)
    includes = "\n".join(f'#include "{h}"' for h in headers)
    return TOUCH.format(includes=includes, entries=entries)


def main(argv):
    if len(argv) < 3 or argv[1] not in ("functions", "touch"):
        sys.exit(__doc__)
    with open(argv[2], encoding="utf-8", errors="replace") as file:
        names = functions(file.read())
    if not names:
        sys.exit(f"{argv[2]}: no public function found: did the headers change their form?")
    if argv[1] == "functions":
        print("\n".join(names))
    else:
        print(touch(names, argv[3:]), end="")


if __name__ == "__main__":
    main(sys.argv)
