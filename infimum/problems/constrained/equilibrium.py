"""Phase and chemical equilibrium: Gibbs energies with logarithms, equations of state, azeotropes."""

from typing import Any

import numpy as np

from infimum.problems.constrained.entry import Row, at_most, equal
from infimum.problems.constrained.sources import FLOUDAS, GLOBALLIB


def chem(x: Any) -> Any:
    """The equilibrium of ten species at high temperature; x[10] is their sum (also Hock and Schittkowski 112)."""
    return np.sum((CHEM_ENERGIES + np.log(x[:10] / x[10])) * x[:10])


CHEM_ENERGIES = np.array([-6.05576803624071, -17.1307680362407, -34.0207680362407, -5.88076803624071, -24.6877680362407,
                          -14.9527680362407, -24.0667680362407, -10.6747680362407, -26.6287680362407, -22.1447680362407])
CHEM_ELEMENTS = np.array([[1, 2, 2, 0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 1, 2, 1, 1, 0, 0, 0], [0, 0, 1, 0, 0, 0, 1, 1, 2, 1]])


# ---- the NRTL model: amounts of components, and ratios that equalities define
def ex6_1_1(x: Any) -> Any:
    """Two components in two liquid phases: amounts x[:2] and x[2:4], of the second component x[2:4]."""
    a, b, p, q = x[:2], x[2:4], x[4:6], x[6:]
    return np.sum(a * (np.log(a) - np.log(a + b)) + b * (np.log(b) - np.log(a + b))
                  + 0.925356626778358 * a * q + 0.746014540096753 * b * p)


def ex6_1_2(x: Any) -> Any:
    """The distance of the tangent plane for two components."""
    a, b, p, q = x
    return (0.06391 + np.log(a)) * a + (np.log(b) - 0.02875) * b + 0.925356626778358 * a * q + 0.746014540096753 * b * p


def ex6_1_4(x: Any) -> Any:
    """The distance of the tangent plane for three components."""
    a, p = x[:3], x[3:]
    return np.sum((np.array([0.28809, -0.29158, 0.59336]) + np.log(a)) * a) + a @ (EX6_1_4_ENERGIES @ p)


EX6_1_4_ENERGIES = np.array([[0, 1.44805026165593, 0.989428667054834], [1.12676386427658, 0, 1.00363012835441],
                             [0.0347225450624344, 0.82681418300153, 0]])
EX6_1_4_RATIOS = np.array([[1, 0.145002897355373, 0.989528214945409], [0.293701311601799, 1, 0.646291923054068],
                           [0.619143628558899, 0.239837817616513, 1]])


# ---- the UNIQUAC model
def ex6_2_8(x: Any) -> Any:
    """The distance of the tangent plane for three components, twenty logarithms."""
    r, q = EX6_2_8_R @ x, EX6_2_8_Q @ x
    return (np.log(r) * (EX6_2_8_OUTER @ x) + EX6_2_8_LINEAR @ x + np.log(q) * q
            + np.sum(x * (EX6_2_8_Z * (np.log(x) - np.log(r)) + 5 * EX6_2_8_Q * (np.log(x) - np.log(q))
                          + EX6_2_8_Q * (np.log(x) - np.log(EX6_2_8_TAU @ x)) - EX6_2_8_LAST * np.log(x))))


EX6_2_8_R, EX6_2_8_Q = np.array([2.4088, 8.8495, 2.0086]), np.array([2.248, 7.372, 1.868])
EX6_2_8_OUTER = np.array([10.4807341082197, 38.5043409542885, 8.73945638067505])
EX6_2_8_LINEAR = np.array([0.303602206615077, -3.98949602721008, 0.0423576909050935])
EX6_2_8_Z = np.array([0.240734108219679, 2.64434095428848, 0.399456380675047])
EX6_2_8_TAU = np.array([[2.248, 5.82088173817021, 0.382446861901943], [0.972461133672523, 7.372, 1.1893141713454],
                        [1.86752460515164, 2.61699842799583, 1.868]])
EX6_2_8_LAST = np.array([12.7287341082197, 45.8763409542885, 10.607456380675])


