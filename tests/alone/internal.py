#!/usr/bin/env python3
"""internal.py FOLDER: 1 if a header uses a private name of another that is no contract there, or the
sections that its first comment lists are not those that it has.

A private name ends in _.  It is a contract where the provider's section ">>internal" has it: in a
list inside the comment (PERF_LOSS_*_ for a family), or as a definition below it, up to the next
section.
"""
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
import api  # noqa: E402

PRIVATE = r"\b(?:perf|PERF)_\w*_\b"
SECTION = re.compile(r"^/\* (?:>>|={4})", re.M)


def defined(code):
    """Private names that a header defines: functions, macros, types, constants, objects."""
    names = set(re.findall(r"^\s*#\s*define\s+(%s)" % PRIVATE, code, re.M))
    names |= set(re.findall(r"\b(?:struct|union|enum)\s+(%s)\s*\{" % PRIVATE, code))
    names |= set(re.findall(r"\}\s*(%s)\s*;" % PRIVATE, code))
    names |= set(re.findall(r"^typedef\b[^;{]*?(%s)\)?(?:\([^;]*\))?;" % PRIVATE, code, re.M))
    names |= set(re.findall(r"^(?:PERF_\w*FN\w*|PERF_\w*API\w*)\b[^;{}()]*?(%s)\(" % PRIVATE, code, re.M))
    for body in re.findall(r"\benum\b[^{;]*\{([^}]*)\}", code):
        names |= set(re.findall(r"(?:^|,)\s*(PERF_\w*_)\b", body))
    return names


def internal(source):
    """The text of its sections >>internal."""
    text = ""
    for match in re.finditer(r"^/\* >>internal", source, re.M):
        end = SECTION.search(source, match.end())
        text += source[match.start():end.start() if end else len(source)]
    return text


def main(folder):
    sources = {p.name: p.read_text(encoding="utf-8") for p in sorted(pathlib.Path(folder).glob("perf*.h"))}
    codes = {name: api.blank_comments(source) for name, source in sources.items()}
    owner = {}
    for name, code in codes.items():
        for word in defined(code):
            owner.setdefault(word, set()).add(name)
    for words in owner.values():
        if "perf_base.h" in words:
            words.intersection_update({"perf_base.h"})
    contract = {name: set(re.findall(PRIVATE, internal(source))) for name, source in sources.items()}
    family = {name: tuple(re.findall(r"\b(PERF_\w*_)\*_", internal(source))) for name, source in sources.items()}
    bad = {}
    used = {name: set() for name in sources}
    for name, code in codes.items():
        for word in set(re.findall(PRIVATE, code)) - {w for w in owner if name in owner[w]}:
            for provider in owner.get(word, set()):
                used[provider].add(word)
                if word not in contract[provider] and not word.startswith(family[provider] or ("?",)):
                    bad.setdefault((provider, word), []).append(name)
    for (provider, word), users in sorted(bad.items()):
        print(f"{provider}: {word} is used by {', '.join(sorted(users))}, but is not in >>internal")
    for provider, source in sources.items():
        for block in re.findall(r"^/\* >>internal.*?\*/", source, re.M | re.S):
            for word in re.findall(PRIVATE, "\n".join(re.findall(r"^ \*   ((?:%s, )*%s) {2}" % (PRIVATE, PRIVATE),
                                                                 block, re.M))):
                if word not in used[provider] and len(owner.get(word, ())) < 2:
                    print(f"{provider}: {word} stands in >>internal, and no other header uses it")
                    bad[provider, word] = []
    for name, source in sources.items():
        listed = re.search(r'Sections \(search for ">>"\):(.*)', source)
        there = re.findall(r"^/\* >>([\w+]+)", source, re.M)
        if listed and listed.group(1).split() != there:
            print(f"{name} lists the sections {listed.group(1).split()}, and has {there}")
            bad[name, "Sections"] = []
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
