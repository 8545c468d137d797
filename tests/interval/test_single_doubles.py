"""At a single double an elementary function is what it is on the interval with two equal ends, to the last bit: also outside its
domain, at its edges, and where the double is infinite or no number."""

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.interval import elementary
from infimum.interval.pair import Pair, b_level
from infimum.kernel.ir import Builder
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS

EMPTY = np.zeros(1), np.zeros(1, np.int64)
EDGES = [0.0, 1.0, np.inf, np.nan, 1.7976931348623157e308, 5e-324, 2.0, 710.0, 1e-200, 0.5, np.nextafter(1.0, 2),
         np.nextafter(1.0, 0)]
NAMES = [name for name in elementary.NAMES if OPS[name].arity == 1]


@pytest.mark.parametrize("name", NAMES)
def test_the_same_bits_as_the_interval(name):
    given = np.concatenate([EDGES, np.negative(EDGES), np.linspace(-3, 3, 61)])
    b = Builder()
    x = b.input(0, 0)
    for row, point in ((0, x), (3, None)):
        y = RULES[name](b, Pair(b.neg(x), x, point=point))
        for k, value in enumerate((y.nlo, y.hi, b_level(b, y.level))):
            b.output(0, row + k, value)
    out = np.empty((6, len(given)))
    CpuBackend().compile(b.kernel(f"at_{name}", 1, 1)).run([given[None]], [out], *EMPTY)
    same = (out[:3].view(np.int64) == out[3:].view(np.int64)) | (np.isnan(out[:3]) & np.isnan(out[3:]))
    wrong = np.flatnonzero(~same.all(axis=0))
    assert not wrong.size, f"{name} at {given[wrong[0]]}: {out[:3, wrong[0]]}, on the interval {out[3:, wrong[0]]}"
