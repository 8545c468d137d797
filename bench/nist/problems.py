"""NIST's 27 nonlinear regressions (Statistical Reference Datasets): data, models as users write them, bounds, certified fits.

The data (data.json, made by make_data.py) are in the public domain. NIST's certified values have eleven digits.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from pathlib import Path

import numpy as np

RULES = ("x10", "hull")


# ---- the models

def misra1a(x, b1, b2):
    return b1 * (1 - np.exp(-b2 * x))


def misra1b(x, b1, b2):
    return b1 * (1 - (1 + b2 * x / 2) ** -2)


def misra1c(x, b1, b2):
    return b1 * (1 - (1 + 2 * b2 * x) ** -0.5)


def misra1d(x, b1, b2):
    return b1 * b2 * x / (1 + b2 * x)


def chwirut(x, b1, b2, b3):
    return np.exp(-b1 * x) / (b2 + b3 * x)


def lanczos(x, b1, b2, b3, b4, b5, b6):
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-b4 * x) + b5 * np.exp(-b6 * x)


def gauss(x, b1, b2, b3, b4, b5, b6, b7, b8):
    return b1 * np.exp(-b2 * x) + b3 * np.exp(-(x - b4) ** 2 / b5**2) + b6 * np.exp(-(x - b7) ** 2 / b8**2)


def danwood(x, b1, b2):
    return b1 * x**b2


def kirby2(x, b1, b2, b3, b4, b5):
    return (b1 + b2 * x + b3 * x**2) / (1 + b4 * x + b5 * x**2)


def cubics(x, b1, b2, b3, b4, b5, b6, b7):
    return (b1 + b2 * x + b3 * x**2 + b4 * x**3) / (1 + b5 * x + b6 * x**2 + b7 * x**3)


def nelson(x, b1, b2, b3):
    time, temperature = x
    return b1 - b2 * time * np.exp(-b3 * temperature)


def mgh17(x, b1, b2, b3, b4, b5):
    return b1 + b2 * np.exp(-x * b4) + b3 * np.exp(-x * b5)


def roszman1(x, b1, b2, b3, b4):
    return b1 - b2 * x - np.arctan(b3 / (x - b4)) / np.pi


def enso(x, b1, b2, b3, b4, b5, b6, b7, b8, b9):
    return (b1 + b2 * np.cos(2 * np.pi * x / 12) + b3 * np.sin(2 * np.pi * x / 12)
            + b5 * np.cos(2 * np.pi * x / b4) + b6 * np.sin(2 * np.pi * x / b4)
            + b8 * np.cos(2 * np.pi * x / b7) + b9 * np.sin(2 * np.pi * x / b7))


def mgh09(x, b1, b2, b3, b4):
    return b1 * (x**2 + x * b2) / (x**2 + x * b3 + b4)


def rat42(x, b1, b2, b3):
    return b1 / (1 + np.exp(b2 - b3 * x))


def rat43(x, b1, b2, b3, b4):
    return b1 / (1 + np.exp(b2 - b3 * x)) ** (1 / b4)


def mgh10(x, b1, b2, b3):
    return b1 * np.exp(b2 / (x + b3))


def eckerle4(x, b1, b2, b3):
    return b1 / b2 * np.exp(-0.5 * ((x - b3) / b2) ** 2)


def bennett5(x, b1, b2, b3):
    return b1 * (b2 + x) ** (-1 / b3)


# The model of a problem, and which of its parameters are bounded as nonlinear ones: no hint to a solver, only the rules of the
# bounds need it. The b2 of MGH09 is linear once b1 * b2 is one parameter.
MODELS: dict[str, tuple[Callable, tuple[int, ...]]] = {
    "Misra1a": (misra1a, (2,)), "Chwirut2": (chwirut, (1, 2, 3)), "Chwirut1": (chwirut, (1, 2, 3)),
    "Lanczos3": (lanczos, (2, 4, 6)), "Gauss1": (gauss, (2, 4, 5, 7, 8)), "Gauss2": (gauss, (2, 4, 5, 7, 8)),
    "DanWood": (danwood, (2,)), "Misra1b": (misra1b, (2,)), "Kirby2": (kirby2, (4, 5)), "Hahn1": (cubics, (5, 6, 7)),
    "Nelson": (nelson, (3,)), "MGH17": (mgh17, (4, 5)), "Lanczos1": (lanczos, (2, 4, 6)), "Lanczos2": (lanczos, (2, 4, 6)),
    "Gauss3": (gauss, (2, 4, 5, 7, 8)), "Misra1c": (misra1c, (2,)), "Misra1d": (misra1d, (2,)), "Roszman1": (roszman1, (3, 4)),
    "ENSO": (enso, (4, 7)), "MGH09": (mgh09, (3, 4)), "Thurber": (cubics, (5, 6, 7)), "BoxBOD": (misra1a, (2,)),
    "Rat42": (rat42, (2, 3)), "MGH10": (mgh10, (2, 3)), "Eckerle4": (eckerle4, (2, 3)), "Rat43": (rat43, (2, 3, 4)),
    "Bennett5": (bennett5, (2, 3)),
}


def digits(text: str) -> tuple[float, float]:
    """The numbers that a certified value may stand for: to one unit of its last digit."""
    value = Decimal(text)
    unit = Decimal(1).scaleb(value.as_tuple().exponent)
    return float(value - unit), float(value + unit)


@dataclass(frozen=True)
class Fit:
    """A model with its data, NIST's two starts, and the certified fit. `x` has one row for each of several variables."""

    name: str
    model: Callable
    nonlinear: tuple[int, ...]
    x: np.ndarray
    y: np.ndarray
    starts: np.ndarray
    certified_text: tuple[str, ...]
    squares_text: str

    @cached_property
    def certified(self) -> np.ndarray:
        return np.array([float(text) for text in self.certified_text])

    def bounds(self, rule: str) -> list[tuple[float, float]]:
        """For nonlinear parameters, from the hull of the starts and the certified value: "x10" from a tenth to ten times, "hull"
        widened by its width at both ends, but only to a tenth where that would reach 0. Linear ones: 100 times the largest."""
        points = np.vstack([self.starts, self.certified])
        lo, hi = points.min(axis=0), points.max(axis=0)
        width, most = hi - lo, 100 * np.abs(points).max(axis=0)
        if rule == "x10":
            low, high = np.where(lo > 0, lo / 10, lo * 10), np.where(hi > 0, hi * 10, hi / 10)
        else:
            low = np.where(lo > 0, np.maximum(lo - width, lo / 10), lo - width)
            high = np.where(hi < 0, np.minimum(hi + width, hi / 10), hi + width)
        nonlinear = np.isin(np.arange(1, len(lo) + 1), self.nonlinear)
        return list(zip(np.where(nonlinear, low, -most).tolist(), np.where(nonlinear, high, most).tolist(), strict=True))

    def sum_of_squares(self, b: np.ndarray) -> float:
        return float(np.sum((self.y - self.model(self.x, *b)) ** 2))


def read() -> dict[str, Fit]:
    """The problems by name, in NIST's order: by difficulty. Models and data have the certified sums of squares."""
    data = json.loads(Path(__file__).with_name("data.json").read_text())

    def fit(name: str) -> Fit:
        p, (model, nonlinear) = data[name], MODELS[name]
        y, x = np.array(p["y"]), np.array(p["x"])
        return Fit(name, model, nonlinear, x if len(x) > 1 else x[0], np.log(y) if name == "Nelson" else y,
                   np.array([p["start_1"], p["start_2"]]), tuple(p["certified"]), p["sum_of_squares"])
    fits = {name: fit(name) for name in MODELS}
    for p in fits.values():
        assert math.isclose(p.sum_of_squares(p.certified), float(p.squares_text), rel_tol=1e-9, abs_tol=1e-20), p.name
    return fits
