"""Linear bounds where they are easily wrong: one number twice in an operation, powers of 0, arguments without an end."""

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.evaluation.programs import LINEAR
from infimum.interval.pair import Pair, b_level
from infimum.kernel.ir import Builder
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS
from infimum.relax.curve_lines import lines_at

EMPTY = np.zeros(1), np.zeros(1, np.int64)
LARGEST = 1.7976931348623157e308


def lower_bound(f, lo, hi) -> float:
    """Of one region, whatever the upper bound is."""
    lo, hi = np.array(lo, float), np.array(hi, float)
    evaluator = infimum.compile(f, len(lo))
    region = np.concatenate([lo, hi, [-np.inf, 0.0, 0.0]])[:, None]
    left, _ = evaluator.run(LINEAR, [region], parameters=np.concatenate([np.ones(len(lo)), [np.inf], np.arange(len(lo))]))
    return float(left[2 * len(lo), 0])


def test_one_number_twice_in_a_hinge():
    """log(e**u + e**u) = u + log 2: what is sent to both arguments is sent to one node."""
    assert lower_bound(lambda x: np.logaddexp(x[0], x[0]), [1.0], [2.0]) <= 1 + np.log(2)
    assert lower_bound(lambda x: -np.logaddexp(x[0], x[0]), [-2.0], [-1.0]) <= 1 - np.log(2)


def test_power_of_exponent_zero():
    assert lower_bound(lambda x: np.sum(x**0 * np.sin(x)) + x[0], [1.0, 1.0], [2.0, 2.0]) <= 1 + 2 * np.sin(1)


def test_product_that_overflows_on_one_side():
    """|x y| is up to 1.8e308 (1 + 1e-8): the enclosure of x y has no lower end, while the centre of its form is small."""
    w = np.sqrt(LARGEST) * (1 - 2e-9)
    a = w * (1 + 1e-8)
    at_corner = -1e-300 * a * w  # off by less than 1e-7; the bound was too large by 1
    assert lower_bound(lambda x: -1e-300 * np.abs(x[0] * x[1]), [-a, 0.0], [w, w]) <= at_corner + 1e-6


CURVES = [*((op, ()) for op in sorted(OPS) if OPS[op].curvature and OPS[op].arity == 1),
          *(("powi", (("k", k),)) for k in (2, 3, 4, 20))]


@pytest.mark.parametrize(("op", "params"), CURVES, ids=str)
def test_lines_of_arguments_without_an_end(op, params):
    """Tangents at points of the interval, wherever they are: what the lines say must hold at points of all sizes."""
    b = Builder()
    lo, hi, t = (b.input(0, row) for row in range(3))
    a = Pair(b.neg(lo), hi)
    y = RULES[op](b, a, **dict(params))
    for row, value in enumerate((*lines_at(b, op, params, a, y, t), y.nlo, y.hi, b_level(b, y.level))):
        b.output(0, row, value)
    kernel = CpuBackend().compile(b.kernel(f"lines_of_{op}", 1, 1))

    def run(*rows: np.ndarray) -> np.ndarray:
        given = np.array(np.broadcast_arrays(*rows), float)
        out = np.empty((7, given.shape[1]))
        kernel.run([given], [out], *EMPTY)
        return out
    sizes = np.concatenate([[0.0], 2.0 ** np.arange(-40, 41, 2)])
    ends = np.concatenate([sizes, -sizes])
    steps = np.concatenate([[0.0], 2.0 ** np.arange(-3, 40, 3)])
    for side in (-1.0, 1.0):
        end, step = (v.ravel() for v in np.meshgrid(ends, steps))
        tangent = end + side * step
        lows, highs = (np.full(end.shape, -np.inf), end) if side < 0 else (end, np.full(end.shape, np.inf))
        slope_below, nlo, slope_above, above, *_ = run(lows, highs, tangent)
        for x in (end, end + side, end + side * 2.0**12, tangent):
            *_, value_nlo, value_hi, level = run(x, x, x)
            counts = (level >= 1) & np.isfinite(value_nlo) & np.isfinite(value_hi)
            room = 1e-9 * (1 + np.abs(slope_below * x) + np.abs(slope_above * x) + np.abs(value_hi))
            with np.errstate(invalid="ignore"):
                wrong = (slope_below * x - nlo > value_hi + room) | (slope_above * x + above < -value_nlo - room)
            assert not (counts & wrong).any(), (lows[counts & wrong][0], highs[counts & wrong][0], tangent[counts & wrong][0])
