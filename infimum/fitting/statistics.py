"""Statistics of a fit by least squares at its best point: the usual linear approximations. Estimates, none of them proved."""

import math
from dataclasses import dataclass

import numpy as np

from infimum import environment

_NOTICED, _ROUNDING = 1e-4, 1e-18  # parts of the sum of squares, and of the spread of the data
_TAKES_PART = 0.1                  # of the length of a step


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Estimates at the fit, under the usual names.

    data, parameters: their numbers, fixed parameters aside. degrees_of_freedom: the difference. chi_square: the sum of squares,
    in units of sigma; reduced_chi_square: by degree of freedom. aic, bic: the information criteria of Akaike and of Bayes, as
    lmfit defines them. r_squared: the part of the variance of y that the fit explains. covariance: of the free parameters, from
    the derivatives of the model there; infinite where these do not determine all parameters. stderr: its standard errors.
    correlation: between -1 and 1.
    """

    data: int
    parameters: int
    chi_square: float
    r_squared: float
    covariance: np.ndarray

    @classmethod
    def of(cls, residuals: np.ndarray, weighted: np.ndarray, jacobian: np.ndarray, absolute_sigma: bool) -> "Statistics":
        """From residuals, responses and derivatives, all in units of sigma."""
        chi_square, spread = float(np.sum(residuals**2)), float(np.sum((weighted - weighted.mean()) ** 2))
        count, n = jacobian.shape
        covariance = _inverse_of_square(jacobian)
        if not absolute_sigma:
            covariance = covariance * (chi_square / (count - n)) if count > n else np.full((n, n), np.inf)
        return cls(count, n, chi_square, 1.0 - chi_square / spread if spread else math.nan, covariance)

    @property
    def degrees_of_freedom(self) -> int:
        return self.data - self.parameters

    @property
    @environment.ours
    def reduced_chi_square(self) -> float:
        return self.chi_square / self.degrees_of_freedom if self.degrees_of_freedom else math.nan

    @property
    @environment.ours
    def aic(self) -> float:
        return self._log_likelihood + 2 * self.parameters

    @property
    @environment.ours
    def bic(self) -> float:
        return self._log_likelihood + math.log(self.data) * self.parameters

    @property
    def _log_likelihood(self) -> float:
        """-2 times it, for independent normal errors, up to a constant."""
        return self.data * math.log(self.chi_square / self.data) if self.chi_square > 0 else -math.inf

    @property
    @environment.ours
    def stderr(self) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance))

    @property
    @environment.ours
    def correlation(self) -> np.ndarray:
        scale = self.stderr
        with np.errstate(all="ignore"):
            return self.covariance / scale[:, None] / scale


def flat(jacobian: np.ndarray, steps: np.ndarray, residuals: np.ndarray, weighted: np.ndarray) -> np.ndarray:
    """Which parameters take part in a step, at most that long in each, that changes the sum of squares by next to nothing."""
    scaled = jacobian * steps
    if not np.isfinite(scaled).all():
        return np.zeros(len(steps), bool)
    noticed = _NOTICED * np.sum(residuals**2) + _ROUNDING * np.sum((weighted - weighted.mean()) ** 2)
    _, singular, rows = np.linalg.svd(scaled, full_matrices=False)
    return (np.abs(rows[singular**2 <= noticed]) >= _TAKES_PART).any(axis=0)


def _inverse_of_square(jacobian: np.ndarray) -> np.ndarray:
    """(JᵀJ)⁻¹ by the singular values of J, its columns scaled to length 1; infinite if J is singular to working accuracy."""
    n = jacobian.shape[1]
    lengths = np.sqrt(np.sum(jacobian**2, axis=0))
    if not (np.isfinite(jacobian).all() and lengths.all()) or len(jacobian) < n:
        return np.full((n, n), np.inf)
    _, singular, rows = np.linalg.svd(jacobian / lengths, full_matrices=False)
    if singular[-1] <= singular[0] * len(jacobian) * np.finfo(float).eps:
        return np.full((n, n), np.inf)
    half = rows.T / singular / lengths[:, None]
    return half @ half.T
