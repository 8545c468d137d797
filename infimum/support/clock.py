"""The clock of a run: tracing, differentiating, lowering and compiling may take longer than a run has time, and look at it.

Passes that may be long call `check_time()` often. It raises `OutOfTime` once the run's time is over or the user has stopped it,
and shows meanwhile what the run is doing. Without a run it does nothing.

Long work with numbers calls `stop_if_over()` between pieces. That stops a run only within `stoppable()`, a block whose caller
loses nothing if it is left anywhere.

What a run has verified when its time is over is its result. So its answer is put together in a block `answering()` that nothing
stops; what it can do without, such as a diagnosis, is then tried for a moment alone, by `briefly()`.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar, Token
from time import perf_counter
from typing import Any

_SHOWN = 0.2  # seconds between two updates of the phase that is shown
BRIEF = 0.1   # seconds for what the answer of a run can do without


class OutOfTime(BaseException):
    """A run has no more time for what is not there yet: an expression, a kernel. Not an Exception, as KeyboardInterrupt is
    none: no `except` of the function that is traced should catch it. `best`: a point and an estimate of its value, if known."""

    best: tuple | None = None


class RunTimeOver(OutOfTime):
    """The whole time of a run is over: what it has found so far is its answer."""


class Watch:
    """Counts from when it was made; in its `with` block `check_time` and `stop_if_over` read it.

    `seconds` of the time are for what calls `check_time`, and `whole` for what calls `stop_if_over`; None: as much as it takes.
    `hurried`: what can be left out has a moment alone.
    `asked_to_stop` and `show(phase, seconds)` may be set by whoever drives the run.
    """

    def __init__(self, seconds: float | None = None, whole: float | None = None, hurried: bool = False):
        self.start, self.hurried = perf_counter(), hurried
        self.end = None if seconds is None else self.start + seconds
        self.last = None if whole is None else self.start + whole
        self.phase, self.stoppable = "tracing", False
        self.asked_to_stop: Callable[[], bool] = lambda: False
        self.show: Callable[[str, float], None] | None = None
        self._shown = self.start
        self._outer: list[Token] = []

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return perf_counter() - self.start

    def __enter__(self) -> "Watch":
        self._outer.append(_watch.set(self))
        return self

    def __exit__(self, *_: object) -> None:
        _watch.reset(self._outer.pop())

    def check(self) -> None:
        """Raises OutOfTime if the time for what is made is over, or the user has stopped the run."""
        now = perf_counter()
        if (self.end is not None and now >= self.end) or self.asked_to_stop():
            raise OutOfTime(self.phase)
        if self.show is not None and now - self._shown >= _SHOWN:
            self._shown = now
            self.show(self.phase, now - self.start)

    @property
    def is_over(self) -> bool:
        """Is the whole time over, or has the user stopped the run?"""
        return (self.last is not None and perf_counter() >= self.last) or self.asked_to_stop()

    def stop_if_over(self) -> None:
        """Raises RunTimeOver if the whole time is over, or the user has stopped the run."""
        if self.is_over:
            raise RunTimeOver


_watch: ContextVar[Watch | None] = ContextVar("watch", default=None)


def check_time(phase: str | None = None) -> None:
    """Called often by what may take long: raises OutOfTime where no time is left for it. `phase` says what begins."""
    watch = _watch.get()
    if watch is not None:
        if phase is not None:
            watch.phase = phase
        watch.check()


def stop_if_over() -> None:
    """Called between the pieces of long work: raises RunTimeOver within `stoppable()`, where the run's time is over."""
    watch = _watch.get()
    if watch is not None and watch.stoppable:
        watch.stop_if_over()


def stop_unless_left(seconds: float) -> None:
    """Called before what takes long and cannot be cut: raises RunTimeOver within `stoppable()`, where no more time is left."""
    watch = _watch.get()
    if watch is not None and watch.stoppable and seconds >= left():
        raise RunTimeOver


def left() -> float:
    """The seconds that are left to the run; infinite where nobody counts them."""
    watch = _watch.get()
    return float("inf") if watch is None or watch.last is None else watch.last - perf_counter()


def answering(watch: Watch) -> Watch:
    """A block in which the answer of a run is put together: it is not stopped, but if the run's time is over, it hurries."""
    return Watch(hurried=watch.is_over)


def briefly(make: Callable[[], Any], otherwise: Any = None) -> Any:
    """make(), which a result can do without; what stands for it where memory does not suffice or, where a run hurries, it would
    take more than a moment."""
    watch = _watch.get()
    moment = BRIEF if watch is not None and watch.hurried else None
    try:
        with Watch(moment, moment), stoppable():
            return make()
    except (MemoryError, OutOfTime):
        return otherwise


@contextmanager
def stoppable() -> Iterator[None]:
    """Wherever this block is left, nothing is lost that a run has found."""
    watch = _watch.get() or Watch()
    before, watch.stoppable = watch.stoppable, True
    try:
        yield
    finally:
        watch.stoppable = before


def in_stoppable_steps(steps: Iterator[None]) -> Iterator[None]:
    """The same steps, each of which is a block `stoppable()`."""
    while True:
        with stoppable():
            try:
                next(steps)
            except StopIteration:
                return
        yield