def _uniquac(x: Any) -> Any:
    """The Gibbs energy of one phase of three components."""
    r, q = EX6_2_10_R @ x, EX6_2_10_Q @ x
    return (np.log(r) * (EX6_2_10_OUTER @ x) + EX6_2_10_LINEAR @ x + np.log(q) * q
            + np.sum(x * (EX6_2_10_Z * np.log(x / r) + 5 * EX6_2_10_Q * np.log(x / q)
                          + EX6_2_10_Q * np.log(x / (EX6_2_10_TAU @ x))
                          - EX6_2_10_LAST * np.log(x))))


def ex6_2_10(x: Any) -> Any:
    """Three components in two liquid phases."""
    return _uniquac(x[::2]) + _uniquac(x[1::2])


EX6_2_10_R, EX6_2_10_Q = np.array([2.1055, 3.1878, 0.92]), np.array([1.972, 2.4, 1.4])
EX6_2_10_OUTER = np.array([15.3261663216011, 23.2043471859416, 6.69678129464404])
EX6_2_10_LINEAR = np.array([-2.46348749603266, -4.33155441248417, -0.626542690017204])
EX6_2_10_Z = np.array([6.4661663216011, 12.2043471859416, 0.696781294644034])
EX6_2_10_TAU = np.array([[1.972, 0.283910843616504, 3.02002220174195], [1.45991339466884, 2.4, 0.415073537580851],
                         [0.602183324335333, 0.115623371371275, 1.4]])
EX6_2_10_LAST = np.array([17.2981663216011, 25.6043471859416, 8.09678129464404])


def ex6_2_14(x: Any) -> Any:
    """Two components in two liquid phases by the model of Wilson, modified."""
    a, b = x[:2], x[2:]
    return np.sum((np.log(a / (a + b)) + np.log(a / (a + 0.095173 * b))) * a
                  + (np.log(b / (a + b)) + np.log(b / (0.30384 * a + b))) * b
                  + np.log(a + 2.6738 * b) * (a + 2.6738 * b) + np.log(0.374 * a + b) * (0.374 * a + b)
                  + 2.6738 * np.log(b / (a + 2.6738 * b)) * b + 0.374 * np.log(a / (0.374 * a + b)) * a
                  - 3.6838 * np.log(a) * a - 1.59549 * np.log(b) * b)


# ---- equations of state: fractions, compressibility z, and the parameters of attraction and of volume
def ex8_5_1(x: Any) -> Any:
    """The van der Waals equation for three components."""
    y, z, a, b = x[:3], x[3], x[4], x[5]
    return (np.sum(y * np.log(y)) + b / (z - b) - np.log(z - b) - 2 * a / z
            + np.array([0.430983578191493, 3.80082402249182, 2.92297302249182]) @ y)


EX8_5_1_ATTRACTION = np.array([[0.37943, 0.75885, 0.48991], [0.75885, 0.8836, 0.23612], [0.48991, 0.23612, 0.63263]])


def ex8_5_3(x: Any) -> Any:
    """The Redlich-Kwong equation for two components."""
    y, z, a, b = x[:2], x[2], x[3], x[4]
    return (np.sum(y * np.log(y)) - np.log(z - b) + z - np.log(1 + b / z) * a / b
            + np.array([5.0464317551216, 0.366877055769689]) @ y - 1)


EX8_5_3_ATTRACTION = np.array([[1.04633, 0.579822], [0.579822, 0.379615]])


# ---- azeotropes as the least deviation in a system of equations
def ex14_2_1(x: Any) -> Any:
    """All azeotropes of three components: fractions, temperature, deviation."""
    return x[4]


def ex14_2_1_system(x: Any) -> Any:
    """The equations of equilibrium, each zero at an azeotrope."""
    y, t = x[:3], x[3]
    inner = EX14_2_1_WILSON @ y
    return (np.log(inner) + (y / inner) @ EX14_2_1_WILSON + np.array([2787.49800065313, 2665.5415812027, 3643.31361767678])
            / (np.array([229.664, 219.726, 239.726]) + t) - np.array([10.7545020354713, 10.6349978691449, 12.9738026256517]))


