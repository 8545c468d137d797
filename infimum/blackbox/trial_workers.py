"""Who runs the trials: this process, others, or threads that wait for commands. One interface for all of them.

`run(points)` is a synchronous round: all outcomes, in the order of the points. `submit` and `next_finished` are asynchronous:
each outcome as it comes. Both wait in short pieces and look at the run's clock in between (`clock.stop_if_over`).
"""

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from contextlib import nullcontext
from time import monotonic
from typing import Any, NamedTuple, Protocol

import numpy as np

from infimum.blackbox.outcome import Outcome
from infimum.errors import OptionError
from infimum.support import clock
from infimum.support.held_interrupts import interrupts_held_back

CLOCK_PERIOD = 0.25  # seconds between two looks at the clock


class BlackBox(Protocol):
    """What is tried: `PythonFunctions` or `Command`. With `maximise`, its values are those of -f."""

    constraints: int
    variables: Any  # Variables
    maximise: bool

    def evaluate(self, x: Sequence[float]) -> Outcome: ...

    def describe(self) -> dict[str, Any]: ...


class FinishedTrial(NamedTuple):
    """A trial that has ended: its ticket, as `submit` gave it, and what it gave."""

    ticket: int
    outcome: Outcome


class Workers(ABC):
    """Runs trials, `count` at once. What is submitted beyond that waits its turn, first come, first served.

    A subclass runs what is in `_waiting` and puts what has ended into `_done`. Used in a `with` block, or closed: afterwards
    nothing of it is running any more.
    """

    has_processes = False  # which Ctrl-C would leave behind while they are ended

    def __init__(self, count: int):
        self.count = count
        self.closed = False
        self.outstanding = 0                # submitted, and not yet handed out
        self.busy_seconds = 0.0             # of all trials that were handed out
        self._tickets = 0
        self._waiting: deque[tuple[int, list[float] | bytes]] = deque()
        self._done: deque[FinishedTrial] = deque()

    @property
    def free(self) -> int:
        """How many trials could begin at once if they were submitted now."""
        return max(0, self.count - self.outstanding)

    def submit(self, x: Sequence[float] | np.ndarray | bytes) -> int:
        """Begins a trial at a point, or lets it wait; returns its ticket, counted from 0. A black box may also take
        bytes, which travel as they are."""
        if self.closed:
            raise OptionError("these workers are closed: start others")
        ticket, self._tickets = self._tickets, self._tickets + 1
        self.outstanding += 1
        self._waiting.append((ticket, x if isinstance(x, bytes) else [float(v) for v in x]))
        self._deal()
        return ticket

    def next_finished(self, timeout: float | None = None) -> FinishedTrial | None:
        """The next trial that ends; None if none does within `timeout` seconds, or if none is running."""
        end = math.inf if timeout is None else monotonic() + timeout
        while self.outstanding:
            if not self._done:
                self._await(max(0.0, min(CLOCK_PERIOD, end - monotonic())))
            if self._done:
                self.outstanding -= 1
                finished = self._done.popleft()
                self.busy_seconds += finished.outcome.seconds
                return finished
            clock.stop_if_over()
            if monotonic() >= end:
                return None
        return None

    def run(self, points: Sequence[Any]) -> list[Outcome]:
        """A round: the outcomes of all points, in their order, whoever was first."""
        if self.outstanding:
            raise OptionError("a round begins when no trial is outstanding: take them with next_finished first")
        tickets = [self.submit(x) for x in points]
        found = dict(self.next_finished() for _ in tickets)
        return [found[ticket] for ticket in tickets]

    def prepare(self, seconds: float) -> bool:
        """Waits at most so long until every worker could begin a trial at once; can they?"""
        return True

    @abstractmethod
    def _deal(self) -> None:
        """Gives what is waiting to workers that are free."""

    @abstractmethod
    def _await(self, seconds: float) -> None:
        """Waits at most so long for a trial to end, and puts all that have into `_done`."""

    @abstractmethod
    def _end(self) -> None:
        """Ends all workers and what they are running, if there are any left."""

    def close(self) -> None:
        """Ends all workers and what they are running; trials that were not handed out are forgotten."""
        with interrupts_held_back() if self.has_processes else nullcontext():
            self.closed, self.outstanding = True, 0
            self._waiting.clear()
            self._done.clear()
            self._end()

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class LocalWorkers(Workers):
    """One trial after the other, here. A trial cannot be killed, and one that crashes ends the whole run."""

    def __init__(self, box: BlackBox):
        super().__init__(1)
        self._box = box

    def _deal(self) -> None:
        """A trial begins when its outcome is asked for."""

    def _await(self, seconds: float) -> None:
        ticket, x = self._waiting.popleft()
        self._done.append(FinishedTrial(ticket, self._box.evaluate(x)))

    def _end(self) -> None:
        """Nothing runs between two calls."""
