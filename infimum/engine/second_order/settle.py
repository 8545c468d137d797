"""Regions that are left of a proof, and the minimisers among them: those that lie around a proved one hold no other, and go."""

from typing import NamedTuple

import numpy as np

from infimum.engine.regions.pool import Regions
from infimum.engine.second_order.isolate import Isolated, Refused, isolate
from infimum.evaluate import Evaluator
from infimum.minimisers import Minimiser
from infimum.start_boxes import StartBoxes

VARIABLES, OPERATIONS = 32, 400  # of functions that are looked at
REGIONS = 1 << 14
_SMOOTH = 3
_GROUPS, _EACH = 16, 4  # groups of regions that are looked at, and minimisers in one of them


class Settled(NamedTuple):
    """`left`: regions that hold every global minimiser that was in those given, a single one for each proved minimiser;
    `minimisers`: these; `rest`: how many regions lie around none of them; `why`: what prevented a proof."""

    left: Regions
    minimisers: list[Minimiser]
    rest: int
    why: Refused | None


def settle(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, regions: Regions, groups: list[tuple[np.ndarray, np.ndarray]],
           bounds: tuple[float, float], x: np.ndarray | None, start: StartBoxes | None = None, patient: bool = True) -> Settled:
    """`groups` are boxes of regions that touch, [lo, hi] the user's bounds; the infimum lies in `bounds`, and x is a good point.
    Where the search began in several `start` boxes, their union is the feasible set. Unless it is `patient`, the first group in
    which something prevents a proof is the last that is looked at.

    A region that lies in the box B of a proved minimiser holds no other one: what is left of it is what it shares with K. Regions
    that lie in no such box stay as they are.
    """
    work = _Settling(evaluator, lo, hi, regions, *bounds, start)
    first = [] if x is None else [k for k, box in enumerate(groups) if (box[0] <= x).all() and (x <= box[1]).all()]
    for k in [*first, *(k for k in range(len(groups)) if k not in first)][:_GROUPS]:
        work.look_at(groups[k], x)
        if work.why is not None and not patient:
            break
    left = regions.at(np.flatnonzero(work.open))
    rest = len(left)
    for shared in work.kept:
        left = left.with_(shared)
    return Settled(left, work.found, rest, work.why)


class _Settling:
    """Regions on the way: `open` are those that lie around no proved minimiser yet."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, regions: Regions, lower: float,
                 upper: float, start: StartBoxes | None):
        self.evaluator, self.lo, self.hi, self.regions, self.start = evaluator, lo, hi, regions, start
        self.lower, self.upper = lower, upper
        self.open = np.ones(len(regions), bool)
        self.proved: list[Isolated] = []
        self.found: list[Minimiser] = []
        self.kept: list[Regions] = []
        self.why: Refused | None = None

    def look_at(self, box: tuple[np.ndarray, np.ndarray], x: np.ndarray | None) -> None:
        """Proves one minimiser after the other in a group of regions, while that settles some of them."""
        members = np.flatnonzero(_within(self.regions, box))
        for _ in range(_EACH):
            members = members[self.open[members]]
            if not len(members):
                return
            one = self._isolated(self._start(members, x), box)
            inside = () if isinstance(one, Refused) else np.flatnonzero(self.open & _within(self.regions, one.around))
            if isinstance(one, Refused) or not self._take(one, inside) or not len(inside):
                self.why = self.why or (one if isinstance(one, Refused) else Refused.TOO_WIDE)
                return
            self.open[inside], x = False, None
        self.why = self.why or (Refused.TOO_WIDE if self.open[members].any() else None)

    def _isolated(self, x: np.ndarray, box: tuple[np.ndarray, np.ndarray]) -> Isolated | Refused:
        """A minimiser near x. In several start boxes: one strictly inside one of them, and B within it. On a face of a start box
        the feasible set may go on, and what is least in the box need be no minimiser."""
        if self.start is None:
            return isolate(self.evaluator, self.lo, self.hi, x, box)
        held = self.start.around(x)
        if not len(held):  # regions that were merged may reach beyond
            return Refused.AT_A_BOUND
        lo, hi = self.start.box(int(held[0]))
        one = isolate(self.evaluator, lo, hi, x, box)
        inside = isinstance(one, Isolated) and bool(((lo < one.lo) & (one.hi < hi)).all())
        return one if inside or isinstance(one, Refused) else Refused.AT_A_BOUND

    def _take(self, one: Isolated, inside: np.ndarray) -> bool:
        """Lists the minimiser, unless it is listed already; False if that cannot be told."""
        meets = [other for other in self.proved if _meet(one.lo, one.hi, other.lo[:, None], other.hi[:, None]).any()]
        if any(not _holds(other.around, one) for other in meets):
            return False
        value = self.evaluator.mean_value(one.lo, one.hi).best
        shared = self._shared(one, np.asarray(inside), float(value.lo))
        self.kept += [shared] if len(shared) and not value.lo > self.upper else []
        in_regions = bool(_meet(one.lo, one.hi, self.regions.lo, self.regions.hi).any())
        if not meets and (in_regions or len(inside)):
            possible = in_regions and not value.lo > self.upper
            self.proved.append(one)
            self.found.append(Minimiser(one.lo, one.hi, float(value.lo), float(value.hi), possible))
        return True

    def _start(self, members: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        """The good point if it lies in one of the regions, else the lowest of their midpoints."""
        lo, hi = (np.take(end, members, axis=1) for end in (self.regions.lo, self.regions.hi))
        if x is not None and ((lo <= x[:, None]) & (x[:, None] <= hi)).all(axis=0).any():
            return x
        low, high = np.where(np.isfinite(lo), lo, np.minimum(hi, 0.0)), np.where(np.isfinite(hi), hi, np.maximum(lo, 0.0))
        middle = np.minimum(np.maximum(0.5 * low + 0.5 * high, lo), hi)
        value = self.evaluator.value(middle, middle)
        return np.take(middle, int(np.argmin(np.where(value.defined, value.hi, np.inf))), axis=1)

    def _shared(self, one: Isolated, inside: np.ndarray, lower: float) -> Regions:
        """One region around what these regions share with K, where f is not below `lower`; none if they share nothing. Its widest
        side is the next to be cut."""
        regions = self.regions.at(inside)
        lo, hi = np.maximum(regions.lo, one.lo[:, None]), np.minimum(regions.hi, one.hi[:, None])
        meet = np.flatnonzero((lo <= hi).all(axis=0))
        if not len(meet):
            return Regions.none(len(one.lo))
        lo, hi = np.take(lo, meet, axis=1).min(axis=1), np.take(hi, meet, axis=1).max(axis=1)
        axis = np.array([np.argmax(hi - lo)], np.int32)
        return Regions(lo[:, None], hi[:, None], np.array([max(lower, self.lower)]), axis, np.full(1, _SMOOTH, np.int8))


def _within(regions: Regions, box: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """Which regions lie in the box."""
    return ((regions.lo >= box[0][:, None]) & (regions.hi <= box[1][:, None])).all(axis=0)


def _meet(low: np.ndarray, high: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """Which boxes, columns of arrays, share a point with this one."""
    return ((lo <= high[:, None]) & (hi >= low[:, None])).all(axis=0)


def _holds(box: tuple[np.ndarray, np.ndarray], one: Isolated) -> bool:
    """Does the box contain K? Then a box with no minimiser but one holds that of K."""
    return bool(((box[0] <= one.lo) & (one.hi <= box[1])).all())
