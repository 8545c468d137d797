"""What is told of a fit: how many there are, what the data do not determine, predictions, statistics, tables and drawings."""

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.fitting.report import outward
from infimum.fitting.statistics import Statistics, flat
from infimum.problem.variable_bounds import read_bounds
from tests.control_word import WORDS, control_word

X = np.linspace(0.0, 4.0, 20)
NOISE = 0.05 * np.cos(37 * X**2)
Y = 5 * np.exp(-1.3 * X) + NOISE


def decaying(x, amplitude, decay):
    return amplitude * np.exp(-decay * x)


def sine(x, a, w, p):
    return a * np.sin(w * x + p)


def two(x, a1, b1, a2, b2):
    return a1 * np.exp(-b1 * x) + a2 * np.exp(-b2 * x)


@pytest.fixture(scope="module")
def fitted() -> infimum.FitResult:
    return infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)])


# ---- how many
def test_exactly_one(fitted: infimum.FitResult):
    assert fitted.unique is True and fitted.uniqueness == "exactly one within the bounds, proved"
    assert not fitted.undetermined and not fitted.exact and fitted.undefined is None
    assert fitted.params["decay"].at_bound is None and fitted.params["decay"].bounds == (0.0, 10.0)


def test_two_that_are_as_good():
    """-a, p + π for a, p: neither is proved to be worse."""
    r = infimum.fit(sine, X, sine(X, 2, 3.1, 0.4) + NOISE, bounds=[(-5, 5), (0.5, 8), (-3.2, 3.2)])
    assert r.success and r.unique is None and len(r.fits) == 2 and all(fit.alone for fit in r.fits)
    (a, *_), (b, *_) = sorted((fit.lo for fit in r.fits), key=lambda lo: lo[0])
    assert np.isclose(a, -b) and r.params["a"].lo <= a and b <= r.params["a"].hi
    assert any(((fit.lo <= r.x) & (r.x <= fit.hi)).all() for fit in r.fits)
    assert "one or more of 2" in r.uniqueness and str(r).count("\n  a = ") == 2


def test_exchangeable_parameters_are_ordered():
    y = two(X, 3, 0.3, 2, 2.5) + 0.1 * NOISE
    bounds, groups = [(0, 10), (0, 5)] * 2, [("b1", "a1"), ("b2", "a2")]
    both = infimum.fit(two, X, y, bounds=bounds)
    r = infimum.fit(two, X, y, bounds=bounds, symmetric=groups, p0=[2, 2.5, 3, 0.3])
    assert len(both.fits) == 2 and r.unique is True and r.values["b1"] < r.values["b2"]
    assert "b1 <= b2" in str(r) and "start box" not in r.message
    assert any(np.allclose(fit.lo, r.fits[0].lo, rtol=1e-9) for fit in both.fits) and r.sse.lo <= both.sse.hi


def test_start_boxes_hold_every_ordered_point():
    from infimum.fitting.symmetric import falls, in_order, start_boxes
    names, n, rng = ("a", "b", "c", "d"), 4, np.random.default_rng(0)
    parameters = infimum.fitting.parameters.Parameters(names, np.full(n, np.nan), read_bounds((-1.0, 2.0), n), None)
    for groups in ([[0], [1]], [[2, 0], [3, 1]], [[0], [1], [2]], [[3], [1], [0], [2]]):
        lo, hi = np.moveaxis(np.array(start_boxes(groups, parameters)), -1, 0)
        points = np.concatenate([rng.uniform(-1, 2, (200, n)), rng.integers(-1, 3, (200, n))])
        for point in points:
            ordered, inside = in_order(groups, point), ((lo <= point) & (point <= hi)).all(axis=1)
            assert ((lo <= ordered) & (ordered <= hi)).all(axis=1).any() and not falls(groups, ordered, ordered)
            assert inside.any() or falls(groups, point, point)


@pytest.mark.parametrize("groups, said", [
    ([("a1",), ("b1",)], "the model changes if"), ([("a1", "b1"), ("a2",)], "equal lengths"), ("a1", "must be a list of groups"),
    ([("a1", "c"), ("a2", "b2")], "symmetric names 'c'"), ([("a1", "a1"), ("a2", "b2")], "each parameter once"),
    ([("b1", "a1"), ("b2", "a2")], "'a1' and 'a2' are to be exchangeable, but have the bounds"), (5, "must be a list of groups")])
def test_what_is_not_symmetric(groups, said: str):
    equal = [(0, 10)] * 4 if "bounds" not in said else [(0, 10), (0, 10), (0, 9), (0, 10)]
    with pytest.raises(infimum.OptionError, match=said):
        infimum.fit(two, X, Y, bounds=equal, symmetric=groups)


