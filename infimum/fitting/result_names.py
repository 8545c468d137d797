"""A fit under other names: those that a Result of `minimize` has, and those of lmfit's results."""

import json
from typing import Any

from infimum.fitting.report import known, text
from infimum.problem.json_values import plain, strict
from infimum.support import environment

_SHOWN = ("verdict", "success", "message", "advice", "fun", "lower", "upper", "gap", "x", "unique", "uniqueness", "exact",
          "params", "fits", "undetermined", "best_fit", "residuals", "covariance", "correlation", "nfev", "nit", "seconds")
_LATER = ("undefined", "plateaus")  # as far as somebody has asked for them


@environment.all_ours
class OtherNames:
    """What a FitResult has beside its own names."""

    @property
    @environment.ours
    def fun(self) -> float:
        """The loss at the best point, verified: the upper end of `least`."""
        return self.least.hi

    @property
    @environment.ours
    def lower(self) -> float:
        """The least loss is not below this, proved."""
        return self.least.lo

    @property
    @environment.ours
    def upper(self) -> float:
        """The least loss is not above this, proved."""
        return self.least.hi

    @property
    @environment.ours
    def gap(self) -> float:
        """upper - lower, rounded up."""
        return self.least.width

    @property
    @environment.ours
    def nfev(self) -> int:
        """The boxes and points at which the loss was evaluated."""
        return self.minimum.nfev

    @property
    @environment.ours
    def nit(self) -> int:
        """The steps of the search."""
        return self.minimum.nit

    @property
    @environment.ours
    def seconds(self) -> float:
        """How long the search took."""
        return self.minimum.seconds

    def to_dict(self) -> dict[str, Any]:
        """What is known, as plain Python: arrays as lists, the verdict as its name, parameters and fits as dictionaries. What
        was not computed yet is None."""
        model, loss = self.problem.model, self.problem.loss
        found = {"model": model.name, "loss": loss.name, **{name: getattr(self, name) for name in _SHOWN},
                 **{name: known(self, name) for name in _LATER}}
        statistics = self.statistics
        found["statistics"] = None if statistics is None else {name: getattr(statistics, name) for name in (
            "data", "parameters", "degrees_of_freedom", "chi_square", "reduced_chi_square", "r_squared", "aic", "bic")}
        return {name: plain(value) for name, value in found.items()}

    def to_json(self, indent: int | None = None) -> str:
        """`to_dict()` as strict JSON, which has no infinities: they become the strings "inf", "-inf" and "nan"."""
        return json.dumps(strict(self.to_dict()), indent=indent, allow_nan=False)

    # ---- lmfit's
    @property
    @environment.ours
    def chisqr(self) -> float | None:
        """The sum of squares in units of sigma at the best point; None for other losses than squares, as are those below."""
        return None if self.statistics is None else self.statistics.chi_square

    @property
    @environment.ours
    def redchi(self) -> float | None:
        """That by degree of freedom, or as it is where there is none, as lmfit has it."""
        return None if self.statistics is None else self.chisqr / max(1, self.statistics.degrees_of_freedom)

    @property
    @environment.ours
    def aic(self) -> float | None:
        """The information criterion of Akaike."""
        return None if self.statistics is None else self.statistics.aic

    @property
    @environment.ours
    def bic(self) -> float | None:
        """The information criterion of Bayes."""
        return None if self.statistics is None else self.statistics.bic

    def fit_report(self, *, show_correl: bool = True, min_correl: float = 0.1) -> str:
        """The report that `print` shows; with the correlations of at least that size, or without any."""
        return text(self, min_correl if show_correl else None)
