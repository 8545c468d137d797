"""What a constraint is: a function of the variables between two bounds."""

import math
from collections.abc import Callable
from typing import Any

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