def test_fixed_ones_are_not_symmetric():
    with pytest.raises(infimum.OptionError, match="'b2' is fixed"):
        infimum.fit(two, X, Y, bounds=(0, 10), fixed={"b2": 1}, symmetric=[("a1", "b1"), ("a2", "b2")])


# ---- data that tell too much or too little
def test_perfect_data():
    r = infimum.fit(decaying, X, decaying(X, 5.0, 1.3), bounds=[(0, 100), (0, 10)])
    assert r.success and r.unique and r.exact and r.sse.lo == 0 and r.sse.hi < 1e-20
    assert r.params["decay"].lo <= 1.3 <= r.params["decay"].hi and "up to rounding errors" in str(r)


def test_data_that_are_zero():
    r = infimum.fit(lambda x, a, b: a * np.exp(-x) + b, X, np.zeros(20), bounds=(-1, 1))
    assert r.success and r.unique and r.exact


@pytest.mark.parametrize("model, flat", [
    (lambda x, a, b, c: (a + b) * np.exp(-c * x), ["a", "b"]),
    (lambda x, a, b, c: a * np.exp(-b * x) + 0 * c, ["c"])], ids=["sum", "absent"])
def test_parameters_that_the_data_do_not_determine(model, flat: list[str]):
    r = infimum.fit(model, X, Y, bounds=[(0, 10), (0, 10), (0, 5)])
    assert r.success and r.unique is None and r.undetermined == flat
    for name in flat:
        assert f"{name} is not determined by these data" in str(r) and r.params[name].stderr == np.inf
    determined = next(p for p in r.params.values() if p.name not in flat)
    assert determined.hi - determined.lo < 1e-3


def test_a_plateau_that_ends_at_a_bound():
    """A rate that is larger than these data can tell: the loss falls up to the bound, by next to nothing."""
    x = np.linspace(1, 4, 10)
    y = 3 + 0.05 * np.cos(np.arange(10.0) ** 2)
    r = infimum.fit(lambda x, a, b: a * (1 - np.exp(-b * x)), x, y, bounds={"a": (0, 10), "b": (0, 100)})
    flat = r.plateaus["b"]
    assert r.params["b"].at_bound == "upper" and r.undetermined == ["b"] and flat.lo < 15 and flat.hi == 100
    assert "b is not determined by these data: the fit is best at its upper bound" in str(r) and "beyond it" not in str(r)
    at_end = infimum.fit(lambda x, a: a * (1 - np.exp(-flat.lo * x)), x, y, bounds=[(0, 10)])
    assert at_end.sse.lo <= (1 + 1e-4) * r.sse.hi, "really as good"
    assert pickle.loads(pickle.dumps(r)).undetermined == ["b"]


def test_a_bound_without_a_plateau():
    x = np.linspace(1, 4, 10)
    r = infimum.fit(lambda x, a, b: a + b * x, x, 3 - x, bounds=[(0, 10), (-0.5, 5)])
    assert r.params["b"].at_bound == "lower" and not r.undetermined and "b is at its lower bound" in str(r)


def test_what_is_flat():
    """A sum that is fitted, one that is fitted exactly, and a parameter of which regions are wide for other reasons."""
    e, y, steps = np.full(9, 0.1), np.linspace(0, 1, 9), np.array([1.0, 1.0, 1.0])
    sums, apart = np.stack([y, y, y**2], axis=1), np.stack([y, np.cos(y), y**2], axis=1)
    assert flat(sums, steps, e, y).tolist() == flat(sums, steps, 0 * e, y).tolist() == [True, True, False]
    assert not flat(apart, steps, e, y).any() and not flat(apart, steps, 0 * e, y).any()
    assert flat(apart * [1, 1e-9, 1], steps, e, y).tolist() == [False, True, False]
    assert not flat(apart * [1, np.nan, 1], steps, e, y).any()


def test_perfect_data_of_exchangeable_parameters():
    """The second run stays in the boxes of the first one, which hold no mirror image."""
    r = infimum.fit(two, X, two(X, 3, 0.3, 2, 2.5), bounds=[(0, 10), (0, 5)] * 2, symmetric=[("b1", "a1"), ("b2", "a2")])
    assert r.unique and r.exact and np.allclose(r.x, [3, 0.3, 2, 2.5])


