"""The whole question: where within the bounds is f at most t? Covered first, then measured and paved, component by component.

Where t is known as an enclosure [inner, outer], what is claimed to belong to the set has f <= inner, and what is claimed not to
belong to it, f > outer. Whatever ends the search early, what is known then is right.
"""

from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np

from infimum.certify.newton_polish import polished
from infimum.certify.verdict import merged
from infimum.evaluation.evaluator import Evaluator
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY
from infimum.search.region_pool import Regions
from infimum.sets.covering import Covering, CoveringTests
from infimum.sets.extent import Extent
from infimum.sets.extreme_points import attained_point, farthest_point
from infimum.sets.frame import Frame
from infimum.sets.paving import Judge, Paving, RestrictedJudge, SublevelJudge
from infimum.support.lazy import dataclass


class Component:
    """A part of the set, apart from all others: within the box [lo, hi] of x.

    `point`: a verified point of it, None if none is known (it may be empty). `extents`: for each variable the lower and the upper
    end. `paving`: inner boxes, and those that are left.
    """

    def __init__(self, covering: Covering, point: np.ndarray | None):
        self.covering, self.point = covering, point
        self.extents: dict[tuple[int, int], Extent] = {}
        self.paving: Paving | None = None

    @property
    def lo(self) -> np.ndarray:
        return self._end(-1)

    @property
    def hi(self) -> np.ndarray:
        return self._end(1)

    def _end(self, sign: int) -> np.ndarray:
        """What all that is known says of one side."""
        known = self.covering.lo.min(axis=1) if sign < 0 else self.covering.hi.max(axis=1)
        for (i, which), extent in self.extents.items():
            if which == sign:
                known[i] = sign * min(sign * known[i], extent.reach)
        if self.paving is not None and self.paving.covered:
            known = sign * np.minimum(sign * known, sign * self.paving.hull()[sign > 0])
        return known

    def inner(self, axis: int) -> tuple[float, float] | None:
        """The hull of verified points in one variable."""
        points = [] if self.point is None else [self.point, *(extent.point for extent in self.extents.values())]
        ends = [(float(p[axis]),) * 2 for p in points]
        if self.paving is not None and self.paving.inner[0].shape[1]:
            low, high = self.paving.frame.attained(*self.paving.inner, axis)
            ends.append((float(low.min()), float(high.max())))
        return (min(low for low, _ in ends), max(high for _, high in ends)) if ends else None


@dataclass(frozen=True, slots=True)
class Accuracy:
    """When a search ends. `ratio`: of the volumes of what is not outside and of what is inside, at which paving ends; None: it is
    not paved. `width_ratio`: the same of the intervals of each variable. `principal`: paving in coordinates of its own."""

    ratio: float | None = 1.05
    width_ratio: float | None = 1.01
    principal: bool = True


class SmallerSet(NamedTuple):
    """Tests of a smaller set than f and the thresholds describe; None: the tests of f."""

    judge: Judge | None = None
    tests: CoveringTests | None = None


