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

from infimum import environment
from infimum.errors import TraceError

_INSIDE = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
_internal: dict[str, bool] = {"<__array_function__ internals>": True, environment.ours.__code__.co_filename: True}


def call_user_function(fun: Callable, *args: Any) -> Any:
    """fun(*args). The search for the user's frame ends here: what lies further out called infimum and is not at fault."""
    return environment.call(fun, *args)


_BOUNDARY = call_user_function.__code__


def _is_internal(filename: str) -> bool:
    known = _internal.get(filename)
    if known is None:
        known = _internal[filename] = os.path.abspath(filename).startswith(_INSIDE)
    return known


def _user_frame() -> FrameType | None:
    """The innermost frame that belongs neither to NumPy nor to the tracer."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        code = frame.f_code
        if code is _BOUNDARY:
            return None
        internal = _internal.get(code.co_filename)
        if internal is None:
            internal = _is_internal(code.co_filename)
        if not internal:
            return frame
        frame = frame.f_back
    return None


def user_line() -> str | None:
    """"file:line" of the user's code that is running, for the nodes it makes."""
    frame = _user_frame()
    return None if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Place:
    """An instruction of the user's code: file, line, source text, and the names it can see."""

    def __init__(self, frame: FrameType, lasti: int, lineno: int):
        self.file, self.line = frame.f_code.co_filename, lineno
        self.statement = linecache.getline(self.file, lineno, frame.f_globals).strip()
        self.assigns = dis.opname[frame.f_code.co_code[lasti]].startswith("STORE") if lasti >= 0 else False
        exact = None if self.assigns else _exact_text(frame.f_code, lasti, frame.f_globals)
        self.text = exact or self.statement
        self._names = {**vars(builtins), **frame.f_globals, **frame.f_locals}

    @classmethod
    def now(cls) -> "Place | None":
        """The place of the user's code that is running."""
        frame = _user_frame()
        return None if frame is None else cls(frame, frame.f_lasti, frame.f_lineno)

    @classmethod
    def of(cls, traceback: TracebackType | None) -> "Place | None":
        """The innermost place of the user's code in a traceback."""
        found = None
        while traceback is not None:
            if not _is_internal(traceback.tb_frame.f_code.co_filename):
                found = traceback
            traceback = traceback.tb_next
        return None if found is None else cls(found.tb_frame, found.tb_lasti, found.tb_lineno)

    def called(self) -> Any:
        """The function that the text calls, if the text is a call of a name: tells `math.sin` under any alias."""
        match = re.match(r"([A-Za-z_]\w*(?:\.\w+)*)\s*\(", self.text)
        if match is None:
            return None
        first, *rest = match[1].split(".")
        function = self._names.get(first)
        for name in rest:
            function = getattr(function, name, None)
        return function

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f", in `{self.text}`" if self.text else "")


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


def trace_error(place: Place | None, what: str, cure: str) -> TraceError:
    """A TraceError that names the place, what happened there, and the cure."""
    return TraceError(f"{place}: {what} {cure}" if place is not None else f"{what} {cure}")


_raised: ContextVar[list[TraceError] | None] = ContextVar("raised", default=None)


@contextmanager
def nothing_swallowed() -> Iterator[None]:
    """An `except` of the user's function must not catch our errors: it would return another function than NumPy computes."""
    token = _raised.set([])
    try:
        yield
        caught = _raised.get()
        if caught:
            raise TraceError(f"{caught[0]} (An `except` in the function caught this error; what it returned instead would not be "
                             "the function that NumPy computes.)") from caught[0]
    finally:
        _raised.reset(token)


def fail(what: str, cure: str) -> NoReturn:
    """Raise a TraceError about the user's code that is running. Both arguments are full sentences."""
    error = trace_error(Place.now(), what, cure)
    seen = _raised.get()
    if seen is not None:
        seen.append(error)
    raise error
