"""Parts of a proof where the ends of the bounds lie between two doubles: regions reach to the outer one, parts know the inner
one, and no minimiser within the bounds themselves may be lost.

How far apart the two doubles are makes no difference to a part. Here they are as far apart as regions are wide, so that whatever
is concluded of the wrong one of them shows.
"""

from collections import Counter
from functools import cache
from itertools import product

import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.bound_by_pieces import BoundByPieces
from infimum.bounds.function_bounds.first_order import FirstOrder
from infimum.bounds.function_bounds.interval_newton import IntervalNewton
from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.bounds.start_faces import StartFaces
from infimum.bounds.sweeps.shaving import Shaving
from infimum.evaluation.programs import REGION_OUTCOME, ProgramKind
from infimum.kernel.region_cut import DISCARDED, rows_of
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.variable_bounds import OuterBox
from infimum.trace.trace import trace
from tests.engine.region_tests.conformance import INF, Conformance, columns_left, cover
from tests.engine.region_tests.test_conformance import (
    PARTS_UNDER_TEST,
    WRITTEN,
    ByPivots,
    ChainOfBoxes,
    NewtonLoop,
    RefinementOfBoxes,
    SweepOfBoxes,
)
from tests.oracle.check import Checker
from tests.oracle.tally import Violation
from tests.random_kernels import same_bits

ASK_ABOUT_BOUNDS = (FirstOrder, BoundByPieces, IntervalNewton, ByPivots, NewtonLoop, Shaving, SweepOfBoxes, RefinementOfBoxes,
                    ChainOfBoxes)
NAMES = ("in a corner", "in the other corner", "on a face", "on two faces", "at a kink in a corner", "of many on faces",
         "a chain in a corner", "a product", "an entropy", "below a jump")


class Between(Conformance):
    """The user's box from `low` to `high`, known to lie between an inner and an outer one."""

    def __init__(self, checker: Checker, low: np.ndarray, high: np.ndarray, rng: np.random.Generator, known=()):
        super().__init__(checker, low, high, rng, known)
        width = high - low
        gaps = np.where(rng.random((4, len(low))) < 0.7, rng.choice((2.0**-40, 0.0625, 0.25), size=(4, len(low))) * width, 0.0)
        self.inner = low + gaps[0], high - gaps[1]
        self.lo, self.hi = cover(rng, low - gaps[2], high + gaps[3], 7)
        self.axis = rng.integers(checker.n, size=self.lo.shape[1]).astype(np.int32)

    def part(self, kind: type[RegionTest]) -> RegionTest:
        return kind(self.c.evaluator, *self.inner)

    def _points(self, outcome: Outcome) -> None:
        """They are points of regions, and whoever takes one looks where it lies."""


@cache
def trial(name: str) -> Between:
    f, bounds, known = WRITTEN[name]
    low, high = np.array(bounds, dtype=float).T
    return Between(Checker(trace(f, len(bounds)), len(bounds)), low, high, np.random.default_rng(NAMES.index(name)), known)


def held(part: type[RegionTest], name: str) -> Counter:
    asked = trial(name)
    if not PARTS_UNDER_TEST.get(part, (lambda f: True,))[0](asked.c.evaluator):
        return Counter()
    try:
        return asked.check(part)
    except AssertionError as error:
        raise Violation(f"{part.__name__}, {name}: {error}") from error


class ToItsEnd(RegionTest):
    """A careless one: where f rises it reduces a region that reaches the bound to the region's own end."""

    name, discards = "to_its_end", "derivative"

    def test(self, regions, context: StepContext) -> Outcome:
        lo, hi = regions[:self.n].copy(), regions[self.n:2 * self.n].copy()
        found = self.evaluator.gradient(lo, hi)
        rises = found.value.lipschitz & (found.lo > 0) & (lo <= self.lo[:, None])
        lower, gone = np.full(lo.shape[1], -INF), np.zeros(lo.shape[1], bool)
        return Outcome(columns_left(regions, lo, np.where(rises, lo, hi), lower, gone), lo.shape[1])


@pytest.mark.parametrize("part", ASK_ABOUT_BOUNDS)
def test_no_minimiser_within_the_bounds_is_lost(part):
    counts = sum((held(part, name) for name in NAMES), Counter())
    assert counts["lost"] > 10 and counts["gone"] + counts["narrower"] > 10


def test_a_part_that_reduces_to_the_end_of_a_region_is_caught():
    with pytest.raises(Violation, match="ToItsEnd"):
        for name in NAMES:
            held(ToItsEnd, name)


