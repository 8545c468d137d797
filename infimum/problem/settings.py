"""Settings: what a user may choose beside the problem itself, read once where a call begins and then handed on as values.

Each class groups what is used together. `read` checks what a user gave; nothing below the entrances checks it again.
"""

import math
import re
from collections.abc import Callable
from os import PathLike
from typing import Any

import numpy as np

from infimum.errors import OptionError
from infimum.support.clock import Watch
from infimum.support.given_numbers import check_number, whole
from infimum.support.lazy import dataclass

LEAST = 16                      # boxes in a step of branch and bound, at least
_ON_A_CLUSTER = 16              # trials of a round there, so that results do not depend on the size of the cluster
_LEAST_MEMORY = 300             # fixed: bytes; a few regions take more, and smaller numbers are meant as gigabytes
_WITHOUT_PROOF = ("swarm", "index")
_MOST_PORTIONS = 1 << 20
_ADDRESS = r"ray|auto|ray://\S+|\S+:\d+"  # of a Ray cluster


@dataclass(frozen=True, slots=True)
class Goal:
    """What must be shown: upper - lower <= max(atol, rtol * |upper|), and, if given, no region wider than xtol."""

    atol: float = 1e-6
    rtol: float = 1e-6
    xtol: float | None = None

    @classmethod
    def read(cls, atol: Any, rtol: Any, xtol: Any = None) -> "Goal":
        """The tolerances of a user, checked."""
        check_tolerances(atol, rtol, xtol)
        return cls(float(atol), float(rtol), None if xtol is None else float(xtol))

    def slack(self, upper: float) -> float:
        return max(self.atol, self.rtol * abs(upper)) if np.isfinite(upper) else 0.0

    def met(self, lower: float, upper: float) -> bool:
        """The difference is rounded up."""
        if not (np.isfinite(upper) and lower > -np.inf):
            return False
        with np.errstate(over="ignore"):
            return bool(np.nextafter(upper - lower, np.inf) <= self.slack(upper) or lower >= upper)


def check_tolerances(atol: Any, rtol: Any, xtol: Any, optional: bool = False) -> None:
    """Raises OptionError unless these are tolerances; all of them may be None where they are `optional`, else only xtol."""
    for name, value in (("atol", atol), ("rtol", rtol), ("xtol", xtol)):
        check_number(name, value, optional=optional or name == "xtol")


@dataclass(frozen=True, slots=True)
class Method:
    """How a problem is solved: the engine, its options, the goal of a proof, and the seed of random numbers. Together with the
    batch these decide the bits of the result."""

    engine: str
    options: Any
    goal: Goal
    seed: int = 0


@dataclass(frozen=True, slots=True)
class Limits:
    """What ends a run before its goal is met: a time in seconds, a number of boxes, and memory in bytes; None: no limit."""

    time_limit: float | None = None
    max_boxes: int | None = None
    memory_limit: float | None = None

    @classmethod
    def read(cls, time_limit: Any, max_boxes: Any, memory_limit: Any) -> "Limits":
        """The limits of a user, checked."""
        for name, value in (("max_boxes", max_boxes), ("time_limit", time_limit)):
            check_number(name, value, optional=True, positive=True)
        check_memory_limit(memory_limit)
        return cls(time_limit, max_boxes, None if memory_limit is None else float(memory_limit))


UNLIMITED = Limits()


def check_memory_limit(limit: Any) -> None:
    """Raises OptionError unless it is a number of bytes in which there is room for a search, or None."""
    check_number("memory_limit", limit, optional=True, positive=True)
    if limit is not None and limit < _LEAST_MEMORY:
        raise OptionError(f"memory_limit is a number of bytes, and {limit:g} is too few for any search: {limit:g} GB are "
                          f"memory_limit={limit:g}e9")


@dataclass(frozen=True, slots=True)
class Machine:
    """Where a problem is solved: the device, the number of CPU threads, and the number of boxes in a step (None: as suits the
    device)."""

    device: str = "auto"
    threads: int | None = None
    batch: int | None = None

    @classmethod
    def read(cls, device: Any, threads: Any, batch: Any) -> "Machine":
        """The choice of a user. The batch is checked here; the device and the threads are when the device is looked for."""
        whole = isinstance(batch, (int, np.integer)) and not isinstance(batch, bool)
        if batch is not None and not (whole and batch >= LEAST):
            raise OptionError(f"batch must be a whole number of {LEAST} or more, or None, not {batch!r}")
        return cls(device, threads, None if batch is None else int(batch))


