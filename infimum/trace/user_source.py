"""Where in the user's code we are: the line recorded on nodes, and the place and text that error messages name."""

import builtins
import dis
import linecache
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from types import CodeType, FrameType, TracebackType
from typing import Any, NoReturn

import numpy as np

from infimum.errors import TraceError
from infimum.support import environment
from infimum.support.other_libraries import WITH_NUMPY, given_to, library_name

_HERE = os.path.dirname(os.path.abspath(__file__))
_INSIDE = tuple(folder + os.sep for folder in (os.path.dirname(np.__file__), _HERE, *(
    os.path.join(os.path.dirname(_HERE), package) for package in ("expr", "networks", "ampl"))))
_STANDARD = os.path.dirname(os.path.realpath(os.__file__)) + os.sep
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]|^<frozen|\.pyx$")
_DEBUGGERS = frozenset(("bdb", "pdb", "traceback", "IPython", "ipdb", "pudb", "debugpy", "pydevd", "_pydevd_bundle"))
OURS, LIBRARY, USER = range(3)  # NumPy's code, ours; other installed code, such as pandas; the user's own
_owner: dict[str, int] = {"<__array_function__ internals>": OURS, environment.ours.__code__.co_filename: OURS}


def call_user_function(fun: Callable, *args: Any) -> Any:
    """fun(*args). The search for the user's frame ends here: what lies further out called infimum and is not at fault."""
    return environment.call(fun, *args)


_BOUNDARY = call_user_function.__code__


def owner_of(filename: str) -> int:
    """Whose code a file holds."""
    known = _owner.get(filename)
    if known is None:
        installed = _INSTALLED.search(filename) or os.path.realpath(filename).startswith(_STANDARD)
        known = OURS if os.path.abspath(filename).startswith(_INSIDE) else LIBRARY if installed else USER
        _owner[filename] = known
    return known


def _is_scipy(filename: str) -> bool:
    """SciPy has its place in this only once the user has imported it."""
    home = getattr(sys.modules.get("scipy"), "__file__", None)
    return home is not None and os.path.abspath(filename).startswith(os.path.dirname(home) + os.sep)


def _user_frame() -> tuple[FrameType | None, FrameType | None]:
    """The innermost frame of the user's own code, and that of a library other than NumPy that it called (if there is no code of
    the user's own, the library is taken for it)."""
    frame: FrameType | None = sys._getframe(1)
    library = None
    while frame is not None:
        code = frame.f_code
        if code is _BOUNDARY:
            break
        owner = _owner.get(code.co_filename)
        if owner is None:
            owner = owner_of(code.co_filename)
        if owner == USER:
            return frame, library
        if owner == LIBRARY and library is None:
            library = frame
        frame = frame.f_back
    return library, None


def in_debugger() -> bool:
    """Is a debugger, or whatever shows tracebacks, looking at the user's function while it runs?"""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not _BOUNDARY:
        if str(frame.f_globals.get("__name__")).partition(".")[0] in _DEBUGGERS:
            return True
        frame = frame.f_back
    return False


class SourceLine(str):
    """"file:line", and the instruction there, whose text is looked up when somebody asks."""

    __slots__ = ("code", "_lasti")

    @classmethod
    def of(cls, frame: FrameType) -> "SourceLine":
        line = cls(f"{frame.f_code.co_filename}:{frame.f_lineno}")
        line.code, line._lasti = frame.f_code, frame.f_lasti
        return line

    @property
    def text(self) -> str | None:
        """The source text of the instruction; None where the source is not at hand."""
        return (_exact_text(self.code, self._lasti, {}) or None) if self else None


_NOWHERE = SourceLine("")  # of a formula that no code of the user's states, as in a model file
_NOWHERE.code, _NOWHERE._lasti = "", 0


def user_line() -> SourceLine:
    """The line of the user's code that is running, for the nodes it makes."""
    frame, _ = _user_frame()
    return _NOWHERE if frame is None else SourceLine.of(frame)


def scipy_call(traceback: TracebackType | None = None) -> str | None:
    """The name of the function of SciPy, written in Python, that the user's code called: in a traceback, or running now."""
    inwards: list[FrameType] = []
    if traceback is None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and owner_of(frame.f_code.co_filename) != USER:
            inwards.insert(0, frame)
            frame = frame.f_back
    while traceback is not None:
        inwards = [*inwards, traceback.tb_frame] if owner_of(traceback.tb_frame.f_code.co_filename) != USER else []
        traceback = traceback.tb_next
    names = [_name(f) for f in inwards if _is_scipy(f.f_code.co_filename)]
    special = sys.modules.get("scipy.special")
    return next((n for n in names if hasattr(special, n) and not n.startswith("_")), names[0] if names else None)


