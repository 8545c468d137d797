"""Robust stability, systems of equations as problems of least deviation, and minimax: the least t above several functions."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS

MADSEN = "Madsen and Schjaer-Jacobsen, Linearly constrained minimax optimization (1978)"
CHARALAMBOUS = "Charalambous and Conn, An efficient method to solve the minimax problem directly (1978)"
POLAK = "Polak, as in CUTE (Bongartz et al., 1995): "


def last(x: Any) -> Any:
    """The last variable: a margin, a deviation or a level."""
    return x[-1]


# ---- robust stability: the parameters move by at most the margin times their weights
def _within(count: int, centres: list, weights: list) -> list:
    centre, weight = np.array(centres), np.array(weights)
    return [at_most(lambda x: x[:count] - weight * x[-1] - centre), at_most(lambda x: centre - weight * x[-1] - x[:count])]


def ex7_3_1_edge(x: Any) -> Any:
    """A polynomial of degree five."""
    a, b, c, _ = x
    return (10 * b**2 * c**3 + 10 * b**3 * c**2 + 200 * b**2 * c**2 + 100 * b**3 * c + 100 * c**3 * b + a * b * c**2
            + b**2 * a * c
            + 1000 * c**2 * b + 8 * c**2 * a + 1000 * b**2 * c + 8 * b**2 * a + 6 * a * b * c - a**2 + 60 * a * c
            + 60 * a * b - 200 * a)


def ex7_3_3_edge(x: Any) -> Any:
    """The real and the imaginary part of a characteristic polynomial; x[3] is a frequency."""
    a, b, c, d, _ = x
    return np.stack([9.625 * a * d - 4 * a - 78 * d + 16 * b * d - b + 16 * d**2 + c + 12,
                     16 * a * d - 19 * a - 24 * d - 8 * b - c + 44])


def ex7_3_4_edge(x: Any) -> Any:
    """A vehicle: the coefficients of its characteristic polynomial, and the polynomial at a frequency."""
    a, b, c, d, e, c0, c1, c2, c3, c4, w, _ = x
    return np.stack([w**4 * c4 - w**2 * c2 + c0, w**2 * c3 - c1, c0 - 54.387 * c * b,
                     c1 - 0.2 * (1364.67 * c * b - 147.15 * d * c * b) + 5.544 * e,
                     c2 - 3 * (-9.81 * b**2 * c - 9.81 * c * a * b - 4.312 * c**2 * b + 264.896 * c * b + d * e - 9.274 * e),
                     c3 - (7 * c**2 * d * b - 64.918 * c**2 * b + 380.067 * c * b + 3 * e * b + 3 * e * a),
                     c4 - c**2 * b * (7 * a + 4 * b)])


def ex7_3_5_edge(x: Any) -> Any:
    """The same with nine coefficients and two parameters; x[2] is a frequency."""
    a, b, w, _, c0, c1, c2, c3, c4, c5, c6, c7, c8 = x
    return np.stack([w**8 * c8 - w**6 * c6 + w**4 * c4 - w**2 * c2 + c0, w**6 * c7 - w**4 * c5 + w**2 * c3 - c1,
                     c0 - 4.53 * a**2, c1 - 5.28 * a**2 - 0.364 * a, c2 - 5.72 * a**2 * b - 1.13 * a**2 - 0.425 * a,
                     c3 - 6.93 * a**2 * b - 0.0911 * a - 0.00422, c4 - 1.45 * a**2 * b - 0.168 * a * b - 0.000338,
                     c5 - 1.56 * a**2 * b**2 - 0.00084 * a**2 * b - 0.0135 * a * b - 1.35e-5,
                     c6 - 0.125 * a**2 * b**2 - 1.68e-5 * a**2 * b - 0.000539 * a * b - 2.7e-7,
                     c7 - 0.005 * a**2 * b**2 - 1.08e-5 * a * b, c8 - 0.0001 * a**2 * b**2])


def ex7_3_5(x: Any) -> Any:
    """The margin of a system of order eight."""
    return x[3]


# ---- the least largest deviation in a system of equations
def _both_ways(fun: Any) -> list:
    return [at_most(lambda x: fun(x) - x[-1]), at_most(lambda x: -fun(x) - x[-1])]


def ex14_1_1_system(x: Any) -> Any:
    """The gradient of Himmelblau's function."""
    a, b, _ = x
    return np.stack([2 * b**2 + 4 * a * b - 42 * a + 4 * a**3 - 14, 2 * a**2 + 4 * a * b - 26 * b + 4 * b**3 - 22])


def ex14_1_2_system(x: Any) -> Any:
    """The combustion of propane in air."""
    a, b, c, d, e, _ = x
    bc, bd = 0.000545176668613029 * b * c, 3.40735417883143e-5 * b * d
    return np.stack([
        2.8845e-6 * b**2 + 4.4975e-7 * b + 2 * a * b + a + bc + bd + c**2 * b - 10 * e,
        0.386 * c**2 + 0.000410621754172864 * c + bc + 2 * c**2 * b - 8 * e, 2 * d**2 + bd - 40 * e,
        9.615e-7 * b**2 + 4.4975e-7 * b + 0.193 * c**2 + 0.000410621754172864 * c + d**2 + a * b + a + bc + bd + c**2 * b - 1])


def ex14_1_5_system(x: Any) -> Any:
    """The product of Brown's almost linear system."""
    return np.prod(x[:5]) - 1


