"""StartBoxes: the boxes that a search starts from instead of the whole box of the bounds: their union is the feasible set."""

import math

import numpy as np

from infimum.text import counted


class StartBoxes:
    """Closed boxes, the columns of `lo` and `hi` (n, N). They may touch and overlap.

    >>> boxes = StartBoxes(np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]]))
    >>> len(boxes), boxes.holds(np.array([[0.5, 1.5, 2.0]])).tolist(), [end.tolist() for end in boxes.hull]
    (2, [True, False, True], [[0.0], [3.0]])
    >>> round(boxes.part(), 3)
    0.667
    """

    __slots__ = ("lo", "hi")

    def __init__(self, lo: np.ndarray, hi: np.ndarray):
        self.lo, self.hi = lo, hi

    def __len__(self) -> int:
        return self.lo.shape[1]

    @property
    def hull(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box around them."""
        return self.lo.min(axis=1), self.hi.max(axis=1)

    def part(self) -> float:
        """About how much of the hull they fill, counted as often as they overlap."""
        part, (low, high) = np.ones(len(self)), self.hull
        for i in np.flatnonzero((high > low) & np.isfinite(low) & np.isfinite(high)):
            part *= (self.hi[i] / 2 - self.lo[i] / 2) / (high[i] / 2 - low[i] / 2)
        return math.fsum(part)

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Which of the points (n, N) lie in one of the boxes."""
        if points.shape[1] < len(self):
            return np.array([len(self.around(point)) > 0 for point in points.T], dtype=bool)
        held = np.zeros(points.shape[1], bool)
        for low, high in zip(self.lo.T[:, :, None], self.hi.T[:, :, None], strict=True):
            held |= ((low <= points) & (points <= high)).all(axis=0)
        return held

    def around(self, point: np.ndarray) -> np.ndarray:
        """The numbers of the boxes that hold a point."""
        return np.flatnonzero(((self.lo <= point[:, None]) & (point[:, None] <= self.hi)).all(axis=0))

    def box(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """One of them."""
        return self.lo[:, k].copy(), self.hi[:, k].copy()

    def named(self) -> str:
        """What the answer is about, in words."""
        return "the start box" if len(self) == 1 else f"the union of the {counted(len(self), 'start box', 'es')}"