def test_parameters_at_bounds():
    r = infimum.fit(decaying, X, Y, bounds=[(0, 4), (0, 10)])
    assert r.unique and r.params["amplitude"].at_bound == "upper" and "at its upper bound" in str(r)


def test_a_model_that_is_undefined_somewhere():
    r = infimum.fit(lambda x, a, b: a * np.log(x - b), X, 2 * np.log(X + 0.5) + NOISE, bounds=[(0, 10), (-3, 3)])
    assert r.unique and -0.6 < r.values["b"] < -0.4
    assert "np.log(x - b)" in r.undefined and "not all parameters within the bounds are candidates" in str(r)


# ---- losses
@pytest.mark.parametrize("loss", ["huber", "cauchy"])
def test_losses_of_scipy(loss: str):
    optimize = pytest.importorskip("scipy.optimize")
    y = Y + np.where(np.arange(20) == 5, 3.0, 0.0)
    r = infimum.fit(decaying, X, y, bounds=[(0, 100), (0, 10)], loss=loss, f_scale=0.1)
    s = optimize.least_squares(lambda p: decaying(X, *p) - y, [5, 1], loss=loss, f_scale=0.1, xtol=1e-14, gtol=1e-14, ftol=1e-14)
    assert np.isclose(r.least.hi, 2 * s.cost, rtol=1e-9) and np.allclose(r.x, s.x, rtol=1e-6)
    assert r.statistics is None and r.covariance is None and r.params["decay"].stderr is None
    assert r.chisqr is r.redchi is r.aic is r.bic is None and r.to_dict()["statistics"] is None
    with pytest.raises(infimum.OptionError, match="r.least"):
        _ = r.sse
    with pytest.raises(infimum.OptionError, match="loss='squares' alone"):
        r.predict([1.0], level=0.95)


@pytest.mark.parametrize("loss, of", [("absolute", np.sum), ("maximum", np.max)])
def test_other_losses(loss: str, of):
    """Of a straight line through three points, computed by hand."""
    x, y = np.array([0.0, 1.0, 2.0]), np.array([0.0, 1.0, 0.0])
    r = infimum.fit(lambda x, a, b: a + b * x, x, y, bounds=(-10, 10), loss=loss)
    assert r.success and np.isclose(r.least.hi, {"absolute": 1.0, "maximum": 0.5}[loss], rtol=1e-5)
    assert of(np.abs(r.residuals)) <= r.least.hi * (1 + 1e-5)


# ---- predictions
def test_predictions_hold_for_every_fit_left():
    """Also where the run stopped early, and much is left."""
    rng = np.random.default_rng(0)
    r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], max_boxes=20)
    at = np.array([0.0, 0.7, 9.0])
    predicted, wide = r.predict(at), 0.0
    for fit in r.fits:
        for p in rng.uniform(fit.lo, fit.hi, (20, 2)):
            value = decaying(at, *p)
            assert (predicted.lo <= value).all() and (value <= predicted.hi).all()
            wide = max(wide, float((fit.hi - fit.lo).max()))
    assert wide > 1e-3 and (predicted.lo < predicted.hi).all()


def test_predictions_are_narrow(fitted: infimum.FitResult):
    predicted = fitted.predict()
    assert np.allclose(predicted.value, fitted.best_fit) and (predicted.hi - predicted.lo < 1e-10).all()
    one = fitted.predict(2.0)
    assert one.value.shape == () and one.lo <= decaying(2.0, **fitted.values) + 1e-12 and one.hi - one.lo < 1e-10
    assert (predicted.lo <= predicted.value + 1e-12).all() and (predicted.value - 1e-12 <= predicted.hi).all()


def test_predictions_where_the_model_is_undefined():
    r = infimum.fit(lambda x, a, b: a * np.log(x - b), X, 2 * np.log(X + 0.5) + NOISE, bounds=[(0, 10), (-3, 0)])
    predicted = r.predict([-2.0])
    assert predicted.lo == -np.inf and predicted.hi == np.inf


# ---- statistics
def test_statistics_of_scipy():
    optimize = pytest.importorskip("scipy.optimize")
    sigma = 0.05 * (1 + X)
    for absolute in (False, True):
        r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], sigma=sigma, absolute_sigma=absolute)
        popt, pcov = optimize.curve_fit(decaying, X, Y, [5, 1], sigma, absolute)
        assert np.allclose(r.x, popt, rtol=1e-6) and np.allclose(r.covariance, pcov, rtol=1e-5)


