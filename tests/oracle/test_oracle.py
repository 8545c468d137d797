"""Random expressions over all operations on random and adversarial boxes: every claim held against Arb."""

import zlib

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.evaluation.compile import compile
from infimum.ops.vocabulary import OPS
from infimum.trace.trace import trace
from tests.expr.user_functions import USER_FUNCTIONS
from tests.oracle.arb_values import precision, settled_value, value
from tests.oracle.boxes import points_of, random_boxes
from tests.oracle.campaign import one_round
from tests.oracle.check import check, position
from tests.oracle.tally import Tally
from tests.oracle.walk import Special

_OCCURRENCES, _VALUES = 3, 400


@pytest.mark.parametrize("op", OPS)
def test_expressions_with_each_operation(op):
    """Rounds until the operation occurred often enough in what the library compiled, and enough values were compared."""
    total, seed = Tally(), zlib.crc32(op.encode()) % 10**6
    while total.operations[op] < _OCCURRENCES or total.values < _VALUES:
        total.add(one_round(seed, boxes=50, per_box=4, share=0.08, must=op))
        seed += 1
        assert total.expressions < 40, f"{op} hardly occurs or is hardly defined:\n{total.table()}"


@pytest.mark.parametrize("seed", range(60))
def test_expressions_without_a_plan(seed):
    assert one_round(seed, boxes=60, per_box=4, share=0.08).boxes >= 7


def _by_numpy(function, point):
    """The function itself, run by NumPy on Arb balls: not even the tracer is shared. None where NumPy cannot."""
    try:
        found = function(np.array([arb(float(v)) for v in point], dtype=object))
    except (TypeError, AttributeError):
        return None
    return arb(1) * np.asarray(found, dtype=object).reshape(-1)[0]


def _everyday_boxes(name: str) -> tuple[np.ndarray, np.ndarray, np.random.Generator]:
    """Boxes where the function is at home, and a few of the hard ones."""
    _, n, low, high = USER_FUNCTIONS[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    lo, hi = random_boxes(rng, n, 16)
    lo[:, :12] = rng.uniform(low, high, size=(n, 12))
    hi[:, :12] = np.minimum(lo[:, :12] + rng.choice((0.0, 1e-12, 1e-3, 0.5), size=(n, 12)), high)
    return lo, hi, rng


@pytest.mark.parametrize("name", USER_FUNCTIONS)
def test_functions_as_users_write_them(name):
    function, n, _, _ = USER_FUNCTIONS[name]
    lo, hi, rng = _everyday_boxes(name)
    points = [points_of(rng, lo[:, k], hi[:, k], 3) for k in range(lo.shape[1])]
    assert check(trace(function, n), n, (lo, hi), points, share=0.1).values > 20


def test_functions_run_by_numpy_itself_on_balls():
    """From the user's source to the enclosure with nothing in between that the oracle shares."""
    run, compared = 0, 0
    for name, (function, n, _, _) in USER_FUNCTIONS.items():
        lo, hi, rng = _everyday_boxes(name)
        enclosure = compile(function, n).value(lo, hi)
        ran = False
        for k in range(12):
            for point in points_of(rng, lo[:, k], hi[:, k], 2):
                with precision(300):
                    v = _by_numpy(function, point)
                    if v is None or not v.is_finite():
                        continue
                    assert position(v, enclosure.lo[k], enclosure.hi[k]) >= 0, (name, point, v, enclosure.lo[k], enclosure.hi[k])
                ran, compared = True, compared + 1
        run += ran
    assert run >= 50 and compared >= 1000, (run, compared)


@pytest.mark.parametrize("f", (
    lambda x, pi, e: np.sin(pi * x[0]) + x[1] / e, lambda x, pi, e: np.exp(x[0] * e - pi) * (2 * pi - x[1]) / 3,
    lambda x, pi, e: np.cos(2 * pi * x[0]) + (e - 1) ** 2 * x[1] - pi**2))
def test_true_constants(f):
    """infimum.pi and infimum.e mean the numbers themselves, here Arb's; at whole points nothing else is wide."""
    rng = np.random.default_rng(6)
    lo = np.concatenate([rng.integers(-3, 4, size=(2, 20)).astype(float), rng.normal(size=(2, 20))], axis=1)
    hi = lo + rng.choice((0.0, 1e-15, 0.5), size=lo.shape)
    enclosure = compile(lambda x: f(x, infimum.pi, infimum.e), 2).mean_value(lo, hi).best
    with precision(200):
        for k in range(lo.shape[1]):
            for point in points_of(rng, lo[:, k], hi[:, k], 4):
                v = _by_numpy(lambda x: f(x, arb.pi(), arb.const_e()), point)
                assert position(v, enclosure.lo[k], enclosure.hi[k]) >= 0, (point, v, enclosure.lo[k], enclosure.hi[k])


def test_sums_of_constants_inside_numpy_functions_are_not_rounded():
    """NumPy would round the sum of the weights and the steps of the grid; the function that was written has the true ones."""
    weights, grid = [0.1, 0.1, 0.1, 0.7], [0.1, 0.3, 1e16, 2e16]
    x = np.array([1.0, 0.0, 0.0, 3.0])
    mean = compile(lambda x: np.average(x, weights=weights), 4).value(x, x)
    area = compile(lambda x: np.trapezoid(x, grid), 4).value(x, x)
    with precision(200):
        balls, w, t = ([arb(float(v)) for v in values] for values in (x, weights, grid))
        exact_mean = sum(a * b for a, b in zip(balls, w, strict=True)) / sum(w)
        exact_area = sum((t[i + 1] - t[i]) * (balls[i] + balls[i + 1]) / 2 for i in range(3))
        assert position(exact_mean, mean.lo, mean.hi) == 1 and position(exact_area, area.lo, area.hi) == 1


def test_the_oracle_agrees_with_numpy_at_plain_points():
    """The oracle itself: near what NumPy computes, for every function as users write them."""
    for name, (function, n, low, high) in USER_FUNCTIONS.items():
        rng = np.random.default_rng(5)
        expression = trace(function, n)
        for point in rng.uniform(low, high, size=(3, n)):
            v = settled_value(expression, point)
            assert not isinstance(v, Special), (name, v)
            plain = float(np.asarray(function(point), dtype=float).reshape(-1)[0])
            assert abs(float(v.mid()) - plain) <= 1e-9 * (1 + abs(plain)), (name, point, v, plain)


def test_more_bits_only_narrow_the_ball():
    expression = trace(lambda x: np.exp(np.sin(x[0]) * 40) / (1 + x[1] ** 2), 2)
    coarse, fine = (value(expression, [0.7, 1e5], bits) for bits in (60, 600))
    assert fine.rad() < coarse.rad() and coarse.overlaps(fine)
