"""Bilinear problems: pooling, separation of mixtures, and bilevel programmes with complementary slacks."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS

HAVERLY = "Haverly, Studies of the behavior of recursion for the pooling problem (1978)"


# ---- Haverly's pools: feeds a, b to the pool, c beside it; flows pool to x and y, c to x and y; sulphur of the pool
def _haverly(price: float) -> Callable[[Any], Any]:
    def cost(x: Any) -> Any:
        """Crudes bought less products sold."""
        a, b, c, d, e, f, _ = x
        return 6 * a + price * b + 10 * (e + f) - 9 * (c + e) - 15 * (d + f)
    return cost


def _haverly_rows(most: float) -> list:
    return [equal(lambda x: x[0] + x[1] - x[2] - x[3]), equal(lambda x: 3 * x[0] + x[1] - x[6] * (x[2] + x[3])),
            at_most(lambda x: x[6] * x[2] + 2 * x[4] - 2.5 * (x[2] + x[4])),
            at_most(lambda x: x[6] * x[3] + 2 * x[5] - 1.5 * (x[3] + x[5])),
            at_most(lambda x: x[2] + x[4], most), at_most(lambda x: x[3] + x[5], 200.0)]


def _haverly_bounds(most: float) -> list:
    return [(0, 800), (0, 800), (0, most), (0, 200), (0, most), (0, 200), (1, 3)]


# ---- pools with proportions: q[pool, feed], flows pool to product y[pool, product], flows beside the pools z
def bental_4(x: Any) -> Any:
    """Ben-Tal's fourth pooling problem: a pool of three feeds, one beside it (ex5_2_4)."""
    q, y, z = x[:3], x[3:5], x[5:]
    cost = np.sum(np.array([6, 16, 15]) * q)
    return -((9 - cost) * y[0] + (15 - cost) * y[1]) + z[0] - 5 * z[1]


def bental_5(x: Any) -> Any:
    """Ben-Tal's fifth pooling problem: three pools of four feeds, five products, two qualities (ex5_2_5)."""
    q, y = np.reshape(x[:12], (4, 3)), np.reshape(x[17:], (3, 5))
    cost = np.array([6, 16, 15, 12]) @ q
    return -np.sum((np.array([18, 15, 19, 16, 14]) - cost[:, None]) * y) - np.sum(np.array([8, 5, 9, 6, 4]) * x[12:17])


BENTAL_5_QUALITIES = np.array([[3, 1, 1, 1.5], [1, 3, 2.5, 2.5]])
BENTAL_5_LIMITS = np.array([[2.5, 1.5, 2, 2, 2], [2, 2.5, 2.6, 2, 2]])
BENTAL_5_BESIDE = np.array([[-0.5, 0.5, 0, 0, 0], [0.5, 0, -0.1, 0.5, 0.5]])


def _bental_5_qualities(x: Any) -> Any:
    """What each product has too much of each quality, two by five."""
    q, y = np.reshape(x[:12], (4, 3)), np.reshape(x[17:], (3, 5))
    return BENTAL_5_QUALITIES @ q @ y - BENTAL_5_LIMITS * np.sum(y, axis=0) + BENTAL_5_BESIDE * x[12:17]


def _bental_5_limited_feed(x: Any) -> Any:
    """How much of the third feed is used."""
    return np.sum(x[6:9] * np.sum(np.reshape(x[17:], (3, 5)), axis=1))


# two pools of two feeds each, two feeds beside them, four products: proportions, flows of pools, flows beside them
FOULDS_COST = np.array([[-3, -9, 0, -6], [7, 1, 10, 4], [-6, -12, -3, -9], [4, -2, 7, 1], [1, -5, 4, -2], [-2, -8, 1, -5]])
FOULDS_QUALITY = np.array([[0.5, 1.5, 0, 1], [-1.5, -0.5, -2, -1], [1, 2, 0.5, 1.5], [-1, 0, -1.5, -0.5], [-0.5, 0.5, -1, 0],
                           [0, 1, -0.5, 0.5]])


def _foulds_flows(x: Any) -> Any:
    """The flow from each feed to each product, six by four."""
    q, y, beside = x[:4], np.reshape(x[4:12], (2, 4)), np.reshape(x[12:], (2, 4))
    return np.stack([q[0] * y[0], q[1] * y[0], q[2] * y[1], q[3] * y[1], beside[0], beside[1]])


