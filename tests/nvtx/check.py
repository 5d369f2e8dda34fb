#!/usr/bin/env python3
"""check.py LOG KIND - is this what the tool must have heard of main.c?

KIND: nvtx, bare (no domains, strings, marks), roctx, late (the provider came with the module, so
that what main did before is not heard).
"""
import collections
import sys

ROUNDS, THREADS, RECURSION = 500, 4, 200
SCOPE, WAIT, SPAN, COUNTER, INSTANT, SYNC = 1, 2, 3, 4, 5, 6
RED = "ffe15759"

failed = 0


def check(good, what):
    global failed
    if not good:
        failed += 1
        print(f"FAILED: {what}")


def push(name, payload="u0", category=SCOPE):
    return ("push", "r:" + name, category, payload)


def mark(name, payload="-", category=INSTANT):
    return ("mark", "r:" + name, category, payload)


POP = ("pop",)

EARLY = [e for i in range(3) for e in (
    push("io: read", f"u{i}"), push("io: disk", f"u{i}", WAIT), POP, POP)]
EARLY += [push("in_cpp"), push("named"), push("thrower"), POP, POP, mark("caught"), POP]
MODULE = [push("io: module"), POP, push("io: module", "u1"), POP]
REST = [
    mark("queue", "d2.5", COUNTER), mark("flush"), mark("phase", "dNS", SCOPE),
    push("jump"), push("jumper"), push("lost", category=WAIT), POP, POP, POP,
    push("first"), push("second"), POP, POP,
    push("across"), ("start", "r:request", SPAN, "u7"), push("foreign"), POP, POP,
]
REST += [push("recurse", f"u{i}") for i in range(RECURSION)] + [POP] * RECURSION
REST += [push("reset"), push("after"), POP, POP]


def as_heard(kind, expected):
    """The expected calls as a tool with fewer abilities hears them."""
    if kind == "bare":
        return [("push", "a:" + e[1][2:], e[2], e[3]) if e[0] == "push" else e
                for e in expected if e[0] in ("push", "pop")]
    if kind == "roctx":
        out = []
        for e in expected:
            text = e[1][2:] if len(e) > 1 else ""
            if e[0] == "mark" and e[3].startswith("d"):
                value = e[3][1:]
                text += " = " + (value if value == "NS" else f"{float(value):.12g}")
            out.append((e[0], "a:" + text, 0, "-") if e[0] != "pop" else e)
        return out
    return expected


def main(path, kind):
    calls = collections.defaultdict(list)       # thread -> calls
    colors, registered, categories, domains = {}, collections.Counter(), {}, []
    names, starts, attached = {}, {}, 0
    ended = collections.Counter()
    first = None
    for line in open(path, encoding="utf-8"):
        thread, call, *rest = line.rstrip("\n").split("\t")
        first = first or thread
        check("WILD" not in line and "BAD" not in line, line.strip())
        if call == "attach":
            attached += 1
        elif call == "domain":
            domains.append(rest[0])
        elif call == "category":
            categories[int(rest[1])] = rest[2]
        elif call == "register":
            registered[rest[1]] += 1
        elif call == "thread":
            check(rest[0] == thread, "a thread gives its own id")
            names[thread] = rest[1]
        elif call == "pop":
            calls[thread].append(("pop",))
        elif call == "end":
            ended[rest[-1]] += 1
            calls[thread].append(("end",))
        else:
            domain, text, category, color, payload, number = rest
            if kind not in ("roctx", "bare"):
                check(domain == "perf.h", f"domain of {text}: {domain}")
            if call == "start":
                starts[number] = text
            if call == "mark" and text[2:].startswith("phase"):
                text, payload = (("a:phase = NS", "-") if kind == "roctx" else (text, "dNS"))
            colors.setdefault((text[2:].split(":")[0], int(category) == WAIT), set()).add(color)
            calls[thread].append((call, text, int(category), payload))

    for thread, list_ in calls.items():         # balanced, whatever else
        depth = 0
        for c in list_:
            depth += {"push": 1, "pop": -1}.get(c[0], 0)
            check(depth >= 0, f"thread {thread}: a pop without a push")
        check(depth == 0, f"thread {thread}: {depth} ranges left open")

    heard = calls.pop(first)
    expected = as_heard(kind, (EARLY if kind != "late" else []) + MODULE + REST)
    if kind == "late":
        heard = [c for c in heard if c[:2] != ("push", "r:main")]
    tail = [c for c in heard[len(expected):] if c[0] != "pop"]
    if kind != "late":
        check(tail and tail[-1][1][2:] == "late", "a scope after dlclose is heard")
        tail = tail[:-1]
    check(not tail, f"{len(tail)} calls more than expected: {tail[:5]}")
    for i, e in enumerate(expected):
        got = heard[i] if i < len(heard) else None
        if got != e:
            check(False, f"call {i}: {got}, expected {e}")
            break

    by_first = collections.Counter()
    for thread, list_ in calls.items():
        pushes = [c for c in list_ if c[0] == "push"]
        name = pushes[0][1][2:]
        by_first[name] += 1
        if name != "outer":
            continue
        want = []
        for i in range(ROUNDS):
            want += as_heard(kind, [push("outer", f"u{i}"), push("inner", f"u{i}"), POP, POP])
        check(list_ == want, f"thread {thread}: {ROUNDS} rounds of two scopes")
    check(by_first == {"outer": THREADS, "ender": 1}, f"threads: {by_first}")

    if kind in ("nvtx", "late"):
        check(attached == 1, f"attached {attached} times")
        check(domains == ["perf.h"], f"domains {domains}")
        check(categories == {SCOPE: "scope", WAIT: "wait", SPAN: "span", COUNTER: "counter",
                             INSTANT: "instant", SYNC: "sync", 7: "device",
                             8: "copy in", 9: "copy out", 10: "copy"}, f"categories {categories}")
        check(registered and max(registered.values()) <= THREADS + 1,   # all at the same moment, at worst
              f"registered again and again: {registered.most_common(2)}")
        check(all(len(c) == 1 for c in colors.values()), f"one colour a name: {colors}")
        check(all(c == {RED} for (_, wait), c in colors.items() if wait), "waits are red")
        check(len(set.union(*colors.values())) > 6, "names differ in colour")
        check("off" not in registered, "perf_enable(0) is heard")
        workers = {n for n in names.values() if n.startswith("worker ")}
        check(len(workers) == THREADS, f"thread names {names}")
        check(kind == "late" or names[first] == "renamed", "main is renamed")
    if kind != "bare":
        check(list(starts.values()) == ["a:request" if kind == "roctx" else "r:request"],
              f"spans {starts}")
        check(ended == dict.fromkeys(starts, 1), f"each span ends once: {ended}")
    return failed != 0


sys.exit(main(*sys.argv[1:]))
