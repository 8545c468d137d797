"""Problems of fixed size with one, or three and more variables."""

from collections.abc import Callable
from itertools import permutations
from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import ALI, BIGGS, DIXON, LIBRARY, MORE, SCHWEFEL


# ---- one variable
def forrester(x: Any) -> Any:
    """A wave under a parabola."""
    return (6 * x[0] - 2) ** 2 * np.sin(12 * x[0] - 4)


def gramacy_lee(x: Any) -> Any:
    """A damped sine and a quartic."""
    return np.sin(10 * np.pi * x[0]) / (2 * x[0]) + (x[0] - 1) ** 4


def shubert_one_variable(x: Any) -> Any:
    """A sum of five sines; three minimisers, a period apart."""
    i = np.arange(1, 6)
    return -np.sum(i * np.sin((i + 1) * x[0] + i))


# ---- fits
BARD_DATA = np.array([0.14, 0.18, 0.22, 0.25, 0.29, 0.32, 0.35, 0.39, 0.37, 0.58, 0.73, 0.96, 1.34, 2.10, 4.39])
KOWALIK_DATA = np.array([0.1957, 0.1947, 0.1735, 0.16, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246])
KOWALIK_TIMES = 1 / np.array([0.25, 0.5, 1, 2, 4, 6, 8, 10, 12, 14, 16])


def bard(x: Any) -> Any:
    """Fifteen data points, three parameters."""
    u = np.arange(1.0, 16)
    v = 16 - u
    return np.sum((BARD_DATA - (x[0] + u / (v * x[1] + np.minimum(u, v) * x[2]))) ** 2)


def biggs_exp_3(x: Any) -> Any:
    """A fit of two exponentials and one amplitude."""
    t = np.arange(1, 11) / 10
    return np.sum((np.exp(-t * x[0]) - x[2] * np.exp(-t * x[1]) - np.exp(-t) + 5 * np.exp(-10 * t)) ** 2)


def biggs_exp_4(x: Any) -> Any:
    """A fit of two exponentials and both amplitudes."""
    t = np.arange(1, 11) / 10
    return np.sum((x[2] * np.exp(-t * x[0]) - x[3] * np.exp(-t * x[1]) - np.exp(-t) + 5 * np.exp(-10 * t)) ** 2)


def box_betts(x: Any) -> Any:
    """The exponential quadratic sum of Box."""
    i = np.arange(1.0, 11)
    return np.sum((np.exp(-0.1 * i * x[0]) - np.exp(-0.1 * i * x[1]) - (np.exp(-0.1 * i) - np.exp(-i)) * x[2]) ** 2)


def brown_dennis(x: Any) -> Any:
    """A convex fit with a large residual."""
    t = np.arange(1, 21) / 5
    return np.sum(((x[0] + t * x[1] - np.exp(t)) ** 2 + (x[2] + x[3] * np.sin(t) - np.cos(t)) ** 2) ** 2)


def gulf(x: Any) -> Any:
    """The Gulf research problem: a variable exponent."""
    i = np.arange(1.0, 100)
    u = 25 + (-50 * np.log(0.01 * i)) ** (2 / 3)
    return np.sum((np.exp(-((u - x[1]) ** x[2]) / x[0]) - 0.01 * i) ** 2)


def kowalik(x: Any) -> Any:
    """Enzyme kinetics, eleven data points."""
    t = KOWALIK_TIMES
    return np.sum((KOWALIK_DATA - x[0] * (t**2 + t * x[1]) / (t**2 + t * x[2] + x[3])) ** 2)


def watson(x: Any) -> Any:
    """A least squares solution of a differential equation by a polynomial of degree five."""
    t, j = (np.arange(1, 30) / 29)[:, None], np.arange(6)
    slope = np.sum(j[1:] * x[1:] * t ** (j[1:] - 1), axis=1)
    return np.sum((slope - np.sum(x * t**j, axis=1) ** 2 - 1) ** 2) + x[0] ** 2 + (x[1] - x[0] ** 2 - 1) ** 2


# ---- valleys and equations
def colville(x: Any) -> Any:
    """Two coupled valleys (also known as Wood's function)."""
    a, b, c, d = x
    valleys = 100 * (a**2 - b) ** 2 + (a - 1) ** 2 + (c - 1) ** 2 + 90 * (c**2 - d) ** 2
    return valleys + 10.1 * ((b - 1) ** 2 + (d - 1) ** 2) + 19.8 * (b - 1) * (d - 1)


def helical_valley(x: Any) -> Any:
    """A valley that winds around the third axis; the turn is arctan2, with its jump on the far side."""
    a, b, c = x
    turn = np.arctan2(b, a) / (2 * np.pi)
    return 100 * ((c - 10 * turn) ** 2 + (np.sqrt(a**2 + b**2) - 1) ** 2) + c**2


