"""Problems with constraints of the CUTE collection (Bongartz, Conn, Gould, Toint 1995) that are in none of the other tables."""

import math
from typing import Any

import numpy as np

from bench.book_problem import INF, Book, box
from bench.hock_1981 import rosenbrock


def least_largest(name: str, pieces: Any, n: int, value: float | None, finite: float = 10.0) -> Book:
    """The least u that is above all pieces, u being the last variable."""
    return Book(name, lambda x: x[n], lambda x: [x[n] - piece for piece in pieces(x)], None, box(n + 1), value, finite)


def system(name: str, equations: Any, bounds: list[tuple[float, float]], finite: float = 10.0) -> Book:
    """Equations alone: any solution will do."""
    return Book(name, lambda x: 0 * x[0], None, equations, bounds, 0, finite)


def both(v: Any) -> list:
    return [v, -v]


def spiral(x: Any) -> list:
    r2 = x[0] ** 2 + x[1] ** 2
    r = np.sqrt(r2)
    return [(x[0] - r * np.cos(r)) ** 2 + 0.005 * r2, (x[1] - r * np.sin(r)) ** 2 + 0.005 * r2]


def rosen_suzuki(x: Any) -> list:
    a, b, c, d = (x[i] for i in range(4))
    f = a**2 + b**2 + 2 * c**2 + d**2 - 5 * a - 5 * b - 21 * c + 7 * d
    return [
        f,
        f + 10 * (a**2 + b**2 + c**2 + d**2 + a - b + c - d - 8),
        f + 10 * (a**2 + 2 * b**2 + c**2 + 2 * d**2 - a - d - 10),
        f + 10 * (2 * a**2 + b**2 + c**2 + 2 * a - b - d - 5),
    ]


def womersley(x: Any) -> list:
    q = 10 * x[0] / (x[0] + 0.1)
    return [0.5 * (x[0] + q + 2 * x[1] ** 2), 0.5 * (-x[0] + q + 2 * x[1] ** 2), 0.5 * (x[0] - q + 2 * x[1] ** 2)]


def biggs(x: Any) -> list:
    pairs = [x[i] + x[j] for i in range(4) for j in range(i + 1, 4)]
    return [p - 2.5 for p in pairs] + [7.5 - p for p in pairs] + [np.sum(x) - 5]


