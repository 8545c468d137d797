"""FitResult: what is known of the best fit."""

import base64
import math
from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from infimum.certify.verdict import within
from infimum.errors import OptionError
from infimum.fitting import drawing, report
from infimum.fitting.data import read_x
from infimum.fitting.differences import values_and_slopes
from infimum.fitting.domain import undefined
from infimum.fitting.parameter_sets.confidence import PAVED, Confidence, confidence, quantile_of, threshold_of
from infimum.fitting.parts import Fit, Parameter, Prediction
from infimum.fitting.plateau import plateau
from infimum.fitting.problem import FitProblem
from infimum.fitting.responses import Responses
from infimum.fitting.result_names import OtherNames
from infimum.fitting.statistics import Statistics, flat
from infimum.fitting.symmetric import falls
from infimum.fitting.zero_residuals import is_zero_residual, measured
from infimum.plotting import png
from infimum.problem.minimisers import Minimiser, Minimisers
from infimum.problem.problem import Interval
from infimum.result import Result, Verdict
from infimum.support import environment
from infimum.support.given_numbers import check_limits, check_number, round_down, round_up
from infimum.support.lazy import dataclass

_START_BOXES = "; all this is about"
_FLAT_SHARE = 0.1  # a part of the bounds: regions left of a proof that are as long as that are no point
_OF_MINIMISERS = "fits", "params", "unique", "plateaus", "x", "values", "_estimates", "statistics"  # all that they change