def _name(frame: FrameType) -> str:
    """The function that runs there; of an object that is called, its class."""
    name = frame.f_code.co_name
    return type(frame.f_locals.get("self")).__name__ if name == "__call__" else name


class SourceLocation:
    """An instruction of the user's code: file, line, source text, the names it can see, and the library it called, if any."""

    def __init__(self, frame: FrameType, lasti: int, lineno: int, called: FrameType | None):
        self.file, self.line = frame.f_code.co_filename, lineno
        self.statement = linecache.getline(self.file, lineno, frame.f_globals).strip()
        lasti = _of_a_call(frame.f_code, lasti)
        self._instruction, self._next = _instructions(frame.f_code, lasti)
        self.assigns = self._instruction.startswith("STORE")
        exact = None if self.assigns else _exact_text(frame.f_code, lasti, frame.f_globals)
        self.text = exact or self.statement
        self.library = None if called is None else _package(called.f_code.co_filename)
        self._names = {**vars(builtins), **frame.f_globals, **frame.f_locals}

    @classmethod
    def now(cls) -> "SourceLocation | None":
        """The place of the user's code that is running."""
        frame, called = _user_frame()
        return None if frame is None else cls(frame, frame.f_lasti, frame.f_lineno, called)

    @classmethod
    def of(cls, traceback: TracebackType | None) -> "SourceLocation | None":
        """The innermost place of the user's code in a traceback."""
        user, library = None, None
        while traceback is not None:
            owner = owner_of(traceback.tb_frame.f_code.co_filename)
            if owner == USER:
                user, library = traceback, None
            elif owner == LIBRARY:
                library = traceback
            traceback = traceback.tb_next
        found, called = (library, None) if user is None else (user, None if library is None else library.tb_frame)
        return None if found is None else cls(found.tb_frame, found.tb_lasti, found.tb_lineno, called)

    def called(self) -> Any:
        """The function that is being called, if the text is a call of a name: tells `math.sin` under any alias."""
        if "CALL" not in self._instruction:
            return None
        match = re.match(r"([A-Za-z_]\w*(?:\.\w+)*)\s*\(", self.text)
        if match is None:
            return None
        first, *rest = match[1].split(".")
        function = self._names.get(first)
        for name in rest:
            function = getattr(function, name, None)
        return function

    @property
    def outside(self) -> str | None:
        """The library other than NumPy that the user's code called here, in whatever language it is written."""
        if self.library is not None:
            return library_name(self.library)
        function = self.called()
        owner = getattr(function, "__self__", None)  # of a method
        kind = owner if isinstance(owner, type) else type(owner if owner is not None else function)
        name = str(getattr(function, "__module__", None) or kind.__module__)
        module = None if function is None else sys.modules.get(name.partition(".")[0])
        file = getattr(module, "__file__", None)
        return None if module is None or (file is not None and owner_of(file) == USER) else library_name(name)

    @property
    def branches(self) -> bool:
        """Is it the interpreter itself that asks whether a value is true, for an `if` and its relatives?"""
        return any(_BRANCH.match(name) for name in (self._instruction, self._next))

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f", in `{self.text}`" if self.text else "")


_BRANCH = re.compile("POP_JUMP|JUMP_IF|TO_BOOL|UNARY_NOT")


def _instructions(code: CodeType, lasti: int) -> tuple[str, str]:
    """The names of the instruction at a place and of the one after it."""
    if lasti < 0:
        return "", ""
    names = [dis.opname[op] for op in code.co_code[lasti::2]]
    return names[0], next((name for name in names[1:] if name not in ("CACHE", "COPY", "NOT_TAKEN")), "")


