"""Variable projection, held against Arb: no linear parameters undercut its bounds, no point below the upper bound is lost."""

from collections import Counter

import numpy as np
import pytest

import infimum
from infimum.evaluation.evaluator import Evaluator
from infimum.trace.trace import trace
from tests.engine.region_tests.projections import INF, WIDE, T, Y, decay, equal, hold, poles, random_regions
from tests.expr.separable_models import random_model, random_residuals, sum_of_squares

NEAR = [(0, 1), (1, 1.01)]


def many(q: int):
    return lambda x: np.sum((sum(x[1 + j] * T**j for j in range(q)) * np.exp(-x[0] * T) - Y) ** 2)


def nonlinear(p: int):
    return lambda x: np.sum((x[p] * np.cos(sum(x[k] * T**k for k in range(p))) + x[p + 1] - Y) ** 2)


# a sum of squares, and boxes to ask about; linear parameters have wide bounds
HOSTILE: dict[str, tuple] = {
    "undefined in a part": (lambda x: np.sum((x[1] * np.sqrt(x[0] - T) + x[2] - Y) ** 2), [(0, 2), (1.5, 2), (2, 3)]),
    "undefined in all": (lambda x: np.sum((x[1] * np.log(x[0] - 9 + T) - Y) ** 2), [(0, 2), (8, 9)]),
    "an edge": (lambda x: np.sum((x[1] * np.sqrt(x[0] * T) - Y) ** 2), [(0, 1), (0, 1e-3), (1e-300, 1e-3)]),
    "a pole": (lambda x: np.sum((x[1] / (x[0] - T) - Y) ** 2), [(0, 2), (0.25, 0.5), (0.3, 0.31), (1.6, 1.7)]),
    "a pole of two": (poles, [((-1, 1), (-1, 1)), ((-1.1, -1), (0, 0.1)), ((-0.5, -0.4), (0.9, 1)), ((2, 2), (1, 1.01))]),
    "kinks": (lambda x: np.sum((x[1] * np.abs(x[0] - T) + np.maximum(x[0], T) - Y) ** 2), [(0, 2), (0.5, 0.6), (0.51, 0.52)]),
    "a kink in second derivatives": (lambda x: np.sum((x[1] * np.maximum(x[0] - T, 0) ** 2 + x[2] - Y) ** 2),
                                     [(0, 2), (0.5, 0.6), (0.51, 0.52)]),
    "jumps": (lambda x: np.sum((x[1] * np.floor(x[0] + T) + x[2] * np.where(x[0] < T, x[0], T) - Y) ** 2), [(0, 1), (0.26, 0.3)]),
    "a chosen branch": (lambda x: np.sum((x[1] * np.where(x[0] > 1, np.exp(-x[0] * T), np.sqrt(x[0] - 1)) - Y) ** 2),
                        [(0.5, 2), (1.1, 1.2), (1, 1.2)]),
    "columns of zeros": (lambda x: np.sum((x[1] * 0 * T + x[2] * np.exp(-x[0] * T) - Y) ** 2), [(0, 1), (1, 1.1)]),
    "a column that vanishes": (lambda x: np.sum((x[1] * np.expm1(x[0]) * T + x[2] - Y) ** 2), [(-0.1, 0.1), (0, 0), (0, 0.1)]),
    "equal columns": (lambda x: np.sum((x[1] * np.exp(-x[0] * T) + x[2] * np.exp(-x[0] * T) - Y) ** 2), NEAR),
    "columns that become equal": (equal, [((1, 1), (1, 1)), ((1, 1.01), (1, 1.01)), ((0, 1), (0, 1)), ((1, 1.1), (1.2, 1.3))]),
    "three that become equal": (lambda x: np.sum((sum(x[3 + k] * np.exp(-x[k] * T) for k in range(3)) - Y) ** 2),
                                [((1, 1),) * 3, ((1, 1.1), (1.3, 1.4), (1, 1.1)), ((1, 1.1), (3, 4), (1, 1.1))]),
    "periods that become equal": (lambda x: np.sum((x[2] * np.sin(T / x[0]) + x[3] * np.sin(T / x[1]) + x[4] - Y) ** 2),
                                  [((1, 1.01), (1, 1.01)), ((0.5, 1), (0.5, 1)), ((-1, 1), (-1, 1)), ((-1, -0.9), (0.9, 1))]),
    "kinks that become equal": (lambda x: np.sum((x[2] * np.abs(x[0] - T) + x[3] * np.abs(x[1] - T) - Y) ** 2),
                                [((1, 1.01), (1, 1.01)), ((1.01, 1.02), (1.01, 1.02)), ((1.01, 1.02), (1.03, 1.04))]),
    "products": (lambda x: np.sum((x[1] * (T + x[2]) * np.exp(-x[0] * T) + x[2] - Y) ** 2), NEAR),
    "weights and data": (lambda x: np.sum(((x[1] * Y * np.exp(-x[0] * T) + x[2] * T - Y) / (1 + T)) ** 2), NEAR),
    "constants with two ends": (lambda x: np.sum((infimum.pi * x[1] * np.cos(infimum.pi * x[0] * T) + x[2] - Y) ** 2), NEAR),
    "single precision": (lambda x: np.sum((x[1] * np.exp(-x[0] * T.astype(np.float32)) - Y.astype(np.float32)) ** 2), NEAR),
    "large data": (lambda x: np.sum((x[1] * 1e200 * T * np.exp(-x[0] * T) - 1e150 * Y) ** 2), NEAR),
    "data too large to square": (lambda x: np.sum((x[1] * np.exp(-x[0] * T) - 1e200 * Y) ** 2), NEAR),
    "small data": (lambda x: np.sum((x[1] * 1e-200 * T * np.exp(-x[0] * T) - 1e-170 * Y) ** 2), NEAR),
    "data too small to square": (lambda x: np.sum((x[1] * np.exp(-x[0] * T) - 1e-200 * Y) ** 2), NEAR),
    "columns of all sizes": (lambda x: np.sum((x[1] * 1e150 * T + x[2] * 1e-150 * np.exp(-x[0] * T) + x[3] - Y) ** 2), NEAR),
    "large slopes": (lambda x: np.sum((x[1] * np.exp(-1e12 * x[0] * T) + x[2] - Y) ** 2), [(0, 1e-12), (1e-12, 1.001e-12)]),
    "exponentials beyond doubles": (lambda x: np.sum((x[1] * np.exp(400 * x[0] * T) + x[2] * T - Y) ** 2),
                                    [(-3, 3), (2, 2.001), (-2, -1.999), (0.03, 0.05), (2, 2)]),
    "an exponential with a pole": (lambda x: np.sum((x[2] * np.exp(x[0] / (T + x[1])) - Y) ** 2),
                                   [((90, 91), (1, 1.01)), ((-1, 1), (-0.2, 0.2)), ((50, 50), (-0.4, -0.39))]),
    "data of an exponential": (lambda x: np.sum((x[1] * T * np.exp(-30 * x[0] * T) + x[2] * np.exp(-30 * x[0] * T) - Y) ** 2),
                               [(1, 1.01), (-2, -1.9), (4, 4)]),
    "exact data": (lambda x: np.sum((x[1] * x[0] * T + x[2] * x[0] ** 2 - 2 * T - 4) ** 2), [(0, 2), (1, 1), (1, 1.01)]),
    "nothing nonlinear": (lambda x: np.sum((x[0] * T + x[1] - Y) ** 2), [()]),
    "one row": (lambda x: np.sum((x[1:2] * np.exp(-x[0:1]) - 1) ** 2), NEAR),
    "fewer rows than columns": (lambda x: np.sum((x[1] * np.exp(-x[0] * T[:2]) + x[2] * T[:2] + x[3] - Y[:2]) ** 2), NEAR),
    "unbounded": (decay, [(-INF, INF), (0, INF), (1e200, 1e201)]),
    "many columns": (many(5), [(0, 1), (1, 1.001)]),
    "many nonlinear parameters": (nonlinear(4), [((0, 1),) * 4, ((0.5, 0.51),) * 4, ((0.5, 0.5),) * 4]),
}


