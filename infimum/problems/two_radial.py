"""Problems of two variables in which the distance from the origin plays a part."""

from typing import Any

import numpy as np

from infimum.problems.entry import Entry
from infimum.problems.sources import JAMIL, LIBRARY, MISHRA, SCHAFFER


def ackley_2(x: Any) -> Any:
    """A single cone."""
    return -200 * np.exp(-0.02 * np.sqrt(np.sum(x**2)))


def ackley_3(x: Any) -> Any:
    """A cone with waves on it."""
    return ackley_2(x) + 5 * np.exp(np.cos(3 * x[0]) + np.sin(3 * x[1]))


def carrom_table(x: Any) -> Any:
    """Exponential growth with distance times squared cosines."""
    r = np.sqrt(np.sum(x**2))
    return -((np.cos(x[0]) * np.cos(x[1]) * np.exp(np.abs(1 - r / np.pi))) ** 2) / 30


def cross_in_tray(x: Any) -> Any:
    """Four minimisers in a tray, kinks along a cross."""
    r = np.sqrt(np.sum(x**2))
    return -0.0001 * (np.abs(np.sin(x[0]) * np.sin(x[1]) * np.exp(np.abs(100 - r / np.pi))) + 1) ** 0.1


def drop_wave(x: Any) -> Any:
    """Rings around the minimiser."""
    square = np.sum(x**2)
    return -(1 + np.cos(12 * np.sqrt(square))) / (0.5 * square + 2)


def holder_table(x: Any) -> Any:
    """Four minimisers at the corners of a table."""
    r = np.sqrt(np.sum(x**2))
    return -np.abs(np.sin(x[0]) * np.cos(x[1]) * np.exp(np.abs(1 - r / np.pi)))


def keane(x: Any) -> Any:
    """A bump function, undefined at the origin; two minimisers on the bounds."""
    a, b = x
    return -(np.sin(a - b) ** 2) * np.sin(a + b) ** 2 / np.sqrt(a**2 + b**2)


def pen_holder(x: Any) -> Any:
    """Four minimisers; undefined where a cosine is 0."""
    r = np.sqrt(np.sum(x**2))
    return -np.exp(-1 / np.abs(np.cos(x[0]) * np.cos(x[1]) * np.exp(np.abs(1 - r / np.pi))))


def schaffer_1(x: Any) -> Any:
    """Rings that become flatter with distance."""
    square = np.sum(x**2)
    return 0.5 + (np.sin(square) ** 2 - 0.5) / (1 + 0.001 * square) ** 2


def schaffer_2(x: Any) -> Any:
    """Waves along hyperbolas."""
    return 0.5 + (np.sin(x[0] ** 2 - x[1] ** 2) ** 2 - 0.5) / (1 + 0.001 * np.sum(x**2)) ** 2


def schaffer_3(x: Any) -> Any:
    """A sine of a cosine along hyperbolas; four minimisers."""
    wave = np.sin(np.cos(np.abs(x[0] ** 2 - x[1] ** 2))) ** 2
    return 0.5 + (wave - 0.5) / (1 + 0.001 * np.sum(x**2)) ** 2


def schaffer_4(x: Any) -> Any:
    """A cosine of a sine along hyperbolas; four minimisers."""
    wave = np.cos(np.sin(np.abs(x[0] ** 2 - x[1] ** 2))) ** 2
    return 0.5 + (wave - 0.5) / (1 + 0.001 * np.sum(x**2)) ** 2


def schaffer_6(x: Any) -> Any:
    """Rings of the distance itself that become flatter outwards."""
    square = np.sum(x**2)
    return 0.5 + (np.sin(np.sqrt(square)) ** 2 - 0.5) / (1 + 0.001 * square) ** 2


def tube_holder(x: Any) -> Any:
    """The test tube holder: two minimisers among many near ones."""
    return -4 * np.abs(np.sin(x[0]) * np.cos(x[1]) * np.exp(np.abs(np.cos(np.sum(x**2) / 200))))