def ex14_1_6_system(x: Any) -> Any:
    """The kinematics of a robot."""
    a, b, c, d, e, f, g, h, _ = x
    return np.stack([0.004731 * a * c - 0.1238 * a - 0.3578 * b * c - 0.001637 * b - 0.9338 * d + g - 0.3571,
                     0.2238 * a * c + 0.2638 * a + 0.7623 * b * c - 0.07745 * b - 0.6734 * d - g - 0.6022,
                     f * h + 0.3578 * a + 0.004731 * b, a**2 + b**2 - 1, c**2 + d**2 - 1, e**2 + f**2 - 1, g**2 + h**2 - 1])


def ex14_1_9_system(x: Any) -> Any:
    """The temperature of a reactor."""
    rate = np.exp(-7548.11926028431 / x[0])
    return 4510067.11409396 * rate * x[0] + 0.00335570469798658 * x[0] - 2020510067.11409 * rate - 1


BROWN = np.ones((4, 5)) + np.eye(4, 5)

# ---- minimax
CB_LEVEL = [at_most(lambda x: (2 - x[0]) ** 2 + (2 - x[1]) ** 2 - x[2]), at_most(lambda x: 2 * np.exp(x[1] - x[0]) - x[2])]

TABLE = (
    Row(last, [(0, 2000), (0, 20), (0, 20), (0, 10)], [at_most(ex7_3_1_edge), *_within(3, [800, 4, 6], [800, 2, 3])],
        FLOUDAS + "ex7_3_1, with bounds added", name="ex7_3_1"),
    Row(last, [(0, 10)] * 4,
        [at_most(lambda x: x[0] ** 4 * x[1] ** 4 - x[0] ** 4 - x[1] ** 4 * x[2]), *_within(3, [1.4, 1.5, 0.8], [0.25, 0.2, 0.2])],
        FLOUDAS + "ex7_3_2, with bounds added", name="ex7_3_2"),
    Row(last, [(-10, 10)] * 3 + [(0, 10), (0, 10)], [equal(ex7_3_3_edge), *_within(3, [2.25, 1.5, 1.5], [0.25, 0.5, 1.5])],
        FLOUDAS + "ex7_3_3, with bounds added", name="ex7_3_3"),
    Row(last, [(0, 20), (0, 2), (0, 2), (0, 0.4), (0, 0.2)] + [(-2000, 2000)] * 5 + [(0, 10), (0, 10)],
        [equal(ex7_3_4_edge), *_within(5, [10, 1, 1, 0.2, 0.05], [1, 0.1, 0.1, 0.01, 0.005])],
        FLOUDAS + "ex7_3_4, with bounds added", name="ex7_3_4"),
    Row(ex7_3_5, [(0, 2), (0, 2), (0, 10), (0, 10)] + [(-50, 50)] * 9,
        [equal(ex7_3_5_edge), at_most(lambda x: x[:2] - np.array([0.145, 0.15]) * x[3], np.array([0.175, 0.2])),
         at_least(lambda x: x[:2] + np.array([0.145, 0.15]) * x[3], np.array([0.175, 0.2]))],
        FLOUDAS + "ex7_3_5, with bounds added"),
    Row(last, [(-5, 5)] * 2 + [(0, 100)], _both_ways(ex14_1_1_system), FLOUDAS + "ex14_1_1", name="ex14_1_1"),
    Row(last, [(0.0001, 100)] * 5 + [(0, 100)], [equal(lambda x: x[0] * x[1] + x[0] - 3 * x[4]), *_both_ways(ex14_1_2_system)],
        FLOUDAS + "ex14_1_2", name="ex14_1_2"),
    Row(last, [(-2, 2)] * 5 + [(0, 100)], [equal(lambda x: BROWN @ x[:5], 6.0), *_both_ways(ex14_1_5_system)],
        FLOUDAS + "ex14_1_5", name="ex14_1_5"),
    Row(last, [(-1, 1)] * 8 + [(0, 10)], [equal(lambda x: 0.2238 * x[1] - 0.7623 * x[0], -0.3461), *_both_ways(ex14_1_6_system)],
        FLOUDAS + "ex14_1_6", name="ex14_1_6"),
    Row(last, [(100, 1000), (0, 1000)], _both_ways(ex14_1_9_system), FLOUDAS + "ex14_1_9", name="ex14_1_9"),
    Row(last, [(-10, 10)] * 2 + [(-100, 100)], [at_most(lambda x: x[0] ** 2 + x[1] ** 4 - x[2]), *CB_LEVEL], CHARALAMBOUS,
        name="cb2"),
    Row(last, [(-10, 10)] * 2 + [(-100, 100)], [at_most(lambda x: x[0] ** 4 + x[1] ** 2 - x[2]), *CB_LEVEL], CHARALAMBOUS,
        name="cb3"),
    Row(last, [(-5, 5)] * 2 + [(-50, 50)],
        _both_ways(lambda x: np.stack([x[0] ** 2 + x[1] ** 2 + x[0] * x[1], np.sin(x[0]), np.cos(x[1])])), MADSEN, name="madsen"),
    Row(last, [(-10, 10)] * 2 + [(-1000, 1000)],
        [at_most(lambda x: np.exp(0.001 * x[0] ** 2 + (x[1] + np.array([-1, 1])) ** 2) - x[2])], POLAK + "polak1", name="polak1"),
)
