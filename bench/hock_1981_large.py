"""Problems with constraints of Hock and Schittkowski from number 95 on. In 101 to 103 a coefficient may not be the book's."""

import math
from typing import Any

import numpy as np

from bench.book_problem import Book, box


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


TABLE = [
    Book("hs95", hs95, hs95_limits(4.97, -1.88, -29.08, -78.02), None, HS95_BOX, 0.01561952524),
    Book("hs96", hs95, hs95_limits(4.97, -1.88, -69.08, -118.02), None, HS95_BOX, 0.01561952524),
    Book("hs97", hs95, hs95_limits(32.97, 25.12, -29.08, -78.02), None, HS95_BOX, 3.135809123),
    Book("hs98", hs95, hs95_limits(32.97, 25.12, -124.08, -173.02), None, HS95_BOX, 3.135809123),
    Book("hs101", hs101(-0.25), hs101_limits(-0.25), None, HS101_BOX, None),
    Book("hs102", hs101(0.125), hs101_limits(0.125), None, HS101_BOX, None),
    Book("hs103", hs101(0.5), hs101_limits(0.5), None, HS101_BOX, None),
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
        5326.851,
        2000,
    ),
    Book("hs111", hs111, None, hs111_balances, box(10, -100, 100), -47.76109026),
    Book("hs118", hs118, hs118_limits, None, [(8, 21), (43, 57), (3, 16)] + [(0, 90), (0, 120), (0, 60)] * 4, 664.82045),
]