def hostile_boxes(evaluator: Evaluator, given: list, rng: np.random.Generator) -> list:
    """The boxes of nonlinear parameters, with linear ones of different kinds: wide, without bounds, narrow, a face, a point."""
    boxes = []
    for sides in given:
        sides = sides if not sides or isinstance(sides[0], tuple) else (sides,)
        for kind in (WIDE, (-INF, INF), (-3, 2), (0.5, 0.5), None):
            box = [kind or tuple(np.sort(rng.normal(size=2)))] * evaluator.n
            for i, side in zip(evaluator.facts.separable.nonlinear, sides, strict=True):
                box[i] = side
            boxes.append(box)
    return boxes


@pytest.mark.parametrize("name", HOSTILE)
def test_no_fit_is_below_and_none_is_lost(name):
    f, given = HOSTILE[name]
    n = number_of_variables(f)
    evaluator, rng = infimum.compile(f, n), np.random.default_rng(len(name))
    assert evaluator.facts.separable is not None
    counts = hold(evaluator, [(-INF, INF)] * n, hostile_boxes(evaluator, given, rng), rng, 4)
    assert counts["stays"] > 10 or name == "undefined in all"


class Reader:
    """Remembers which variables are read."""

    def __init__(self):
        self.last = 0

    def __getitem__(self, i):
        self.last = max(self.last, i.stop - 1 if isinstance(i, slice) else i)
        return np.ones(3)[i] if isinstance(i, slice) else 1.0


def number_of_variables(f) -> int:
    reader = Reader()
    with np.errstate(all="ignore"):
        f(reader)
    return reader.last + 1


@pytest.mark.parametrize("first", (0, 6))
def test_random_models(first):
    counts = Counter()
    for seed in range(first, first + 6):
        rng = np.random.default_rng(seed)
        if seed % 3:
            f, n = random_model(rng)
            evaluator = Evaluator(trace(f, n, ()), n)
        else:
            e, n = random_residuals(rng)
            evaluator = Evaluator(sum_of_squares(e)[0], n)
        if evaluator.facts.separable is not None:
            counts += hold(evaluator, [(-INF, INF)] * n, random_regions(evaluator, rng, 10), rng, 3)
    assert counts["stays"] > 300 and min(counts[what] for what in ("raised", "gone", "narrower", "uppers")) > 2, counts
