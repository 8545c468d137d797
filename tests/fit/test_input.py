"""Whatever users give: models, parameters and data in many forms, and errors that name the cure."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pytest

import infimum
from infimum.fitting.data import Columns, Data
from infimum.fitting.losses import read_loss
from infimum.fitting.model import Model
from infimum.fitting.parameters import ParameterSettings

X = np.linspace(0.0, 4.0, 9)
Y = 5 * np.exp(-1.3 * X) + 0.5 + 0.01 * np.cos(7 * X)
BOUNDS = {"amplitude": (0, 100), "decay": (0, 10), "offset": (-5, 5)}


def decaying(x, amplitude, decay, offset):
    return amplitude * np.exp(-decay * x) + offset


def best(r: infimum.FitResult) -> np.ndarray:
    assert r.success and r.unique
    return np.array(list(r.values.values()))


@pytest.fixture(scope="module")
def expected() -> np.ndarray:
    return best(infimum.fit(decaying, X, Y, bounds=BOUNDS))


@dataclass
class Held:
    """As lmfit's Parameter."""

    value: float
    min: float = -np.inf
    max: float = np.inf
    vary: bool = True
    expr: str | None = None


class Ends:
    lb, ub = [0, 0, -5], [100, 10, 5]


# ---- forms of one and the same question
def by_keyword(x, amplitude=1.0, *, decay, offset=0.0, kind="exponential"):
    return decaying(x, amplitude, decay, offset)


def any_number(x, *p):
    return decaying(x, *p)


class Instrument:
    def read(self, x, amplitude, decay, offset):
        return decaying(x, amplitude, decay, offset)


def assigned(x, amplitude, decay, offset):
    y = np.empty(len(x))
    for k in range(len(x)):
        y[k] = amplitude * np.exp(-decay * x[k]) + offset
    return y


FORMS: dict[str, tuple[Callable, Any, dict[str, Any]]] = {
    "pairs": (decaying, X, {"bounds": [(0, 100), (0, 10), (-5, 5)]}),
    "an array": (decaying, X, {"bounds": np.array([[0.0, 100], [0, 10], [-5, 5]])}),
    "scipy": (decaying, X, {"bounds": Ends()}),
    "keyword": (by_keyword, X, {"bounds": BOUNDS}),
    "any number": (any_number, X, {"bounds": [(0, 100), (0, 10), (-5, 5)]}),
    "method": (Instrument().read, X, {"bounds": BOUNDS}),
    "partial": (partial(by_keyword, kind="other"), X, {"bounds": BOUNDS}),
    "assigned": (assigned, X, {"bounds": BOUNDS}),
    "lists": (lambda x, amplitude, decay, offset: decaying(x, amplitude, decay, offset), X.tolist(), {"bounds": BOUNDS}),
    "start": (decaying, X, {"bounds": BOUNDS, "p0": [1, 1, 1]}),
    "some of a start": (decaying, X, {"bounds": BOUNDS, "p0": {"decay": 2}}),
    "lmfit": (decaying, X, {"bounds": {"amplitude": Held(1, 0, 100), "decay": Held(1, 0, 10), "offset": Held(0, -5, 5)}}),
    "two variables": (lambda x, amplitude, decay, offset: decaying(x[0] + x[1], amplitude, decay, offset), [X / 2, X / 2],
                      {"bounds": BOUNDS}),
    "columns": (lambda x, amplitude, decay, offset: decaying(x["t"] + x.late, amplitude, decay, offset),
                {"t": X / 2, "late": X / 2}, {"bounds": BOUNDS}),
    "an object": (lambda x, amplitude, decay, offset: decaying(x.times, amplitude, decay, offset),
                  type("Run", (), {"times": X})(), {"bounds": BOUNDS}),
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_one_question(form: str, expected: np.ndarray):
    model, x, settings = FORMS[form]
    assert np.allclose(best(infimum.fit(model, x, Y, **settings)), expected, rtol=1e-12)


def test_frames_of_pandas(expected: np.ndarray):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"t": X, "y": Y})
    assert np.allclose(best(infimum.fit(decaying, frame["t"], frame["y"], bounds=BOUNDS)), expected, rtol=1e-12)
    model = lambda x, amplitude, decay, offset: decaying(x["t"], amplitude, decay, offset)  # noqa: E731
    r = infimum.fit(model, frame[["t"]], frame["y"], bounds=BOUNDS)
    assert np.allclose(best(r), expected, rtol=1e-12)
    assert np.allclose(r.predict(frame[["t"]]).value, r.best_fit)


def test_parameters_of_lmfit(expected: np.ndarray):
    lmfit = pytest.importorskip("lmfit")
    parameters = lmfit.create_params(amplitude={"value": 1, "min": 0, "max": 100}, decay={"value": 1, "min": 0, "max": 10},
                                     offset={"value": 0, "min": -5, "max": 5})
    assert np.allclose(best(infimum.fit(decaying, X, Y, bounds=parameters)), expected, rtol=1e-12)