@dataclass(frozen=True, slots=True)
class Parallel:
    """Who takes part in a proof: how many worker processes, or which Ray cluster, and the number of portions of a round."""

    workers: int | str | None = None
    portions: int | None = None

    @classmethod
    def read(cls, engine: str, workers: Any, portions: Any) -> "Parallel":
        """The choice of a user for this engine, checked; the workers of engine "index" are not read, see `Trials`."""
        portions = read_portions(portions)
        if portions is not None and (workers is None or engine in _WITHOUT_PROOF):
            raise OptionError("portions= is for proofs with workers=, the number of portions in which regions are dealt to them")
        if workers is not None and engine == "swarm":
            raise OptionError("workers= is for proofs and for engine='index'; engine 'swarm' uses threads=")
        return cls(None if workers is None or engine == "index" else read_workers(workers), portions)


@dataclass(frozen=True, slots=True)
class Trials:
    """How the trials of a black box are made: how many at most (None: by default), by how many workers or on which Ray cluster,
    in how many seconds each, in which file they are kept, how many in a round; `check`: the best in the file is made again."""

    max_trials: float | None
    workers: int | str
    timeout: float | None
    journal: str | PathLike | None
    batch: int
    check: bool = True

    @classmethod
    def read(cls, max_trials: Any, workers: Any, timeout: Any, journal: Any, batch: Any, check: bool) -> "Trials":
        """The choice of a user, checked."""
        count, seconds = read_workers(1 if workers is None else workers), read_timeout(timeout)
        batch = (_ON_A_CLUSTER if isinstance(count, str) else count) if batch is None else whole("batch", batch)
        return cls(None if max_trials is None else whole("max_trials", max_trials), count, seconds, journal, batch, check)


@dataclass(frozen=True, slots=True)
class RunObservers:
    """What looks on while a run is at work: its clock, the user's callback, and the display of progress (None: by default)."""

    watch: Watch
    callback: Callable[[Any], Any] | None = None
    progress: bool | None = None

    def __post_init__(self) -> None:
        check_progress(self.progress)


def check_progress(progress: Any) -> None:
    """Raises OptionError unless it is True, False or None."""
    if progress is not None and not isinstance(progress, (bool, np.bool_)):
        raise OptionError(f"progress must be True (shown at once), False (never) or None (on terminals and in notebooks "
                          f"after a second), not {progress!r}")


def read_workers(workers: Any) -> int | str:
    """How many, or "ray" or the address of a Ray cluster, checked.

    >>> read_workers(8), read_workers("ray"), read_workers("ray://head:10001"), read_workers("10.0.0.1:6379")
    (8, 'ray', 'ray://head:10001', '10.0.0.1:6379')
    """
    if isinstance(workers, str):
        if not re.fullmatch(_ADDRESS, workers):
            raise OptionError(f"workers must be a number, \"ray\", or the address of a Ray cluster (\"auto\", "
                              f"\"ray://head:10001\", \"10.0.0.1:6379\"), not {workers!r}")
        return workers
    if isinstance(workers, bool) or not isinstance(workers, (int, np.integer)) or workers < 1:
        raise OptionError(f"workers must be a positive whole number, how many run at once, or \"ray\", not {workers!r}; "
                          "without it, all cores of this machine work on a proof (threads=)")
    return int(workers)


def read_timeout(timeout: Any) -> float | None:
    """Seconds, checked."""
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float, np.number)) or not 0 < timeout < math.inf:
        raise OptionError(f"the timeout of a trial must be a positive number of seconds, or None, not {timeout!r}")
    return float(timeout)


def read_portions(portions: Any) -> int | None:
    """How many, checked."""
    is_whole = isinstance(portions, (int, np.integer)) and not isinstance(portions, bool)
    if portions is not None and not (is_whole and 1 <= portions <= _MOST_PORTIONS):
        raise OptionError(f"portions must be a whole number from 1 to {_MOST_PORTIONS:,}, into how many the regions of a round "
                          f"are dealt, or None, not {portions!r}")
    return None if portions is None else int(portions)
