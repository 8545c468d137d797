"""The straight lines below and above an operation on an interval: judged by Arb at its ends, inside, at inflections and beside
them; and how close they are."""

from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from infimum.backend.cpu import CpuBackend
from infimum.expr.build import build, index
from infimum.expr.node import Expr, var
from infimum.interval.pair import Pair, exact
from infimum.kernel.ir import Builder
from infimum.ops.line_rules import SMOOTH_CURVES, LinePair, lines_of
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS
from infimum.relax.curve_lines import HINGES, curve_of, hinge, lines_at
from tests.interval.against_arb import beside
from tests.oracle.arb_values import PRECISIONS, precision, value
from tests.oracle.walk import UNDEFINED, Special

EMPTY = np.zeros(1), np.zeros(1, np.int64)
MOST = np.finfo(float).max
POWERS = (-4, -3, -2, -1, 2, 3, 4, 5, 7, 8, 33)
PLAIN = sorted(op for op in SMOOTH_CURVES if op in OPS and op != "powi")
CASES = [*((op, ()) for op in PLAIN), *(("powi", (("k", k),)) for k in POWERS), *((op, ()) for op in HINGES)]
NAMES = [" ".join([op, *(str(v) for _, v in params)]) for op, params in CASES]
PLACES = beside(np.concatenate([np.arange(-4, 5) * np.pi / 2, [-1.0, 1.0, 40 * np.pi, -3001 * np.pi / 2]]), 1)
ENDS = np.unique(np.concatenate([PLACES, [
    0.5, -0.3, 2.0, -3.0, 5e-324, -5e-324, 3e-310, -1e-300, 2.0**-30, -(2.0**-60), 18.5, -20.0, 40.0, -700.0, 709.0, -745.2, 1e5,
    1e9, -1e15, 2.0**31 * np.pi, 1e154, -1e155, 1e300, MOST, -MOST, np.inf, -np.inf]]))


def meaning(op: str, params: tuple) -> Expr:
    x = index(var("x", (1,)), 0)
    return build(HINGES[op], x, 0.0) if op in HINGES else build(op, x, **dict(params))


@cache
def compiled(op: str, params: tuple, write: Callable = lines_at) -> Callable[..., np.ndarray]:
    """The lines (4, N) of intervals, with tangents at t."""
    b = Builder()
    a, t = Pair(b.neg(b.input(0, 0)), b.input(0, 1)), b.input(0, 2)
    y = hinge(b, op, a, exact(b, 0.0))[1] if op in HINGES else RULES[op](b, a, **dict(params))
    for row, v in enumerate(write(b, op, params, a, y, t)):
        b.output(0, row, v)
    kernel = CpuBackend(threads=1).compile(b.kernel("lines_of_a_curve", 1, 1))

    def run(lo: np.ndarray, hi: np.ndarray, t: np.ndarray) -> np.ndarray:
        out = np.empty((4, len(lo)))
        kernel.run([np.stack([lo, hi, t])], [out], *EMPTY)
        return out
    return run


def judge(op: str, params: tuple, x: float, lines: LinePair) -> int:
    """Compares what the lines say at x with what Arb knows; returns how many of the two said something."""
    node = meaning(op, params)
    finite = np.isfinite(lines[:2]).all(), np.isfinite(lines[2:]).all()
    for bits in PRECISIONS:
        found = value(node, [x], bits)
        if found is UNDEFINED:
            return 0
        if isinstance(found, Special):
            continue
        with precision(bits):
            below, above = arb(lines.slope_below) * arb(x) - arb(lines.nlo), arb(lines.slope_above) * arb(x) + arb(lines.hi)
            held = not finite[0] or found >= below, not finite[1] or found <= above
            assert not finite[0] or not found < below, (op, params, x, lines, "below")
            assert not finite[1] or not found > above, (op, params, x, lines, "above")
            if all(held):
                break
    return sum(finite)


def inside(rng: np.random.Generator, lo: float, hi: float) -> list[float]:
    """Some doubles of an interval."""
    a, b = max(lo, -MOST), min(hi, MOST)
    places = PLACES[(a <= PLACES) & (b >= PLACES)]
    found = [a, b, np.nextafter(a, b), np.nextafter(b, a), 0.5 * a + 0.5 * b, a + rng.random() * (b / 2 - a / 2)]
    return np.clip([*found, *(rng.choice(places, 2) if places.size else ())], a, b).tolist()


@pytest.mark.parametrize(("op", "params"), CASES, ids=NAMES)
def test_no_line_crosses_its_curve(op, params):
    rng = np.random.default_rng(len(op))
    pairs = [(lo, hi) for lo, hi in product(ENDS, ENDS) if lo <= hi and lo < np.inf and hi > -np.inf]
    chosen = [pairs[i] for i in rng.choice(len(pairs), 80, replace=False)]
    chosen += [(v, v) for v in PLACES[::8]] + [tuple(sorted(rng.choice(PLACES[np.abs(PLACES) < 8], 2))) for _ in range(20)]
    centre = rng.choice([0.0, np.pi / 2, -np.pi, 1.0, -1.0, 0.5], 30)
    reach = 3.0 * 2.0 ** -rng.integers(0, 55, (2, 30)) * rng.random((2, 30))
    chosen += [(c - v, c + w) for c, v, w in zip(centre, *reach, strict=True)]
    lo, hi = np.array(chosen).T
    with np.errstate(invalid="ignore"):
        middle = np.clip(0.5 * lo + 0.5 * hi, lo, hi)
    t = np.where(rng.random(len(lo)) < 0.5, middle, rng.choice([0.0, 1.0, np.nan, -1e300, 0.3], len(lo)))
    out, said = compiled(op, params)(lo, hi, t), 0
    assert not np.isnan(out).any()
    for k in range(len(lo)):
        for x in inside(rng, float(lo[k]), float(hi[k])):
            said += judge(op, params, x, LinePair(*out[:, k].tolist()))
    assert said > 200