def test_fixed_parameters():
    free = {"amplitude": (0, 100), "decay": (0, 10)}
    for settings in ({"fixed": {"offset": 0.5}}, {"fixed": ["offset"], "p0": [1, 1, 0.5]},
                     {"fixed": "offset", "p0": {"offset": 0.5}}):
        r = infimum.fit(decaying, X, Y, bounds=free, **settings)
        offset = r.params["offset"]
        assert r.unique and offset.fixed and offset.lo == offset.hi == r.values["offset"] == 0.5
        assert offset.stderr is None and r.covariance.shape == (2, 2) and len(r.minimum.x) == 2
    held = {"amplitude": Held(1, 0, 100), "decay": Held(1, 0, 10), "offset": Held(0.5, vary=False)}
    assert infimum.fit(decaying, X, Y, bounds=held).values == r.values


def test_several_responses():
    def both(x, a, b, rate):
        return [a * np.exp(-rate * x), b * np.exp(-rate * x)]

    y = np.stack([2 * np.exp(-X), 3 * np.exp(-X)]) + 0.01 * np.cos(7 * X)
    rows = infimum.fit(both, X, y, bounds=(0, 10))
    columns = infimum.fit(lambda x, *p: np.stack(both(x, *p), axis=1), X, y.T, bounds=[(0, 10)] * 3)
    weighted = infimum.fit(both, X, y, bounds=(0, 10), sigma=[[0.5], [0.5]])
    assert rows.residuals.shape == (2, 9) and columns.residuals.shape == (9, 2) and rows.statistics.data == 18
    assert np.allclose(best(columns), best(rows), rtol=1e-12) and np.allclose(best(weighted), best(rows), rtol=1e-12)
    assert np.isclose(weighted.sse.hi, 4 * rows.sse.hi) and np.allclose(weighted.covariance, rows.covariance)
    assert rows.predict([5.0]).value.shape == (2, 1) and columns.predict([5.0]).value.shape == (1, 2)


def test_standard_deviations():
    sigma = 0.1 + 0.1 * X
    r = infimum.fit(decaying, X, Y, bounds=BOUNDS, sigma=sigma)
    absolute = infimum.fit(decaying, X, Y, bounds=BOUNDS, sigma=sigma, absolute_sigma=True)
    assert np.isclose(np.sum((r.residuals / sigma) ** 2), r.sse.hi)
    assert np.allclose(absolute.covariance * r.statistics.reduced_chi_square, r.covariance)


def test_a_single_number_stands_for_all():
    r = infimum.fit(lambda x, level: level, X, Y, bounds=(-10, 10))
    assert r.unique and np.isclose(r.values["level"], Y.mean()) and r.predict().value.shape == (9,)


# ---- what cannot be fitted
def with_nan(row: int) -> np.ndarray:
    y = Y.copy()
    y[row] = np.nan
    return y


