"""Problems with constraints of Schittkowski, More Test Examples for Nonlinear Programming Codes (1987), that are not in the
gallery."""

import math
from typing import Any

import numpy as np

from bench.book_problem import INF, Book, box
from bench.hock_1981 import rosenbrock

# ---- 268
S268_D = np.array(
    [
        [-74, 80, 18, -11, -4],
        [14, -69, 21, 28, 0],
        [66, -72, -5, 7, 1],
        [-12, 66, -30, -23, 3],
        [3, 8, -7, -4, 1],
        [4, -12, 4, 4, 0],
    ]
)
S268_R = np.array([51, -61, -56, 69, 10, -12])


def s268_limits(x: Any) -> list:
    return [
        5 - np.sum(x),
        10 * x[0] + 10 * x[1] - 3 * x[2] + 5 * x[3] + 4 * x[4] - 20,
        -8 * x[0] + x[1] - 2 * x[2] - 5 * x[3] + 3 * x[4] + 40,
        8 * x[0] - x[1] + 2 * x[2] + 5 * x[3] - 3 * x[4] - 11,
        -4 * x[0] - 2 * x[1] + 3 * x[2] - 5 * x[3] + x[4] + 30,
    ]


# ---- 270
def s270(x: Any) -> Any:
    a, b, c, d, e = (x[i] for i in range(5))
    return (
        a * b * c * d
        - 3 * a * b * d
        - 4 * a * b * c
        + 12 * a * b
        - b * c * d
        + 3 * b * d
        + 4 * b * c
        - 12 * b
        - 2 * a * c * d
        + 6 * a * d
        + 8 * a * c
        - 24 * a
        + 2 * c * d
        - 6 * d
        - 8 * c
        + 24
        + 1.5 * e**4
        - 5.75 * e**3
        + 5.25 * e**2
    )


# ---- 316 to 322
def ellipse(b: float) -> Any:
    return lambda x: [x[0] ** 2 / 100 + x[1] ** 2 / b - 1]


def far(x: Any) -> Any:
    return (x[0] - 20) ** 2 + (x[1] + 20) ** 2


# ---- 365: the smallest triangle around two discs
def s365_limits(x: Any) -> list:
    p, q = np.sqrt(x[1] ** 2 + x[2] ** 2), np.sqrt(x[2] ** 2 + (x[1] - x[0]) ** 2)
    return [
        (x[3] - x[5]) ** 2 + (x[4] - x[6]) ** 2 - 4,
        (x[2] * x[3] - x[1] * x[4]) / p - 1,
        (x[2] * x[5] - x[1] * x[6]) / p - 1,
        (x[0] * x[2] + (x[1] - x[0]) * x[4] - x[2] * x[3]) / q - 1,
        (x[0] * x[2] + (x[1] - x[0]) * x[6] - x[2] * x[5]) / q - 1,
    ]


# ---- 372, 373: exponential fits
S372 = ((-5, 127), (-3, 151), (-1, 379), (1, 421), (3, 460), (5, 426))


def s372_limits(x: Any) -> list:
    curve = [x[0] + x[1] * np.exp(t * x[2]) - y for t, y in S372]
    return [v + x[3 + i] for i, v in enumerate(curve)] + [x[3 + i] - v for i, v in enumerate(curve)]


def s373_equations(x: Any) -> list:
    return [x[0] + x[1] * np.exp(t * x[2]) + x[3 + i] - y for i, (t, y) in enumerate(S372)]


# ---- 375
def s375_equations(x: Any) -> list:
    return [np.sum(x) - x[j] / 2 - 1 for j in range(8)] + [np.sum(x**2 / (1 + np.arange(10) / 3)) - 4]


def ranked(x: Any) -> Any:
    return np.sum(np.arange(1, len(x) + 1) * (x**2 + x**4))


