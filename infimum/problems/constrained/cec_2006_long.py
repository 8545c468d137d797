"""Two problems of the CEC 2006 competition that are long: an acid plant by simulation, and the dual of a nonlinear programme."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most
from infimum.problems.constrained.sources import CEC_2006


def _plant(x: Any) -> tuple[Any, Any, Any, Any, Any]:
    """The seventeen quantities of the plant, and four parts of their formulas."""
    a, b, c, d, e = x
    y1 = b + c + 41.6
    y2 = 12.5 / (0.024 * d - 4.62) + 12
    y3 = (0.0003535 * a**2 + 0.5311 * a + 0.08705 * y2 * a) / (0.052 * a + 78 + 0.002377 * y2 * a)
    y4 = 19 * y3
    c4 = 0.04782 * (a - y3) + 0.1956 * (a - y3) ** 2 / b + 0.6376 * y4 + 1.594 * y3
    y5 = (a - y3 - y4) * (0.950 - c4 / (100 * b))
    y6 = a - y5 - y4 - y3
    c8 = 0.995 * (y5 + y4)
    y7 = c8 / y1
    y8 = c8 / 3798
    y9 = 96.82 / (y7 - 0.0663 * y7 / y8 - 0.3153) + 0.321 * y1
    y10 = 1.29 * y5 + 1.258 * y4 + 2.29 * y3 + 1.71 * y6
    y11 = 1.71 * a - 0.452 * y4 + 0.580 * y3
    c12 = 0.995 * y10 + 1998
    y12 = 12.3 / 752.3 * a + 1.75 * y2 * 0.995 * a / c12
    y13 = c12 - 1.75 * y2
    c17 = y9 + e
    y14 = 3623 + 64.4 * b + 58.4 * c + 146312 / c17
    y15 = y13 / (0.995 * y10 + 60.8 * b + 48 * d - 0.1121 * y14 - 5095)
    y16 = 148000 - 331000 * y15 + 40 * y13 - 61 * y15 * y13
    y17 = 14130000 - 1328 * y10 - 531 * y11 + (2324 * y10 - 28740000 * y2) / c12
    c15 = y13 / y15 - y13 / 0.52
    c16 = 1.104 - 0.72 * y15
    return (y1, y2, y3, y4, y5, y6, y7, y8, y9, y10, y11, y12, y13, y14, y15, y16, y17), c12, c15, c16, c17


def g16(x: Any) -> Any:
    """An acid plant: five controls, a chain of rational formulas, 38 limits."""
    y, c12, c15, c16, _ = _plant(x)
    return (0.000117 * y[13] + 0.1365 + 0.00002358 * y[12] + 0.000001502 * y[15] + 0.0321 * y[11] + 0.004324 * y[4]
            + 0.0001 * c15 / c16 + 37.48 * y[1] / c12 - 0.0000005843 * y[16])


def g16_limits(x: Any) -> Any:
    """Relations between the quantities."""
    y, c12, _, _, c17 = _plant(x)
    return np.stack([0.28 / 0.72 * y[4] - y[3], x[2] - 1.5 * x[1], 3496 * y[1] / c12 - 21, 110.6 + y[0] - 62212 / c17])


G16_LEAST = np.array([213.1, 17.505, 11.275, 214.228, 7.458, 0.961, 1.612, 0.146, 107.99, 922.693, 926.832, 18.766, 1072.163,
                      8961.448, 0.063, 71084.33, 2802713])
G16_MOST = np.array([405.23, 1053.6667, 35.03, 665.585, 584.463, 265.916, 7.046, 0.222, 273.366, 1286.105, 1444.046, 537.141,
                     3247.039, 26844.086, 0.386, 140000, 12146108])

G19_C = np.array([[30.0, -20, -10, 32, -10], [-20, 39, -6, -31, 32], [-10, -6, 10, -6, -10], [32, -31, -6, 39, -20],
                  [-10, 32, -10, -20, 30]])
G19_A = np.array([[-16, 2, 0, 1, 0], [0, -2, 0, 0.4, 2], [-3.5, 0, 2, 0, 0], [0, -2, 0, -4, -1], [0, -9, -2, 1, -2.8],
                  [2, 0, -4, 0, 0], [-1, -1, -1, -1, -1], [-1, -2, -3, -2, -1], [1, 2, 3, 4, 5], [1, 1, 1, 1, 1]])
G19_B = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])
G19_D, G19_E = np.array([4.0, 8, 10, 6, 2]), np.array([-15.0, -27, -36, -18, -12])


def g19(x: Any) -> Any:
    """Colville's shell problem, dual form: a cubic of fifteen variables (also Hock and Schittkowski 117)."""
    return x[10:] @ (G19_C @ x[10:]) + 2 * np.sum(G19_D * x[10:] ** 3) - np.sum(G19_B * x[:10])


TABLE = (
    Row(g16, [(704.4148, 906.3855), (68.6, 288.88), (0, 134.75), (193, 287.0966), (25, 84.1988)],
        [at_most(g16_limits), at_least(lambda x: np.stack(_plant(x)[0]), G16_LEAST),
         at_most(lambda x: np.stack(_plant(x)[0]), G16_MOST)], CEC_2006),
    Row(g19, [(0, 10)] * 15, [at_least(lambda x: 2 * (G19_C @ x[10:]) + 3 * G19_D * x[10:] ** 2 + G19_E - x[:10] @ G19_A)],
        CEC_2006),
)
