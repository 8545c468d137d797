"""Lower bounds by tangents: how good they are, and what stops them."""

import numpy as np
import pytest

import infimum
from infimum.backend.python import PythonBackend
from infimum.bounds.function_bounds.tangent_bound import TangentBound
from infimum.bounds.interface import Outcome, StepContext
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.search.region_pool import Regions
from tests.random_kernels import same_bits

INF = np.inf
T = np.linspace(0, 1, 12)


def asked(f, user: list, boxes: list, upper: float = INF, backend=None) -> Outcome:
    """What the part says of these boxes."""
    n = len(user)
    evaluator = infimum.compile(f, n, backend=backend)
    low, high = np.array(user, dtype=float).T
    lo, hi = (np.ascontiguousarray(np.array([[side[k] for side in box] for box in boxes], dtype=float).T) for k in (0, 1))
    count = len(boxes)
    regions = Regions(lo, hi, np.full(count, -INF), np.zeros(count, np.int32), evaluator.value(lo, hi).level.astype(np.int8))
    assert TangentBound.applies(evaluator) and evaluator.facts.tangents is not None
    return TangentBound(evaluator, low, high).test(regions.columns(), StepContext(upper))


def lower(outcome: Outcome) -> np.ndarray:
    n = (len(outcome.regions) - 3) // 2
    return outcome.regions[rows(n)[0]]


def line(x):
    """Squares of residuals that are linear: the tangents at the lowest point have no slope there."""
    return np.sum((x[0] + x[1] * (T - 0.5) - 3 * T + np.where(T > 0.5, 0.25, -0.25)) ** 2)


def test_of_linear_residuals_the_bound_is_the_minimum():
    outcome = asked(line, [(-9, 9)] * 2, [[(-4, 4), (-6, 7)]], 1.0)
    a = np.stack([np.ones_like(T), T - 0.5], axis=1)
    least = np.linalg.lstsq(a, 3 * T - np.where(T > 0.5, 0.25, -0.25), rcond=None)[1][0]
    assert least - 1e-12 < lower(outcome)[0] <= least + 1e-12
    assert outcome.upper[0, 0] < least + 1e-12 and outcome.paid[0, 0] == 1


def test_beside_the_minimiser_too():
    """The lowest point lies on the edge of the region; the plain enclosure is far below."""
    outcome = asked(line, [(-9, 9)] * 2, [[(2, 3), (1, 4)]])
    x = np.linspace(1, 4, 400)
    least = min(line(np.array([2.0, s])) for s in x)
    assert 0.99 * least < lower(outcome)[0] <= least


def test_a_valley_that_bends():
    """Watson's equation: f = sum(e**2) with e linear but for a small square. One box of a tenth of the bounds is enough."""
    def f(x):
        return np.sum((x[1] + 2 * x[2] * T - (x[0] + x[1] * T + x[2] * T**2) ** 2 - 1) ** 2) + x[0] ** 2
    c = np.array([0.4, 0.5, 0.9])
    box = [[(v - 0.05, v + 0.05) for v in c]]
    natural = infimum.compile(f, 3).mean_value(c - 0.05, c + 0.05).best.lo
    points = c[:, None] + np.random.default_rng(0).uniform(-0.05, 0.05, (3, 2000))
    least = min(f(p) for p in points.T)
    assert natural < 0.7 * least < 0.9 * least < lower(asked(f, [(-5, 5)] * 3, box))[0] <= least


def energy(x):
    r2 = x[0] ** 2 + x[1] ** 2
    return 4 * (r2**-6 - r2**-3) + (x[0] - x[1]) ** 2


def test_a_pair_potential():
    """Convex at contact, which its natural second derivative does not show on a wide box."""
    c = np.full(2, 2.0 ** (1 / 6) / np.sqrt(2))
    boxes = [[(v - w, v + w) for v in c] for w in (0.01, 0.03)]
    found = lower(asked(energy, [(0, 3)] * 2, boxes))
    assert (found <= -1).all() and found[0] > -1.0003 and found[1] > -1.01


def test_what_is_above_the_best_point_goes():
    outcome = asked(line, [(-9, 9)] * 2, [[(-4, 4), (-6, 7)], [(3, 4), (5, 6)]], 1.0)
    lo, hi = outcome.regions[:2, 0], outcome.regions[2:4, 0]
    assert outcome.regions[rows(2)[1], 1] == DISCARDED_AXIS and outcome.regions[rows(2)[1], 0] != DISCARDED_AXIS
    rng = np.random.default_rng(0)
    kept = [p for p in rng.uniform((-4, -6), (4, 7), (5000, 2)) if line(p) <= 1.0]
    assert len(kept) > 10 and all((lo <= p).all() and (p <= hi).all() for p in kept)


