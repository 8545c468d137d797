"""Quadratic functions with balls for coefficients: nowhere lower than is said, no side loses what is below; judged exactly."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

from infimum.bounds.least_squares.lane_quadratic import LaneQuadratic
from infimum.kernel.forms.balls import Ball
from infimum.kernel.ir import Builder, Value
from tests.kernel.test_balls import INF, run

SAMPLES, LANES = 40, 30


class Case:
    """Random coefficients: midpoints and radii, and h."""

    def __init__(self, rng: np.random.Generator, p: int, lanes: int):
        self.p, self.pairs = p, list(combinations_with_replacement(range(p), 2))
        count = 1 + p + len(self.pairs)
        root = rng.normal(size=(p, p, lanes)) * 10.0 ** rng.integers(-2, 2, (p, 1, lanes))
        matrix = np.einsum("ikl,jkl->ijl", root, root)
        matrix[:, :, ::3] -= rng.uniform(0, 1, lanes)[::3]  # not convex
        self.mid = np.concatenate([rng.normal(size=(1 + p, lanes)), [matrix[i, j] for i, j in self.pairs]])
        self.rad = np.abs(self.mid) * rng.choice((0.0, 0.0, 1e-15, 1e-3), (count, lanes)) * rng.choice((0.0, 1.0), lanes)
        self.h = rng.choice((1e-9, 0.3, 1.0, 4.0, 4.0), (p, lanes))
        self.h[0, :3] = 0.0

    def lowest(self) -> np.ndarray:
        """About the lowest points, where the matrix is positive definite, cut to the box; lanes first."""
        matrix = np.zeros((self.mid.shape[1], self.p, self.p))
        for (i, j), entry in zip(self.pairs, self.mid[1 + self.p:], strict=True):
            matrix[:, i, j] = matrix[:, j, i] = entry * self.h[i] * self.h[j]
        tilt = (self.mid[1:1 + self.p] * self.h).T
        return np.clip(-np.linalg.solve(matrix + 1e-12 * np.eye(self.p), tilt[..., None])[..., 0], -1, 1)

    def run(self, what, upper: np.ndarray) -> np.ndarray:
        p, count = self.p, len(self.mid)

        def write(b: Builder, x: list[Value]) -> tuple[Value, ...]:
            balls = [Ball(x[i], x[count + i]) for i in range(count)]
            matrix = dict(zip(self.pairs, balls[1 + p:], strict=True))
            return what(LaneQuadratic(b, balls[0], balls[1:1 + p], matrix, x[2 * count:2 * count + p]), x[-1])
        return run(write, np.concatenate([self.mid, self.rad, self.h, upper[None]]))

    def value(self, lane: int, share: np.ndarray, s: np.ndarray) -> Fraction:
        """At d = h s, with coefficients somewhere in their balls."""
        columns = (self.mid[:, lane].tolist(), share.tolist(), self.rad[:, lane].tolist())
        c, *rest = (Fraction(m) + Fraction(part) * Fraction(r) for m, part, r in zip(*columns, strict=True))
        d = [Fraction(h) * Fraction(v) for h, v in zip(self.h[:, lane].tolist(), s.tolist(), strict=True)]
        squares = [(1 if i == j else 2) * d[i] * d[j] for i, j in self.pairs]
        return c + sum(2 * g * x for g, x in zip(rest, d, strict=False)) + sum(map(Fraction.__mul__, squares, rest[self.p:]))


@pytest.mark.parametrize("p", (1, 2, 3))
def test_it_is_nowhere_lower_and_its_sides_hold_what_is_below(p):
    rng = np.random.default_rng(p)
    case, shape = Case(rng, p, LANES), (LANES, SAMPLES, p)
    samples = np.where(rng.random(shape) < 0.3, rng.choice((-1.0, 0.0, 1.0), shape), rng.uniform(-1, 1, shape))
    near = case.lowest()[:, None] + rng.normal(size=shape) * 10.0 ** rng.uniform(-6, 0, (LANES, SAMPLES, 1))
    samples[:, ::2] = np.clip(near, -1, 1)[:, ::2]
    shares = rng.choice((-1.0, -0.5, 0.0, 1.0), (LANES, SAMPLES, len(case.mid)))
    values = [[case.value(k, *row) for row in zip(shares[k], samples[k], strict=True)] for k in range(LANES)]
    upper = np.array([float(sorted(v)[rng.integers(0, SAMPLES // 2)]) for v in values])
    upper[::2] = [float(sorted(v)[2]) for v in values[::2]]
    least, = case.run(lambda q, _: (q.least(),), upper)
    sides = case.run(lambda q, u: [end for k in range(p) for end in q.side(k, u)], upper)
    assert np.isfinite(least).all() and all(Fraction(low) <= min(v) for low, v in zip(least, values, strict=True))
    cuts = 0
    for k, i, m in np.ndindex(*shape):
        nlo, hi, s = sides[2 * m, k], sides[2 * m + 1, k], samples[k, i, m]
        cuts += nlo < 1 or hi < 1
        assert values[k][i] > upper[k] or case.h[m, k] == 0 or not (-nlo > s or hi < s)
    assert cuts > 100


def test_what_is_not_known_says_nothing():
    case = Case(np.random.default_rng(0), 2, 12)
    case.h[:] = 1.0
    for row in range(6):
        case.mid[row, 2 * row], case.rad[row, 2 * row + 1] = np.nan, INF
    least, = case.run(lambda q, _: (q.least(),), np.zeros(12))
    sides = case.run(lambda q, u: [end for k in range(2) for end in q.side(k, u)], np.zeros(12))
    assert not (least > -INF).any() and not (sides < 1).any()
