"""Scalable problems with many local minima."""

import math
from typing import Any

import numpy as np

from infimum.problems.complete_search import E_ERROR, SIN_PI, breiman, griewank, rastrigin, salomon
from infimum.problems.entry import Entry
from infimum.problems.sources import ALI, BEYER, JAMIL, LEVY, LIBRARY, RAHNAMAYAN, SCHWEFEL, YANG


def ackley(x: Any) -> Any:
    """Ripples around a funnel with a kink at its foot."""
    return -20 * np.exp(-0.2 * np.sqrt(np.sum(x**2) / len(x))) - np.exp(np.sum(np.cos(2 * np.pi * x)) / len(x)) + 20 + np.e


def alpine_1(x: Any) -> Any:
    """Absolute values of waves; each variable has several zeros."""
    return np.sum(np.abs(x * np.sin(x) + 0.1 * x))


def alpine_2(x: Any) -> Any:
    """A product of growing waves, the sign turned so that it is minimised."""
    return -np.prod(np.sqrt(x) * np.sin(x))


def deb_1(x: Any) -> Any:
    """Ten equally deep wells in each variable."""
    return -np.sum(np.sin(5 * np.pi * x) ** 6) / len(x)


def happy_cat(x: Any) -> Any:
    """A steep groove along a sphere; no slope is finite at the minimiser."""
    square = np.sum(x**2)
    return ((square - len(x)) ** 2) ** 0.125 + (0.5 * square + np.sum(x)) / len(x) + 0.5


def hgbat(x: Any) -> Any:
    """Two grooves that cross at the minimiser."""
    square, total = np.sum(x**2), np.sum(x)
    return np.sqrt(np.abs(square**2 - total**2)) + (0.5 * square + total) / len(x) + 0.5


def levy(x: Any) -> Any:
    """The common form of Levy's function."""
    w = 1 + (x - 1) / 4
    inner = np.sum((w[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * w[:-1] + 1) ** 2))
    return np.sin(np.pi * w[0]) ** 2 + inner + (w[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * w[-1]) ** 2)


def levy_montalvo_2(x: Any) -> Any:
    """The second function of Levy and Montalvo."""
    inner = np.sum((x[:-1] - 1) ** 2 * (1 + np.sin(3 * np.pi * x[1:]) ** 2))
    return 0.1 * (np.sin(3 * np.pi * x[0]) ** 2 + inner + (x[-1] - 1) ** 2 * (1 + np.sin(2 * np.pi * x[-1]) ** 2))


def michalewicz(x: Any) -> Any:
    """Narrow valleys, steepness 10."""
    return -np.sum(np.sin(x) * np.sin(np.arange(1, len(x) + 1) * x**2 / np.pi) ** 20)


def pathological(x: Any) -> Any:
    """Waves whose height depends on how far neighbours differ."""
    a, b = x[:-1], x[1:]
    wave = np.sin(np.sqrt(100 * a**2 + b**2)) ** 2 - 0.5
    return np.sum(0.5 + wave / (1 + 0.001 * (a**2 - 2 * a * b + b**2) ** 2))


def pinter(x: Any) -> Any:
    """Every variable is coupled with both neighbours, in a ring."""
    i, before, after = np.arange(1.0, len(x) + 1), np.roll(x, 1), np.roll(x, -1)
    a = before * np.sin(x) + np.sin(after)
    b = before**2 - 2 * x + 3 * after - np.cos(x) + 1
    return np.sum(i * x**2) + np.sum(20 * i * np.sin(a) ** 2) + np.sum(i * np.log10(1 + i * b**2))


def quintic(x: Any) -> Any:
    """Absolute values of a polynomial with the zeros -1, 2 and one near -0.4."""
    return np.sum(np.abs(x**5 - 3 * x**4 + 4 * x**3 + 2 * x**2 - 10 * x - 4))


def schwefel_2_26(x: Any) -> Any:
    """The deepest well lies near a corner, far from the second deepest."""
    return np.sum(418.9828872724338 - x * np.sin(np.sqrt(np.abs(x))))


def stretched_v_sine_wave(x: Any) -> Any:
    """Waves of a small power of the distance: ever shorter towards the minimiser."""
    square = x[1:] ** 2 + x[:-1] ** 2
    return np.sum(square**0.25 * (np.sin(50 * square**0.1) ** 2 + 0.1))


def styblinski_tang(x: Any) -> Any:
    """Two wells in each variable, one deeper."""
    return 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x)


