"""A fit under the names of Result and of lmfit, whose figures are those that lmfit 1.3.4 gives; bands; the names in drawings."""

import json
import math

import numpy as np
import pytest

import infimum
from infimum.errors import OptionError
from infimum.fitting.data import Data

X = np.linspace(0.0, 4.0, 20)
Y = 5 * np.exp(-1.3 * X) + 0.05 * np.cos(37 * X**2)
SIGMA = 0.05 * (1 + X)
AT = [0.0, 1.5, 6.0]

# lmfit.Model(decaying).fit(Y, x=X, weights=1/SIGMA, scale_covar=…), and its eval_uncertainty(sigma=0.95, x=AT)
LMFIT = {
    "plain": {"chisqr": 0.021034094156109063, "redchi": 0.0011685607864505036, "aic": -133.14685800143073,
              "bic": -131.15539345432273, "values": [5.043052165637709, 1.3144492863756108],
              "stderr": [0.02797678040252384, 0.011778284231922379], "correlation": 0.604494259205425,
              "band": [0.058777034562724, 0.022097639463893707, 0.00026853972704271925]},
    "weighted": {"chisqr": 1.4153671921672686, "redchi": 0.07863151067595936, "aic": -48.96686552716352,
                 "bic": -46.97540098005554, "values": [5.045281320305232, 1.3161950114896606],
                 "stderr": [0.01267659545269815, 0.008581205658298601], "correlation": 0.5244590658834333,
                 "band": [0.02663253878128069, 0.017295197770655413, 0.00019789378663990625]},
    "absolute": {"chisqr": 1.4153671921672686, "redchi": 0.07863151067595936, "aic": -48.96686552716352,
                 "bic": -46.97540098005554, "values": [5.045281320305232, 1.3161950114896606],
                 "stderr": [0.04520685776914482, 0.03060201338206441], "correlation": 0.5244590658834333,
                 "band": [0.09497608385737269, 0.06167756547047483, 0.0007057223169161166]},
}
SETTINGS = {"plain": {}, "weighted": {"sigma": SIGMA}, "absolute": {"sigma": SIGMA, "absolute_sigma": True}}
STUDENT, NORMAL = 2.1009220402410382, 1.959963984540054  # at 0.975; lmfit takes Student's where sigma is known, too


def decaying(time, amplitude, decay):
    return amplitude * np.exp(-decay * time)


@pytest.fixture(scope="module")
def fitted() -> infimum.FitResult:
    return infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], sigma=SIGMA)


# ---- lmfit
@pytest.mark.parametrize("kind", LMFIT)
def test_figures_of_lmfit(kind: str):
    theirs, r = LMFIT[kind], infimum.fit(decaying, X, Y, bounds=[(0, 100), (0, 10)], **SETTINGS[kind])
    for name in ("chisqr", "redchi", "aic", "bic"):
        assert math.isclose(getattr(r, name), theirs[name], rel_tol=1e-9), name
    assert np.allclose(list(r.values.values()), theirs["values"], rtol=1e-7)
    assert np.allclose([p.stderr for p in r.params.values()], theirs["stderr"], rtol=1e-5)
    assert math.isclose(r.correlation[0, 1], theirs["correlation"], rel_tol=1e-5)
    band, factor = r.predict(AT, level=0.95), NORMAL / STUDENT if kind == "absolute" else 1.0
    assert np.allclose(band.band_hi - band.value, factor * np.array(theirs["band"]), rtol=1e-4)
    assert np.allclose(band.value - band.band_lo, factor * np.array(theirs["band"]), rtol=1e-4)
    assert np.allclose(r.best_fit, decaying(X, **r.values), rtol=1e-14) and band.level == 0.95


def test_figures_of_lmfit_where_nothing_is_left():
    """As many data as parameters: lmfit has a sum of 0, and the least mean square that it takes a logarithm of."""
    s = infimum.fitting.statistics.Statistics.of(0.0, 2.0, np.array([[1.0, 0.0], [1.0, 1.0]]), absolute_sigma=False)
    assert math.isclose(s.aic, -1147.2925464970228) and math.isclose(s.bic, -1149.906252135903)
    r = infimum.fit(lambda x, a, b: a + b * x, [0.0, 1.0], [1.0, 3.0], bounds=(-10, 10))
    assert r.redchi == r.chisqr and "2 measurements for 2 parameters leave no degree of freedom" in str(r) and "nan" not in str(r)


def test_reports(fitted: infimum.FitResult):
    assert fitted.fit_report() == str(fitted) and "correlation" not in fitted.fit_report(show_correl=False)
    assert "correlation" not in fitted.fit_report(min_correl=0.9) and "decaying(time, amplitude, decay)" in str(fitted)


