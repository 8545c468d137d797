"""A problem as the old books print it: a function, functions that are at least 0, functions that are 0, bounds, and a value."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INF = math.inf


def box(n: int, lo: float = -INF, hi: float = INF) -> list[tuple[float, float]]:
    return [(lo, hi)] * n


@dataclass(frozen=True)
class Book:
    name: str
    f: Callable[[Any], Any]
    positive: Callable[[Any], list] | None
    zero: Callable[[Any], list] | None
    bounds: list[tuple[float, float]]
    published: float | None
    finite: float = 10.0  # where infinite ends are cut off, around 0

    def cut(self) -> list[tuple[float, float]]:
        """The bounds, all finite."""
        return [
            (max(lo, -self.finite) if lo == -INF else lo, max(self.finite, lo + self.finite) if hi == INF else hi)
            for lo, hi in self.bounds
        ]

    def constraints(self) -> list[Callable[[Any], list]]:
        """As a user would write them."""
        found = []
        if self.positive is not None:
            found.append(lambda x: [v >= 0 for v in self.positive(x)])
        if self.zero is not None:
            found.append(lambda x: [v == 0 for v in self.zero(x)])
        return found
