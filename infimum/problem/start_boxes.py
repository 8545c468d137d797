"""StartBoxes: the boxes that a search starts from instead of the whole box of the bounds: their union is the feasible set.

Proof: docs/proofs/start_boxes.md.
"""

import math
from collections.abc import Sequence

import numpy as np

from infimum.problem.text import counted
from infimum.problem.variable_bounds import Bounds, OuterBox


class StartBoxes:
    """Closed boxes, the columns of `lo` and `hi` (n, N). They may touch and overlap.

    Where some of their ends are no doubles, `lo` and `hi` are rounded inward, so that lo > hi where no double lies between them,
    and `outer` (n, N) is rounded outward.

    >>> boxes = StartBoxes(np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]]))
    >>> len(boxes), boxes.holds(np.array([[0.5, 1.5, 2.0]])).tolist(), [end.tolist() for end in boxes.hull]
    (2, [True, False, True], [[0.0], [3.0]])
    >>> round(boxes.part(), 3)
    0.667
    """

    __slots__ = ("lo", "hi", "outer")

    def __init__(self, lo: np.ndarray, hi: np.ndarray, outer: OuterBox | None = None):
        self.lo, self.hi, self.outer = lo, hi, outer

    @classmethod
    def of(cls, boxes: Sequence[Bounds]) -> "StartBoxes":
        """The boxes with these bounds."""
        outer = None
        if any(box.outer is not None for box in boxes):
            outer = OuterBox(*(np.stack(ends, axis=1) for ends in zip(*(
                box.outer or OuterBox(box.lo, box.hi, box.lo, box.hi) for box in boxes), strict=True)))
        return cls(np.stack([box.lo for box in boxes], axis=1), np.stack([box.hi for box in boxes], axis=1), outer)

    def __len__(self) -> int:
        return self.lo.shape[1]

    @property
    def regions(self) -> tuple[np.ndarray, np.ndarray]:
        """The boxes of doubles (n, N) that hold them."""
        return (self.lo, self.hi) if self.outer is None else (self.outer.lo, self.outer.hi)

    @property
    def hull(self) -> tuple[np.ndarray, np.ndarray]:
        """The smallest box around them, rounded as they are."""
        return self.lo.min(axis=1), self.hi.max(axis=1)

    @property
    def outer_of_all(self) -> OuterBox | None:
        """The same rounded outward."""
        outer = self.outer
        return outer and OuterBox(outer.lo.min(axis=1), outer.hi.max(axis=1), outer.least.min(axis=1), outer.most.max(axis=1))

    def part(self) -> float:
        """About how much of the hull they fill, counted as often as they overlap."""
        part, (low, high) = np.ones(len(self)), self.hull
        for i in np.flatnonzero((high > low) & np.isfinite(low) & np.isfinite(high)):
            part *= (self.hi[i] / 2 - self.lo[i] / 2) / (high[i] / 2 - low[i] / 2)
        return math.fsum(part)

    def holds(self, points: np.ndarray) -> np.ndarray:
        """Which of the points (n, N) lie in one of the boxes."""
        if points.shape[1] < len(self):
            return np.array([len(self.containing(point)) > 0 for point in points.T], dtype=bool)
        held = np.zeros(points.shape[1], bool)
        for low, high in zip(self.lo.T[:, :, None], self.hi.T[:, :, None], strict=True):
            held |= ((low <= points) & (points <= high)).all(axis=0)
        return held

    def containing(self, point: np.ndarray) -> np.ndarray:
        """The numbers of the boxes that hold a point."""
        return np.flatnonzero(((self.lo <= point[:, None]) & (point[:, None] <= self.hi)).all(axis=0))

    def moved_inside(self, points: np.ndarray) -> np.ndarray:
        """The points (n, N), those moved inside that lie outside by less than doubles tell, because an end is no double."""
        if self.outer is None:
            return points
        points = points.copy()
        for k in np.flatnonzero(~self.holds(points)):
            x, (lo, hi) = points[:, k, None], self.regions
            for box in np.flatnonzero(((lo <= x) & (x <= hi) & (self.lo <= self.hi)).all(axis=0))[:1]:
                points[:, k] = np.minimum(np.maximum(points[:, k], self.lo[:, box]), self.hi[:, box])
        return points

    def box(self, k: int) -> tuple[np.ndarray, np.ndarray]:
        """One of them."""
        return self.lo[:, k].copy(), self.hi[:, k].copy()

    def of_variables(self, which: np.ndarray) -> "StartBoxes":
        """In some of the variables."""
        return StartBoxes(self.lo[which], self.hi[which], self.outer and self.outer.at(which))

    def with_doubles(self) -> "StartBoxes | None":
        """Those that hold a double; all, or None if there are none."""
        some = np.flatnonzero((self.lo <= self.hi).all(axis=0))
        return self if len(some) == len(self) else StartBoxes(self.lo[:, some], self.hi[:, some]) if len(some) else None

    def named(self) -> str:
        """What the answer is about, in words."""
        return "the start box" if len(self) == 1 else f"the union of the {counted(len(self), 'start box', 'es')}"
