"""Constrained problems of CUTE and GLOBALLib with the wide bounds of the COCONUT benchmark: unbounded variables end at 1e8."""

import numpy as np

from bench.cute_models import (
    AVION,
    BK_COST,
    DISCS,
    FCCU,
    FCCU_WEIGHTS,
    FREE,
    HALF,
    LINEAR,
    SAMBAL,
    aeroplane,
    azeotrope_6,
    azeotrope_9,
    control,
    cost_104,
    crescent,
    crescent_rows,
    disc_path,
    dixon,
    gas,
    haldmads,
    hexagon,
    largest,
    likelihood,
    load_rows,
    loads,
    product,
    separation,
    sides,
    water,
)
from bench.globallib import FAR, power, problem
from bench.phase_equilibria import azeotrope

cos, exp, log, sin = np.cos, np.exp, np.log, np.sin

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
        lambda x: sum(w * (v - c) ** 2 for w, v, c in zip(FCCU_WEIGHTS, x[1:], FCCU, strict=True)),
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
        lambda x: [x[1] ** 2 - (x[12 + 2 * i] - a) ** 2 - (x[13 + 2 * i] - b) ** 2 for i, (a, b) in enumerate(DISCS)],
        disc_path,
    ),
    problem("dixchlng", 0, [FREE] * 10, dixon, None, lambda x: [product(x[1 : 2 * k + 1]) - 1 for k in range(1, 6)]),
    problem(
        "himmelbk",
        0.0518143,
        [HALF] * 24,
        lambda x: sum(c * (x[1 + i] + x[13 + i]) for i, c in enumerate(BK_COST)),
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
    problem("avion2", 9.4680e7, list(AVION), aeroplane, None, lambda x: [
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
        lambda x: [x[1 + i] + x[21] + a * x[22] + b * x[23] + c * x[24] - d for i, (a, b, c, d) in enumerate(LINEAR)],
    ),
    problem(
        "sambal",
        3.96822,
        [FREE] * 15,
        lambda x: sum((c - x[i]) ** 2 / c for i, c in SAMBAL.items()),
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
