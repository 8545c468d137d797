"""Four problems of NIST's Statistical Reference Datasets for nonlinear regression, with their certified values.

Bounds: every parameter that the model is linear in from -100 to 100 times the largest of NIST's starts and the certified value,
the others from a tenth of the least of them to ten times the largest.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


def saturating(x, b1, b2):
    return b1 * (1 - np.exp(-b2 * x))


def sigmoid(x, b1, b2, b3):
    return b1 / (1 + np.exp(b2 - b3 * x))


def power(x, b1, b2):
    return b1 * x**b2


@dataclass(frozen=True)
class Reference:
    model: Callable
    y: list[float]
    x: list[float]
    bounds: list[tuple[float, float]]
    certified: list[str]
    deviations: list[float]
    sum_of_squares: str


PROBLEMS = {
    "Misra1a": Reference(
        saturating, [10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76, 55.05, 61.01, 66.40, 75.47, 81.78],
        [77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8, 477.3, 536.8, 593.1, 689.1, 760.0],
        [(-50000, 50000), (1e-5, 5.5015643181e-3)],
        ["2.3894212918E+02", "5.5015643181E-04"], [2.7070075241, 7.2668688436e-6], "1.2455138894E-01"),
    "BoxBOD": Reference(
        saturating, [109, 149, 149, 191, 213, 224], [1, 2, 3, 5, 7, 10], [(-21380.940889, 21380.940889), (0.054723748542, 10)],
        ["2.1380940889E+02", "5.4723748542E-01"], [1.2354515176e1, 1.0455993237e-1], "1.1680088766E+03"),
    "Rat42": Reference(
        sigmoid, [8.93, 10.80, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08], [9, 14, 21, 28, 42, 57, 63, 70, 79],
        [(-10000, 10000), (0.1, 26.180768402), (0.0067359200066, 1)],
        ["7.2462237576E+01", "2.6180768402E+00", "6.7359200066E-02"], [1.7340283401, 8.8295217536e-2, 3.4465663377e-3],
        "8.0565229338E+00"),
    "DanWood": Reference(
        power, [2.138, 3.421, 3.597, 4.340, 4.882, 5.660], [1.309, 1.471, 1.490, 1.565, 1.611, 1.680],
        [(-100, 100), (0.38604055871, 50)],
        ["7.6886226176E-01", "3.8604055871E+00"], [1.8281973860e-2, 5.1726610913e-2], "4.3173084083E-03"),
}