BAD: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "NaN": ({"y": with_nan(3)}, infimum.DataError, r"y holds NaN in row 3 .*leave such rows out"),
    "several NaN": ({"y": np.where(X < 2.2, np.nan, Y)}, infimum.DataError, r"rows 0, 1, 2 and 2 more"),
    "infinite x": ({"x": np.where(X == 4, np.inf, X)}, infimum.DataError, "x holds an infinite number in row 8"),
    "infinite column": ({"x": {"t": np.where(X == 4, np.inf, X)}}, infimum.DataError, r"x\['t'\] holds an infinite number"),
    "texts": ({"y": ["a"] * 9}, infimum.DataError, "y must hold real numbers"),
    "ragged": ({"y": [[1.0], [1.0, 2.0]]}, infimum.DataError, "lists of equal lengths"),
    "long integers": ({"x": np.arange(9) + 2**53}, infimum.DataError, r"beyond 2\*\*53"),
    "masked": ({"y": np.ma.masked_equal(Y, Y[2])}, infimum.DataError, "masked"),
    "no data": ({"x": [], "y": []}, infimum.DataError, r"y must be an array of shape \(N,\)"),
    "lengths": ({"x": X[:-1]}, infimum.DataError, r"x has 8 points and y has the shape \(9,\)"),
    "few": ({"x": X[:2], "y": Y[:2]}, infimum.DataError, "2 measurements cannot determine 3 parameters: .*fixed="),
    "zero sigma": ({"sigma": np.where(X == 0, 0.0, 1.0)}, infimum.DataError, "sigma holds 0 in row 0"),
    "negative sigma": ({"sigma": np.where(X == 4, -1.0, 1.0)}, infimum.DataError, "sigma holds a negative number in row 8"),
    "shape of sigma": ({"sigma": [1.0, 2.0]}, infimum.DataError, r"sigma has the shape \(2,\) and y the shape \(9,\)"),
    "covariances": ({"sigma": np.eye(9)}, infimum.DataError, "sigma is a matrix"),
    "shape": ({"model": lambda x, a: a * np.outer(x, x), "bounds": (0, 1)}, infimum.DataError,
              r"the model returned an array of shape \(9, 9\), and y has the shape \(9,\)"),
    "transposed": ({"model": lambda x, a: [a * x, x], "y": np.stack([Y, Y], axis=1), "bounds": (0, 1)}, infimum.DataError,
                   r"shape \(2, 9\), and y has the shape \(9, 2\): transpose"),
    "None": ({"model": lambda x, a: None, "bounds": (0, 1)}, infimum.DataError, "is a `return` missing"),
    "model": ({"model": 3}, infimum.OptionError, "must be a function"),
    "no parameters": ({"model": lambda x: x}, infimum.OptionError, "no parameters to fit"),
    "no x": ({"model": lambda: 1.0}, infimum.OptionError, "takes no argument by its place"),
    "how many": ({"model": any_number}, infimum.OptionError, "how many parameters"),
    "its own error": ({"model": lambda x, a: a * x[20], "bounds": (0, 1)}, infimum.UserFunctionError, "IndexError"),
    "untraceable": ({"model": lambda x, a: x if a > 0 else -x, "bounds": (0, 1)}, infimum.TraceError, "np.where"),
    "no bounds": ({"bounds": None}, infimum.BoundsError, r"'amplitude', 'decay', 'offset' have no finite bounds.*'decay': \("),
    "half a bound": ({"bounds": BOUNDS | {"decay": (0, np.inf)}}, infimum.BoundsError, r"'decay' has no finite bounds"),
    "names in bounds": ({"bounds": BOUNDS | {"dcay": (0, 1)}}, infimum.OptionError, "bounds names 'dcay'.*did you mean 'decay'"),
    "names in fixed": ({"fixed": {"rate": 1}}, infimum.OptionError, "fixed names 'rate'.*'amplitude', 'decay', 'offset'"),
    "names in p0": ({"p0": {"rate": 1}}, infimum.OptionError, "p0 names 'rate'"),
    "reversed": ({"bounds": BOUNDS | {"decay": (1, 0)}}, infimum.BoundsError, "parameter 'decay' are reversed"),
    "no pair": ({"bounds": BOUNDS | {"decay": 3}}, infimum.BoundsError, "parameter 'decay'"),
    "count of bounds": ({"bounds": [(0, 1)] * 2}, infimum.BoundsError, "2 pairs of bounds for 3 parameters"),
    "count of p0": ({"p0": [1, 2]}, infimum.OptionError, "p0 has 2 numbers for 3 parameters"),
    "p0 outside": ({"p0": [1, 20, 0]}, infimum.OptionError, "p0 of 'decay' is 20.0, outside its bounds"),
    "p0 no number": ({"p0": {"decay": "fast"}}, infimum.OptionError, "'fast', which is not a number that a double can hold"),
    "fixed where": ({"fixed": ["offset"]}, infimum.OptionError, "at which value"),
    "all fixed": ({"fixed": {"amplitude": 1, "decay": 1, "offset": 1}}, infimum.OptionError, "nothing to fit"),
    "expression": ({"bounds": {"amplitude": Held(1, 0, 9), "decay": Held(1, 0, 9), "offset": Held(1, expr="amplitude / 2")}},
                   infimum.OptionError, "the expression 'amplitude / 2'"),
    "loss": ({"loss": "cubes"}, infimum.OptionError, "no loss 'cubes'.*'squares'"),
    "f_scale of none": ({"f_scale": 1.0}, infimum.OptionError, "'squares' has no f_scale"),
    "f_scale": ({"loss": "huber", "f_scale": 0}, infimum.OptionError, "f_scale must be a positive number"),
    "x0": ({"x0": [1, 1, 1]}, infimum.OptionError, "use p0="),
    "unknown": ({"tolerance": 1}, infimum.OptionError, "no argument 'tolerance'"),
    "undefined": ({"model": lambda x, a: np.log(-1 - x - a), "bounds": (0, 1)}, infimum.UndefinedError,
                  "undefined for all parameters within the bounds"),
}


@pytest.mark.parametrize("case", BAD)
def test_errors_name_the_cure(case: str):
    changed, error, said = BAD[case]
    settings = {"model": decaying, "x": X, "y": Y, "bounds": BOUNDS} | changed
    with pytest.raises(error, match=said):
        infimum.fit(settings.pop("model"), settings.pop("x"), settings.pop("y"), **settings)


def test_proposed_bounds_can_be_used():
    """They hold the best fit, and a fit within them is proved."""
    for start in ({}, {"p0": {"decay": 0.5}}):
        with pytest.raises(infimum.BoundsError) as caught:
            infimum.fit(decaying, X, Y, **start)
        proposed = eval(str(caught.value).partition("bounds=")[2].partition("}")[0] + "}")  # as a user would copy it
        assert best(infimum.fit(decaying, X, Y, bounds=proposed))[1] > 0


def test_bounds_that_are_no_doubles_are_exact():
    from fractions import Fraction
    model = Model.read(decaying)
    third = ParameterSettings.read(model, [(0, Fraction(1, 3))] * 3, None, None).parameters(model.names)
    assert Fraction(float(third.hi[0])) < Fraction(1, 3) < Fraction(float(third.bounds.region[1][0]))


def test_columns_know_their_names():
    with pytest.raises(AttributeError, match="no column 'c'; there are 't'"):
        _ = Columns({"t": [1.0]}).c
    assert Data.read({"t": [1, 2]}, [1, 2]).size == 2 and read_loss("huber", None)[1] == 1.0
