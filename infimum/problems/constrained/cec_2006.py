"""The problems of the CEC 2006 competition on constrained optimisation with up to fifteen variables."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import CEC_2006


def g01(x: Any) -> Any:
    """A concave quadratic over a polytope of 13 variables."""
    return 5 * np.sum(x[:4]) - 5 * np.sum(x[:4] ** 2) - np.sum(x[4:])


G01_ROWS = np.zeros((9, 13))
for _row, _terms in enumerate(({0: 2, 1: 2, 9: 1, 10: 1}, {0: 2, 2: 2, 9: 1, 11: 1}, {1: 2, 2: 2, 10: 1, 11: 1},
                               {0: -8, 9: 1}, {1: -8, 10: 1}, {2: -8, 11: 1},
                               {3: -2, 4: -1, 9: 1}, {5: -2, 6: -1, 10: 1}, {7: -2, 8: -1, 11: 1})):
    G01_ROWS[_row, list(_terms)] = list(_terms.values())
G01_ENDS = np.array([10.0, 10, 10, 0, 0, 0, 0, 0, 0])


def g03(x: Any) -> Any:
    """A product on the unit sphere of ten variables."""
    return -(10.0**5) * np.prod(x)


def g04(x: Any) -> Any:
    """Himmelblau's problem 11: a nonconvex quadratic with quadratic constraints."""
    return 5.3578547 * x[2] ** 2 + 0.8356891 * x[0] * x[4] + 37.293239 * x[0] - 40792.141


def g04_limits(x: Any) -> Any:
    """Three bilinear quantities."""
    return np.stack([
        85.334407 + 0.0056858 * x[1] * x[4] + 0.0006262 * x[0] * x[3] - 0.0022053 * x[2] * x[4],
        80.51249 + 0.0071317 * x[1] * x[4] + 0.0029955 * x[0] * x[1] + 0.0021813 * x[2] ** 2,
        9.300961 + 0.0047026 * x[2] * x[4] + 0.0012547 * x[0] * x[2] + 0.0019085 * x[2] * x[3]])


def g05(x: Any) -> Any:
    """Economic dispatch: two cubics and three sine equalities (also Hock and Schittkowski 74)."""
    return 3 * x[0] + 0.000001 * x[0] ** 3 + 2 * x[1] + 0.000002 / 3 * x[1] ** 3


def g05_flows(x: Any) -> Any:
    """The flow balances of three nodes."""
    a, b, c, d = x
    return np.stack([1000 * np.sin(-c - 0.25) + 1000 * np.sin(-d - 0.25) + 894.8 - a,
                     1000 * np.sin(c - 0.25) + 1000 * np.sin(c - d - 0.25) + 894.8 - b,
                     1000 * np.sin(d - 0.25) + 1000 * np.sin(d - c - 0.25) + 1294.8])


def g06(x: Any) -> Any:
    """Two cubes over a thin crescent between circles."""
    return (x[0] - 10) ** 3 + (x[1] - 20) ** 3


def g07(x: Any) -> Any:
    """A convex quadratic of ten variables with eight constraints."""
    weights, centres = np.array([1.0, 4, 1, 2, 5, 7, 2, 1]), np.array([10.0, 5, 3, 1, 0, 11, 10, 7])
    return (x[0] ** 2 + x[1] ** 2 + x[0] * x[1] - 14 * x[0] - 16 * x[1] + np.sum(weights * (x[2:] - centres) ** 2) + 45)


def g07_limits(x: Any) -> Any:
    """Three linear and five quadratic ones."""
    a, b, c, d, e, f, g, h, i, j = x
    return np.stack([
        4 * a + 5 * b - 3 * g + 9 * h - 105, 10 * a - 8 * b - 17 * g + 2 * h, -8 * a + 2 * b + 5 * i - 2 * j - 12,
        3 * (a - 2) ** 2 + 4 * (b - 3) ** 2 + 2 * c**2 - 7 * d - 120, 5 * a**2 + 8 * b + (c - 6) ** 2 - 2 * d - 40,
        a**2 + 2 * (b - 2) ** 2 - 2 * a * b + 14 * e - 6 * f, 0.5 * (a - 8) ** 2 + 2 * (b - 4) ** 2 + 3 * e**2 - f - 30,
        -3 * a + 6 * b + 12 * (i - 8) ** 2 - 7 * j])