def test_statistics_by_hand():
    s = Statistics.of(4.0, 4.0, np.ones((4, 1)), absolute_sigma=False)
    assert (s.chi_square, s.degrees_of_freedom, s.r_squared, s.aic) == (4.0, 3, 0.0, 2.0)
    assert np.isclose(s.bic, np.log(4)) and np.isclose(s.stderr[0] ** 2, 4 / 3 / 4) and np.isclose(s.correlation, 1.0)
    singular = Statistics.of(4.0, 4.0, np.ones((4, 2)), absolute_sigma=True)
    assert np.isinf(singular.covariance).all()


def test_as_many_data_as_parameters():
    r = infimum.fit(lambda x, a, b: a + b * x, [0.0, 1.0], [1.0, 3.0], bounds=(-10, 10))
    assert r.unique and np.allclose(r.x, [1, 2]) and np.isinf(r.covariance).all() and np.isnan(r.statistics.reduced_chi_square)
    assert "infinite" in str(r)


# ---- runs that end early, and other engines
def test_a_run_without_time():
    r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], time_limit=1e-9)
    assert not r.success and r.sse.lo == 0 and r.unique is None and r.params["decay"].lo == 0 and r.params["decay"].hi == 10
    assert "before the proof" in r.uniqueness and str(r)


def test_a_search_without_proof():
    r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], engine="swarm")
    assert r.verdict.name == "CANDIDATE" and "nothing was proved" in r.uniqueness and str(r)
    assert np.isclose(r.values["decay"], 1.3, atol=0.1)


def test_a_run_that_was_stopped():
    r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], max_boxes=20)
    assert not r.success and "before the proof" in r.uniqueness and not r.undetermined and str(r)


@pytest.mark.parametrize("word", ["down", "ftz_daz"])
def test_the_same_bits_in_other_environments(fitted: infimum.FitResult, word: str):
    """Where the process rounds downward or flushes, and NumPy raises."""
    with control_word(WORDS[word]), np.errstate(all="raise"):
        r = infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)])
        told = [r.sse, r.params, r.residuals, r.covariance, r.predict().hi, r.statistics.aic, r.undefined, r.exact]
    expected = [fitted.sse, fitted.params, fitted.residuals, fitted.covariance, fitted.predict().hi, fitted.statistics.aic, None,
                False]
    assert list(map(repr, told)) == list(map(repr, expected))


# ---- other forms
REPORT = """\
fit          decaying(x, amplitude, decay) to 20 measurements
verdict      PROVED: the sum of squares of the best fit lies in [0.021034"""


def test_the_report(fitted: infimum.FitResult):
    said = str(fitted)
    assert said.startswith(REPORT)
    for word in ("best fits    exactly one within the bounds, proved", "std. error", "proved to lie in", "(0, 100)", "amplitude ",
                 "estimates    reduced chi-square", "18 degrees of freedom", "AIC", "correlation  decay, amplitude +0.6"):
        assert word in said, said
    assert "decay" in repr(fitted) and "<pre>" in fitted._repr_html_()


def test_digits_enclose():
    rng = np.random.default_rng(0)
    middles, widths = rng.normal(size=300) * 10.0 ** rng.integers(-30, 30, 300), 10.0 ** rng.integers(-40, 30, 300)
    for lo, hi in zip(middles.tolist(), (middles + widths).tolist(), strict=True):
        low, high = map(Fraction, outward(lo, hi).strip("[]").split(", "))
        assert (low <= lo and hi <= high and high - low <= Fraction(5, 4) * (Fraction(hi) - Fraction(lo))) or lo == hi


def test_pickles_and_copies(fitted: infimum.FitResult):
    again = pickle.loads(pickle.dumps(fitted))
    assert str(again) == str(fitted) and again.values == fitted.values and np.array_equal(again.residuals, fitted.residuals)
    with pytest.raises(infimum.OptionError, match="a pickle holds no model"):
        again.predict([1.0])
    assert copy.deepcopy(fitted).values == fitted.values


def test_plots(fitted: infimum.FitResult):
    figure = pytest.importorskip("matplotlib.figure")
    above, below = fitted.plot().axes
    assert above.get_ylabel() == "y" and below.get_ylabel() == "residual"
    ax = figure.Figure().subplots()
    assert fitted.plot(ax) is ax and len(ax.lines) >= 2
    two = infimum.fit(lambda x, a, b: [a * x, b * x], X, [X, 2 * X + NOISE], bounds=(0, 10), sigma=0.1)
    assert two.plot().axes
    columns = infimum.fit(lambda x, a, b: a * x["t"] + b, {"t": X}, 2 * X + NOISE, bounds=(0, 10))
    assert columns.plot().axes[1].get_xlabel() == "t"