def foulds_2(x: Any) -> Any:
    """Foulds' second pooling problem."""
    return np.sum(FOULDS_COST * _foulds_flows(x))


# a pool of two feeds and one of three, four products, four qualities
ADHYA_GAIN = np.array([[9, 18, 8, 3], [13, 22, 12, 7], [14, 23, 13, 8], [6, 15, 5, 0], [11, 20, 10, 5]])
ADHYA_QUALITY = np.array([
    [[-2, -3, -0.5, -2], [1, 0, 2.5, 1], [1, 0, 2.5, 1], [0, -1, 1.5, 0], [-2, -3, -0.5, -2]],
    [[3, 3.5, 0.5, 2], [-2, -1.5, -4.5, -3], [2.5, 3, 0, 1.5], [0, 0.5, -2.5, -1], [-0.3, 0.2, -2.8, -1.3]],
    [[0.75, 0.5, 0.1, 0], [-0.25, -0.5, -0.9, -1], [-0.25, -0.5, -0.9, -1], [-0.25, -0.5, -0.9, -1], [0.75, 0.5, 0.1, 0]],
    [[-0.25, -1, -0.3, -1.3], [1.25, 0.5, 1.2, 0.2], [0.15, -0.6, 0.1, -0.9], [0.25, -0.5, 0.2, -0.8], [0.85, 0.1, 0.8, -0.2]]])


def _adhya_flows(x: Any) -> Any:
    """The flow from each feed to each product, five by four."""
    q, y = x[:5], np.reshape(x[5:], (2, 4))
    return np.stack([q[0] * y[0], q[1] * y[0], q[2] * y[1], q[3] * y[1], q[4] * y[1]])


def adhya_1(x: Any) -> Any:
    """Adhya's first pooling problem."""
    return -np.sum(ADHYA_GAIN * _adhya_flows(x))


def ex5_3_2(x: Any) -> Any:
    """The separation of three components, with two columns."""
    return 0.9979 + 0.00432 * x[0] + 0.01517 * x[1] + 0.01517 * x[8] + 0.00432 * x[12]


def ex5_3_2_balances(x: Any) -> Any:
    """Flows and components that balance."""
    return np.stack([
        x[0] + x[1] + x[2] + x[3] - 300, x[4] - x[5] - x[6], x[7] - x[8] - x[9] - x[10], x[11] - x[12] - x[13] - x[14],
        x[15] - x[16] - x[17], x[12] * x[20] + 0.333 * x[0] - x[4], x[12] * x[21] - x[7] * x[19] + 0.333 * x[0],
        0.333 * x[0] - x[7] * x[18], -x[11] * x[20] - 0.333 * x[1], x[8] * x[19] - x[11] * x[21] + 0.333 * x[1],
        x[8] * x[18] + 0.333 * x[1] - x[15], x[13] * x[20] + 0.333 * x[2] + x[5] - 30,
        x[9] * x[19] + x[13] * x[21] + 0.333 * x[2] - 50, x[9] * x[18] + 0.333 * x[2] + x[16] - 30,
        x[18] + x[19] - 1, x[20] + x[21] - 1])


# ---- bilevel programmes: the inner one by its conditions
def ex9_1_1(x: Any) -> Any:
    """A linear bilevel programme with five complementary pairs."""
    return -3 * x[0] + 2 * x[1] - x[2]


def ex9_2_4(x: Any) -> Any:
    """A quadratic bilevel programme with two complementary pairs."""
    return (0.5 * x[2] - 1) * (x[2] - 2) + (0.5 * x[3] - 1) * (x[3] - 2)


def ex9_2_6(x: Any) -> Any:
    """A quadratic bilevel programme with six complementary pairs."""
    return x[0] ** 2 - 2 * x[0] + x[1] ** 2 - 2 * x[1] + x[2] ** 2 + x[3] ** 2


EX9_1_1_ROWS = np.array([[1, 4, -2], [3, -2, 8], [1, -3, -2], [-1, 0, 0], [1, 0, 0]])

