"""Confidence sets and bounded errors: what is inside belongs to them, nothing of them is left out, and how close both are."""

import numpy as np
import pytest

import infimum
from infimum.errors import DataError, OptionError

# NIST's Misra1a: volume over pressure
PRESSURE = np.array([77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0])
VOLUME = np.array([10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78])


def misra(x, b1, b2):
    return b1 * (1 - np.exp(-b2 * x))


BOUNDS = [(25, 5000), (1e-5, 1e-2)]


@pytest.fixture(scope="module")
def fitted():
    return infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS)


@pytest.fixture(scope="module")
def confident(fitted):
    return fitted.confidence(0.95)


def sums(points):
    return np.array([np.sum((misra(PRESSURE, *p) - VOLUME) ** 2) for p in points])


def test_misra_is_paved(fitted, confident):
    assert confident.volume_outer.hi <= 1.05 * confident.volume_inner.lo and confident.stopped is None
    factor = 1 + 2 / 12 * 6 * (0.05 ** (-1 / 6) - 1)  # F with 2 degrees of freedom has a formula
    assert confident.threshold.lo == pytest.approx(factor * fitted.sse.lo, rel=1e-10)
    assert confident.threshold.lo <= confident.threshold.hi <= confident.threshold.lo * (1 + 1e-5)


def test_every_point_is_where_it_belongs(fitted, confident):
    rng = np.random.default_rng(3)
    spread = np.linalg.cholesky(fitted.covariance)
    points = fitted.x + rng.normal(size=(3000, 2)) * 2 @ spread.T
    values = sums(points)
    belongs, beyond = values <= confident.threshold.lo * (1 - 1e-9), values >= confident.threshold.hi * (1 + 1e-9)
    inside, around = confident.inner.holds(points), confident.outer.may_hold(points)
    assert belongs.sum() > 500 < beyond.sum() and inside.sum() > 500
    assert around[belongs].all() and not inside[beyond].any()
    lo, hi = confident.outer.place()
    assert lo.min(axis=0)[0] <= confident.profiles["b1"].inner.lo and hi.max(axis=0)[0] >= confident.profiles["b1"].inner.hi


def test_profiles(fitted, confident):
    for k, (name, profile) in enumerate(confident.profiles.items()):
        inner, outer = profile.inner, profile.outer
        assert outer.lo <= inner.lo < fitted.values[name] < inner.hi <= outer.hi
        assert outer.hi - outer.lo <= 1.01 * (inner.hi - inner.lo)
        assert {inner.lo, inner.hi} <= set(confident.points[:, k].tolist())
    assert (sums(confident.points) <= confident.threshold.hi * (1 + 1e-9)).all()


def test_one_parameter_alone_is_narrower(fitted, confident):
    alone = fitted.confidence(0.95, joint=False, volume_rtol=None)
    assert alone.threshold.hi < confident.threshold.lo and len(alone.inner) == 0 < len(alone.outer)
    assert alone.profiles["b1"].outer.hi < confident.profiles["b1"].inner.hi
    # close to what the covariance says, Student's 2.1788 for 12 degrees of freedom, as this model is nearly linear here
    half = (alone.profiles["b1"].outer.hi - alone.profiles["b1"].outer.lo) / 2
    assert half == pytest.approx(2.1788 * fitted.params["b1"].stderr, rel=0.02)


def test_known_sigma():
    r = infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS, sigma=0.1, absolute_sigma=True)
    c = r.confidence(0.95, volume_rtol=None, profile_rtol=None)
    assert c.threshold.lo == pytest.approx(r.sse.lo - 2 * np.log(0.05), rel=1e-9)
    assert set(c.profiles) == {"b1", "b2"}


def test_plain_boxes(fitted):
    c = fitted.confidence(0.95, principal=False, volume_rtol=0.3)
    assert (c.inner.matrices == np.eye(2)).all() and not c.inner.centres.any()
    assert c.volume_outer.hi <= 1.3 * c.volume_inner.lo
    middles = (c.inner.lo + c.inner.hi) / 2
    assert (sums(middles) <= c.threshold.hi).all()


