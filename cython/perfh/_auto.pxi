# Functions that nobody marked, and their lines: perfh.auto().  Part of _python.pyx.
#
# Python 3.12 and later: sys.monitoring, where what does not fit is switched off at its first event.
# Before: the profile hook of each thread, and its trace hook where lines are asked for.

cdef extern from *:
    """
    #if PY_VERSION_HEX < 0x03090000
    static PyCodeObject *PyFrame_GetCode(PyFrameObject *frame)
    {
        Py_INCREF(frame->f_code);
        return frame->f_code;
    }
    #endif
    static PyObject *perfh_code_of(PyFrameObject *frame)
    {
        return (PyObject *)PyFrame_GetCode(frame);
    }
    """
    ctypedef struct PyObject:
        pass
    ctypedef struct PyFrameObject:
        pass
    ctypedef int (*Py_tracefunc)(PyObject *, PyFrameObject *, int, PyObject *) except -1
    void PyEval_SetProfile(Py_tracefunc function, PyObject *with_)
    void PyEval_SetTrace(Py_tracefunc function, PyObject *with_)
    object perfh_code_of(PyFrameObject *frame)
    int PyFrame_GetLineNumber(PyFrameObject *frame)
    PyObject *PyThreadState_GetDict()
    PyObject *PyDict_GetItem(PyObject *d, PyObject *key)
    int PyTrace_CALL, PyTrace_RETURN, PyTrace_LINE


cdef object MONITORING = getattr(sys, "monitoring", None)
cdef object DISABLE = MONITORING.DISABLE if MONITORING else None
cdef object STACK = object()                    # the key of a thread's stack
cdef tuple WITHIN = ("<listcomp>", "<genexpr>", "<dictcomp>", "<setcomp>", "<lambda>")


cdef class Function:
    """A function that was chosen."""
    cdef object code                            # kept: its address names it
    cdef bytes name
    cdef str module
    cdef bint lines                             # its lines are scopes, too
    cdef dict line_names

    cdef bytes line_name(self, int line):
        name = self.line_names.get(line)
        if name is None:
            text = linecache.getline(self.code.co_filename, line).strip()
            name = self.line_names[line] = utf8(f"{self.module}:{line} {text[:80]}".rstrip())
        return name


cdef struct Opened:
    perf_scope s, line
    bint has_line
    void *frame                                 # or the code, where there is no frame
    PyObject *function                          # a Function that Chosen keeps


cdef class Chosen:
    """Which functions become scopes, and their names."""
    cdef tuple patterns, lines
    cdef object folder
    cdef dict known                             # the code's address: its Function, or None
    cdef list kept                              # those codes
    cdef object tool                            # of sys.monitoring; None: it is not used
    cdef readonly bint on

    def __cinit__(self, tuple patterns, folder, tuple lines):
        self.patterns, self.folder, self.lines = patterns, folder, lines
        self.known, self.kept, self.tool, self.on = {}, [], None, True

    cdef bint fits(self, str module, object code) except -1:
        if self.patterns:
            return any(fnmatch.fnmatchcase(module, one) for one in self.patterns)
        return self.folder is not None and code.co_filename.startswith(self.folder)

    cdef Function made(self, object code, str module):
        cdef Function function
        if code.co_name in WITHIN or module == "perfh" or module.startswith("perfh."):
            return None
        shown = module
        if module == "__main__":
            shown = os.path.splitext(os.path.basename(code.co_filename))[0]
        name = f"{shown}.{getattr(code, 'co_qualname', code.co_name)}".replace(".<locals>", "")
        lines = any(one is code or isinstance(one, str) and fnmatch.fnmatchcase(name, one) for one in self.lines)
        if not lines and not self.fits(module, code):
            return None
        function = Function()
        function.code, function.name, function.module = code, utf8(name), shown
        function.lines, function.line_names = lines, {}
        return function

    cdef Function look_up(self, object code, void *frame):
        """frame: that of the code; NULL: perhaps the one that runs now."""
        key = <size_t><void *>code
        try:
            return self.known[key]
        except KeyError:
            pass
        space = (<object><PyObject *>frame).f_globals if frame else globals_of(code)
        module = space.get("__name__") if space is not None else module_of(code)
        self.kept.append(code)
        function = self.known[key] = self.made(code, module if isinstance(module, str) else "?")
        return function

    # What sys.monitoring calls.  It names a code, and no frame.
    def begins(self, code, offset):
        cdef Function function = self.look_up(code, NULL)
        if function is None:
            return DISABLE
        stack_of(self).enter(<void *>code, function)

    def thrown(self, code, offset, error):      # into a generator; it cannot be switched off
        cdef Function function = self.look_up(code, NULL)
        if function is not None:
            stack_of(self).enter(<void *>code, function)

    def ends(self, code, offset, value):
        if self.look_up(code, NULL) is None:
            return DISABLE
        stack_of(self).leave(<void *>code)

    def unwinds(self, code, offset, error):     # nor can this
        if self.look_up(code, NULL) is not None:
            stack_of(self).leave(<void *>code)

    def at_line(self, code, int line):
        cdef Function function = self.look_up(code, NULL)
        if function is None or not function.lines:
            return DISABLE
        stack_of(self).at_line(<void *>code, line)


