"""Does what was traced mean what a call with numbers means? Asked of a function and its constraints at a point.

A function may look at its arguments in ways that cannot be seen in a trace: it writes them into a file for a program, asks for
their type, or counts its calls. Then what was traced is another function, and a proof about that is worth nothing.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from infimum import environment
from infimum.errors import ShapeError
from infimum.evaluate import Evaluator
from infimum.expr.ends import read_ends
from infimum.trials.parts import title

_AGREE = 1e-6   # two numbers agree to so much, absolutely or relatively, beyond what rounding explains
_ASIDE = 1e-4   # how far beyond its end, and within it, a comparison is asked again


def same_value(evaluator: Evaluator, x: np.ndarray) -> bool:
    """Does the function return at the numbers x what was traced?"""
    found = evaluator.value(x, x)
    return _agree(environment.call(evaluator.fun, x.copy()), float(found.lo), float(found.hi))


def other_constraint(evaluator: Evaluator, constraints: list, x: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> str | None:
    """Which constraint means something else as it was traced than at the numbers x, and how; None if none does. `constraints`
    are those that were traced, as functions of a vector, in their order; other points that are asked lie between lo and hi."""
    for number, one in enumerate(constraints):
        said = _Traced(evaluator, number, one, lo, hi).difference(x)
        if said is not None:
            return said
    return None


class _Traced:
    """A constraint with its rows of the system."""

    def __init__(self, evaluator: Evaluator, number: int, one: Any, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi = evaluator, lo, hi
        system = evaluator.system
        labels = () if system is None else system.labels
        self.rows = np.array([k for k, label in enumerate(labels) if label.number == number], np.intp)
        self.lower, self.upper = (None, None) if system is None else (system.lower[self.rows], system.upper[self.rows])
        self.title = f"Inner constraint {number}"
        self.fun, self.ends = parts_of(one)

    def difference(self, x: np.ndarray) -> str | None:
        """What differs at x; a comparison, which is no number, is also asked just beyond its end and just within it."""
        asked = [x] if self.ends is not None or not len(self.rows) else [x, *self._around_the_end(x)]
        return next((said for at in asked if (said := self._at(at)) is not None), None)

    def _at(self, x: np.ndarray) -> str | None:
        called = environment.call(_quietly, self.fun, x.copy())
        low, high = self._violation(x)
        if self.ends is not None:
            beyond = _beyond(called, *self.ends)
            said = f"{title(self.fun, self.title)} is beyond its ends by {beyond:.6g} for numbers, and by {high:.6g} as it was " \
                   "traced"
            return None if _agree(beyond, low, high) else said
        holds, near = bool(np.all(called)), _AGREE * self._scale
        traced = "violated" if holds else "met"
        said = f"{title(self.fun, self.title)} returns {holds} for numbers, and as it was traced it is {traced} there"
        return said if (low > near if holds else high < -near) else None

    def _violation(self, x: np.ndarray) -> tuple[float, float]:
        """How far the row that is violated most is beyond its ends, between two numbers; -inf without any."""
        if not len(self.rows):
            return -np.inf, -np.inf
        found = self.evaluator.rows(x, x)
        lo, hi = found.lo[1:][self.rows], found.hi[1:][self.rows]
        return float(np.max([lo - self.upper, self.lower - hi])), float(np.max([hi - self.upper, self.lower - lo]))

    @property
    def _scale(self) -> float:
        ends = np.append(self.lower, self.upper) if len(self.rows) else np.zeros(1)
        return float(np.abs(ends[np.isfinite(ends)]).max(initial=1.0))

    def _around_the_end(self, x: np.ndarray) -> list[np.ndarray]:
        """Points where the row that is violated most, or nearest to it, is a little beyond its end and a little within it, as far
        as its slope at x tells; none if it has no slope."""
        values, slopes = self.evaluator.estimate_jacobian(x)
        values = values[1:][self.rows]
        beyond = np.array([values - self.upper, self.lower - values])
        side, row = np.unravel_index(np.argmax(beyond), beyond.shape)
        slope = np.where(self.lo < self.hi, slopes[1 + self.rows[row]], 0.0) * (1 - 2 * side)
        length = float(slope @ slope)
        if not (np.isfinite(length) and length > 0):
            return []
        return [np.clip(x + (aside - beyond[side, row]) / length * slope, self.lo, self.hi)
                for aside in (_ASIDE * self._scale, -_ASIDE * self._scale)]


def parts_of(one: Any) -> tuple[Callable[[np.ndarray], Any], tuple[Any, Any] | None]:
    """The function of a constraint, and its ends; of a comparison there are none."""
    if isinstance(one, Mapping):
        return one["fun"], (0.0, 0.0 if str(one.get("type")).lower() == "eq" else np.inf)
    return (one.fun, (one.lb, one.ub)) if hasattr(one, "lb") else (one, None)


def _quietly(fun: Callable[[np.ndarray], Any], x: np.ndarray) -> Any:
    """fun(x), which need not be defined there: of that NumPy is to say nothing."""
    with np.errstate(all="ignore"):
        return fun(x)


def _beyond(called: Any, lb: Any, ub: Any) -> float:
    """How far the component that is violated most is beyond its ends; NaN where there is no such number."""
    try:
        values = np.asarray(called, dtype=np.float64)
        lower, upper = read_ends(lb, ub, values.shape)
    except (TypeError, ValueError, ShapeError):
        return float("nan")
    return float(np.max([values - upper.hi, lower.lo - values])) if values.size else float("nan")


def _agree(called: Any, lo: float, hi: float) -> bool:
    """Is a number that was returned between those that were traced, but for rounding? NaN is where nothing is defined."""
    try:
        value = float(np.asarray(called, dtype=np.float64).reshape(()))
    except (TypeError, ValueError):
        return False
    if np.isnan(value):
        return not lo <= hi
    near = _AGREE * (1 + abs(value))
    return value == lo == hi or lo - near <= value <= hi + near
