"""Exchangeable variables in order: exchanges leave the problem as it is, and results have all minimisers, by enumeration."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from infimum import Constraint, minimize
from infimum.expr.exact_forms import value_at
from infimum.expr.rewriting_switches import without
from infimum.presolve import ordered_blocks
from infimum.presolve.ordered_blocks import OrderedBlocks
from infimum.presolve.presolve_stack import Formulation
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from infimum.search.policy.search import EXCHANGES as POLICY
from infimum.structure.exact_rows.exchanges import ExchangeSearch, families_of
from tests.engine.constrained.planted_systems import evaluator_of

INF = np.inf


class Machines:
    """Machines y_b in {0, 1} with whole quantities x_b <= most y_b; the costs of some are equal. What they make must suffice, and
    costs may grow with squares."""

    def __init__(self, seed: int):
        rng = np.random.default_rng([seed, 7])
        self.count, self.most = int(rng.integers(2, 4)), int(rng.integers(2, 4))
        self.cost = rng.integers(0, 3, self.count).astype(float) * float(rng.choice([1.0, 0.1]))
        self.price, self.curve = float(rng.integers(-1, 2)), float(rng.integers(0, 2))
        self.least = float(rng.integers(1, self.most * self.count))
        self.odd = rng.random() < 0.3  # one machine differs
        self.bounds = [(0.0, 1.0)] * self.count + [(0.0, float(self.most))] * self.count

    def f(self, x):
        quantities = x[self.count:]
        return np.sum(self.cost * x[:self.count]) + self.price * np.sum(quantities) + self.curve * np.sum(quantities**2)

    def rows(self):
        m = self.count
        found = [(lambda x: np.sum(x[m:]), self.least, INF), (lambda x: np.sum(x[m:] ** 2) - x[m] * x[m + 1], -INF, 30.0)]
        found += [(lambda x, b=b: x[m + b] - self.most * x[b], -INF, 0.0) for b in range(m)]
        return found + ([(lambda x: x[m] - x[0], -1.0, INF)] if self.odd else [])

    def points(self):
        return map(np.array, itertools.product(*(np.arange(lo, hi + 1) for lo, hi in self.bounds)))

    def is_feasible(self, x):
        return all(lo <= row(x) <= hi for row, lo, hi in self.rows())

    def solved(self, **settings):
        constraints = [{"type": "ineq", "fun": lambda x, row=row, lo=lo, hi=hi: row(x) - lo if np.isinf(hi) else hi - row(x)}
                       for row, lo, hi in self.rows()]
        return minimize(self.f, self.bounds, constraints=constraints, integrality=1, **settings)

    def formulation(self):
        evaluator = evaluator_of(self.f, self.rows(), len(self.bounds), tuple(range(len(self.bounds))))
        return Formulation(Problem.read(self.f, self.bounds), evaluator)


@pytest.mark.parametrize("seed", range(5))
def test_exchanges_keep_the_problem(seed):
    asked = Machines(seed)
    given, points = asked.formulation(), list(asked.points())[::31]
    for one in ExchangeSearch(given.evaluator.system, given.problem.lo, given.problem.hi).exchanges():
        for x in points:
            y = x[list(one.image)]
            gain = float(value_at(one.gain, {j: Fraction(v) for j, v in enumerate(x.tolist())}))
            assert asked.is_feasible(x) == asked.is_feasible(y) and asked.f(y) - asked.f(x) == pytest.approx(gain, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_every_orbit_keeps_one_of_its_lowest_points(seed):
    """Whatever the constraint for bounds is: the points that obey it have all values that are least in their orbits."""
    asked = Machines(seed)
    inner = OrderedBlocks(Goal()).apply(asked.formulation())
    if inner is None:
        return
    system = inner.evaluator.system.with_orders
    points = np.stack([x for x in asked.points() if asked.is_feasible(x)], axis=1)
    rows = inner.with_system(system).evaluator.rows(points, points)
    kept = ((rows.lo[1:] >= system.lower[:, None] - 1e-12) & (rows.hi[1:] <= system.upper[:, None] + 1e-12)).all(axis=0)
    values = np.array([asked.f(x) for x in points.T])
    assert kept.any() and not kept.all() and values[kept].min() == pytest.approx(values.min(), abs=1e-12)


@pytest.mark.parametrize("seed", (0, 2, 5))
def test_all_minimisers_are_there(seed):
    asked = Machines(seed)
    feasible = [x for x in asked.points() if asked.is_feasible(x)]
    values = np.array([asked.f(x) for x in feasible])
    least = values.min()
    best = [x for x, v in zip(feasible, values, strict=True) if v <= least + 1e-12]
    r = asked.solved(xtol=0.5 if seed == 0 else None)
    assert r.verdict.name == "PROVED" and r.lower - 1e-9 <= least <= r.upper + 1e-9
    for x in best:
        assert x in r.regions and any((lo <= x).all() and (x <= hi).all() for lo, hi in r.boxes)


def test_chains_of_blocks():
    """Three boxes with two variables each, in all orders."""
    def f(x):
        return sum(x[k] ** 2 - x[k] * x[k + 3] for k in range(3)) + x[6]
    rows = [(lambda x: x[0] + x[1] + x[2], 4.0, 4.0), (lambda x: x[3] * x[4] * x[5], -INF, 8.0),
            (lambda x: x[6] - np.log(x[7]), 0, INF)]
    evaluator = evaluator_of(f, rows, 8, tuple(range(6)))
    search = ExchangeSearch(evaluator.system, np.ones(8), np.full(8, 4.0))
    found = list(search.exchanges())
    (blocks, chain), = families_of(found)
    assert blocks.shape == (3, 2) and len(chain) == 2 and not any(one.gain for one in found)


def pairs_of(f, row, n):
    """The pairs of variables that one exchange swaps."""
    search = ExchangeSearch(evaluator_of(f, [(row, 1.0, 3.0)], n).system, np.full(n, -1.0), np.full(n, 4.0))
    return sorted({(j, k) for one in search.exchanges() for j, k in enumerate(one.image) if j < k})


OPERATIONS = [
    ("roots", lambda x: np.sqrt(x[0]) + np.sqrt(x[1]), lambda x: np.hypot(x[0], x[2]) + np.hypot(x[1], x[2]), [(0, 1)]),
    ("inside", lambda x: np.log(x[0] * x[1] + x[2]) / x[2], lambda x: np.exp(x[0]) + np.exp(x[1]) + x[2], [(0, 1)]),
    ("signs", lambda x: np.hypot(x[0] - x[1], x[2]) + np.abs(x[1] - x[0]), lambda x: x[0] + x[1], [(0, 1)]),
    ("signs that matter", lambda x: np.sin(x[0] - x[1]), lambda x: x[0] + x[1], []),
    ("blocks", lambda x: np.exp(-x[0] / x[1]) + np.exp(-x[2] / x[3]), lambda x: np.sum(x), [(0, 2), (1, 3)]),
    ("the order of arguments", lambda x: x[0] / x[1], lambda x: x[0] + x[1], []),
    ("a power", lambda x: x[0] ** 0.3 + x[1] ** 0.3 + x[2] ** 0.4, lambda x: x[0] + x[1] + x[2], [(0, 1)]),
    ("0 times a logarithm", lambda x: x[0] + x[1], lambda x: x[0] + x[1] + 0 * np.log(x[0]), []),
    ("a difference that is 0", lambda x: x[0] + x[1], lambda x: x[0] + x[1] + np.sqrt(x[0]) - np.sqrt(x[0]), []),
    ("inside of what is not used", lambda x: x[0] + x[1], lambda x: x[0] + x[1] + np.exp(x[2] + 0 * np.log(x[0])), []),
    ("a choice", lambda x: x[0] + x[1], lambda x: np.where(x[0] > 1, np.log(x[0]), x[0]) + np.log(x[0]) + x[1], []),
    ("the larger one", lambda x: np.maximum(x[0], x[1]), lambda x: x[0] + x[1], []),
]


@pytest.mark.parametrize(("f", "row", "pairs"), [case[1:] for case in OPERATIONS], ids=[case[0] for case in OPERATIONS])
def test_operations_that_are_no_polynomials(f, row, pairs):
    n = 4 if pairs == [(0, 2), (1, 3)] else 3
    assert pairs_of(f, row, n) == pairs
    x = np.random.default_rng(1).uniform(-1, 4, (n, 200))
    y = x.copy()
    for j, k in pairs:
        y[[j, k]] = x[[k, j]]
    with np.errstate(all="ignore"):
        for function in (f, row) if pairs else ():
            assert np.allclose(function(x), function(y), equal_nan=True)


def test_points_that_are_far_apart():
    """Three points of a square: the problem has no whole numbers, and a triangle is there in all orders."""
    def distances(x):
        i, j = [0, 0, 1], [1, 2, 2]
        return (x[:3][i] - x[:3][j]) ** 2 + (x[3:6][i] - x[3:6][j]) ** 2 - x[6]
    r = minimize(lambda x: -x[6], [(0, 1)] * 6 + [(0, 2)], constraints=Constraint(distances, 0, INF), rtol=1e-3)
    t = 2 - np.sqrt(3)  # the side of the largest triangle squared is 1 + t**2
    assert r.verdict.name == "PROVED" and r.lower <= -1 - t * t <= r.upper and "6 variables put" in r.presolve[0]
    for order in itertools.permutations(range(3)):
        points = np.array([[0, 0], [1, t], [t, 1]])[list(order)]
        x = np.append(points.T.ravel(), 1 + t * t)
        assert any((lo - 1e-12 <= x).all() and (x <= hi + 1e-12).all() for lo, hi in r.boxes)


def two_sums(x):
    return np.abs(x[0] + x[1] + x[2] + x[3]) + np.abs(x[4] + x[5] + x[6] + x[7])


SUM = Constraint(lambda x: x[0] + x[1] + x[2] + x[3], -INF, 3)


def test_with_narrow_regions_the_orders_of_all_families_count():
    """Two families of four have 24 * 24 orders."""
    evaluator = evaluator_of(two_sums, [(lambda x: x[0] + x[1] + x[2] + x[3], -INF, 3.0)], 8)
    given = Formulation(Problem.read(two_sums, [(-1, 1)] * 8), evaluator)
    for goal, families in ((Goal(), 2), (Goal(xtol=0.05), 1)):
        step = OrderedBlocks(goal)
        step.apply(given)
        assert len(step.families) == families


def test_regions_of_a_run_that_has_ended_early_are_not_listed_in_all_orders():
    r = minimize(two_sums, [(-1, 1)] * 8, constraints=SUM, xtol=0.05, max_boxes=60_000, progress=False)
    assert r.verdict.name == "STOPPED" and "4 variables put in order" in r.presolve[0]
    assert POLICY.most_images / 24 < r.regions.count <= POLICY.most_images
    for x in np.random.default_rng(0).uniform(-1, 1, (20, 3)):
        for order in itertools.permutations([*x / 3, -x.sum() / 3]):
            assert np.array([*order, 0.5, -0.5, 0.25, -0.25]) in r.regions


def test_of_very_many_images_the_number_is_kept(monkeypatch):
    asked = Machines(0)
    listed = asked.solved(xtol=0.5).regions
    assert listed.kept
    monkeypatch.setattr(ordered_blocks, "MOST_KEPT_NUMBERS", 1)
    counted = asked.solved(xtol=0.5).regions
    assert not counted.kept and counted.count >= listed.count


def test_boxes_with_equal_digests_are_compared():
    """Boxes are dropped only where they are equal."""
    lo = np.array([[0.0, 1.0, 0.0, 2.0, 1.0]])
    assert ordered_blocks._first_of_equal(lo, lo + 1).tolist() == [True, True, False, True, False]


def test_switched_off():
    asked = Machines(2)
    with without("exchanges"):
        assert OrderedBlocks(Goal()).apply(asked.formulation()) is None
    assert any("exchanged" in sentence for sentence in asked.solved().presolve)