cdef object globals_of(object code):
    """None: the code runs in no frame of Python's, as Cython's does."""
    frame = sys._getframe()
    return frame.f_globals if frame.f_code is code else None


cdef object module_of(object code):
    """The compiled module that a file of Cython became, as pkg/mod.pyx."""
    stem = os.path.splitext(os.path.basename(code.co_filename))[0]
    for name, module in list(sys.modules.items()):
        if name.rpartition(".")[2] == stem and not (getattr(module, "__file__", None) or ".py").endswith(".py"):
            return name
    return stem


cdef class OfThread:
    """The scopes of functions that a thread has open."""
    cdef Chosen chosen
    cdef Opened *stack
    cdef size_t n, room

    def __dealloc__(self):
        free(self.stack)

    cdef int enter(self, void *frame, Function function) except -1:
        cdef Opened *more
        if self.n == self.room:
            more = <Opened *>realloc(self.stack, (self.room * 2 + 64) * sizeof(Opened))
            if not more:
                return 0
            self.stack, self.room = more, self.room * 2 + 64
        more = &self.stack[self.n]
        more.frame, more.function, more.has_line = frame, <PyObject *>function, False
        more.s = perf_scope_begin(function.name)
        self.n += 1
        return 0

    cdef void leave(self, void *frame) noexcept:
        if self.n and self.stack[self.n - 1].frame == frame:
            self.n -= 1
            if self.stack[self.n].has_line:
                perf_scope_end(&self.stack[self.n].line)
            perf_scope_end(&self.stack[self.n].s)

    cdef int at_line(self, void *frame, int line) except -1:
        """A line begins, and the one before it ends."""
        cdef Opened *top
        cdef bytes name
        if not self.n or self.stack[self.n - 1].frame != frame:
            return 0
        top = &self.stack[self.n - 1]
        if not (<Function><object>top.function).lines:
            return 0
        if top.has_line:
            perf_scope_end(&top.line)
        name = (<Function><object>top.function).line_name(line)
        top.line = perf_scope_begin(name)
        top.has_line = True
        return 0


cdef OfThread stack_of(Chosen chosen):
    """This thread's stack."""
    cdef PyObject *d = PyThreadState_GetDict()
    cdef PyObject *found = PyDict_GetItem(d, <PyObject *>STACK) if d else NULL
    cdef OfThread t
    if found and (<OfThread><object>found).chosen is chosen:
        return <OfThread><object>found
    t = OfThread()
    t.chosen = chosen
    if d:
        (<dict><object>d)[STACK] = t
    return t


# ---- the hooks of a thread -----------------------------------------------------------------------

# An exception goes on in the program: names are made by functions of Python, where Ctrl-C arrives.
cdef int function_event(PyObject *with_, PyFrameObject *frame, int what, PyObject *value) except -1:
    cdef OfThread t = <OfThread><object>with_
    cdef Function function
    if not t.chosen.on:
        PyEval_SetProfile(NULL, NULL)
        if t.chosen.lines:
            PyEval_SetTrace(NULL, NULL)
    elif what == PyTrace_CALL:
        function = t.chosen.look_up(perfh_code_of(frame), frame)
        if function is not None:
            t.enter(frame, function)
    elif what == PyTrace_RETURN:                # also where an exception leaves the function
        t.leave(frame)
    return 0


