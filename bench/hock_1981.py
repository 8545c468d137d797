"""Problems with constraints of Hock and Schittkowski, Test Examples for Nonlinear Programming Codes (1981), that are not in the gallery.

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


# ---- 95 to 98
def hs95_limits(b1: float, b2: float, b3: float, b4: float) -> Any:
    def limits(x: Any) -> list:
        x1, x2, x3, x4, x5, x6 = (x[i] for i in range(6))
        return [
            17.1 * x1
            + 38.2 * x2
            + 204.2 * x3
            + 212.3 * x4
            + 623.4 * x5
            + 1495.5 * x6
            - 169 * x1 * x3
            - 3580 * x3 * x5
            - 3810 * x4 * x5
            - 18500 * x4 * x6
            - 24300 * x5 * x6
            - b1,
            17.9 * x1
            + 36.8 * x2
            + 113.9 * x3
            + 169.7 * x4
            + 337.8 * x5
            + 1385.2 * x6
            - 139 * x1 * x3
            - 2450 * x4 * x5
            - 16600 * x4 * x6
            - 17200 * x5 * x6
            - b2,
            -273 * x2 - 70 * x4 - 819 * x5 + 26000 * x4 * x5 - b3,
            159.9 * x1 - 311 * x2 + 587 * x4 + 391 * x5 + 2198 * x6 - 14000 * x1 * x6 - b4,
        ]

    return limits


def hs95(x: Any) -> Any:
    return 4.3 * x[0] + 31.8 * x[1] + 63.3 * x[2] + 15.8 * x[3] + 68.5 * x[4] + 4.7 * x[5]


HS95_BOX = [(0, 0.31), (0, 0.046), (0, 0.068), (0, 0.042), (0, 0.028), (0, 0.0134)]


# ---- 101 to 103, geometric programs
def hs101(a: float) -> Any:
    def f(x: Any) -> Any:
        x1, x2, x3, x4, x5, x6, x7 = (x[i] for i in range(7))
        return (
            10 * x1 / x2 * x4**2 / x6**3 * x7**a
            + 15 / x1 / x2**2 * x3 * x4 / x5 / x7**0.5
            + 20 / x1**2 * x2 / x4 / x5**2 * x6
            + 25 * x1**2 * x2**2 / x3 * x5**0.5 / x6**2
        )

    return f


def hs101_limits(a: float) -> Any:
    def limits(x: Any) -> list:
        x1, x2, x3, x4, x5, x6, x7 = (x[i] for i in range(7))
        cost = hs101(a)(x)
        return [
            1
            - 0.5 * x1**0.5 / x3 / x6**2 * x7
            - 0.7 * x1**3 * x2 / x3**2 * x6 * x7**0.5
            - 0.2 / x2 * x3 / x4**0.5 * x6 ** (2 / 3) * x7**0.25,
            1 - 1.3 / x1**0.5 * x2 / x3 / x5 * x6 - 0.8 * x3 / x4 / x5 * x6**2 - 3.1 / x1 * x2**0.5 / x4**2 / x5 * x6 ** (1 / 3),
            1
            - 2 * x1 / x3**1.5 * x5 / x6 * x7 ** (1 / 3)
            - 0.1 * x2 / x3**0.5 * x5 / x6 / x7**0.5
            - 1 / x1 * x2 * x3**0.5 * x5
            - 0.65 / x2**2 * x3 * x5 / x6 * x7,
            1
            - 0.2 / x1**2 * x2 / x4 * x5**0.5 * x7 ** (1 / 3)
            - 0.3 * x1**0.5 * x2**2 * x3 * x4 ** (1 / 3) / x5 ** (2 / 3) * x7**0.25
            - 0.4 / x1**3 / x2**2 * x3 * x5 * x7**0.75
            - 0.5 / x3**2 * x4 * x7**0.5,
            cost - 100,
            3000 - cost,
        ]

    return limits


HS101_BOX = box(6, 0.1, 10) + [(0.01, 10)]


# ---- 107, 109: power flows
def hs107_flow(x: Any) -> list:
    c, d = 48.4 / 50.176 * math.sin(0.25), 48.4 / 50.176 * math.cos(0.25)
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = (x[i] for i in range(9))
    y1, y2, y3, y4, y5, y6 = np.sin(x8), np.cos(x8), np.sin(x9), np.cos(x9), np.sin(x8 - x9), np.cos(x8 - x9)
    return [
        0.4 - x1 + 2 * c * x5**2 - x5 * x6 * (d * y1 + c * y2) - x5 * x7 * (d * y3 + c * y4),
        0.4 - x2 + 2 * c * x6**2 + x5 * x6 * (d * y1 - c * y2) + x6 * x7 * (d * y5 - c * y6),
        0.8 + 2 * c * x7**2 + x5 * x7 * (d * y3 - c * y4) - x6 * x7 * (d * y5 + c * y6),
        0.2 - x3 + 2 * d * x5**2 + x5 * x6 * (c * y1 - d * y2) + x5 * x7 * (c * y3 - d * y4),
        0.2 - x4 + 2 * d * x6**2 - x5 * x6 * (c * y1 + d * y2) - x6 * x7 * (c * y5 + d * y6),
        -0.337 + 2 * d * x7**2 - x5 * x7 * (c * y3 + d * y4) + x6 * x7 * (c * y5 - d * y6),
    ]


def hs109_limits(x: Any) -> list:
    return [x[3] - x[2] + 0.55, x[2] - x[3] + 0.55, 2250000 - x[0] ** 2 - x[7] ** 2, 2250000 - x[1] ** 2 - x[8] ** 2]


def hs109_flow(x: Any) -> list:
    a, b, c = 50.176, math.sin(0.25), math.cos(0.25)
    x1, x2, x3, x4, x5, x6, x7, x8, x9 = (x[i] for i in range(9))
    return [
        x5 * x6 * np.sin(-x3 - 0.25) + x5 * x7 * np.sin(-x4 - 0.25) + 2 * b * x5**2 - a * x1 + 400 * a,
        x5 * x6 * np.sin(x3 - 0.25) + x6 * x7 * np.sin(x3 - x4 - 0.25) + 2 * b * x6**2 - a * x2 + 400 * a,
        x5 * x7 * np.sin(x4 - 0.25) + x6 * x7 * np.sin(x4 - x3 - 0.25) + 2 * b * x7**2 + 881.779 * a,
        a * x8 + x5 * x6 * np.cos(-x3 - 0.25) + x5 * x7 * np.cos(-x4 - 0.25) - 200 * a - 2 * c * x5**2 + 0.7533e-3 * a * x5**2,
        a * x9 + x5 * x6 * np.cos(x3 - 0.25) + x6 * x7 * np.cos(x3 - x4 - 0.25) - 2 * c * x6**2 + 0.7533e-3 * a * x6**2 - 200 * a,
        x5 * x7 * np.cos(x4 - 0.25) + x6 * x7 * np.cos(x4 - x3 - 0.25) - 2 * c * x7**2 + 22.938 * a + 0.7533e-3 * a * x7**2,
    ]


# ---- 111: chemical equilibrium in logarithms
HS111_C = np.array([-6.089, -17.164, -34.054, -5.914, -24.721, -14.986, -24.100, -10.708, -26.662, -22.179])


def hs111(x: Any) -> Any:
    return np.sum(np.exp(x) * (HS111_C + x - np.log(np.sum(np.exp(x)))))


def hs111_balances(x: Any) -> list:
    e = [np.exp(x[i]) for i in range(10)]
    return [
        e[0] + 2 * e[1] + 2 * e[2] + e[5] + e[9] - 2,
        e[3] + 2 * e[4] + e[5] + e[6] - 1,
        e[2] + e[6] + e[7] + 2 * e[8] + e[9] - 1,
    ]


# ---- 118
def hs118(x: Any) -> Any:
    return sum(
        2.3 * x[i] + 1e-4 * x[i] ** 2 + 1.7 * x[i + 1] + 1e-4 * x[i + 1] ** 2 + 2.2 * x[i + 2] + 1.5e-4 * x[i + 2] ** 2
        for i in range(0, 15, 3)
    )


def hs118_limits(x: Any) -> list:
    steps = [x[3 * j + k] - x[3 * j + k - 3] + 7 for j in range(1, 5) for k in range(3)]
    tops = [13, 14, 13] * 4
    sums = [x[3 * j] + x[3 * j + 1] + x[3 * j + 2] - need for j, need in enumerate((60, 50, 70, 85, 100))]
    return steps + [top - step for step, top in zip(steps, tops, strict=True)] + sums


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
    Book("hs95", hs95, hs95_limits(4.97, -1.88, -29.08, -78.02), None, HS95_BOX, 0.01561952524),
    Book("hs96", hs95, hs95_limits(4.97, -1.88, -69.08, -118.02), None, HS95_BOX, 0.01561952524),
    Book("hs97", hs95, hs95_limits(32.97, 25.12, -29.08, -78.02), None, HS95_BOX, 3.135809123),
    Book("hs98", hs95, hs95_limits(32.97, 25.12, -124.08, -173.02), None, HS95_BOX, 3.135809123),
    Book("hs101", hs101(-0.25), hs101_limits(-0.25), None, HS101_BOX, 1809.76476),
    Book("hs102", hs101(0.125), hs101_limits(0.125), None, HS101_BOX, 911.880571),
    Book("hs103", hs101(0.5), hs101_limits(0.5), None, HS101_BOX, 543.667958),
    Book(
        "hs107",
        lambda x: 3000 * x[0] + 1000 * x[0] ** 3 + 2000 * x[1] + 666.667 * x[1] ** 3,
        None,
        hs107_flow,
        box(2, 0) + box(2) + box(3, 0.90909, 1.0909) + box(2),
        5055.011803,
    ),
    Book(
        "hs109",
        lambda x: 3 * x[0] + 1e-6 * x[0] ** 3 + 2 * x[1] + 0.522074e-6 * x[1] ** 3,
        hs109_limits,
        hs109_flow,
        box(2, 0) + box(2, -0.55, 0.55) + box(3, 196, 252) + box(2, -400, 800),
        5362.06928,
        2000,
    ),
    Book("hs111", hs111, None, hs111_balances, box(10, -100, 100), -47.76109026),
    Book("hs118", hs118, hs118_limits, None, [(8, 21), (43, 57), (3, 16)] + [(0, 90), (0, 120), (0, 60)] * 4, 664.82045),
]
