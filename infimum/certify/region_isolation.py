"""Regions that are left of a proof, and the minimisers among them: those that lie around a proved one hold no other, and go.

Proof: docs/proofs/isolation.md.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.certify.box_difference import beyond_one_side
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure, isolate
from infimum.evaluation.enclosures import SMOOTH
from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.interval_matrices import Interval
from infimum.problem.minimisers import Minimiser
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.search.policy.bounds import REGION_ISOLATION as POLICY
from infimum.search.region_pool import Regions
from infimum.support.lazy import LazyModule, dataclass

if TYPE_CHECKING:
    from infimum.certify import constrained_isolation, narrow_regions, start_box_isolation
    from infimum.certify.term_sums import term_hessians, term_sum_isolation
else:
    constrained_isolation = LazyModule("certify.constrained_isolation")
    narrow_regions = LazyModule("certify.narrow_regions")
    start_box_isolation = LazyModule("certify.start_box_isolation")
    term_hessians = LazyModule("certify.term_sums.term_hessians")
    term_sum_isolation = LazyModule("certify.term_sums.term_sum_isolation")



class IsolationOutcome(NamedTuple):
    """`left`: regions that hold every global minimiser that was in those given, a single one for each proved minimiser;
    `minimisers`: these; `rest`: how many regions lie around none of them; `why`: what prevented a proof."""

    left: Regions
    minimisers: list[Minimiser]
    rest: int
    why: IsolationFailure | None


@dataclass(frozen=True, slots=True, eq=False)
class IsolationProblem:
    """The function and the feasible set. [lo, hi] are the user's bounds, rounded inward, and `outer` rounded outward where some
    are no doubles. Where the search began in several `start` boxes, their union is the feasible set. `terms`: those of the
    function, if they are to be used instead of the whole matrix of second derivatives."""

    evaluator: Evaluator
    lo: np.ndarray
    hi: np.ndarray
    start: StartBoxes | None = None
    terms: "term_hessians.TermSum | None" = None
    outer: OuterBox | None = None


def isolate_regions(problem: IsolationProblem, regions: Regions, groups: list[tuple[np.ndarray, np.ndarray]],
                    bounds: tuple[float, float], x: np.ndarray | None, last: bool = True) -> IsolationOutcome:
    """`groups` are boxes of regions that touch; the infimum lies in `bounds`, and x is a good point.

    A region that lies in the box B of a proved minimiser holds no other one: what is left of it is what it shares with K. One
    that reaches beyond B through one face is cut there; others stay. Where the regions are the `last` that there will be, those
    that stay are cut further, to see if anything is left of them.
    """
    work = _IsolationRun(problem, regions, *bounds)
    work.isolate_in_groups(groups, x, patient=last)
    closer = last and work.proved and problem.terms is None and problem.evaluator.system is None
    for _ in range(POLICY.most_passes if closer else 0):
        work.discard_open()
        if len(work.proved) >= POLICY.enough_minimisers or not work.isolate_in_groups(work.pieces(), None):
            break
    left = work.regions.at(np.flatnonzero(work.open))
    rest = len(left)
    for kept in work.kept():
        left = left.with_(kept)
    return IsolationOutcome(left, work.found, rest, work.why if rest else None)


class _IsolationRun:
    """Regions on the way: `open` are those that lie around no proved minimiser yet, as much as is left of them. K of a minimiser
    is `needs_region` a region of its own once one that was `given` and meets it is no longer whole."""

    def __init__(self, problem: IsolationProblem, regions: Regions, lower: float, upper: float):
        evaluator, terms, outer, start = problem.evaluator, problem.terms, problem.outer, problem.start
        whole = isolate if evaluator.system is None else constrained_isolation.isolate
        self.isolate = partial(whole, evaluator) if terms is None else partial(term_sum_isolation.isolate, terms)
        if outer is not None and start is None:
            region = outer.lo, outer.hi
            self.isolate = partial(isolate, evaluator, region=region) if evaluator.system is None and terms is None else \
                partial(_isolated_off_ends, self.isolate, region)
        self.evaluator, self.lo, self.hi, self.given, self.start = evaluator, problem.lo, problem.hi, regions, start
        self.lower, self.upper = lower, upper
        self.regions, self.open = regions.at(np.arange(len(regions))), np.ones(len(regions), bool)
        self.proved: list[IsolatedMinimiser] = []
        self.found: list[Minimiser] = []
        self.needs_region: list[bool] = []
        self.boxes: list[Interval] = []  # all B
        self.why: IsolationFailure | None = None

    def isolate_in_groups(self, groups: Sequence[Interval], x: np.ndarray | None, patient: bool = True) -> bool:
        """Looks at groups of regions, that around x first, while that is not in vain too often; unless it is `patient`, ever. Was
        there a minimiser?"""
        in_vain, before, most = 0, len(self.proved), POLICY.most_failures if patient else 1
        for count, box in enumerate(sorted(groups, key=lambda box: x is None or not ((box[0] <= x) & (x <= box[1])).all())):
            if count == POLICY.most_groups or in_vain == most:
                self.why = self.why or IsolationFailure.TOO_MANY
                break
            in_vain += not self.isolate_in_group(box, x)
        return len(self.proved) > before

    def pieces(self) -> list[Interval]:
        """The regions that are open, each as a group of its own."""
        return [(self.regions.lo[:, k].copy(), self.regions.hi[:, k].copy())
                for k in np.flatnonzero(self.open)[:POLICY.most_groups + 1]]

    def isolate_in_group(self, box: Interval, x: np.ndarray | None) -> bool:
        """Proves one minimiser after the other in a group of regions, while regions are discarded by that. Was there one?"""
        members, before = np.flatnonzero(_within(self.regions, box)), len(self.boxes)
        for _ in range(POLICY.most_minimisers_a_group):
            members = members[self.open[members]]
            if not len(members):
                break
            one = self._isolated(self._start(members, x), box)
            refused = one if isinstance(one, IsolationFailure) else None if self._take(one) else IsolationFailure.TOO_WIDE
            self.why, x = self.why or refused, None
            if refused is not None:
                break
        else:
            self.why = self.why or IsolationFailure.TOO_WIDE
        return len(self.boxes) > before

    def discard_open(self) -> None:
        """Cuts the regions that are still open, where nothing may be left of them. What is left of one that is no longer whole
        takes its place, unless that would leave one more, for K."""
        number = np.flatnonzero(self.open)
        which, left = narrow_regions.discard_by_pieces(self.evaluator, self.lo, self.hi, self.start, self.regions.at(number),
                                                       self.boxes, self.upper)
        gone = np.delete(number, which)
        self.open[gone] = False
        for k, one in enumerate(self.proved):
            self.needs_region[k] |= bool(self._meets(one, gone).any())
        whole = np.zeros(len(which), bool)
        for k, one in enumerate(self.proved):
            whole |= self._meets(one, number[which]) & (not self.needs_region[k])
        self._replace(number[which[~whole]], left.lo[:, ~whole], left.hi[:, ~whole])

    def kept(self) -> list[Regions]:
        """The regions of those K that are owed one, where f is not above what is known."""
        found = [self._shared(one, m.lower) for one, m, owed in zip(self.proved, self.found, self.needs_region, strict=True)
                 if owed and not m.lower > self.upper]
        return [region for region in found if len(region)]

    def _isolated(self, x: np.ndarray, box: Interval) -> IsolatedMinimiser | IsolationFailure:
        """A minimiser near x, not far from the group in this box."""
        if self.start is None:
            one = self.isolate(self.lo, self.hi, x, box)
        else:
            one = start_box_isolation.isolate_in(self.isolate, self.start, x, box)
        if isinstance(one, IsolationFailure) or _meet(*box, *(end[:, None] for end in one.neighbourhood)).any():
            return one
        return IsolationFailure.TOO_WIDE if self.evaluator.value(*box).smooth else IsolationFailure.NOT_SMOOTH

    def _take(self, one: IsolatedMinimiser) -> bool:
        """Lists the minimiser, unless it is listed already, and reduces the regions around it; False if nothing comes of it."""
        same = [k for k, other in enumerate(self.proved) if _meet(one.lo, one.hi, other.lo[:, None], other.hi[:, None]).any()]
        if any(not _is_one(self.proved[k], one) for k in same):
            return False
        inside, open_ = np.flatnonzero(self.open & _within(self.regions, one.neighbourhood)), np.flatnonzero(self.open)
        cut, lo, hi = beyond_one_side(*(np.take(end, open_, axis=1) for end in (self.regions.lo, self.regions.hi)),
                                      one.neighbourhood)
        cut, in_regions = open_[cut], bool(_meet(one.lo, one.hi, self.given.lo, self.given.hi).any())
        if not same and (in_regions or len(inside) or len(cut)):
            value = self.evaluator.mean_value(one.lo, one.hi).best
            possible = in_regions and not value.lo > self.upper
            self.proved.append(one)
            self.found.append(Minimiser(one.lo, one.hi, float(value.lo), float(value.hi), possible))
            self.needs_region.append(False)
        self.boxes.append(one.neighbourhood)
        if not len(inside) and not len(cut):
            return False
        k = same[0] if same else -1
        self.needs_region[k] |= bool(self._meets(self.proved[k], inside).any())
        less = ~self._meets(self.proved[k], cut) | self.needs_region[k]  # a region more for K would not be less
        self.open[inside] = False
        self._replace(cut[less], lo[:, less], hi[:, less])
        return bool(len(inside) or less.any())

    def _meets(self, one: IsolatedMinimiser, numbers: np.ndarray) -> np.ndarray:
        """Which of these regions share a point with K."""
        return _meet(one.lo, one.hi, np.take(self.regions.lo, numbers, axis=1), np.take(self.regions.hi, numbers, axis=1))

    def _replace(self, numbers: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> None:
        """Parts of these regions instead of them; the widest side is the next to be cut."""
        self.regions.lo[:, numbers], self.regions.hi[:, numbers] = lo, hi
        self.regions.axis[numbers] = np.argmax(hi - lo, axis=0) if len(numbers) else 0

    def _start(self, members: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        """The good point if it lies in one of the regions, else the lowest of their midpoints."""
        lo, hi = (np.take(end, members, axis=1) for end in (self.regions.lo, self.regions.hi))
        if x is not None and ((lo <= x[:, None]) & (x[:, None] <= hi)).all(axis=0).any():
            return x
        low, high = np.where(np.isfinite(lo), lo, np.minimum(hi, 0.0)), np.where(np.isfinite(hi), hi, np.maximum(lo, 0.0))
        middle = np.minimum(np.maximum(0.5 * low + 0.5 * high, lo), hi)
        value = self.evaluator.value(middle, middle)
        return np.take(middle, int(np.argmin(np.where(value.defined, value.hi, np.inf))), axis=1)

    def _shared(self, one: IsolatedMinimiser, lower: float) -> Regions:
        """One region around what the regions given share with K, where f is not below `lower`; none if they share nothing. Its
        widest side is the next to be cut."""
        lo, hi = np.maximum(self.given.lo, one.lo[:, None]), np.minimum(self.given.hi, one.hi[:, None])
        meet = np.flatnonzero((lo <= hi).all(axis=0))
        if not len(meet):
            return Regions.none(len(one.lo))
        lo, hi = np.take(lo, meet, axis=1).min(axis=1), np.take(hi, meet, axis=1).max(axis=1)
        axis = np.array([np.argmax(hi - lo)], np.int32)
        return Regions(lo[:, None], hi[:, None], np.array([max(lower, self.lower)]), axis, np.full(1, SMOOTH, np.int8))


def _isolated_off_ends(isolate: Callable[..., IsolatedMinimiser | IsolationFailure], region: Interval, lo: np.ndarray,
                       hi: np.ndarray, x: np.ndarray, reach: Interval) -> IsolatedMinimiser | IsolationFailure:
    """A minimiser within bounds of which some are no doubles. Within the doubles between them, lo and hi, it is found as any; it
    is one within the bounds unless it lies at such an end, where there are points beyond."""
    one = isolate(lo, hi, np.minimum(np.maximum(x, lo), hi), tuple(np.minimum(np.maximum(end, lo), hi) for end in reach))
    if isinstance(one, IsolatedMinimiser) and (((one.lo <= lo) & (region[0] < lo)) | ((one.hi >= hi) & (region[1] > hi))).any():
        return IsolationFailure.BETWEEN
    return one


def _within(regions: Regions, box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Which regions lie in the box."""
    return ((regions.lo >= box[0][:, None]) & (regions.hi <= box[1][:, None])).all(axis=0)


def _meet(low: np.ndarray, high: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Which boxes, columns of arrays, share a point with this one."""
    return ((lo <= high[:, None]) & (hi >= low[:, None])).all(axis=0)


def _is_one(a: IsolatedMinimiser, b: IsolatedMinimiser) -> bool:
    """Is it the same minimiser? If K of one lies in B of the other: there is only one in that."""
    return any(bool(((k.neighbourhood[0] <= m.lo) & (m.hi <= k.neighbourhood[1])).all()) for k, m in ((a, b), (b, a)))
