"""Lower bounds that rise to values that f can have: compared with all values, in rationals."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

import infimum
from infimum.api.objective import with_constraints
from infimum.relax.relaxation import Relaxation
from infimum.relax.value_grid import ValueGrid

BOX = np.array([0.0, -2.0, 1.0]), np.array([3.0, 2.0, 4.0])


def grid_of(f, integers=(0, 1, 2), box=BOX):
    evaluator = with_constraints(infimum.compile(f, 3), [lambda x: x[0] + x[1] + x[2] <= 6], integers, None, 0.0).evaluator
    return ValueGrid.of(Relaxation(evaluator), *box)


def points():
    return product(*(range(int(lo), int(hi) + 1) for lo, hi in zip(*BOX, strict=True)))


CASES = {
    "tenths": (lambda x: 0.1 * x[0] + x[1] + 0.7 * x[2] + 0.3,
               lambda a, b, c: Fraction(0.1) * a + b + Fraction(0.7) * c + Fraction(0.3), Fraction(1, 10)),
    "products": (lambda x: 6 * x[0] * x[1] - 4 * x[2] ** 2 + 2 * x[1] ** 3,
                 lambda a, b, c: Fraction(6 * a * b - 4 * c * c + 2 * b**3), Fraction(2)),
    "thirds": (lambda x: x[0] / 3 + x[1] * x[2] / 6, lambda a, b, c: Fraction(a, 3) + Fraction(b * c, 6), Fraction(1, 6)),
}


@pytest.mark.parametrize("name", CASES)
def test_no_value_is_lost(name):
    f, exact, step = CASES[name]
    grid = grid_of(f)
    assert grid.step == step and grid.off < 1e-14
    values = sorted({exact(*p) for p in points()})
    rng = np.random.default_rng(0)
    lowers = [*rng.uniform(float(values[0]) - 1, float(values[-1]), 300), *(float(v) for v in values),
              *(np.nextafter(float(v), -np.inf) for v in values), *(np.nextafter(float(v), np.inf) for v in values)]
    risen = 0
    for lower in lowers:
        raised = grid.raised(lower)
        next_value = min((v for v in values if v >= Fraction(lower)), default=None)
        assert raised >= lower and (next_value is None or Fraction(raised) <= next_value)
        risen += raised > lower
    assert risen > 250 and grid.raised(-np.inf) == -np.inf and grid.raised(np.inf) == np.inf


@pytest.mark.parametrize("f, integers, box", [
    (lambda x: x[0] + 0.5 * x[1] + x[2], (0, 1), BOX), (lambda x: x[0] + np.exp(x[1]), (0, 1, 2), BOX),
    (lambda x: np.pi * x[0] + x[1] + 1e-7 * x[2], (0, 1, 2), BOX), (lambda x: 1 / x[2] + x[0], (0, 1, 2), BOX),
    (lambda x: 0.1 * x[0] + x[1], (0, 1, 2), (BOX[0], np.array([3.0, np.inf, 4.0])))])
def test_there_is_none(f, integers, box):
    assert grid_of(f, integers, box) is None
