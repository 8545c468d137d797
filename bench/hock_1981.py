"""Problems with constraints of Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981), up to number 86, that
are not in the gallery.

A row has the function, what is at least 0, what is 0, the bounds, and the value the book gives. Infinite ends are the book's own;
`finite` says by how much they are replaced.
"""

import math
from typing import Any

import numpy as np

from bench.book_problem import INF, Book, box


def rosenbrock(x: Any) -> Any:
    return 100 * (x[1] - x[0] ** 2) ** 2 + (1 - x[0]) ** 2


# ---- 54
def hs54(x: Any) -> Any:
    h = ((x[0] - 1e4) ** 2 / 6.4e7 + (x[0] - 1e4) * (x[1] - 1) / 2e4 + (x[1] - 1) ** 2) / 0.96
    h = h + (x[2] - 2e6) ** 2 / 4.9e13 + (x[3] - 10) ** 2 / 2.5e3 + (x[4] - 1e-3) ** 2 / 2.5e-3 + (x[5] - 1e8) ** 2 / 2.5e17
    return -np.exp(-h / 2)


# ---- 57
HS57_A = np.repeat(np.arange(8.0, 44.0, 2.0), [2, 4, 4, 3, 3, 2, 3, 3, 3, 3, 2, 3, 2, 1, 2, 2, 1, 1])
HS57_B = (
    np.array(
        [
            49,
            49,
            48,
            47,
            48,
            47,
            46,
            46,
            45,
            43,
            45,
            43,
            43,
            44,
            43,
            43,
            46,
            45,
            42,
            42,
            43,
            41,
            41,
            40,
            42,
            40,
            40,
            41,
            40,
            41,
            41,
            40,
            40,
            40,
            38,
            41,
            40,
            40,
            41,
            38,
            40,
            40,
            39,
            39,
        ]
    )
    / 100
)


def hs57(x: Any) -> Any:
    return np.sum((HS57_B - x[0] - (0.49 - x[0]) * np.exp(-x[1] * (HS57_A - 8))) ** 2)


# ---- 59
def hs59(x: Any) -> Any:
    a, b = x[0], x[1]
    return (
        -75.196
        + 3.8112 * a
        + 0.0020567 * a**3
        - 1.0345e-5 * a**4
        + 6.8306 * b
        - 0.030234 * a * b
        + 1.28134e-3 * b * a**2
        + 2.266e-7 * a**4 * b
        - 0.25645 * b**2
        + 0.0034604 * b**3
        - 1.3514e-5 * b**4
        + 28.106 / (b + 1)
        + 5.2375e-6 * a**2 * b**2
        + 6.3e-8 * a**3 * b**2
        - 7e-10 * a**3 * b**3
        - 3.405e-4 * a * b**2
        + 1.6638e-6 * a * b**3
        + 2.8673 * np.exp(0.0005 * a * b)
        - 3.5256e-5 * a**3 * b
        - 0.12694 * a**2
    )


# ---- 75
def hs75_balances(x: Any) -> list:
    return [
        1000 * np.sin(-x[2] - 0.25) + 1000 * np.sin(-x[3] - 0.25) + 894.8 - x[0],
        1000 * np.sin(x[2] - 0.25) + 1000 * np.sin(x[2] - x[3] - 0.25) + 894.8 - x[1],
        1000 * np.sin(x[3] - 0.25) + 1000 * np.sin(x[3] - x[2] - 0.25) + 1294.8,
    ]


# ---- 84
HS84_ROWS = np.array(
    [
        [-145421.4020, 2931.1506, -40.427932, 5106.192, 15711.36],
        [-155011.1084, 4360.53352, 12.9492344, 10236.884, 13176.786],
        [-326669.5104, 7390.68412, -27.8986976, 16643.076, 30988.146],
    ]
)


def hs84(x: Any) -> Any:
    return 24345 - x[0] * (-8720288.849 + 150512.5253 * x[1] - 156.6950325 * x[2] + 476470.3222 * x[3] + 729482.8271 * x[4])


def hs84_limits(x: Any) -> list:
    made = [x[0] * (r[0] + r[1] * x[1] + r[2] * x[2] + r[3] * x[3] + r[4] * x[4]) for r in HS84_ROWS]
    return made + [top - value for value, top in zip(made, (294000, 294000, 277200), strict=True)]


