"""Problems of Hock and Schittkowski with two and three variables. Where the book has no bounds, finite ones are added."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import HOCK

R3 = np.sqrt(3.0)


# ---- two variables
def hs_7(x: Any) -> Any:
    """A logarithm on a quartic curve."""
    return np.log(1 + x[0] ** 2) - x[1]


def hs_10(x: Any) -> Any:
    """A linear function over an ellipse."""
    return x[0] - x[1]


def hs_11(x: Any) -> Any:
    """A distance to the inside of a parabola."""
    return (x[0] - 5) ** 2 + x[1] ** 2 - 25


def hs_12(x: Any) -> Any:
    """A quadratic over an ellipse."""
    return 0.5 * x[0] ** 2 + x[1] ** 2 - x[0] * x[1] - 7 * x[0] - 7 * x[1]


def hs_13(x: Any) -> Any:
    """A cusp: no constraint qualification holds at the minimiser."""
    return (x[0] - 2) ** 2 + x[1] ** 2


def hs_14(x: Any) -> Any:
    """A distance to a chord of an ellipse."""
    return (x[0] - 2) ** 2 + (x[1] - 1) ** 2


def hs_15(x: Any) -> Any:
    """Rosenbrock's valley, cut by a hyperbola and a parabola."""
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


def hs_18(x: Any) -> Any:
    """An ellipse over the outside of a hyperbola and a circle."""
    return 0.01 * x[0] ** 2 + x[1] ** 2


def hs_22(x: Any) -> Any:
    """A distance to a region between a line and a parabola."""
    return (x[0] - 2) ** 2 + (x[1] - 1) ** 2


def hs_23(x: Any) -> Any:
    """The norm over a region with five curved sides."""
    return x[0] ** 2 + x[1] ** 2


def hs_24(x: Any) -> Any:
    """A quintic over a triangle."""
    return ((x[0] - 3) ** 2 - 9) * x[1] ** 3 / (27 * R3)


