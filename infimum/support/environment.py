"""The floating-point environment of this thread: ours while the library computes, the caller's while code of the caller runs.

A process may flush subnormal numbers to zero, round another way or trap exceptions (libraries set this for their own sake), or
have told NumPy to raise or to call something. Kernels load a control word of their own; the arithmetic of Python and NumPy around
them, on which a proof relies as well, is guarded here: every public function that computes with doubles is decorated with `ours`.
"""

import ctypes
import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from types import FunctionType
from typing import Any

import numpy as np


def _libm() -> tuple[Callable, Callable, Callable, Any]:
    """C's fegetenv, fesetenv and feholdexcept, which traps nothing from then on, and the default of fesetenv: to nearest, nothing
    flushed, nothing trapped."""
    try:
        library = ctypes.CDLL(None)
        get, load, hold = library.fegetenv, library.fesetenv, library.feholdexcept
    except (AttributeError, OSError, TypeError):  # Windows: there only NumPy's settings are taken care of
        return *[lambda word: 0] * 3, None
    get.argtypes = load.argtypes = hold.argtypes = [ctypes.c_void_p]
    try:
        default = ctypes.addressof(ctypes.c_char.in_dll(library, "_FE_DFL_ENV"))  # macOS
    except ValueError:
        default = -1  # glibc and musl
    return get, load, hold, ctypes.c_void_p(default)


_get, _load, _hold, _DEFAULT = _libm()
_Word = ctypes.c_uint64 * 8  # no system needs more
_PATIENT = 100_000  # objects, some ten megabytes of them


class _Caller:
    """What the caller has set in this thread: the control word, and NumPy's reactions, which `ignoring` covers."""

    __slots__ = ("ignoring", "word")

    def __init__(self) -> None:
        self.word, self.ignoring = _Word(), None
        _get(self.word)

    def cover(self) -> None:
        self.ignoring = np.errstate(all="ignore")
        self.ignoring.__enter__()

    def uncover(self) -> None:
        ignoring, self.ignoring = self.ignoring, None
        if ignoring is not None:
            ignoring.__exit__(None, None, None)


class _Thread(threading.local):
    caller: _Caller | None = None  # None: code of the caller is running


_thread = _Thread()


def ours(function: Callable) -> Callable:
    """The function, in our environment. What the caller had set is back afterwards, whatever happens; costs a few microseconds.

    Where it is set already, by a function further out, nothing is done.
    """
    @wraps(function)
    def guarded(*args: Any, **settings: Any) -> Any:
        if _thread.caller is not None:
            return function(*args, **settings)
        caller = _Caller()
        try:
            _thread.caller = caller
            _load(_DEFAULT)
            caller.cover()
            return function(*args, **settings)
        finally:  # a Ctrl-C is heard after a call of C, not before: the word comes first
            _load(caller.word)
            _thread.caller = None
            caller.uncover()
    return guarded


def call(function: Callable, *args: Any) -> Any:
    """function(*args), a function of the caller's, in the caller's environment; what it sets there stays."""
    caller = _thread.caller
    if caller is None:
        return function(*args)
    began = False
    try:
        caller.uncover()
        _thread.caller = None
        _load(caller.word)
        began = True
        return function(*args)
    finally:
        try:
            if began:
                _get(caller.word)
        finally:
            _thread.caller = caller
            _load(_DEFAULT)
            caller.cover()


def call_untrapped(function: Callable, *args: Any) -> Any:
    """The same, but nothing is trapped, since it may be undefined where it is called; what it sets is undone."""
    caller = _thread.caller
    if caller is None:
        return function(*args)
    try:
        caller.uncover()
        _thread.caller = None
        _load(caller.word)
        _hold(_Word())
        return function(*args)
    finally:
        _thread.caller = caller
        _load(_DEFAULT)
        caller.cover()


@contextmanager
def collector_paused() -> Iterator[None]:
    """Expressions and programs are very many small objects that all stay: looking for garbage among them takes half the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


class _Patience:
    """How many runs there are now, in all threads, and the collector's thresholds before them and meanwhile."""

    def __init__(self) -> None:
        self.lock, self.runs, self.before, self.meanwhile = threading.Lock(), 0, (0, 0, 0), (0, 0, 0)


_patience = _Patience()


@contextmanager
def collector_patient() -> Iterator[None]:
    """In this block the collector looks for garbage after this number of new objects at the soonest: a short run makes fewer, and
    nearly all of them stay until its end."""
    with _patience.lock:
        if _patience.runs == 0:
            first, *others = _patience.before = gc.get_threshold()
            _patience.meanwhile = (max(first, _PATIENT) if first else 0, *others)  # 0: there is no collector
            gc.set_threshold(*_patience.meanwhile)
        _patience.runs += 1
    try:
        yield
    finally:
        with _patience.lock:
            _patience.runs -= 1
            if _patience.runs == 0 and gc.get_threshold() == _patience.meanwhile:  # else somebody else has a say
                gc.set_threshold(*_patience.before)


def all_ours(kind: type) -> type:
    """The class, each of whose public methods is in our environment. Plain properties decide for themselves."""
    for name, part in list(vars(kind).items()):
        if isinstance(part, cached_property):
            part.func = ours(part.func)
        elif isinstance(part, classmethod):
            setattr(kind, name, classmethod(ours(part.__func__)))
        elif isinstance(part, FunctionType) and not name.startswith("_"):
            setattr(kind, name, ours(part))
    return kind
