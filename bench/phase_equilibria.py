"""Phase equilibria of GLOBALLib (Floudas et al. 1999, chapters 6, 8.5 and 14.2) that are not in the gallery.

Unbounded variables end at 1e8, as in the constrained problems of the COCONUT benchmark.
"""

from typing import Any

import numpy as np

from bench.book_problem import Book

FAR = 1e8
log = np.log


def both(rows: list, u: Any) -> list:
    """|row| <= u for all rows."""
    return [s for v in rows for s in (u - v, u + v)]


def weighted(a: tuple, x: tuple) -> Any:
    return sum(c * v for c, v in zip(a, x, strict=True))


def total(x: Any, k: int, sums: tuple) -> list:
    """Of each component, k amounts stand side by side; their sum is given."""
    return [sum(x[k * i + j] for j in range(k)) - s for i, s in enumerate(sums)]


def amounts(k: int, sums: tuple, least: float = 1e-7) -> list[tuple[float, float]]:
    return [(least, s) for s in sums for _ in range(k)]


def uniquac(x: tuple, q: tuple, r: tuple, d: tuple, z: tuple, y: tuple, t: tuple, own: tuple, taus: tuple, all_: tuple) -> Any:
    """A liquid phase as GLOBALLib writes it: all products expanded."""
    s, v, w = weighted(r, x), weighted(z, x), weighted(own, x)
    f = weighted(q, x) * log(s) + weighted(d, x)
    f = f + sum(c * a * log(a) for c, a in zip(y, x, strict=True)) - sum(c * a * log(s) for c, a in zip(y, x, strict=True))
    f = f + sum(c * a * log(a) for c, a in zip(t, x, strict=True)) - sum(c * a * log(v) for c, a in zip(t, x, strict=True))
    f = f + w * log(w) + sum(c * a * log(a) for c, a in zip(own, x, strict=True))
    f = f - sum(c * a * log(weighted(tau, x)) for c, a, tau in zip(own, x, taus, strict=True))
    return f - sum(c * a * log(a) for c, a in zip(all_, x, strict=True))


_ESTER = (
    (26.9071667605344, 41.7710875549227, 6.30931398488382),
    (3.9235, 6.0909, 0.92),
    (0.668686155614739, -1.14374230885457, 2.8906196099828),
    (3.664, 5.168, 1.4),
    (9.58716676053442, 16.9310875549227, 0.309313984883821),
    (18.32, 25.84, 7),
    (4.0643, 5.7409, 1.6741),
    (
        (4.0643, 3.22644664511275, 1.44980651607875),
        (5.31147575751424, 5.7409, 0.00729924451284409),
        (2.25846661774355, 3.70876916588753, 1.6741),
    ),
    (30.9714667605344, 47.5119875549227, 7.98341398488382),
)
_ESTER_5 = (*_ESTER[:2], (0.113370955614741 - 0.3658348, -2.43897680885457 - 0.9825555, 2.8555953099828 - 0.3663657), *_ESTER[3:])
_SEVEN = (
    (10.4807341082197, 38.5043409542885, 8.73945638067505),
    (2.4088, 8.8495, 2.0086),
    (0.102582206615077, -4.55292602721008, 0.0196376909050935),
    (2.248, 7.372, 1.868),
    (0.240734108219679, 2.64434095428848, 0.399456380675047),
    (11.24, 36.86, 9.34),
    (2.248, 7.372, 1.868),
    (
        (2.248, 5.82088173817021, 0.382446861901943),
        (0.972461133672523, 7.372, 1.1893141713454),
        (1.86752460515164, 2.61699842799583, 1.868),
    ),
    (12.7287341082197, 45.8763409542885, 10.607456380675),
)


def three(x: Any, k: int, j: int) -> tuple:
    """Phase j of k, three components."""
    return x[j], x[k + j], x[2 * k + j]


def vapour(x: Any) -> Any:
    a = three(x, 3, 2)
    return sum(v * (0.156969560191053 + log(v / (a[0] + a[1] + a[2]))) for v in a)


