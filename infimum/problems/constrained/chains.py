"""Chains of equalities: each says what follows from the variables before it."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_least, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, GLOBALLIB, OURS


def ramsey(x: Any) -> Any:
    """Saving and consumption over eleven years: capital x[:11], consumption x[11:22], investment x[22:]."""
    return -np.sum(RAMSEY_WEIGHTS * np.log(x[11:22]))


RAMSEY_WEIGHTS = np.append(0.95 ** np.arange(1, 11), 11.3760018455292)
RAMSEY_FACTORS = np.array([0.759835685651593, 0.77686866556676, 0.794283468039448, 0.812088652256959, 0.830292969275008,
                           0.848905366318769, 0.867934991180342, 0.88739119671479, 0.907283545436972, 0.92762181422141,
                           0.948415999107521])


def hydro(x: Any) -> Any:
    """Thermal and hydroelectric power over six periods; blocks of six: thermal, hydro, losses, discharge, then volumes."""
    return 82.8 * np.sum(0.0016 * x[:6] ** 2 + 8 * x[:6]) + 248400


def abel(x: Any) -> Any:
    """Linear control of the economy over eight quarters: two states, two controls."""
    return 0.5 * np.sum(ABEL_WEIGHTS * (x - ABEL_GOALS) ** 2)


_GROWTH = 1.0075 ** np.arange(8)
ABEL_GOALS = np.concatenate([387.9 * _GROWTH, 85.3 * _GROWTH, 110.5 * _GROWTH[:7], 147.1 * _GROWTH[:7]])
ABEL_WEIGHTS = np.concatenate([[0.0625] * 7, [6.25], [1] * 7, [100], [1] * 7, [0.444] * 7])


def ex8_1_7(x: Any) -> Any:
    """A quartic under three equalities that follow one another (Hock and Schittkowski 47)."""
    return (x[0] - 1) ** 2 + (x[0] - x[1]) ** 2 + (x[1] - x[2]) ** 3 + (x[2] - x[3]) ** 4 + (x[3] - x[4]) ** 4


def wall(x: Any) -> Any:
    """Six equations for six unknowns."""
    return x[0]


def wall_system(x: Any) -> Any:
    """Products, quotients and two balances."""
    a, b, c, d, e, f = x
    return np.stack([a * b - 1, c / a / d - 4.8, e / b / f - 0.98, f * d - 1, a - b + 1e-7 * c - 1e-5 * e,
                     2 * a - 2 * b + 1e-7 * c - 0.01 * d - 1e-5 * e + 0.01 * f])


def logistic_chain_30(x: Any) -> Any:
    """Logistic growth in 29 Euler steps: a start and an end that cannot both be met."""
    return (x[0] - 0.3) ** 2 + (x[-1] - 0.5) ** 2


def sine_chain_50(x: Any) -> Any:
    """Fifty variables, each the sine of the one before it."""
    return (x[0] - 3) ** 2 + 10 * (x[-1] - 0.22) ** 2


def hanging_chain_10(x: Any) -> Any:
    """Ten links of equal length between two hooks, by their horizontal and vertical parts."""
    return np.sum((9.5 - np.arange(10)) * x[10:])


def pendulum_20(x: Any) -> Any:
    """A pendulum swung up a little with least effort: angles, speeds and torques of semi-implicit Euler steps."""
    return np.sum(x[14:] ** 2)


def pendulum_20_steps(x: Any) -> Any:
    """Six steps of 0.5 s."""
    angle, speed, torque = x[:7], x[7:14], x[14:]
    return np.concatenate([speed[1:] - speed[:-1] - 0.5 * (torque - np.sin(angle[:-1])),
                           angle[1:] - angle[:-1] - 0.5 * speed[1:]])


def cstr_cascade_8(x: Any) -> Any:
    """Four stirred tanks in a row with a rate of second order: concentrations and volumes."""
    return np.sum(np.sqrt(x[4:]))


def cstr_cascade_8_balances(x: Any) -> Any:
    """The balance of each tank."""
    before = np.concatenate([np.ones(1), x[:3]])
    return before - x[:4] - 2.5 * x[4:] * x[:4] ** 2


TABLE = (
    Row(ramsey, [(3, 3)] + [(3, 10)] * 10 + [(0.95, 3)] * 11 + [(0.05, 0.05 * 1.15**i) for i in range(11)],
        [equal(lambda x: RAMSEY_FACTORS * x[:11] ** 0.25 - x[11:22] - x[22:]), equal(lambda x: x[1:11] - x[:10] - x[22:32]),
         at_most(lambda x: 0.03 * x[10] - x[32])], GLOBALLIB + "ramsey, with bounds added"),
    Row(hydro, [(150, 1500)] * 6 + [(0, 1000)] * 6 + [(0, 100)] * 6 + [(0, 6000)] * 6 + [(100000, 100000)] + [(60000,
                                                                                                               120000)] * 6,
        [at_least(lambda x: x[:6] + x[6:12] - x[12:18], np.array([1200.0, 1500, 1100, 1800, 950, 1300])),
         equal(lambda x: 12 * x[18:24] - x[24:30] + x[25:], 24000.0), equal(lambda x: x[12:18] - 8e-5 * x[6:12] ** 2),
         equal(lambda x: x[18:24] - 4.97 * x[6:12], 330.0)], GLOBALLIB + "hydro, with bounds added"),
    Row(abel, [(387.9, 387.9)] + [(0, 1000)] * 7 + [(85.3, 85.3)] + [(0, 1000)] * 21,
        [equal(lambda x: x[1:8] - 0.914 * x[:7] + 0.016 * x[8:15] - 0.305 * x[16:23] - 0.424 * x[23:], -59.4),
         equal(lambda x: x[9:16] - 0.097 * x[:7] - 0.424 * x[8:15] + 0.101 * x[16:23] - 1.459 * x[23:], -184.7)],
        GLOBALLIB + "abel, with bounds added"),
    Row(ex8_1_7, [(-5, 5)] * 5,
        [equal(lambda x: x[0] + x[1] ** 2 + x[2] ** 3, 6.24264068711929),
         equal(lambda x: x[1] - x[2] ** 2 + x[3], 0.82842712474619),
         equal(lambda x: x[0] * x[4], 2.0)], FLOUDAS + "ex8_1_7"),
    Row(wall, [(-100, 100)] * 2 + [(-1e4, 1e4), (-100, 100), (-1e4, 1e4), (-100, 100)], [equal(wall_system)],
        GLOBALLIB + "wall, with bounds added"),
    Row(logistic_chain_30, [(0, 1)] * 30, [equal(lambda x: x[1:] - x[:-1] - 0.1 * x[:-1] * (1 - x[:-1]))], OURS),
    Row(sine_chain_50, [(-4, 4)] * 50, [equal(lambda x: x[1:] - np.sin(x[:-1]))], OURS),
    Row(hanging_chain_10, [(-1, 1)] * 20,
        [equal(lambda x: x[:10] ** 2 + x[10:] ** 2, 1.0), equal(lambda x: np.sum(x[:10]), 6.0),
         equal(lambda x: np.sum(x[10:]), 1.0)],
        OURS),
    Row(pendulum_20, [(0, 0)] + [(-4, 4)] * 5 + [(1.5, 4)] + [(0, 0)] + [(-5, 5)] * 6 + [(-1, 1)] * 6, [equal(pendulum_20_steps)],
        OURS),
    Row(cstr_cascade_8, [(0.01, 1)] * 3 + [(0.01, 0.1)] + [(0.1, 40)] * 4, [equal(cstr_cascade_8_balances)], OURS),
)
