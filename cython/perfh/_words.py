"""Sentences of the library that name a thing of C, as Python calls it.  Plain Python."""

_PHRASES = (
    ("more of opts.max_seconds, or opts.control = -1", "more of max_seconds="),
    ("more of opts.max_seconds", "more of max_seconds="),
    ("opts.max_seconds ended it", "max_seconds= ended it"),
    ("set it up anew in opts.before", "set it up anew in before="),
    ("body: perf_keep() its result", "body: return its result"),
    ("deleted? perf_keep() its result", "deleted? return its result"),
    ("was the body deleted? perf_keep() it", "was the body deleted? return its result"),
    ("give one step a PERF_SCOPE", "put one step in perfh.scope()"),
    ("mark the parts of a unit with PERF_SCOPE, and what waits with PERF_WAIT",
     "mark the parts of a unit with perfh.scope(), and what waits with perfh.wait()"),
)


def in_python(text):
    """The text with Python's names.  Whole phrases alone are replaced: no name of a user's is."""
    if "opts." in text or "perf_keep" in text or "PERF_" in text:
        for of_c, of_python in _PHRASES:
            text = text.replace(of_c, of_python)
    return text
