"""The lowest point of a convex box, also where derivatives vanish at bounds: against exact arithmetic, and what must not be
called so."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import infimum
from infimum.certify.isolation import IsolatedMinimiser, IsolationFailure, isolate


def isolated(f, sides, x, reach=0.1):
    lo, hi = np.array(sides, dtype=float).T
    x = np.array(x, dtype=float)
    with np.errstate(all="ignore"):  # as everywhere behind `minimize`
        return isolate(infimum.compile(f, len(lo)), lo, hi, x, (np.maximum(x - reach, lo), np.minimum(x + reach, hi)))


def asked(f, sides, **options):
    return infimum.minimize(f, sides, **{"xtol": 1e-3, **options}).minimisers


def holds(lo, hi, x):
    """With exact numbers."""
    return all(Fraction(float(a)) <= Fraction(v) <= Fraction(float(b)) for a, v, b in zip(lo, x, hi, strict=True))


VANISHING = {  # function, bounds, the minimiser, at bounds where the derivative vanishes too
    "in a corner": (lambda x: x[0] ** 2 + x[1] ** 2, [(0, 1)] * 2, [0, 0]),
    "in an upper corner": (lambda x: (x[0] - 1) ** 2 + (x[1] - 1) ** 2 + (x[0] - 1) * (x[1] - 1), [(0, 1)] * 2, [1, 1]),
    "on a face": (lambda x: (x[0] - 0.25) ** 2 + (x[1] + x[0] - 0.25) ** 2, [(-1, 1), (0, 1)], [0.25, 0]),
    "beside a bound that holds": (lambda x: (x[0] - 0.25) ** 2 + (x[1] + x[0] - 0.25) ** 2 + x[2], [(-1, 1), (0, 1), (0, 1)],
                                  [0.25, 0, 0]),
    "close to a bound": (lambda x: (x[0] - 1e-20) ** 2 + (x[1] - 0.5) ** 2, [(0, 1)] * 2, [1e-20, 0.5]),
    "within doubles' reach of a bound": (lambda x: (x[0] - 1 - 2.0**-52) ** 2 + x[1] ** 2, [(1, 2), (-1, 1)], [1 + 2.0**-52, 0]),
    "with an unbounded variable": (lambda x: x[0] ** 2 + x[0] * x[1] + np.cosh(x[1]) + x[1] ** 2, [(0, np.inf), (-3, 3)],
                                   [0, 0]),
    "beside an undefined part": (lambda x: x[0] ** 2 + (np.log(x[1]) - 1) ** 2 + (x[1] - infimum.e) ** 2, [(0, 1), (-1, 5)],
                                 [0, np.e]),
}


@pytest.mark.parametrize("name", VANISHING)
@pytest.mark.parametrize("xtol", (None, 0.1, 1e-3))
def test_a_derivative_that_vanishes_at_a_bound(name, xtol):
    f, sides, x = VANISHING[name]
    found = asked(f, sides, xtol=1e-3 if name == "beside an undefined part" else xtol)
    assert found.exactly_one and found.rest == 0 and found.why is None
    assert (found[0].hi - found[0].lo < 1e-12).all()
    assert holds(found[0].lo, found[0].hi, x) or name == "beside an undefined part"  # e is no double


@pytest.mark.parametrize(("f", "sides", "x"), [
    (lambda x: x[0] ** 2 + x[1] ** 3, [(-1, 1), (0, 1)], [0, 0]),                     # singular, and lowest all the same
    (lambda x: x[0] ** 2 + x[1] ** 4, [(-1, 1), (0, 1)], [0, 0]),
    (lambda x: x[0] ** 2 - x[1] ** 2, [(-1, 1), (0, 1)], [0, 0]),                     # falls along the second order
    (lambda x: x[0] ** 2 + x[1] ** 2 - 3 * x[0] * x[1], [(0, 1)] * 2, [0, 0]),        # falls along a diagonal into the corner
    (lambda x: x[0] ** 2 * abs(x[0]) ** 0.5 + x[1] ** 2, [(0, 1)] * 2, [0, 0]),
    (lambda x: np.maximum(x[0] - 1e-3, 0) ** 2 + x[1] ** 2, [(0, 1)] * 2, [0, 0]),    # the minimisers are a segment
    (lambda x: (x[0] * x[1]) ** 2, [(0, 1)] * 2, [0, 0])])                            # two faces of them
def test_what_is_no_isolated_minimiser_or_cannot_be_shown_to_be(f, sides, x):
    assert isinstance(isolated(f, sides, x, reach=0.01), IsolationFailure)


def lowest_exactly(matrix, linear, n):
    """The minimiser of x·Ax/2 + b·x over [0, 1]^n, of all choices of variables at bounds the one that meets the conditions."""
    for choice in product((0, 1, None), repeat=n):
        free = [i for i in range(n) if choice[i] is None]
        x = [Fraction(0) if c is None else Fraction(c) for c in choice]
        rows = [[Fraction(int(matrix[i, j])) for j in free] +
                [-Fraction(linear[i]) - sum(int(matrix[i, j]) * x[j] for j in range(n) if j not in free)] for i in free]
        for k in range(len(free)):
            rows[k] = [v / rows[k][k] for v in rows[k]]
            rows = [row if m == k else [v - row[k] * w for v, w in zip(row, rows[k], strict=True)] for m, row in enumerate(rows)]
        for i, row in zip(free, rows, strict=True):
            x[i] = row[-1]
        slope = [sum(int(matrix[i, j]) * x[j] for j in range(n)) + Fraction(linear[i]) for i in range(n)]
        rises = all(slope[i] == 0 if c is None else slope[i] >= 0 if c == 0 else slope[i] <= 0 for i, c in enumerate(choice))
        if rises and all(0 <= v <= 1 for v in x):
            return x
    raise AssertionError("a convex function has a lowest point")


@pytest.mark.parametrize("seed", range(30))
def test_the_box_holds_the_exact_minimiser(seed):
    """Quadratic functions of whole numbers, many with derivatives that vanish exactly where a bound is reached."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    root = rng.integers(-2, 3, (n, n))
    matrix = root.T @ root + np.eye(n, dtype=int)
    touched = rng.choice([0.0, 0.5, 1.0], n)  # a stationary point, in the cube or on its faces
    linear = -matrix @ touched + rng.choice([0, 0, 1, -1], n)
    x = lowest_exactly(matrix, linear.tolist(), n)
    start = np.clip(np.array([float(v) for v in x]) + rng.uniform(-0.05, 0.05, n), 0, 1)
    one = isolated(lambda x: (x @ (matrix * 0.5) @ x) + linear @ x, [(0, 1)] * n, start, reach=0.2)
    assert isinstance(one, IsolatedMinimiser) and holds(one.lo, one.hi, x) and holds(*one.neighbourhood, x)
    assert (one.hi - one.lo < 1e-12).all()


def test_a_wide_box_where_a_derivative_does_not_keep_its_sign():
    """The bound holds x[1] by a slope of 1e-9, which is gone a little further on: there f is convex in both variables."""
    one = isolated(lambda x: (x[0] - 0.25) ** 2 + (x[1] + 1e-9) ** 2 + 0.5 * (x[0] - 0.25) * x[1], [(-1, 1), (0, 1)], [0.25, 0.0])
    assert isinstance(one, IsolatedMinimiser) and one.lo[1] == one.hi[1] == 0.0 and one.neighbourhood[1][1] >= 0.1