# ---- 86, Colville's first
HS86_C = np.array(
    [[30, -20, -10, 32, -10], [-20, 39, -6, -31, 32], [-10, -6, 10, -6, -10], [32, -31, -6, 39, -20], [-10, 32, -10, -20, 30]]
)
HS86_A = np.array(
    [
        [-16, 2, 0, 1, 0],
        [0, -2, 0, 0.4, 2],
        [-3.5, 0, 2, 0, 0],
        [0, -2, 0, -4, -1],
        [0, -9, -2, 1, -2.8],
        [2, 0, -4, 0, 0],
        [-1, -1, -1, -1, -1],
        [-1, -2, -3, -2, -1],
        [1, 2, 3, 4, 5],
        [1, 1, 1, 1, 1],
    ]
)
HS86_B = np.array([-40, -2, -0.25, -4, -4, -1, -40, -60, 5, 1])


def hs86(x: Any) -> Any:
    return np.array([-15, -27, -36, -18, -12]) @ x + x @ (HS86_C @ x) + np.sum(np.array([4, 8, 10, 6, 2]) * x**3)


def hs77_left(x: Any) -> Any:
    return (x[0] - x[1]) ** 2 + (x[2] - 1) ** 2 + (x[3] - 1) ** 4 + (x[4] - 1) ** 6


