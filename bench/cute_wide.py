"""Constrained problems of CUTE and GLOBALLib with the wide bounds of the COCONUT benchmark: unbounded variables end at 1e8."""

from typing import Any

import numpy as np

from bench.book_problem import Book
from bench.globallib import FAR, power, problem
from bench.phase_equilibria import azeotrope, weighted

cos, exp, log, sin = np.cos, np.exp, np.log, np.sin
FREE = (-FAR, FAR)
HALF = (0, FAR)


def largest(name: str, value: float | None, n: int, pieces: Any) -> Book:
    """The least u that is above all pieces, u being the last of n + 1 free variables."""
    return problem(name, value, [FREE] * (n + 1), lambda x: x[n + 1], lambda x: [x[n + 1] - v for v in pieces(x)])


def haldmads(x: Any) -> list:
    found = []
    for i in range(21):
        t = -1 + 0.1 * i if i != 10 else 0
        e = (x[1] + t * x[2]) / (1 + t * x[3] + t**2 * x[4] + t**3 * x[5]) - np.exp(t) if t else x[1] - 1
        found += [e, -e]
    return found


def loads(x: Any) -> Any:
    f = 0
    for i, c in enumerate((100, 100, 20, 100, 100, 20, 20, 100, 20, 20, 20)):
        f = f + 0.009727626459143968 * (x[21 + i] / (c - x[21 + i]))
    for i in range(1, 21, 2):
        c = 10000 if i in (7, 13) else 1000
        for a, b in ((x[i], x[i + 1]), (x[i + 1], x[i])):
            f = f + 0.1556420233463036 * (a / (c - (20 * b + 80 * a))) + 0.03891050583657587 * (a / (c - (80 * b + 20 * a)))
    return f


def load_rows(x: Any) -> list:
    d = {i: x[i] - x[i + 1] for i in range(1, 21, 2)}
    return [
        d[1] - x[21] + 95, d[3] - x[22] + 95, d[5] - x[23] + 19, -d[1] - d[3] - d[5] - d[7] - x[24] + 70,
        d[7] - d[9] - d[11] - d[13] - x[25] + 70, d[9] - x[26] + 19, d[11] - x[27] + 19,
        d[13] - d[15] - d[17] - d[19] - x[28] + 70, d[15] - x[29] + 19, d[17] - x[30] + 19, d[19] - x[31] + 19,
    ]  # fmt: skip


_FCCU = (31, 36, 20, 3, 5, 3.5, 4.2, 0.9, 3.9, 2.2, 22.8, 6.8, 19, 8.5, 2.2, 2.5, 10.8, 6.5, 6.5)
_FCCU_WEIGHTS = (5, 1, 1, 3, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 3, 3, 1, 3, 3)


def hexagon(x: Any) -> Any:
    return 0.5 * (-x[1] * x[4] + x[2] * x[3] - x[3] * x[9] + x[5] * x[9] - x[5] * x[8] + x[6] * x[7])


def sides(x: Any) -> list:
    pairs = ((2, 6, 1, 5), (2, 8, 1, 7), (4, 8, 3, 7), (4, 6, 3, 5))
    return [
        1 - x[4] ** 2 - x[3] ** 2,
        1 - x[6] ** 2 - x[5] ** 2,
        1 - x[9] ** 2,
        1 - (x[2] - x[9]) ** 2 - x[1] ** 2,
        *(1 - (x[a] - x[b]) ** 2 - (x[c] - x[d]) ** 2 for a, b, c, d in pairs),
    ]


def crescent(x: Any) -> Any:
    d, a = x[3] + x[1], x[2] * x[1]
    b = x[3] + a
    first = np.arccos(-((d**2 + (a**2 - b**2)) / (2 * d * a)))
    return d**2 * first - b**2 * np.arccos((b**2 + a**2 - d**2) / (2 * b * a)) + d * a * sin(first)


_CRESCENT = ((1, 0), (0, 1), (0, -1), (0.5, 0))


def crescent_rows(x: Any) -> list:
    a = x[2] * x[1]
    u, v = a * cos(x[6]) + x[4], a * sin(x[6]) + x[5]
    return [(x[3] + x[1]) ** 2 - (u - p) ** 2 - (v - q) ** 2 for p, q in _CRESCENT] + [
        (x[4] - p) ** 2 + (x[5] - q) ** 2 - (x[3] + a) ** 2 for p, q in _CRESCENT
    ]


