"""Balls hold what they are said to hold: judged in exact arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.python import PythonBackend
from infimum.interval.pair import Pair
from infimum.kernel.forms.balls import Ball, ball, dot, norm, size, total
from infimum.kernel.ir import Builder, Value

INF = np.inf
NUMBERS = (0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 1e-300, -5e-324, 2.5e-310, 1e-170, -1e170, 1e300, 1 + 2.0**-52, 2.0**-401)


def run(write, inputs: np.ndarray) -> np.ndarray:
    """The outputs that `write(b, rows)` returns, a lane for each column."""
    b = Builder()
    results = write(b, [b.input(0, i) for i in range(len(inputs))])
    for i, value in enumerate(results):
        b.output(0, i, value)
    found = np.empty((len(results), inputs.shape[1]))
    PythonBackend().compile(b.kernel("balls", 1, 1)).run([inputs], [found], np.zeros(1), np.zeros(1, np.int64))
    return found


def some(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    plain = rng.normal(size=shape) * 10.0 ** rng.integers(-3, 4, shape)
    return np.where(rng.random(shape) < 0.6, plain, rng.choice(NUMBERS, shape))


def held(mid: float, rad: float, low: Fraction, high: Fraction) -> bool:
    """Is [low, high] in the ball? One with NaN or infinite ends holds everything."""
    if not (np.isfinite(mid) and np.isfinite(rad)):
        return True
    return Fraction(mid) - Fraction(rad) <= low and high <= Fraction(mid) + Fraction(rad)


def test_a_ball_around_a_pair():
    rng = np.random.default_rng(0)
    ends = np.sort(some(rng, (2, 300)), axis=0)
    ends[:, :20] = ends[0, :20]
    ends[1, 20:25], ends[0, 25:30] = INF, -INF
    mid, rad = run(lambda b, x: tuple(ball(b, Pair(b.neg(x[0]), x[1]))), ends)
    for k in range(300):
        assert not np.isnan(mid[k]) and rad[k] > 0
        if np.isinf(ends[:, k]).any():
            assert rad[k] == INF
        else:
            assert held(mid[k], rad[k], *map(Fraction, ends[:, k].tolist()))
    assert np.isfinite(rad).sum() > 250
    nothing = run(lambda b, x: tuple(ball(b, Pair(x[0], x[1]))), np.array([[-INF, np.nan], [-INF, 1.0]]))
    assert (nothing == [[0, 0], [INF, INF]]).all()


@pytest.mark.parametrize("terms", (1, 2, 7, 30))
def test_sums_of_products(terms):
    rng, lanes = np.random.default_rng(terms), 60
    mids, rads = some(rng, (2 * terms, lanes)), np.abs(some(rng, (2 * terms, lanes)))
    rads *= rng.choice((0.0, 1e-12, 1.0), (2 * terms, 1))
    exact = rng.random(2 * terms) < 0.4
    rads[exact] = 0.0

    def write(b: Builder, x: list[Value]) -> tuple[Value, ...]:
        balls = [Ball(x[i], None if exact[i] else x[2 * terms + i]) for i in range(2 * terms)]
        found = dot(b, *((balls[2 * i], balls[2 * i + 1]) for i in range(terms)), (None, balls[0]))
        return found.mid, found.rad, size(b, found)
    mid, rad, largest = run(write, np.concatenate([mids, rads]))
    for k in range(lanes):
        m, r = ([Fraction(v) for v in a[:, k].tolist()] for a in (mids, rads))
        centre = sum(m[2 * i] * m[2 * i + 1] for i in range(terms))
        spread = sum(abs(m[i]) * r[i + 1] + r[i] * (abs(m[i + 1]) + r[i + 1]) for i in range(0, 2 * terms, 2))
        assert held(mid[k], rad[k], centre - spread, centre + spread)
        assert not np.isfinite(largest[k]) or Fraction(largest[k]) >= abs(centre) + spread
    assert np.isfinite(rad).sum() > lanes / 4


def test_too_many_terms_are_refused():
    with pytest.raises(ValueError, match="too many terms"):
        run(lambda b, x: tuple(dot(b, *[(Ball(x[0]), Ball(x[0]))] * 64)), np.ones((1, 1)))


def test_totals_and_norms_are_rounded_up():
    values = np.abs(some(np.random.default_rng(1), (5, 100)))
    plain, length = run(lambda b, x: (total(b, x), norm(b, x)), values)
    for k in range(100):
        exact = [Fraction(v) for v in values[:, k].tolist()]
        assert Fraction(plain[k]) >= sum(exact)
        assert np.isinf(length[k]) or Fraction(length[k]) ** 2 >= sum(v * v for v in exact)
