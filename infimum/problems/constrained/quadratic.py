"""Quadratic functions over polytopes and simplices: concave, indefinite and convex ones."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, GLOBALLIB, OURS


def ex2_1_1(x: Any) -> Any:
    """A concave quadratic over a knapsack."""
    return np.sum(np.array([42, 44, 45, 47, 47.5]) * x) - 50 * np.sum(x**2)


def ex2_1_2(x: Any) -> Any:
    """A concave quadratic with one linear variable."""
    return -0.5 * np.sum(x[:5] ** 2) - np.sum(np.array([10.5, 7.5, 3.5, 2.5, 1.5, 10]) * x)


def ex2_1_4(x: Any) -> Any:
    """A quadratic in one variable, linear in five others."""
    return 6.5 * x[0] - 0.5 * x[0] ** 2 - np.sum(np.array([1, 2, 3, 2, 1]) * x[1:])


EX2_1_4_ROWS = np.array([[1, 2, 8, 1, 3, 5], [-8, -4, -2, 2, 4, -1], [2, 0.5, 0.2, -3, -1, -4], [0.2, 2, 0.1, -4, 2, 2],
                         [-0.1, -0.5, 2, 5, -5, 3]])


def ex2_1_5(x: Any) -> Any:
    """Seven concave and three linear variables, eleven constraints."""
    return -5 * np.sum(x[:7] ** 2) + np.sum(np.array([-20, -80, -20, -50, -60, -90, 0, 10, 10, 10]) * x)


EX2_1_5_ROWS = np.array([
    [-2, -6, -1, 0, -3, -3, -2, -6, -2, -2], [6, -5, 8, -3, 0, 1, 3, 8, 9, -3], [-5, 6, 5, 3, 8, -8, 9, 2, 0, -9],
    [9, 5, 0, -9, 1, -8, 3, -9, -9, -3], [-8, 7, -4, -5, -9, 1, -7, -1, 3, -2], [-7, -5, -2, 0, -6, -6, -7, -6, 7, 7],
    [1, -3, -3, -4, -1, 0, -4, 1, 6, 0], [1, -2, 6, 9, 0, -7, 9, -9, -6, 4], [-4, 6, 7, 2, 2, 0, 6, 6, -7, 4],
    [1, 1, 1, 1, 1, 1, 1, 1, 1, 1], [-1, -1, -1, -1, -1, -1, -1, -1, -1, -1]])
EX2_1_5_ENDS = np.array([-4.0, 22, -6, -23, -12, -3, 1, 12, 15, 9, -1])


def ex2_1_7(x: Any) -> Any:
    """A concave quadratic of twenty variables."""
    return -0.5 * np.sum(np.arange(1.0, 21) * (x - 2) ** 2)


EX2_1_7_FIRST = np.array([-3, 7, 0, -5, 1, 1, 0, 2, -1, -1, -9, 3, 5, 0, 0, 1, 7, -7, -4, -6])
EX2_1_7_ROWS = np.stack([np.roll(EX2_1_7_FIRST, -i) for i in range(9)] + [np.ones(20)])
EX2_1_7_ENDS = np.array([-5.0, 2, -1, -3, 5, 4, -1, 0, 9, 40])


def ex2_1_8(x: Any) -> Any:
    """A concave transport of 24 flows."""
    return np.sum(EX2_1_8_LINES * x - EX2_1_8_SQUARES * x**2)


EX2_1_8_LINES = np.array([300, 270, 460, 800, 740, 600, 540, 380, 300, 490, 380, 760, 430, 250, 390, 600, 210, 830, 470, 680, 360,
                          290, 400, 310])
EX2_1_8_SQUARES = np.array([7, 4, 6, 8, 12, 9, 14, 7, 13, 12, 8, 4, 7, 9, 16, 8, 4, 10, 21, 13, 17, 9, 8, 4])


def ex2_1_9(x: Any) -> Any:
    """The largest clique of a graph of ten nodes, as a quadratic over the simplex."""
    return -(np.sum(x[:-1] * x[1:]) + np.sum(x[:-2] * x[2:]) + x[0] * x[8] + x[0] * x[9] + x[1] * x[9] + x[0] * x[4]
             + x[3] * x[6])


def ex2_1_10(x: Any) -> Any:
    """Ten convex and ten concave variables."""
    return np.sum(EX2_1_10_WEIGHTS * (x - EX2_1_10_CENTRES) ** 2)


EX2_1_10_WEIGHTS = np.array([-63, -15, -44, -91, -45, -50, -89, -58, -86, -82, 42, 98, 48, 91, 11, 63, 61, 61, 38, 26]) / 2
EX2_1_10_CENTRES = np.array([-19, -27, -23, -53, -42, 26, -33, -23, 41, 19, -52, -3, 81, 30, -85, 68, 27, -81, 97, -73])
EX2_1_10_ROWS = np.array([
    [3, 5, 5, 6, 4, 4, 5, 6, 4, 4, 8, 4, 2, 1, 1, 1, 2, 1, 7, 3], [5, 4, 5, 4, 1, 4, 4, 2, 5, 2, 3, 6, 1, 7, 7, 5, 8, 7, 2, 1],
    [1, 5, 2, 4, 7, 3, 1, 5, 7, 6, 1, 7, 2, 4, 7, 5, 3, 4, 1, 2], [3, 2, 6, 3, 2, 1, 6, 1, 7, 3, 7, 7, 8, 2, 3, 4, 5, 8, 1, 2],
    [6, 6, 6, 4, 5, 2, 2, 4, 3, 2, 7, 5, 3, 6, 7, 5, 8, 4, 6, 3], [5, 5, 2, 1, 3, 5, 5, 7, 4, 3, 4, 1, 7, 3, 8, 3, 1, 6, 2, 8],
    [3, 6, 6, 3, 1, 6, 1, 6, 7, 1, 4, 3, 1, 4, 3, 6, 4, 6, 5, 4], [1, 2, 1, 7, 8, 7, 6, 5, 8, 7, 2, 3, 5, 5, 4, 5, 4, 2, 2, 8],
    [8, 5, 2, 5, 3, 8, 1, 3, 3, 5, 4, 5, 5, 6, 1, 7, 1, 2, 2, 4], [1] * 20])
EX2_1_10_ENDS = np.array([380.0, 415, 385, 405, 470, 415, 400, 460, 400, 200])


def ex3_1_3(x: Any) -> Any:
    """A concave quadratic with two parabolic limits."""
    return -np.sum(np.array([25, 1, 1, 1, 1, 1]) * (x - np.array([2, 2, 1, 4, 1, 4])) ** 2)


def ex3_1_4(x: Any) -> Any:
    """A linear function under a reverse convex quadratic."""
    return -2 * x[0] + x[1] - x[2]


def meanvar(x: Any) -> Any:
    """The portfolio of least variance for a given return."""
    return 0.5 * (x @ (MEANVAR_COVARIANCE @ x))


MEANVAR_COVARIANCE = np.array([
    [42.18, 20.18, 10.88, 5.3, 12.32, 23.84, 17.41], [20.18, 70.89, 21.58, 15.41, 23.24, 23.8, 12.62],
    [10.88, 21.58, 25.51, 9.6, 22.63, 13.22, 4.7], [5.3, 15.41, 9.6, 22.33, 10.32, 10.46, 1],
    [12.32, 23.24, 22.63, 10.32, 30.01, 16.36, 7.2],
    [23.84, 23.8, 13.22, 10.46, 16.36, 42.23, 9.9], [17.41, 12.62, 4.7, 1, 7.2, 9.9, 16.42]])
MEANVAR_RETURNS = np.array([0.1287, 0.1096, 0.0501, 0.1524, 0.0763, 0.1854, 0.062])


def _indefinite(n: int) -> np.ndarray:
    """A symmetric matrix of small integers of both signs."""
    i = np.arange(1, n + 1)
    return ((7 * i[:, None] * i + 3 * (i[:, None] + i) ** 2) % 23 - 11).astype(float)


def dense_simplex_20(x: Any) -> Any:
    """A dense indefinite quadratic over the simplex of 20 variables."""
    return x @ (_indefinite(20) @ x)


def dense_simplex_50(x: Any) -> Any:
    """A dense indefinite quadratic over the simplex of 50 variables."""
    return x @ (_indefinite(50) @ x)


def dense_box_15(x: Any) -> Any:
    """A dense indefinite quadratic over a cut cube of 15 variables."""
    return x @ (_indefinite(15) @ x) - np.sum(np.arange(15) * x)


TABLE = (
    Row(ex2_1_1, [(0, 1)] * 5, [at_most(lambda x: np.sum(np.array([20, 12, 11, 7, 4]) * x), 40.0)], FLOUDAS + "ex2_1_1"),
    Row(ex2_1_2, [(0, 1)] * 5 + [(0, 20)],
        [at_most(lambda x: np.array([[6, 3, 3, 2, 1, 0], [10, 0, 10, 0, 0, 1]]) @ x, np.array([6.5, 20]))], FLOUDAS + "ex2_1_2"),
    Row(ex2_1_4, [(0, 1), (0, 8), (0, 2), (0, 1), (0, 1), (0, 2)],
        [at_most(lambda x: EX2_1_4_ROWS @ x, np.array([16.0, -1, 24, 12, 3]))], FLOUDAS + "ex2_1_4"),
    Row(ex2_1_5, [(0, 1)] * 10, [at_most(lambda x: EX2_1_5_ROWS @ x, EX2_1_5_ENDS)], FLOUDAS + "ex2_1_5"),
    Row(ex2_1_7, [(0, 40)] * 20, [at_most(lambda x: EX2_1_7_ROWS @ x, EX2_1_7_ENDS)], FLOUDAS + "ex2_1_7"),
    Row(ex2_1_8, [(0, 100)] * 24,
        [equal(lambda x: np.sum(np.reshape(x, (6, 4)), axis=1), np.array([8.0, 24, 20, 24, 16, 12])),
         equal(lambda x: np.sum(np.reshape(x, (6, 4)), axis=0), np.array([29.0, 41, 13, 21]))], FLOUDAS + "ex2_1_8"),
    Row(ex2_1_9, [(0, 1)] * 10, [equal(np.sum, 1.0)], FLOUDAS + "ex2_1_9"),
    Row(ex2_1_10, [(0, 200)] * 20, [at_most(lambda x: EX2_1_10_ROWS @ x, EX2_1_10_ENDS)], FLOUDAS + "ex2_1_10"),
    Row(ex3_1_3, [(0, 6), (0, 6), (1, 5), (0, 6), (1, 5), (0, 10)],
        [at_least(lambda x: (x[2] - 3) ** 2 + x[3], 4.0), at_least(lambda x: (x[4] - 3) ** 2 + x[5], 4.0),
         at_most(lambda x: np.stack([x[0] - 3 * x[1], x[1] - x[0], x[0] + x[1], -x[0] - x[1]]), np.array([2.0, 2, 6, -2]))],
        FLOUDAS + "ex3_1_3"),
    Row(ex3_1_4, [(0, 2), (0, 2), (0, 3)],
        [at_most(np.sum, 4.0), at_most(lambda x: 3 * x[1] + x[2], 6.0),
         at_least(lambda x: 4 * x[0] ** 2 - 4 * x[0] * x[1] + 4 * x[0] * x[2] + 2 * x[1] ** 2 - 2 * x[1] * x[2] + 2 * x[2] ** 2
                  - 20 * x[0] + 9 * x[1] - 13 * x[2], -24.0)], FLOUDAS + "ex3_1_4"),
    Row(meanvar, [(0, 1)] * 7, [equal(np.sum, 1.0), equal(lambda x: MEANVAR_RETURNS @ x, 0.115)], GLOBALLIB + "meanvar"),
    Row(dense_simplex_20, [(0, 1)] * 20, [equal(np.sum, 1.0)], OURS),
    Row(dense_simplex_50, [(0, 1)] * 50, [equal(np.sum, 1.0)], OURS),
    Row(dense_box_15, [(0, 1)] * 15, [at_most(np.sum, 6.0), at_least(lambda x: np.sum(x[::2]) - np.sum(x[1::2]), -1.0)], OURS),
)