# ---- Result
def test_names_of_a_result(fitted: infimum.FitResult):
    assert (fitted.lower, fitted.upper) == (fitted.least.lo, fitted.least.hi) and fitted.fun == fitted.upper
    assert fitted.gap == fitted.least.width and fitted.nfev == fitted.minimum.nfev and fitted.nit == fitted.minimum.nit
    plain = fitted.to_dict()
    assert plain["params"]["decay"]["value"] == fitted.values["decay"] and plain["verdict"] == "PROVED" and plain["unique"]
    assert plain["statistics"]["r_squared"] == fitted.statistics.r_squared and len(plain["residuals"]) == 20
    assert json.loads(fitted.to_json())["fun"] == fitted.fun
    loose = infimum.fit(lambda x, a, b: (a + b) * x, X, X + 0.1, bounds=(0, 10))
    assert json.loads(loose.to_json())["covariance"][0][0] == "inf"


# ---- R²
def test_a_weighted_constant_explains_nothing():
    r = infimum.fit(lambda x, level: level, X, Y, bounds=[(-10, 10)], sigma=SIGMA)
    assert abs(r.statistics.r_squared) < 1e-12 and "R² 0," in str(r)


def test_weighted_data_that_do_not_vary():
    """The weighted mean of 5, 5, … is not 5 where it is rounded."""
    sigma = [0.625, 1.0, 0.5, 1.0, 0.375, 1.0]
    r = infimum.fit(lambda t, a: a + 0 * t, np.arange(6.0), np.full(6, 5.0), sigma=sigma, bounds=[(-10, 10)])
    assert math.isnan(r.statistics.r_squared) and "no R², since the data do not vary" in str(r)


def test_constants_for_several_responses_explain_nothing():
    columns, sigma = np.stack([Y, 100 + Y], axis=1), np.stack([SIGMA, 2 * SIGMA], axis=1)
    r = infimum.fit(lambda x, a, b: np.stack([a + 0 * x, b + 0 * x], axis=1), X, columns, bounds=(-200, 200), sigma=sigma)
    assert abs(r.statistics.r_squared) < 1e-12
    found = r.predict([1.0, 2.0, 3.0], level=0.9)
    assert found.band_hi.shape == (3, 2) and np.allclose(found.stderr[:, 1], 2 * found.stderr[:, 0])
    rows = Data.read(X, columns.T, sigma.T)
    assert np.isclose(rows.total_squares, r.problem.data.total_squares) and np.isclose(rows.total_squares, r.chisqr)


def test_data_that_do_not_vary():
    r = infimum.fit(lambda x, a, b: a + b * x, X, np.full(20, 3.0), bounds=(-10, 10))
    assert math.isnan(r.statistics.r_squared) and r.exact and "no R², since the data do not vary" in str(r)


# ---- bands
def test_bands(fitted: infimum.FitResult):
    half, wide = fitted.predict(level=0.5), fitted.predict(level=0.99)
    assert (wide.band_lo < half.band_lo).all() and (half.band_hi < wide.band_hi).all()
    assert (half.band_lo < half.lo).all() and (half.hi < half.band_hi).all() and fitted.predict(AT).band_lo is None
    for level in (0, 1, 95, True):
        with pytest.raises(OptionError, match="between 0 and 1"):
            fitted.predict(AT, level=level)
    r = infimum.fit(lambda x, a, b: a + b * x, [0, 1], [1.0, 2.0], bounds=[(-5, 5)] * 2)
    with pytest.raises(OptionError, match="leave nothing to estimate sigma from"):
        r.predict(AT, level=0.9)


# ---- drawings
def test_drawings_have_the_names_of_the_user(fitted: infimum.FitResult):
    pytest.importorskip("matplotlib")
    assert [(a.get_xlabel(), a.get_ylabel()) for a in fitted.plot().axes] == [("", "y"), ("time", "residual")]
    two = infimum.fit(lambda x, a: a * x["t"] * x["dose"], {"t": X, "dose": X}, X**2, bounds=[(0, 10)])
    assert two.plot().axes[1].get_xlabel() == "number of the measurement"


def test_drawings_have_the_names_of_columns():
    pytest.importorskip("matplotlib")
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"hours": X, "dose": Y, "other": Y / 2})
    r = infimum.fit(decaying, frame["hours"], frame["dose"], bounds=[(0, 100), (0, 10)])
    assert [(a.get_xlabel(), a.get_ylabel()) for a in r.plot().axes] == [("", "dose"), ("hours", "residual")]
    both = infimum.fit(lambda t, a, b, k: np.stack([a * np.exp(-k * t), b * np.exp(-k * t)], axis=1), frame["hours"],
                       frame[["dose", "other"]], bounds=(0, 10))
    above = both.plot().axes[0]
    assert [entry.get_text() for entry in above.get_legend().get_texts()] == ["dose", "other"] and len(above.lines) >= 4
    single = infimum.fit(lambda x, a, k: a * np.exp(-k * x["hours"]), frame[["hours"]], frame["dose"], bounds=(0, 10))
    assert single.plot().axes[1].get_xlabel() == "hours"