def test_exchangeable_peaks():
    x, rng = np.linspace(0, 10, 60), np.random.default_rng(1)

    def peaks(x, m1, a1, s1, m2, a2, s2):
        return a1 * np.exp(-(((x - m1) / s1) ** 2)) + a2 * np.exp(-(((x - m2) / s2) ** 2))
    y = np.round(peaks(x, 3.5, 3, 0.8, 6.2, 2, 1.1) * 1024 + 50 * rng.standard_normal(60)) / 1024
    bounds = [(3, 7), (1.5, 4), (0.6, 1.5)] * 2
    r = infimum.fit(peaks, x, y, bounds=bounds, symmetric=[("m1", "a1", "s1"), ("m2", "a2", "s2")])
    c = r.confidence(0.95)
    assert len(c.parts) == 1 and c.stopped is None
    for name, profile in c.profiles.items():
        assert profile.outer.hi - profile.outer.lo <= 1.01 * (profile.inner.hi - profile.inner.lo)
        assert profile.inner.lo < r.values[name] < profile.inner.hi


def test_limits_leave_what_holds(fitted):
    for boxes in (1, 1000, 90_000):
        c = fitted.confidence(0.95, volume_rtol=1e-9, max_boxes=boxes)
        assert "the limit is" in c.stopped and "the limit is" in str(c)
        assert c.outer.may_hold(fitted.x[None]).all()
        assert c.profiles["b1"].outer.lo <= 232 and c.profiles["b1"].outer.hi >= 246


@pytest.mark.parametrize("level", (0.0, 1.0, -0.5, 95, "0.95", True))
def test_levels_are_probabilities(fitted, level):
    with pytest.raises(OptionError, match="between 0 and 1"):
        fitted.confidence(level)


def test_what_has_no_confidence_set():
    r = infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS, loss="absolute", rtol=0.5)
    with pytest.raises(OptionError, match="loss='squares'"):
        r.confidence()
    r = infimum.fit(lambda x, a, b: a + b * x, [0, 1], [1.0, 2.0], bounds=[(-5, 5)] * 2)
    with pytest.raises(OptionError, match="absolute_sigma"):
        r.confidence()


def test_text_and_drawing(confident):
    text = str(confident)
    assert "95 % confidence" in text and "b1" in text and repr(confident).startswith("Confidence(")
    matplotlib = pytest.importorskip("matplotlib")
    assert matplotlib and len(confident.plot().axes) == 1


# ---- bounded errors
def test_bounded_errors():
    c = infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS, bounded_error=0.3)
    assert c.feasible and c.volume_outer.hi <= 1.05 * c.volume_inner.lo
    rng = np.random.default_rng(0)
    b1 = rng.uniform(224, 260, 1500)
    near = np.stack([b1, 5.5e-4 - 2.68e-6 * (b1 - 239) + rng.uniform(-1e-6, 6e-6, 1500)], axis=1)
    worst = np.array([np.abs(misra(PRESSURE, *p) - VOLUME).max() for p in near])
    inside, around = c.inner.holds(near), c.outer.may_hold(near)
    assert (worst <= 0.3).sum() > 50 and around[worst <= 0.3 - 1e-9].all() and not inside[worst >= 0.3 + 1e-9].any()
    assert inside.sum() > 50


def test_no_parameters_meet_the_data():
    c = infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS, bounded_error=0.1)
    assert c.feasible is False and len(c.outer) == len(c.inner) == 0 and "INFEASIBLE" in str(c) and c.volume_outer.hi == 0.0


def test_an_error_bound_for_each():
    """Two lines with one datum each: the set is a parallelogram of known area."""
    x, y, dy = np.array([-1.0, 1.0]), np.array([0.0, 1.0]), np.array([0.25, 0.5])
    c = infimum.fit(lambda x, a, b: a + b * x, x, y, bounds=[(-5, 5)] * 2, bounded_error=dy, volume_rtol=0.1)
    area = (2 * 0.25) * (2 * 0.5) / 2
    assert c.volume_inner.lo <= area <= c.volume_outer.hi <= 1.1 * c.volume_inner.lo
    assert c.profiles["a"].outer.lo <= 0.5 - 0.375 <= c.profiles["a"].inner.lo


@pytest.mark.parametrize(("settings", "error", "said"), [
    ({"bounded_error": 0.0}, DataError, "bounded_error"),
    ({"bounded_error": [0.1, 0.2]}, DataError, "bounded_error has the shape"),
    ({"bounded_error": 0.1, "sigma": 1.0}, OptionError, "sigma has no meaning"),
    ({"bounded_error": 0.1, "loss": "absolute"}, OptionError, "loss has no meaning"),
    ({"bounded_error": 0.1, "xtol": 0.1}, OptionError, "no argument 'xtol'")])
def test_errors_of_bounded_errors(settings, error, said):
    with pytest.raises(error, match=said):
        infimum.fit(misra, PRESSURE, VOLUME, bounds=BOUNDS, **settings)
