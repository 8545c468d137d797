"""What came of trials: values, or a failure of its own kind."""

import math
from collections.abc import Sequence
from enum import Enum

import numpy as np

from infimum.errors import OptionError
from infimum.support.lazy import dataclass

UNKNOWN = -1  # fixed: the index of ends of a line, and of trials that failed


class TrialFailure(Enum):
    """Why a trial has no value."""

    NAN = 1
    EXCEPTION = 2
    CRASH = 3
    TIMEOUT = 4


@dataclass(frozen=True, slots=True)
class TrialOutcome:
    """The values of the constraints in order up to the first that is violated, or of all and then of f; or a failure.

    What was computed before a failure may be given too; it is kept and steers nothing.
    """

    values: tuple[float, ...] = ()
    failure: TrialFailure | None = None

    @property
    def index(self) -> int:
        """How many constraints hold; `UNKNOWN` after a failure."""
        return UNKNOWN if self.failure else len(self.values) - 1


def outcome(values: Sequence[float] | float, constraints: int = 0) -> TrialOutcome:
    """The outcome of computed values, checked: one that is no number makes a failure, an infinite f too.

    >>> outcome([-1.0, 0.5], constraints=2).index
    1
    """
    values = tuple(float(v) for v in np.atleast_1d(values))
    if not 1 <= len(values) <= constraints + 1:
        raise OptionError(f"a trial with {constraints} constraints has 1 to {constraints + 1} values, not {len(values)}")
    if not all(math.isfinite(v) for v in values):
        return TrialOutcome(values, TrialFailure.NAN)
    if any(v > 0 for v in values[:-1]) or len(values) <= constraints and values[-1] <= 0:
        raise OptionError(f"the values of a trial end with the first constraint that is violated, or with f: {values}")
    return TrialOutcome(values)


def row_of(values: Sequence[float], constraints: int) -> np.ndarray:
    """The values of a trial with NaN for those that were not computed."""
    row = np.full(constraints + 1, math.nan)
    row[:len(values)] = values
    return row


class TrialTable:
    """All trials that were told, in that order, as arrays."""

    def __init__(self, n: int, constraints: int):
        self.n, self.constraints, self.count = n, constraints, 0
        self.places: list[tuple[int, ...]] = []
        self.outcomes: list[TrialOutcome] = []
        self._points, self._z, self._values = np.empty((64, n)), np.empty(64), np.empty((64, constraints + 1))
        self._index = np.empty(64, dtype=np.int8)
        self.highest, self.best = UNKNOWN, -1   # the highest index, and of it the trial with the least value
        self.worst = -math.inf                  # the greatest value of that index

    def add(self, place: tuple[int, ...], point: Sequence[float], told: TrialOutcome) -> int:
        """Enters a trial; its number."""
        number = self.count
        if number == len(self._z):
            self._points, self._z, self._values, self._index = (np.concatenate([a, np.empty_like(a)]) for a in
                                                                (self._points, self._z, self._values, self._index))
        index = told.index
        z = told.values[index] if index >= 0 else math.nan
        self._points[number], self._z[number], self._index[number] = point, z, index
        self._values[number, :len(told.values)], self._values[number, len(told.values):] = told.values, math.nan
        self.places.append(place)
        self.outcomes.append(told)
        self.count += 1
        if index > self.highest:
            self.highest, self.best, self.worst = index, number, z
        elif index >= 0 and index == self.highest:
            self.best = number if z < self._z[self.best] else self.best
            self.worst = max(self.worst, z)
        return number

    @property
    def points(self) -> np.ndarray:
        """In the unit cube, one a row."""
        return self._points[:self.count]

    @property
    def z(self) -> np.ndarray:
        """The last value of each trial; NaN after a failure."""
        return self._z[:self.count]

    @property
    def values(self) -> np.ndarray:
        """What was computed in each, a row: constraints, then f; NaN where it was not."""
        return self._values[:self.count]

    @property
    def index(self) -> np.ndarray:
        """How many constraints hold at each; `UNKNOWN` after a failure."""
        return self._index[:self.count]

    @property
    def least(self) -> float:
        """The least value of the highest index; inf without any."""
        return float(self._z[self.best]) if self.best >= 0 else math.inf