# ---- three variables
def hs_26(x: Any) -> Any:
    """A quartic valley on a surface; the Hessian is singular along it."""
    return (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4


def hs_27(x: Any) -> Any:
    """A valley under a parabolic equality."""
    return 0.01 * (x[0] - 1) ** 2 + (x[1] - x[0] ** 2) ** 2


def hs_29(x: Any) -> Any:
    """A product over an ellipsoid: four minimisers."""
    return -x[0] * x[1] * x[2]


def hs_30(x: Any) -> Any:
    """The norm outside a cylinder."""
    return np.sum(x**2)


def hs_32(x: Any) -> Any:
    """A quadratic over a curve in a simplex."""
    return (x[0] + 3 * x[1] + x[2]) ** 2 + 4 * (x[0] - x[1]) ** 2


def hs_33(x: Any) -> Any:
    """A cubic between a cone and a ball."""
    return (x[0] - 1) * (x[0] - 2) * (x[0] - 3) + x[2]


def hs_34(x: Any) -> Any:
    """A tower of exponentials."""
    return -x[0]


def hs_36(x: Any) -> Any:
    """The largest parcel."""
    return -x[0] * x[1] * x[2]


def hs_60(x: Any) -> Any:
    """A quartic valley on a quartic surface."""
    return (x[0] - 1) ** 2 + (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4


def hs_61(x: Any) -> Any:
    """A quadratic on two parabolic cylinders."""
    return 4 * x[0] ** 2 + 2 * x[1] ** 2 + 2 * x[2] ** 2 - 33 * x[0] + 16 * x[1] - 24 * x[2]


def hs_62(x: Any) -> Any:
    """Logarithms of quotients over a simplex."""
    a, b, c = x
    return -32.174 * (255 * np.log((a + b + c + 0.03) / (0.09 * a + b + c + 0.03))
                      + 280 * np.log((b + c + 0.03) / (0.07 * b + c + 0.03)) + 290 * np.log((c + 0.03) / (0.13 * c + 0.03)))


def hs_64(x: Any) -> Any:
    """Costs that fall with size, and a posynomial limit."""
    return np.sum(np.array([5, 20, 10]) * x + np.array([50000, 72000, 144000]) / x)


def hs_65(x: Any) -> Any:
    """A quadratic over a ball."""
    return (x[0] - x[1]) ** 2 + (x[0] + x[1] - 10) ** 2 / 9 + (x[2] - 5) ** 2


def hs_66(x: Any) -> Any:
    """A linear function over a tower of exponentials."""
    return 0.2 * x[2] - 0.8 * x[0]


TABLE = (
    Row(hs_7, [(-10, 10)] * 2, [equal(lambda x: (1 + x[0] ** 2) ** 2 + x[1] ** 2, 4.0)], HOCK + "7"),
    Row(hs_10, [(-20, 20)] * 2, [at_least(lambda x: -3 * x[0] ** 2 + 2 * x[0] * x[1] - x[1] ** 2, -1.0)], HOCK + "10"),
    Row(hs_11, [(-20, 20)] * 2, [at_least(lambda x: x[1] - x[0] ** 2)], HOCK + "11"),
    Row(hs_12, [(-20, 20)] * 2, [at_most(lambda x: 4 * x[0] ** 2 + x[1] ** 2, 25.0)], HOCK + "12"),
    Row(hs_13, [(0, 10)] * 2, [at_least(lambda x: (1 - x[0]) ** 3 - x[1])], HOCK + "13"),
    Row(hs_14, [(-10, 10)] * 2, [at_most(lambda x: 0.25 * x[0] ** 2 + x[1] ** 2, 1.0), equal(lambda x: x[0] - 2 * x[1], -1.0)],
        HOCK + "14"),
    Row(hs_15, [(-10, 0.5), (-10, 10)], [at_least(lambda x: x[0] * x[1], 1.0), at_least(lambda x: x[0] + x[1] ** 2)],
        HOCK + "15"),
    Row(hs_18, [(2, 50), (0, 50)], [at_least(lambda x: x[0] * x[1], 25.0), at_least(lambda x: x[0] ** 2 + x[1] ** 2, 25.0)],
        HOCK + "18"),
    Row(hs_22, [(-10, 10)] * 2, [at_most(lambda x: x[0] + x[1], 2.0), at_least(lambda x: x[1] - x[0] ** 2)], HOCK + "22"),
    Row(hs_23, [(-50, 50)] * 2,
        [at_least(lambda x: np.stack([x[0] + x[1] - 1, x[0] ** 2 + x[1] ** 2 - 1, 9 * x[0] ** 2 + x[1] ** 2 - 9,
                                      x[0] ** 2 - x[1], x[1] ** 2 - x[0]]))], HOCK + "23"),
    Row(hs_24, [(0, 10)] * 2, [at_least(lambda x: np.stack([x[0] / R3 - x[1], x[0] + R3 * x[1], 6 - x[0] - R3 * x[1]]))],
        HOCK + "24"),
    Row(hs_26, [(-10, 10)] * 3, [equal(lambda x: (1 + x[1] ** 2) * x[0] + x[2] ** 4, 3.0)], HOCK + "26"),
    Row(hs_27, [(-10, 10)] * 3, [equal(lambda x: x[0] + x[2] ** 2, -1.0)], HOCK + "27"),
    Row(hs_29, [(-10, 10)] * 3, [at_most(lambda x: x[0] ** 2 + 2 * x[1] ** 2 + 4 * x[2] ** 2, 48.0)], HOCK + "29"),
    Row(hs_30, [(1, 10), (-10, 10), (-10, 10)], [at_least(lambda x: x[0] ** 2 + x[1] ** 2, 1.0)], HOCK + "30"),
    Row(hs_32, [(0, 10)] * 3, [at_least(lambda x: 6 * x[1] + 4 * x[2] - x[0] ** 3, 3.0), equal(np.sum, 1.0)], HOCK + "32"),
    Row(hs_33, [(0, 10), (0, 10), (0, 5)],
        [at_least(lambda x: x[2] ** 2 - x[1] ** 2 - x[0] ** 2), at_least(lambda x: np.sum(x**2), 4.0)], HOCK + "33"),
    Row(hs_34, [(0, 100), (0, 100), (0, 10)], [at_least(lambda x: x[1:] - np.exp(x[:-1]))], HOCK + "34"),
    Row(hs_36, [(0, 20), (0, 11), (0, 42)], [at_most(lambda x: x[0] + 2 * x[1] + 2 * x[2], 72.0)], HOCK + "36"),
    Row(hs_60, [(-10, 10)] * 3, [equal(lambda x: x[0] * (1 + x[1] ** 2) + x[2] ** 4, 4 + 3 * np.sqrt(2.0))], HOCK + "60"),
    Row(hs_61, [(-20, 20)] * 3,
        [equal(lambda x: 3 * x[0] - 2 * x[1] ** 2, 7.0), equal(lambda x: 4 * x[0] - x[2] ** 2, 11.0)], HOCK + "61"),
    Row(hs_62, [(0, 1)] * 3, [equal(np.sum, 1.0)], HOCK + "62"),
    Row(hs_64, [(1, 1000)] * 3, [at_most(lambda x: np.sum(np.array([4, 32, 120]) / x), 1.0)], HOCK + "64"),
    Row(hs_65, [(-4.5, 4.5)] * 2 + [(-5, 5)], [at_most(lambda x: np.sum(x**2), 48.0)], HOCK + "65"),
    Row(hs_66, [(0, 100), (0, 100), (0, 10)], [at_least(lambda x: x[1:] - np.exp(x[:-1]))], HOCK + "66"),
)
