"""Problems in which one variable is all there is to minimise: they are solved without it, and the results have it."""

from fractions import Fraction

import numpy as np
import pytest

import infimum

INF = np.inf
PROVED, INFEASIBLE, STOPPED = infimum.Verdict.PROVED, infimum.Verdict.INFEASIBLE, infimum.Verdict.STOPPED


def bowl(x):
    return (x[1] - 1) ** 2 + x[2] ** 2 + x[1] * x[2]  # -1/3 at (4/3, -2/3)


def last(x):
    return x[0]


_U = np.linspace(0.5, 3, 200001)
ON_CURVE = ((_U - 1) ** 2 + 1 / _U**2 + 1).min()  # the bowl where x[1] * x[2] == 1


@pytest.mark.parametrize(("bounds", "constraints", "least"), [
    ((-INF, INF), lambda x: x[0] == bowl(x), -1 / 3),
    ((-1e8, 1e8), lambda x: x[0] == bowl(x), -1 / 3),
    ((-1e8, 1e8), lambda x: x[0] >= bowl(x), -1 / 3),
    ((-INF, INF), lambda x: [bowl(x) - x[0] == 0, x[1] + x[2] >= 1], -0.25),
    ((0, 1e8), lambda x: x[0] == bowl(x), 0.0),          # a bound that the definition does not imply
    ((0, 1e8), lambda x: x[0] >= bowl(x), 0.0),
    ((-INF, INF), lambda x: [x[0] == bowl(x), x[1] * x[2] == 1], ON_CURVE),
])
def test_minimised_variables(bounds, constraints, least):
    r = infimum.minimize(last, [bounds, (-3, 3), (-3, 3)], constraints=constraints)
    assert r.verdict is PROVED and r.lower <= least + 1e-9 and least <= r.upper + 1e-9 and r.upper - r.lower < 1e-5
    assert r.x.shape == (3,) and abs(r.x[0] - r.upper) < 1e-6 and abs(r.x[0] - max(bowl(r.x), bounds[0])) < 1e-6
    lo, hi = r.feasible if isinstance(r.feasible, tuple) else (r.feasible,) * 2
    assert (lo <= r.x).all() and (r.x <= hi).all() and lo[0] >= bounds[0] and hi[0] <= bounds[1]
    assert len(r.constraints) == np.size(constraints(r.x))
    assert any((a <= r.x).all() and (r.x <= b).all() for a, b in r.boxes)
    assert (r.regions.lo[:, 0] <= r.regions.hi[:, 0]).all()


def test_maximised_variable():
    r = infimum.maximize(last, [(-1e8, 1e8), (-3, 3), (-3, 3)], constraints=lambda x: 2 * x[0] + bowl(x) == 3)
    assert r.verdict is PROVED and r.lower <= 5 / 3 <= r.upper and abs(r.x[0] - 5 / 3) < 1e-6


def test_what_has_no_feasible_point():
    r = infimum.minimize(last, [(50, 1e8), (-3, 3), (-3, 3)], constraints=lambda x: x[0] == bowl(x))
    assert r.verdict is INFEASIBLE and r.x is None
    r = infimum.minimize(last, [(-INF, INF), (-3, 3), (-3, 3)], constraints=lambda x: [x[0] == bowl(x), x[1] >= 4])
    assert r.verdict is INFEASIBLE


def test_independent_variables():
    """The regions of a sum of functions of one variable each are a product, in which the variable is one interval."""
    r = infimum.minimize(lambda x: x[12], [(-3, 4)] * 12 + [(-INF, INF)],
                         constraints=lambda x: x[12] == np.sum((x[:12] ** 2 - 1) ** 2))
    assert r.verdict is PROVED and 0 <= r.upper < 1e-6 and np.allclose(np.abs(r.x[:12]), 1, atol=1e-3)
    assert r.x in r.regions and (r.regions.unions is None or len(r.regions.unions) == 13)


def test_points_to_start_from_and_narrow_regions():
    r = infimum.minimize(last, [(-INF, INF), (-3, 3), (-3, 3)], constraints=lambda x: x[0] == bowl(x), x0=[0.0, 1.0, 1.0],
                         xtol=1e-3)
    assert r.verdict is PROVED and r.regions.width <= 1e-3
    r = infimum.minimize(last, [(-INF, INF), (-3, 3), (-3, 3)], constraints=lambda x: x[0] == bowl(x), x0=[0.0, 1.0, 1.0])
    assert r.verdict is PROVED and r.lower <= -1 / 3 <= r.upper


def test_checkpoints(tmp_path):
    def waves(x):
        return np.sin(5 * x[1]) * np.cos(4 * x[2]) + x[1] * x[2] / 9

    asked = [(-1e8, 1e8), (-3, 3), (-3, 3)], [lambda x: x[0] == waves(x), lambda x: x[1] ** 2 + x[2] ** 2 <= 5]
    whole = infimum.minimize(last, asked[0], constraints=asked[1])
    path = str(tmp_path / "run")
    part = infimum.minimize(last, asked[0], constraints=asked[1], checkpoint=path, max_boxes=whole.nfev // 8)
    seen = []
    r = infimum.resume(path, last, constraints=asked[1], callback=lambda s: seen.append(s.x))
    assert part.verdict in (PROVED, STOPPED) and r.verdict is PROVED
    assert (r.lower, r.upper) == (whole.lower, whole.upper) and np.array_equal(r.x, whole.x)
    assert all(x.shape == (3,) and abs(x[0] - waves(x)) < 1e-9 for x in seen)


@pytest.mark.parametrize("width", [1e-300, 1e-20])
def test_a_range_narrower_than_rounding_leaves_the_variable_no_room(width):
    """A variable that is a little worse than its value may be beyond the other end."""
    r = infimum.minimize(lambda x: x[1], [(0.1, 1), (-9, 9)],
                         constraints=infimum.Constraint(lambda x: x[1] - x[0] ** 3 / 3, 0.0, width))
    assert r.verdict is PROVED and isinstance(r.feasible, tuple)
    lo, hi = r.feasible
    exact = Fraction(float(lo[0])) ** 3 / 3
    assert lo[0] == hi[0] and Fraction(float(lo[1])) <= exact + Fraction(width) and exact <= Fraction(float(hi[1]))
