"""perf.h for Cython and Python.

    perfh.get_include()             the folder with perf.h: include_dirs of your extension
    from perfh.perf cimport *       in a .pyx; also perfh.perf_stats, perfh.perf_trace, ...

    with perfh.scope("load"):       in Python; one report and one trace with all Cython, C and
        ...                         C++ modules of the process
    perfh.report()                  the table on stderr
    perfh.bench(f, x)               how long f(x) takes
    perfh.ab(f, g, x, rule="speedup >= 1.3")    is g(x) as much faster as you ask?
"""
import importlib as _importlib
import os as _os

_FROM_MODULE = ("scope", "span", "wait", "lap", "value", "text", "count", "instant", "variant",
                "schedule", "auto", "pause", "resume", "gpu_scope", "gpu_wait",
                "gpu_collect", "bench", "sweep", "ab", "race", "compare", "Error", "report",
                "report_text", "scopes", "diagnose", "trace_save", "export", "results_save",
                "baseline_save", "baseline_check", "Histogram", "memory_mark", "thread_name",
                "enable", "trace_enable", "reset", "status", "status_text")
_RESULTS = ("Counts", "Result", "Results", "Race", "RaceEntry", "Verdict", "Summary", "Interval", "Row",
            "Diagnosis", "Baseline", "BaselineEntry")

__all__ = ["__version__", "get_include", "get_cmake_dir", "get_cython_dir", *_FROM_MODULE, *_RESULTS]


def get_include():
    """The folder that holds perf.h and the other headers."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "include")


def get_cmake_dir():
    """The folder that holds perfhConfig.cmake: -Dperfh_DIR=..."""
    return _os.path.join(_os.path.dirname(_os.path.abspath(__file__)), "cmake")


def get_cython_dir():
    """The folder to give to `cython -I`, where that is needed: it holds perfh/perf.pxd."""
    return _os.path.dirname(_os.path.dirname(_os.path.abspath(__file__)))


def __getattr__(name):
    """Names of the compiled module; without a compiler at install time there is none, and it is said."""
    if name == "__version__":
        from importlib.metadata import version
        globals()[name] = version("perfh")
        return globals()[name]
    if name in _RESULTS:
        return getattr(_importlib.import_module("perfh._results"), name)
    if name == "torch":                     # perfh.torch, not torch
        return _importlib.import_module("perfh.torch")
    if name not in _FROM_MODULE:
        raise AttributeError(f"module 'perfh' has no attribute {name!r}")
    try:
        _python = _importlib.import_module("perfh._python")
    except ModuleNotFoundError as error:
        if error.name != "perfh._python":
            raise
        raise ImportError(f"perfh.{name} needs the compiled part of perfh, which was not built: "
                          "install a C compiler and Python's headers, then install perfh again"
                          ) from None
    value = globals()[name] = getattr(_python, name)
    return value


def __dir__():
    return sorted(set(globals()) | set(__all__))


# Compiled modules that only mark their scopes count them from here on: the report is in our module.
try:
    _importlib.import_module("perfh._python")
except ImportError:
    pass