_CORNERS = ((0, 10), (8, 10), (12, 5), (8, 0), (0, 0))
_DISCS = ((4, 8), (8, 7), (8, 3), (4, 1), (2, 3), (2, 6))


def disc_path(x: Any) -> list:
    found = [(x[2 + 2 * i] - a) ** 2 + (x[3 + 2 * i] - b) ** 2 - x[1] ** 2 for i, (a, b) in enumerate(_CORNERS)]
    for i in range(6):
        k, (s, e) = min(i, 4), ((2 * i + 2, 2 * i + 4) if i < 4 else (10, 2))
        found += [x[12 + 2 * i + j] - x[s + j] - (x[e + j] - x[s + j]) * x[24 + k] for j in (0, 1)]
    return found


def dixon(x: Any) -> Any:
    f = 0
    for i in range(1, 8):
        f = f + 100 * (x[i + 1] - x[i] ** 2) ** 2 + (x[i] - 1) ** 2 + 90 * (x[i + 3] - x[i + 2] ** 2) ** 2 + (x[i + 2] - 1) ** 2
        f = f + 10.1 * ((x[i + 1] - 1) ** 2 + (x[i + 3] - 1) ** 2) + 19.8 * (x[i + 1] - 1) * (x[i + 3] - 1)
    return f


def product(x: list) -> Any:
    f = x[0]
    for v in x[1:]:
        f = f * v
    return f


_BK_B = (44.094, 58.12, 58.12, 137.4, 120.9, 170.9, 62.501, 84.94, 133.425, 82.507, 46.07, 60.097)
_BK_C = (123.7, 31.7, 45.7, 14.7, 84.7, 27.7, 49.7, 7.1, 2.1, 17.7, 0.85, 0.64)
_BK_COST = (0.0693, 0.0577, 0.05, 0.2, 0.26, 0.55, 0.06, 0.1, 0.12, 0.18, 0.1, 0.09)


def separation(x: Any) -> list:
    v, w = (sum(b / _BK_B[i] for i, b in enumerate(x[s : s + 12])) for s in (1, 13))
    rows = [_BK_B[i] * (40 * x[13 + i] * v - _BK_C[i] * x[1 + i] * w) for i in range(12)]
    last = sum(x[1 + i] / _BK_C[i] for i in range(12)) + 142.22470500000001 * w - 1.671
    return [*rows, sum(x[1:]) - 1, last]


def control(x: Any) -> list:
    y = [0, *x[1:10]]  # y[0] stands for 10, given
    found = [x[10] - 0.2 * x[19] + 0.04, 0.01 * x[10] ** 2 - x[10] + x[11] - 0.2 * x[20] + 0.04, x[1] - 0.2 * x[10] - 10]
    for i in range(1, 9):
        end = x[11 + i] if i < 8 else 0
        found.append(0.01 * x[10 + i] ** 2 + 0.004 * y[i] - x[10 + i] + end - 0.2 * x[20 + i])
        found.append(x[i + 1] - x[i] - 0.2 * x[10 + i])
    return found


def pressure(a: Any) -> Any:
    return 0.597053452 * a * power(np.abs(a), 0.8539)


def signed(a: Any) -> Any:
    return a * np.abs(a)


def gas(x: Any) -> list:
    return [
        signed(x[1]) - signed(x[2]) - pressure(x[8]), signed(x[3]) - signed(x[4]) - pressure(x[9]),
        signed(x[4]) - signed(x[5]) - pressure(x[10]), signed(x[6]) - signed(x[7]) - pressure(x[11]),
        x[8] - x[14], x[12] - x[8], x[9] - x[12], x[10] - x[9] + 1000, -x[10] - x[13], x[11] + x[13], -x[11] - x[15],
    ]  # fmt: skip


def cost_104(x: Any) -> Any:
    return 0.4 * power(x[1], 0.67) * power(x[3], -0.67) + 0.4 * power(x[2], 0.67) * power(x[4], -0.67) + 10 - x[1] - x[2]