def ursem_4(x: Any) -> Any:
    """A cone between four minima at the corners."""
    return -3 * np.sin(0.5 * np.pi * x[0] + 0.5 * np.pi) * (2 - np.sqrt(np.sum(x**2))) / 4


def _entry(fun: Any, bounds: tuple[float, float], minimum: Any, points: Any, source: str, notes: str) -> Entry:
    return Entry(fun=fun, size=2, bounds=[bounds] * 2, minimum=minimum, points=points, source=source, notes=notes)


ORIGIN = [(0.0, 0.0)]

TABLE = [
    _entry(ackley_2, (-32, 32), -200.0, ORIGIN, "Ackley (1987), as given by " + JAMIL, "unimodal, kink at the minimiser"),
    _entry(ackley_3, (-32, 32), -195.62902826227935, [(-0.6825771831515794, -0.36070186306103735),
           (0.6825771831515794, -0.36070186306103735)], "Ackley (1987), as given by " + JAMIL, "multimodal"),
    _entry(carrom_table, (-10, 10), -24.156815547391197, [(-9.646167670410366, -9.646167670410366),
           (-9.646167670410366, 9.646167670410366), (9.646167670410366, -9.646167670410366),
           (9.646167670410366, 9.646167670410366)], MISHRA, "multimodal"),
    _entry(cross_in_tray, (-10, 10), -2.062611870822738, [(-1.3494066171539107, -1.3494066171539107),
           (-1.3494066171539107, 1.3494066171539107), (1.3494066171539107, -1.3494066171539107),
           (1.3494066171539107, 1.3494066171539107)], MISHRA, "multimodal, kinks"),
    _entry(drop_wave, (-5.12, 5.12), -1.0, ORIGIN, LIBRARY, "multimodal, radial"),
    _entry(holder_table, (-10, 10), -19.208502567886736, [(-8.055023475736563, -9.664590019241272),
           (-8.055023475736563, 9.664590019241272), (8.055023475736563, -9.664590019241272),
           (8.055023475736563, 9.664590019241272)], MISHRA, "multimodal, kinks"),
    _entry(keane, (0, 10), -0.6736675211468547, [(0.0, 1.3932490753255886), (1.3932490753255886, 0.0)],
           "Keane, Experiences with optimizers in structural design (1994); " + JAMIL,
           "multimodal, minimiser on a bound, undefined at a corner"),
    _entry(pen_holder, (-11, 11), -0.9635348327265058, [(-9.646167670410366, -9.646167670410366),
           (-9.646167670410366, 9.646167670410366), (9.646167670410366, -9.646167670410366),
           (9.646167670410366, 9.646167670410366)], MISHRA, "multimodal, flat, undefined along lines"),
    _entry(schaffer_1, (-100, 100), 0.0, ORIGIN, SCHAFFER + JAMIL, "multimodal, radial"),
    _entry(schaffer_2, (-100, 100), 0.0, ORIGIN, SCHAFFER + LIBRARY, "multimodal"),
    _entry(schaffer_3, (-100, 100), 0.0015668545260041698, [(-1.2531149631200684, 0.0), (0.0, -1.2531149631200684),
           (0.0, 1.2531149631200684), (1.2531149631200684, 0.0)], SCHAFFER + MISHRA, "multimodal"),
    _entry(schaffer_4, (-100, 100), 0.29257863203598056, [(-1.2531318314637332, 0.0), (0.0, -1.2531318314637332),
           (0.0, 1.2531318314637332), (1.2531318314637332, 0.0)], SCHAFFER + LIBRARY, "multimodal"),
    _entry(schaffer_6, (-100, 100), 0.0, ORIGIN, "Schaffer, Caruana, Eshelman and Das, function f6 (1989)", "multimodal, radial"),
    _entry(tube_holder, (-10, 10), -10.872300105622745, [(-1.5706026141658023, 0.0), (1.5706026141658023, 0.0)], MISHRA,
           "multimodal, kinks"),
    _entry(ursem_4, (-2, 2), -1.5, ORIGIN, "Ursem (1999), as given by " + JAMIL, "multimodal, kink at the minimiser"),
]
