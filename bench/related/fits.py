"""Relations between fits of one model: data in another order, other units, the loss written by hand, parameters held."""

import math
import warnings
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

import infimum
from bench.related.answers import Answer, exact, same_infimum
from bench.related.asking import Judgement, refusing
from bench.related.draws import Draw

_SETTINGS = {"rtol": 1e-3, "max_boxes": 30_000, "threads": 1, "progress": False}
_ROUNDED = 1e-6   # of the loss: what weights that are rounded in another way may change
_WITHIN = 1e-4    # of the loss: curve_fit is that near to the least one, or warns
_PINNED = 1e-12


class Model(NamedTuple):
    """A function of t and its parameters, and bounds of these."""

    fun: Callable
    bounds: tuple[tuple[float, float], ...]


MODELS: dict[str, Model] = {
    "constant": Model(lambda t, a: a + 0 * t, ((-10.0, 10.0),)),
    "line": Model(lambda t, a, b: a + b * t, ((-10.0, 10.0), (-5.0, 5.0))),
    "decay": Model(lambda t, a, b: a * np.exp(-b * t), ((0.0, 10.0), (0.0, 4.0))),
    "quotient": Model(lambda t, a, b: a * t / (b + t), ((0.0, 10.0), (0.1, 5.0))),
    "wave": Model(lambda t, a, b: a * np.sin(b * t), ((0.0, 5.0), (0.5, 3.0))),
    "parabola": Model(lambda t, a, b, c: a + b * t + c * t**2, ((-5.0, 5.0), (-5.0, 5.0), (-2.0, 2.0))),
}


class Data(NamedTuple):
    """Measurements of a model at its true parameters, with noise, and their standard deviations."""

    name: str
    t: np.ndarray
    y: np.ndarray
    sigma: np.ndarray | None
    truth: np.ndarray

    @property
    def model(self) -> Model:
        return MODELS[self.name]

    def loss(self, p: Any) -> float:
        return float(np.sum(self.residuals(p) ** 2))

    def residuals(self, p: Any) -> Any:
        return (self.model.fun(self.t, *p) - self.y) / (1.0 if self.sigma is None else self.sigma)

    def shown(self) -> str:
        sigma = None if self.sigma is None else self.sigma.tolist()
        return (f"model {self.name}, t = {self.t.tolist()!r}, y = {self.y.tolist()!r}, sigma = {sigma!r}, "
                f"bounds = {self.model.bounds!r}")


def data(d: Draw) -> Data:
    """One set of measurements; some have points that are pinned by a tiny standard deviation."""
    name = d.one_of(tuple(MODELS))
    low, high = np.array(MODELS[name].bounds).T
    truth = low + (high - low) * d.rng.integers(2, 7, len(low)) / 8
    t = np.sort(d.rng.integers(1, 40, d.whole(len(low) + 2, 7))) / 8.0
    y = MODELS[name].fun(t, *truth) + d.one_of((0.0, 0.1, 1.0)) * np.round(d.rng.normal(size=len(t)), 2)
    kind = d.one_of(("none", "none", "own", "pinned"))
    sigma = None if kind == "none" else d.rng.integers(1, 9, len(t)) / 8.0
    if kind == "pinned" and d.may("fits"):
        sigma[: d.whole(1, len(low))] = _PINNED
    return Data(name, t, np.round(y, 3), sigma, truth)


def fitted(given: Data, **more: Any) -> Answer:
    """The enclosure of the least loss."""
    settings = _SETTINGS | {"bounds": list(given.model.bounds)} | more
    with refusing():
        found = infimum.fit(given.model.fun, given.t, given.y, sigma=given.sigma, **settings)
    return Answer(found.verdict.name, exact(found.least.lo), exact(found.least.hi))


def fit(d: Draw) -> Judgement:
    """The same fit, asked in another way."""
    given, kind = data(d), d.one_of(tuple(KINDS))
    if given.name == "constant" and kind == "held":
        return _of_a_constant(given) if d.may("fits") else Judgement(False, note="left out")
    base, other = KINDS[kind](d, given)
    wrong = same_infimum(base, other)
    return Judgement(base.ended and other.ended, wrong and f"{kind}: {wrong}\n{given.shown()}", f"{base.verdict} {other.verdict}")