@environment.all_ours
@dataclass(frozen=True, eq=False)
class FitResult(OtherNames):
    """The result of `fit`. `print(r)` shows a table. It has the names of a `Result`, and those of lmfit's results.

    minimum: the Result of `minimize`, whose variables are the free parameters. problem: model, data, parameters and loss, as they
    were read. rest: what the loss is above the function that was minimised: where measurements were repeated, their squares about
    their means, which no parameter changes. minimisers: those of the loss, boxes with exactly one best fit each where that could
    be shown; None while they were not looked for, as with a model of very many operations: `find_minimisers` does.
    """

    minimum: Result
    problem: FitProblem
    absolute_sigma: bool = False
    rest: Interval = Interval(0.0, 0.0)
    minimisers: Minimisers | None = None
    responses: Responses | None = field(default=None, repr=False)  # at the x of the data, if they were traced

    def find_minimisers(self, time_limit: float | None = None) -> Minimisers | None:
        """Look for boxes that hold exactly one best fit each, for `time_limit` seconds at most, and return them; `unique`, `fits`
        and the intervals of the parameters then say what was found. `fit` has done so unless that would take long. None where
        nothing was proved, or where this result was pickled before.

        >>> import infimum
        >>> r = infimum.fit(lambda x, a, b: a + b * x, [0, 1, 2], [1.0, 3.0, 5.5], bounds=[(-10, 10), (-10, 10)])
        >>> r.find_minimisers(time_limit=60).exactly_one, r.unique
        (True, True)
        """
        check_number("time_limit", time_limit, optional=True, positive=True)
        before = self.minimisers
        if self.success and (before is None or before.rest):
            found = self.minimum.find_minimisers(time_limit)
            if found is not None and (before is None or found.rest < before.rest):
                for name in _OF_MINIMISERS:
                    self.__dict__.pop(name, None)
                object.__setattr__(self, "minimisers", found)
                _ = self._estimates
        return self.minimisers

    # ---- proved
    @property
    def verdict(self) -> Verdict:
        """What was shown (see `Verdict`)."""
        return self.minimum.verdict

    @property
    def message(self) -> str:
        """How the run ended."""
        if self.success:  # the minimisers may tell more than the search did
            return within(self.lower, self.upper)
        said = self.minimum.message
        return said if self.problem.groups is None else said.partition(_START_BOXES)[0]  # it holds for all of the bounds

    @property
    @environment.ours
    def advice(self) -> str | None:
        """For a run that a limit has ended, what would close more of the gap, as far as its course tells; None for others."""
        return report.advice(self)

    @property
    def success(self) -> bool:
        """Was the best fit proved to the tolerance asked for?"""
        return self.minimum.success

    @property
    @environment.ours
    def least(self) -> Interval:
        """The least value of the loss over the bounds lies in this interval. No loss is negative."""
        lower, upper = max(self.minimum.lower, 0.0) + 0.0, self.minimum.upper  # no -0.0
        alone = self._alone()
        if alone is not None:  # every best fit is one of them
            lower, upper = max(lower, min(m.lower for m in alone)), min(upper, min(m.upper for m in alone))
        if self.rest.hi > 0:
            lower = round_down(Fraction(lower) + Fraction(self.rest.lo))
            upper = round_up(Fraction(upper) + Fraction(self.rest.hi)) if np.isfinite(upper) else upper
        return Interval(lower, upper)

    @property
    @environment.ours
    def sse(self) -> Interval:
        """The least sum of squares, in units of sigma, lies in this interval. Only for loss="squares"."""
        if self.problem.loss.name != "squares":
            raise OptionError(f"sse belongs to loss='squares'; r.least encloses the {self.problem.loss.named} of this fit")
        return self.least

    @cached_property
    def fits(self) -> list[Fit]:
        """Boxes that together hold every best fit: where it could be shown, one for each, with nothing else inside (`alone`)."""
        alone = self._alone()
        if alone is not None:
            return [self._fit(m.lo, m.hi, True) for m in alone]
        boxes = [self.problem.parameters.bounds.region] if self.minimum.boxes is None else self.minimum.boxes
        return [self._fit(*box, False) for box in boxes if not self._falls(*box)]

    @cached_property
    def params(self) -> dict[str, Parameter]:
        """The parameters by name, in the order of the model's signature."""
        parameters, found = self.problem.parameters, {}
        lo, hi = (np.array([getattr(fit, end) for fit in self.fits]) for end in ("lo", "hi"))
        values, *ends = (parameters.all_values(p) for p in (self.x, *parameters.ends))
        errors, bounds = iter(() if self.statistics is None else self.statistics.stderr), zip(*ends, strict=True)
        for k, (name, free, ends) in enumerate(zip(parameters.names, parameters.free, bounds, strict=True)):
            error = next(errors, None) if free else None
            found[name] = Parameter(name, float(values[k]), float(lo[:, k].min()), float(hi[:, k].max()),
                                    None if error is None else float(error), not free, (float(ends[0]), float(ends[1])))
        return found

    @cached_property
    def unique(self) -> bool | None:
        """Is there exactly one best fit within the bounds? None if that was not shown; `uniqueness` says why."""
        alone = self._alone()
        if alone is None:
            return None
        return True if len(alone) == 1 else False if sum(m.upper <= self.minimum.lower for m in alone) > 1 else None

    @property
    @environment.ours
    def uniqueness(self) -> str:
        """What is known of the number of best fits, in a sentence."""
        return report.uniqueness(self)

    @property
    @environment.ours
    def undetermined(self) -> list[str]:
        """The parameters that the data do not determine: proofs exclude no more than a part of their bounds, and by moving them,
        alone or together, the loss does not change; or the best fit has them at a bound, and the loss is proved to be as good
        on a good part of the way to the other one (`plateaus`, as far as they were looked for)."""
        found = {*self._flat, *self.__dict__.get("plateaus", ())}
        return [name for name in self.problem.parameters.free_names if name in found]

    @property
    def _flat(self) -> list[str]:
        """Those that regions are wide in, since the loss does not change."""
        low, high = self.problem.parameters.ends
        wide = [] if self._alone() is not None or not self.success else self._wide
        if not wide:
            return []
        steps, (weights, spread, _) = _FLAT_SHARE * (high - low), measured(self.problem)
        moves = flat(self._estimates[1] * weights[:, None], steps, self.residuals.ravel() * weights, spread * weights)
        return [name for name, free in zip(self.problem.parameters.free_names, moves, strict=True) if free and name in wide]

    @cached_property
    def plateaus(self) -> dict[str, Interval]:
        """Parameters whose best value is a bound, with the values from there on that fit as well, to 1e-4 of the loss: proved,
        with the other parameters held, and told where they are a good part of the bounds. With a model of very many operations
        they are looked for when this is first read, which compiles a kernel; so is `undefined`."""
        found = {}
        for k, name in enumerate(self.problem.parameters.free_names if self.success else ()):
            p = self.params[name]
            at_end = p.at_bound is not None and p.bounds[0] < p.bounds[1]
            flat = plateau(self._with_model(), self.x, k, self.least.hi) if at_end else None
            if flat is not None and flat.hi - flat.lo >= _FLAT_SHARE * (p.bounds[1] - p.bounds[0]):
                found[name] = flat
        return found

    @cached_property
    def undefined(self) -> str | None:
        """What may be undefined for some parameters within the bounds, which are then no candidates; None if nothing is."""
        return undefined(self._with_model())

    @property
    @environment.ours
    def exact(self) -> bool:
        """Does the model meet every measurement up to rounding errors? Standard errors tell nothing then."""
        return is_zero_residual(self.problem, self.residuals)

    def predict(self, x: Any = None, level: float | None = None) -> Prediction:
        """The model at x, or at the x of the data, for every best fit. With a confidence `level`, such as 0.95, also a band for
        the mean curve, an estimate: by the linearised covariance and the quantile of Student's t (of the normal distribution
        where `absolute_sigma` says that sigma is known).

        >>> import infimum
        >>> r = infimum.fit(lambda x, a, b: a + b * x, [0, 1, 2], [1.0, 3.0, 5.5], bounds=[(-10, 10), (-10, 10)])
        >>> line = r.predict([3.0])
        >>> line.value.round(6), bool(line.hi - line.lo < 1e-6)
        (array([7.666667]), True)
        """
        at = self.problem.data.x if x is None else read_x(x)
        responses = self._at_data() if x is None else Responses(self._with_model(), at)
        free = self.problem.parameters.free
        lo, hi = (np.ascontiguousarray(np.array([getattr(fit, end)[free] for fit in self.fits]).T) for end in ("lo", "hi"))
        value, slopes = self._estimated(responses, at, responses.shape)
        found = Prediction(*responses.enclose(lo, hi), value)
        if level is None:
            return found
        if self.statistics is None:
            raise OptionError("bands are made of the covariance, which is estimated for loss='squares' alone")
        s = self.statistics
        quantile = math.sqrt(quantile_of(level, 1, s.data, s.parameters, self.absolute_sigma).hi)
        error = np.sqrt(np.maximum(np.sum((slopes @ s.covariance) * slopes, axis=1), 0.0)).reshape(value.shape)
        half = quantile * error
        return replace(found, level=float(level), stderr=error, band_lo=value - half, band_hi=value + half)

    def confidence(self, level: float = 0.95, *, joint: bool = True, volume_rtol: float | None | str = "auto",
                   profile_rtol: float | None = 0.01, principal: bool = True, time_limit: float | None = None,
                   max_boxes: float | None = 5_000_000, progress: bool | None = None) -> Confidence:
        """All parameters within the bounds whose sum of squares is below the threshold of that confidence, the whole set, not one
        valley of it: boxes inside and boxes around it, and the values that each parameter takes in it, proved.

        The threshold is SSE (1 + n/(N-n) F) for n parameters together (`joint`), where F is the quantile of the F distribution of
        n and N-n degrees of freedom; SSE (1 + F/(N-n)) with 1 and N-n for one parameter alone; and SSE plus the quantile of
        chi-square where `absolute_sigma` says that sigma is known. Only for loss="squares".

        `profile_rtol`: the interval that holds all values of a parameter is so little wider than what is attained. `volume_rtol`:
        the same of the volumes; by default 0.05 for up to three parameters, and None, boxes around the set alone, for more, where
        there would be too many. None leaves either out. `principal`: inner boxes are parallelepipeds along the principal axes at
        the fit, of which fewer are needed. `time_limit`, `max_boxes`, `progress` as in `minimize`.

        >>> import infimum
        >>> r = infimum.fit(lambda x, a, b: a + b * x, [0, 1, 2, 3], [1.0, 3.0, 5.5, 7.0], bounds=[(-10, 10), (-10, 10)])
        >>> c = r.confidence(0.95)
        >>> c.volume_outer.hi <= 1.05 * c.volume_inner.lo, c.profiles["b"].outer
        (True, [...])
        """
        check_limits(time_limit, max_boxes)
        least, problem = self.sse, self._with_model()
        n = len(problem.parameters.lo)
        threshold = threshold_of(least, level, problem.data.size, n, joint, self.absolute_sigma)
        volume_rtol = (0.05 if n <= PAVED else None) if volume_rtol == "auto" else volume_rtol
        limits = {"time_limit": time_limit, "max_boxes": max_boxes, "progress": progress}
        return confidence(problem, self.x, threshold, level, joint, volume_rtol, profile_rtol, principal, limits)

    # ---- estimates
    @cached_property
    def x(self) -> np.ndarray:
        """The free parameters at the best point: within the box of the best fit, where there is one with exactly one in it."""
        alone, x = self._alone(), self.minimum.x
        if alone is None:
            return x
        width = np.maximum(self.problem.parameters.hi - self.problem.parameters.lo, np.finfo(float).tiny)
        middles = [m.lo / 2 + m.hi / 2 for m in alone]
        return min(middles, key=lambda middle: float((np.abs(middle - x) / width).max()))

    @cached_property
    def values(self) -> dict[str, float]:
        """The value of each parameter, by name, to be given to the model: `model(x, **r.values)`."""
        return {name: p.value for name, p in self.params.items()}

    @cached_property
    def _estimates(self) -> tuple[np.ndarray, np.ndarray]:
        """The model at the x of the data, and a row of its derivatives by the free parameters for each number of that."""
        return self._estimated(self.responses, self.problem.data.x, self.problem.data.y.shape)

    @property
    @environment.ours
    def best_fit(self) -> np.ndarray:
        """The model at the x of the data."""
        return self._estimates[0]

    @property
    @environment.ours
    def residuals(self) -> np.ndarray:
        """y minus the best fit, in the units of y."""
        return self.problem.data.y - self.best_fit

    @cached_property
    def statistics(self) -> Statistics | None:
        """Covariance, reduced chi-square and the like; None for other losses than squares, for which they mean nothing."""
        if self.problem.loss.name != "squares":
            return None
        data, least = self.problem.data, self.least
        squares = float(np.clip(np.sum((self.residuals / data.unit) ** 2), least.lo, least.hi))  # rounded, x as well as the sum
        jacobian = self._estimates[1] / np.broadcast_to(data.unit, data.y.shape).reshape(-1, 1)
        return Statistics.of(squares, data.total_squares, jacobian, self.absolute_sigma)

    @property
    @environment.ours
    def covariance(self) -> np.ndarray | None:
        """That of the free parameters, an estimate."""
        return None if self.statistics is None else self.statistics.covariance

    @property
    @environment.ours
    def correlation(self) -> np.ndarray | None:
        """That of the free parameters, an estimate."""
        return None if self.statistics is None else self.statistics.correlation

    # ---- other forms
    def plot(self, ax: Any = None) -> Any:
        """A matplotlib Figure: data and fit, and below them the residuals. With `ax`, data and fit alone, on that Axes."""
        return drawing.draw(self, ax)

    @environment.ours
    def _repr_html_(self) -> str:
        picture = png(lambda: drawing.draw(self))
        drawn = "" if picture is None else f"<img src='data:image/png;base64,{base64.b64encode(picture).decode()}'>"
        return report.html_text(self) + drawn

    @environment.ours
    def __str__(self) -> str:
        return report.text(self)

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={p.value:.6g}" for name, p in self.params.items())
        return f"FitResult({self.verdict.name}, {values})"

    def __getstate__(self) -> dict[str, Any]:
        """A pickle holds no function, and what was found out with it by then."""
        problem = replace(self.problem, model=replace(self.problem.model, function=None))
        minimum = replace(self.minimum, question=None, inquiry=None, view=None)
        return {**self.__dict__, "problem": problem, "minimum": minimum, "responses": None}

    # ---- inside
    def _alone(self) -> Sequence[Minimiser] | None:
        """The boxes with exactly one local fit each that together hold all best ones; None if there are others."""
        known = self.minimisers
        if known is None or known.rest > 0:
            return None
        return [m for m in known.may_be_global if not self._falls(m.lo, m.hi)] or None

    def _falls(self, lo: np.ndarray, hi: np.ndarray) -> bool:
        """Does the box hold nothing but mirror images of fits in ascending order?"""
        return self.problem.groups is not None and falls(self.problem.groups, lo, hi)

    def _fit(self, lo: np.ndarray, hi: np.ndarray, alone: bool) -> Fit:
        return Fit(self.problem.parameters.all_values(lo), self.problem.parameters.all_values(hi), alone)

    @property
    def _wide(self) -> list[str]:
        """The free parameters of which a single box of the fits holds a good part of the bounds."""
        longest = np.max([fit.hi - fit.lo for fit in self.fits], axis=0)
        return [p.name for p, length in zip(self.params.values(), longest, strict=True)
                if not p.fixed and math.nextafter(p.bounds[0], math.inf) < p.bounds[1]
                and length >= _FLAT_SHARE * (p.bounds[1] - p.bounds[0])]

    def _estimated(self, responses: Responses | None, x: Any, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
        """Responses and derivatives at the best point: by kernels, where these are compiled in moments, else by differences."""
        if responses is not None and responses.is_small and self.success:
            return responses.values(self.x), responses.jacobian(self.x)
        return values_and_slopes(self._with_model(), x, shape, self.x)

    def _with_model(self) -> FitProblem:
        if self.problem.model.function is None:
            raise OptionError("this result was pickled, and a pickle holds no model: predict before, or fit again")
        return self.problem

    def _at_data(self) -> Responses:
        self._with_model()
        return self.responses or Responses(self.problem, self.problem.data.x, self.problem.data.y.shape)