def water_9(a: Any, b: Any) -> Any:
    s, v = 4.8274 * a + 0.92 * b, 4.196 * a + 1.4 * b
    w = 7.52678200680961 * a + 0.443737968424621 * b
    return (
        (31.4830434782609 * a + 6 * b) * log(s) - 1.36551138119385 * a + 2.8555953099828 * b + 11.5030434782609 * a * log(a / s)
        + 20.98 * a * log(a / v) + 7 * b * log(b / v) + v * log(v) + 1.62 * a * log(a / w) + 0.848 * a * log(a / w)
        + 1.728 * a * log(a / (1.82245052351472 * a + 1.4300083598626 * b))
        + 1.4 * b * log(b / (0.504772348000588 * a + 1.4 * b)) - 35.6790434782609 * a * log(a) - 7.4 * b * log(b)
    )  # fmt: skip


def methanol_11(a: Any, b: Any, c: Any) -> Any:
    s, v = 2.1055 * a + 3.1878 * b + 0.92 * c, 1.972 * a + 2.4 * b + 1.4 * c
    return (
        (15.3261663216011 * a + 23.2043471859416 * b + 6.69678129464404 * c) * log(s)
        + 1.04055250396734 * a - 2.24199441248417 * b + 3.1618173099828 * c
        + 6.4661663216011 * a * log(a / s) + 12.2043471859416 * b * log(b / s) + 0.696781294644034 * c * log(c / s)
        + 9.86 * a * log(a / v) + 12 * b * log(b / v) + 7 * c * log(c / v) + v * log(v)
        + 1.972 * a * log(a / (1.972 * a + 0.283910843616504 * b + 3.02002220174195 * c))
        + 2.4 * b * log(b / (1.45991339466884 * a + 2.4 * b + 0.415073537580851 * c))
        + 1.4 * c * log(c / (0.602183324335333 * a + 0.115623371371275 * b + 1.4 * c))
        - 17.2981663216011 * a * log(a) - 25.6043471859416 * b * log(b) - 8.09678129464404 * c * log(c)
    )  # fmt: skip


def octane_12(a: Any, b: Any) -> Any:
    v = 8 * a + 1.6 * b
    return (
        a * log(a / (8 * a + b)) + b * log(b / (8 * a + b)) + 0.0696225416798359 * a + 0.752006 * b + v * log(v)
        + 5 * a * log(a / (5.00000397494442 * a + 0.480353357956269 * b))
        + 3 * a * log(a / (8.96062592375197 * a + 1.13841069150863 * b))
        + 1.6 * b * log(b / (1.69889877049372 * a + 1.6 * b)) - 8 * a * log(a) - 1.6 * b * log(b)
    )  # fmt: skip


def benzene_13(a: Any, b: Any, c: Any) -> Any:
    s, v = 3 * a + 6 * b + c, 3 * a + 6 * b + 1.6 * c
    return (
        a * log(a / s) + b * log(b / s) + c * log(c / s) - 0.80323071133189 * a + 1.79175946922805 * b + 0.752006 * c
        + v * log(v) + 2 * a * log(a / (2.00000019368913 * a + 4.64593 * b + 0.480353 * c))
        + a * log(a / (1.00772874182154 * a + 0.724703350369523 * b + 0.947722362492017 * c))
        + 6 * b * log(b / (3.36359157977228 * a + 6 * b + 1.13841069150863 * c))
        + 1.6 * c * log(c / (1.6359356134845 * a + 3.39220996773471 * b + 1.6 * c))
        - 3 * a * log(a) - 6 * b * log(b) - 1.6 * c * log(c)
    )  # fmt: skip


def wilson(gamma: tuple, antoine: tuple) -> Any:
    """ln(row of gamma) + the sum of its column's shares + a/(b + T) - c, for each component."""

    def rows(x: Any) -> list:
        n = len(gamma)
        sums = [weighted(row, x[:n]) for row in gamma]
        t = x[n]
        return [
            log(sums[i]) + sum(gamma[j][i] * x[j] / sums[j] for j in range(n)) + a / (b + t) - c
            for i, (a, b, c) in enumerate(antoine)
        ]

    return rows


ETHANOL = (3643.31361767678, 239.726, 12.9738026256517)
BENZENE = (2755.64173589155, 219.161, 10.2081676704566)
_WILSON_3 = wilson(
    (
        (1, 1.2689544013438, 0.696334182309743, 0.590071729272002),
        (1.55190688128384, 1, 0.696676834276998, 1.27289874839144),
        (0.767395887387844, 0.176307940228365, 1, 0.187999658986436),
        (0.989870205661735, 0.928335072476283, 0.308103094315467, 1),
    ),
    ((2787.49800065313, 229.664, 10.7545020354713), (2696.24885600287, 226.232, 10.3803549837107), ETHANOL, BENZENE),
)