def g08(x: Any) -> Any:
    """Sines over a cube; the value is undefined at x[0] = 0."""
    return -np.sin(2 * np.pi * x[0]) ** 3 * np.sin(2 * np.pi * x[1]) / (x[0] ** 3 * (x[0] + x[1]))


def g09(x: Any) -> Any:
    """A polynomial of degree six in seven variables (also Hock and Schittkowski 100)."""
    a, b, c, d, e, f, g = x
    return ((a - 10) ** 2 + 5 * (b - 12) ** 2 + c**4 + 3 * (d - 11) ** 2 + 10 * e**6 + 7 * f**2 + g**4 - 4 * f * g - 10 * f
            - 8 * g)


def g09_limits(x: Any) -> Any:
    """Four polynomials."""
    a, b, c, d, e, f, g = x
    return np.stack([2 * a**2 + 3 * b**4 + c + 4 * d**2 + 5 * e - 127, 7 * a + 3 * b + 10 * c**2 + d - e - 282,
                     23 * a + b**2 + 6 * f**2 - 8 * g - 196, 4 * a**2 + b**2 - 3 * a * b + 2 * c**2 + 5 * f - 11 * g])


def g10(x: Any) -> Any:
    """The areas of three heat exchangers (also Hock and Schittkowski 106)."""
    return x[0] + x[1] + x[2]


def g10_limits(x: Any) -> Any:
    """Three linear and three bilinear balances."""
    a, b, c, d, e, f, g, h = x
    return np.stack([0.0025 * (d + f) - 1, 0.0025 * (e + g - d) - 1, 0.01 * (h - e) - 1,
                     833.33252 * d + 100 * a - a * f - 83333.333, 1250 * e + b * d - b * g - 1250 * d,
                     c * e - c * h - 2500 * e + 1250000])


def g11(x: Any) -> Any:
    """A distance to a parabola."""
    return x[0] ** 2 + (x[1] - 1) ** 2


def g12(x: Any) -> Any:
    """A paraboloid over 729 small balls, of which one must hold the point."""
    return -(100 - np.sum((x - 5) ** 2)) / 100


def g13(x: Any) -> Any:
    """The exponential of a product under three nonlinear equalities (also Hock and Schittkowski 80)."""
    return np.exp(np.prod(x))


def three_equalities(x: Any) -> Any:
    """A sphere, a bilinear surface and two cubes, in five variables."""
    return np.stack([np.sum(x**2) - 10, x[1] * x[2] - 5 * x[3] * x[4], x[0] ** 3 + x[1] ** 3 + 1])


def g15(x: Any) -> Any:
    """A concave quadratic on the circle in which a plane meets a sphere (also Hock and Schittkowski 63)."""
    return 1000 - x[0] ** 2 - 2 * x[1] ** 2 - x[2] ** 2 - x[0] * x[1] - x[0] * x[2]


def g18(x: Any) -> Any:
    """The largest hexagon of diameter one, once more (also Hock and Schittkowski 108)."""
    a, b, c, d, e, f, g, h, i = x
    return -0.5 * (a * d - b * c + c * i - e * i + e * h - f * g)


def g18_limits(x: Any) -> Any:
    """Distances of at most one, and signs of areas."""
    a, b, c, d, e, f, g, h, i = x
    return np.stack([c**2 + d**2 - 1, i**2 - 1, e**2 + f**2 - 1, a**2 + (b - i) ** 2 - 1, (a - e) ** 2 + (b - f) ** 2 - 1,
                     (a - g) ** 2 + (b - h) ** 2 - 1, (c - e) ** 2 + (d - f) ** 2 - 1, (c - g) ** 2 + (d - h) ** 2 - 1,
                     g**2 + (h - i) ** 2 - 1, b * c - a * d, -c * i, e * i, f * g - e * h])


def g21(x: Any) -> Any:
    """The cost of a heat exchanger network with two areas."""
    return x[0]


def g21_balances(x: Any) -> Any:
    """Heat balances and logarithmic temperatures."""
    _, b, c, d, e, f, g = x
    return np.stack([-300 * c + 7500 * e - 7500 * f - 25 * d * e + 25 * d * f + c * d,
                     100 * b + 155.365 * d + 2500 * g - b * d - 25 * d * g - 15536.5,
                     np.log(900 - d) - e, np.log(d + 300) - f, np.log(700 - 2 * d) - g])


