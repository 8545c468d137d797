"""Measurements that are pinned by tiny standard deviations: proved, and held against rational arithmetic and other questions."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.fitting.data import Data
from infimum.fitting.entry import read_model
from infimum.fitting.losses import LOSSES, read_loss
from infimum.fitting.pinning.pinned_data import PinnedData, without_constant_rows
from infimum.fitting.problem import FitProblem
from infimum.fitting.statistics import Statistics

X = np.linspace(0.0, 4.0, 20)
NOISE = 0.1 * np.cos(37 * X**2)
EXPONENTIAL = [(0, 100), (0, 10), (-5, 5)]


def line(x, a, b):
    return a + b * x


def decaying(x, a, b, c):
    return a * np.exp(-b * x) + c


def peak(x, a, m, s):
    return a * np.exp(-0.5 * ((x - m) / s) ** 2)


def pinned(at, sigma: float, others: float = 0.1) -> np.ndarray:
    found = np.full(20, others)
    found[at] = sigma
    return found


def problem_of(model, y, bounds, sigma, loss: str = "squares") -> FitProblem:
    data = Data.read(X, y, sigma)
    parameters, read = read_model(model, data, bounds, None, None)
    return FitProblem(read, data, parameters, *read_loss(loss, None))


def exactly(x: np.ndarray, y: np.ndarray, sigma: np.ndarray, degree: int) -> tuple[list[Fraction], Fraction]:
    """The weighted least squares of a polynomial, and its sum, in rational arithmetic."""
    rows = [[Fraction(float(v)) ** k for k in range(degree + 1)] for v in x]
    weights, values = [1 / Fraction(float(s)) ** 2 for s in sigma], [Fraction(float(v)) for v in y]
    n = degree + 1
    a = [[sum(w * r[i] * r[j] for w, r in zip(weights, rows, strict=True)) for j in range(n)]
         + [sum(w * r[i] * v for w, r, v in zip(weights, rows, values, strict=True))] for i in range(n)]
    for i in range(n):
        a[i] = [entry / a[i][i] for entry in a[i]]
        for k in range(n):
            if k != i:
                a[k] = [entry - a[k][i] * other for entry, other in zip(a[k], a[i], strict=True)]
    found = [row[n] for row in a]
    return found, sum(w * (sum(p * e for p, e in zip(found, r, strict=True)) - v) ** 2
                      for w, r, v in zip(weights, rows, values, strict=True))


# ---- what is proved
def test_one_pinned_point_is_no_licence():
    """The tolerance was made of data in units of the tiny sigma, larger than chi-square: anything was the best fit."""
    y, sigma = decaying(X, 5, 1.3, 0.5) + NOISE, pinned(0, 1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        popt, pcov = infimum.curve_fit(decaying, X, y, bounds=([0, 0, -5], [100, 10, 5]), sigma=sigma)
    # the same by hand: the first point is met, c = y0 - a
    held = infimum.fit(lambda x, a, b: a * (np.exp(-b * x) - 1) + y[0], X[1:], y[1:], bounds=[(0, 100), (0, 10)], sigma=0.1)
    r = infimum.fit(decaying, X, y, bounds=EXPONENTIAL, sigma=sigma)
    assert r.verdict.name == "PROVED" and r.unique and not r.exact and "rounding errors" not in str(r)
    assert np.isclose(r.lower, held.lower, rtol=1e-9) and np.isclose(r.upper, held.upper, rtol=1e-9)
    assert np.allclose(popt[:2], held.x, rtol=1e-9) and np.isclose(popt[0] + popt[2], y[0], rtol=1e-15)
    assert np.allclose(np.sqrt(np.diag(pcov))[:2], np.sqrt(np.diag(held.covariance)), rtol=1e-6)
    assert r.statistics.r_squared < 1 and np.isclose(r.chisqr, held.chisqr, rtol=1e-5)


@pytest.mark.parametrize("degree, at, sigma, scale", [
    (1, [3, 11], 1e-6, 1e3), (1, [3, 11], 1e-15, 1.0), (2, [7], 1e-12, 1.0), (2, [7], 1e-18, 1e-3)])
def test_polynomials_in_rational_arithmetic(degree: int, at: list[int], sigma: float, scale: float):
    """Enclosures hold the exact sum and the exact parameters, however much smaller than an ulp the pinned residuals are."""
    y, given = scale * (np.polyval([0.5, -1.0, 2.0][-degree - 1:], X) + NOISE), pinned(at, sigma * scale, 0.1 * scale)
    exact, least = exactly(X, y, given, degree)
    r = infimum.fit(lambda x, *p: sum(c * x**k for k, c in enumerate(p)), X, y, bounds=[(-50 * scale, 50 * scale)] * (degree + 1),
                    sigma=given)
    assert r.verdict.name == "PROVED" and r.unique
    assert Fraction(r.lower) <= least <= Fraction(r.upper) and r.gap <= 1e-6 * r.upper
    for p, value in zip(r.params.values(), exact, strict=True):
        assert Fraction(p.lo) <= value <= Fraction(p.hi) and p.hi - p.lo <= 1e-9 * scale


def test_a_smaller_sigma_changes_next_to_nothing():
    """The least loss grows with the weight of a point, and towards a limit."""
    y, bounds = peak(X, 5, 2.1, 0.7) + NOISE, [(0, 100), (0, 4), (0.1, 4)]
    found = [infimum.fit(peak, X, y, bounds=bounds, sigma=pinned(0, sigma)) for sigma in (1e-8, 1e-13)]
    assert all(r.verdict.name == "PROVED" and r.unique for r in found)
    assert found[0].lower <= found[1].upper and np.isclose(found[0].lower, found[1].upper, rtol=1e-6)


def test_pinned_and_exact():
    r = infimum.fit(decaying, X, decaying(X, 5, 1.3, 0.5), bounds=EXPONENTIAL, sigma=pinned(0, 1e-12))
    assert r.success and r.exact and r.upper < 1e-20 and np.allclose(r.x, [5, 1.3, 0.5], rtol=1e-9)
    assert all(p.lo <= value <= p.hi for p, value in zip(r.params.values(), (5, 1.3, 0.5), strict=True))


def test_more_pinned_points_than_parameters():
    """A line through three points of it: what is pinned has no say in what counts as 0, however many they are."""
    y = line(X, 1, 2) + NOISE
    y[[0, 5, 10]] = line(X[[0, 5, 10]], 1, 2)
    r = infimum.fit(line, X, y, bounds=(-100, 100), sigma=pinned([0, 5, 10], 1e-12))
    exact, least = exactly(X, y, r.problem.data.sigma, 1)
    assert r.success and not r.exact and Fraction(r.lower) <= least <= Fraction(r.upper) and r.gap <= 1e-4 * r.upper


def test_a_pinned_residual_that_no_parameter_changes():
    """a (1 - exp(-b x)) is 0 at x = 0: beside its square all others are nothing, and are fitted all the same."""
    def saturating(x, a, b):
        return a * (1 - np.exp(-b * x))
    y = saturating(X, 5, 1.3) + NOISE
    r = infimum.fit(saturating, X, y, bounds=[(0, 100), (0, 10)], sigma=pinned(0, 1e-12))
    others = infimum.fit(saturating, X[1:], y[1:], bounds=[(0, 100), (0, 10)], sigma=0.1)
    assert r.success and r.unique and np.allclose(r.x, others.x, rtol=1e-9)
    least = (Fraction(float(y[0])) / Fraction(1e-12)) ** 2
    assert Fraction(r.lower) <= least + Fraction(others.upper) and least + Fraction(others.lower) <= Fraction(r.upper)
    assert "measurement 0 (counted from 0) makes up 100" in str(r)


def test_repeated_measurements_that_are_pinned():
    x = np.repeat(X[::2], 4)
    y, sigma = decaying(x, 5, 1.3, 0.5) + 0.1 * np.cos(np.arange(40.0) ** 2), np.full(40, 0.1)
    y[:4], sigma[:4] = y[0], 1e-12
    r = infimum.fit(decaying, x, y, bounds=EXPONENTIAL, sigma=sigma)
    assert r.success and r.unique and r.rest.lo > 0 and np.isclose(r.values["a"] + r.values["c"], y[0], rtol=1e-14)


@pytest.mark.parametrize("loss", ["cauchy", "absolute"])
def test_other_losses_of_pinned_fits(loss: str):
    """Two parameters, as some take long: the enclosure is as close as asked for, and holds the loss at the best point."""
    y = line(X, 1, 2) + NOISE
    r = infimum.fit(line, X, y, bounds=(-10, 10), sigma=pinned(0, 1e-10), loss=loss, rtol=1e-3)
    assert r.success and not r.exact and r.gap <= 1e-3 * r.upper
    near = np.linspace(-0.02, 0.02, 401)
    held = [LOSSES[loss].of((y[0] + b * X - y)[1:] / 0.1, 1.0) for b in r.values["b"] + near]
    assert r.lower <= min(held) * (1 + 1e-9) and min(held) <= r.upper * 1.01, "b alone, through the pinned point"


def test_a_limit_leaves_what_holds():
    y, sigma = decaying(X, 5, 1.3, 0.5) + NOISE, pinned(0, 1e-12)
    whole = infimum.fit(decaying, X, y, bounds=EXPONENTIAL, sigma=sigma)
    for most in (10, 6000):
        r = infimum.fit(decaying, X, y, bounds=EXPONENTIAL, sigma=sigma, max_boxes=most)
        assert r.verdict.name == "STOPPED" and "the limit is" in r.message and r.unique is None
        assert r.lower <= whole.upper and whole.lower <= r.upper and str(r)
        assert all(p.lo <= best.value <= p.hi for p, best in zip(r.params.values(), whole.params.values(), strict=True))


def test_confidence_sets_of_pinned_fits_are_covered():
    y = line(X, 1, 2) + NOISE
    r = infimum.fit(line, X, y, bounds=(-10, 10), sigma=pinned(0, 1e-12))
    c = r.confidence(0.95)
    b, half = r.values["b"], 3 * r.params["b"].stderr
    assert b - half < c.profiles["b"].outer.lo < b < c.profiles["b"].outer.hi < b + half and c.outer.may_hold([r.x]).all()


# ---- which measurements are
@pytest.mark.parametrize("sigma, numbers", [
    (None, None), (0.1, None), (pinned(0, 1e-4), None), (pinned([0, 4], 1e-9), [0, 4]), (pinned([0, 4, 5], 1e-9), None),
    (np.where(np.arange(20) < 15, 1e9, 0.1), None), (np.where(np.arange(20) < 18, 1e9, 0.1), [18, 19]),
    (pinned(0, 1e-30) * np.where(np.arange(20) == 1, 1e-12, 1.0), [0, 1])])
def test_which_are_pinned(sigma, numbers):
    problem = problem_of(line, line(X, 1, 2) + NOISE, (-10, 10), sigma)
    found = PinnedData.of(problem, problem.rows())
    assert (None if found is None else found.numbers.tolist()) == numbers


def test_the_relaxed_sum_is_nowhere_above_the_loss():
    rng = np.random.default_rng(0)
    for loss in LOSSES:
        problem = problem_of(decaying, decaying(X, 5, 1.3, 0.5) + NOISE, EXPONENTIAL, pinned([0, 9], 1e-9), loss)
        found = PinnedData(problem, problem.rows(), np.array([0, 9]), 0.1)
        points = rng.uniform([0, 0, -5], [10, 3, 5], (50, 3)).T
        relaxed, plain = (infimum.compile(f, 3).value(points, points) for f in (found.relaxed(), problem.objective()))
        assert (relaxed.lo <= plain.hi).all()


def test_the_question_with_equations_is_the_same():
    """Where the equations hold, the objective is the loss: at points with doubles for both."""
    problem = problem_of(line, line(X, 1.0, 2.0) + np.round(NOISE, 1), (-10, 10), pinned([0, 5], 2.0**-40, 0.125))
    objective, equations = PinnedData.of(problem, problem.rows()).question(np.array([0.5, 4.0]))
    p = np.array([1.25, 2.5])
    z = np.concatenate([p / [0.5, 4.0], (line(X, *p) - problem.data.y)[[0, 5]] * 2.0**40])
    whole, apart = (infimum.compile(f, n).value(z, z) for f, n, z in ((problem.objective(), 2, p),
                                                                     (objective, 4, z)))
    rows = infimum.compile(objective, 4, constraints=equations).rows(z, z)
    assert max(whole.lo, apart.lo) <= min(whole.hi, apart.hi) and (np.abs(rows.lo[1:]) < 1e-12).all()


def test_rows_without_a_pinned_constant_one():
    y = line(X, 0, 2) + NOISE
    problem = problem_of(lambda x, b: b * x, y, (-10, 10), pinned([0], 1e-9))
    rows = without_constant_rows(problem, problem.rows())
    least = (Fraction(float(y[0])) / Fraction(1e-9)) ** 2
    assert Fraction(rows.constant.lo) <= least <= Fraction(rows.constant.hi) and PinnedData.of(problem, rows) is None
    assert rows.deviations(np.zeros(20))[0] == 0 and without_constant_rows(problem, rows) is rows


# ---- the covariance
@pytest.mark.parametrize("ratio", [1.0, 1e6, 1e12, 1e18, 1e40])
@pytest.mark.parametrize("at", [[0], [3, 9]])
def test_covariances_of_any_weights(ratio: float, at: list[int]):
    """Against rational arithmetic; a singular value decomposition loses all digits from 1e16 on."""
    jacobian = np.stack([np.exp(-1.3 * X), -5e3 * X * np.exp(-1.3 * X), np.full(20, 1e-3)], axis=1)
    jacobian[at] *= ratio
    a = [[sum(Fraction(r[i]) * Fraction(r[j]) for r in jacobian.tolist()) for j in range(3)] for i in range(3)]
    one, two = (lambda i: (i + 1) % 3), (lambda i: (i + 2) % 3)
    minors = [[a[one(i)][one(j)] * a[two(i)][two(j)] - a[one(i)][two(j)] * a[two(i)][one(j)] for j in range(3)] for i in range(3)]
    determinant = sum(a[0][j] * minors[0][j] for j in range(3))
    exact = np.array([[float(minors[i][j] / determinant) for j in range(3)] for i in range(3)])
    found = Statistics.of(1.0, 1.0, jacobian, absolute_sigma=True)
    size = np.sqrt(np.outer(np.diag(exact), np.diag(exact)))
    assert (np.abs(found.covariance - exact) <= 1e-9 * size).all()