class SublevelSearch:
    """Runs step by step."""

    def __init__(self, evaluator: Evaluator, box: tuple[np.ndarray, np.ndarray], thresholds: tuple[float, float],
                 points: np.ndarray, accuracy: Accuracy | None = None, smaller: SmallerSet | None = None,
                 ordered: tuple[tuple[int, int], ...] = ()):
        """`thresholds`: f is at most the first inside the set, and above the second outside. `points` (n, N) are where to look
        for the set, besides what is found. `ordered`: pairs of variables of which the first may be taken not to be larger than
        the second, since f does not change if they are exchanged together with others."""
        (lo, hi), (inner, outer), accuracy = box, thresholds, accuracy or Accuracy()
        judge, tests = smaller or SmallerSet()
        self.evaluator, self.lo, self.hi, self.inner, self.outer, self.points = evaluator, lo, hi, inner, outer, points
        self.ratio, self.width_ratio, self.principal = accuracy.ratio, accuracy.width_ratio, accuracy.principal
        self.judge = SublevelJudge(evaluator, inner, outer) if judge is None else judge
        self.tests = CoveringTests(evaluator, lo, hi) if tests is None else tests
        self.covering = Covering.of_box(evaluator, outer, lo, hi)
        self.scale = np.where(hi > lo, hi - lo, 1.0)[:, None]
        self.components: list[Component] = []
        self.ordered = ordered
        self.far: list[np.ndarray] = []  # verified points, the furthest known by then
        self.phase = "covering"
        self.most, self.together = 1 << 20, POLICY.regions_at_once  # boxes, for covering; regions that are cut at a time

    @property
    def evaluations(self) -> int:
        """The work so far, in boxes enclosed."""
        parts = [part for c in self.components for part in (c.covering, c.paving, *(e.covering for e in c.extents.values()))]
        return self.covering.boxes + sum(part.boxes for part in parts if part is not None)

    def figures(self) -> dict[str, str]:
        """For a display."""
        left = sum(len(c.covering) if c.paving is None else c.paving.left[0].shape[1] for c in self.components)
        return {"phase": self.phase, "boxes left": f"{left or len(self.covering):,}"}

    def steps(self) -> Iterator[None]:
        """Works until everything is known as well as asked for."""
        yield from self._cover()
        self._divide()
        yield
        for component in self.components:
            yield from self._resolve(component)
        if not self.components:
            self.covering.columns = self.covering.columns[:, :0]
        if self.width_ratio is not None:
            self.phase = "profiles"
            for component in self.components:
                yield from self._measure(component)
        if self.ratio is not None and (self.lo < self.hi).all():  # else there is no volume
            self.phase = "paving"
            for component, bounds in zip(self.components, self._apart(), strict=True):
                yield from self._pave(component, bounds)

    # ---- covering
    def _cover(self) -> Iterator[None]:
        """Until the set is known to fill the box around the regions, or regions are many and neither that box nor their volume
        shrinks: while they are wider than the set, the box stays as it is, but most of the volume goes."""
        covering, hulls, volumes, enough = self.covering, [], [], POLICY.enough_regions
        covering.test(self.tests)
        self._look_from(self.points)
        free = self.lo < self.hi
        while len(covering) and covering.boxes < self.most:
            hulls.append(float(np.prod(((covering.hi.max(axis=1) - covering.lo.min(axis=1)) / self.scale[:, 0])[free])))
            volumes.append(float(np.prod(((covering.hi - covering.lo) / self.scale)[free], axis=0).sum()))
            can = np.flatnonzero(covering.can_be_cut)
            if not len(can) or (len(covering) >= POLICY.few_regions and self._is_filled()):
                return
            if len(covering) >= enough and _has_stalled(hulls):
                if _has_stalled(volumes):
                    return
                enough *= 2
                if not self.far:
                    self._look_from(0.5 * covering.lo + 0.5 * covering.hi)
            width = ((covering.hi[:, can] - covering.lo[:, can]) / self.scale).max(axis=0)
            covering.cut(np.sort(can[np.argsort(-width, kind="stable")[:self.together]]), self.tests)
            covering.columns = covering.columns[:, ~self._falls(covering)]
            yield

    def _look_from(self, points: np.ndarray) -> None:
        """Far points of the set in each variable, by local search from the first of these points that belongs to it."""
        for start in points[:, self.judge.holds(points)].T[:1] if points.shape[1] else ():
            for axis, sign in product(range(len(self.lo)), (-1, 1)):
                end = farthest_point(self.evaluator, (self.lo, self.hi), start, axis, sign, self.inner)
                found = attained_point(self.evaluator, start, end, axis, sign, self.inner)
                self.far.append(start if found is None or not self.judge.holds(found[:, None])[0] else found)

    def _is_filled(self) -> bool:
        """Is the box around the regions not much wider than the set, in any variable?"""
        if not self.far:
            return False
        least = np.max(self.far, axis=0) - np.min(self.far, axis=0)
        return bool((self.covering.hi.max(axis=1) - self.covering.lo.min(axis=1) <= POLICY.filled_ratio * least).all())

    def _falls(self, covering: Covering) -> np.ndarray:
        """The regions that hold mirror images of others alone."""
        found = np.zeros(len(covering), bool)
        for a, b in self.ordered:
            found |= covering.lo[a] > covering.hi[b]
        return found

    def _divide(self) -> None:
        """Groups of regions that do not touch each other: the components, or several of them that are close together."""
        covering = self.covering
        if not len(covering):
            return
        boxes = merged(Regions.from_columns(covering.columns))
        boxes = _disjoint(boxes) if len(boxes) <= POLICY.most_groups else boxes
        if len(boxes) > POLICY.most_components:
            boxes = [(covering.lo.min(axis=1), covering.hi.max(axis=1))]
        for low, high in boxes:
            mine = ((covering.lo >= low[:, None]) & (covering.hi <= high[:, None])).all(axis=0)
            part = covering.take(np.flatnonzero(mine))
            self.components.append(Component(part, self._point_in(part, low, high)))

    def _point_in(self, part: Covering, low: np.ndarray, high: np.ndarray) -> np.ndarray | None:
        """A verified point in a component, about its lowest, or None."""
        known = self.points[:, ((self.points >= low[:, None]) & (self.points <= high[:, None])).all(axis=0)]
        middles = np.concatenate([known, 0.5 * part.lo + 0.5 * part.hi], axis=1)
        values = self.evaluator.estimate(middles)
        start = middles[:, int(np.argmin(np.where(np.isfinite(values), values, np.inf)))].copy()
        found = np.concatenate([polished(self.evaluator, low, high, start)[0][:, None], middles], axis=1)
        good = np.flatnonzero(self.judge.holds(found))
        return found[:, good[0]].copy() if len(good) else None

    def _resolve(self, component: Component) -> Iterator[None]:
        """Cuts a component in which no point is known, until there is one, or nothing left of it."""
        part = component.covering
        while component.point is None and len(part) and part.boxes < POLICY.boxes_a_component and part.can_be_cut.any():
            can = np.flatnonzero(part.can_be_cut)
            width = ((part.hi[:, can] - part.lo[:, can]) / self.scale).max(axis=0)
            part.cut(np.sort(can[np.argsort(-width, kind="stable")[:self.together]]), self.tests)
            if len(part):
                component.point = self._point_in(part, part.lo.min(axis=1), part.hi.max(axis=1))
            else:  # it may end here
                self.components = [other for other in self.components if other is not component]
            yield

    # ---- how far it reaches
    def _measure(self, component: Component) -> Iterator[None]:
        if component.point is None:
            return
        ends = component.covering.lo, component.covering.hi
        is_whole = not any((ends[1][a] >= ends[0][b]).any() for a, b in self.ordered)  # none of it was left out as mirror image
        for axis in range(len(self.lo)):
            for sign in (-1, 1):
                part = Covering(self.evaluator, self.outer, component.covering.columns.copy())
                component.extents[axis, sign] = Extent(self.evaluator, (self.lo, self.hi), part, component.point, (axis, sign),
                                                       self.inner, is_whole)
            for sign in (-1, 1):
                yield from component.extents[axis, sign].run(lambda axis=axis: self._slack(component, axis))

    def _slack(self, component: Component, axis: int) -> float:
        low, high = component.inner(axis)
        return POLICY.tolerance_share * (self.width_ratio - 1.0) * (high - low)

    # ---- paving
    def _apart(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """A box around each component, within the bounds, that meets no other: with some room, if there is room for all."""
        hulls = [(c.lo, c.hi) for c in self.components]
        wider = [(np.maximum(lo - POLICY.margin * (hi - lo), self.lo), np.minimum(hi + POLICY.margin * (hi - lo), self.hi))
                 for lo, hi in hulls]
        return hulls if any(_touch(a, b) for k, a in enumerate(wider) for b in wider[k + 1:]) else wider

    def _pave(self, component: Component, bounds: tuple[np.ndarray, np.ndarray]) -> Iterator[None]:
        frame, lo, hi = None, component.lo[:, None], component.hi[:, None]
        if self.principal and component.point is not None:
            frame = Frame.principal(self.evaluator, component.point)
        if frame is None:
            frame, lo, hi = Frame.plain(len(lo)), np.maximum(component.covering.lo, lo), np.minimum(component.covering.hi, hi)
            some = (lo <= hi).all(axis=0)
            lo, hi = lo[:, some], hi[:, some]
        else:
            lo, hi = frame.coordinates(lo, hi)
        component.paving = Paving(RestrictedJudge(self.judge, *bounds), frame, lo, hi)
        yield
        yield from component.paving.run(self.ratio)


def _has_stalled(sizes: list[float]) -> bool:
    """Has it hardly shrunk for some steps?"""
    return len(sizes) > POLICY.patience_steps and sizes[-1] >= POLICY.worth_shrinkage * sizes[-1 - POLICY.patience_steps]


def _disjoint(boxes: list[tuple[np.ndarray, np.ndarray]]) -> list[tuple[np.ndarray, np.ndarray]]:
    """Boxes that hold these, of which no two touch."""
    found: list[tuple[np.ndarray, np.ndarray]] = []
    for box in boxes:
        touching = [other for other in found if _touch(box, other)]
        while touching:
            found = [other for other in found if not any(other is t for t in touching)]
            ends = [box, *touching]
            box = np.min([lo for lo, _ in ends], axis=0), np.max([hi for _, hi in ends], axis=0)
            touching = [other for other in found if _touch(box, other)]
        found.append(box)
    return found


def _touch(one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]) -> bool:
    return bool(((one[0] <= other[1]) & (other[0] <= one[1])).all())