TABLE = [
    Book(
        "bt1", lambda x: 100 * x[0] ** 2 + 100 * x[1] ** 2 - x[0] - 100, None, lambda x: [x[0] ** 2 + x[1] ** 2 - 1], box(2), -1
    ),
    Book("bt4", lambda x: x[0] - x[1] + x[1] ** 3, None, lambda x: [np.sum(x**2) - 25, np.sum(x) - 1], box(3), None),
    Book(
        "bt7",
        rosenbrock,
        None,
        lambda x: [x[0] * x[1] - x[2] ** 2 - 1, x[1] ** 2 - x[3] ** 2 + x[0], x[4] ** 2 + x[0] - 0.5],
        box(5),
        306.5,
    ),
    Book(
        "bt12",
        lambda x: 0.01 * x[0] ** 2 + x[1] ** 2,
        None,
        lambda x: [x[0] + x[1] - x[2] ** 2 - 25, x[0] ** 2 + x[1] ** 2 - x[3] ** 2 - 25, x[0] - x[4] ** 2 - 2],
        box(5),
        6.18812,
        100,
    ),
    Book(
        "byrdsphr",
        lambda x: -np.sum(x),
        None,
        lambda x: [np.sum(x**2) - 9, (x[0] - 1) ** 2 + x[1] ** 2 + x[2] ** 2 - 9],
        box(3),
        -4.68330,
    ),
    Book("maratos", lambda x: -x[0] + 10 * (x[0] ** 2 + x[1] ** 2 - 1), None, lambda x: [x[0] ** 2 + x[1] ** 2 - 1], box(2), -1),
    Book(
        "twobars",
        lambda x: x[0] * np.sqrt(1 + x[1] ** 2),
        lambda x: [1 - 0.124 * np.sqrt(1 + x[1] ** 2) * (8 / x[0] + s / (x[0] * x[1])) for s in (1, -1)],
        None,
        [(0.2, 4), (0.1, 1.6)],
        1.50865,
    ),
    Book(
        "cantilvr",
        lambda x: 0.0624 * np.sum(x),
        lambda x: [1 - 61 / x[0] ** 3 - 37 / x[1] ** 3 - 19 / x[2] ** 3 - 7 / x[3] ** 3 - 1 / x[4] ** 3],
        None,
        box(5, 1e-6),
        1.33996,
        100,
    ),
    Book("biggsc4", lambda x: -x[0] * x[2] - x[1] * x[3], biggs, None, box(4, 0, 5), None),
    Book(
        "zecevic3",
        lambda x: 7 * x[0] ** 2 + 3 * x[1] ** 2 - 84 * x[0] - 24 * x[1] + 300,
        lambda x: [x[0] * x[1] - 1, 9 - x[0] ** 2 - x[1] ** 2],
        None,
        box(2, 0, 10),
        97.30945,
    ),
    Book(
        "zecevic4",
        lambda x: 6 * x[0] ** 2 + x[1] ** 2 - 60 * x[0] - 8 * x[1] + 166,
        lambda x: [x[0] * x[1] - x[0] - x[1] + 1, x[0] + x[1] - 3],
        None,
        box(2, 0, 10),
        None,
    ),
    least_largest(
        "cb2", lambda x: [x[0] ** 2 + x[1] ** 4, (2 - x[0]) ** 2 + (2 - x[1]) ** 2, 2 * np.exp(x[1] - x[0])], 2, 1.952224494
    ),
    least_largest("cb3", lambda x: [x[0] ** 4 + x[1] ** 2, (2 - x[0]) ** 2 + (2 - x[1]) ** 2, 2 * np.exp(x[1] - x[0])], 2, 2),
    least_largest(
        "madsen", lambda x: both(x[0] ** 2 + x[1] ** 2 + x[0] * x[1]) + both(np.sin(x[0])) + both(np.cos(x[1])), 2, 0.6164324
    ),
    least_largest(
        "polak1", lambda x: [np.exp(0.001 * x[0] ** 2 + (x[1] - 1) ** 2), np.exp(0.001 * x[0] ** 2 + (x[1] + 1) ** 2)], 2, math.e
    ),
    least_largest("spiral", spiral, 2, 0, 4),
    least_largest("womflet", womersley, 2, 0),
    least_largest("rosenmmx", rosen_suzuki, 4, -44, 100),
    least_largest("makela3", lambda x: [v for i in range(20) for v in both(x[i] ** 2)], 20, 0),
    least_largest(
        "kiwcresc", lambda x: [x[0] ** 2 + (x[1] - 1) ** 2 + x[1] - 1, -(x[0] ** 2) - (x[1] - 1) ** 2 + x[1] + 1], 2, 0
    ),
    least_largest("demymalo", lambda x: [5 * x[0] + x[1], -5 * x[0] + x[1], x[0] ** 2 + x[1] ** 2 + 4 * x[1]], 2, -3),
    system(
        "gottfr", lambda x: [x[0] - 0.1136 * (x[0] + 3 * x[1]) * (1 - x[0]), x[1] + 7.5 * (2 * x[0] - x[1]) * (1 - x[1])], box(2)
    ),
    system(
        "cluster", lambda x: [(x[0] - x[1] ** 2) * (x[0] - np.sin(x[1])), (np.cos(x[1]) - x[0]) * (x[1] - np.cos(x[0]))], box(2)
    ),
    system("hypcir", lambda x: [x[0] * x[1] - 1, x[0] ** 2 + x[1] ** 2 - 4], box(2)),
    system("powellbs", lambda x: [1e4 * x[0] * x[1] - 1, np.exp(-x[0]) + np.exp(-x[1]) - 1.0001], box(2)),
    system("powellsq", lambda x: [x[0] ** 2, 10 * x[0] / (x[0] + 0.1) + 2 * x[1] ** 2], box(2)),
    system("recipe", lambda x: [x[0] - 5, x[1] ** 2, x[2] / (x[1] - x[0])], box(3)),
    system("himmelbc", lambda x: [x[0] ** 2 + x[1] - 11, x[0] + x[1] ** 2 - 7], box(2)),
    system(
        "chandheu",
        lambda x: [
            x[i] - 1 - 0.4 * x[i] * sum((2 * i + 1) * x[j] / (2 * i + 2 * j + 2) for j in range(10)) / 10 for i in range(10)
        ],
        box(10, 0, 4),
    ),
    system(
        "brown_almost_linear",
        lambda x: [x[i] + np.sum(x) - 6 for i in range(4)] + [x[0] * x[1] * x[2] * x[3] * x[4] - 1],
        box(5, -2, 8),
    ),
    system(
        "trigexp",
        lambda x: [
            3 * x[0] ** 3 + 2 * x[1] - 5 + np.sin(x[0] - x[1]) * np.sin(x[0] + x[1]),
            4 * x[1] - x[0] * np.exp(x[0] - x[1]) - 3,
        ],
        box(2),
    ),
    system(
        "broyden",
        lambda x: [(3 - 2 * x[i]) * x[i] - (x[i - 1] if i else 0) - (2 * x[i + 1] if i < 9 else 0) + 1 for i in range(10)],
        box(10),
    ),
    Book("hong_like", lambda x: np.sum(np.exp(-x) * np.arange(1, 5)), None, lambda x: [np.sum(x) - 1], box(4, 0, 1), None),
    Book(
        "free_line",
        lambda x: (x[0] - 3) ** 2 + np.exp(x[1]),
        lambda x: [x[1] - x[0], x[0] + x[1]],
        None,
        box(2, -INF, INF),
        None,
        100,
    ),
]