# ---- regions beyond the bounds
def fates(lo: np.ndarray, hi: np.ndarray, least: np.ndarray, most: np.ndarray, backend=None) -> np.ndarray:
    n = len(lo)
    regions = np.zeros((rows_of(n), lo.shape[1]))
    regions[:n], regions[n:2 * n] = lo, hi
    f = infimum.compile(lambda x: np.sum(x), n, backend=backend)
    parameters = np.concatenate([[INF, INF], np.concatenate([least, most]).T.ravel()])
    return f.run(ProgramKind.of(REGION_OUTCOME, boxes=least.shape[1]), [regions], parameters=parameters)[0][0] == DISCARDED


@pytest.mark.parametrize("seed", range(4))
def test_a_region_beyond_all_boxes_is_proved_away(seed):
    rng = np.random.default_rng(seed)
    n, boxes, count = 1 + seed % 3, 1 + seed, 200
    least, most, lo = (rng.integers(-3, 4, size=(n, k)).astype(float) for k in (boxes, boxes, count))
    hi = lo + rng.integers(0, 3, size=(n, count))
    found = fates(lo, hi, least, most)
    same_bits(found.astype(float), fates(lo, hi, least, most, PythonBackend()).astype(float))
    meets = ((hi[:, :, None] >= least[:, None]) & (lo[:, :, None] <= most[:, None])).all(axis=0).any(axis=1)
    assert (found == ~meets).all() and meets.any() and (found.any() or seed == 3)


# ---- faces of start boxes: doubles are whole numbers here, and ends lie at halves
class Union:
    """Start boxes with ends at multiples of 1/2, in a world whose doubles are whole numbers."""

    def __init__(self, rng: np.random.Generator, n: int, count: int):
        self.low = rng.integers(-6, 5, size=(n, count)) / 2
        self.high = self.low + rng.integers(0, 7, size=(n, count)) / 2
        lo, hi = np.floor(self.low), np.ceil(self.high)
        self.boxes = StartBoxes(np.ceil(self.low), np.floor(self.high), OuterBox(lo, hi, lo, hi))

    def holds(self, p: np.ndarray) -> bool:
        return bool(((self.low <= p[:, None]) & (p[:, None] <= self.high)).all(axis=0).any())

    def has_room(self, p: np.ndarray, i: int, side: int) -> bool:
        """Does the union hold the points next to p on that side of variable i?"""
        inside = (self.low <= p[:, None]) & (p[:, None] <= self.high)
        inside[i] &= self.low[i] < p[i] if side < 0 else self.high[i] > p[i]
        return bool(inside.all(axis=0).any())


def quarters(lo: np.ndarray, hi: np.ndarray) -> list[np.ndarray]:
    return [np.array(p) for p in product(*(np.arange(a, b + 0.125, 0.25) for a, b in zip(lo, hi, strict=True)))]


@pytest.mark.parametrize("seed", range(8))
def test_faces_of_a_union_whose_ends_lie_between_doubles(seed):
    """A function that rises in variable i on a region has no minimiser there if the kernel says that there is room; otherwise all
    of those that belong to the region's own box lie no higher than the bound."""
    rng, n = np.random.default_rng(seed), 1 + seed % 2
    union = Union(rng, n, 1 + seed % 4)
    outer, f = union.boxes.outer, infimum.compile(lambda x: np.sum(x), n)
    seen = Counter()
    for _ in range(30):
        k = int(rng.integers(len(union.boxes)))
        ends = np.sort([rng.integers(outer.lo[:, k], outer.hi[:, k] + 1) for _ in range(2)], axis=0).astype(float)
        regions = np.zeros((rows_of(n), 1))
        regions[:2 * n, 0] = ends.ravel()
        bounds = StartFaces(f, union.boxes).of(regions)[:, 0]
        points = [p for p in quarters(*ends) if union.holds(p)]
        for i, side in product(range(n), (-1, 1)):
            bound = side * bounds[i if side < 0 else n + i]
            for p in points:
                further = any(side * q[i] > side * p[i] and np.array_equal(np.delete(q, i), np.delete(p, i)) for q in points)
                own = ((union.low[:, k] <= p) & (p <= union.high[:, k])).all()
                if bound == INF:
                    assert further or union.has_room(p, i, side)
                elif own:
                    mine = [q for q in points if ((union.low[:, k] <= q) & (q <= union.high[:, k])).all()]
                    last = not any(side * q[i] > side * p[i] and np.array_equal(np.delete(q, i), np.delete(p, i)) for q in mine)
                    assert not last or side * p[i] >= bound
                seen["room" if bound == INF else "end"] += 1
    assert seen["end"] > 50
