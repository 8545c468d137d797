"""Parts in several start boxes: the feasible set is no box, and its faces are where its boxes end."""

import zlib
from collections import Counter
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds import bound_order
from infimum.bounds.bound_order import classes_of, region_tests_of
from infimum.bounds.interface import Outcome, RegionTest
from infimum.bounds.start_faces import StartFaces
from infimum.kernel.region_cut import rows_of
from infimum.problem.start_boxes import StartBoxes
from infimum.trace.trace import trace
from tests.engine.region_tests.conformance import INF, Conformance, cover
from tests.engine.region_tests.test_conformance import PARTS_UNDER_TEST, RANDOM, WRITTEN, ByGradient
from tests.engine.test_bound import NEVER
from tests.oracle.arb_values import settled_value
from tests.oracle.campaign import generated
from tests.oracle.check import Checker
from tests.oracle.generate import operations
from tests.oracle.tally import Violation
from tests.oracle.walk import Special
from tests.random_kernels import same_bits


def some_boxes(rng: np.random.Generator, low: np.ndarray, high: np.ndarray, count: int) -> StartBoxes:
    """Some of the boxes that cover a box, and one that overlaps them."""
    lo, hi = cover(rng, low, high, count)
    kept = rng.permutation(lo.shape[1])[:max(1, lo.shape[1] * 2 // 3)]
    lo, hi = lo[:, kept], hi[:, kept]
    a, b = rng.integers(len(kept), size=2)
    both = np.minimum(lo[:, a], lo[:, b])[:, None], np.maximum(hi[:, a], hi[:, b])[:, None]
    return StartBoxes(*(np.concatenate(ends, axis=1) for ends in zip((lo, hi), both, strict=True))) if rng.random() < 0.2 \
        else StartBoxes(lo, hi)


class InBoxes(Conformance):
    """The contract in start boxes: what is lost must have a lower point within their union."""

    def __init__(self, checker: Checker, low: np.ndarray, high: np.ndarray, rng: np.random.Generator, known: Any = ()):
        super().__init__(checker, low, high, rng, known, boxes=1)
        self.start = some_boxes(rng, low, high, 6)
        parts = [cover(rng, *self.start.box(k), 3) for k in range(len(self.start))]
        self.lo, self.hi = (np.concatenate(ends, axis=1) for ends in zip(*parts, strict=True))
        self.axis = rng.integers(checker.n, size=self.lo.shape[1]).astype(np.int32)
        ends = np.stack([self.lo, self.hi])
        drawn = [np.where(rng.random(checker.n) < 0.5, *ends[:, :, k]) for k in range(self.lo.shape[1]) for _ in range(4)]
        points = np.unique(np.concatenate([self.points, *(p[None] for p in drawn)]), axis=0)
        self.points = points[np.isfinite(points).all(axis=1) & self.start.holds(np.ascontiguousarray(points.T))]
        self.values = [settled_value(checker.meant, p, checker.fraction) for p in self.points]
        self.defined = [v for v in self.values if not isinstance(v, Special)]
        self.uppers = {INF, self._best_upper()} if len(self.points) else {INF}

    def part(self, kind: type[RegionTest]) -> RegionTest:
        part = kind(self.c.evaluator, self.low, self.high)
        part.faces = StartFaces(self.c.evaluator, self.start)
        return part

    def _points(self, outcome: Outcome) -> None:
        super()._points(outcome)
        if outcome.upper is not None:
            assert self.start.holds(outcome.point[:, outcome.upper[0] < INF]).all(), "a point outside the start boxes"

    def _ways(self, p: np.ndarray) -> list[np.ndarray]:
        """To where there is room in a start box."""
        here, unit = self.start.containing(p), np.eye(self.c.n)
        below, above = (self.start.lo[:, here] < p[:, None]).any(axis=1), (self.start.hi[:, here] > p[:, None]).any(axis=1)
        return [-unit[i] for i in np.flatnonzero(below)] + [unit[i] for i in np.flatnonzero(above)]

    def _is_lower(self, q: np.ndarray, p: np.ndarray) -> bool:
        return len(self.start.containing(q)) > 0 and super()._is_lower(q, p)


def held(part: type[RegionTest], name: str, seed: int) -> Counter:
    f, bounds, known = WRITTEN[name]
    low, high = np.array(bounds, dtype=float).T
    checker = Checker(trace(f, len(bounds)), len(bounds))
    if not PARTS_UNDER_TEST.get(part, (lambda f: True,))[0](checker.evaluator):
        return Counter()
    try:
        return InBoxes(checker, low, high, np.random.default_rng(seed), known).check(part)
    except AssertionError as error:
        raise Violation(f"{part.__name__}, {name}, {seed}: {error}") from error


KNOWING = [part for part in classes_of(False) if part.knows_faces]


@pytest.mark.parametrize("part", KNOWING)
def test_no_minimiser_over_the_union_is_lost(part):
    counts = sum((held(part, name, seed) for name in list(WRITTEN)[::2] for seed in range(2)), Counter())
    assert counts["lost"] > 50 and counts["gone"] > 20 and counts["narrower"] > 10


@pytest.mark.parametrize("part", KNOWING)
def test_no_minimiser_over_one_union_is_lost(part):
    """A case of the test above for the default run, which leaves most of that to the thorough one."""
    assert any(held(part, name, 0) for name in WRITTEN)  # the first that it says something about


@pytest.mark.parametrize("part", KNOWING)
def test_random_functions(part):
    counts = Counter()
    first = zlib.crc32(part.name.encode()) % 10**6
    for seed in range(first, first + 400):
        checker, rng = RANDOM[part](seed) if part in RANDOM else generated(seed, n=1 + seed % 3)
        if (set(operations(checker.expr)) | set(operations(checker.meant))) & NEVER \
                or not PARTS_UNDER_TEST[part][0](checker.evaluator):
            continue
        low = rng.uniform(-2, 2, size=checker.n)
        counts += InBoxes(checker, low, low + rng.choice((0.3, 1.0, 4.0), size=checker.n), rng).check(part)
        if counts["lost"] >= 100 and counts["gone"] + counts["narrower"] >= 40:
            return
    raise AssertionError(f"hardly anything is claimed: {counts}")


def test_a_part_that_takes_the_hull_for_the_bounds_is_caught():
    """What every part did before there were start boxes."""
    with pytest.raises(Violation, match="ByGradient"):
        for name in WRITTEN:
            for seed in range(3):
                held(ByGradient, name, seed)


def test_a_part_that_does_not_know_of_faces_is_not_asked(monkeypatch):
    f, start = infimum.compile(lambda x: x[0] ** 2, 1), StartBoxes(np.array([[0.0, 2.0]]), np.array([[1.0, 3.0]]))
    parts = [*classes_of(False), ByGradient]
    monkeypatch.setattr(bound_order, "classes_of", lambda _: parts)
    ends = start.hull
    assert any(isinstance(part, ByGradient) for part in region_tests_of(f, *ends))
    found = region_tests_of(f, *ends, start)
    assert found and not any(isinstance(part, ByGradient) for part in found) and all(part.faces is not None for part in found)


# ---- what the kernel says of the ends of regions
def bounds_of(start: StartBoxes, lo: np.ndarray, hi: np.ndarray, backend: Any = None) -> np.ndarray:
    n = len(lo)
    f = infimum.compile(lambda x: np.sum(x), n, backend=backend)
    regions = np.zeros((rows_of(n), lo.shape[1]))
    regions[:n], regions[n:2 * n] = lo, hi
    return StartFaces(f, start).of(regions)


def test_which_faces_of_two_boxes_that_touch_are_bounds():
    """[0, 1] x [0, 2] and [1, 2] x [0, 1]."""
    start = StartBoxes(np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 2.0], [2.0, 1.0]]))
    lo = np.array([[0.0, 1.0, 0.0, 0.5, 1.0, 1.25], [0.0, 0.0, 1.0, 0.25, 1.0, 0.25]])
    hi = np.array([[1.0, 2.0, 1.0, 0.75, 1.0, 1.5], [2.0, 1.0, 2.0, 0.75, 1.5, 1.0]])
    found = bounds_of(start, lo, hi)
    assert found[0].tolist() == [0, -INF, 0, -INF, -INF, -INF]     # the left end of the right box lies on the left box
    assert found[1].tolist() == [0, 0, -INF, -INF, -INF, -INF]
    assert found[2].tolist() == [1, 2, 1, INF, 1, INF]             # above x[1] = 1 the left box ends at 1
    assert found[3].tolist() == [2, 1, 2, INF, INF, 1]


