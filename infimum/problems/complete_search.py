"""The ten scalable functions of the GPU complete search, with that paper's own constants and bounds.

The bounds are not symmetric about the minimiser, so that no cut through the middle of the box finds it by luck.
"""

import math
from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import COMPLETE_SEARCH


def ackley(x: Any) -> Any:
    """Ripples in a wide, flat funnel (-0.02 where the common form has -0.2)."""
    return -20 * np.exp(-0.02 * np.sqrt(np.sum(x**2) / len(x))) - np.exp(np.sum(np.cos(2 * np.pi * x)) / len(x)) + 20 + np.e


def belegundu(x: Any) -> Any:
    """The deflected corrugated spring: concentric waves around (5, ..., 5)."""
    square = np.sum((x - 5) ** 2)
    return 0.1 * square - np.cos(5 * np.sqrt(square))


def breiman(x: Any) -> Any:
    """The cosine mixture."""
    return -0.1 * np.sum(np.cos(5 * np.pi * x)) + np.sum(x**2)


def fu(x: Any) -> Any:
    """Sines of squares: the waves become shorter away from the minimiser."""
    square = (x - 0.9) ** 2
    return 1 + np.sum(8 * np.sin(7 * square) ** 2 + 6 * np.sin(14 * square) ** 2 + square)


def griewank(x: Any) -> Any:
    """A shallow bowl with a product of cosines."""
    return 1 + np.sum(x**2 / 4000) - np.prod(np.cos(x / np.sqrt(np.arange(1, len(x) + 1))))


def levy(x: Any) -> Any:
    """The first function of Levy and Montalvo: neighbouring variables are coupled."""
    y = 1 + 0.25 * (x - 1)
    coupled = np.sum((y[:-1] - 1) ** 2 * (1 + 10 * np.sin(np.pi * y[1:]) ** 2))
    return np.pi / len(x) * (10 * np.sin(np.pi * y[0]) ** 2 + (y[-1] - 1) ** 2 + coupled)


def rastrigin(x: Any) -> Any:
    """A bowl with a cosine in each variable."""
    return 10 * len(x) + np.sum(x**2 - 10 * np.cos(2 * np.pi * x))


def salomon(x: Any) -> Any:
    """Rings around the origin, a cone at the minimiser."""
    r = np.sqrt(np.sum(x**2))
    return 1 - np.cos(2 * np.pi * r) + 0.1 * r


def styblinski(x: Any) -> Any:
    """The corrupted convex quadratic: a flat bowl and a product of cosines."""
    return np.sum(x**2) / (2 * len(x)) - 4 * len(x) * np.prod(np.cos(x))


def zabinsky(x: Any) -> Any:
    """Two products of sines: nearly constant in many variables, except close to the minimiser."""
    shifted = x - np.pi / 6
    return -2.5 * np.prod(np.sin(shifted)) - np.prod(np.sin(5 * shifted))


def _entry(fun: Any, bounds: tuple[float, float], minimum: Any, point: float, original: str, notes: str, least: int = 1) -> Entry:
    return Entry(fun=fun, size=10, sizes=(least, math.inf), bounds=bounds, minimum=minimum, points=[point],
                 source=f"{COMPLETE_SEARCH}; after {original}", notes=notes, name=f"complete_search_{fun.__name__}")


E_ERROR = (-1.4456468917292503e-16, -1.44564689172925e-16)  # the double np.e less the true e
SIN_PI = (0.0, 1e-30)  # the sine of the double np.pi is not 0

TABLE = [
    _entry(ackley, (-35, 40), E_ERROR, 0.0, "Ackley (1987)", "multimodal, kink at the minimiser"),
    _entry(belegundu, (-10, 11), -1.0, 5.0, "Belegundu and Chandrupatla (2019)", "multimodal, radial"),
    _entry(breiman, (-1, 2), lambda n: -0.1 * n, 0.0, "Breiman and Cutler (1993)", "multimodal, separable"),
    _entry(fu, (-10, 10), 1.0, 0.9, "Fu, Hu and Marcus (2006)", "multimodal, separable"),
    _entry(griewank, (-100, 110), 0.0, 0.0, "Griewank (1981)", "multimodal"),
    _entry(levy, (-10, 10), SIN_PI, 1.0, "Levy and Montalvo (1985)", "multimodal", least=2),
    _entry(rastrigin, (-5.5, 6), 0.0, 0.0, "Rastrigin (1974)", "multimodal, separable"),
    _entry(salomon, (-100, 110), 0.0, 0.0, "Salomon (1996)", "multimodal, radial, kink at the minimiser"),
    _entry(styblinski, (-10, 11), lambda n: -4.0 * n, 0.0, "Styblinski and Tang (1990)", "multimodal"),
    _entry(zabinsky, (0, np.pi), -3.5, 2 * np.pi / 3, "Zabinsky, Graesser, Tuttle and Kim (1992)", "multimodal, flat"),
]
