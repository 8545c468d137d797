"""Splines: values against SciPy, enclosures against exact arithmetic at points, smoothness, extrapolation, bad input."""

from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings
from scipy import interpolate as scipy_interpolate

import infimum
from infimum.errors import DataError, TraceError

_X = np.array([0.0, 0.4, 1.0, 1.1, 2.0, 3.5, 4.0, 5.25])
_Y = np.array([1.0, -0.5, 0.3, 0.2, 2.0, 1.9, -1.0, 0.0])
MAKERS = {
    "CubicSpline": lambda: scipy_interpolate.CubicSpline(_X, _Y),
    "natural": lambda: scipy_interpolate.CubicSpline(_X, _Y, bc_type="natural", extrapolate=False),
    "pchip": lambda: scipy_interpolate.PchipInterpolator(_X, _Y),
    "akima": lambda: scipy_interpolate.Akima1DInterpolator(_X, _Y),
    "linear": lambda: scipy_interpolate.make_interp_spline(_X, _Y, k=1),
    "quadratic": lambda: scipy_interpolate.make_interp_spline(_X, _Y, k=2),
    "quintic": lambda: scipy_interpolate.make_interp_spline(_X, _Y, k=5),
    "smoothing": lambda: scipy_interpolate.UnivariateSpline(_X, _Y, s=1.0),
    "converted": lambda: scipy_interpolate.PPoly.from_spline(scipy_interpolate.splrep(_X, _Y, k=4)),
    "jumps": lambda: scipy_interpolate.PPoly(np.array([[1.0, -1.0, 0.5], [0.0, 2.0, 1.0]]), [0.0, 1.0, 2.5, 3.0]),
}
SMOOTH = {"CubicSpline": 2, "natural": 2, "pchip": 1, "akima": 1, "linear": 0, "quadratic": 1, "quintic": 4, "smoothing": 2,
          "converted": 3, "jumps": -1}


@pytest.mark.parametrize("name", MAKERS)
def test_values_and_derivatives_are_those_of_scipy(name):
    theirs, ours = MAKERS[name](), infimum.spline(MAKERS[name]())
    x = np.concatenate([np.linspace(-0.5, 5.75, 251), ours.points])
    traced = infimum.compile(lambda v: ours(v[0]), n=1)
    for nu in (0, 1, 2):
        expected = theirs.derivative(nu)(x) if name == "smoothing" else theirs(x, nu)
        inside = ~np.isnan(expected) & (nu == 0 or ~np.isin(x, ours.points) if name == "jumps" else True)
        np.testing.assert_allclose(ours(x, nu)[inside], expected[inside], rtol=1e-8, atol=1e-8)
    expected = theirs(x)
    np.testing.assert_allclose(traced.estimate(x[None]), expected, rtol=1e-10, atol=1e-10)
    assert set(ours.smooth) == {SMOOTH[name]}
    assert ours.deviation < 1e-13


@pytest.mark.parametrize("name", MAKERS)
@settings(max_examples=30, deadline=None)
@given(start=st.floats(-0.5, 5.5), width=st.sampled_from((0.0, 1e-9, 1e-3, 0.2, 1.0, 4.0)), at=st.integers(0, 7))
def test_enclosures_hold_exact_values_and_are_narrow(name, start, width, at):
    """Also with an end at a point where pieces meet. The truth is the polynomial of the coefficients, in rational numbers."""
    s = _SPLINES.setdefault(name, infimum.spline(MAKERS[name]()))
    traced = _TRACED.setdefault(name, infimum.compile(lambda v: s(v[0]), n=1))
    table, values = s.table, []
    for lo in (start, float(s.points[at % len(s.points)]), float(s.points[at % len(s.points)]) - width):
        hi = lo + width
        found = traced.value([lo], [hi])
        points = [p for p in (*np.linspace(lo, hi, 40), *s.points) if lo <= p <= hi]
        for p in points:
            if table.bounded and not table.points[0] <= p <= table.points[-1]:
                assert not found.defined
                continue
            which = max(0, min(int(np.searchsorted(s.points, p, "right")) - 1, table.count - 1))
            u = Fraction(float(p)) - Fraction(table.points[which])
            value = sum((c * u**j for j, c in enumerate(table.pieces[which])), Fraction(0))
            assert Fraction(float(found.lo)) <= value <= Fraction(float(found.hi))
            values.append(float(value))
        if values and found.lipschitz and width >= 1e-3:
            assert found.hi - found.lo <= 3 * (max(values) - min(values)) + 1e-2 * width


_SPLINES: dict = {}
_TRACED: dict = {}


