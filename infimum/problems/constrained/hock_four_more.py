"""Problems of Hock and Schittkowski with four variables and more. Where the book has no bounds, finite ones are added."""

from typing import Any

import numpy as np

from infimum.problems.constrained.cec_2006 import three_equalities
from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import HOCK

R2 = np.sqrt(2.0)


def hs_39(x: Any) -> Any:
    """Two cubic equalities with slacks."""
    return -x[0]


def hs_40(x: Any) -> Any:
    """A product under three polynomial equalities."""
    return -np.prod(x)


def hs_43(x: Any) -> Any:
    """Rosen and Suzuki's problem."""
    return np.sum(np.array([1, 1, 2, 1]) * x**2) + np.sum(np.array([-5, -5, -21, 7]) * x)


def hs_43_limits(x: Any) -> Any:
    """Three ellipsoids."""
    squares = np.array([[1, 1, 1, 1], [1, 2, 1, 2], [2, 1, 1, 0]])
    lines = np.array([[1, -1, 1, -1], [-1, 0, 0, -1], [2, -1, 0, -1]])
    return squares @ x**2 + lines @ x


def hs_55(x: Any) -> Any:
    """An exponential of a product over a polytope of six equalities."""
    return x[0] + 2 * x[1] + 4 * x[4] + np.exp(x[0] * x[3])


HS_55_ROWS = np.array([[1, 2, 0, 0, 5, 0], [1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1], [1, 0, 0, 1, 0, 0], [0, 1, 0, 0, 1, 0],
                       [0, 0, 1, 0, 0, 1]])


def hs_56(x: Any) -> Any:
    """The largest parcel, its sides written with squares of sines."""
    return -x[0] * x[1] * x[2]


def hs_71(x: Any) -> Any:
    """The problem with which interior point codes introduce themselves."""
    return x[0] * x[3] * (x[0] + x[1] + x[2]) + x[2]


def hs_72(x: Any) -> Any:
    """The smallest stratified sample (sample of GLOBALLib)."""
    return 1 + np.sum(x)


def hs_73(x: Any) -> Any:
    """The cheapest feed for cattle, with a chance constraint (chance of GLOBALLib)."""
    return np.sum(np.array([24.55, 26.75, 39, 40.5]) * x)


def hs_76(x: Any) -> Any:
    """A convex quadratic over a polytope."""
    a, b, c, d = x
    return a**2 + 0.5 * b**2 + c**2 + 0.5 * d**2 - a * c + c * d - a - 3 * b + c - d


HS_76_ROWS = np.array([[1, 2, 1, 1], [3, 1, 2, -1], [0, -1, -4, 0]])


def hs_77(x: Any) -> Any:
    """Powers up to six under two equalities, one with a sine."""
    a, b, c, d, e = x
    return (a - 1) ** 2 + (a - b) ** 2 + (c - 1) ** 2 + (d - 1) ** 4 + (e - 1) ** 6


def hs_78(x: Any) -> Any:
    """A product under the equalities of g13."""
    return np.prod(x)


def hs_79(x: Any) -> Any:
    """A quartic under three equalities."""
    a, b, c, d, e = x
    return (a - 1) ** 2 + (a - b) ** 2 + (b - c) ** 2 + (c - d) ** 4 + (d - e) ** 4


def hs_93(x: Any) -> Any:
    """The design of a transformer."""
    a, b, c, d, e, f = x
    core, coil = a * d * (a + b + c), b * c * (a + 1.57 * b + d)
    return 0.0204 * core + 0.0187 * coil + 0.0607 * core * e**2 + 0.0437 * coil * f**2


def hs_93_losses(x: Any) -> Any:
    """What the transformer may lose."""
    a, b, c, d, e, f = x
    return 0.00062 * a * d * e**2 * (a + b + c) + 0.00058 * b * c * f**2 * (a + 1.57 * b + d)


def hs_116(x: Any) -> Any:
    """Three stages of membranes."""
    return x[10] + x[11] + x[12]


