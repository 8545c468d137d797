"""Paving: a box of some frame is cut until what lies inside a set, and what lies outside of it, is known for most of its volume.

A `Judge` decides what belongs to the set. Boxes that are neither inside nor outside are cut, the largest first. At any moment
the inner boxes are subsets of the set, and together with those that are left they cover all of it that lies in the box.

Proof: docs/proofs/sublevel_sets.md.
"""

from collections.abc import Iterator
from math import fsum
from typing import NamedTuple, Protocol

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY
from infimum.sets.extreme_points import verified
from infimum.sets.frame import Frame, volumes
from infimum.sets.taylor_ends import both_ends


class BoxJudgement(NamedTuple):
    """Which boxes lie `inside` the set, which `outside`. `varies` (n, N): of these axes the one with the largest number should be
    cut; NaN where nothing tells. `between`: boxes that will never be inside or outside, however they are cut."""

    inside: np.ndarray
    outside: np.ndarray
    varies: np.ndarray
    between: np.ndarray | None = None


class Judge(Protocol):
    """Says of boxes (n, N) of a frame where they lie, and which points (n, N) certainly belong to the set."""

    def judge(self, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> BoxJudgement: ...

    def holds(self, points: np.ndarray) -> np.ndarray: ...


class SublevelJudge:
    """{f <= t} within a box of x: a box is inside where f is at most `inner`, outside where it is above `outer`."""

    def __init__(self, evaluator: Evaluator, inner: float, outer: float):
        self.evaluator, self.inner, self.outer = evaluator, inner, outer

    def judge(self, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> BoxJudgement:
        found = both_ends(self.evaluator, frame, lo, hi)
        between = (found.lo > self.inner) & (found.hi <= self.outer)
        return BoxJudgement(found.defined & (found.hi <= self.inner), found.lo > self.outer, found.varies, between)

    def holds(self, points: np.ndarray) -> np.ndarray:
        return verified(self.evaluator, points, self.inner)


class RestrictedJudge:
    """Another judge's set, as far as it lies in a box [low, high] of x."""

    def __init__(self, judge: Judge, low: np.ndarray, high: np.ndarray):
        self.other, self.low, self.high = judge, low[:, None], high[:, None]

    def judge(self, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> BoxJudgement:
        place = frame.place(lo, hi)
        beyond = ((place[0] > self.high) | (place[1] < self.low)).any(axis=0)
        within = ((place[0] >= self.low) & (place[1] <= self.high)).all(axis=0)
        found = self.other.judge(frame, lo, hi)
        return found._replace(inside=found.inside & within, outside=found.outside | beyond)

    def holds(self, points: np.ndarray) -> np.ndarray:
        return self.other.holds(points) & ((points >= self.low) & (points <= self.high)).all(axis=0)


class Paving:
    """Boxes of a frame as arrays (n, N): `inner`, and `left`, those that are neither inside nor outside."""

    def __init__(self, judge: Judge, frame: Frame, lo: np.ndarray, hi: np.ndarray):
        """Begins with the boxes [lo, hi] (n, N) of the frame."""
        self.judge, self.frame, self.boxes = judge, frame, 0
        self.width = np.maximum(hi.max(axis=1) - lo.min(axis=1), np.finfo(float).tiny)[:, None]
        none = lo[:, :0]
        self.inner: Interval = none, none
        self.left: Interval = none, none
        self.axis, self.sizes = np.zeros(0, np.intp), np.zeros(0)
        self._sort(lo, hi)

    def _sort(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Adds boxes to those they belong to."""
        found = self.judge.judge(self.frame, lo, hi)
        self.boxes += lo.shape[1]
        inside, left = np.flatnonzero(found.inside & ~found.outside), np.flatnonzero(~found.inside & ~found.outside)
        varies = np.where(np.isnan(found.varies).any(axis=0), (hi - lo) / self.width, found.varies)[:, left]
        cuttable = np.where(_middle(lo[:, left], hi[:, left])[1], varies, -1.0)
        may = cuttable.max(axis=0) >= 0 if found.between is None else (cuttable.max(axis=0) >= 0) & ~found.between[left]
        axis = np.where(may, np.argmax(cuttable, axis=0), -1)
        self.inner = tuple(np.concatenate([old, new[:, inside]], axis=1) for old, new in zip(self.inner, (lo, hi), strict=True))
        self.left = tuple(np.concatenate([old, new[:, left]], axis=1) for old, new in zip(self.left, (lo, hi), strict=True))
        self.axis = np.concatenate([self.axis, axis])
        size = volumes(lo[:, left], hi[:, left])[1]
        self.sizes = np.concatenate([self.sizes, np.where(axis < 0, 0.0, size)])

    @property
    def covered(self) -> bool:
        """Is any box left, or inside?"""
        return bool(self.inner[0].shape[1] + self.left[0].shape[1])

    def hull(self) -> Interval:
        """The box of x around all that is not outside."""
        lo, hi = self.frame.place(*(np.concatenate(pair, axis=1) for pair in zip(self.inner, self.left, strict=True)))
        return lo.min(axis=1), hi.max(axis=1)

    @property
    def can_be_cut(self) -> bool:
        return bool((self.sizes > 0).any())

    def step(self) -> None:
        """Cuts the largest boxes that are left."""
        order = np.argsort(-self.sizes, kind="stable")[:POLICY.boxes_at_once]
        chosen = np.sort(order[self.sizes[order] > 0])
        lo, hi, axis = self.left[0][:, chosen], self.left[1][:, chosen], self.axis[chosen]
        rest = np.setdiff1d(np.arange(len(self.sizes)), chosen, assume_unique=True)
        before = self.left, self.axis, self.sizes, self.inner
        self.left, self.axis, self.sizes = tuple(end[:, rest] for end in self.left), self.axis[rest], self.sizes[rest]
        try:
            self._sort(*_halved(lo, hi, axis))
        except BaseException:
            self.left, self.axis, self.sizes, self.inner = before
            raise

    def volume(self) -> tuple[Interval, Interval]:
        """That of the inner boxes, and of all that are not outside, in x: enclosed."""
        scale, inner, left = self.frame.scale(), volumes(*self.inner), volumes(*self.left)
        sums = [(np.nextafter(fsum(low), -np.inf), np.nextafter(fsum(high), np.inf)) for low, high in
                (inner, tuple(np.concatenate(pair) for pair in zip(inner, left, strict=True)))]
        return tuple((max(0.0, float(np.nextafter(low * scale[0], -np.inf))), float(np.nextafter(high * scale[1], np.inf)))
                     for low, high in sums)

    def _open(self) -> float:
        """The volume of what can still be decided."""
        return float(np.nextafter(fsum(self.sizes) * self.frame.scale()[1], np.inf))

    def run(self, ratio: float) -> Iterator[None]:
        """Steps until the volume of all that is not outside is at most `ratio` times that of the inner boxes, or cannot be: what
        lies between two thresholds stays."""
        look = 0  # the number of boxes at which volumes are added up again
        while self.can_be_cut:
            if self.boxes >= look:
                (least, _), (_, most) = self.volume()
                if most <= ratio * least or self._open() <= POLICY.negligible_share * (ratio - 1.0) * least:
                    return
                look = self.boxes + self.boxes // POLICY.volume_checks
            self.step()
            yield


def _middle(lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where sides are cut, and if there is a double strictly between their ends."""
    middle = 0.5 * lo + 0.5 * hi
    return middle, (middle > lo) & (middle < hi)


def _halved(lo: np.ndarray, hi: np.ndarray, axis: np.ndarray) -> Interval:
    """Both halves of each box along its axis."""
    each = np.arange(len(axis))
    middle = _middle(lo[axis, each], hi[axis, each])[0]
    low, high = lo.copy(), hi.copy()
    high[axis, each] = low[axis, each] = middle
    return np.concatenate([lo, low], axis=1), np.concatenate([high, hi], axis=1)
