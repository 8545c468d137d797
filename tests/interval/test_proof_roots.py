"""The constants of cbrt and hypot are as large as their proof needs, with a wide margin."""

import numpy as np
import proof_roots as proof
from against_arb import logarithmic, margin

from infimum.interval.elementary import roots as code


def test_first_guess():
    assert proof.start_error() < 2.0**-16


def test_cube_root():
    assert proof.cbrt_need() * 64 <= code.CBRT_ERROR


def test_hypot():
    assert proof.hypot_need() * 64 <= code.HYPOT_ERROR


def test_errors_as_computed():
    """The error bounds hold before the last rounding, far from the powers of two by which results are scaled."""
    rng = np.random.default_rng(12)
    v = rng.uniform(1, 8, 3000)
    def root(b, a):
        head, tail, _ = code._cube_root(b, a)
        return head, tail, b.mul(head, code.CBRT_ERROR)
    assert margin("cbrt", root, lambda a: a.root(3), v) <= 2.0**-6
    def length(b, x, y):
        head, tail, *_ = code._length(b, x, y)
        return head, tail, b.mul(head, code.HYPOT_ERROR)
    x = np.abs(logarithmic(rng, 3000, -100, 100))
    y = x * np.exp2(rng.uniform(-70, 70, 3000))
    assert margin("hypot", length, lambda a, c: (a * a + c * c).sqrt(), x, y) <= 2.0**-6