_LIKE = dict(
    zip(
        (95, 105, 110, 115, 120, 125, 130, 135, 140, 145, 150, 155, 160, 165, 170, 175, 180, 185, 190, 195, 200, 205, 210, 215,
         220, 230, 235, 240, 245, 260),
        (1, 1, 4, 4, 15, 15, 15, 13, 21, 12, 17, 4, 20, 8, 17, 8, 6, 6, 7, 4, 3, 3, 8, 1, 6, 5, 1, 7, 1, 2),
        strict=True,
    )
)  # fmt: skip


def likelihood(x: Any) -> Any:
    return -sum(
        c * log(0.398942448887604 * sum(x[i] / x[6 + i] * exp(-0.5 * ((t - x[3 + i]) / x[6 + i]) ** 2) for i in (1, 2, 3)))
        for t, c in _LIKE.items()
    )


_LINEAR = (
    (85, 76, 44, 99), (82, 78, 42, 93), (75, 73, 42, 99), (74, 72, 44, 97), (76, 73, 43, 90), (74, 69, 46, 96), (73, 69, 46, 93),
    (96, 80, 36, 130), (93, 78, 36, 118), (70, 73, 37, 88), (82, 71, 46, 89), (80, 72, 45, 93), (77, 76, 42, 94),
    (67, 76, 50, 75), (82, 70, 48, 84), (76, 76, 41, 91), (74, 78, 31, 100), (71, 80, 29, 98), (70, 83, 39, 101),
    (64, 79, 38, 80),
)  # fmt: skip
_SAMBAL = {1: 15, 2: 3, 3: 130, 4: 80, 7: 15, 8: 130, 9: 20, 10: 25, 11: 40, 12: 55, 13: 220, 14: 190, 15: 105}
_WATER_FLOW = (
    1.5722267648148, 1.32004857865156, 2.57705917665854, 2.06257339263358, 2.40235218067626, 1.339, 1.37419139860501,
    1.2916134290104, 1.60230396616872, 1.339, 2.14329116080854, 1.24561882211213, 1.15157500841239, 2.06257339263358,
)  # fmt: skip
_WATER_LENGTH = (
    1526.43375224737, 1281.60056179763, 2501.99920063936, 2002.49843945008, 2332.38075793812, 1300, 1334.16640641263,
    1253.99362039845, 1555.6349186104, 1300, 2080.86520466848, 1209.33866224478, 1118.03398874989, 2002.49843945008,
)  # fmt: skip
_WATER_ARCS = ((29, 31), (29, 32), (29, 36), (30, 31), (30, 34), (30, 35), (30, 36), (31, 32), (31, 33), (31, 34), (31, 36),
               (33, 32), (34, 33), (34, 35))  # fmt: skip


def water(x: Any) -> list:
    found = [
        x[37] - x[1] - x[2] - x[3], x[38] - x[4] - x[5] - x[6] - x[7], x[1] + x[4] - x[8] - x[9] - x[10] - x[11] - 1.212,
        x[2] + x[8] + x[12] - 0.452, x[9] - x[12] + x[13] - 0.245, x[5] + x[10] - x[13] - x[14] - 0.652, x[6] + x[14],
        x[3] + x[7] + x[11] - 0.456, x[39] - (1.02 * x[37] * (x[29] - 6.5) + 1.02 * x[38] * (x[30] - 3.25)),
        x[40] - 0.069 * sum(c * power(x[15 + i], 1.29) for i, c in enumerate(_WATER_LENGTH)), x[41] - 0.2 * x[37] - 0.17 * x[38],
    ]  # fmt: skip
    for i, (c, (a, b)) in enumerate(zip(_WATER_FLOW, _WATER_ARCS, strict=True)):
        found.append(x[a] - x[b] - c * np.sqrt(x[1 + i] ** 2) * x[1 + i] / power(x[15 + i], 5.33))
    return found


