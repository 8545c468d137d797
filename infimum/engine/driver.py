"""Drives an engine: time limit, callback, progress line, Ctrl-C. What was found so far is always the answer."""

import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from infimum.engine.checkpoint import State, save
from infimum.result import Progress, Result

_QUIET, _REDRAW = 1.0, 0.2  # seconds before the progress line appears by itself, and between two of its states


class Engine(Protocol):
    """What the driver needs: work in pieces, a view of the best so far, and an answer at any moment."""

    name: str
    x: np.ndarray
    value: float
    lower: float
    evaluations: int

    def steps(self) -> Iterator[None]: ...

    def line(self) -> str: ...

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result: ...


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """The function, as estimates of points (n, N), and the bounds of the problem."""

    estimate: Callable[[np.ndarray], np.ndarray]
    lo: np.ndarray
    hi: np.ndarray


@dataclass(frozen=True, slots=True)
class Keeper:
    """Writes the state of an engine to a file every few seconds, with the settings that a resumed run needs."""

    path: str
    settings: State
    every: float = 5.0

    def keep(self, engine: Any) -> None:
        """Writes the state, if there is one yet."""
        state = engine.state()
        if state is not None:
            both = State({"settings": self.settings.values, "state": state.values},
                         {**{f"settings.{k}": v for k, v in self.settings.arrays.items()}, **state.arrays})
            save(self.path, both)


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot:
    """What a callback sees: the best point and value so far (an estimate), the proved lower bound, the evaluations, the time."""

    x: np.ndarray
    fun: float
    nfev: int
    seconds: float
    lower: float


def drive(engine: Engine, *, time_limit: float | None = None, callback: Callable[[Snapshot], Any] | None = None,
          progress: bool | None = None, keeper: Keeper | None = None, view: View | None = None) -> Result:
    """Runs the engine to its end, a limit, the callback's word or Ctrl-C. `progress=None` shows the line on terminals after a
    second."""
    start, history, stopped, known = time.perf_counter(), [], None, (-np.inf, np.inf)
    shown, kept = _Line(progress), start
    try:
        for _ in engine.steps():
            seconds = time.perf_counter() - start
            bounds = engine.lower, engine.value
            if bounds != known:
                known = bounds
                history.append(Progress(seconds, engine.evaluations, bounds[1], bounds[0]))
            shown.show(engine, seconds)
            if keeper is not None and time.perf_counter() - kept >= keeper.every:
                keeper.keep(engine)
                kept = time.perf_counter()
            if callback is not None and _says_stop(
                    callback, Snapshot(engine.x, bounds[1], engine.evaluations, seconds, bounds[0])):
                stopped = "stopped by the callback"
            elif time_limit is not None and seconds >= time_limit:
                stopped = f"the time limit of {time_limit:g} s was reached"
            if stopped:
                break
    except KeyboardInterrupt:
        stopped = "interrupted"
    finally:
        shown.clear()
    if keeper is not None:
        keeper.keep(engine)
    result = engine.finish(stopped, time.perf_counter() - start, history)
    return replace(result, view=view)


def _says_stop(callback: Callable[[Snapshot], Any], snapshot: Snapshot) -> bool:
    try:
        return isinstance(said := callback(snapshot), (bool, np.bool_)) and bool(said)
    except StopIteration:
        return True


class _Line:
    """One line on stderr that is written over."""

    def __init__(self, wanted: bool | None):
        self.wanted = sys.stderr is not None and (sys.stderr.isatty() if wanted is None else wanted)
        self.next, self.width = 0.0 if wanted else _QUIET, 0

    def show(self, engine: Engine, seconds: float) -> None:
        if self.wanted and seconds >= self.next:
            text = f"{seconds:7.1f} s  {engine.line()}  evaluations {engine.evaluations:,}"
            sys.stderr.write(f"\r{text:<{self.width}}")
            sys.stderr.flush()
            self.next, self.width = seconds + _REDRAW, max(self.width, len(text))

    def clear(self) -> None:
        if self.width:
            sys.stderr.write(f"\r{'':<{self.width}}\r")
            sys.stderr.flush()
