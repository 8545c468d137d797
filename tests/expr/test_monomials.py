"""Products of powers as exponentials: the same function, and only where all factors are certainly positive."""

import numpy as np
import pytest

import infimum
from infimum.expr.node import topological
from infimum.expr.point_value import enclose_at_point
from infimum.problem.system import System
from infimum.structure.monomials import with_monomials
from infimum.trace.trace import trace

WRITTEN = {
    "quotients": lambda x: x[2] / x[0] / x[1] ** 1.5 / x[3] - 5 * x[2] * x[3] ** 1.2 / (x[0] * x[1]),
    "roots": lambda x: np.sqrt(x[0]) * x[1] * x[2] + x[0] * np.sqrt(x[1] * x[2]),
    "constants": lambda x: (-0.3 * x[0]) ** 3 * x[1] / (7 * x[2]) + 2 / (x[0] * x[1] * x[2]),
    "squares of quotients": lambda x: (3 * x[0] * x[1] / x[2]) ** 2 - (x[0] / (2 * x[1] * x[3])) ** -3,
    "exponentials of logarithms": lambda x: np.exp(0.67 * np.log(x[0]) - 2 * np.log(x[1])) * x[2] / np.exp(-np.log(x[3]) * 1.3),
    "exponents that are no doubles": lambda x: x[0] ** 0.1 * x[0] ** 0.2 * x[1] ** 0.7 * x[1] ** -0.1,
    "what cancels": lambda x: x[0] * x[1] * x[2] / (x[0] * x[1] * x[2]) + x[0] * x[1] ** 0.5 / x[1] ** 0.5,
    "arrays": lambda x: np.sum(x[:2] * x[2:] * x[0] / x[1] ** 0.3),
    "inside sums": lambda x: np.log(1 + x[0] * x[1] * x[2]) * (x[0] * x[1] / x[3] - x[2]) ** 2,
}


def rewritten(f, lo):
    system = System(f, (), np.zeros(0), np.zeros(0))
    return with_monomials(system, lo)


@pytest.mark.parametrize("f", WRITTEN.values(), ids=WRITTEN)
def test_it_is_the_same_function(f):
    f, rng = trace(f, 4), np.random.default_rng(0)
    new = rewritten(f, np.full(4, 2.0**-20)).f
    assert new is not f
    for x in 2.0 ** rng.uniform(-6, 6, (50, 4)):
        (lo, hi), (low, high) = enclose_at_point(f, x), enclose_at_point(new, x)
        assert low <= hi
        assert lo <= high
        assert high - low <= 1e-13 * (1 + abs(lo))


def test_variables_that_may_be_0_stay_as_they_are():
    f = trace(lambda x: x[0] * x[1] * x[2] + x[1] * x[2] * x[3], 4)
    for lo in (np.zeros(4), np.array([1.0, 0.0, 1.0, 1.0]), -np.ones(4)):
        assert rewritten(f, lo).f is f
    one_of_two = rewritten(f, np.array([0.0, 1.0, 1.0, 1.0])).f
    assert [node.op for node in topological([one_of_two])].count("exp") == 1


def test_short_products_stay_as_they_are():
    f = trace(lambda x: x[0] * x[1] + x[0] / x[1] + x[2] ** 1.5 + x[0] ** 2 * x[1], 3)
    assert rewritten(f, np.ones(3)).f is f


def test_a_signomial_program_needs_few_boxes():
    """Floudas et al. 1999, 7.2.7."""
    def rows(x):
        return [0.05882 * x[2] * x[3] + 0.1 * x[0] <= 1,
                4 * x[1] / x[3] + 2 / (x[1] ** 0.71 * x[3]) + 0.05882 * x[2] / x[1] ** 1.3 <= 1]
    r = infimum.minimize(lambda x: 0.4 * (x[0] / x[2]) ** 0.67 - x[0], [(0.1, 10)] * 4, constraints=rows, rtol=1e-3, seed=0,
                         progress=False, max_boxes=10_000)
    assert r.verdict is infimum.Verdict.PROVED
    assert r.lower <= -5.7398749 <= r.upper + 1e-3


def test_points_are_proved_by_what_was_written():
    """At (1, 2, 4) the product is 8 exactly, and no logarithm tells."""
    r = infimum.minimize(lambda x: -x[0] - x[1] - x[2], [(1, 1), (2, 2), (4, 5)], seed=0, progress=False,
                         constraints=lambda x: x[0] * x[1] * x[2] <= 8)
    assert r.verdict is infimum.Verdict.PROVED
    assert r.upper == -7
    assert -7 - 1e-12 <= r.lower <= -7
