"""cbrt and hypot against Arb."""

import math

import numpy as np
from against_arb import EDGES, LARGEST, beside, check_lanes, check_points, check_vectors, enclosure, logarithmic
from flint import arb


def cube_root(x: arb) -> arb:
    return x if x == 0 else x.root(3) if x > 0 else -((-x).root(3))


def length(x: arb, y: arb) -> arb:
    return abs(x) + abs(y) if x == 0 or y == 0 else (x * x + y * y).sqrt()


def points(rng: np.random.Generator) -> np.ndarray:
    powers = np.ldexp(1.0, np.arange(-1074, 1024, 7))
    cubes = beside(np.arange(-20.0, 21) ** 3)
    return np.concatenate([logarithmic(rng, 4000), rng.uniform(-9, 9, 2000), cubes, beside(powers, 1), EDGES])


def legs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    near = logarithmic(rng, 3000, -1074, 1020)
    x = np.concatenate([near, logarithmic(rng, 2000), np.repeat(EDGES, len(EDGES)), [3.0, 5e-324, LARGEST, 2.0**-1030]])
    y = np.concatenate([near * np.exp2(rng.uniform(-60, 3, 3000)), logarithmic(rng, 2000), np.tile(EDGES, len(EDGES)),
                        [4.0, 5e-324, LARGEST, 2.0**-1030]])
    return x, y


def test_cube_roots_of_points():
    assert check_points("cbrt", cube_root, points(np.random.default_rng(3))) <= 2


def test_lengths_of_points():
    assert check_points("hypot", length, *legs(np.random.default_rng(4))) <= 3


def test_exact_values():
    for zero in (0.0, -0.0):
        assert [v[0] for v in enclosure("cbrt")([zero], [zero])] == [0.0, 0.0]
    x = points(np.random.default_rng(5))
    for lo, hi in (enclosure("hypot")(x, x, 0 * x, 0 * x), enclosure("hypot")(0 * x, 0 * x, x, x)):
        assert np.array_equal(lo, np.abs(x)) and np.array_equal(hi, np.abs(x))


def test_unbounded_intervals():
    inf = math.inf
    lo, hi = enclosure("cbrt")([-inf, -inf, 8.0], [inf, -8.0, inf])
    assert lo[0] == lo[1] == -inf and hi[0] == hi[2] == inf
    assert hi[1] >= -2 and lo[2] <= 2 and abs(hi[1] + 2) < 1e-15 and abs(lo[2] - 2) < 1e-15
    lo, hi = enclosure("hypot")([-inf, 3.0, -inf, 0.0], [inf, inf, -3.0, 0.0], [0.0, 4.0, -inf, -inf], [0.0, 4.0, -4.0, inf])
    assert np.all(hi == inf) and lo[0] == lo[3] == 0 and np.all(np.abs(lo[1:3] - 5) < 2e-15) and np.all(lo[1:3] <= 5)


def test_overflow_keeps_a_finite_lower_end():
    lo, hi = enclosure("hypot")([LARGEST], [LARGEST], [LARGEST], [LARGEST])
    assert lo[0] == LARGEST and hi[0] == math.inf


def test_wide_intervals_take_their_ends_from_the_ends():
    x = points(np.random.default_rng(6))
    a, b = np.minimum(x, x[::-1]), np.maximum(x, x[::-1])
    lo, hi = enclosure("cbrt")(a, b)
    assert np.array_equal(lo, enclosure("cbrt")(a, a)[0]) and np.array_equal(hi, enclosure("cbrt")(b, b)[1])


def test_lengths_of_boxes():
    """The lower end is that of the point nearest to the origin, the upper end that of the farthest."""
    rng = np.random.default_rng(7)
    (a, b), (c, d) = (np.sort(rng.uniform(-3, 3, (2, 3000)), axis=0) for _ in range(2))
    lo, hi = enclosure("hypot")(a, b, c, d)
    near = [np.where((s <= 0) & (t >= 0), 0.0, np.minimum(np.abs(s), np.abs(t))) for s, t in ((a, b), (c, d))]
    far = [np.maximum(np.abs(s), np.abs(t)) for s, t in ((a, b), (c, d))]
    point = enclosure("hypot")
    assert np.array_equal(lo, point(near[0], near[0], near[1], near[1])[0])
    assert np.array_equal(hi, point(far[0], far[0], far[1], far[1])[1])


def test_same_bits_for_every_number_of_lanes():
    rng = np.random.default_rng(8)
    x = points(rng)
    check_lanes("cbrt", np.minimum(x, x[::-1]), np.maximum(x, x[::-1]))
    check_lanes("hypot", *(f(v, v[::-1]) for v in legs(rng) for f in (np.minimum, np.maximum)))


def test_vectors():
    check_vectors("cbrt", "cbrt")
    check_vectors("hypot", "hypot")