cdef int line_event(PyObject *with_, PyFrameObject *frame, int what, PyObject *value) except -1:
    if what == PyTrace_LINE and (<OfThread><object>with_).chosen.on:
        (<OfThread><object>with_).at_line(frame, PyFrame_GetLineNumber(frame))
    return 0


cdef void watch_thread(Chosen chosen):
    cdef OfThread t = OfThread()
    t.chosen = chosen
    PyEval_SetProfile(function_event, <PyObject *>t)        # keeps it
    if chosen.lines:
        PyEval_SetTrace(line_event, <PyObject *>t)


cdef object watch_threads(Chosen chosen):
    def begin(frame, event, value):
        watch_thread(chosen)
    threading.setprofile(begin)
    watch_thread(chosen)


# ---- sys.monitoring ------------------------------------------------------------------------------

cdef object callbacks(Chosen chosen):
    e = MONITORING.events
    found = {e.PY_START: chosen.begins, e.PY_RESUME: chosen.begins, e.PY_THROW: chosen.thrown,
             e.PY_RETURN: chosen.ends, e.PY_YIELD: chosen.ends, e.PY_UNWIND: chosen.unwinds}
    if chosen.lines:
        found[e.LINE] = chosen.at_line
    return found


cdef bint monitor(Chosen chosen) except -1:
    """False: other tools have all places."""
    events = 0
    for tool in (MONITORING.PROFILER_ID, 3, 4):
        if MONITORING.get_tool(tool) is None:
            break
    else:
        return False
    MONITORING.use_tool_id(tool, "perfh")
    for event, function in callbacks(chosen).items():
        MONITORING.register_callback(tool, event, function)
        events |= event
    chosen.tool = tool
    MONITORING.set_events(tool, events)
    MONITORING.restart_events()                 # what an earlier one has switched off
    return True


def stop_watching(Chosen chosen):
    if not chosen.on:
        return
    chosen.on = False
    if chosen.tool is None:
        threading.setprofile(None)
        PyEval_SetProfile(NULL, NULL)
        if chosen.lines:
            PyEval_SetTrace(NULL, NULL)
        return
    MONITORING.set_events(chosen.tool, 0)
    for event in callbacks(chosen):
        MONITORING.register_callback(chosen.tool, event, None)
    MONITORING.free_tool_id(chosen.tool)


class Auto:
    """What auto() returns: stop() ends it, as does the end of a `with` block."""

    def __init__(self, chosen):
        self._chosen = chosen

    def stop(self):
        stop_watching(self._chosen)

    def __enter__(self):
        return self

    def __exit__(self, kind, value, traceback):
        self.stop()
        return False


cdef object of_lines(lines):
    """The names or codes of functions whose lines are asked for."""
    found = []
    for one in (lines,) if isinstance(lines, str) or callable(lines) else lines:
        if isinstance(one, str):
            found.append(one)
            continue
        code = getattr(inspect.unwrap(one) if callable(one) else one, "__code__", None)
        if not isinstance(code, types.CodeType):
            raise TypeError(f"auto: lines={one!r}: a function of Python, or its name as \"pkg.solve\"")
        found.append(code)
    return tuple(found)


def auto(*patterns, folder=None, lines=()):
    """Makes scopes of all functions of modules whose names fit: perfh.auto("pkg", "pkg.*").

    folder: of all functions whose file lies below it, where no pattern is given.
    lines: functions, or their names as "pkg.mod.solve", of which each line is a scope, too.
    Comprehensions and lambdas belong to the function around them.  Calls count from now on: with
    Python 3.12 and later of all threads and beside other profilers; before, of this thread and of
    threads that begin later, and in the place of another profiler (sys.setprofile).  Every call costs
    more meanwhile.  Returns an object with stop(), which also ends a `with`."""
    cdef Chosen chosen
    asked = of_lines(lines)
    if not patterns and folder is None and not asked:
        raise ValueError('auto: which modules? perfh.auto("pkg", "pkg.*")')
    for one in patterns:
        if not isinstance(one, str):
            raise TypeError(f'auto: {one!r}: the name of a module is wanted, as "pkg" or "pkg.*"')
    chosen = Chosen(patterns,
                    None if folder is None else os.path.join(os.path.abspath(folder), ""), asked)
    if MONITORING is None or not monitor(chosen):
        watch_threads(chosen)
    return Auto(chosen)
