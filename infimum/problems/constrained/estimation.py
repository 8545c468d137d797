"""Parameter estimation with errors in the variables: the nearest data that a model explains exactly."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, equal
from infimum.problems.constrained.sources import FLOUDAS, OURS


def _around(data: np.ndarray, radius: float) -> list:
    """Bounds around measurements."""
    return [(round(float(value) - radius, 10), round(float(value) + radius, 10)) for value in data]


def _distance(data: np.ndarray, count: int) -> Any:
    def distance(x: Any) -> Any:
        """The squared distance of the fitted data from the measured."""
        return np.sum((x[:count] - data) ** 2)
    return distance


LINE = np.array([0, 5.9, 0.9, 5.4, 1.8, 4.4, 2.6, 4.6, 3.3, 3.5, 4.4, 3.7, 5.2, 2.8, 6.1, 2.8, 6.5, 2.4, 7.4, 1.5])
HYPERBOLA = np.array([0.113, 1.851, 0.126, 1.854, 0.172, 1.849, 0.155, 1.815, 0.219, 1.828, 0.245, 1.847, 0.274, 1.804, 0.264,
                      1.832,
                      0.312, 1.838, 0.324, 1.817, 0.333, 1.82, 0.399, 1.845, 0.417, 1.829, 0.419, 1.832, 0.439, 1.82, 0.475, 1.82,
                      0.506, 1.799, 0.538, 1.838, 0.538, 1.835, 0.591, 1.811, 0.578, 1.794, 0.626, 1.825, 0.659, 1.801, 0.668,
                      1.81])
IMPEDANCE = np.array([5, -5, 3, -2, 2, -1, 1.5, -0.5, 1.2, -0.2, 1.1, -0.1])
IMPEDANCE_TIMES = 0.1570795 * np.arange(1, 7)
KOWALIK = np.array([0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
KOWALIK_TIMES = 1 / np.array([0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 14, 16])
PHARMA = np.array([0.1622, 0.6791, 0.679, 0.3875, 0.1822, 0.1249, 0.0857, 0.0616])
PHARMA_TIMES = np.array([4.0, 8, 12, 24, 48, 72, 94, 118])
DECAY = np.array([1.0, 0.81, 0.65, 0.54, 0.43, 0.36, 0.28, 0.24, 0.19, 0.16, 0.12])


def ex8_4_4_model(x: Any) -> Any:
    """A complex impedance at six frequencies; a power with a variable exponent."""
    a, b, c, d, e = x[12:]
    t = IMPEDANCE_TIMES
    return np.concatenate([b / t**c - x[:12:2] + a, d * t - e / t**c - x[1:12:2]])


def ex8_4_6(x: Any) -> Any:
    """Relative errors of three exponentials."""
    return np.sum(((x[:8] - PHARMA) / x[:8]) ** 2)


def ex8_4_6_model(x: Any) -> Any:
    """The sum of three exponentials at eight times."""
    return np.sum(x[8:11] * np.exp(-PHARMA_TIMES[:, None] * x[11:]), axis=1) - x[:8]


def euler_decay(x: Any) -> Any:
    """A rate law, its order and its constant, from eleven concentrations: ten Euler steps as equalities."""
    return np.sum((x[:11] - DECAY) ** 2)


TABLE = (
    Row(_distance(LINE, 20), [*_around(LINE, 0.5), (0, 10), (-2, 2)], [equal(lambda x: x[21] * x[:20:2] - x[1:20:2] + x[20])],
        FLOUDAS + "ex8_4_1", name="ex8_4_1"),
    Row(_distance(HYPERBOLA, 48), [*_around(HYPERBOLA, 0.5), (1, 10), (2, 10)],
        [equal(lambda x: 1 / (x[:48:2] - x[49]) - x[1:48:2] + x[48])], FLOUDAS + "ex8_4_3, with 24 of its 25 data",
        name="ex8_4_3"),
    Row(_distance(IMPEDANCE, 12), [*_around(IMPEDANCE, 1.0), (0, 1), (0, 1), (1.1, 1.3), (0, 1), (0, 1)], [equal(ex8_4_4_model)],
        FLOUDAS + "ex8_4_4", name="ex8_4_4"),
    Row(_distance(KOWALIK, 11), [*_around(KOWALIK, 0.02)] + [(-0.2892, 0.2893)] * 4,
        [equal(lambda x: x[11] * (KOWALIK_TIMES**2 + KOWALIK_TIMES * x[12]) / (KOWALIK_TIMES**2 + KOWALIK_TIMES * x[13] + x[14])
               - x[:11])], FLOUDAS + "ex8_4_5", name="ex8_4_5"),
    Row(ex8_4_6, [(0.01, 1)] * 8 + [(-10, 10)] * 3 + [(0, 0.5)] * 3, [equal(ex8_4_6_model)],
        FLOUDAS + "ex8_4_6, with lower bounds added"),
    Row(euler_decay, [(0.05, 2)] * 11 + [(0, 2), (0.5, 2)],
        [equal(lambda x: x[1:11] - x[:10] + 0.2 * x[11] * np.exp(x[12] * np.log(x[:10])))], OURS),
)
