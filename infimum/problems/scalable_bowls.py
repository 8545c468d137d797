"""Scalable problems with one basin or one valley: easy to descend, often badly scaled, flat, or with a kink at the minimiser."""

import math
from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import CEC_2014, JAMIL, LIBRARY, RAHNAMAYAN, SCHWEFEL


def _ranks(x: Any) -> np.ndarray:
    """1, 2, ..., n."""
    return np.arange(1.0, len(x) + 1)


def sphere(x: Any) -> Any:
    """The sum of squares."""
    return np.sum(x**2)


def sum_squares(x: Any) -> Any:
    """The sum of squares, each weighted by its rank."""
    return np.sum(_ranks(x) * x**2)


def sum_of_different_powers(x: Any) -> Any:
    """|x_i| to the power i + 1: ever flatter."""
    return np.sum(np.abs(x) ** (_ranks(x) + 1))


def rotated_hyper_ellipsoid(x: Any) -> Any:
    """The sum of all leading sums of squares."""
    return np.sum(np.cumsum(x**2))


def schwefel_1_2(x: Any) -> Any:
    """The squares of all leading sums."""
    return np.sum(np.cumsum(x) ** 2)


def schwefel_2_4(x: Any) -> Any:
    """Every variable is coupled with the first."""
    return np.sum((x - 1) ** 2 + (x[0] - x**2) ** 2)


def schwefel_2_20(x: Any) -> Any:
    """The sum of absolute values."""
    return np.sum(np.abs(x))


def schwefel_2_21(x: Any) -> Any:
    """The largest absolute value."""
    return np.max(np.abs(x))


def schwefel_2_22(x: Any) -> Any:
    """The sum and the product of absolute values."""
    return np.sum(np.abs(x)) + np.prod(np.abs(x))


def schwefel_2_23(x: Any) -> Any:
    """Tenth powers: very flat at the minimiser."""
    return np.sum(x**10)


def brown(x: Any) -> Any:
    """Powers whose exponents are variables too."""
    a, b = x[:-1] ** 2, x[1:] ** 2
    return np.sum(a ** (b + 1) + b ** (a + 1))


def chung_reynolds(x: Any) -> Any:
    """The square of the sphere function."""
    return np.sum(x**2) ** 2


def exponential(x: Any) -> Any:
    """An upturned bell."""
    return -np.exp(-0.5 * np.sum(x**2))


def holzman_2(x: Any) -> Any:
    """Weighted fourth powers."""
    return np.sum(_ranks(x) * x**4)


def high_conditioned_elliptic(x: Any) -> Any:
    """A quadratic of condition number one million."""
    return np.sum(1e6 ** ((_ranks(x) - 1) / (len(x) - 1)) * x**2)


def bent_cigar(x: Any) -> Any:
    """One direction a million times flatter than the others."""
    return x[0] ** 2 + 1e6 * np.sum(x[1:] ** 2)


def discus(x: Any) -> Any:
    """One direction a million times steeper than the others."""
    return 1e6 * x[0] ** 2 + np.sum(x[1:] ** 2)


def ridge(x: Any) -> Any:
    """A sharp ridge that falls along the first variable down to its bound."""
    return x[0] + np.sqrt(np.sum(x[1:] ** 2))


def rosenbrock(x: Any) -> Any:
    """The banana valley, chained."""
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def dixon_price(x: Any) -> Any:
    """A chain in which only the sign of the last variable is free."""
    return (x[0] - 1) ** 2 + np.sum(_ranks(x)[1:] * (2 * x[1:] ** 2 - x[:-1]) ** 2)


def trid(x: Any) -> Any:
    """A convex quadratic with a tridiagonal matrix."""
    return np.sum((x - 1) ** 2) - np.sum(x[1:] * x[:-1])


def zakharov(x: Any) -> Any:
    """A quadratic and the square and fourth power of one direction."""
    slant = np.sum(0.5 * _ranks(x) * x)
    return np.sum(x**2) + slant**2 + slant**4


def qing(x: Any) -> Any:
    """Two wells in each variable, all equally deep."""
    return np.sum((x**2 - _ranks(x)) ** 2)


def perm_d(x: Any) -> Any:
    """Polynomial equations with the solution (1, 2, ..., n), beta = 0.5."""
    i = _ranks(x)
    return sum(np.sum((i**k + 0.5) * ((x / i) ** k - 1)) ** 2 for k in range(1, len(x) + 1))


def perm_0(x: Any) -> Any:
    """Polynomial equations with the solution (1, 1/2, ..., 1/n), beta = 10."""
    i = _ranks(x)
    return sum(np.sum((i + 10) * (x**k - 1 / i**k)) ** 2 for k in range(1, len(x) + 1))


def _dixon_price_points(n: int) -> list[np.ndarray]:
    point = 2.0 ** (2.0 ** (1 - np.arange(1.0, n + 1)) - 1)
    return [point, np.append(point[:-1], -point[-1])]