def azeotrope_2(x: Any) -> list:
    a, b = x[0], 1 - x[0]
    s, v, t = a + 0.191987347447993 * b, 0.315693799947296 * a + b, x[1]
    return [
        log(s) + a / s + 0.315693799947296 * b / v + ETHANOL[0] / (ETHANOL[1] + t) - ETHANOL[2],
        log(v) + 0.191987347447993 * a / s + b / v + BENZENE[0] / (BENZENE[1] + t) - BENZENE[2],
    ]


def nrtl(tau: tuple, big: tuple, antoine: tuple) -> Any:
    """The rows of an NRTL model: tau[j][i] * x[i] over big[j] @ x, its square, and the vapour pressure."""

    def rows(x: Any) -> list:
        n = len(tau)
        s, p, t = [weighted(g, x[:n]) for g in big], [weighted(u, x[:n]) for u in tau], x[n]
        found = []
        for i, (a, b, c) in enumerate(antoine):
            first = p[i] / s[i] + sum(tau[j][i] * x[j] / s[j] for j in range(n) if j != i)
            second = sum(big[j][i] * x[j] * p[j] / s[j] ** 2 for j in range(n))
            found.append(first - second - a / (b + t) + c)
        return found

    return rows


_NRTL_4 = nrtl(
    (
        (0, 0.549337520233386, 1.1263896788319),
        (0.0910522583583458, 0, 1.03765878646318),
        (-0.273994101407968, 0.692718766203089, 0),
    ),
    (
        (1, 0.816722116903399, 0.538540530229217),
        (0.972203312166101, 1, 0.394821041898112),
        (1.07810138009609, 0.707289137797622, 1),
    ),
    (
        (3667.70490156687, 226.184, 12.0457123581059),
        (2904.34268119711, 221.969, 9.63112952618865),
        (3984.92283948829, 233.426, 11.9515596536534),
    ),
)
_NRTL_5 = nrtl(
    ((0, 0.361872516756437), (0.868134622480909, 0)),
    ((1, 0.888649896608059), (0.696880695582072, 1)),
    ((2755.64173589155, 219.161, 9.20816767045657), (4117.06819797521, 227.438, 12.6599269316621)),
)
_UNI_7 = (
    (8.85, (-0.865100000000001, 3.8613, 3.7136, -0.632999999999999), 0.92,
     (0.92, 5.42978509857797, 3.53361528312402, 5.92791255201582), (3803.98, 231.47, 12.8590236275375)),
    (14.05, (-1.6277, 7.26510000000001, 6.9872, -1.191), 3.01,
     (0.0228107346172588, 3.01, 1.48314676153655, 7.51049429784342), (2735.58621973158, 226.276, 11.2296864040814)),
    (11, (-1.3079, 5.83770000000001, 5.6144, -0.956999999999998), 2.4,
     (0.0460854387520165, 3.66171411047386, 2.4, 4.17479603222384), (2788.51, 220.79, 11.1728763302021)),
    (18.3, (-1.845, 8.23500000000001, 7.92, -1.35), 3.86,
     (0.0384207236678868, 1.32677810541474, 1.64761511983392, 3.86), (2739.24733002944, 226.28, 11.3821403387577)),
)  # fmt: skip
_SUMS_7 = (
    (0.92, 0.074630773041249, 0.120222883700913, 0.161199992780481),
    (1.65960208993081, 3.01, 2.91963915785291, 1.70144966342223),
    (1.35455252519754, 1.86011323009376, 2.4, 2.64991431773289),
    (1.41287034918512, 5.85662897318878, 2.5957281029371, 3.86),
)


def uniquac_7(x: Any) -> list:
    y, t = x[:4], x[4]
    r, q = weighted((2.11, 3.97, 3.19, 4.5), y), weighted((1.97, 3.01, 2.4, 3.86), y)
    own, s = weighted((0.92, 3.01, 2.4, 3.86), y), [weighted(row, y) for row in _SUMS_7]
    return [
        c * log(r) - (c + 1) * log(q) - weighted(d, y) / r - e * log(s[i]) + e * log(own)
        - e * sum(g[j] * y[j] / s[j] for j in range(4)) - a[0] / (a[1] + t) + a[2]
        for i, (c, d, e, g, a) in enumerate(_UNI_7)
    ]  # fmt: skip