def _in_another_order(d: Draw, given: Data) -> tuple[Answer, Answer]:
    order = d.rng.permutation(len(given.t))
    sigma = None if given.sigma is None else given.sigma[order]
    return fitted(given), fitted(given._replace(t=given.t[order], y=given.y[order], sigma=sigma))


def _in_another_unit(d: Draw, given: Data) -> tuple[Answer, Answer]:
    factor = 2.0 ** d.whole(-4, 4)
    sigma = np.full(len(given.t), factor) if given.sigma is None else given.sigma * factor
    return fitted(given), fitted(given._replace(sigma=sigma)).times(Fraction(factor) ** -2)


def _held(d: Draw, given: Data) -> tuple[Answer, Answer]:
    """A parameter with equal bounds, and one that is fixed."""
    k, bounds = d.whole(0, len(given.truth) - 1), list(given.model.bounds)
    at = float(given.truth[k])
    bounds[k] = (at, at)
    return fitted(given, bounds=bounds), fitted(given, fixed={"abc"[k]: at})


def _by_hand(d: Draw, given: Data) -> tuple[Answer, Answer]:
    """The loss as a function to minimise. Data divided by sigma are rounded there."""
    base = fitted(given)
    with refusing():
        found = infimum.minimize(lambda p: np.sum(given.residuals(p) ** 2), list(given.model.bounds), **_SETTINGS)
    weight = 1.0 if given.sigma is None else max(1.0, 1e-3 / float(given.sigma.min()))
    slack = _ROUNDED * (1 + abs(float(base.upper))) * weight
    return base, _wider(Answer(found.verdict.name, exact(found.lower), exact(found.upper)), slack)


KINDS = {"order": _in_another_order, "unit": _in_another_unit, "held": _held, "by hand": _by_hand}


def _of_a_constant(given: Data) -> Judgement:
    """A constant explains nothing of the variance, whatever the weights are."""
    with refusing():
        found = infimum.fit(given.model.fun, given.t, given.y, sigma=given.sigma, bounds=list(given.model.bounds), **_SETTINGS)
    explained = None if found.statistics is None else found.statistics.r_squared
    wrong = "" if explained is None or not abs(explained) > _ROUNDED else f"R² of a constant is {explained!r}\n{given.shown()}"
    return Judgement(explained is not None, wrong, found.verdict.name)


def _wider(a: Answer, slack: float) -> Answer:
    return Answer(a.verdict, a.lower - Fraction(slack) if math.isfinite(a.lower) else a.lower,
                  a.upper + Fraction(slack) if math.isfinite(a.upper) else a.upper)


def curve_fit(d: Draw) -> Judgement:
    """A fit that is returned without a warning is as good as any that a local method finds."""
    from scipy import optimize

    given = data(d)
    low, high = (list(ends) for ends in zip(*given.model.bounds, strict=True))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with refusing():
            found, _ = infimum.curve_fit(given.model.fun, given.t, given.y, sigma=given.sigma, bounds=(low, high),
                                         max_boxes=_SETTINGS["max_boxes"], threads=1, progress=False)
    warned = any(issubclass(w.category, RuntimeWarning) and "covariance" not in str(w.message) for w in told)
    ours = given.loss(found)
    starts = [given.truth, found, *(np.array(low) + (np.array(high) - low) * d.rng.random(len(low)) for _ in range(4))]
    theirs, at = ours, found
    for start in starts:
        local = optimize.least_squares(given.residuals, np.clip(start, low, high), bounds=(low, high), x_scale="jac", xtol=1e-15,
                                       ftol=1e-15)
        if given.loss(local.x) < theirs:
            theirs, at = given.loss(local.x), local.x
    rounding = _rounding(given, at)
    wrong = ""
    if not warned and theirs + rounding < ours * (1 - _WITHIN) - rounding:
        wrong = f"the loss is {ours!r} at {found.tolist()!r}, and {theirs!r} at {at.tolist()!r}"
    return Judgement(not warned, wrong and f"{wrong}\n{given.shown()}", "warned" if warned else "proved")


def _rounding(given: Data, p: Any) -> float:
    """How far the loss may be off that plain doubles compute: each value of the model by a few units of the last place."""
    weight = 1.0 if given.sigma is None else 1 / given.sigma
    units = 8 * 2.0**-52 * (np.abs(given.model.fun(given.t, *p)) + np.abs(given.y)) * weight
    return float(np.sum(units**2 + 2 * units * np.abs(given.residuals(p))))