TABLE = (
    Row(_haverly(16.0), _haverly_bounds(100), _haverly_rows(100.0), HAVERLY, name="haverly_1"),
    Row(_haverly(16.0), _haverly_bounds(600), _haverly_rows(600.0), HAVERLY, name="haverly_2"),
    Row(_haverly(13.0), _haverly_bounds(100), _haverly_rows(100.0), HAVERLY, name="haverly_3"),
    Row(bental_4, [(0, 1)] * 3 + [(0, 100), (0, 200)] * 2,
        [equal(lambda x: x[0] + x[1] + x[2], 1.0), at_most(lambda x: x[2] * (x[3] + x[4]), 50.0),
         at_most(lambda x: x[3:5] + x[5:], np.array([100.0, 200])),
         at_most(lambda x: (3 * x[0] + x[1] + x[2] - np.array([2.5, 1.5])) * x[3:5] + np.array([-0.5, 0.5]) * x[5:])],
        "Ben-Tal, Eiger and Gershovitz, Global minimization by reducing the duality gap (1994); " + FLOUDAS + "ex5_2_4"),
    Row(bental_5, [(0, 1)] * 12 + [(0, 100), (0, 200), (0, 100), (0, 100), (0, 100)] * 4,
        [equal(lambda x: np.sum(np.reshape(x[:12], (4, 3)), axis=0), 1.0), at_most(_bental_5_limited_feed, 50.0),
         at_most(lambda x: x[12:17] + np.sum(np.reshape(x[17:], (3, 5)), axis=0), np.array([100.0, 200, 100, 100, 100])),
         at_most(_bental_5_qualities)],
        "Ben-Tal, Eiger and Gershovitz, Global minimization by reducing the duality gap (1994); " + FLOUDAS + "ex5_2_5"),
    Row(foulds_2, [(0, 1)] * 4 + [(0, 100), (0, 200)] * 8,
        [equal(lambda x: np.stack([x[0] + x[1], x[2] + x[3]]), 1.0), at_most(lambda x: np.sum(_foulds_flows(x), axis=1), 600.0),
         at_most(lambda x: np.sum(_foulds_flows(x), axis=0), np.array([100.0, 200, 100, 200])),
         at_most(lambda x: np.sum(FOULDS_QUALITY * _foulds_flows(x), axis=0))],
        "Foulds, Haugland and Jörnsten, A bilinear approach to the pooling problem (1992)"),
    Row(adhya_1, [(0, 1)] * 5 + [(0, 10), (0, 25), (0, 30), (0, 10)] * 2,
        [equal(lambda x: np.stack([x[0] + x[1], x[2] + x[3] + x[4]]), 1.0),
         at_most(lambda x: np.sum(_adhya_flows(x), axis=1), 75.0),
         at_most(lambda x: np.sum(_adhya_flows(x), axis=0), np.array([10.0, 25, 30, 10])),
         at_most(lambda x: np.sum(ADHYA_QUALITY * _adhya_flows(x), axis=1))],
        "Adhya, Tawarmalani and Sahinidis, A Lagrangian approach to the pooling problem (1999)"),
    Row(ex5_3_2, [(0, 300)] * 18 + [(0, 1)] * 4, [equal(ex5_3_2_balances)], FLOUDAS + "ex5_3_2"),
    Row(ex9_1_1, [(0, 4), (0, 50), (0, 50)] + [(0, 100)] * 5 + [(0, 10)] * 5,
        [equal(lambda x: EX9_1_1_ROWS @ x[:3] + x[3:8], np.array([16.0, 48, -12, 0, 4])), equal(lambda x: x[3:8] * x[8:]),
         equal(lambda x: x[8] + 3 * x[9] + x[10] - x[11] + x[12], 1.0), equal(lambda x: 2 * x[9] - 3 * x[10])],
         FLOUDAS + "ex9_1_1"),
    Row(ex9_2_4, [(-200, 200), (0, 400)] + [(0, 200)] * 6,
        [equal(lambda x: x[2] + x[3] - x[1]), equal(lambda x: x[4:6] - x[2:4]), equal(lambda x: x[4:6] * x[6:]),
         equal(lambda x: x[0] + x[2] - x[6]), equal(lambda x: x[0] - x[7], -1.0)], FLOUDAS + "ex9_2_4"),
    Row(ex9_2_6, [(0, 200)] * 16,
        [equal(lambda x: x[4:6] - x[2:4], -0.5), equal(lambda x: x[6:8] + x[2:4], 1.5), equal(lambda x: x[4:10] * x[10:]),
         equal(lambda x: 2 * x[2:4] - 2 * x[:2] - x[10:12] + x[12:14])], FLOUDAS + "ex9_2_6"),
)
