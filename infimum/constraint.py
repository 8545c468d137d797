"""What a point must fulfil besides the bounds."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """lb <= fun(x) <= ub, element by element where they are arrays; an equality where lb = ub."""

    fun: Callable[[Any], Any]
    lb: Any
    ub: Any
