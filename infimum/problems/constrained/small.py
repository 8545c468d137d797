"""Small geometric and trigonometric problems, and problems without feasible points."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, OURS


def total(x: Any) -> Any:
    """The sum of the variables."""
    return np.sum(x)


def ex4_1_8(x: Any) -> Any:
    """A quadratic on a quartic curve."""
    return -12 * x[0] - 7 * x[1] + x[1] ** 2


def rastrigin_disc(x: Any) -> Any:
    """Rastrigin's waves over a disc that does not hold the origin."""
    return 20 + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def sine_strip(x: Any) -> Any:
    """The lowest product of sines between two waves."""
    return np.sin(x[0]) * np.sin(2 * x[1]) + 0.1 * x[0]


def box_volume(x: Any) -> Any:
    """A geometric programme: the cheapest open box of one cubic metre."""
    return 20 * x[0] * x[2] + 10 * x[1] * x[2] + 15 * x[0] * x[1] + 4 / (x[0] * x[1] * x[2])


def rational_valley(x: Any) -> Any:
    """A quotient of quadratics over a ball."""
    return (x[0] ** 2 - 4 * x[0] * x[1] + x[2]) / (2 + x[1] ** 2 + x[2] ** 2)


def kissing_discs(x: Any) -> Any:
    """The side of the smallest square around four discs of different size: centres x[:4] and x[4:8], side x[8]."""
    return x[8]


DISCS = np.array([1.0, 0.8, 0.6, 0.5])


def kissing_discs_gaps(x: Any) -> Any:
    """By how much the square of each distance exceeds the least."""
    first, second = np.triu_indices(4, 1)
    return (x[first] - x[second]) ** 2 + (x[4 + first] - x[4 + second]) ** 2 - (DISCS[first] + DISCS[second]) ** 2


TABLE = (
    Row(total, [(-2, 2)] * 2, [at_most(lambda x: x[0] ** 2 + x[1] ** 2, 1.0)], OURS, name="circle_inside"),
    Row(total, [(-2, 2)] * 2, [equal(lambda x: x[0] ** 2 + x[1] ** 2, 1.0)], OURS, name="circle_on"),
    Row(ex4_1_8, [(0, 2), (0, 3)], [equal(lambda x: x[1] + 2 * x[0] ** 4, 2.0)], FLOUDAS + "ex4_1_8"),
    Row(rastrigin_disc, [(-5, 5)] * 2, [at_most(lambda x: (x[0] - 1.5) ** 2 + (x[1] - 1.2) ** 2, 1.0)], OURS),
    Row(sine_strip, [(-6, 6)] * 2, [at_least(lambda x: x[1] - np.sin(x[0])), at_most(lambda x: x[1] - np.sin(x[0]), 1.0)], OURS),
    Row(box_volume, [(0.05, 5)] * 3, [equal(np.prod, 1.0), at_most(lambda x: x[0] / x[1] + x[2] ** 2, 2.0)], OURS),
    Row(rational_valley, [(-3, 3)] * 3, [at_most(lambda x: np.sum(x**2), 4.0), at_least(lambda x: x[0] * x[2] + x[1], 0.5)],
        OURS),
    Row(kissing_discs, [(-4, 4)] * 8 + [(2, 8)],
        [at_least(kissing_discs_gaps), at_most(lambda x: x[:4] + DISCS - x[8] / 2), at_most(lambda x: DISCS - x[:4] - x[8] / 2),
         at_most(lambda x: x[4:8] + DISCS - x[8] / 2), at_most(lambda x: DISCS - x[4:8] - x[8] / 2)], OURS),
    # no feasible points
    Row(total, [(-2, 2)] * 2, [at_most(lambda x: x[0] ** 2 + x[1] ** 2, 1.0), at_least(total, 1.415)], OURS, infeasible=True,
        name="infeasible_disc"),
    Row(total, [(-10, 10)] * 3, [equal(lambda x: np.sin(x[0]) + np.cos(x[1]) * np.sin(x[2]), 2.05)], OURS, infeasible=True,
        name="infeasible_sines"),
    Row(total, [(0, 2.5)] * 2, [at_least(lambda x: np.log(x), 0.95)], OURS, infeasible=True, name="infeasible_logarithm"),
    Row(total, [(0, 1)] * 20, [equal(lambda x: x[1:] - 0.5 * x[:-1] * (1 + x[:-1])), at_least(lambda x: x[-1], 0.6),
                               at_most(lambda x: x[0], 0.99)], OURS, infeasible=True, name="infeasible_chain"),
    Row(total, [(0, 100)] * 3, [equal(lambda x: np.array([6, 10, 14]) @ x, 101.0)], OURS, (1, 1, 1), infeasible=True,
        name="infeasible_parity"),
    Row(total, [(-5, 5)] * 4,
        [equal(lambda x: np.stack([x[0] * x[1] - x[2] * x[3], x[0] + x[1] - x[2] - x[3], x[0] - x[2]]), np.array([1.0, 0, 0]))],
        OURS, infeasible=True, name="infeasible_products"),
)