def miele_cantrell(x: Any) -> Any:
    """Fourth to eighth powers: very flat at the minimiser."""
    a, b, c, d = x
    return (np.exp(a) - b) ** 4 + 100 * (b - c) ** 6 + np.tan(c - d) ** 4 + a**8


def paviani(x: Any) -> Any:
    """Squared logarithms and a root of the product."""
    return np.sum(np.log(x - 2) ** 2 + np.log(10 - x) ** 2) - np.prod(x) ** 0.2


def powell_singular(x: Any) -> Any:
    """The Hessian is singular at the minimiser."""
    a, b, c, d = x
    return (a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4


def power_sum(x: Any) -> Any:
    """Four power sums are given; every order of (1, 2, 2, 3) solves them, each solution degenerate."""
    return sum((np.sum(x**k) - b) ** 2 for k, b in zip((1, 2, 3, 4), (8, 18, 44, 114), strict=True))


def wolfe(x: Any) -> Any:
    """A power 3/4 at a corner of the box."""
    a, b, c = x
    return 4 / 3 * (a**2 + b**2 - a * b) ** 0.75 + c


# ---- Hartmann and Shekel
HARTMANN_HEIGHTS = np.array([1.0, 1.2, 3.0, 3.2])
HARTMANN_3_SCALES = np.array([[3, 10, 30], [0.1, 10, 35], [3, 10, 30], [0.1, 10, 35]])
HARTMANN_3_CENTRES = np.array([[3689, 1170, 2673], [4699, 4387, 7470], [1091, 8732, 5547], [381.5, 5743, 8828]]) / 10000
HARTMANN_6_SCALES = np.array([[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14],
                              [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]])
HARTMANN_6_CENTRES = np.array([[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
                               [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]) / 10000


def hartmann_3(x: Any) -> Any:
    """Four bells in three variables."""
    return -np.sum(HARTMANN_HEIGHTS * np.exp(-np.sum(HARTMANN_3_SCALES * (x - HARTMANN_3_CENTRES) ** 2, axis=1)))


def hartmann_6(x: Any) -> Any:
    """Four bells in six variables."""
    return -np.sum(HARTMANN_HEIGHTS * np.exp(-np.sum(HARTMANN_6_SCALES * (x - HARTMANN_6_CENTRES) ** 2, axis=1)))


SHEKEL_CENTRES = np.array([[4, 4, 4, 4], [1, 1, 1, 1], [8, 8, 8, 8], [6, 6, 6, 6], [3, 7, 3, 7],
                           [2, 9, 2, 9], [5, 5, 3, 3], [8, 1, 8, 1], [6, 2, 6, 2], [7, 3.6, 7, 3.6]])
SHEKEL_WIDTHS = np.array([0.1, 0.2, 0.2, 0.4, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5])


def shekel(wells: int) -> Callable[[Any], Any]:
    """Shekel's function with the first `wells` of its ten wells."""
    centres, widths = SHEKEL_CENTRES[:wells], SHEKEL_WIDTHS[:wells]

    def shekel_function(x: Any) -> Any:
        """Wells of different depth and width in four variables."""
        return -np.sum(1 / (np.sum((x - centres) ** 2, axis=1) + widths))

    return shekel_function


def _entry(fun: Any, bounds: Any, minimum: Any, points: Any, source: str, notes: str, name: str = "") -> Entry:
    return Entry(fun=fun, size=len(bounds), bounds=bounds, minimum=minimum, points=points, source=source, notes=notes, name=name)


NEARLY_ZERO = (0.0, 1e-26)  # a sum of squares whose zero is no point of doubles, or whose constants are rounded
SHEKEL = "Shekel (1971); " + DIXON

TABLE = [
    _entry(forrester, [(0, 1)], -6.0207400557670825, [(0.7572487578418559,)],
           "Forrester, Sobester and Keane, Engineering Design via Surrogate Modelling (2008)", "multimodal"),
    _entry(gramacy_lee, [(0.5, 2.5)], -0.8690111349894998, [(0.5485634445276052,)],
           "Gramacy and Lee, Cases for the nugget in modeling computer experiments (2012)", "multimodal"),
    _entry(shubert_one_variable, [(-10, 10)], -12.03124944216714, [(-6.774576143438901,), (-0.49139083625931457,),
           (5.791794470920272,)], "Shubert, A sequential method seeking the global maximum of a function (1972)", "multimodal"),
    _entry(bard, [(-0.25, 0.25), (0.01, 2.5), (0.01, 2.5)], 0.00821487730657898,
           [(0.08241055974978899, 1.1330360920297224, 2.3436951786425366)], "Bard (1970); " + MORE + ", no. 8", "a fit"),
    _entry(biggs_exp_3, [(0, 20)] * 3, NEARLY_ZERO, [(1.0, 10.0, 5.0)], BIGGS, "a fit, curved valley"),
    _entry(biggs_exp_4, [(0, 20)] * 4, NEARLY_ZERO, [(1.0, 10.0, 1.0, 5.0)], BIGGS, "a fit, curved valley"),
    _entry(box_betts, [(0.9, 1.2), (9, 11.2), (0.9, 1.2)], NEARLY_ZERO, [(1.0, 10.0, 1.0)], "Box (1966); " + ALI, "a fit"),
    _entry(brown_dennis, [(-100, 100)] * 4, 85822.20162635631,
           [(-11.594439904762165, 13.203630051207202, -0.4034394881768595, 0.23677877445573628)],
           "Brown and Dennis (1971); " + MORE + ", no. 16", "a fit, convex, badly scaled"),
    _entry(gulf, [(0.1, 100), (0, 25.6), (0, 5)], NEARLY_ZERO, [(50.0, 25.0, 1.5)], "Cox (1969); " + MORE + ", no. 11; " + ALI,
           "a fit, flat"),
    _entry(kowalik, [(0, 0.42)] * 4, 0.00030748598780560644,
           [(0.19283345298250862, 0.19083623878262898, 0.12311729627785722, 0.13576598998153694)],
           "Kowalik and Osborne (1968); " + MORE + ", no. 15; " + ALI, "a fit, flat"),
    _entry(watson, [(-5, 5)] * 6, 0.002287670053552419,
           [(-0.01572508640145835, 1.0124348693691099, -0.2329916259567372, 1.2604300877996069, -1.5137289227222779,
             0.992996432431134)],
           "Kowalik and Osborne (1968); " + MORE + ", no. 20", "a fit, flat"),
    _entry(colville, [(-10, 10)] * 4, 0.0, [(1.0, 1.0, 1.0, 1.0)], "Colville (1968); " + MORE + ", no. 14", "curved valley"),
    _entry(helical_valley, [(-10, 10)] * 3, 0.0, [(1.0, 0.0, 0.0)], "Fletcher and Powell (1963); " + MORE + ", no. 7",
           "curved valley, a jump away from the minimiser"),
    _entry(miele_cantrell, [(-1, 1)] * 4, 0.0, [(0.0, 1.0, 1.0, 1.0)], "Cragg and Levy (1969); Miele and Cantrell (1969); " + ALI,
           "flat, minimiser on the bounds"),
    _entry(paviani, [(2.001, 9.999)] * 10, -45.77846970744629, [(9.350265833069384,) * 10],
           "Himmelblau, Applied Nonlinear Programming (1972)", "unimodal"),
    _entry(powell_singular, [(-4, 5)] * 4, 0.0, [(0.0, 0.0, 0.0, 0.0)], "Powell (1962); " + MORE + ", no. 13", "unimodal, flat"),
    _entry(power_sum, [(0, 4)] * 4, 0.0, sorted(set(permutations((1.0, 2.0, 2.0, 3.0)))), "Neumaier; " + LIBRARY,
           "flat, twelve minimisers"),
    _entry(wolfe, [(0, 2)] * 3, 0.0, [(0.0, 0.0, 0.0)], SCHWEFEL, "unimodal, minimiser in a corner"),
    _entry(hartmann_3, [(0, 1)] * 3, -3.862782147820755, [(0.11461433858967196, 0.5556488499718569, 0.8525469535208658)],
           "Hartman (1973); " + DIXON, "multimodal"),
    _entry(hartmann_6, [(0, 1)] * 6, -3.3223680114155147,
           [(0.20168951100670543, 0.15001069182345797, 0.476873974221897, 0.2753324304940561, 0.31165161660011326,
             0.6573005340656204)],
           "Hartman (1973); " + DIXON, "multimodal"),
    _entry(shekel(5), [(0, 10)] * 4, -10.153199679058227,
           [(4.000037152819676, 4.00013327659156, 4.000037152819676, 4.00013327659156)], SHEKEL, "multimodal", name="shekel_5"),
    _entry(shekel(7), [(0, 10)] * 4, -10.40294056681866,
           [(4.000572916185823, 4.000689366185305, 3.9994897088591506, 3.9996061588586316)], SHEKEL, "multimodal",
           name="shekel_7"),
    _entry(shekel(10), [(0, 10)] * 4, -10.536409816692043,
           [(4.000746531592046, 4.000592934138532, 3.9996633980403224, 3.9995098005868077)], SHEKEL, "multimodal",
           name="shekel_10"),
]
