"""What a constrained test problem is, and how a row of the tables becomes one."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.problem.constraint import Constraint
from infimum.problem.problem import Interval
from infimum.problems.constrained.optima import OPTIMA
from infimum.problems.entry import interval_around
from infimum.support import environment
from infimum.support.lazy import dataclass

Pair = tuple[float, float]


def equal(fun: Callable[[Any], Any], value: Any = 0.0) -> Constraint:
    """fun(x) == value."""
    return Constraint(fun, value, value)


def at_most(fun: Callable[[Any], Any], bound: Any = 0.0) -> Constraint:
    """fun(x) <= bound."""
    return Constraint(fun, ub=bound)


def at_least(fun: Callable[[Any], Any], bound: Any = 0.0) -> Constraint:
    """fun(x) >= bound."""
    return Constraint(fun, lb=bound)


@dataclass(frozen=True, eq=False)
class Constrained:
    """A constrained test problem: minimise `fun` over `bounds` subject to `constraints`, equalities taken exactly.

    `fun` and the functions of the constraints are plain NumPy functions. `integrality` has a 1 for every integer variable, or is
    None. `minimum` is an interval that contains the smallest value of the real problem that the code denotes, with every constant
    the double it holds; `minimiser` is a point that attains it, rounded to doubles, so that equalities hold up to rounding. Both
    are None for a problem without feasible points, which `infeasible` says. The optima are computed locally to the last digit;
    `confirmed` names a global solver that claims the same minimum to a relative 1e-4 or to 1e-6, which is evidence, not a proof.
    """

    name: str
    fun: Callable[[Any], Any]
    bounds: tuple[Pair, ...]
    constraints: tuple[Constraint, ...]
    integrality: tuple[int, ...] | None
    minimum: Interval | None
    minimiser: np.ndarray | None
    source: str
    confirmed: tuple[str, ...]
    infeasible: bool

    @property
    def n(self) -> int:
        """The number of variables."""
        return len(self.bounds)

    @property
    def lo(self) -> np.ndarray:
        """The lower bounds as a vector."""
        return np.array([low for low, _ in self.bounds])

    @property
    def hi(self) -> np.ndarray:
        """The upper bounds as a vector."""
        return np.array([high for _, high in self.bounds])

    def __repr__(self) -> str:
        return f"Constrained({self.name!r}, n={self.n}, minimum={self.minimum!r})"


@dataclass(frozen=True, eq=False)
class Row:
    """A row of the tables. The name is that of the function; the optimum is in the table of `optima`."""

    fun: Callable[[Any], Any]
    bounds: Sequence[Pair]
    constraints: Sequence[Constraint]
    source: str
    integrality: Sequence[int] | None = None
    infeasible: bool = False
    name: str = ""

    @property
    def title(self) -> str:
        """The name in the gallery: that of the function unless another is given."""
        return self.name or self.fun.__name__

    @environment.ours
    def problem(self) -> Constrained:
        """The problem with its optimum."""
        bounds = tuple((float(low), float(high)) for low, high in self.bounds)
        integrality = None if self.integrality is None else tuple(int(whole) for whole in self.integrality)
        minimum = minimiser = None
        confirmed: tuple[str, ...] = ()
        if self.title in OPTIMA:
            value, point, confirmed = OPTIMA[self.title]
            minimum, minimiser = interval_around(value), np.array(point)
            minimiser.setflags(write=False)
        return Constrained(self.title, self.fun, bounds, tuple(self.constraints), integrality, minimum, minimiser, self.source,
                           confirmed, self.infeasible)