def g23(x: Any) -> Any:
    """Haverly's pooling problem with fractions of sulphur."""
    a, b, _, _, e, f, g, h, _ = x
    return -9 * e - 15 * h + 6 * a + 16 * b + 10 * (f + g)


def g23_balances(x: Any) -> Any:
    """Four balances, one of them bilinear."""
    a, b, c, d, e, f, g, h, i = x
    return np.stack([a + b - c - d, 0.03 * a + 0.01 * b - i * (c + d), c + f - e, d + g - h])


def g23_sulphur(x: Any) -> Any:
    """The sulphur in both products."""
    _, _, c, d, e, f, g, h, i = x
    return np.stack([i * c + 0.02 * f - 0.025 * e, i * d + 0.02 * g - 0.015 * h])


def g24(x: Any) -> Any:
    """The corner of a region that falls into two parts (ex4_1_9)."""
    return -x[0] - x[1]


def g24_limits(x: Any) -> Any:
    """Two quartics."""
    a, b = x
    return np.stack([-2 * a**4 + 8 * a**3 - 8 * a**2 + b - 2, -4 * a**4 + 32 * a**3 - 88 * a**2 + 96 * a + b - 36])


TABLE = (
    Row(g01, [(0, 1)] * 9 + [(0, 100)] * 3 + [(0, 1)], [at_most(lambda x: G01_ROWS @ x, G01_ENDS)], CEC_2006),
    Row(g03, [(0, 1)] * 10, [equal(lambda x: np.sum(x**2), 1.0)], CEC_2006),
    Row(g04, [(78, 102), (33, 45)] + [(27, 45)] * 3,
        [at_least(g04_limits, np.array([0.0, 90, 20])), at_most(g04_limits, np.array([92.0, 110, 25]))], CEC_2006),
    Row(g05, [(0, 1200)] * 2 + [(-0.55, 0.55)] * 2,
        [at_most(lambda x: x[3] - x[2], 0.55), at_most(lambda x: x[2] - x[3], 0.55), equal(g05_flows)], CEC_2006),
    Row(g06, [(13, 100), (0, 100)], [at_least(lambda x: (x[0] - 5) ** 2 + (x[1] - 5) ** 2, 100.0),
                                     at_most(lambda x: (x[0] - 6) ** 2 + (x[1] - 5) ** 2, 82.81)], CEC_2006),
    Row(g07, [(-10, 10)] * 10, [at_most(g07_limits)], CEC_2006),
    Row(g08, [(0, 10)] * 2, [at_most(lambda x: x[0] ** 2 - x[1] + 1), at_most(lambda x: 1 - x[0] + (x[1] - 4) ** 2)], CEC_2006),
    Row(g09, [(-10, 10)] * 7, [at_most(g09_limits)], CEC_2006),
    Row(g10, [(100, 10000)] + [(1000, 10000)] * 2 + [(10, 1000)] * 5, [at_most(g10_limits)], CEC_2006),
    Row(g11, [(-1, 1)] * 2, [equal(lambda x: x[1] - x[0] ** 2)], CEC_2006),
    Row(g12, [(0, 10)] * 3,
        [at_most(lambda x: np.sum(np.min((x[:, None] - np.arange(1.0, 10)) ** 2, axis=1)), 0.0625)], CEC_2006),
    Row(g13, [(-2.3, 2.3)] * 2 + [(-3.2, 3.2)] * 3, [equal(three_equalities)], CEC_2006),
    Row(g15, [(0, 10)] * 3, [equal(lambda x: np.sum(x**2), 25.0), equal(lambda x: 8 * x[0] + 14 * x[1] + 7 * x[2], 56.0)],
        CEC_2006),
    Row(g18, [(-10, 10)] * 8 + [(0, 20)], [at_most(g18_limits)], CEC_2006),
    Row(g21, [(0, 1000)] + [(0, 40)] * 2 + [(100, 300), (6.3, 6.7), (5.9, 6.4), (4.5, 6.25)],
        [at_least(lambda x: x[0] - 35 * x[1] ** 0.6 - 35 * x[2] ** 0.6), equal(g21_balances)], CEC_2006),
    Row(g23, [(0, 300)] * 2 + [(0, 100), (0, 200), (0, 100), (0, 300), (0, 100), (0, 200), (0.01, 0.03)],
        [equal(g23_balances), at_most(g23_sulphur)], CEC_2006),
    Row(g24, [(0, 3), (0, 4)], [at_most(g24_limits)], CEC_2006),
)
