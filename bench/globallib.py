"""Problems of GLOBALLib (Floudas et al. 1999 and others) that are not in the gallery, with their own numbering of variables.

Unbounded variables end at 1e8, as in the constrained problems of the COCONUT benchmark.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.book_problem import Book

FAR = 1e8
exp, log, sin = np.exp, np.log, np.sin


def numbered(g: Callable[..., Any] | None, first: int) -> Callable[[Any], Any] | None:
    """g of a list whose entry `first` is the first variable."""
    return None if g is None else lambda x: g([None] * first + [x[i] for i in range(len(x))])


def problem(name: str, value: float | None, bounds: list, f: Any, positive: Any = None, zero: Any = None, first: int = 1) -> Book:
    return Book(name, numbered(f, first), numbered(positive, first), numbered(zero, first), bounds, value)


def at_most(u: Any, *rows: Any) -> list:
    """|row| <= u for all rows."""
    return [s for v in rows for s in (u - v, u + v)]


def power(x: Any, p: float) -> Any:
    return exp(p * log(x))


def bearing(x: Any) -> list:
    return [
        -1.42857142857143 * x[4] * x[5] + 10000 * x[7],
        10 * x[6] * x[8] - 0.00968946189201592 * x[3] * (x[1] ** 4 - x[2] ** 4),
        143.3076 * x[9] * x[4] - 10000 * x[6],
        3.1415927 * x[5] * (0.001 * x[8]) ** 3 - 6e-6 * x[3] * x[4] * x[12],
        101000 * x[11] * x[12] - 1.57079635 * x[5] * x[13],
        log(0.8 + 8.112 * x[3]) / log(10) - 10964781961.4318 * power(x[10], -3.55),
        -0.5 * x[9] + x[10] - 560,
        x[12] - (log(x[1]) - log(x[2])),
        x[13] - (x[1] ** 2 - x[2] ** 2),
    ]


_TRANSISTOR = (
    (0.485, 5.2095, 28.5132, 0.116, 23.3037),
    (0.752, 10.0677, 111.8467, -0.502, 101.779),
    (0.869, 22.9274, 134.3884, 0.166, 111.461),
    (0.982, 20.2153, 211.4823, -0.473, 191.267),
)


def transistor(x: Any) -> list:
    gain = 1 - x[1] * x[2]
    first = [
        gain * x[3] * (exp(x[5] * (a - 0.001 * b * x[7] - 0.001 * c * x[8])) - 1) + e * x[2] - c
        for a, b, c, _, e in _TRANSISTOR
    ]
    second = [
        gain * x[4] * (exp(x[6] * (d + 0.001 * e * x[9] - 0.001 * b * x[7])) - 1) - c * x[1] + e
        for _, b, c, d, e in _TRANSISTOR
    ]
    return at_most(x[10], *first, *second)


def haverly(a: float, b: float, c: float) -> Callable[[Any], Any]:
    return lambda x: -9 * x[1] - 15 * x[2] + a * x[3] + b * x[4] + c * (x[5] + x[6])


def pooling(name: str, value: float, first: float, cost: Any) -> Book:
    return problem(
        name,
        value,
        [(0, first), (0, 200)] + [(0, 500)] * 7,
        cost,
        lambda x: [2.5 * x[1] - x[7] * x[8] - 2 * x[5], 1.5 * x[2] - x[7] * x[9] - 2 * x[6]],
        lambda x: [
            x[8] + x[9] - x[3] - x[4], x[1] - x[5] - x[8], x[2] - x[6] - x[9], x[7] * x[8] + x[7] * x[9] - 3 * x[3] - x[4],
        ],  # fmt: skip
    )


def heat_exchangers(x: Any) -> list:
    """ex7_2_10, Colville's trajectory."""
    return [
        1 - x[7] * x[10] - 0.1 * x[10],
        1 - 10 * x[1] * x[4] - 10 * x[1] * x[4] * x[7] ** 2,
        1 - 1 / x[4] + 100 * x[7] * x[10],
        1 - x[10] / x[11] + 10 * x[8],
        1 - x[2] * x[5] / x[1] + x[2] * x[5] * x[8] ** 2 / x[1],
        1 - 1 / x[5] + 10 * x[8] * x[11] / x[1],
        1 + 10 * x[9] - 10 * x[11],
        1 - x[3] * x[6] / x[2] + x[3] * x[6] * x[9] ** 2 / x[2],
        1 - 1 / x[6] + x[9] / x[2],
    ]