def _squares(n: int) -> tuple[float, float]:
    """A sum of squares whose zero is not a vector of doubles."""
    return 0.0, 1e-28 * n**3


def _trid_point(n: int) -> np.ndarray:
    i = np.arange(1.0, n + 1)
    return i * (n + 1 - i)


ANY, PAIRS = (1, math.inf), (2, math.inf)


_USUAL = {"minimum": 0.0, "points": (0.0,), "sizes": ANY, "size": 10}  # of fields that an entry does not give


def _entry(fun: Any, bounds: Any, source: str, notes: str, **fields: Any) -> Entry:
    return Entry(fun=fun, bounds=bounds, source=source, notes=notes, **(_USUAL | fields))


TABLE = [
    _entry(sphere, (-5.12, 5.12), "De Jong, An analysis of the behavior of a class of genetic adaptive systems (1975)",
           "unimodal, separable"),
    _entry(sum_squares, (-10, 10), LIBRARY, "unimodal, separable"),
    _entry(sum_of_different_powers, (-1, 1), LIBRARY, "unimodal, separable, flat"),
    _entry(rotated_hyper_ellipsoid, (-65.536, 65.536), LIBRARY, "unimodal, separable"),
    _entry(schwefel_1_2, (-100, 100), SCHWEFEL, "unimodal"),
    _entry(schwefel_2_4, (0, 10), SCHWEFEL, "unimodal", points=[1.0]),
    _entry(schwefel_2_20, (-100, 100), SCHWEFEL, "unimodal, separable, kink at the minimiser"),
    _entry(schwefel_2_21, (-100, 100), SCHWEFEL, "unimodal, kink at the minimiser"),
    _entry(schwefel_2_22, (-10, 10), SCHWEFEL, "unimodal, kink at the minimiser"),
    _entry(schwefel_2_23, (-10, 10), SCHWEFEL, "unimodal, separable, flat"),
    _entry(brown, (-1, 4), "Brown (1966), as given by " + JAMIL, "unimodal", sizes=PAIRS),
    _entry(chung_reynolds, (-100, 100), "Chung and Reynolds, CAEP: an evolution-based tool (1998)", "unimodal, flat"),
    _entry(exponential, (-1, 1), RAHNAMAYAN,
           "unimodal", minimum=-1.0),
    _entry(holzman_2, (-10, 10), JAMIL, "unimodal, separable, flat"),
    _entry(high_conditioned_elliptic, (-100, 100), CEC_2014, "unimodal, separable, badly scaled", sizes=PAIRS),
    _entry(bent_cigar, (-100, 100), CEC_2014, "unimodal, separable, badly scaled", sizes=PAIRS),
    _entry(discus, (-100, 100), CEC_2014, "unimodal, separable, badly scaled", sizes=PAIRS),
    _entry(ridge, (-5, 5),
           "Oyman, Beyer and Schwefel, Where elitists start limping: evolution strategies at ridge functions (1998)",
           "unimodal, kink at the minimiser, minimiser on a bound", minimum=-5.0, points=lambda n: [[-5.0] + [0.0] * (n - 1)],
           sizes=PAIRS),
    _entry(rosenbrock, (-5, 10), "Rosenbrock, An automatic method for finding the greatest or least value of a function (1960)",
           "curved valley, a second local minimum from n = 4 on", points=[1.0], sizes=PAIRS),
    _entry(dixon_price, (-10, 10), "Dixon and Price, Truncated Newton method for sparse unconstrained optimization (1989)",
           "curved valley", minimum=_squares, points=_dixon_price_points, sizes=PAIRS),
    _entry(trid, lambda n: (-float(n * n), float(n * n)), "Neumaier's problem 3; " + LIBRARY, "unimodal, badly scaled",
           minimum=lambda n: -n * (n + 4) * (n - 1) / 6, points=lambda n: [_trid_point(n)], sizes=PAIRS),
    _entry(zakharov, (-5, 10), LIBRARY, "unimodal, badly scaled"),
    _entry(qing, (-500, 500), "Qing, Dynamic differential evolution (2006)", "multimodal, separable, 2^n minimisers",
           minimum=_squares, points=lambda n: [np.sqrt(np.arange(1.0, n + 1)), -np.sqrt(np.arange(1.0, n + 1))], complete=False),
    _entry(perm_d, lambda n: (-n, n), LIBRARY, "badly scaled, other solutions possible",
           points=lambda n: [np.arange(1.0, n + 1)], sizes=(1, 60), size=4, complete=False),
    _entry(perm_0, lambda n: (-n, n), LIBRARY, "badly scaled, other solutions possible", minimum=_squares,
           points=lambda n: [1 / np.arange(1.0, n + 1)], sizes=(1, 60), size=4, complete=False),
]
