"""Variables that have no choice: which they are, and the numbers that they are.

A variable whose bounds are equal is that number. One that has at most one double between bounds that are none is a number known
between two doubles, as infimum.pi is: what is proved holds for each number that it may be.

Proof: docs/proofs/exact_bounds.md.
"""

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from infimum.expr.real import Real, doubles_around, told_apart
from infimum.problem.problem import Problem


def held_variables(problem: Problem) -> np.ndarray:
    """The variables that are fixed at doubles; none where a start box does not have their values, being no whole numbers."""
    held, start = np.flatnonzero((problem.lo == problem.hi) & ~problem.narrow), problem.start
    if start is not None and not ((start.lo[held].T <= problem.lo[held]) & (problem.lo[held] <= start.hi[held].T)).all():
        return held[:0]
    return held


class FixedValues(NamedTuple):
    """The values (n) of variables that are fixed: numbers from `low` to `high`, which lie in the constants from `lower` to
    `upper`, and `shown` as the doubles of a point. All are the same where the values are doubles. `unknown` are the variables of
    which it is not known which number they are."""

    shown: np.ndarray
    low: np.ndarray
    high: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    unknown: tuple[int, ...] = ()

    @classmethod
    def at(cls, values: np.ndarray) -> "FixedValues":
        """At doubles."""
        return cls(*(values,) * 5)

    @classmethod
    def of(cls, problem: Problem) -> "FixedValues":
        """The values of all variables of a problem that are fixed or narrow."""
        at = np.flatnonzero(problem.narrow)
        if not len(at):
            return cls.at(problem.lo)
        low, high = problem.region
        found, unknown = cls(problem.lo.copy(), low, high, low.copy(), high.copy()), []
        for i in at.tolist():
            one, other = (problem.ends.get((i, side)) for side in (0, 1))
            number = one.number if one is not None and other is not None and one.is_the_same_as(other) else None
            if isinstance(number, (Real, Fraction)):
                ends = number.ends if isinstance(number, Real) else doubles_around(number)
            else:
                unknown.append(i)
                ends = _told_apart(("a variable", i, float(low[i]), float(high[i])), float(low[i]), float(high[i]))
            found.lower[i], found.upper[i] = ends
            nearest = float(number) if isinstance(number, Fraction) else low[i]
            found.shown[i] = problem.lo[i] if problem.lo[i] == problem.hi[i] else nearest
        return found._replace(unknown=tuple(unknown))


def _told_apart(name: tuple, lo: float, hi: float) -> tuple[float, float]:
    """Doubles around an unknown number, as `told_apart`, and for its negative the negatives of these."""
    if lo + hi >= 0:
        return told_apart(name, lo, hi)
    low, high = told_apart(name, -hi, -lo)
    return -high, -low
