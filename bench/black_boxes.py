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
    return [gkls(_parameters(random, int(name[0]), *GKLS[name])) for _ in range(count)]


def _parameters(random: np.random.Generator, n: int, distance: float, radius: float) -> dict[str, Any]:
    """Vertex, then the minimiser at its distance inside the cube, then other centres away from it; radii by half the distance to
    the nearest, and depths that stay above the least value."""
    gap = 0.02
    vertex = random.uniform(-1, 1, n)
    while True:
        way = random.normal(size=n)
        best = vertex + distance * way / np.linalg.norm(way)
        if np.all(np.abs(best) <= 1):
            break
        vertex = random.uniform(-1, 1, n) if random.random() < 0.1 else vertex
    centres = [vertex, best]
    while len(centres) < _MINIMA:
        new = random.uniform(-1, 1, n)
        if np.linalg.norm(new - best) > 2 * radius + gap and all(np.linalg.norm(new - c) > gap for c in centres):
            centres.append(new)
    places = np.array(centres)
    apart = np.linalg.norm(places[:, None] - places, axis=2) + np.diag([math.inf] * _MINIMA)
    rho = apart.min(axis=1) / 2
    rho[1] = radius
    for k in (0, *range(2, _MINIMA)):                     # the vertex and other balls grow up to their neighbours
        rho[k] = max(rho[k], float(np.min(np.delete(apart[k] - rho, k))))
    rho *= np.where(np.arange(_MINIMA) == 1, 1.0, 0.99)
    values = [0.0, _LEAST]
    for k in range(2, _MINIMA):
        edge = max(0.0, float(np.linalg.norm(places[k] - vertex)) - rho[k]) ** 2   # the least value on the ball's edge
        peak = min(random.uniform(rho[k], 2 * rho[k]), random.uniform(0, edge - _LEAST))
        values.append(edge - peak)
    return {"local_min": places.tolist(), "f": values, "rho": rho.tolist(), "global_index": 1}
