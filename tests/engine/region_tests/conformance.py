"""What every region test must keep ("The contract of a test" in docs/design.md), held against Arb.

A part is asked, alone, about regions that cover the user's box. A claim fails only by a certain contradiction. What may be lost
is judged without knowing how the part works: no point that is lost may be a minimiser, so each must have a lower one within the
user's bounds.
"""

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
from flint import arb

from infimum.bounds.interface import CuttingTest, Outcome, RegionTest, StepContext
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows
from infimum.search.region_pool import Regions, can_be_cut
from tests.oracle.arb_series import along
from tests.oracle.arb_values import PRECISIONS, settled_value, value
from tests.oracle.boxes import MAX, coordinates, points_of
from tests.oracle.check import Checker, position
from tests.oracle.walk import UNDEFINED, Special

INF = np.inf
_SCALES = [2.0**-k for k in (1, 4, 10, 20, 30)]


def cover(rng: np.random.Generator, low: np.ndarray, high: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Up to so many boxes that share faces and together are the whole box."""
    boxes = [(low, high)]
    for _ in range(4 * count):
        lo, hi = boxes.pop(int(rng.integers(len(boxes))))
        i = int(rng.integers(len(low)))
        inside = [c for c in coordinates(rng, float(lo[i]), float(hi[i])) if lo[i] < c < hi[i]]
        if len(boxes) + 1 == count or not inside:
            boxes.append((lo, hi))
            continue
        middle, right = hi.copy(), lo.copy()
        middle[i] = right[i] = inside[int(rng.integers(len(inside)))]
        boxes += [(lo, middle), (right, hi)]
    return np.stack([lo for lo, _ in boxes], axis=1), np.stack([hi for _, hi in boxes], axis=1)


def corners(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Those of the user's box, at finite doubles, as rows."""
    return np.array(list(product(*zip(np.maximum(low, -MAX), np.minimum(high, MAX), strict=True))))


def columns_left(regions: np.ndarray, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray, gone: np.ndarray) -> np.ndarray:
    """The regions cut to [lo, hi] and with these lower bounds, but for those that are gone: for tests that do not write columns
    themselves."""
    n, (lower_row, axis_row, _) = len(lo), rows(len(lo))
    left = regions.copy()
    left[:n], left[n:2 * n] = np.where(gone, left[:n], lo), np.where(gone, left[n:2 * n], hi)
    left[lower_row] = np.where(gone, left[lower_row], lower)
    cut = can_be_cut(left[:n], left[n:2 * n])
    left[axis_row] = np.where(gone, DISCARDED_AXIS, np.where(cut.any(axis=0), np.argmax(cut, axis=0), NO_AXIS))
    return left


class Left:
    """What the outcomes of a part leave of all regions together."""

    def __init__(self, outcomes: list[Outcome], n: int, upper: float):
        columns = np.concatenate([outcome.regions for outcome in outcomes], axis=1)
        self.regions = Regions.from_columns(columns)
        self.gone = columns[2 * n + 1] == DISCARDED_AXIS
        self.kept = ~self.gone & ~(self.regions.lower > upper)

    def holding(self, p: np.ndarray) -> np.ndarray:
        """The numbers of the kept regions that hold the point."""
        r = self.regions
        return np.flatnonzero(self.kept & (r.lo <= p[:, None]).all(axis=0) & (p[:, None] <= r.hi).all(axis=0))


class Conformance:
    """One function within one user's box, covered by regions, with the values at points of it: `check` holds a part to them.

    `known` are points to look at besides those drawn: minimisers, as far as they are doubles.
    """

    def __init__(self, checker: Checker, low: np.ndarray, high: np.ndarray, rng: np.random.Generator, known: Any = (),
                 boxes: int = 7, per_box: int = 5):
        self.c, self.low, self.high = checker, low, high
        self.lo, self.hi = cover(rng, low, high, boxes)
        self.axis = rng.integers(checker.n, size=self.lo.shape[1]).astype(np.int32)
        drawn = [points_of(rng, self.lo[:, k], self.hi[:, k], per_box) for k in range(self.lo.shape[1])]
        given = np.array(known, dtype=float).reshape(-1, checker.n)
        self.points = np.unique(np.concatenate([*drawn, corners(low, high), given]), axis=0)
        self.values = [settled_value(checker.meant, p, checker.fraction) for p in self.points]
        self.defined = [v for v in self.values if not isinstance(v, Special)]
        self.uppers = {INF, self._best_upper()}
        self.counts: Counter = Counter()

    def _best_upper(self) -> float:
        """A verified upper bound of the infimum: the best of the points."""
        x = np.ascontiguousarray(self.points.T)
        value = self.c.evaluator.value(x, x)
        return float(np.where(value.defined & ~value.empty, value.hi, INF).min())

    def check(self, kind: type[RegionTest]) -> Counter:
        """Holds everything that the part says of the regions against the points; returns how often it said what."""
        part, self.counts = self.part(kind), Counter()
        level = self.c.evaluator.value(self.lo, self.hi).level.astype(np.int8)
        before = Regions(self.lo, self.hi, np.full(len(level), -INF), self.axis, level).columns()
        for upper in self.uppers:
            self._judge([self._tested(part, before, upper)], before, upper)
            if isinstance(part, CuttingTest):
                self._judge(part.cut(before, 4, StepContext(upper)), np.tile(before, 4), upper)
        return self.counts

    def part(self, kind: type[RegionTest]) -> RegionTest:
        return kind(self.c.evaluator, self.low, self.high)

    def _tested(self, part: RegionTest, before: np.ndarray, upper: float) -> Outcome:
        given = before.copy()
        outcome = part.test(given, StepContext(upper))
        assert given.tobytes() == before.tobytes(), "a part does not change what it is given"
        assert outcome.regions.shape == before.shape and outcome.boxes > 0
        if outcome.paid is not None:
            assert np.isin(outcome.paid, (0.0, 1.0)).all()
        return outcome

    def _judge(self, outcomes: list[Outcome], before: np.ndarray, upper: float) -> None:
        left = Left(outcomes, self.c.n, upper)
        self._well_formed(left, before)
        for outcome in outcomes:
            self._points(outcome)
        bound = min(upper, float(left.regions.lower[left.kept].min(initial=INF)))
        for p, v in zip(self.points, self.values, strict=True):
            holding = left.holding(p)
            if v is UNDEFINED and (left.regions.level[holding] > 0).any():
                self._fail("the status says that the function is defined", p)
            if isinstance(v, Special):
                continue
            if position(v, bound, INF) < 0:
                self._fail(f"a value below {bound!r}, which all regions and the upper bound claim as a lower bound", p, v)
            for k in holding:
                if position(v, float(left.regions.lower[k]), INF) < 0:
                    self._fail(f"a value below the lower bound {left.regions.lower[k]!r} of its region", p, v)
            if not len(holding):
                self.counts["lost"] += 1
                if not self._has_a_lower_one(p, v):
                    self._fail("lost, although no point is known to be lower", p, v)
        if self.defined and not left.kept.any():
            self._fail("nothing is left, although the function has values", self.low)
        self.counts["gone"] += int(left.gone.sum())
        self.counts["above"] += int((~left.gone & ~left.kept).sum())
        self.counts["kept"] += int(left.kept.sum())
        narrower = (left.regions.lo != before[:self.c.n]) | (left.regions.hi != before[self.c.n:2 * self.c.n])
        self.counts["narrower"] += int((narrower.any(axis=0) & left.kept).sum())
        self.counts["raised"] += int((left.regions.lower[left.kept] > -INF).sum())

    def _well_formed(self, left: Left, before: np.ndarray) -> None:
        """What needs no oracle, of regions that are not gone."""
        r, n = left.regions, self.c.n
        lo, hi, axis, level, there = r.lo, r.hi, r.axis, r.level, ~left.gone
        assert not np.isnan(r.lower).any(), "NaN marks a gap where regions are kept"
        assert (lo >= before[:n])[:, there].all() and (hi <= before[n:2 * n])[:, there].all() and (lo <= hi)[:, there].all()
        assert np.isin(level, (0, 1, 2, 3)).all() and ((axis == NO_AXIS) | ((axis >= 0) & (axis < n)))[there].all()
        cut = can_be_cut(lo, hi)
        assert cut[np.maximum(axis, 0), np.arange(len(axis))][there & (axis != NO_AXIS)].all(), "the variable to cut can be cut"
        assert not cut.any(axis=0)[there & (axis == NO_AXIS)].any(), "nothing else is stuck"

    def _points(self, outcome: Outcome) -> None:
        """Its upper bounds hold at its points, and these are the user's."""
        if outcome.upper is None:
            return
        for k in np.flatnonzero(outcome.upper[0] < INF):
            p = outcome.point[:, k]
            assert (self.low <= p).all() and (p <= self.high).all(), "a point outside the user's bounds"
            v = settled_value(self.c.meant, p, self.c.fraction)
            if v is UNDEFINED or (not isinstance(v, Special) and position(v, -INF, float(outcome.upper[0, k])) < 0):
                self._fail(f"the upper bound {outcome.upper[0, k]!r} does not hold", p, v)
            self.counts["uppers"] += 1

    # ---- is there a lower point?
    def _has_a_lower_one(self, p: np.ndarray, v: arb) -> bool:
        return any(w < v for w in self.defined) or any(self._may_fall(p, v, d) for d in self._ways(p)) \
            or any(self._is_lower(p + t * d, p) for d in self._directions() for t in self._steps(p, d))

    def _ways(self, p: np.ndarray) -> list[np.ndarray]:
        """Along each variable, to where there is room within the user's bounds."""
        unit = np.eye(self.c.n)
        return [-unit[i] for i in np.flatnonzero(p > self.low)] + [unit[i] for i in np.flatnonzero(p < self.high)]

    def _may_fall(self, p: np.ndarray, v: arb, d: np.ndarray) -> bool:
        """Not certainly refuted: f falls from p along d, or jumps down."""
        for bits in PRECISIONS[:2]:
            jet = along(self.c.meant, p, d, bits, self.c.fraction)
            if jet is UNDEFINED or (not isinstance(jet, Special) and jet.first > v):
                return False
            if not isinstance(jet, Special) and jet.s.prec >= 2 and (jet.s[1] < 0 or jet.s[1] >= 0):
                return bool(jet.s[1] < 0)
        return True

    def _directions(self) -> list[np.ndarray]:
        """Along variables and between two of them, both ways: where the curvature is negative one of them may lead down."""
        unit = np.eye(self.c.n)
        lines = [*unit, *(unit[i] + s * unit[j] for i in range(self.c.n) for j in range(i) for s in (-1.0, 1.0))]
        return [side * line for line in lines for side in (-1.0, 1.0)]

    def _steps(self, p: np.ndarray, d: np.ndarray) -> list[float]:
        """Lengths of steps along d, within the user's bounds, down to very small ones."""
        room = np.where(d > 0, np.minimum(self.high, MAX) / 2 - p / 2, p / 2 - np.maximum(self.low, -MAX) / 2)[d != 0].min()
        return [t * min(room, 1e3) for t in _SCALES] if room > 0 else []

    def _is_lower(self, q: np.ndarray, p: np.ndarray) -> bool:
        """Certainly, or as far as one can tell."""
        for bits in PRECISIONS:
            one, two = (value(self.c.meant, x, bits, self.c.fraction) for x in (q, p))
            if one is UNDEFINED:
                return False
            if not isinstance(one, Special) and not isinstance(two, Special) and (one < two or one >= two):
                return bool(one < two)
        return False

    def _fail(self, what: str, p: np.ndarray, v: Any = None) -> None:
        self.c.fail(what, self.low, self.high, p, "" if v is None else f"value {v}")