def trigonometric(x: Any) -> Any:
    """Squares of coupled sines and cosines."""
    i = np.arange(1.0, len(x) + 1)
    return np.sum((len(x) - np.sum(np.cos(x)) + i * (1 - np.cos(x)) - np.sin(x)) ** 2)


def vincent(x: Any) -> Any:
    """Six equally deep wells of growing width in each variable."""
    return -np.sum(np.sin(10 * np.log(x))) / len(x)


def wavy(x: Any) -> Any:
    """Waves under a bell."""
    return 1 - np.sum(np.cos(10 * x) * np.exp(-0.5 * x**2)) / len(x)


def weierstrass(x: Any) -> Any:
    """Twenty-one terms of a nowhere differentiable series."""
    a, b = 0.5 ** np.arange(21), 3.0 ** np.arange(21)
    return np.sum(a * (np.cos(2 * np.pi * b * (x[:, None] + 0.5)) - np.cos(np.pi * b)))


def whitley(x: Any) -> Any:
    """Griewank's waves over Rosenbrock's valley, for all pairs of variables."""
    valley = 100 * (x[:, None] ** 2 - x[None, :]) ** 2 + (1 - x[None, :]) ** 2
    return np.sum(valley**2 / 4000 - np.cos(valley) + 1)


def xin_she_yang_2(x: Any) -> Any:
    """A cone times the exponential of waves."""
    return np.sum(np.abs(x)) * np.exp(-np.sum(np.sin(x**2)))


def xin_she_yang_3(x: Any) -> Any:
    """A needle in the middle of a plateau."""
    return np.exp(-np.sum((x / 15) ** 10)) - 2 * np.exp(-np.sum(x**2)) * np.prod(np.cos(x) ** 2)


def xin_she_yang_4(x: Any) -> Any:
    """Waves under a product of exponentials, a kink at the minimiser."""
    return (np.sum(np.sin(x) ** 2) - np.exp(-np.sum(x**2))) * np.exp(-np.sum(np.sin(np.sqrt(np.abs(x))) ** 2))


# ---- minima that are no closed formula
ALPINE_2_FACTOR, ALPINE_2_POINT = 2.808131180007005, 7.917052684666207
SCHWEFEL_2_26_ENDS, SCHWEFEL_2_26_POINT = (9.353312716620284e-14, 9.353312716620289e-14), 420.96874635998205
STYBLINSKI_TANG_VALUE, STYBLINSKI_TANG_POINT = -39.16616570377141, -2.903534027771177
WEIERSTRASS_ENDS = (-1e-18, 1e-18)


def _power(n: int) -> tuple[float, float]:
    value, slack = ALPINE_2_FACTOR**n, (n + 4) * 2.0**-52
    return -value * (1 + slack), -value * (1 - slack)


def michalewicz_point(n: int) -> np.ndarray:
    """The minimiser: for each i the best of the peaks of sin(i x^2 / pi) next to pi / 2, polished by Newton's method."""
    i = np.arange(1.0, n + 1)
    peak = np.floor(i / 4 - 0.5) + np.array([[-1.0], [0.0], [1.0], [2.0]])  # sin(x) is largest at pi/2: i x^2 / pi = pi i / 4
    x = np.pi * np.sqrt(np.clip(peak, 0, i - 1) / i + 0.5 / i)
    for _ in range(60):  # first and second derivative of log(sin(x) sin(u)^20), which is concave around each peak
        u, slope = i * x**2 / np.pi, 2 * i * x / np.pi
        first = 1 / np.tan(x) + 20 * slope / np.tan(u)
        second = -1 / np.sin(x) ** 2 + 40 * i / np.pi / np.tan(u) - 20 * (slope / np.sin(u)) ** 2
        x = x - first / second
    values = np.sin(x) * np.sin(i * x**2 / np.pi) ** 20
    return x[np.argmax(values, axis=0), np.arange(n)]


def _michalewicz_minimum(n: int) -> tuple[float, float]:
    value, slack = float(michalewicz(michalewicz_point(n))), 2e-13 * n  # the argument i x^2 / pi of a sine, rounded
    return value - slack, value + slack


ANY, PAIRS = (1, math.inf), (2, math.inf)


_USUAL = {"minimum": 0.0, "points": (0.0,), "sizes": ANY, "size": 10}  # of fields that an entry does not give


def _entry(fun: Any, bounds: Any, source: str, notes: str, **fields: Any) -> Entry:
    return Entry(fun=fun, bounds=bounds, source=source, notes="multimodal, " + notes, **(_USUAL | fields))