TABLE = [
    Book("hs6", lambda x: (1 - x[0]) ** 2, None, lambda x: [10 * (x[1] - x[0] ** 2)], box(2), 0),
    Book("hs8", lambda x: -1 + 0 * x[0], None, lambda x: [x[0] ** 2 + x[1] ** 2 - 25, x[0] * x[1] - 9], box(2), -1),
    Book(
        "hs9",
        lambda x: np.sin(np.pi * x[0] / 12) * np.cos(np.pi * x[1] / 16),
        None,
        lambda x: [4 * x[0] - 3 * x[1]],
        box(2),
        -0.5,
        50,
    ),
    Book("hs16", rosenbrock, lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1]], None, [(-0.5, 0.5), (-INF, 1)], 0.25),
    Book("hs17", rosenbrock, lambda x: [x[1] ** 2 - x[0], x[0] ** 2 - x[1]], None, [(-0.5, 0.5), (-INF, 1)], 1),
    Book(
        "hs20",
        rosenbrock,
        lambda x: [x[0] + x[1] ** 2, x[0] ** 2 + x[1], x[0] ** 2 + x[1] ** 2 - 1],
        None,
        [(-0.5, 0.5), (-INF, INF)],
        81.5 - 25 * math.sqrt(3),
    ),
    Book(
        "hs21",
        lambda x: 0.01 * x[0] ** 2 + x[1] ** 2 - 100,
        lambda x: [10 * x[0] - x[1] - 10],
        None,
        [(2, 50), (-50, 50)],
        -99.96,
    ),
    Book("hs28", lambda x: (x[0] + x[1]) ** 2 + (x[1] + x[2]) ** 2, None, lambda x: [x[0] + 2 * x[1] + 3 * x[2] - 1], box(3), 0),
    Book(
        "hs31",
        lambda x: 9 * x[0] ** 2 + x[1] ** 2 + 9 * x[2] ** 2,
        lambda x: [x[0] * x[1] - 1],
        None,
        [(-10, 10), (1, 10), (-10, 1)],
        6,
    ),
    Book(
        "hs35",
        lambda x: (
            9 - 8 * x[0] - 6 * x[1] - 4 * x[2] + 2 * x[0] ** 2 + 2 * x[1] ** 2 + x[2] ** 2 + 2 * x[0] * x[1] + 2 * x[0] * x[2]
        ),
        lambda x: [3 - x[0] - x[1] - 2 * x[2]],
        None,
        box(3, 0),
        1 / 9,
    ),
    Book(
        "hs37",
        lambda x: -x[0] * x[1] * x[2],
        lambda x: [72 - x[0] - 2 * x[1] - 2 * x[2], x[0] + 2 * x[1] + 2 * x[2]],
        None,
        box(3, 0, 42),
        -3456,
    ),
    Book(
        "hs41",
        lambda x: 2 - x[0] * x[1] * x[2],
        None,
        lambda x: [x[0] + 2 * x[1] + 2 * x[2] - x[3]],
        box(3, 0, 1) + [(0, 2)],
        52 / 27,
    ),
    Book(
        "hs42",
        lambda x: (x[0] - 1) ** 2 + (x[1] - 2) ** 2 + (x[2] - 3) ** 2 + (x[3] - 4) ** 2,
        None,
        lambda x: [x[0] - 2, x[2] ** 2 + x[3] ** 2 - 2],
        box(4),
        28 - 10 * math.sqrt(2),
    ),
    Book(
        "hs44",
        lambda x: x[0] - x[1] - x[2] - x[0] * x[2] + x[0] * x[3] + x[1] * x[2] - x[1] * x[3],
        lambda x: [
            8 - x[0] - 2 * x[1],
            12 - 4 * x[0] - x[1],
            12 - 3 * x[0] - 4 * x[1],
            8 - 2 * x[2] - x[3],
            8 - x[2] - 2 * x[3],
            5 - x[2] - x[3],
        ],
        None,
        box(4, 0),
        -15,
    ),
    Book(
        "hs46",
        hs77_left,
        None,
        lambda x: [x[0] ** 2 * x[3] + np.sin(x[3] - x[4]) - 1, x[1] + x[2] ** 4 * x[3] ** 2 - 2],
        box(5),
        0,
    ),
    Book(
        "hs48",
        lambda x: (x[0] - 1) ** 2 + (x[1] - x[2]) ** 2 + (x[3] - x[4]) ** 2,
        None,
        lambda x: [np.sum(x) - 5, x[2] - 2 * (x[3] + x[4]) + 3],
        box(5),
        0,
    ),
    Book("hs49", hs77_left, None, lambda x: [x[0] + x[1] + x[2] + 4 * x[3] - 7, x[2] + 5 * x[4] - 6], box(5), 0),
    Book(
        "hs50",
        lambda x: (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 2 + (x[2] - x[3]) ** 4 + (x[3] - x[4]) ** 2,
        None,
        lambda x: [x[i] + 2 * x[i + 1] + 3 * x[i + 2] - 6 for i in range(3)],
        box(5),
        0,
    ),
    Book(
        "hs51",
        lambda x: (x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
        None,
        lambda x: [x[0] + 3 * x[1] - 4, x[2] + x[3] - 2 * x[4], x[1] - x[4]],
        box(5),
        0,
    ),
    Book(
        "hs52",
        lambda x: (4 * x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
        None,
        lambda x: [x[0] + 3 * x[1], x[2] + x[3] - 2 * x[4], x[1] - x[4]],
        box(5),
        1859 / 349,
    ),
    Book(
        "hs53",
        lambda x: (x[0] - x[1]) ** 2 + (x[1] + x[2] - 2) ** 2 + (x[3] - 1) ** 2 + (x[4] - 1) ** 2,
        None,
        lambda x: [x[0] + 3 * x[1], x[2] + x[3] - 2 * x[4], x[1] - x[4]],
        box(5, -10, 10),
        176 / 43,
    ),
    Book(
        "hs54",
        hs54,
        None,
        lambda x: [x[0] + 4e3 * x[1] - 1.76e4],
        [(0, 2e4), (-10, 10), (0, 1e7), (0, 20), (-1, 1), (0, 2e8)],
        -math.exp(-27 / 280),
    ),
    Book("hs57", hs57, lambda x: [0.49 * x[1] - x[0] * x[1] - 0.09], None, [(0.4, INF), (-4, INF)], 0.02845966972),
    Book(
        "hs59",
        hs59,
        lambda x: [x[0] * x[1] - 700, x[1] - x[0] ** 2 / 125, (x[1] - 50) ** 2 - 5 * (x[0] - 55)],
        None,
        [(0, 75), (0, 65)],
        -7.80423,
    ),
    Book(
        "hs75",
        lambda x: 3 * x[0] + 1e-6 * x[0] ** 3 + 2 * x[1] + 2e-6 / 3 * x[1] ** 3,
        lambda x: [x[3] - x[2] + 0.48, x[2] - x[3] + 0.48],
        hs75_balances,
        [(0, 1200), (0, 1200), (-0.48, 0.48), (-0.48, 0.48)],
        5174.41288686,
    ),
    Book(
        "hs81",
        lambda x: np.exp(x[0] * x[1] * x[2] * x[3] * x[4]) - 0.5 * (x[0] ** 3 + x[1] ** 3 + 1) ** 2,
        None,
        lambda x: [np.sum(x**2) - 10, x[1] * x[2] - 5 * x[3] * x[4], x[0] ** 3 + x[1] ** 3 + 1],
        box(2, -2.3, 2.3) + box(3, -3.2, 3.2),
        0.0539498478,
    ),
    Book("hs84", hs84, hs84_limits, None, [(0, 1000), (1.2, 2.4), (20, 60), (9, 9.3), (6.5, 7)], -5280335.133),
    Book("hs86", hs86, lambda x: [row for row in HS86_A @ x - HS86_B], None, box(5, 0), -32.34867897),
]