def azeotrope(name: str, rows: Any, n: int, least: float, most: float) -> Book:
    """Composition (adding to 1), temperature, and the largest residual, which is minimised."""
    return Book(
        name,
        lambda x: x[n + 1],
        lambda x: both(rows(x), x[n + 1]),
        lambda x: [sum(x[i] for i in range(n)) - 1],
        [(1e-6, 1.0)] * n + [(least, most), (0.0, FAR)],
        0,
    )


def wilson_objective(x: Any) -> Any:
    f = 0
    for j in (0, 1):
        a, b, c = three(x, 2, j)
        s = a + b + c
        f = f + sum(v * (log(v) - log(s)) for v in (a, b, c))
        p, q, r = (x[6 + 2 * i + j] for i in range(3))
        f = f + a * (1.44805026165593 * q + 0.989428667054834 * r) + b * (1.12676386427658 * p + 1.00363012835441 * r)
        f = f + c * (0.0347225450624344 * p + 0.82681418300153 * q)
    return f


def wilson_rows(x: Any) -> list:
    found = []
    for j in (0, 1):
        a, b, c = three(x, 2, j)
        found += [
            x[6 + j] * (a + 0.145002897355373 * b + 0.989528214945409 * c) - a,
            x[8 + j] * (0.293701311601799 * a + b + 0.646291923054068 * c) - b,
            x[10 + j] * (0.619143628558899 * a + 0.239837817616513 * b + c) - c,
        ]
    return found + total(x, 2, (0.2995, 0.1998, 0.4994))


def quadratic_mix(a: tuple, x: Any) -> Any:
    return sum(c * x[i] * x[j] for i, row in enumerate(a) for j, c in enumerate(row))


ROOT = 0.353553390593274


def peng(z: Any, a: Any, b: Any) -> Any:
    return -log(z - b) + z - ROOT * a * log((z + 2.41421356237309 * b) / (z - 0.414213562373095 * b)) / b - 1


def peng_root(z: Any, a: Any, b: Any) -> Any:
    return z**3 - (1 - b) * z**2 + (-3 * b**2 - 2 * b + a) * z - a * b + b**3 + b**2


_A2 = ((0.37943, 0.75885, 0.48991), (0.75885, 0.8836, 0.23612), (0.48991, 0.23612, 0.63263))
_A6 = ((0.142724, 0.206577, 0.342119), (0.206577, 0.323084, 0.547748), (0.342119, 0.547748, 0.968906))