def hs_116_limits(x: Any) -> Any:
    """Thirteen limits of the membranes, all at least zero."""
    a, b, c, d, e, f, g, h, i, j, k, m, n = x
    return np.stack([
        c - b, b - a, 1 - 0.002 * g + 0.002 * h, n - 1.262626 * j + 1.231059 * c * j,
        e - 0.03475 * b - 0.975 * b * e + 0.00975 * b**2, f - 0.03475 * c - 0.975 * c * f + 0.00975 * c**2,
        e * g - a * h - d * g + d * h, 1 - 0.002 * (b * i + e * h - a * h - f * i) - e - f,
        b * i - c * j - f * i - 500 * b + 500 * f + b * j, b - 0.9 - 0.002 * (b * j - c * j),
        d - 0.03475 * a - 0.975 * a * d + 0.00975 * a**2, k - 1.262626 * h + 1.231059 * a * h,
        m - 1.262626 * i + 1.231059 * b * i])


TABLE = (
    Row(hs_39, [(-10, 10)] * 4,
        [equal(lambda x: x[1] - x[0] ** 3 - x[2] ** 2), equal(lambda x: x[0] ** 2 - x[1] - x[3] ** 2)], HOCK + "39"),
    Row(hs_40, [(-10, 10)] * 4,
        [equal(lambda x: np.stack([x[0] ** 3 + x[1] ** 2 - 1, x[0] ** 2 * x[3] - x[2], x[3] ** 2 - x[1]]))], HOCK + "40"),
    Row(hs_43, [(-10, 10)] * 4, [at_most(hs_43_limits, np.array([8.0, 10, 5]))], HOCK + "43"),
    Row(hs_55, [(0, 1), (0, 10), (0, 10), (0, 1), (0, 10), (0, 10)],
        [equal(lambda x: HS_55_ROWS @ x, np.array([6.0, 3, 2, 1, 2, 2]))], HOCK + "55"),
    Row(hs_56, [(0, 4.2)] * 3 + [(0, 1.6)] * 4,
        [equal(lambda x: x[:3] - 4.2 * np.sin(x[3:6]) ** 2),
         equal(lambda x: x[0] + 2 * x[1] + 2 * x[2] - 7.2 * np.sin(x[6]) ** 2)], HOCK + "56"),
    Row(hs_71, [(1, 5)] * 4, [at_least(np.prod, 25.0), equal(lambda x: np.sum(x**2), 40.0)], HOCK + "71"),
    Row(hs_72, [(0.001, 4e5), (0.001, 3e5), (0.001, 2e5), (0.001, 1e5)],
        [at_most(lambda x: np.array([[4, 2.25, 1, 0.25], [0.16, 0.36, 0.64, 0.64]]) @ (1 / x), np.array([0.0401, 0.010085]))],
        HOCK + "72"),
    Row(hs_73, [(0, 1)] * 4,
        [equal(np.sum, 1.0), at_least(lambda x: np.sum(np.array([2.3, 5.6, 11.1, 1.3]) * x), 5.0),
         at_least(lambda x: np.sum(np.array([12, 11.9, 41.8, 52.1]) * x)
                  - 1.645 * np.sqrt(np.sum(np.array([0.28, 0.19, 20.5, 0.62]) * x**2)), 21.0)], HOCK + "73"),
    Row(hs_76, [(0, 10)] * 4, [at_most(lambda x: HS_76_ROWS @ x, np.array([5, 4, -1.5]))], HOCK + "76"),
    Row(hs_77, [(-10, 10)] * 5,
        [equal(lambda x: x[0] ** 2 * x[3] + np.sin(x[3] - x[4]), 2 * R2),
         equal(lambda x: x[1] + x[2] ** 4 * x[3] ** 2, 8 + R2)], HOCK + "77"),
    Row(hs_78, [(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3, [equal(three_equalities)], HOCK + "78"),
    Row(hs_79, [(-5, 5)] * 5,
        [equal(lambda x: np.stack([x[0] + x[1] ** 2 + x[2] ** 3, x[1] - x[2] ** 2 + x[3], x[0] * x[4]]),
               np.array([2 + 3 * R2, 2 * R2 - 2, 2]))], HOCK + "79"),
    Row(hs_93, [(0, 20)] * 4 + [(0, 5)] * 2, [at_least(np.prod, 2070.0), at_most(hs_93_losses, 1.0)], HOCK + "93"),
    Row(hs_116, [(0.1, 1)] * 3 + [(0.0001, 0.1), (0.1, 0.9), (0.1, 0.9), (0.1, 1000), (0.1, 1000), (500, 1000), (0.1, 500),
                                  (1, 150),
                                  (0.0001, 150), (0.0001, 150)],
        [at_least(hs_116_limits), at_least(hs_116, 50.0), at_most(hs_116, 250.0)], HOCK + "116"),
)
