"""Sets of sums of squares whose linear parameters are eliminated: no point is lost, judged in Arb, and narrow sets are found."""

import numpy as np
from flint import arb
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import infimum
from infimum.bounds.least_squares.variable_projection import VariableProjection
from infimum.evaluation.evaluator import Evaluator
from infimum.sets import covering as covers
from infimum.sets.set_run import run
from infimum.sets.sublevel_search import Accuracy, SublevelSearch
from infimum.trace.trace import trace
from tests.engine.region_tests.projections import BITS, Fits, candidates, draw
from tests.expr.separable_models import random_model
from tests.oracle.arb_values import precision, value

T = np.arange(1, 13) / 4
STEPS = 6


def eliminated(tests: covers.CoveringTests) -> bool:
    return any(isinstance(part, VariableProjection) for part in tests.others)


def points_with_values(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, rng: np.random.Generator) -> list:
    """Points within the bounds, linear fits among them, and upper ends of f there."""
    fits, found = Fits(evaluator), []
    with precision(BITS):
        points = [q for p in draw(rng, lo, hi, 12) for q, _ in candidates(fits, p, lo, hi)]
    for point in points:
        exact = value(evaluator.f, point, BITS)
        if isinstance(exact, arb) and float(exact.upper()) < np.inf:
            found.append((point, np.nextafter(float(exact.upper()), np.inf)))
    return sorted(found, key=lambda pair: pair[1])


def lost(covered: tuple[np.ndarray, np.ndarray], points: list) -> list:
    """The points that are in no box."""
    lo, hi = covered
    return [p for p in points if not ((lo <= p[:, None]) & (p[:, None] <= hi)).all(axis=0).any()]


@settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])  # a smaller seed is no simpler
@given(st.integers(0, 2**32 - 1))
def test_no_point_of_a_set_is_lost(seed):
    """The threshold is f at one of the points: those on the edge of the set and inside stay in every step, whatever is cut."""
    rng = np.random.default_rng(seed)
    f, n = random_model(rng)
    evaluator = Evaluator(trace(f, n, ()), n)
    if evaluator.facts.separable is None:
        return
    lo, hi = np.full(n, -2.0), np.full(n, 2.0)
    for i in {i for product in evaluator.facts.separable.products for i in product}:
        lo[i], hi[i] = -(10.0 ** rng.integers(0, 4)), 10.0 ** rng.integers(0, 4)
    found = points_with_values(evaluator, lo, hi, rng)
    for k in {0, len(found) // 2} & set(range(len(found))):
        threshold = float(found[k][1])
        inside = [p for p, upper in found if upper <= threshold]
        tests, held = covers.CoveringTests(evaluator, lo, hi), covers.CoveringTests(evaluator, lo, hi, int(rng.integers(n)))
        assert eliminated(tests) or evaluator.facts.separable.many_nonlinear
        held.cutting, held.others = tests.cutting, [part for part in held.others if isinstance(part, VariableProjection)]
        for asked in (tests, held):  # with a variable held, this part still speaks of values alone
            covering = covers.Covering.of_box(evaluator, threshold, lo, hi)
            for _ in range(STEPS):
                covering.cut(np.flatnonzero(covering.can_be_cut)[:64], asked)
                assert not lost((covering.lo, covering.hi), inside), (seed, threshold)
    if found:
        search = SublevelSearch(evaluator, (lo, hi), (threshold, threshold), np.stack(inside, axis=1), Accuracy(None, 1.2))
        run(search, max_boxes=3000)
        parts = [(c.lo[:, None], c.hi[:, None]) for c in search.components] or [(search.covering.lo, search.covering.hi)]
        assert not lost(tuple(np.concatenate(pair, axis=1) for pair in zip(*parts, strict=True)), inside), (seed, threshold)


def decays(x):
    return x[0] * np.exp(-x[1] * T) + x[2] * np.exp(-x[3] * T)


def test_a_set_that_is_narrow_in_wide_bounds():
    """Two exponentials through their own values: all parameters with a sum below 1e-18, amplitudes within a thousand."""
    true, least = np.array([2.0, 0.5, -1.0, 1.5]), 1e-18
    data = decays(true)
    evaluator = infimum.compile(lambda x: np.sum(((decays(x) - data) * 1e9) ** 2), 4)  # in units of that
    lo, hi = np.array([(-1e3, 1e3), (0.01, 10.0)] * 2).T
    search = SublevelSearch(evaluator, (lo, hi), (least * 1e18,) * 2, true[:, None], Accuracy(ratio=None), ordered=((1, 3),))
    assert eliminated(search.tests) and run(search, max_boxes=100_000) is None
    c, = search.components
    for i in range(4):
        low, high = c.inner(i)
        assert c.lo[i] <= low < true[i] < high <= c.hi[i] and c.hi[i] - c.lo[i] <= min(1e-6, 1.01 * (high - low))