def _of_a_call(code: CodeType, lasti: int) -> int:
    """The place of the call, for a test that Python 3.14 makes for any(... for ...) or all(... for ...) without calling them.

    It has the columns of the name, and the call that is made where the name means something else begins there.
    """
    if lasti < 0 or dis.opname[code.co_code[lasti]] != "TO_BOOL" or sys.version_info < (3, 14):
        return lasti
    places = [((first, start), (last, end)) for first, last, start, end in code.co_positions()]
    begin, end = places[lasti // 2]
    if None in begin + end:
        return lasti
    calls = (2 * i for i, op in enumerate(code.co_code[::2]) if dis.opname[op] == "CALL" and places[i][0] == begin)
    return next((i for i in calls if places[i // 2][1] > end), lasti)


def _exact_text(code: CodeType, lasti: int, module_globals: dict[str, Any]) -> str | None:
    """The source text of one instruction (Python 3.11 keeps the columns), on one line."""
    if not hasattr(code, "co_positions") or lasti < 0:
        return None
    first, last, start, end = next(islice(code.co_positions(), lasti // 2, None))
    if first is None or last is None or start is None or end is None:
        return None
    rows = [linecache.getline(code.co_filename, n, module_globals).encode() for n in range(first, last + 1)]
    rows[-1] = rows[-1][:end]  # columns count bytes of UTF-8
    rows[0] = rows[0][start:]
    text = " ".join(row.decode(errors="replace").strip() for row in rows)
    return text if len(text) <= 200 else text[:197] + "..."


def trace_error(place: SourceLocation | None, what: str, cure: str) -> TraceError:
    """A TraceError that names the place, what happened there, and the cure. If it happened in a call of a library, and the
    sentences are not about that one, others take their place: what the library does with the value is not the user's code."""
    library = None if place is None else place.outside
    if library is not None and not re.search(rf"\b(of|to) {re.escape(library)}\b", what):
        what, cure = given_to(library)
    return TraceError(f"{place}: {what} {cure}" if place is not None else f"{what} {cure}")


def _package(filename: str) -> str:
    """The name of the package or module of a library's file."""
    frozen = re.match(r"<frozen ([\w.]+)>", filename)
    if frozen is not None:
        return frozen[1]
    installed = _INSTALLED.search(filename)
    inside = filename[installed.end():] if installed is not None and not filename.endswith(".pyx") else \
        os.path.relpath(filename, _STANDARD) if os.path.isabs(filename) else filename
    return re.split(r"[/\\.]", inside)[0]


def form_error(text: str) -> TraceError:
    """A TraceError about what a function returned, or about how a constraint is written: trials would refuse it too."""
    error = TraceError(text)
    error.may_be_tried = False
    return error


_raised: ContextVar[list[TraceError] | None] = ContextVar("raised", default=None)


@contextmanager
def nothing_swallowed() -> Iterator[None]:
    """An `except` of the user's function must not catch our errors: it would return another function than NumPy computes."""
    token = _raised.set([])
    try:
        yield
        caught = _raised.get()
        if caught:
            error = TraceError(f"{caught[0]} (An `except` in the function caught this error; what it returned instead would not "
                               "be the function that NumPy computes.)")
            error.again = caught[0].again
            raise error from caught[0]
    finally:
        _raised.reset(token)


# what to write instead of functions that SciPy has in Python, for plain numbers only
SCIPY_INSTEAD = {
    "logsumexp": "Write np.logaddexp.reduce(a, axis=...), with a + np.log(b) for positive weights b.",
    "log_softmax": "Write a - np.logaddexp.reduce(a, axis=..., keepdims=True).",
    "softmax": "Write np.exp(a - np.logaddexp.reduce(a, axis=..., keepdims=True)).",
    "softplus": "Write np.logaddexp(0.0, x).",
}

_OF_SPLINES = {
    **dict.fromkeys(("PPoly", "CubicSpline", "CubicHermiteSpline", "PchipInterpolator", "Akima1DInterpolator", "BSpline",
                     "UnivariateSpline", "InterpolatedUnivariateSpline", "LSQUnivariateSpline"),
                    "Make it a function that can be traced, s = infimum.spline(the spline), and call s."),
    "splev": "Make the spline a function that can be traced, s = infimum.spline((t, c, k)), and call s.",
    "interp1d": "Use np.interp, or infimum.spline(scipy.interpolate.CubicSpline(x, y)).",
}


def no_rule_of_scipy(function: str) -> tuple[str, str]:
    """The two sentences about a function of SciPy that is no ufunc: what is missing, and the cure."""
    return (f"SciPy's function {function} has no rule for traced values.", {**SCIPY_INSTEAD, **_OF_SPLINES}.get(
        function, f"{WITH_NUMPY} The ufuncs of scipy.special that have a rule are listed in docs/numpy.md."))


def fail(what: str, cure: str, again: bool = False) -> NoReturn:
    """Raise a TraceError about the user's code that is running. Both sentences are full; `again`: a second run may help."""
    called = scipy_call()
    if called is not None:
        what, cure = no_rule_of_scipy(called)
    error = trace_error(SourceLocation.now(), what, cure)
    error.again = again or called in SCIPY_INSTEAD
    seen = _raised.get()
    if seen is not None:
        seen.append(error)
    raise error