def test_an_interval_over_many_pieces_is_the_hull_of_what_they_take_on():
    x = np.arange(101.0)
    s = infimum.spline(scipy_interpolate.PchipInterpolator(x, np.where(x % 2, 1.0, -1.0)))
    found = infimum.compile(lambda v: s(v[0]), n=1).value([3.5], [96.5])
    assert -1.0 - 1e-12 <= found.lo <= -1.0 and 1.0 <= found.hi <= 1.0 + 1e-12


def test_joined_pieces_are_close_to_the_given_ones():
    """Coefficients with rounding errors describe a function that jumps; the joined one does not, and says how far away it is."""
    rng = np.random.default_rng(3)
    x = np.cumsum(rng.uniform(0.01, 1.0, 60))
    given_spline = scipy_interpolate.CubicSpline(x, rng.normal(size=60))
    s = infimum.spline(given_spline)
    assert 0 < s.deviation < 1e-12
    for i in range(1, 58):  # values and two derivatives agree exactly at the points
        h = Fraction(s.points[i]) - Fraction(s.points[i - 1])
        c = s.table.pieces[i - 1]
        assert s.table.pieces[i][:3] == (c[0] + h * (c[1] + h * (c[2] + h * c[3])), c[1] + h * (2 * c[2] + 3 * h * c[3]),
                                         c[2] + 3 * h * c[3])
    worst = Fraction(0)
    for i in range(59):
        for k in range(9):
            u = (Fraction(s.points[i + 1]) - Fraction(s.points[i])) * k / 8
            exact = sum(Fraction(float(v)) * u**j for j, v in enumerate(given_spline.c[::-1, i]))
            worst = max(worst, abs(exact - sum(c * u**j for j, c in enumerate(s.table.pieces[i]))))
    assert s.deviation / 10 < worst <= s.deviation


def test_a_periodic_spline_repeats_itself():
    x = np.linspace(0.0, 4.0, 9)
    theirs = scipy_interpolate.CubicSpline(x, np.cos(np.pi * x / 2) + np.sin(np.pi * x), bc_type="periodic")
    s = infimum.spline(theirs)
    points = np.linspace(-9.0, 13.0, 89)
    np.testing.assert_allclose(s(points), theirs(points), atol=1e-12)
    np.testing.assert_allclose(infimum.compile(lambda v: s(v[0]), n=1).estimate(points[None]), theirs(points), atol=1e-12)


def test_a_minimum_across_pieces_is_proved():
    """With first order across the points of a C1 spline."""
    s = infimum.spline(scipy_interpolate.PchipInterpolator(_X, _Y))
    found = infimum.minimize(lambda v: s(v[0]) + s(v[1]) + 0.1 * (v[0] - v[1]) ** 2, [(0, 5.25)] * 2)
    grid = np.linspace(0, 5.25, 2101)
    value = s(grid)
    best = (value[:, None] + value[None] + 0.1 * (grid[:, None] - grid[None]) ** 2).min()
    assert found.verdict.name == "PROVED" and found.lower <= best <= found.upper + 1e-5
    assert found.nfev < 50_000


@pytest.mark.parametrize("source, said", [
    (("a", "b", "c", "d"), "was given a tuple"), (3.0, "was given a float"),
    (([0.0, 1.0], [[1.0, 2.0]]), "has coefficients of shape"), (([1.0, 0.0, 2.0], [[1.0, 2.0]]), "must increase"),
    (([0.0, np.nan], [[1.0]]), "must be finite"), (([0.0, 1.0], [[[1.0, 2.0]]]), "one for each component"),
    (([0.0, 1.0], [["a"]]), "must be real numbers"), (([0.0, 0.0, 1.0, 1.0], [1.0], 1), "coefficients were given"),
    (([0.0, 1.0, 0.0, 1.0], [1.0, 2.0], 1), "must not decrease"), ((np.arange(20.0), np.zeros((15, 19))), "at most"),
])
def test_bad_splines_are_refused(source, said):
    with pytest.raises(DataError, match=said):
        infimum.spline(source)


def test_the_kind_of_extrapolation_is_checked():
    with pytest.raises(DataError, match="extrapolate is True, False"):
        infimum.spline([0.0, 1.0], [[1.0]], extrapolate="linear")


@pytest.mark.parametrize("call", [lambda x: MAKERS["CubicSpline"]()(x[0]), lambda x: MAKERS["smoothing"]()(x),
                                  lambda x: scipy_interpolate.splev(x[0], scipy_interpolate.splrep(_X, _Y))])
def test_a_spline_of_scipy_says_how_it_can_be_traced(call):
    with pytest.raises(TraceError, match=r"infimum\.spline\("):
        infimum.minimize(call, [(0, 5)])
