"""What a test problem of the gallery is, and how a row of the tables becomes one for a given number of variables."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.errors import GalleryError
from infimum.problem.problem import Interval
from infimum.problem.variable_bounds import MOST_VARIABLES
from infimum.support import environment
from infimum.support.lazy import dataclass

RADIUS = 2.0**-20  # of a minimiser's box: a power of two, so that the middle of the box is the point again
ULPS = 4           # a minimum given as one double is this many units in the last place sure on each side


@dataclass(frozen=True, eq=False)
class GalleryProblem:
    """A test problem with n variables: minimise `fun` over `bounds`.

    `fun` is a plain NumPy function. `minimum` is an interval that contains the smallest value of the real function that the
    code denotes, with every constant the double it holds. `minimisers` are small boxes (lo, hi), each around one global
    minimiser, flat in a variable whose minimiser lies on its bound. `complete` says that these are all known global minimisers;
    otherwise they are examples of more (by symmetry or periodicity). `notes` says what makes the problem hard, `source` where it
    comes from. The minima are the published ones, made precise; that they are global is not proved here.
    """

    name: str
    fun: Callable[[Any], Any]
    n: int
    bounds: tuple[tuple[float, float], ...]
    minimum: Interval
    minimisers: tuple[tuple[np.ndarray, np.ndarray], ...]
    source: str
    notes: str
    scalable: bool
    complete: bool

    @property
    def lo(self) -> np.ndarray:
        """The lower bounds as a vector."""
        return np.array([low for low, _ in self.bounds])

    @property
    def hi(self) -> np.ndarray:
        """The upper bounds as a vector."""
        return np.array([high for _, high in self.bounds])

    @property
    def points(self) -> list[np.ndarray]:
        """The midpoint of each minimiser's box: the global minimiser to about the last digit."""
        return [(lo + hi) / 2 for lo, hi in self.minimisers]

    def __repr__(self) -> str:
        return f"GalleryProblem({self.name!r}, n={self.n}, minimum={self.minimum!r}, minimisers={len(self.minimisers)})"


Pair = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True)
class Entry:
    """A row of the gallery. Fields that depend on the number of variables n may be functions of n.

    bounds: one (low, high) pair for all variables, or a pair each. minimum: the value as a double (0.0 means exactly 0) or a
    pair of ends. points: the minimisers, each one number for all variables or a number each. sizes: the least and the largest
    n; a problem of fixed size has one number. `size` is the default n.
    """

    fun: Callable[[Any], Any]
    size: int
    bounds: Pair | Sequence[Pair] | Callable[[int], Pair]
    minimum: float | Pair | Callable[[int], float | Pair]
    points: Sequence[Any] | Callable[[int], Sequence[Any]]
    source: str
    notes: str
    sizes: tuple[int, float] | None = None
    complete: bool = True
    name: str = ""

    @property
    def title(self) -> str:
        """The name in the gallery: that of the function unless another is given."""
        return self.name or self.fun.__name__

    @environment.ours
    def problem(self, n: int | None = None) -> GalleryProblem:
        """The problem with n variables, or with its default size."""
        n = self.size if n is None else n
        least, most = self.sizes or (self.size, self.size)
        most = min(most, MOST_VARIABLES)
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or not least <= n <= most:
            until = f"to {most:,}"
            sizes = f"n = {least}" if least == most else f"n from {least} {until}"
            raise GalleryError(f"{self.title} exists with {sizes}, not with n = {n!r}")
        n = int(n)
        bounds = self._bounds(n)
        lo, hi = np.array(bounds).T
        points = self.points(n) if callable(self.points) else self.points
        boxes = tuple(_box(np.broadcast_to(np.asarray(p, dtype=float), (n,)), lo, hi) for p in points)
        minimum = self.minimum(n) if callable(self.minimum) else self.minimum
        return GalleryProblem(self.title, self.fun, n, bounds, interval_around(minimum), boxes, self.source, self.notes,
                              self.sizes is not None, self.complete)

    def _bounds(self, n: int) -> tuple[Pair, ...]:
        given: Any = self.bounds(n) if callable(self.bounds) else self.bounds
        pairs = [given] if np.ndim(given) == 1 else given
        read = tuple((float(low), float(high)) for low, high in pairs)
        return read * n if np.ndim(given) == 1 else read


def _box(point: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The small box around a minimiser, flat where the point lies on a bound; read-only."""
    radius = np.where((point <= lo) | (point >= hi), 0.0, RADIUS)
    box = np.maximum(point - radius, lo), np.minimum(point + radius, hi)
    for side in box:
        side.setflags(write=False)
    return box


def interval_around(minimum: float | Pair) -> Interval:
    """A minimum as the interval that it stands for: the given ends, or a double that is a few units in the last place sure."""
    if isinstance(minimum, tuple):
        return Interval(float(minimum[0]), float(minimum[1]))
    slack = ULPS * math.ulp(minimum) if minimum else 0.0
    return Interval(minimum - slack, minimum + slack)
