"""The kernel of second derivatives along directions, against Arb and against the Hessian."""

import numpy as np
import pytest
from flint import arb

from infimum.evaluation.compile import compile
from tests.kernel.test_hessian import FUNCTIONS
from tests.oracle.arb_series import along
from tests.oracle.arb_values import precision
from tests.oracle.check import position
from tests.oracle.walk import UNDECIDED, UNDEFINED


def second_along(f, point, direction):
    """The second derivative along the direction as a ball; None where it cannot be told."""
    jet = along(f, point, direction, 200, 0.5)
    return None if jet is UNDECIDED or jet is UNDEFINED or jet.kinked or jet.s.prec < 3 else jet.s[2] * 2


@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_along_directions_against_arb(name):
    """Directions are dyadic, so that sums of two of them are doubles: 4 d·H·e is the difference along d + e and d - e."""
    f, n = FUNCTIONS[name]
    compiled, rng = compile(f, n), np.random.default_rng(n)
    directions = rng.integers(-8, 9, (n, n)) / 8.0
    centre, radius = rng.uniform(0.4, 1.6, (n, 4)), np.array([0.0, 1e-9, 1e-3, 0.1])
    lo, hi = centre - radius, centre + radius
    value, low, high = compiled.curvature(lo, hi, directions)
    pairs = [(i, i) for i in range(n)] + [(i, (i + 1) % n) for i in range(n)]
    told = 0
    for k in np.flatnonzero(value.smooth):
        point = np.minimum(np.maximum(rng.uniform(lo[:, k], hi[:, k]), lo[:, k]), hi[:, k])
        for i, j in pairs[:8]:
            plus, minus = (second_along(compiled.f, point, directions[i] + s * directions[j]) for s in (1, -1))
            if plus is None or (minus is None and i != j):
                continue
            with precision(200):
                entry = plus / 4 if i == j else (plus - minus) / 4
            assert position(entry, low[i, j, k], high[i, j, k]) >= 0 and isinstance(entry, arb)
            told += 1
    assert told > 4 or name == "guarded"


def test_unit_directions_give_the_hessian():
    f, n = FUNCTIONS["decay"]
    compiled, lo = compile(f, n), np.random.default_rng(0).uniform(0.3, 1.0, (n, 5))
    value, low, high = compiled.curvature(lo, lo + 0.05, np.eye(n))
    h = compiled.hessian(lo, lo + 0.05)
    assert value.smooth.all() and ((low <= h.hi) & (h.lo <= high)).all(), "two enclosures of the same numbers meet"
    assert np.array_equal(low, low.swapaxes(0, 1))


def test_valleys_are_seen_to_be_convex_further_out():
    """Along Rosenbrock's valley, (1, 2) at its minimiser, the second derivative is 2, the small difference of large numbers."""
    compiled = compile(lambda x: 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2, 2)
    directions = np.array([[1.0, 2.0], [0.0, 1.0]])
    value, low, high = compiled.curvature([[0.9995], [0.9995]], [[1.0005], [1.0005]], directions)
    h = compiled.hessian([0.9995, 0.9995], [1.0005, 1.0005])
    from_entries = directions[0] @ (h.hi - h.lo) @ directions[0]
    assert value.smooth.all() and low[0, 0, 0] > 0 and high[0, 0, 0] - low[0, 0, 0] < from_entries / 2
