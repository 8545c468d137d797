"""The constants of the trigonometric functions are as large as their proof needs."""

import numpy as np
import proof_trigonometric as proof
import pytest
from against_arb import LARGEST, logarithmic, margin
from flint import arb, ctx

from infimum.backend.cpu import CpuBackend
from infimum.interval.elementary import angle_reduction as angle
from infimum.interval.elementary import trigonometric as code
from infimum.kernel.ir import Builder


@pytest.fixture(scope="module")
def reduction():
    return proof.reduction_need()


@pytest.fixture(scope="module")
def approximation():
    return proof.approximation_errors()


def test_reduction(reduction):
    error, ratio = reduction
    assert error <= 2.0**-74 and ratio <= proof.LOW
    assert min(proof.nearest_to_zero(exponent) for exponent in range(-1, 30)) > proof.LEAST


def test_reduced_argument_stays_within_reach():
    ctx.prec = 200
    assert arb.pi() / 4 + arb.pi() / 2 * (arb(2) ** -23 + arb(2) ** -24) < code.REACH


def test_quarters_below_are_counted_exactly():
    """Extrema are found by them: also for the doubles nearest to multiples of pi/2, on both sides."""
    ctx.prec = 300
    rng = np.random.default_rng(0)
    counts = np.unique(np.concatenate([np.arange(-200, 201), rng.integers(-2**29, 2**29, 2000)]))
    near = np.array([float((arb.pi() / 2 * int(k)).mid()) for k in counts])
    x = np.concatenate([near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), rng.uniform(-1e3, 1e3, 500)])
    b = Builder()
    w, r, _ = angle.reduce(b, b.input(0, 0))
    b.output(0, 0, b.float(angle.quarters_below(b, w, r)))
    out = np.empty((1, len(x)))
    CpuBackend().compile(b.kernel("quarters", 1, 1)).run([x[None]], [out], np.zeros(1), np.zeros(1, np.int64))
    found = out[0].view(np.int64) - np.float64(angle.INTEGER).view(np.int64)
    for v, quarters in zip(x.tolist(), found.tolist(), strict=True):
        assert quarters == (0 if v == 0 else int((arb(v) / (arb.pi() / 2)).floor().unique_fmpz())), v


def test_large_reduction():
    """No large double is so near to a multiple of pi/2 that what its rest has lost could hide its sign; 2/pi is right."""
    assert min(proof.nearest_to_zero(exponent) for exponent in range(29, 1024)) > 2.0**-62 > 2.0**30 * angle.LOST
    ctx.prec = 2000
    bits = int((2 / arb.pi() * arb(2) ** (53 * (len(angle.WORDS) - 1))).floor().unique_fmpz())
    assert sum(int(word) << 53 * i for i, word in enumerate(reversed(angle.WORDS))) == bits
    assert abs(arb.pi() / 2 - sum(map(arb, angle.HALF_PI[:2]), arb(0))) < 2.0**-100 * angle.LOST / 2.0**-96


def test_large_reduction_as_computed():
    """k*pi/2 + r + low is x up to half of LOST, k modulo 4; from 2 on."""
    rng = np.random.default_rng(13)
    x = np.concatenate([proof.hardest(np.inf, range(-22, 971))[::5], logarithmic(rng, 3000, 1, 1024), [2.0, LARGEST]])
    b = Builder()
    for row, value in enumerate(b.outline("reduce_large", angle.reduce_large, b.input(0, 0), 0.0)):
        b.output(0, row, value)
    out = np.empty((3, len(x)))
    CpuBackend().compile(b.kernel("large", 1, 1)).run([x[None]], [out], np.zeros(1), np.zeros(1, np.int64))
    ctx.prec = 1500
    for v, w, r, low in zip(x.tolist(), *out.tolist(), strict=True):
        quarters = ((arb(v) - r) * 2 / arb.pi() + 0.5).floor().unique_fmpz()
        assert (int(w - angle.INTEGER) - quarters) % 4 == 0 and abs(r) < code.REACH and abs(low) <= 2.0**-52 * abs(r), v
        assert abs(arb(v) - quarters * arb.pi() / 2 - r - low) < angle.LOST / 2, v


def test_sine(approximation, reduction):
    assert proof.sin_need(approximation["sin"], reduction[0]) <= code.ERROR


def test_cosine(approximation, reduction):
    assert proof.cos_need(approximation["cos"], reduction[0]) <= code.ERROR


def test_tangent(approximation, reduction):
    assert proof.tan_need(approximation["tan"], reduction[0]) <= code.TAN_ERROR


def test_tangent_of_small_arguments():
    """Below 2**-33 tan x is taken as x: tan x - x < x**3/2."""
    assert 2.0**-66 / 2 <= angle.REDUCTION


def points() -> np.ndarray:
    """No extremely small ones: the errors below are relative to what Arb sees."""
    rng = np.random.default_rng(12)
    return np.concatenate([proof.hardest(angle.LIMIT), rng.uniform(-1.0, 1.0, 1500), logarithmic(rng, 2000, -40, 30)])


def test_reduction_as_computed():
    """k*pi/2 + r + low is x, up to 2**-74 |r|: also for the doubles nearest to multiples of pi/2."""
    def reduced(b, x):
        _, r, low = angle.reduce(b, x)
        return r, low, b.mul(b.abs(r), 2.0**-74)
    def rest(x):
        return x - (x * 2 / arb.pi() + 0.5).floor() * arb.pi() / 2
    x = points()
    x = x[np.abs(np.abs(x / (np.pi / 2)) % 1 - 0.5) > 1e-6]  # beside odd multiples of pi/4 either k is right
    assert margin("reduce", reduced, rest, x) <= 1


@pytest.mark.parametrize("name", ("sin", "cos", "tan"))
def test_errors_as_computed(name):
    """The error bounds hold before the last rounding, and are not idle."""
    def turned(b, x):
        w, sine, cosine, error = code._both(b, *angle.reduce(b, x), angle.REDUCTION)
        head, tail, flip = code._turned(b, b.add(w, 0.0 if name == "sin" else 1.0), sine, cosine)
        return b.select(flip, b.neg(head), head), b.select(flip, b.neg(tail), tail), error
    parts = turned if name != "tan" else lambda b, x: code._tan_parts(b, x, *angle.reduce(b, x), angle.REDUCTION)[:3]
    assert 0.25 < margin(name, parts, getattr(arb, name), points()) <= 1
