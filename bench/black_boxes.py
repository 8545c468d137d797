"""Random test functions with known minimisers, as plain functions of a point: the GKLS generator's classes, and Grishagin's.

Their parameters are in a folder of vectors, `gkls_classes.json` and `grishagin.json`. `drawn` draws functions that are in no
file, after the generator's description: a paraboloid, and balls that do not overlap, in each of which a cubic goes down to a
local minimum.
"""

import json
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

WITHIN = 0.01   # of the width, in every coordinate: a trial so near the minimiser solves a problem
CLASSES = "grishagin", "2-simple", "2-hard", "3-simple", "3-hard", "4-simple", "4-hard", "5-simple", "5-hard"
# distance of the minimiser from the paraboloid's vertex, and the radius of its ball
GKLS = {"2-simple": (0.9, 0.2), "2-hard": (0.9, 0.1), "3-simple": (0.66, 0.2), "3-hard": (0.9, 0.2),
        "4-simple": (0.66, 0.2), "4-hard": (0.9, 0.2), "5-simple": (0.66, 0.3), "5-hard": (0.66, 0.2)}
_MINIMA, _LEAST = 10, -1.0


@dataclass(frozen=True)
class BlackBox:
    """A function on the cube [lo, hi]**n, and its minimiser."""

    fun: Callable[[np.ndarray], float]
    minimiser: np.ndarray
    lo: float
    hi: float

    def at(self, point: tuple[float, ...]) -> np.ndarray:
        """A point of the unit cube, in the function's own."""
        return self.lo + (self.hi - self.lo) * np.array(point)

    def solved(self, x: np.ndarray) -> bool:
        """Whether a trial is near enough."""
        return bool(np.abs(x - self.minimiser).max() <= WITHIN * (self.hi - self.lo))


def gkls(p: dict[str, Any]) -> BlackBox:
    """The function of type D, of the generator's parameters."""
    minima = np.array(p["local_min"])
    vertex, centres, at_vertex = minima[0], minima[1:], p["f"][0]
    values, radius = np.array(p["f"][1:]), np.array(p["rho"][1:])
    toward = vertex - centres
    depth = np.sum(toward**2, axis=1) + at_vertex - values
    square = radius**2

    def f(x: np.ndarray) -> float:
        away = x - centres
        distance = np.einsum("ij,ij->i", away, away)
        k = int((distance / square).argmin())
        d2 = float(distance[k])
        if d2 >= square[k]:
            away = x - vertex
            return float(away @ away) + at_vertex
        d, rho, along = math.sqrt(d2), float(radius[k]), float(away[k] @ toward[k])
        return ((2 * along - 2 * depth[k] / rho * d) * d2 / rho**2 + (1 + 3 * depth[k] / rho**2) * d2 - 4 * along * d / rho
                + values[k]).item()
    return BlackBox(f, minima[p["global_index"]], -1.0, 1.0)


def grishagin(p: dict[str, Any]) -> BlackBox:
    """A root of squares of Fourier sums."""
    a, b, c, d = (np.array(p[k]) for k in "abcd")
    k = np.pi * np.arange(1, 8)

    def f(x: np.ndarray) -> float:
        sines, cosines = np.sin(k * x[:, None]), np.cos(k * x[:, None])
        return -math.hypot(sines[0] @ a @ sines[1] + cosines[0] @ b @ cosines[1],
                           sines[0] @ c @ sines[1] - cosines[0] @ d @ cosines[1])
    return BlackBox(f, np.array(p["xmin_polished"]), 0.0, 1.0)


def from_vectors(folder: Path, name: str) -> list[BlackBox]:
    """The functions of a class, in the order of the file; each GKLS function compared with the file's samples."""
    if name == "grishagin":
        return [grishagin(p) for p in json.loads((folder / "grishagin.json").read_text())]
    found = []
    for p in json.loads((folder / "gkls_classes.json").read_text()):
        if p["class"] == name:
            found.append(gkls(p))
            for sample in p["samples"]:
                assert abs(found[-1].fun(np.array(sample["x"])) - sample["D"]) < 1e-9, "another function than that of the samples"
    return found


def drawn(name: str, count: int, seed: int) -> list[BlackBox]:
    """New functions of a GKLS class, after its description: the same constants, other random numbers."""
    random = np.random.default_rng([seed, *name.encode()])
    return [gkls(parameters(random, int(name[0]), *GKLS[name])) for _ in range(count)]


def parameters(random: np.random.Generator, n: int, distance: float, radius: float,
               minimiser: np.ndarray | None = None) -> dict[str, Any]:
    """Of one function: the vertex, the minimiser at its distance, or the other way round where the minimiser is given; other
    centres anywhere but near the minimiser; radii by half the distance to the nearest centre, then up to the nearest ball; depths
    that stay above the least value."""
    given = random.uniform(-1, 1, n) if minimiser is None else minimiser
    other = _at_distance(random, given, distance)
    vertex, best = (given, other) if minimiser is None else (other, given)
    centres = [vertex, best]
    while len(centres) < _MINIMA:
        new = random.uniform(-1, 1, n)
        if np.linalg.norm(new - best) > 2 * radius:
            centres.append(new)
    places = np.array(centres)
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag([math.inf] * _MINIMA)
    values, rho = [0.0, _LEAST], radii(places, radius)
    for k in range(2, _MINIMA):
        edge = (float(apart[k, 0]) - rho[k]) ** 2         # the least value on the ball's edge
        share = random.random()
        values.append(edge - min((1 + share) * rho[k], share * (edge - _LEAST)))
    return {"local_min": places.tolist(), "f": values, "rho": rho.tolist(), "global_index": 1}


def radii(places: np.ndarray, radius: float) -> np.ndarray:
    """Of the balls around centres, of which the second has the given one."""
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag([math.inf] * len(places))
    rho = apart.min(axis=1) / 2
    rho[1] = radius
    others = [k for k in range(len(places)) if k != 1]
    for k in others:                                      # balls grow up to their neighbours, the vertex first
        rho[k] = max(rho[k], float(np.min(np.delete(apart[k] - rho, k))))
    rho[others] *= 0.99
    return rho


def _at_distance(random: np.random.Generator, point: np.ndarray, distance: float) -> np.ndarray:
    """A point of the cube by random angles; a coordinate that is outside goes to the other side."""
    angles = np.pi * random.random(len(point) - 1)
    angles[-1:] *= 2
    away = distance * np.append(1.0, np.cumprod(np.sin(angles))) * np.append(np.cos(angles), 1.0)
    return np.where(np.abs(point + away) <= 1, point + away, point - away)