EX14_2_1_WILSON = np.array([[1, 0.48, 0.768], [1.55, 1, 0.544], [0.566, 0.65, 1]])


TABLE = (
    Row(chem, [(0.001, 2)] * 10 + [(0.01, 10)],
        [equal(lambda x: CHEM_ELEMENTS @ x[:10], np.array([2.0, 1, 1])), equal(lambda x: np.sum(x[:10]) - x[10])],
        GLOBALLIB + "chem, with bounds added"),
    Row(ex6_1_1, [(1e-7, 0.5)] * 4 + [(0, 10)] * 4,
        [equal(lambda x: x[4:6] * (x[:2] + 0.159040857374844 * x[2:4]) - x[:2]),
         equal(lambda x: x[6:] * (0.307941026821595 * x[:2] + x[2:4]) - x[2:4]),
         equal(lambda x: np.stack([x[0] + x[1], x[2] + x[3]]), 0.5)], FLOUDAS + "ex6_1_1, with bounds added"),
    Row(ex6_1_2, [(1e-6, 1)] * 2 + [(0, 10)] * 2,
        [equal(lambda x: x[2] * (x[0] + 0.159040857374844 * x[1]) - x[0]),
         equal(lambda x: x[3] * (0.307941026821595 * x[0] + x[1]) - x[1]), equal(lambda x: x[0] + x[1], 1.0)],
        FLOUDAS + "ex6_1_2, with bounds added"),
    Row(ex6_1_4, [(1e-6, 1)] * 3 + [(0, 10)] * 3,
        [equal(lambda x: x[3:] * (EX6_1_4_RATIOS @ x[:3]) - x[:3]), equal(lambda x: np.sum(x[:3]), 1.0)],
        FLOUDAS + "ex6_1_4, with bounds added"),
    Row(ex6_2_8, [(1e-6, 1)] * 3, [equal(np.sum, 1.0)], FLOUDAS + "ex6_2_8"),
    Row(ex6_2_10, [(1e-7, 0.2)] * 2 + [(1e-7, 0.4)] * 4, [equal(lambda x: x[::2] + x[1::2], np.array([0.2, 0.4, 0.4]))],
        FLOUDAS + "ex6_2_10"),
    Row(ex6_2_14, [(1e-7, 0.5)] * 4, [equal(lambda x: np.stack([x[0] + x[1], x[2] + x[3]]), 0.5)], FLOUDAS + "ex6_2_14"),
    Row(ex8_5_1, [(1e-7, 1)] * 3 + [(0.15, 2), (0, 1), (0, 0.15)],
        [equal(lambda x: x[3] ** 3 - x[3] ** 2 * (1 + x[5]) + x[4] * x[3] - x[4] * x[5]),
         equal(lambda x: x[:3] @ (EX8_5_1_ATTRACTION @ x[:3]) - x[4]), equal(lambda x: 0.14998 * np.sum(x[:3]) - x[5]),
         equal(lambda x: np.sum(x[:3]), 1.0)], FLOUDAS + "ex8_5_1, with bounds added"),
    Row(ex8_5_3, [(1e-7, 1)] * 2 + [(0.08, 2), (0.1, 2), (0.07, 0.08)],
        [equal(lambda x: x[2] ** 3 - x[2] ** 2 + (x[3] - x[4] - x[4] ** 2) * x[2] - x[3] * x[4]),
         equal(lambda x: x[:2] @ (EX8_5_3_ATTRACTION @ x[:2]) - x[3]),
         equal(lambda x: np.array([0.0771517, 0.0765784]) @ x[:2] - x[4]), equal(lambda x: x[0] + x[1], 1.0)],
        FLOUDAS + "ex8_5_3, with bounds added"),
    Row(ex14_2_1, [(1e-6, 1)] * 3 + [(20, 80), (0, 100)],
        [at_most(lambda x: ex14_2_1_system(x) - x[4]), at_most(lambda x: -ex14_2_1_system(x) - x[4]),
         equal(lambda x: np.sum(x[:3]), 1.0)], FLOUDAS + "ex14_2_1, with a bound added"),
)