def reactors(x: Any) -> list:
    return [
        1 - x[3] / x[1] / power(x[2], 1.5) / x[4] / x[5] - 5 * x[3] * power(x[5], 1.2) / x[1] / x[2],
        1 - 0.05 * x[2] - 0.05 * x[3],
        1 - 10 / x[3] + x[1] / x[3],
        1 - x[8] / x[6] / power(x[7], 1.5) / x[9] / x[10] - 5 * x[8] * power(x[10], 1.2) / x[6] / x[7],
        1 - x[7] / x[2] - x[8] / x[2],
        1 - x[1] / x[8] + x[6] / x[8],
        0.1 - x[10],
    ]


def himmelblau(x: Any) -> list:
    return [
        1 - 2.584e-5 * x[3] * x[5] + 6.663e-5 * x[2] * x[5] + 7.34e-5 * x[1] * x[4],
        1 - 0.000853007 * x[2] * x[5] - 9.395e-5 * x[1] * x[4] + 0.00033085 * x[3] * x[5],
        1 - 1330.3294 / (x[2] * x[5]) + 0.42 * x[1] / x[5] + 0.30586 * x[3] ** 2 / x[2] / x[5],
        1 - 0.00024186 * x[2] * x[5] - 0.00010159 * x[1] * x[2] - 7.379e-5 * x[3] ** 2,
        1 - 2275.1327 / (x[3] * x[5]) + 0.2668 * x[1] / x[5] + 0.40584 * x[4] / x[5],
        1 - 0.00029955 * x[3] * x[5] - 7.992e-5 * x[1] * x[3] - 0.00012157 * x[3] * x[4],
    ]


_NEAR = (0, 5.9, 0.9, 5.4, 1.8, 4.4, 2.6, 4.6, 3.3, 3.5, 4.4, 3.7, 5.2, 2.8, 6.1, 2.8, 6.5, 2.4, 7.4, 1.5)


def cubic_fit(x: Any) -> list:
    return [x[22] * x[i] + x[23] * x[i] ** 2 + x[24] * x[i] ** 3 - x[i + 1] + x[21] for i in range(1, 21, 2)]


def complementary(x: Any, pairs: int, offset: int, first: int) -> list:
    return [x[first + i] * x[first + offset + i] for i in range(pairs)]


_CHENERY = (
    (100, -0.674, 2.06748466257669, -0.89, 0.674, 0.326, 0.123595505617978, 3.97),
    (230, -0.246, 1.25733634311512, -0.71, 0.557, 0.443, 0.408450704225352, 3.33),
    (220, -0.587, 0.00908173562058528, -0.8, 0.00900000000000001, 0.991, 0.25, 1.67),
    (450, -0.352, 124.31328320802, -0.95, 0.99202, 0.00798, 0.0526315789473684, 1.84),
)


def chenery(x: Any) -> list:
    found = [
        1 + 0.005 * x[28] - x[31], 1 + 0.0157 * x[29] - x[32], 1 + 0.00178 * x[30] - x[33],
        1 - 0.005 * x[25] - x[34], 1.1 - 0.001 * x[26] - x[35], 1 - 0.01 * x[27] - x[36],
        x[21] * x[1] + x[22] * x[2] + x[23] * x[3] + x[24] * x[4] - 500,
        -x[5] + x[13] - 0.1 * x[14] - 0.2 * x[15] - 0.2 * x[16], -x[6] + x[14] - 0.1 * x[15] - 0.3 * x[16],
        -x[7] + x[15] - 0.1 * x[16], -x[8] + x[16], x[38] - x[37],
    ]  # fmt: skip
    for i, (a, b, c, d, s, t, p, q) in enumerate(_CHENERY):
        u = x[40 + i]
        found += [
            x[9 + i] - a * power(x[39] * x[13 + i], b),
            u - power(c * x[38], d),
            q * x[17 + i] - power(s + t / u, p),
            q * x[21 + i] - power(t + s * u, p),
            x[5 + i] - x[37] * x[21 + i] - x[17 + i],
        ]
    return found