def azeotrope_6(x: Any) -> list:
    y, t = x[:3], x[3]
    r, q, own = weighted((2.11, 3.19, 0.92), y), weighted((1.97, 2.4, 1.4), y), weighted((0.92, 2.4, 1), y)
    big = (
        (0.92, 0.120222883700913, 0.31896673275906),
        (1.35455252519754, 2.4, 0.707809655896681),
        (1.11673022524774, 0.00499065620537111, 1),
    )
    s = [weighted(row, y) for row in big]
    rows = (
        (8.85, (-0.865100000000001, 3.7136, -4.8952), 0.92, (0.92, 3.53361528312402, 1.21383720135623),
         (3803.98, 231.47, 12.8590236275375)),
        (11, (-1.3079, 5.6144, -7.4008), 2.4, (0.0460854387520165, 2.4, 0.0020794400855713), (2788.51, 220.79, 11.1728763302021)),
        (6, (-0.3772, 1.6192, -2.1344), 1, (0.293449394138336, 1.69874317415203, 1), (3816.44, 227.02, 13.2058768767024)),
    )  # fmt: skip
    return [
        c * log(r) - (c + 1) * log(q) - weighted(d, y) / r - e * log(s[i]) + e * log(own)
        - e * sum(g[j] * y[j] / s[j] for j in range(3)) - a[0] / (a[1] + t) + a[2]
        for i, (c, d, e, g, a) in enumerate(rows)
    ]  # fmt: skip


def azeotrope_9(x: Any) -> list:
    a, b, t = x[0], x[1], x[2]
    r, q = 2.1055 * a + 4.0456 * b, 1.972 * a + 3.236 * b
    v, w = 1.52337552625369 * a + 3.236 * b, 1.17581829697036 * a + 0.197740576646344 * b
    return [
        8.86 * log(r) - 7.888 * log(q) - (2.1105532 * b - 0.922208999999999 * a) / r - (0.848 * log(v) + 1.124 * log(w))
        - ((1.29182244626313 * a + 1.29182244626313 * b) / v + 3.29049113670798 * b / v + 0.347329619985842 * b / v
           + 1.32161976579469 * a / w) - 3803.98 / (231.47 + t) + 13.1111702786953,
        15.18 * log(r) - 12.944 * log(q) - (4.05530944 * b - 1.7719728 * a) / r
        - (0.848 * log(v) + 2.16 * log(v) + 0.228 * log(v))
        - ((2.744128 * a + 2.744128 * b) / v + 6.98976 * b / v + 0.737808 * b / v + 0.222260408150491 * a / w)
        - 2735.58621973158 / (226.276 + t) + 11.2003192377536,
    ]  # fmt: skip


def aeroplane(x: Any) -> Any:
    """avion2: squares of equations of preliminary design."""
    return (
        (x[7] - 0.01 * x[2] * x[1]) ** 2 + (x[11] - (x[14] - x[13] - x[12] * x[9]) / x[9] ** 2) ** 2
        + (-2 * x[10] + x[13] + x[14] + 0.01 * x[3] / x[9]) ** 2 + (x[10] - 0.025 * x[13] * x[12] ** 2 / x[11]) ** 2
        + (x[15] - 27.5 * x[6] - 1.3 * x[6] ** 2) ** 2 + (x[16] - 70 * x[7] + 8.6 * x[7] ** 2) ** 2
        + (-1000 + x[17] + x[19] ** 2 / 24000) ** 2 + (1000 * x[18] - x[21] * x[22]) ** 2
        + (x[26] * x[18] + (2 + x[28] + x[23] + x[30] / 790 - x[27] / x[24])) ** 2
        + (-12 * np.sqrt(x[18]) + (x[31] - 1000 * x[18] / (x[25] + 20))) ** 2 + (x[8] - 1.25 * x[1] * x[37]) ** 2
        + (x[1] - x[21] / x[32]) ** 2 + (x[29] - 2.4 * x[4] * np.sqrt(x[4]) * x[33] / np.sqrt(x[5])) ** 2
        + (x[13] - 0.785 * x[34] ** 2 * x[18]) ** 2 + (x[14] - 0.785 * x[35] ** 2 * x[18]) ** 2
        + (x[12] - 2 * (x[28] - x[11] * x[9] ** 3) / (x[9] ** 2 * (3 - x[13] * x[9]))) ** 2
        + (x[36] - 1.15 * x[4] * (0.15 * x[4] + 15) * (power(x[20] * x[5] / (50 * x[1] * x[33]), 1.5) + 8)) ** 2
    )  # fmt: skip


