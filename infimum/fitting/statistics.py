"""Statistics of a fit by least squares at its best point: the usual linear approximations. Estimates, none of them proved."""

import math
from dataclasses import dataclass

import numpy as np


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
    def reduced_chi_square(self) -> float:
        return self.chi_square / self.degrees_of_freedom if self.degrees_of_freedom else math.nan

    @property
    def aic(self) -> float:
        return self._log_likelihood + 2 * self.parameters

    @property
    def bic(self) -> float:
        return self._log_likelihood + math.log(self.data) * self.parameters

    @property
    def _log_likelihood(self) -> float:
        """-2 times it, for independent normal errors, up to a constant."""
        return self.data * math.log(self.chi_square / self.data) if self.chi_square > 0 else -math.inf

    @property
    def stderr(self) -> np.ndarray:
        return np.sqrt(np.diag(self.covariance))

    @property
    def correlation(self) -> np.ndarray:
        scale = self.stderr
        with np.errstate(all="ignore"):
            return self.covariance / scale[:, None] / scale


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
