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
from infimum.expr.system import System
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
    traced = [_Traced(evaluator.system, number, one) for number, one in enumerate(constraints)]
    asked = [(one, x) for one in traced]
    if any(one.compares for one in traced):
        values, slopes = evaluator.estimate_jacobian(x)
        slopes = np.where(lo < hi, slopes, 0.0)
        asked += [(one, np.clip(x + step, lo, hi)) for one in traced if one.compares for step in one.to_the_end(values, slopes)]
    if evaluator.system is None:
        return next((said for one, at in asked if (said := one.difference(at, -np.inf, -np.inf)) is not None), None)
    points = np.stack([at for _, at in asked], axis=1) if asked else np.empty((len(x), 0))
    rows = evaluator.rows(points, points)
    return next((said for k, (one, at) in enumerate(asked)
                 if (said := one.difference(at, *one.violation(rows.lo[1:, k], rows.hi[1:, k]))) is not None), None)


class _Traced:
    """A constraint with its rows of the system. `compares`: it is a comparison, which says only yes or no."""

    def __init__(self, system: System | None, number: int, one: Any):
        labels = () if system is None else system.labels
        self.rows = np.array([k for k, label in enumerate(labels) if label.number == number], np.intp)
        none = np.empty(0)
        self.lower, self.upper = (none, none) if system is None else (system.lower[self.rows], system.upper[self.rows])
        (self.fun, self.ends), self.number = parts_of(one), number
        self.compares = self.ends is None and len(self.rows) > 0
        ends = np.append(self.lower, self.upper)
        self.scale = float(np.abs(ends[np.isfinite(ends)]).max(initial=1.0))

    def violation(self, lo: np.ndarray, hi: np.ndarray) -> tuple[float, float]:
        """How far the row that is violated most is beyond its ends, between two numbers, from the enclosures of all rows."""
        lo, hi = lo[self.rows], hi[self.rows]
        return tuple(float(np.max([a - self.upper, self.lower - b], initial=-np.inf)) for a, b in ((lo, hi), (hi, lo)))

    def difference(self, x: np.ndarray, low: float, high: float) -> str | None:
        """What a call with the numbers x says that a violation from `low` to `high` does not."""
        called = environment.call(_quietly, self.fun, x.copy())
        named = title(self.fun, f"Inner constraint {self.number}")
        if self.ends is not None:
            beyond = _beyond(called, *self.ends)
            return None if _agree(beyond, low, high) or beyond <= 0 and high == -np.inf else \
                f"{named} is beyond its ends by {beyond:.6g} for numbers, and by {high:.6g} as it was traced"
        holds, near = bool(np.all(called)), _AGREE * self.scale
        said = f"{named} returns {holds} for numbers, and as it was traced it is {'violated' if holds else 'met'} there"
        return said if (low > near if holds else high < -near) else None

    def to_the_end(self, values: np.ndarray, slopes: np.ndarray) -> list[np.ndarray]:
        """Steps to where the row that is violated most, or nearest to it, is a little beyond its end, and a little within it, as
        far as its slope tells; none if it has no slope."""
        values = values[1:][self.rows]
        beyond = np.array([values - self.upper, self.lower - values])
        side, row = np.unravel_index(np.argmax(beyond), beyond.shape)
        slope = slopes[1 + self.rows[row]] * (1 - 2 * side)
        length, far = float(slope @ slope), beyond[side, row]
        if not (np.isfinite(length) and length > 0 and np.isfinite(far)):
            return []
        return [(aside - far) / length * slope for aside in (_ASIDE * self.scale, -_ASIDE * self.scale)]


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