TABLE = [
    Book("ex6_1_3", wilson_objective, None, wilson_rows, amounts(2, (0.2995, 0.1998, 0.4994)) + [(0, FAR)] * 6, -0.35249812),
    Book(
        "ex6_2_5",
        lambda x: vapour(x) + uniquac(three(x, 3, 0), *_ESTER_5) + uniquac(three(x, 3, 1), *_ESTER_5),
        None,
        lambda x: total(x, 3, (40.30707, 5.14979, 54.54314)),
        amounts(3, (40.30707, 5.14979, 54.54314)),
        -70.752078,
    ),
    Book("ex6_2_6", lambda x: uniquac(three(x, 1, 0), *_ESTER), None, lambda x: total(x, 3, (1,)), [(1e-6, 1)] * 3, -2.60326e-6),
    Book(
        "ex6_2_7",
        lambda x: sum(uniquac(three(x, 3, j), *_SEVEN) for j in range(3)),
        None,
        lambda x: total(x, 3, (0.4, 0.1, 0.5)),
        amounts(3, (0.4, 0.1, 0.5)),
        -0.16084763,
    ),
    Book(
        "ex6_2_9",
        lambda x: water_9(x[0], x[2]) + water_9(x[1], x[3]),
        None,
        lambda x: total(x, 2, (0.5, 0.5)),
        amounts(2, (0.5, 0.5)),
        -0.034066184,
    ),
    Book("ex6_2_11", lambda x: methanol_11(x[0], x[1], x[2]), None, lambda x: total(x, 3, (1,)), [(1e-6, 1)] * 3, -2.67238e-6),
    Book(
        "ex6_2_12",
        lambda x: octane_12(x[0], x[2]) + octane_12(x[1], x[3]),
        None,
        lambda x: total(x, 2, (0.5, 0.5)),
        amounts(2, (0.5, 0.5)),
        0.28919477,
    ),
    Book(
        "ex6_2_13",
        lambda x: benzene_13(*three(x, 2, 0)) + benzene_13(*three(x, 2, 1)),
        None,
        lambda x: total(x, 2, (0.08, 0.3, 0.62)),
        amounts(2, (0.08, 0.3, 0.62)),
        -0.21620762,
    ),
    Book(
        "ex8_5_2",
        lambda x: (
            sum(x[i] * log(x[i]) for i in range(3)) + x[5] / (x[3] - x[5]) - log(x[3] - x[5]) - 2 * x[4] / x[3]
            + 0.585616681390832 * x[0] + 3.53797016206289 * x[1] + 2.18345516206289 * x[2]
        ),  # fmt: skip
        None,
        lambda x: [
            x[3] ** 3 - (1 + x[5]) * x[3] ** 2 + x[4] * x[3] - x[4] * x[5],
            x[4] - quadratic_mix(_A2, x),
            x[5] - 0.14998 * x[0] - 0.14998 * x[1] - 0.14998 * x[2],
            x[0] + x[1] + x[2] - 1,
        ],
        [(1e-8, FAR)] * 4 + [(-FAR, FAR)] * 2,
        None,
    ),
    Book(
        "ex8_5_4",
        lambda x: (
            x[0] * log(x[0]) + x[1] * log(x[1]) - log(x[2] - x[4]) + x[2] - x[3] * log(1 + x[4] / x[2]) / x[4]
            + 0.362259780811985 * x[0] + 3.27527428318836 * x[1] - 1
        ),  # fmt: skip
        None,
        lambda x: [
            x[2] ** 3 - x[2] ** 2 + (-(x[4] ** 2) - x[4] + x[3]) * x[2] - x[3] * x[4],
            x[3] - quadratic_mix(((0.352565, 0.844083), (0.844083, 2.14335)), x),
            x[4] - 0.12932 * x[0] - 0.271567 * x[1],
            x[0] + x[1] - 1,
        ],
        [(1e-8, FAR)] * 5,
        -0.00042514,
    ),
    Book(
        "ex8_5_5",
        lambda x: x[0] * log(x[0]) + x[1] * log(x[1]) + peng(x[2], x[3], x[4]) + 2.5746329124341 * x[0] + 0.54639755131421 * x[1],
        None,
        lambda x: [
            peng_root(x[2], x[3], x[4]),
            x[3] - quadratic_mix(((0.884831, 0.555442), (0.555442, 0.427888)), x),
            x[4] - 0.0885973 * x[0] - 0.0890893 * x[1],
            x[0] + x[1] - 1,
        ],
        [(1e-8, FAR)] * 5,
        None,
    ),
    Book(
        "ex8_5_6",
        lambda x: (
            sum(x[i] * log(x[i]) for i in range(3)) + peng(x[3], x[4], x[5])
            + 1.42876598488588 * x[0] + 1.27098480432594 * x[1] + 1.62663700075562 * x[2]
        ),  # fmt: skip
        None,
        lambda x: [
            peng_root(x[3], x[4], x[5]),
            x[4] - quadratic_mix(_A6, x),
            x[5] - 0.0815247 * x[0] - 0.0907391 * x[1] - 0.13705 * x[2],
            x[0] + x[1] + x[2] - 1,
        ],
        [(1e-8, FAR)] * 6,
        None,
    ),
    Book(
        "ex14_2_2",
        lambda x: x[2],
        lambda x: both(azeotrope_2(x), x[2]),
        None,
        [(1e-6, 1), (20, 80), (0, FAR)],
        0,
    ),
    azeotrope("ex14_2_3", _WILSON_3, 4, 20, 80),
    azeotrope("ex14_2_4", _NRTL_4, 3, 40, 90),
    azeotrope("ex14_2_5", _NRTL_5, 2, 60, 100),
    azeotrope("ex14_2_7", uniquac_7, 4, 40, 90),
]
