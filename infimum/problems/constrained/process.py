"""Process design: alkylation, heat exchangers, reactors, robust control, and other engineering problems."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, GLOBALLIB


def alkyl(x: Any) -> Any:
    """Alkylation with fourteen scaled variables and seven equalities."""
    return -6.3 * x[3] * x[6] + 5.04 * x[0] + 0.35 * x[1] + x[2] + 3.36 * x[4]


def alkyl_balances(x: Any) -> Any:
    """Balances and correlations, each with its factor of error."""
    a, b, c, d, e, f, g, h, i, j, k, m, n, o = x
    return np.stack([d - 0.819672131147541 * (a + e), 0.98 * c - (0.01 * d * i + c) * f, 10 * b + e - a * h,
                     d * k - (1.12 + 0.13167 * h - 0.0067 * h**2) * a,
                     g * m - 0.01 * (1.098 * h - 0.038 * h**2) - 0.325 * f - 0.57425, i * n + 22.2 * j - 35.82,
                     j * o - 3 * g + 1.33])


def process(x: Any) -> Any:
    """Alkylation with ten variables and seven equalities."""
    return 5.04 * x[0] + 0.035 * x[1] + 10 * x[2] + 3.36 * x[4] - 0.063 * x[3] * x[6]


def process_balances(x: Any) -> Any:
    """Balances and correlations."""
    a, b, c, d, e, f, g, h, i, j = x
    return np.stack([d - (1.12 + 0.13167 * h - 0.00667 * h**2) * a, 1.22 * d - a - e, c - 0.001 * d * i * f / (98 - f),
                     g - 1.098 * h + 0.038 * h**2 - 0.325 * f - 57.425, h - (b + e) / a, i + 0.222 * j - 35.82, j - 3 * g + 133])


def ex7_2_1(x: Any) -> Any:
    """Alkylation as a signomial programme with fourteen inequalities."""
    return 0.035 * x[0] * x[5] - 0.063 * x[2] * x[4] + 1.715 * x[0] + 4.0565 * x[2] + 10 * x[1] + 3000


def ex7_2_1_limits(x: Any) -> Any:
    """All at most one."""
    a, b, c, d, e, f, g = x
    return np.stack([
        0.0059553571 * f**2 + 0.88392857 * c / a - 0.1175625 * f,
        1.1088 * a / c + 0.1303533 * a / c * f - 0.0066033 * a / c * f**2,
        0.00066173269 * f**2 - 0.019120592 * f - 0.0056595559 * d + 0.017239878 * e,
        56.85075 / e + 1.08702 * f / e + 0.32175 * d / e - 0.03762 * f**2 / e,
        2462.3121 * b / c / d - 25.125634 * b / c + 0.006198 * g,
        161.18996 / g + 5000 * b / c / g - 489510 * b / c / d / g, 44.333333 / e + 0.33 * g / e, 0.022556 * e - 0.007595 * g,
        0.00061 * c - 0.0005 * a, 0.819672 * a / c + 0.819672 / c, 24500 * b / c / d - 250 * b / c,
        1.2244898e-5 * c / b * d + 0.010204082 * d, 6.25e-5 * a * f + 6.25e-5 * a - 7.625e-5 * c, 1.22 * c / a + 1 / a - f])


def ex7_2_2(x: Any) -> Any:
    """Two reactors in a row: the yield of the middle product."""
    return -x[3]


def ex7_2_2_balances(x: Any) -> Any:
    """The balances of both reactors."""
    a, b, c, d, e, f = x
    return np.stack([0.09755988 * a * e + a - 1, 0.0965842812 * b * f + b - a, 0.0391908 * c * e + c + a - 1,
                     0.03527172 * d * f + d - a + b - c])


def ex7_2_4(x: Any) -> Any:
    """Two reactors as a generalised geometric programme (also Hock and Schittkowski 104)."""
    return 0.4 * x[0] ** 0.67 / x[6] ** 0.67 + 0.4 * x[1] ** 0.67 / x[7] ** 0.67 + 10 - x[0] - x[1]


def ex7_2_4_limits(x: Any) -> Any:
    """Posynomials of at most one, but for the sign of an exponent."""
    a, b, c, d, e, f, g, h = x
    return np.stack([0.0588 * e * g + 0.1 * a, 0.0588 * f * h + 0.1 * a + 0.1 * b,
                     4 * c / e + 2 / (c**0.71 * e) + 0.0588 * g / c**1.3, 4 * d / f + 2 / (d**0.71 * f) + 0.0588 * d**1.3 * h])


def ex5_4_3(x: Any) -> Any:
    """A heat exchanger network: two exchangers in series or in parallel."""
    (a, b), (c, d) = x[:2], x[2:4]
    return (1300 * (1000 / (a * b / 30 + (a + b) / 6)) ** 0.6 + 1300 * (600 / (c * d / 30 + (c + d) / 6)) ** 0.6)


def ex5_4_3_balances(x: Any) -> Any:
    """Flows and heat."""
    f, t = x[4:12], x[12:]
    return np.stack([f[0] + f[4] - 10, f[0] - f[1] + f[6], f[2] + f[4] - f[5], f[2] + f[3] - f[1], f[6] + f[7] - f[5],
                     t[3] * f[6] - t[0] * f[1] + 150 * f[0], t[2] * f[2] - t[1] * f[5] + 150 * f[4],
                     f[1] * (t[2] - t[0]) - 1000, f[5] * (t[3] - t[1]) - 600,
                     x[0] + t[2] - 500, x[1] + t[0] - 250, x[2] + t[3] - 350, x[3] + t[1] - 200])


def ex5_4_4(x: Any) -> Any:
    """A heat exchanger network: three exchangers in series or in parallel."""
    a, b, load, conductance = x[:6:2], x[1:6:2], np.array([2000, 1000, 1500]), np.array([1, 2, 2]) / 3
    return np.sum(1300 * (load / (conductance * a * b + (a + b) / 6)) ** 0.6)


def ex5_4_4_balances(x: Any) -> Any:
    """Flows and heat."""
    f, t = x[6:21], x[21:]
    ends = np.stack([x[0] + t[1], x[1] + t[0], x[2] + t[3], x[3] + t[2], x[4] + t[5], x[5] + t[4]])
    return np.concatenate([np.stack([
        f[0] + f[5] + f[10] - 45, f[0] - f[1] + f[7] + f[13], f[2] + f[5] - f[6] + f[12], f[3] + f[8] + f[10] - f[11],
        f[2] + f[3] + f[4] - f[1], f[7] + f[8] + f[9] - f[6], f[12] + f[13] + f[14] - f[11],
        t[3] * f[7] + t[5] * f[13] - t[0] * f[1] + 100 * f[0], t[1] * f[2] + t[5] * f[12] - t[2] * f[6] + 100 * f[5],
        t[1] * f[3] + t[3] * f[8] - t[4] * f[11] + 100 * f[10], f[1] * (t[1] - t[0]) - 2000, f[6] * (t[3] - t[2]) - 1000,
        f[11] * (t[5] - t[4]) - 1500]), ends - np.array([210, 130, 210, 160, 210, 180])])


def house(x: Any) -> Any:
    """The largest floor of a house on a lot."""
    return -x[6] - x[7]


def house_limits(x: Any) -> Any:
    """All at least zero."""
    return np.stack([x[0] - x[3] / 3, 0.5 * x[3] - x[0], x[1] * (x[3] - x[0]) - 1500, x[4] - 0.5 * x[1]])


def himmel16(x: Any) -> Any:
    """The largest hexagon of diameter one: five free corners, the first at the origin."""
    u, v = x[:5], x[5:]
    return -0.5 * np.sum(u[:-1] * v[1:] - v[:-1] * u[1:])


def himmel16_distances(x: Any) -> Any:
    """The squares of all distances between corners."""
    u, v = np.concatenate([np.zeros(1), x[:5]]), np.concatenate([np.zeros(1), x[5:]])
    first, second = np.triu_indices(6, 1)
    return (u[first] - u[second]) ** 2 + (v[first] - v[second]) ** 2


def dispatch(x: Any) -> Any:
    """Economic dispatch of three generators with losses."""
    return 653.1 + np.sum(np.array([0.00533, 0.00889, 0.00741]) * x[:3] ** 2 + np.array([11.669, 10.333, 10.833]) * x[:3])


def dispatch_losses(x: Any) -> Any:
    """What is lost on the lines."""
    matrix = 0.01 * np.array([[0.0676, 0.00953, -0.00507], [0.00953, 0.0521, 0.00901], [-0.00507, 0.00901, 0.0294]])
    return x[:3] @ (matrix @ x[:3]) + np.array([-0.000766, -3.42e-5, 0.000189]) @ x[:3] - x[3]


TABLE = (
    Row(alkyl, [(0, 2), (0, 1.6), (0, 1.2), (0, 5), (0, 2), (0.85, 0.93), (0.9, 0.95), (3, 12), (1.2, 4), (1.45, 1.62),
                (0.99, 1 / 0.99), (0.99, 1 / 0.99), (0.9, 1 / 0.9), (0.99, 1 / 0.99)], [equal(alkyl_balances)],
                GLOBALLIB + "alkyl"),
    Row(process, [(10, 2000), (0, 16000), (0, 120), (0, 5000), (0, 2000), (85, 93), (90, 95), (3, 12), (1.2, 4), (145, 162)],
        [equal(process_balances)], GLOBALLIB + "process"),
    Row(ex7_2_1, [(1500, 2000), (1, 120), (3000, 3500), (85, 93), (90, 95), (3, 12), (145, 162)], [at_most(ex7_2_1_limits, 1.0)],
        FLOUDAS + "ex7_2_1"),
    Row(ex7_2_2, [(0, 1)] * 4 + [(1e-5, 16)] * 2,
        [equal(ex7_2_2_balances), at_most(lambda x: np.sqrt(x[4]) + np.sqrt(x[5]), 4.0)], FLOUDAS + "ex7_2_2"),
    Row(ex7_2_4, [(0.1, 10)] * 8, [at_most(ex7_2_4_limits, 1.0)], FLOUDAS + "ex7_2_4"),
    Row(ex5_4_3, [(10, 350)] * 2 + [(10, 200)] * 2 + [(0, 10)] * 8 + [(150, 310)] * 4, [equal(ex5_4_3_balances)],
        FLOUDAS + "ex5_4_3"),
    Row(ex5_4_4, [(10, 110)] * 6 + [(0, 45)] * 15 + [(100, 200)] * 6, [equal(ex5_4_4_balances)], FLOUDAS + "ex5_4_4"),
    Row(house, [(0, 100), (0, 100), (0, 200), (40, 68), (0, 100), (56, 100), (0, 3000), (0, 10000)],
        [equal(lambda x: np.stack([x[0] * x[1] + x[4] * x[3] - x[6], x[0] * x[2] - x[7], x[1] + x[4] - x[5],
                                   x[2] - x[4] - 0.5 * x[1]])), at_least(house_limits)], GLOBALLIB + "house, with bounds added"),
    Row(himmel16, [(-1, 1)] * 5 + [(0, 0)] + [(-1, 1)] * 4, [at_most(himmel16_distances, 1.0)],
        "Himmelblau, Applied Nonlinear Programming (1972), problem 16"),
    Row(dispatch, [(50, 200), (37.5, 150), (45, 180), (-100, 100)],
        [equal(dispatch_losses, -0.040357), at_least(lambda x: x[0] + x[1] + x[2] - x[3], 210.0)],
        GLOBALLIB + "dispatch, with bounds added"),
)
