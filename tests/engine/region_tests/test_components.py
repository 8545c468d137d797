"""Sums of parts that share no variable: each is minimised by itself, and no minimiser is lost."""

from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.chains.bags import bags_of
from infimum.chains.chain import Chain
from infimum.chains.components import Components
from infimum.problem.settings import Goal
from infimum.search.incumbent import Incumbent


@pytest.fixture(autouse=True)
def _as_the_library_computes():
    with np.errstate(all="ignore"):
        yield


def camel(a, b):
    return (4 - 2.1 * a**2 + a**4 / 3) * a**2 + a * b + (-4 + 4 * b**2) * b**2


def chain_of(f, low, high) -> Chain | None:
    evaluator = infimum.compile(f, len(low))
    low, high = np.array(low, dtype=float), np.array(high, dtype=float)
    return Chain.of(evaluator, (low[:, None], high[:, None]), Goal(), Incumbent(evaluator, low, high))


def test_bags_are_told_apart():
    scopes = [np.array([[0, 2, 4, 5], [1, 3, 5, 6]]), np.array([[7]]), np.empty((0, 30), np.int64)]
    bags = bags_of(scopes, 8)
    components = Components(bags)
    with_variables = {int(components.of_bag[k]): set() for k, bag in enumerate(bags) if bag.variables}
    for k, bag in enumerate(bags):
        if bag.variables:
            with_variables[int(components.of_bag[k])].update(bag.variables)
    assert sorted(map(sorted, with_variables.values())) == [[0, 1], [2, 3], [4, 5, 6], [7]]
    assert max(len(bag.terms) for bag in bags) < 16, "constants belong to no bag in particular"
    assert Components(bags_of([np.array([[0, 1, 2], [1, 2, 3]])], 4)).count == 1


def test_upper_bounds_of_components_are_bounds():
    rng = np.random.default_rng(7)
    for scale in (1.0, 1e12, 1e-200):
        c = rng.normal(size=(6, 4)) * scale

        def f(x, c=c):
            a, b = x[::2], x[1::2]
            return np.sum(c[:, 0] * a**3 + c[:, 1] * (a - b) ** 2 + c[:, 2] * a * b + c[:, 3])
        chain = chain_of(f, [-2] * 12, [2] * 12)
        x = rng.uniform(-2, 2, 12)
        chain.incumbent.offer(x[:, None])
        upper = chain.components._at(chain.incumbent.x, chain.incumbent.upper, chain.grid)
        of_variable = {int(v): int(chain.components.of_bag[number]) for kind in chain.grid.kinds
                       for variables, number in zip(kind.variables.T, kind.bags, strict=True) for v in variables}
        total = 0
        for k in range(6):
            a, b = Fraction(x[2 * k]), Fraction(x[2 * k + 1])
            d = [Fraction(v) for v in c[k]]
            exact = d[0] * a**3 + d[1] * (a - b) ** 2 + d[2] * a * b + d[3] * 1
            found = Fraction(upper[of_variable[2 * k]])
            total += exact
            others = sum(abs(Fraction(v)) for v in c[:, 3])  # a constant may stand in another component
            assert exact - others <= found <= exact + others + Fraction(1e-12) * 100 * Fraction(scale)
        assert sum(Fraction(v) for v in upper) >= total


@pytest.mark.parametrize("pairs", (2, 10, 200))
def test_pairs_and_all_their_minimisers(pairs):
    r = infimum.minimize(lambda x: np.sum(camel(x[::2], x[1::2])), [(-3, 3)] * 2 * pairs, max_boxes=400_000)
    assert r.verdict.name == "PROVED" and r.lower <= -1.0316284534898774 * pairs <= r.upper + 1e-9 * pairs
    rng = np.random.default_rng(pairs)
    for _ in range(8):
        signs = np.repeat(rng.choice([-1, 1], pairs), 2)
        assert signs * np.tile([0.08984201368301331, -0.7126564032704135], pairs) in r.regions
    assert r.regions.count == (2**pairs if pairs == 2 else 4**pairs), "few are listed, many are a product"


@pytest.mark.parametrize("xtol", (None, 1e-4))
def test_boxes_of_a_chain_hold_cells_of_every_bag(xtol):
    """x[1] is ±x[0], and so on: of 8 combinations of signs two are left; minimisers at the ends of slices stay."""
    r = infimum.minimize(lambda x: np.sum((x[1:] - x[:-1]) ** 2) + np.sum((x**2 - 1) ** 2), [(-2, 2)] * 3, xtol=xtol)
    assert r.verdict.name == "PROVED" and np.ones(3) in r.regions and -np.ones(3) in r.regions
    assert np.array([1.0, -1.0, 1.0]) not in r.regions and len(r.boxes) == 2
    if xtol is not None:
        assert max((hi - lo).max() for lo, hi in r.regions) <= xtol


def test_triples_with_kinks_flat_parts_and_constants():
    def f(x):
        a, b, c = x[::3], x[1::3], x[2::3]
        return np.sum(np.abs(a * b) + np.maximum(np.abs(b - c) - 0.5, 0) + np.floor(c**2) - 1.5 + np.abs(a) * 0.25 - 0.5)
    r = infimum.minimize(f, [(-2, 2)] * 12, max_boxes=400_000)
    assert r.lower <= -8 <= r.upper + 1e-12
    for b in (-0.4, 0.0, 0.9):
        assert np.tile([0.0, b, b * 0.99], 4) in r.regions


def test_a_component_that_is_nowhere_defined():
    chain = chain_of(lambda x: camel(x[0], x[1]) + np.sqrt(-1 - (x[2] * x[3]) ** 2), [-2] * 4, [2] * 4)
    for _ in chain.steps():
        pass
    assert chain.empty


def test_one_component_and_single_variables_are_left_to_others():
    assert chain_of(lambda x: np.sin(x[0] * x[1] * x[2]) + x[0], [-2] * 3, [2] * 3) is None
    assert chain_of(lambda x: np.sum(x**4 - x), [-2] * 4, [2] * 4) is None
