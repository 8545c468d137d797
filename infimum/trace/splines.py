"""spline: a piecewise polynomial, SciPy's or given by its coefficients, as a function that can be traced."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from infimum.errors import DataError
from infimum.expr import build as b
from infimum.expr.spline_knots import distance, joined, meeting, over_knots
from infimum.expr.spline_table import Polynomial, SplineTable
from infimum.problem.text import counted
from infimum.support import environment
from infimum.support.given_numbers import round_up
from infimum.trace.recording import recorded
from infimum.trace.tracer import Tracer, has_tracer, lift, records_itself
from infimum.trace.user_source import user_line

_MOST_PIECES, _MOST_DEGREE = 10_000, 12
_OBJECTS = "a PPoly, CubicSpline, PchipInterpolator, Akima1DInterpolator, BSpline or tck of SciPy, or (points, coefficients)"


class Spline:
    """A piecewise polynomial. It may be called with traced values, with numbers and with arrays; `nu` asks for a derivative.

    `points` are the ends of its pieces and `degree` is theirs; `smooth` says how many derivatives are continuous at each point
    between two pieces, -1 where the function may jump. `deviation` is a proved bound of how far it is from the polynomials
    with exactly the given coefficients, anywhere between the first and the last point.
    """

    def __init__(self, table: SplineTable, deviation: float, periodic: bool):
        self.table, self.deviation, self._periodic = table, deviation + 0.0, periodic  # no negative zero

    @property
    @environment.ours
    def points(self) -> np.ndarray:
        return np.array(self.table.points)

    @property
    @environment.ours
    def degree(self) -> int:
        return self.table.degree

    @property
    @environment.ours
    def smooth(self) -> tuple[int, ...]:
        return self.table.smooth

    @environment.ours
    def __call__(self, x: Any, nu: int = 0) -> Any:
        table: SplineTable | None = self.table
        for _ in range(nu):
            table = None if table is None else table.derivative
        if not has_tracer(x) and not records_itself(x):
            return self._at(np.asarray(x, dtype=float), table)
        if nu and table is not None:  # the user's own function: where it jumps, it jumps
            table = SplineTable(table.points, table.pieces, table.smooth, table.bounded)
        return recorded(lambda: self._traced(Tracer(lift(x)), table), self, (x, nu))

    def _traced(self, x: Tracer, table: SplineTable | None) -> Tracer:
        if self._periodic:
            x = self._in_one_period(x)
        return 0.0 * x if table is None else Tracer(b.build("spline", x.expr, table=table, line=user_line()))

    def _at(self, x: np.ndarray, table: SplineTable | None) -> Any:
        if self._periodic:
            x = self._in_one_period(x)
        value = np.zeros(x.shape) if table is None else table.at(x)
        return value if value.shape else float(value)

    def _in_one_period(self, x: Any) -> Any:
        first, last = self.table.points[0], self.table.points[-1]
        return first + (x - first) % (last - first)

    def __repr__(self) -> str:
        first, last = self.table.points[0], self.table.points[-1]
        return f"Spline({counted(self.table.count, 'piece')} of degree {self.degree} over [{first}, {last}])"


@environment.ours
def spline(source: Any, coefficients: Any = None, *, extrapolate: "bool | str | None" = None) -> Spline:
    """A piecewise polynomial as a function that can be traced.

    `source` is a spline of SciPy, (points, coefficients) as PPoly takes them, or the tuple (t, c, k) of splrep.

    `coefficients` are those of PPoly: coefficients[j, i] belongs to the power k - j of x - points[i]. Beyond its points the
    spline is what SciPy makes of it: the outermost polynomials go on (`extrapolate` True), or it is undefined (False), or it
    is periodic ("periodic"); None takes the spline's own setting.

    What is proved is proved of the real function with these coefficients. Pieces that meet only up to the rounding of their
    coefficients are joined exactly, so that the function has as many continuous derivatives as it was meant to have;
    `deviation` bounds what that changes.

    >>> s = spline([0.0, 1.0, 2.0], [[1.0, -1.0], [0.0, 1.0]])  # x for x < 1, 2 - x beyond
    >>> s(0.25), s.smooth, s.deviation
    (0.25, (0,), 0.0)
    """
    form = (source, coefficients) if coefficients is not None else source
    if isinstance(form, (tuple, list)) and len(form) == 3:
        points, pieces, smooth, deviation = _read_knots(*form)
        own: Any = True
    elif isinstance(form, (tuple, list)) and len(form) == 2:
        points, pieces, smooth, deviation = _read_pieces(*form)
        own = True
    elif all(hasattr(form, name) for name in ("t", "c", "k")):
        points, pieces, smooth, deviation = _read_knots(form.t, form.c, form.k)
        own = getattr(form, "extrapolate", True)
    elif all(hasattr(form, name) for name in ("x", "c")):
        points, pieces, smooth, deviation = _read_pieces(form.x, form.c)
        own = getattr(form, "extrapolate", True)
    elif hasattr(form, "_eval_args"):  # UnivariateSpline and its kin
        return spline(tuple(form._eval_args), extrapolate=extrapolate)
    else:
        raise DataError(f"infimum.spline takes {_OBJECTS}, but was given a {type(source).__name__}.")
    wanted = own if extrapolate is None else extrapolate
    if wanted is not None and not isinstance(wanted, (bool, np.bool_)) and wanted != "periodic":
        raise DataError(f"extrapolate is True, False or \"periodic\", not {wanted!r}.")
    periodic = isinstance(wanted, str)
    bounded = not periodic and wanted is not None and not wanted
    ends = [float(p) for p in points]
    if periodic and Fraction(ends[-1] - ends[0]) != points[-1] - points[0]:
        raise DataError(f"The period {ends[-1]} - {ends[0]} of the spline is no double: move its points so that it is.")
    return Spline(SplineTable(ends, pieces, smooth, bounded), deviation, periodic)


Read = tuple[list[Fraction], list[Polynomial], list[int], float]


def _read_pieces(x: Any, c: Any) -> Read:
    points, values = _numbers(x, "points", 1), _numbers(c, "coefficients", 2)
    if len(points) < 2 or values.shape[1:] != (len(points) - 1,) or not len(values):
        raise DataError(f"A piecewise polynomial with {len(points)} points has coefficients of shape (degree + 1, "
                        f"{max(len(points) - 1, 1)}), not {values.shape}.")
    kept = np.diff(points) != 0  # PPoly.from_spline leaves pieces without length
    points, values = points[np.concatenate([kept, [True]])], values[:, kept]
    _check_size(len(points) - 1, len(values) - 1)
    exact = _increasing(points)
    pieces = [tuple(Fraction(v) for v in column) for column in values[::-1].T.tolist()]
    smooth = meeting(exact, pieces)
    found = joined(exact, pieces, smooth)
    return exact, found, smooth, round_up(distance(exact, pieces, found))


def _read_knots(t: Any, c: Any, k: Any) -> Read:
    knots, values, k = _numbers(t, "knots", 1), _numbers(c, "coefficients", 1), int(k)
    if len(knots) < 2 * k + 2 or len(values) < len(knots) - k - 1 or k < 0:
        raise DataError(f"A spline of degree {k} with {len(knots)} knots has {len(knots) - k - 1} coefficients, and at least "
                        f"{2 * k + 2} knots; {len(values)} coefficients were given.")
    _check_size(len(knots) - 1, k)
    if (np.diff(knots) < 0).any() or knots[k] == knots[-k - 1]:
        raise DataError("The knots of a spline must not decrease, nor all be equal.")
    exact = [Fraction(v) for v in knots.tolist()]
    points, pieces, smooth = over_knots(exact, [Fraction(v) for v in values.tolist()[:len(knots) - k - 1]], k)
    return points, pieces, [max(r, -1) for r in smooth], 0.0


def _numbers(values: Any, name: str, dimensions: int) -> np.ndarray:
    array = np.asarray(values)
    if array.dtype.kind not in "fiu":
        raise DataError(f"The {name} of a spline must be real numbers, not of type {array.dtype}.")
    if array.ndim != dimensions:
        what = "a spline with values of several dimensions: make one for each component" if array.ndim > dimensions else "too few"
        raise DataError(f"The {name} of a spline must have {dimensions} dimensions, not {array.ndim} ({what}).")
    array = array.astype(float)
    if not np.isfinite(array).all():
        raise DataError(f"The {name} of a spline must be finite.")
    return array


def _increasing(points: Sequence[float]) -> list[Fraction]:
    for i, (p, q) in enumerate(pairwise(points)):
        if not p < q:
            raise DataError(f"The points of a spline must increase, but points[{i}] = {p} and points[{i + 1}] = {q}.")
    return [Fraction(float(p)) for p in points]


def _check_size(pieces: int, degree: int) -> None:
    if pieces > _MOST_PIECES or degree > _MOST_DEGREE:
        raise DataError(f"A spline may have {_MOST_PIECES} pieces of degree {_MOST_DEGREE} at most, not {pieces} of degree "
                        f"{degree}.")