@pytest.mark.parametrize(("f", "user", "boxes"), [
    (line, [(-INF, INF)] * 2, [[(0, INF), (0, 1)], [(-INF, INF), (-INF, INF)]]),             # unbounded
    (lambda x: (np.sqrt(x[0]) - x[1]) ** 2, [(-1, 1)] * 2, [[(-1, 1), (0, 1)]]),               # undefined in a part
    (lambda x: (np.sqrt(np.abs(x[0])) - x[1]) ** 2, [(-1, 1)] * 2, [[(-1, 1), (0, 1)]]),       # an infinite slope
    (lambda x: (np.floor(x[0]) - x[1]) ** 2, [(-1, 1)] * 2, [[(-1, 1), (0, 1)]]),              # a jump
    (lambda x: (x[0] / x[1] - 1) ** 2, [(-1, 1)] * 2, [[(-1, 1), (-1, 1)]]),                   # a pole
    (lambda x: (x[0] - x[1]) ** 2 * np.sqrt(-1 - (x[0] - x[1]) ** 2), [(-1, 1)] * 2, [[(-1, 1), (-1, 1)]]),  # nowhere defined
])
def test_what_it_needs(f, user, boxes):
    outcome = asked(f, user, boxes, 1.0)
    assert (lower(outcome) == -INF).all() and (outcome.regions[rows(2)[1]] != DISCARDED_AXIS).all()
    assert (outcome.regions[:4].T == [[*lo, *hi] for lo, hi in (zip(*box, strict=True) for box in boxes)]).all()


def test_a_kink_in_the_residuals_is_no_harm():
    def f(x):
        return (np.abs(x[0]) + x[1] - 1) ** 2 + (x[0] + x[1]) ** 2
    outcome = asked(f, [(-3, 3)] * 2, [[(-0.5, 0.25), (-0.25, 0.25)]])
    points = np.random.default_rng(0).uniform((-0.5, -0.25), (0.25, 0.25), (2000, 2))
    assert -0.2 < lower(outcome)[0] <= min(f(p) for p in points)


def test_concave_terms_count_in_full():
    """-(e**2) lies below its tangent: that is not left out."""
    def f(x):
        return (x[0] + x[1]) ** 2 - 3 * (x[0] - x[1]) ** 2
    outcome = asked(f, [(-3, 3)] * 2, [[(-1, 1), (-1, 1)], [(0, 0.5), (0.25, 1)]])
    assert lower(outcome)[0] <= -12 and lower(outcome)[1] <= f(np.array([0.0, 1.0])) == -2
    assert lower(outcome)[1] > -7


def test_minimisers_on_faces_stay():
    outcome = asked(lambda x: (x[0] + x[1] + 1) ** 2 + x[0], [(0, 1)] * 2, [[(0, 1), (0, 1)], [(0, 0), (0, 0)]], 1.0)
    assert (outcome.regions[rows(2)[1]] != DISCARDED_AXIS).all() and (outcome.regions[:2]
                                                                      == 0).all() and (lower(outcome) <= 1).all()


def test_functions_without_tangents_are_not_asked():
    for f, is_asked in ((line, True), (lambda x: np.sin(x[0] * x[1]) * x[0], False)):
        part = TangentBound(infimum.compile(f, 2), np.zeros(2), np.ones(2))
        assert [part.is_tried(step) for step in (0, 1000)] == [False, is_asked] and not part.is_used(0)


def test_the_bits_of_the_definition():
    def f(x):
        return np.sum((x[0] * np.exp(x[1] * T) - T) ** 2) + energy(x[:2]) + np.exp(x[2] * x[1])
    rng = np.random.default_rng(0)
    lows, sizes = rng.uniform(-2, 1, (16, 3)), rng.choice([1e-6, 0.01, 0.3, 1.0], (16, 3))
    boxes = [list(zip(low, low + size, strict=True)) for low, size in zip(lows, sizes, strict=True)]
    one, two = (asked(f, [(-2, 2)] * 3, boxes, 3.0, backend) for backend in (None, PythonBackend()))
    for mine, definition in zip((one.regions, one.paid, one.upper, one.point), (two.regions, two.paid, two.upper, two.point),
                                strict=True):
        assert same_bits(np.asarray(mine), np.asarray(definition)).all()
    assert (one.regions[rows(3)[1]] == DISCARDED_AXIS).any() and (lower(one) > -INF).any()


def test_a_flat_fit_is_proved():
    """Watson's function with five variables: it took 160 million boxes without tangents, and takes a few hundred thousand."""
    t, j = (np.arange(1, 30) / 29)[:, None], np.arange(5)

    def f(x):
        slope = np.sum(j[1:] * x[1:] * t ** (j[1:] - 1), axis=1)
        return np.sum((slope - np.sum(x * t**j, axis=1) ** 2 - 1) ** 2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2
    r = infimum.minimize(f, [(-5, 5)] * 5, atol=1e-5, rtol=0.0, max_boxes=5_000_000)
    assert r.verdict.name == "PROVED"