def test_regions_of_infinite_boxes_have_no_end_to_be_reduced_to():
    start = StartBoxes(np.array([[-INF, 1.0]]), np.array([[0.0, INF]]))
    found = bounds_of(start, np.array([[-INF, 1.0, 2.0]]), np.array([[-1.0, INF, 3.0]]))
    assert found.tolist() == [[-INF, 1, -INF], [INF, INF, INF]]


@pytest.mark.parametrize("seed", range(6))
def test_an_infinite_bound_means_room_and_room_in_its_own_box_is_seen(seed):
    rng = np.random.default_rng(seed)
    n = 1 + seed % 3
    start = some_boxes(rng, np.full(n, -2.0), np.full(n, 2.0), 9)
    owner = rng.integers(len(start), size=40)
    parts = [cover(rng, *start.box(int(k)), 2) for k in owner]
    lo, hi = (np.stack([part[side][:, 0] for part in parts], axis=1) for side in (0, 1))
    found = bounds_of(start, lo, hi)
    same_bits(found, bounds_of(start, lo, hi, PythonBackend()))
    for k, own in enumerate(owner):
        for i in range(n):
            for end, bound, side in ((lo, found[i], -1), (hi, found[n + i], 1)):
                inside = start.lo[i, own] < lo[i, k] if side < 0 else hi[i, k] < start.hi[i, own]
                assert bound[k] == (side * INF if np.isinf(bound[k]) else end[i, k])
                assert np.isinf(bound[k]) or not inside
                if np.isinf(bound[k]):
                    face = rng.uniform(lo[:, k], hi[:, k], size=(20, n))
                    face[:, i] = np.nextafter(end[i, k], side * INF)
                    assert start.holds(np.ascontiguousarray(face.T)).all()