TABLE = [
    Book("s215", lambda x: x[1], lambda x: [x[1] - x[0] ** 2], None, [(0, INF), (-INF, INF)], 0),
    Book(
        "s216",
        lambda x: 100 * (x[0] ** 2 - x[1]) ** 2 + (x[0] - 1) ** 2,
        None,
        lambda x: [x[0] * (x[0] - 4) - 2 * x[1] + 12],
        box(2),
        1,
    ),
    Book(
        "s217",
        lambda x: -x[1],
        lambda x: [1 + x[0] - 2 * x[1]],
        lambda x: [x[0] ** 2 + x[1] ** 2 - 1],
        [(0, INF), (-INF, INF)],
        -0.8,
    ),
    Book("s218", lambda x: x[1], lambda x: [x[1] - x[0] ** 2], None, box(2), 0, 100),
    Book("s220", lambda x: x[0], None, lambda x: [(x[0] - 1) ** 3 - x[1]], [(1, INF), (0, INF)], 1, 1e4),
    Book("s221", lambda x: -x[0], lambda x: [-((x[0] - 1) ** 3) - x[1]], None, box(2, 0, 1), -1),
    Book("s222", lambda x: -x[0], lambda x: [0.125 - (x[0] - 1) ** 3 - x[1]], None, box(2, 0), -1.5, 100),
    Book(
        "s223",
        lambda x: -x[0],
        lambda x: [np.exp(np.exp(x[0])), x[1] - np.exp(np.exp(x[0]))],
        None,
        box(2, 0, 10),
        -math.log(math.log(10)),
    ),
    Book(
        "s224",
        lambda x: 2 * x[0] ** 2 + x[1] ** 2 - 48 * x[0] - 40 * x[1],
        lambda x: [x[0] + 3 * x[1], 18 - x[0] - 3 * x[1], x[0] + x[1], 8 - x[0] - x[1]],
        None,
        box(2, 0, 6),
        -304,
    ),
    Book(
        "s225",
        lambda x: x[0] ** 2 + x[1] ** 2,
        lambda x: [x[0] + x[1] - 1, x[0] ** 2 + x[1] ** 2 - 1, 9 * x[0] ** 2 + x[1] ** 2 - 9, x[0] ** 2 - x[1], x[1] ** 2 - x[0]],
        None,
        box(2),
        2,
        100,
    ),
    Book("s226", lambda x: -x[0] * x[1], lambda x: [x[0] ** 2 + x[1] ** 2, 1 - x[0] ** 2 - x[1] ** 2], None, box(2, 0), -0.5),
    Book(
        "s227", lambda x: (x[0] - 2) ** 2 + (x[1] - 1) ** 2, lambda x: [x[1] - x[0] ** 2, x[0] - x[1] ** 2], None, box(2), 1, 100
    ),
    Book("s228", lambda x: x[0] ** 2 + x[1], lambda x: [1 - x[0] - x[1], 9 - x[0] ** 2 - x[1] ** 2], None, box(2), -3, 100),
    Book(
        "s230",
        lambda x: x[1],
        lambda x: [-2 * x[0] ** 2 + x[0] ** 3 + x[1], -2 * (1 - x[0]) ** 2 + (1 - x[0]) ** 3 + x[1]],
        None,
        box(2),
        0.375,
    ),
    Book("s231", rosenbrock, lambda x: [x[0] / 3 + x[1] + 0.1, -x[0] / 3 + x[1] + 0.1], None, box(2), 0, 100),
    Book("s233", rosenbrock, lambda x: [x[0] ** 2 + x[1] ** 2 - 0.25], None, box(2), 0, 100),
    Book("s234", lambda x: (x[1] - x[0]) ** 4 - (1 - x[0]), lambda x: [1 - x[0] ** 2 - x[1] ** 2], None, box(2, 0.2, 2), -0.8),
    Book(
        "s248",
        lambda x: -x[1],
        lambda x: [1 - 2 * x[1] + x[0]],
        lambda x: [np.sum(x**2) - 1],
        [(0, INF), (-INF, INF), (-INF, INF)],
        -0.8,
    ),
    Book(
        "s253",
        lambda x: sum(
            np.sqrt((x[0] - a) ** 2 + (x[1] - b) ** 2 + (x[2] - c) ** 2) for a in (0, 10) for b in (0, 10) for c in (0, 10)
        ),
        lambda x: [30 - 3 * x[0] - 3 * x[2]],
        None,
        box(3, 0),
        69.2820323,
    ),
    Book(
        "s254",
        lambda x: np.log10(x[2]) - x[1],
        None,
        lambda x: [x[1] ** 2 + x[2] ** 2 - 4, x[2] - 1 - x[0] ** 2],
        [(-INF, INF), (-INF, INF), (1, INF)],
        -math.sqrt(3),
    ),
    Book(
        "s262",
        lambda x: -0.5 * x[0] - x[1] - 0.5 * x[2] - x[3],
        lambda x: [
            10 - np.sum(x),
            10 - 0.2 * x[0] - 0.5 * x[1] - x[2] - 2 * x[3],
            10 - 2 * x[0] - x[1] - 0.5 * x[2] - 0.2 * x[3],
        ],
        lambda x: [x[0] + x[1] + x[2] - 2 * x[3] - 6],
        box(4, 0),
        -10,
        100,
    ),
    Book(
        "s263",
        lambda x: -x[0],
        lambda x: [x[1] - x[0] ** 3, x[0] ** 2 - x[1]],
        lambda x: [x[1] - x[0] ** 3 - x[2] ** 2, x[0] ** 2 - x[1] - x[3] ** 2],
        box(4),
        -1,
    ),
    Book(
        "s265",
        lambda x: 2 - np.exp(-10 * x[0] * np.exp(-x[2])) - np.exp(-10 * x[1] * np.exp(-x[3])),
        None,
        lambda x: [x[0] + x[1] - 1, x[2] + x[3] - 1],
        box(4, 0, 1),
        0.97474658,
    ),
    Book("s268", lambda x: np.sum((S268_D @ x - S268_R) ** 2), s268_limits, None, box(5), 0),
    Book("s270", s270, lambda x: [34 - np.sum(x**2)], None, [(1, INF), (2, INF), (3, INF), (4, INF), (-INF, INF)], -1),
    Book(
        "s315",
        lambda x: -x[1],
        lambda x: [1 - 2 * x[1] + x[0], x[0] ** 2 + x[1] ** 2, 1 - x[0] ** 2 - x[1] ** 2],
        None,
        box(2),
        -0.8,
    ),
    Book("s316", far, None, ellipse(100), box(2), 334.31458, 100),
    Book("s317", far, None, ellipse(64), box(2), 372.46661, 100),
    Book("s318", far, None, ellipse(36), box(2), 412.75005, 100),
    Book("s319", far, None, ellipse(16), box(2), 452.40440, 100),
    Book("s320", far, None, ellipse(4), box(2), 485.53146, 100),
    Book("s321", far, None, ellipse(1), box(2), 496.11237, 100),
    Book("s322", far, None, ellipse(0.01), box(2), 499.96001, 100),
    Book(
        "s323",
        lambda x: x[0] ** 2 + x[1] ** 2 - 4 * x[0] + 4,
        lambda x: [x[0] - x[1] + 2, -(x[0] ** 2) + x[1] - 1],
        None,
        box(2, 0),
        3.79894,
    ),
    Book(
        "s325",
        lambda x: x[0] ** 2 + x[1],
        lambda x: [1 - x[0] - x[1], 1 - x[0] - x[1] ** 2],
        lambda x: [x[0] ** 2 + x[1] ** 2 - 9],
        box(2),
        3.79134,
    ),
    Book(
        "s326",
        lambda x: x[0] ** 2 + x[1] ** 2 - 16 * x[0] - 10 * x[1],
        lambda x: [11 - x[0] ** 2 + 6 * x[0] - 4 * x[1], x[0] * x[1] - 3 * x[1] - np.exp(x[0] - 3) + 1],
        None,
        box(2, 0),
        -79.80782,
    ),
    Book(
        "s330",
        lambda x: 0.044 * x[0] ** 3 / x[1] ** 2 + 1 / x[0] + 0.0592 * x[0] / x[1] ** 3,
        lambda x: [1 - 8.62 * x[1] ** 3 / x[0]],
        None,
        box(2, 1e-4, 5),
        1.62058,
    ),
    Book(
        "s335",
        lambda x: -(0.001 * x[0] + x[1]),
        None,
        lambda x: [1000 * x[0] ** 2 + 100 * x[1] ** 2 - x[2], 100 * x[0] ** 2 + 400 * x[1] ** 2 + x[2] - 0.01],
        box(3),
        -0.00447214,
    ),
    Book(
        "s336",
        lambda x: 7 * x[0] - 6 * x[1] + 4 * x[2],
        None,
        lambda x: [x[0] ** 2 + 2 * x[1] ** 2 + 3 * x[2] ** 2 - 1, 5 * x[0] + 5 * x[1] - 3 * x[2] - 6],
        box(3),
        -0.337896,
    ),
    Book(
        "s338",
        lambda x: -np.sum(x**2),
        None,
        lambda x: [0.5 * x[0] + x[1] + x[2] - 1, x[0] ** 2 + x[1] ** 2 * 2 / 3 + 0.25 * x[2] ** 2 - 4],
        box(3),
        -10.99281,
    ),
    Book(
        "s339",
        lambda x: 0.2 / (x[0] * x[1] * x[2]) + 4 / x[0] + 3 / x[2],
        lambda x: [10 - 2 * x[0] * x[2] - x[0] * x[1]],
        None,
        box(3, 0),
        3.36168,
    ),
    Book(
        "s340",
        lambda x: -x[0] * x[1] * x[2],
        lambda x: [1.8 - x[0] - 2 * x[1] - 2 * x[2]],
        None,
        [(-INF, 1), (0, INF), (0, INF)],
        -0.054,
    ),
    Book(
        "s341",
        lambda x: -x[0] * x[1] * x[2],
        lambda x: [48 - x[0] ** 2 - 2 * x[1] ** 2 - 4 * x[2] ** 2],
        None,
        box(3, 0),
        -22.62742,
    ),
    Book(
        "s343",
        lambda x: -0.0201 * x[0] ** 4 * x[1] * x[2] ** 2 * 1e-7,
        lambda x: [675 - x[0] ** 2 * x[1], 0.419 - x[0] ** 2 * x[2] ** 2 * 1e-7],
        None,
        [(0, 36), (0, 5), (0, 125)],
        -5.68478,
    ),
    Book(
        "s344",
        lambda x: (x[0] - 1) ** 2 + (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 4,
        None,
        lambda x: [x[0] * (1 + x[1] ** 2) + x[2] ** 4 - 4 - 3 * math.sqrt(2)],
        box(3),
        0.0325682,
    ),
    Book(
        "s354",
        lambda x: (x[0] + 10 * x[1]) ** 2 + 5 * (x[2] - x[3]) ** 2 + (x[1] - 2 * x[2]) ** 4 + 10 * (x[0] - x[3]) ** 4,
        lambda x: [np.sum(x) - 1],
        None,
        box(4, -INF, 20),
        0.113784,
        20,
    ),
    Book(
        "s365",
        lambda x: x[0] * x[2],
        s365_limits,
        None,
        [(0.5, INF), (0, INF), (0.5, INF), (0, INF), (1, INF), (0, INF), (1, INF)],
        23.3137,
    ),
    Book("s372", lambda x: np.sum(x[3:] ** 2), s372_limits, None, [(0, 1000), (-1000, 0), (-1, 0)] + box(6, 0), 13390.1, 1000),
    Book("s373", lambda x: np.sum(x[3:] ** 2), None, s373_equations, [(0, 1000), (-1000, 0), (-1, 0)] + box(6), 13390.1, 1000),
    Book("s375", lambda x: -np.sum(x**2), None, s375_equations, box(10), None),
    Book("s394", ranked, None, lambda x: [np.sum(x**2) - 1], box(20), 1.9166667),
    Book("s395", ranked, None, lambda x: [np.sum(x**2) - 1], box(50), 1.9166668),
]