SIDES = st.floats(allow_nan=False) | st.floats(-10, 10) | st.sampled_from(PLACES.tolist())


@pytest.mark.parametrize(("op", "params"), CASES, ids=NAMES)
@given(ends=st.tuples(SIDES, SIDES), t=st.floats(), share=st.floats(0, 1))
@settings(max_examples=20)
def test_any_interval(op, params, ends, t, share):
    lo, hi = sorted(ends)
    if lo == np.inf or hi == -np.inf:
        return
    lines = LinePair(*compiled(op, params)(*(np.array([v]) for v in (lo, hi, t)))[:, 0].tolist())
    a, b = max(lo, -MOST), min(hi, MOST)
    for x in {a, b, min(max((1 - share) * a + share * b, a), b)}:
        judge(op, params, x, lines)


# ---- lines that are good
def without_inflection(b: Builder, op: str, params: tuple, a: Pair, y: Pair, t) -> LinePair:
    """As if nothing were known of inflections."""
    return lines_of(b, curve_of(b, op, params)._replace(inflection=None), a, y, t)


def gaps(op: str, params: tuple, lo: float, hi: float, write: Callable = lines_at) -> tuple[float, float, float]:
    """The mean distance of the lines on the interval, the least distances of the curve to each, about."""
    ends = [np.array([v]) for v in (lo, hi, 0.5 * lo + 0.5 * hi)]
    below, nlo, above, rest = compiled(op, params, write)(*ends)[:, 0]
    x = np.linspace(lo, hi, 501)
    with precision(60):
        y = np.array([float(value(meaning(op, params), [v], 60)) for v in x])
    under, over = y - below * x + nlo, above * x + rest - y
    return float(np.mean(under + over)), float(under.min()), float(over.min())


ACROSS = {"tanh": (-2.0, 1.5), "expit": (-3.0, 5.0), "erf": (-1.0, 2.0), "arctan": (-3.0, 2.0), "arcsinh": (-4.0, 4.0),
          "cbrt": (-1.0, 8.0), "arccos": (-0.9, 0.7), "erfc": (-1.5, 1.0), "sinh": (-2.0, 1.0), "arcsin": (-0.5, 0.9),
          "arctanh": (-0.9, 0.9), "sin": (2.0, 4.0), "cos": (0.5, 2.5)}


@pytest.mark.parametrize("op", ACROSS)
def test_lines_around_an_inflection_touch_the_curve(op):
    """They are a fraction of the constant bounds apart, closer than without the inflection, and cannot be moved."""
    lo, hi = ACROSS[op]
    mean, below, above = gaps(op, (), lo, hi)
    plain = gaps(op, (), lo, hi, without_inflection)[0]
    ends = [float(value(meaning(op, ()), [v], 60)) for v in (lo, hi)]
    size = abs(ends[1] - ends[0])
    assert mean < 0.55 * size and mean < 0.8 * plain, (mean, plain, size)
    assert -1e-15 <= below < 0.02 * size and -1e-15 <= above < 0.02 * size, (below, above)


def test_infinite_ends_have_no_line_but_the_enclosure():
    """(-inf, -20]**8 has no upper end, wherever a tangent is asked for: 0 times infinity must not hide that."""
    found = LinePair(*compiled("powi", (("k", 8),))(np.array([-np.inf]), np.array([-20.0]), np.array([-100.0]))[:, 0].tolist())
    assert found.hi == np.inf and found.slope_above == 0.0 and found.nlo <= -(20.0**8)


def test_odd_powers_touch_as_well():
    mean, below, above = gaps("powi", (("k", 3),), -1.0, 2.0)
    assert mean < 0.5 * 9 and max(below, above) < 0.02 * 9
    assert mean < 0.8 * gaps("powi", (("k", 3),), -1.0, 2.0, without_inflection)[0]


def test_a_wave_of_several_bends_has_its_enclosure():
    """Where two inflections lie inside, lines say no more than the range."""
    found = LinePair(*compiled("sin", ())(np.array([-1.0]), np.array([6.0]), np.array([2.5]))[:, 0].tolist())
    assert (found.slope_below, found.slope_above) == (0.0, 0.0) and (found.nlo, found.hi) == (1.0, 1.0)


def test_hinges():
    """Across its bend relu lies between a line through both ends and one of slope 0 or 1, the closer one; a softplus touches."""
    run = compiled("relu", ())
    for lo, hi, slope in ((-1.0, 3.0, 1.0), (-3.0, 1.0, 0.0), (-2.0, -1.0, 0.0), (1.0, 2.0, 1.0)):
        found = LinePair(*run(np.array([lo]), np.array([hi]), np.array([0.5 * (lo + hi)]))[:, 0].tolist())
        ends = max(lo, 0.0), max(hi, 0.0)
        assert (found.slope_below, found.nlo) == (slope, 0.0)
        assert found.slope_above * np.array([lo, hi]) + found.hi == pytest.approx(ends, abs=1e-15)
    mean, below, above = gaps("softplus", (), -2.0, 3.0)
    assert mean < 0.25 * 3 and abs(below) < 1e-9 and abs(above) < 1e-9
