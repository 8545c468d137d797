"""curve_fit: as SciPy's, but proved."""

import numpy as np
import pytest

import infimum

X = np.linspace(0.0, 4.0, 20)
Y = 5 * np.exp(-1.3 * X) + 0.05 * np.cos(37 * X**2)


def decaying(x, a, b):
    return a * np.exp(-b * x)


@pytest.mark.parametrize("settings", [
    {"bounds": ([0, 0], [100, 10])}, {"bounds": (0, [100, 10])}, {"bounds": (0, 100), "p0": [1, 1]},
    {"bounds": ([0, 0], [100, 10]), "sigma": 0.1 * (1 + X), "absolute_sigma": True},
    {"bounds": ([0, 0], [100, 10]), "method": "trf", "jac": "3-point", "maxfev": 10_000, "xtol": 1e-12, "check_finite": True},
    {"bounds": ([0, 0], [100, 10]), "loss": "linear"}])
def test_as_scipy(settings: dict):
    optimize = pytest.importorskip("scipy.optimize")
    popt, pcov = infimum.curve_fit(decaying, X, Y, **settings)
    known = {"sigma", "absolute_sigma", "bounds", "p0"}
    theirs = optimize.curve_fit(decaying, X, Y, **{"p0": [5, 1]} | {k: v for k, v in settings.items() if k in known})
    assert np.allclose(popt, theirs[0], rtol=1e-6) and np.allclose(pcov, theirs[1], rtol=1e-4)


def test_bounds_of_scipy():
    optimize = pytest.importorskip("scipy.optimize")
    popt, _ = infimum.curve_fit(decaying, X, Y, bounds=optimize.Bounds([0, 0], [100, 10]))
    assert np.allclose(popt, infimum.curve_fit(decaying, X, Y, bounds={"a": (0, 100), "b": (0, 10)})[0], rtol=1e-12)


def test_full_output():
    popt, pcov, told, message, ier = infimum.curve_fit(decaying, X, Y, bounds=(0, 100), full_output=True)
    assert ier == 1 and message == told["result"].message and told["nfev"] > 0
    assert np.allclose(told["fvec"], decaying(X, *popt) - Y) and isinstance(told["result"], infimum.FitResult)


def test_any_number_of_parameters():
    popt, _ = infimum.curve_fit(lambda x, *c: c[0] * np.exp(-c[1] * x), X, Y, p0=[1, 1], bounds=(0, 10))
    assert np.allclose(popt, infimum.curve_fit(decaying, X, Y, bounds=(0, 10))[0], rtol=1e-9)


def test_rows_with_nan():
    y = np.where(X == X[3], np.nan, Y)
    kept, _ = infimum.curve_fit(decaying, X, y, bounds=(0, 10), nan_policy="omit", sigma=np.ones(20))
    assert np.allclose(kept, infimum.curve_fit(decaying, np.delete(X, 3), np.delete(Y, 3), bounds=(0, 10))[0], rtol=1e-12)
    with pytest.raises(infimum.DataError, match="row 3"):
        infimum.curve_fit(decaying, X, y, bounds=(0, 10))


@pytest.mark.parametrize("settings, error, said", [
    ({}, infimum.BoundsError, r"'a', 'b' have no finite bounds.*bounds=\{'a': \("),
    ({"p0": [5, 1]}, infimum.BoundsError, r"'b': \(0.1, 10\)"),
    ({"bounds": 5}, infimum.BoundsError, "bounds must be"),
    ({"bounds": ([0, 0, 0], [1, 1, 1])}, infimum.BoundsError, "the model has 2 parameters"),
    ({"bounds": ([0, 0, 0], [1, 1])}, infimum.BoundsError, "3 lower and 2 upper"),
    ({"bounds": (0, 1), "method": "newton"}, infimum.OptionError, "no method 'newton'"),
    ({"bounds": (0, 1), "nan_policy": "propagate"}, infimum.OptionError, "nan_policy must be"),
    ({"bounds": (0, 1), "loss": "soft_l1"}, infimum.OptionError, "no loss 'soft_l1'")])
def test_errors(settings: dict, error: type[Exception], said: str):
    with pytest.raises(error, match=said):
        infimum.curve_fit(decaying, X, Y, **settings)


def test_warnings():
    with pytest.warns(RuntimeWarning, match="not proved"):
        infimum.curve_fit(decaying, X, Y, bounds=(0, 10), max_boxes=10)
    with pytest.warns(RuntimeWarning, match="only known to lie between .*: other parameters may fit noticeably better"):
        infimum.curve_fit(lambda x, a, b, c: (a + b) * np.exp(-c * x), X, Y, bounds=(0, 10), atol=1.0)
    with pytest.warns(RuntimeWarning, match="covariance"):
        infimum.curve_fit(lambda x, a, b, c: (a + b) * np.exp(-c * x), X, Y, bounds=(0, 10))
    with pytest.warns(RuntimeWarning, match="least squares alone") as caught:
        infimum.curve_fit(decaying, X, Y, bounds=(0, 10), loss="huber")
    assert caught[0].filename == __file__


def test_no_warning_where_the_model_meets_the_data():
    """The loss is then 0 up to rounding errors, and no enclosure of it is close in parts of it."""
    popt, _ = infimum.curve_fit(decaying, X, decaying(X, 5.0, 1.3), bounds=(0, 10))
    assert np.allclose(popt, [5, 1.3], rtol=1e-12)
