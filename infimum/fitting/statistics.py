"""Statistics of a fit by least squares at its best point: the usual linear approximations. Estimates, none of them proved."""

import math

import numpy as np

from infimum.support import environment
from infimum.support.lazy import dataclass

_NOTABLE_CHANGE, _ROUNDING = 1e-4, 1e-18  # parts of the sum of squares, and of the spread of the data
_TAKES_PART = 0.1                         # of the length of a step
_PINNED = 2.0**300                        # times what is usual: squares of more may overflow
_SWEEPS = 3                               # over rows and columns, to find scales for these
_LEAST_MEAN_SQUARE = 1e-250               # lmfit's least mean square


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Estimates at the fit, under the usual names.

    data, parameters: their numbers, fixed parameters aside. degrees_of_freedom: the difference. chi_square: the sum of squares,
    in units of sigma; reduced_chi_square: by degree of freedom, NaN if there is none. aic, bic: the information criteria of
    Akaike and of Bayes, as lmfit defines them. r_squared: the part of the sum of squares about the weighted mean (of each
    response) that the fit takes away: 0 for a constant, NaN where the data do not vary. covariance: of the free parameters, from
    the derivatives of the model there; infinite where these do not determine all parameters. stderr: its standard errors.
    correlation: between -1 and 1.
    """

    data: int
    parameters: int
    chi_square: float
    r_squared: float
    covariance: np.ndarray

    @classmethod
    def of(cls, chi_square: float, total: float, jacobian: np.ndarray, absolute_sigma: bool) -> "Statistics":
        """From the sum of squares, what it is of the best constant, and the derivatives, all in units of sigma."""
        count, n = jacobian.shape
        covariance = _inverse_of_square(jacobian)
        if not absolute_sigma:
            covariance = covariance * (chi_square / (count - n)) if count > n else np.full((n, n), np.inf)
        return cls(count, n, chi_square, 1.0 - chi_square / total if total else math.nan, covariance)

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
        """-2 times it, for independent normal errors, up to a constant; of a sum of 0 as lmfit has it."""
        return self.data * math.log(max(self.chi_square / self.data, _LEAST_MEAN_SQUARE))

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


def flat(jacobian: np.ndarray, steps: np.ndarray, residuals: np.ndarray, spread: np.ndarray) -> np.ndarray:
    """Which parameters take part in a step, at most that long in each, that changes the sum of squares by next to nothing: by a
    part of it, or of the squares of how far the data `spread`?"""
    scaled = jacobian * steps
    if not np.isfinite(scaled).all():
        return np.zeros(len(steps), bool)
    noticed = _NOTABLE_CHANGE * np.sum(residuals**2) + _ROUNDING * np.sum(spread**2)
    _, singular, rows = np.linalg.svd(scaled, full_matrices=False)
    return (np.abs(rows[singular**2 <= noticed]) >= _TAKES_PART).any(axis=0)


def _inverse_of_square(jacobian: np.ndarray) -> np.ndarray:
    """(JᵀJ)⁻¹ from a QR factorisation of J; infinite if J is singular to working accuracy.

    By Householder's reflections with the longest column first and the largest rows on top: rounding errors of a row are then
    relative to that row, however much larger others are, as those of pinned measurements (Cox and Higham, 1998).
    """
    count, n = jacobian.shape
    infinite, scale = np.full((n, n), np.inf), _scale_of_columns(jacobian)
    if count < n or not (np.isfinite(scale) & (scale > 0)).all():
        return infinite
    a, order = jacobian / scale, np.arange(n)
    most = np.abs(a).max(axis=1)
    largest = np.minimum(most, _PINNED * np.median(most[most > 0]))  # a row that is larger says no more
    rows = np.argsort(-largest, kind="stable")
    a, largest = (a * (largest / np.where(most > 0, most, 1.0))[:, None])[rows], largest[rows]
    for k in range(n):
        left = np.sqrt(np.sum(a[k:, k:] ** 2, axis=0))
        j = int(np.argmax(left))
        if not left[j] > count * np.finfo(float).eps * np.sqrt(np.sum(largest[k:] ** 2)):
            return infinite
        a[:, [k, k + j]], order[[k, k + j]] = a[:, [k + j, k]], order[[k + j, k]]
        v = a[k:, k].copy()
        v[0] += np.copysign(left[j], v[0])
        v /= np.abs(v).max()
        a[k:, k:] -= np.outer(v, v @ a[k:, k:]) * (2.0 / (v @ v))
    half = np.linalg.solve(np.triu(a[:n]), np.eye(n)) / scale[order, None]
    found = np.empty((n, n))
    found[np.ix_(order, order)] = half @ half.T
    return found


def _scale_of_columns(jacobian: np.ndarray) -> np.ndarray:
    """About the length of each column, where no row counts more than others."""
    scale = np.ones(jacobian.shape[1])
    for _ in range(_SWEEPS):
        largest = np.abs(jacobian / scale).max(axis=1, initial=0.0)
        rows = jacobian / np.where(largest > 0, largest, 1.0)[:, None]
        scale = np.sqrt(np.sum(rows**2, axis=0))
    return scale
