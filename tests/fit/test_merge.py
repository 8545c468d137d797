"""Repeated measurements count as one each: the same function, and a number that is enclosed."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest

import infimum
from infimum.fitting import entry
from infimum.fitting.data import Data
from infimum.fitting.losses import read_loss
from infimum.fitting.merge import merged
from infimum.fitting.problem import FitProblem, ResidualRows

RNG = np.random.default_rng(0)
X = RNG.permutation(np.repeat(np.linspace(0.5, 4.0, 12), 6))
Y = 5 * np.exp(-1.3 * X) + RNG.normal(size=72) / 3
SIGMA = 0.1 + np.round(X)  # equal where X is


def decaying(x, a, b):
    return a * np.exp(-b * x)


def problem_of(model: Callable, x=X, y=Y, sigma=None, loss: str = "squares") -> FitProblem:
    data = Data.read(x, y, sigma)
    parameters, read = entry.read_model(model, data, (0.1, 10), None, None)
    return FitProblem(read, data, parameters, *read_loss(loss, None))


def compare(problem: FitProblem, reduced: ResidualRows, n: int = 2) -> None:
    """At a few points, the enclosures of the whole sum and of its two parts meet."""
    points = RNG.uniform(0.1, 10, (n, 8))
    whole, part = (infimum.compile(f, n).value(points, points) for f in (problem.objective(), problem.objective(reduced)))
    lo, hi = part.lo + reduced.repeated.lo, part.hi + reduced.repeated.hi
    slack = 1e-15 * np.abs(hi)  # of the sums here
    assert (whole.lo <= hi + slack).all() and (lo - slack <= whole.hi).all() and (hi - lo < 1e-12 * hi).all()
    plain = [problem.objective(reduced)(p) for p in points.T]
    assert np.allclose(plain, 0.5 * (part.lo + part.hi), rtol=1e-12)


MODELS = {
    "plain": decaying,
    "chosen by a parameter": lambda x, a, b: np.where(x * a > b, a * x, b),
    "a sum over all x": lambda x, a, b: a * x / np.sum(np.exp(b * x)),
    "about the mean of x": lambda x, a, b: a * (x - x.mean()) + b,
    "a number": lambda x, a, b: a * b,
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("sigma", [None, SIGMA], ids=["equal", "weighted"])
def test_the_same_sum(name: str, sigma):
    problem = problem_of(MODELS[name], sigma=sigma)
    compare(problem, merged(problem))


def test_several_variables():
    t, c = X, np.round(X)
    for x in (np.stack([t, c]), {"t": t, "c": c}):
        model = (lambda x, a, b: a * x[0] + b * x[1]) if isinstance(x, np.ndarray) else (lambda x, a, b: a * x.t + b * x.c)
        compare(problem_of(model, x), merged(problem_of(model, x)))


@pytest.mark.parametrize("changed", [
    {"model": lambda x, a, b: np.cumsum(a * np.exp(-b * x))}, {"model": lambda x, a, b: np.concatenate([a * x[:9], b * x[9:]])},
    {"model": lambda x, a, b: np.where(x > 2, a * x, b)}, {"model": lambda x, a, b: a * np.exp(-b * x)[::-1]},
    {"model": lambda x, a, b: a * np.array([infimum.pi * v for v in x.tolist()], dtype=object) + b},
    {"model": lambda x, a, b: a * np.arange(72) + b}, {"x": np.arange(72.0)}, {"sigma": np.linspace(1, 2, 72)}, {"loss": "huber"},
    {"y": np.where(X > 2, 1e200, -1e200)}, {"y": np.full(72, 1.7e308)},
    {"x": type("Run", (), {"__mul__": lambda self, other: X * other, "__rmul__": lambda self, other: X * other,
                           "__array_ufunc__": None})()}],
    ids=["cumulative", "two parts", "chosen by x", "reversed", "no doubles", "by place", "distinct", "distinct weights", "loss",
         "squares overflow", "sums overflow", "an object"])
def test_what_is_not_merged(changed: dict):
    with np.errstate(all="ignore"):
        assert merged(problem_of(**{"model": decaying} | changed)) is None


def test_a_model_that_changes_is_noticed():
    calls = []

    def model(x, a, b):
        calls.append(1)
        return a * x * (1.0 if len(calls) < 2 else np.arange(72)) + b
    problem = problem_of(model)
    reduced = merged(problem)
    with pytest.raises(infimum.UserFunctionError, match="another one"):
        infimum.compile(problem.objective(reduced), 2)


@pytest.mark.parametrize("scale", [1.0, 1e-160, 1e150, 3e-300])
def test_means_and_squares_are_enclosed(scale: float):
    """Against rational arithmetic; also where squares are subnormal, or nearly overflow."""
    y = (1.0 + RNG.normal(size=60) * 10.0 ** RNG.integers(-12, 3, 60)) * scale
    x, sigma = np.repeat([1.0, 2.0, 3.0], 20), np.repeat([0.1, 3.0, 7.0], 20)
    for weights in (None, sigma):
        reduced, exact = merged(problem_of(decaying, x, y, weights)), Fraction(0)
        for k in range(3):
            group, unit = [Fraction(v) for v in y[20 * k:20 * k + 20]], Fraction(1 if weights is None else sigma[20 * k])
            mean = sum(group) / 20
            exact += sum(((v - mean) / unit) ** 2 for v in group)
        assert Fraction(reduced.repeated.lo) <= exact <= Fraction(reduced.repeated.hi)
        assert reduced.repeated.hi - reduced.repeated.lo <= 1e-13 * reduced.repeated.hi + 1e-300


def test_it_is_a_sum_of_squares_over_fewer_data():
    x = np.repeat(np.linspace(0, 4, 300), 4)
    problem = problem_of(decaying, x, np.cos(x) + 0.1 * np.arange(1200) % 3)
    evaluator = infimum.compile(problem.objective(merged(problem)), 2)
    assert evaluator.facts.has_residuals and max(node.size for node in evaluator.inside([1.0, 1.0], [1.0, 1.0])) == 300


def test_the_same_fit(monkeypatch: pytest.MonkeyPatch):
    one_each = infimum.fit(decaying, X, Y, bounds=(0, 10), sigma=SIGMA)
    monkeypatch.setattr(entry, "merged", lambda problem: None)
    each = infimum.fit(decaying, X, Y, bounds=(0, 10), sigma=SIGMA)
    assert one_each.rest.lo > 0 and each.rest.hi == 0 and one_each.unique and each.unique
    assert max(one_each.sse.lo, each.sse.lo) <= min(one_each.sse.hi, each.sse.hi) and one_each.sse.width < 1e-6 * each.sse.hi
    for ours, theirs in zip(one_each.params.values(), each.params.values(), strict=True):
        assert max(ours.lo, theirs.lo) <= min(ours.hi, theirs.hi) and np.isclose(ours.stderr, theirs.stderr)
    assert one_each.statistics.data == 72