_AVION = (
    (10, 150), (0, 10), (0, 5), (7, 120), (1.5, 8), (2, 20), (2, 30), (30, 500), (0.01, 20), (0, 10), (-0.2, -0.001), (0.1, 2),
    (0, 1), (0, 2), (100, 1000), (500, 5000), (1000, 20000), (2, 30), (2000, 20000), (3000, 30000), (5000, 50000), (0.2, 0.8),
    (0, 20), (100, 400), (4, 15), (0, 10), (500, 10000), (10, 50), (250, 5000), (750, 15000), (10, 5000), (100, 1000), (2, 20),
    (0, 1), (0, 2), (500, 5000), (1, 2), (0, 10), (20, 200), (500, 5000), (1, 5), (250, 3000), (35, 70), (100, 3000), (200, 400),
    (120, 240), (700, 1900), (1, 2), (1, 2),
)  # fmt: skip

TABLE = [
    problem(
        "lotschd",
        2398.4,
        [HALF] * 12,
        lambda x: sum((c * v) ** 2 for c, v in zip((1.502, 1.126, 0.815, 1.268, 1.502, 0.74), x[1:7], strict=True)),
        None,
        lambda x: [
            1.8 * x[1] - x[7] - 11, 2.2 * x[2] - x[3] - 2 * x[8] - x[9] - 3,
            -x[1] - x[2] + 5.1 * x[3] - sum(x[4:9]) - 2 * x[9] - x[10] - x[11] - x[12] - 20,
            -x[1] + 2.2 * x[4] - x[5] - x[6] - x[7] - 2 * x[10] - x[11] - x[12] - 17, -x[1] + 1.8 * x[5] - x[7] - x[11] - 9,
            -sum(x[1:6]) + 7.4 * x[6] - sum(x[7:]) - 20, sum(x[1:]) - 126.1,
        ],  # fmt: skip
    ),
    problem(
        "matrix2",
        0,
        [HALF, FREE, HALF, (-FAR, 0), FREE, (-FAR, 0)],
        lambda x: (x[1] - x[4]) ** 2 + 2 * (x[2] - x[5]) ** 2 + (x[3] - x[6]) ** 2,
        lambda x: [x[1] * x[3] - x[2] ** 2, x[5] ** 2 - x[4] * x[6]],
    ),
    problem(
        "pentagon",
        1.3652e-4,
        [(-FAR, 1)] * 3 + [FREE] * 3,
        lambda x: sum(1 / ((x[a + 3] - x[b + 3]) ** 2 + (x[a] - x[b]) ** 2) ** 8 for a, b in ((1, 2), (1, 3), (3, 2))),
        lambda x: [
            1 - c * x[i] - s * x[i + 3]
            for i in (1, 2, 3)
            for c, s in (
                (0.3090169943749475, 0.9510565162951536),
                (-0.8090169943749473, 0.5877852522924733),
                (-0.8090169943749475, -0.587785252292473),
                (0.3090169943749473, -0.9510565162951536),
            )
        ],
    ),
    problem(
        "rk23",
        0.0833333,
        [FREE] * 11 + [HALF] * 6,
        lambda x: sum(x[12:]),
        None,
        lambda x: [
            x[5] * x[2] + x[4] * x[1] - 0.5, x[7] * x[2] + x[6] * x[1] - 0.5, x[7] * x[2] ** 2 + x[6] * x[1] ** 2 - 1 / 3,
            x[7] * x[3] * x[1] - 1 / 6, 4 * x[7] * x[2] ** 3 + 4 * x[6] * x[1] ** 3 + x[12] - x[13] - 1,
            8 * x[7] * x[2] * x[3] * x[1] + x[14] - x[15] - 1, 12 * x[7] * x[3] * x[1] ** 2 + x[16] - x[17] - 1,
            x[8] - x[1], x[3] - x[2] + x[9], x[4] + x[5] + x[10] - 1, x[6] + x[7] + x[11] - 1,
        ],  # fmt: skip
    ),
    largest("haldmads", 1.2237e-4, 5, haldmads),
    problem(
        "loadbal",
        0.45285,
        [HALF] * 20 + [(0, c - 0.01) for c in (100, 100, 20, 100, 100, 20, 20, 100, 20, 20, 20)],
        loads,
        lambda x: [
            (9999.99 if i in (7, 13) else 999.99) - 20 * a - 80 * b
            for i in range(1, 21, 2)
            for a, b in ((x[i], x[i + 1]), (x[i + 1], x[i]))
        ],
        load_rows,
    ),
    problem(
        "fccu",
        11.1491,
        [FREE] * 19,
        lambda x: sum(w * (v - c) ** 2 for w, v, c in zip(_FCCU_WEIGHTS, x[1:], _FCCU, strict=True)),
        None,
        lambda x: [
            x[1] - x[2] + x[9], x[2] - x[3] - x[4] - x[5] - x[6] - x[7], x[7] - x[8] - x[9], x[3] - x[10] - x[11] + x[14],
            x[11] - x[12] - x[13], x[13] - x[14] - x[17], x[12] - x[15] - x[16], x[17] - x[18] - x[19],
        ],  # fmt: skip
    ),
    problem(
        "hs108",
        None,
        [FREE] * 8 + [HALF],
        hexagon,
        lambda x: [
            *sides(x), 1 - (x[8] - x[9]) ** 2 - x[7] ** 2, x[1] * x[4] - x[2] * x[3], x[3] * x[9], -x[5] * x[9],
            x[5] * x[8] - x[6] * x[7],
        ],  # fmt: skip
    ),
    problem(
        "mistake",
        -1,
        [FREE] * 9,
        hexagon,
        lambda x: [*sides(x), 1 - x[8] * x[9] - x[7] ** 2, x[8] * x[9], x[5] * x[8] - x[6] * x[7], x[1] * x[4] - x[2] * x[3],
                   x[5] * x[9]],
    ),  # fmt: skip
    largest(
        "polak2",
        54.598,
        10,
        lambda x: [
            exp(1e-8 * x[1] ** 2 + (x[2] + s) ** 2 + x[3] ** 2 + 4 * x[4] ** 2 + sum(v**2 for v in x[5:11])) for s in (2, -2)
        ],
    ),
    largest(
        "polak3",
        5.93300,
        11,
        lambda x: [sum(exp((x[j] - np.sin(i + 1 + 2 * j)) ** 2) / j for j in range(1, 12)) for i in range(-1, 9)],
    ),
    largest(
        "polak4",
        0,
        2,
        lambda x: [
            2 * x[1] ** 2 + 2 * x[2] ** 2 - x[1] - 1,
            0.01 * (x[1] ** 2 + x[2] ** 2) - 0.01,
            100000 * (x[1] - 2) ** 2 + x[2] ** 2 - 100000,
        ],
    ),
    largest("polak5", 50, 2, lambda x: [3 * x[1] ** 2 + 50 * (x[1] - x[2] ** 4 + s) ** 2 for s in (-1, 1)]),
    problem("cresc4", 0.871897, [(1e-8, FAR), (1, FAR), (0.39, FAR), FREE, FREE, (0, 6.2831852)], crescent, crescent_rows),
    problem(
        "disc2",
        1.5625,
        [(0, 3)] + [FREE] * 22 + [(0, 1)] * 5,
        lambda x: x[1],
        lambda x: [x[1] ** 2 - (x[12 + 2 * i] - a) ** 2 - (x[13 + 2 * i] - b) ** 2 for i, (a, b) in enumerate(_DISCS)],
        disc_path,
    ),
    problem("dixchlng", 0, [FREE] * 10, dixon, None, lambda x: [product(x[1 : 2 * k + 1]) - 1 for k in range(1, 6)]),
    problem(
        "himmelbk",
        0.0518143,
        [HALF] * 24,
        lambda x: sum(c * (x[1 + i] + x[13 + i]) for i, c in enumerate(_BK_COST)),
        None,
        separation,
    ),
    problem(
        "odfits",
        -2380.0268,
        [(0.1, FAR)] * 10,
        lambda x: sum(
            w * (v * log(v / c) - v)
            for w, v, c in zip(
                (0.5, 0.5, 0.5, 0.2, *[2 / 3] * 6), x[1:], (90, 450, 360, 1, 100, 500, 400, 1100, 600, 700), strict=True
            )
        ),
        None,
        lambda x: [x[1] - x[5], x[2] - x[6], x[3] - x[7], x[2] + x[3] + x[4] - x[8], x[3] + x[4] - x[9], x[4] - x[10]],
    ),
    problem(
        "optcntrl",
        550,
        [FREE] * 8 + [HALF] + [(-1, FAR)] * 9 + [(-0.2, 0.2)] * 10,
        lambda x: 0.5 * sum(v * v for v in x[1:10]) + 100,
        lambda x: [0.5 * sum(v * v for v in x[1:10]) + 100],
        control,
    ),
    problem(
        "mconcon",
        -6230.795,
        [(-FAR, 914.73), FREE, (-FAR, 904.73), FREE, (-FAR, 904.73), FREE, (-FAR, 914.73), *[FREE] * 7, (-FAR, 400)],
        lambda x: -sum(x[1:8]),
        None,
        gas,
    ),
    problem(
        "robot7",
        5.4628412,
        [FREE] * 7,
        lambda x: sum(v**2 for v in x[1:]),
        None,
        lambda x: [sum(g(v) for v in x[1:7]) + 0.5 * g(x[7]) - 4 for g in (cos, sin)],
    ),
    problem(
        "hs104",
        3.9511634,
        [(0.1, 10)] * 8,
        cost_104,
        lambda x: [
            1 - 0.0588 * x[5 + 2] * x[3] - 0.1 * x[1], 1 - 0.0588 * x[8] * x[4] - 0.1 * x[1] - 0.1 * x[2],
            *(1 - 4 * x[5 + i] / x[7 + i] - 2 / (power(x[5 + i], 0.71) * x[7 + i]) - 0.0588 * x[3 + i] / power(x[5 + i], 1.3)
              for i in (0, 1)),
            cost_104(x) - 0.1, 4.2 - cost_104(x),
        ],
    ),  # fmt: skip
    problem("avion2", 9.4680e7, list(_AVION), aeroplane, None, lambda x: [
        x[6] - 0.13 * x[1], x[4] - 0.7 * x[1], x[5] - x[38], x[39] - 2 * x[4] - 2 * x[6] - 2 * x[7] - x[8], x[40] - 20 * x[39],
        x[21] - 2 * x[19], x[30] - x[17] - x[29], x[42] - 0.137 * x[19], x[43] - 35 * x[37], x[44] - 0.043 * x[17],
        x[45] - 200 * x[48], x[46] - 120 * x[49], x[47] - 300 * x[41] - 400,
        0.5 * x[17] - x[19] + x[20] + 660 * x[37] + 95 * x[48] + 70 * x[49] - 380,
        x[27] - x[42] + x[43] + x[44] + x[45] + x[46] + x[47] + 290,
    ]),  # fmt: skip
    problem(
        "ex9_1_5",
        -1,
        [HALF] * 13,
        lambda x: -x[2] + 10 * x[3] - x[4],
        None,
        lambda x: [
            x[2] + x[3] + x[5] - 1, x[2] + x[4] + x[6] - 1, x[3] + x[4] + x[7] - 1, x[8] - x[3], x[9] - x[4],
            *(x[5 + i] * x[10 + i] for i in range(5)), x[10] + x[12] - x[13] - 1, x[11] + x[12] - x[14] - 1,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex9_2_2",
        100,
        [(0, 15)] * 2 + [(0, 20)] * 8,
        lambda x: x[2] ** 2 + (x[3] - 10) ** 2,
        lambda x: [x[2] - x[3]],
        lambda x: [
            x[2] + x[3] + x[4] - 20, x[5] - x[3], x[3] + x[6] - 20, *(x[4 + i] * x[8 + i] for i in range(4)),
            2 * x[2] + 4 * x[3] + x[8] - x[9] + x[10] - 60,
        ],  # fmt: skip
        2,
    ),
    problem(
        "ex9_2_3",
        0,
        [FREE] * 2 + [(0, 50), (0, 50)] + [(0, 200)] * 12,
        lambda x: -3 * x[1] - 3 * x[2] + 2 * x[3] + 2 * x[4] - 60,
        lambda x: [40 - x[1] + 2 * x[2] - x[3] - x[4]],
        lambda x: [
            2 * x[1] - x[3] + x[5] + 10, 2 * x[2] - x[4] + x[6] + 10, x[7] - x[1] - 10, x[1] + x[8] - 20, x[9] - x[2] - 10,
            x[2] + x[10] - 20, *(x[5 + i] * x[11 + i] for i in range(6)), 2 * x[1] - 2 * x[3] + 2 * x[11] - x[13] + x[14] + 40,
            2 * x[2] - 2 * x[4] + 2 * x[12] - x[15] + x[16] + 40,
        ],  # fmt: skip
    ),
    problem(
        "ex9_2_5",
        5,
        [FREE, (0, 8)] + [HALF] * 6,
        lambda x: (x[2] - 3) * (x[2] - 3) + (x[1] - 2) * (x[1] - 2),
        None,
        lambda x: [
            x[1] - 2 * x[2] + x[3] - 1, -2 * x[1] + x[2] + x[4] - 2, 2 * x[1] + x[2] + x[5] - 14,
            *(x[3 + i] * x[6 + i] for i in range(3)), 2 * x[1] + x[6] - 2 * x[7] + 2 * x[8] - 10,
        ],  # fmt: skip
    ),
    problem(
        "ex9_2_8",
        1.5,
        [(0, 1), HALF, (0, 20), (0, 20), HALF, HALF],
        lambda x: 3 * x[3] - 4 * x[2] * x[3] + 2 * x[2] + 1,
        None,
        lambda x: [x[4] - x[3], x[3] + x[5] - 1, x[6] * x[4], x[7] * x[5], 4 * x[2] - x[6] + x[7] - 1],
        2,
    ),
    problem(
        "himmel11",
        -30665.539,
        [(0, 92), (90, 110), (20, 25), HALF, (78, 102), (33, 45), (27, 45), (27, 45), (27, 45)],
        lambda x: 5.3578547 * x[7] ** 2 + 0.8356891 * x[5] * x[9] + 37.293239 * x[5] + 5000 * x[4] - 40792.141,
        lambda x: [5 * x[4] - x[5] + 7 * x[7] - x[9]],
        lambda x: [
            x[1] + 2 * x[4] - 85.334407 - (0.0056858 * x[6] * x[9] + 0.0006262 * x[5] * x[8] - 0.0022053 * x[7] * x[9]),
            x[2] - 80.51249 - (0.0071317 * x[6] * x[9] + 0.0029955 * x[5] * x[6] + 0.0021813 * x[7] ** 2),
            x[3] + 4 * x[4] - 9.300961 - (0.0047026 * x[7] * x[9] + 0.0012547 * x[5] * x[7] + 0.0019085 * x[7] * x[8]),
        ],
    ),
    problem(
        "like",
        1138.41,
        [(0.1, FAR)] * 3 + [HALF] * 6,
        likelihood,
        lambda x: [x[5] - x[4], x[6] - x[5]],
        lambda x: [x[1] + x[2] + x[3] - 1],
    ),
    problem(
        "linear",
        89,
        [(-100, 100)] * 20 + [FREE] * 4,
        lambda x: sum(np.abs(v) for v in x[1:21]),
        None,
        lambda x: [x[1 + i] + x[21] + a * x[22] + b * x[23] + c * x[24] - d for i, (a, b, c, d) in enumerate(_LINEAR)],
    ),
    problem(
        "sambal",
        3.96822,
        [FREE] * 15,
        lambda x: sum((c - x[i]) ** 2 / c for i, c in _SAMBAL.items()),
        None,
        lambda x: [
            x[13] - x[1] - x[2] - x[3] - x[4], x[14] - x[7] - x[8] - x[9], x[15] - x[10] - x[11] - x[12], x[13] - x[5] - x[6],
            x[5] - x[1] - x[7] - x[10], x[6] - x[2] - x[8] - x[11], x[14] - x[3] - x[12], x[15] - x[4] - x[9],
        ],  # fmt: skip
    ),
    problem(
        "water",
        None,  # 907.017 is published, but there are better points
        [FREE] * 14 + [(0.15, 2)] * 14 + [(v, FAR) for v in (6.5, 3.25, 16.58, 14.92, 12.925, 12.26, 8.76, 16.08)]
        + [(0, 2.5), (0, 6)] + [FREE] * 3,
        lambda x: 10 * x[39] + x[40] + 10 * x[41],
        None,
        water,
    ),  # fmt: skip
    azeotrope("ex14_2_6", azeotrope_6, 3, 40, 90),
    azeotrope("ex14_2_9", azeotrope_9, 2, 40, 90),
]