TABLE = [
    _entry(ackley, (-32.768, 32.768), "Ackley, A Connectionist Machine for Genetic Hillclimbing (1987)",
           "kink at the minimiser", minimum=E_ERROR),
    _entry(alpine_1, (-10, 10), RAHNAMAYAN, "separable, kink at the minimiser", complete=False),
    _entry(alpine_2, (0, 10), "Clerc, The swarm and the queen (1999)", "a product", minimum=_power, points=[ALPINE_2_POINT],
           sizes=(1, 600)),
    _entry(breiman, (-1, 1), "Breiman and Cutler, A deterministic algorithm for global optimization (1993)", "separable",
           minimum=lambda n: -0.1 * n, name="cosine_mixture"),
    _entry(deb_1, (-1, 1), "Rönkkönen, Continuous multimodal global optimization (2009)", "separable, 10^n minimisers",
           minimum=-1.0, points=[0.1, -0.3], complete=False),
    _entry(griewank, (-600, 600), "Griewank, Generalized descent for global optimization (1981)", "a product"),
    _entry(happy_cat, (-2, 2), BEYER, "kink at the minimiser", points=[-1.0]),
    _entry(hgbat, (-2, 2), BEYER, "kink at the minimiser", points=[-1.0]),
    _entry(levy, (-10, 10), "Laguna and Marti (2005); " + LIBRARY, "coupled by the first and last variable", minimum=SIN_PI,
           points=[1.0], sizes=PAIRS),
    _entry(levy_montalvo_2, (-5, 5), LEVY + "; " + ALI, "chained", minimum=SIN_PI,
           points=[1.0], sizes=PAIRS),
    _entry(michalewicz, (0, np.pi), "Michalewicz, Genetic Algorithms + Data Structures = Evolution Programs (1992)",
           "separable, steep valleys", minimum=_michalewicz_minimum, points=lambda n: [michalewicz_point(n)]),
    _entry(pathological, (-100, 100), RAHNAMAYAN, "chained", sizes=PAIRS, complete=False),
    _entry(pinter, (-10, 10), "Pinter, Global Optimization in Action (1996)", "a ring", sizes=PAIRS),
    _entry(quintic, (-10, 10), JAMIL, "separable, kink at the minimiser, 3^n minimisers", points=[-1.0, 2.0], complete=False),
    _entry(rastrigin, (-5.12, 5.12), "Rastrigin, Systems of extremal control (1974)", "separable"),
    _entry(salomon, (-100, 100), "Salomon, Re-evaluating genetic algorithm performance (1996)", "radial, kink at the minimiser"),
    _entry(schwefel_2_26, (-500, 500), SCHWEFEL, "separable",
           minimum=lambda n: (n * SCHWEFEL_2_26_ENDS[0], n * SCHWEFEL_2_26_ENDS[1]), points=[SCHWEFEL_2_26_POINT]),
    _entry(stretched_v_sine_wave, (-10, 10), "Schaffer, Caruana, Eshelman and Das (1989)", "kink at the minimiser", sizes=PAIRS),
    _entry(styblinski_tang, (-5, 5), "Styblinski and Tang, Experiments in nonconvex optimization (1990)", "separable",
           minimum=lambda n: n * STYBLINSKI_TANG_VALUE, points=[STYBLINSKI_TANG_POINT]),
    _entry(trigonometric, (0, np.pi), "Moré, Garbow and Hillstrom, Testing unconstrained optimization software (1981), no. 26",
           "minimiser on the bounds, others possible", complete=False),
    _entry(vincent, (0.25, 10), "Li, Engelbrecht and Epitropakis, Benchmark functions for CEC 2013 niching (2013)",
           "separable, 6^n minimisers", minimum=-1.0, points=[np.exp(np.pi / 20), np.exp(np.pi / 4)], complete=False),
    _entry(wavy, (-np.pi, np.pi), "Courrieu, The hyperbell algorithm for global optimization (1997)", "separable"),
    _entry(weierstrass, (-0.5, 0.5), "Suganthan and others, Problem definitions for the CEC 2005 special session (2005)",
           "separable, waves on every scale", minimum=lambda n: (n * WEIERSTRASS_ENDS[0], n * WEIERSTRASS_ENDS[1])),
    _entry(whitley, (-10.24, 10.24), "Whitley, Mathias, Rana and Dzubera, Evaluating evolutionary algorithms (1996)",
           "all pairs", points=[1.0]),
    _entry(xin_she_yang_2, (-2 * np.pi, 2 * np.pi), YANG, "kink at the minimiser"),
    _entry(xin_she_yang_3, (-20, 20), YANG, "flat, a needle", minimum=-1.0),
    _entry(xin_she_yang_4, (-10, 10), YANG, "kink at the minimiser", minimum=-1.0),
]