_CHENERY_BOUNDS = (
    [(0, 2000)] * 4 + [(0, 100)] * 4 + [(0, 2000)] * 4 + [(0.1, 100)] * 4 + [(0, 1)] * 8 + [(0, 400)] * 6 + [(0, 4)] * 6
    + [(0.25, 4)] * 2 + [(0.01, FAR)] + [(0.001, FAR)] * 4
)  # fmt: skip

TABLE = [
    problem(
        "bearing",
        1.9517333,
        [(1, 16)] * 4 + [(1, 1000)] + [(1e-4, FAR)] * 2 + [(1, FAR), (-FAR, 50), (100, FAR), (1, FAR), (1e-4, FAR), (0.01, FAR)],
        lambda x: x[6] + x[7],
        lambda x: [
            x[1] - x[2],
            0.3864 * (0.0062831854 * x[1] * x[8]) ** 2 * x[5] - 0.0307 * x[4] ** 2,
            15707.9635 * x[13] - 101000 * x[11],
        ],
        bearing,
    ),
    problem(
        "chance",
        29.894378,
        [(0, FAR)] * 4,
        lambda x: 24.55 * x[2] + 26.75 * x[3] + 39 * x[4] + 40.5 * x[5],
        lambda x: [
            12 * x[2] - 1.645 * np.sqrt(0.28 * x[2] ** 2 + 0.19 * x[3] ** 2 + 20.5 * x[4] ** 2 + 0.62 * x[5] ** 2)
            + 11.9 * x[3] + 41.8 * x[4] + 52.1 * x[5] - 21,
            2.3 * x[2] + 5.6 * x[3] + 11.1 * x[4] + 1.3 * x[5] - 5,
        ],  # fmt: skip
        lambda x: [x[2] + x[3] + x[4] + x[5] - 1],
        2,
    ),
    problem(
        "chenery",
        -1058.9199,
        _CHENERY_BOUNDS,
        lambda x: -x[9] - x[10] - x[11] - x[12],
        lambda x: [
            x[1] - x[9] - x[25] + x[28],
            -0.1 * x[1] + x[2] - x[10] - x[26] + x[29],
            -0.2 * x[1] - 0.1 * x[2] + x[3] - x[11] - x[27] + x[30],
            -0.2 * x[1] - 0.3 * x[2] - 0.1 * x[3] + x[4] - x[12],
            -(x[31] * x[28] - x[34] * x[25] + x[32] * x[29] - x[35] * x[26] + x[33] * x[30] - x[36] * x[27]),
            750 - x[17] * x[1] - x[18] * x[2] - x[19] * x[3] - x[20] * x[4],
        ],
        chenery,
    ),
    problem(
        "ex2_1_3",
        -15,
        [(0, 1)] * 9 + [(0, 10)] * 3 + [(0, 1)],
        lambda x: 5 * sum(x[1:5]) - 0.5 * sum(10 * v**2 for v in x[1:5]) - sum(x[5:14]),
        lambda x: [
            10 - 2 * x[1] - 2 * x[2] - x[10] - x[11],
            10 - 2 * x[1] - 2 * x[3] - x[10] - x[12],
            10 - 2 * x[2] - 2 * x[3] - x[11] - x[12],
            8 * x[1] - x[10],
            8 * x[2] - x[11],
            8 * x[3] - x[12],
            2 * x[4] + x[5] - x[10],
            2 * x[6] + x[7] - x[11],
            2 * x[8] + x[9] - x[12],
        ],
    ),
    problem(
        "ex2_1_6",
        -39,
        [(0, 1)] * 10,
        lambda x: sum(
            c * v - 50 * v**2 for c, v in zip((48, 42, 48, 45, 44, 41, 47, 42, 45, 46), x[1:], strict=True)
        ),
        lambda x: [
            b - sum(c * v for c, v in zip(row, x[1:], strict=True) if c)
            for b, row in (
                (-4, (-2, -6, -1, 0, -3, -3, -2, -6, -2, -2)),
                (22, (6, -5, 8, -3, 0, 1, 3, 8, 9, -3)),
                (-6, (-5, 6, 5, 3, 8, -8, 9, 2, 0, -9)),
                (-23, (9, 5, 0, -9, 1, -8, 3, -9, -9, -3)),
                (-12, (-8, 7, -4, -5, -9, 1, -7, -1, 3, -2)),
            )
        ],
    ),
    pooling("ex5_2_2_case1", -400, 100, haverly(6, 16, 10)),
    pooling("ex5_2_2_case2", -600, 600, haverly(6, 16, 10)),
    pooling("ex5_2_2_case3", -750, 100, haverly(6, 13, 10)),
    problem(
        "ex5_2_4",
        -450,
        [(0, 1)] * 3 + [(0, 100), (0, 200)] * 2,
        lambda x: (
            -((9 - 6 * x[1] - 16 * x[2] - 15 * x[3]) * x[4] + (15 - 6 * x[1] - 16 * x[2] - 15 * x[3]) * x[5]) + x[6] - 5 * x[7]
        ),
        lambda x: [
            50 - x[3] * x[4] - x[3] * x[5],
            100 - x[4] - x[6],
            200 - x[5] - x[7],
            0.5 * x[6] - (3 * x[1] + x[2] + x[3] - 2.5) * x[4],
            -0.5 * x[7] - (3 * x[1] + x[2] + x[3] - 1.5) * x[5],
        ],
        lambda x: [x[1] + x[2] + x[3] - 1],
    ),
    problem(
        "ex7_2_5",
        10122.493,
        [(78, 102), (33, 45), (27, 45), (27, 45), (27, 45)],
        lambda x: 5.3578 * x[3] ** 2 + 0.8357 * x[1] * x[5] + 37.2392 * x[1],
        himmelblau,
    ),
    problem(
        "ex7_2_7",
        -5.7398749,
        [(0.1, 10)] * 4,
        lambda x: 0.4 * power(x[1], 0.67) / power(x[3], 0.67) - x[1],
        lambda x: [
            1 - 0.05882 * x[3] * x[4] - 0.1 * x[1],
            1 - 4 * x[2] / x[4] - 2 / (power(x[2], 0.71) * x[4]) - 0.05882 * x[3] / power(x[2], 1.3),
        ],
    ),
    problem(
        "ex7_2_8",
        -6.0820092,
        [(0.01, 10)] * 8,
        lambda x: 0.4 * power(x[1], 0.67) / power(x[3], 0.67) - x[1] + 0.4 * power(x[5], 0.67) / power(x[7], 0.67) - x[5],
        lambda x: [
            1 - 0.0588 * x[3] * x[4] - 0.1 * x[1],
            1 - 0.0588 * x[7] * x[8] - 0.1 * x[1] - 0.1 * x[5],
            1 - 4 * x[2] / x[4] - 2 / (power(x[2], 0.71) * x[4]) - 0.0588 * x[3] / power(x[2], 1.3),
            1 - 4 * x[6] / x[8] - 2 / (power(x[6], 0.71) * x[8]) - 0.0588 * power(x[6], 1.3) * x[7],
        ],
    ),
    problem("ex7_2_9", 1.1436, [(0.01, 15)] * 10, lambda x: 0.4 * power(x[4], 0.67) + 0.4 * power(x[9], 0.67) + x[6], reactors),
    problem("ex7_2_10", 0.1, [(0.01, 10)] * 11, lambda x: 1 / x[3], heat_exchangers),
    problem(
        "ex8_4_2",
        0.48515228,
        [s for a in _NEAR for s in ((a - 0.5, a + 0.5),)] + [(0, 10)] + [(-2, 2)] * 3,
        lambda x: sum((x[i + 1] - a) ** 2 for i, a in enumerate(_NEAR)),
        None,
        cubic_fit,
    ),
    problem(
        "ex9_1_2",
        -16,
        [(0, 1000)] * 10,
        lambda x: -x[2] - 3 * x[3],
        None,
        lambda x: [
            -x[2] + x[3] + x[4] - 3, x[2] + 2 * x[3] + x[5] - 12, 4 * x[2] - x[3] + x[6] - 12, x[7] - x[3],
            *complementary(x, 4, 4, 4), x[8] + 2 * x[9] - x[10] - x[11] + 1,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex9_1_4",
        -37,
        [(0, FAR)] * 2 + [(0, 200)] * 8,
        lambda x: x[2] - 4 * x[3],
        None,
        lambda x: [
            -2 * x[2] + x[3] + x[4], 2 * x[2] + 5 * x[3] + x[5] - 108, 2 * x[2] - 3 * x[3] + x[6] + 4, x[7] - x[3],
            *complementary(x, 4, 4, 4), x[8] + 5 * x[9] - 3 * x[10] - x[11] + 1,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex9_1_10",
        -3.25,
        [(0, FAR)] * 14,
        lambda x: -2 * x[2] + x[3] + 0.5 * x[4],
        lambda x: [2 - x[2] - x[3]],
        lambda x: [
            -2 * x[2] + x[4] - x[5] + x[6] + 2.5, x[2] - 3 * x[3] + x[5] + x[7] - 2, x[8] - x[4], x[9] - x[5],
            *complementary(x, 5, 5, 6), x[11] - x[13] - 4, x[11] + x[12] - x[14] + 1,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex9_2_1",
        17,
        [(0, FAR)] * 2 + [(0, 20)] * 8,
        lambda x: (x[2] - 5) ** 2 + (1 + 2 * x[3]) ** 2,
        None,
        lambda x: [
            -3 * x[2] + x[3] + x[4] + 3, x[2] - 0.5 * x[3] + x[5] - 4, x[2] + x[3] + x[6] - 7, x[7] - x[3],
            *complementary(x, 4, 4, 4), -1.5 * x[2] + 2 * x[3] + x[8] - 0.5 * x[9] + x[10] - x[11] - 2,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex14_1_3",
        0,
        [(5.49e-6, 4.553), (0.0021961, 18.21), (-FAR, FAR)],
        lambda x: x[3],
        lambda x: at_most(x[3], 10000 * x[1] * x[2] - 1, exp(-x[1]) + exp(-x[2]) - 1.001),
    ),
    problem(
        "ex14_1_4",
        0,
        [(0.25, 1), (1.5, 6.28), (-FAR, FAR)],
        lambda x: x[3],
        lambda x: at_most(
            x[3],
            0.5 * sin(x[1] * x[2]) - 0.5 * x[1] - 0.0795774703703634 * x[2],
            0.920422529629637 * exp(2 * x[1]) - 5.4365636 * x[1] + 0.865255957591193 * x[2] - 2.5019678106022,
        ),
    ),
    problem("ex14_1_7", 0, [(0, 10)] * 9 + [(-FAR, FAR)], lambda x: x[10], transistor, lambda x: [x[1] * x[3] - x[2] * x[4]]),
    problem(
        "ex14_1_8",
        0,
        [(0, 1), (0, 1), (-FAR, FAR)],
        lambda x: x[3],
        lambda x: at_most(
            x[3],
            (0.0476666666666666 - 0.0649999999999999 * x[1]) * exp(10 * x[1] / (1 + 0.01 * x[1])) - x[1],
            (0.143 - 0.13 * x[1] - 0.195 * x[2]) * exp(10 * x[2] / (1 + 0.01 * x[2])) + x[1] - 3 * x[2],
        ),
    ),
]
