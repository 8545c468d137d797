"""What a constraint is: a function of the variables between two bounds; and what a result says of each."""

import math
from collections.abc import Callable, Sequence
from typing import Any

from infimum.problem.problem import Interval
from infimum.problem.text import printable
from infimum.support import environment
from infimum.support.lazy import dataclass


@dataclass(frozen=True, eq=False, slots=True)
class Constraint:
    """lb <= fun(x) <= ub, component by component; an equality where lb == ub.

    The names are those of `scipy.optimize.NonlinearConstraint`. `fun` is a plain NumPy function of the vector x and returns a
    number or an array; `lb` and `ub` are numbers, or arrays of its shape.

    >>> disc = Constraint(lambda x: x[0] ** 2 + x[1] ** 2, ub=1.0)
    >>> disc.lb, disc.ub
    (-inf, 1.0)
    """

    fun: Callable[[Any], Any]
    lb: Any = -math.inf
    ub: Any = math.inf


_SHOWN = 20  # rows of a table


@dataclass(frozen=True, slots=True, eq=False)
class ConstraintValue:
    """One constraint at a solution.

    name: what you called it, or how you wrote it. number: its place in the list `constraints`; element: its place in the array,
    if it is one of an array. value: an enclosure of its body. lower, upper: what the body must lie between, rounded where that is
    no double; they are equal for an equation. active: True if the body lies at one of these ends, to about six digits.
    multiplier: how much the optimum changes if that end moves by a unit, to first order; an estimate.
    """

    name: str
    number: int
    element: int | None
    value: Interval
    lower: float
    upper: float
    active: bool
    multiplier: float


class ConstraintValues(Sequence):
    """The constraints of a result, a sequence of `ConstraintValue` in the order in which they were given. `violation` is the
    largest violation at the result's x, rounded up.

    >>> row = ConstraintValue("x[0] + x[1] >= 12", 0, None, Interval(12.0, 12.0), 12.0, float("inf"), True, 2.0)
    >>> print(ConstraintValues([row]))
      # constraint                    value  ends                     active  multiplier
      0 x[0] + x[1] >= 12                12  [12, inf]                yes     2
    """

    __slots__ = ("_rows", "violation")

    def __init__(self, rows: Sequence[ConstraintValue], violation: float = 0.0):
        self.violation = violation
        self._rows = tuple(sorted(rows, key=lambda row: (row.number, -1 if row.element is None else row.element)))

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, k: int | slice) -> ConstraintValue | tuple[ConstraintValue, ...]:
        return self._rows[k]

    def __repr__(self) -> str:
        return f"ConstraintValues of {len(self)}, {sum(row.active for row in self)} active"

    def __str__(self) -> str:
        return "\n".join(self.lines(_SHOWN))

    @environment.ours
    def lines(self, most: int) -> list[str]:
        """The table; of a long one the active constraints come first."""
        rows = self._rows if len(self) <= most else sorted(self._rows, key=lambda row: not row.active)[:most]
        names = [printable(row.name) for row in rows]
        wide = max([len("constraint"), *map(len, names)])
        found = [f"  # {'constraint':<{wide}}  {'value':>16}  {'ends':<24} {'active':<6}  multiplier"]
        for name, row in zip(names, rows, strict=True):
            ends = f"[{row.lower:.9g}, {row.upper:.9g}]" if row.lower < row.upper else f"= {row.lower:.9g}"
            found.append(f"{row.number:>3} {name:<{wide}}  {_middle(row.value):>16}  {ends:<24} "
                         f"{'yes' if row.active else 'no':<6}  {row.multiplier:.6g}")
        return found + ([f"and {len(self) - most:,} more"] if len(self) > most else [])


def _middle(value: Interval) -> str:
    if value.empty:
        return "undefined"
    middle = f"{value.lo / 2 + value.hi / 2:.9g}"
    return middle if value.width <= 1e-9 * max(1.0, abs(value.lo)) else f"[{value.lo:.6g}, {value.hi:.6g}]"
