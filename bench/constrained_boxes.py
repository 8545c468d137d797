"""Random constrained problems with known minimisers, of GKLS functions: how much of the cube is feasible is chosen.

A problem has a GKLS function f, least at a point x*, and GKLS functions minus levels as constraints g_k <= 0. Some of them are
active: their level is their value at x*, so that it is on their boundary. The objective is f - sum of a_k tanh(g_k / w) over the
active ones, a_k > 0. Where all constraints hold it is at least f, and at x* it is f(x*): x* is the constrained minimiser, and the
only one. Its gradient there is -sum of a_k / w grad g_k: across the boundary the objective goes on falling, so that every point
with a value below that at x*, the minimiser without constraints among them, is infeasible.

Sets g_k <= 0 are not convex, and often of several parts: the balls of GKLS functions.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.black_boxes import BlackBox, gkls, parameters

# radius of f's ball at the minimiser, constraints, how many are active, and the part of the cube that is feasible
CONSTRAINED = {"simple": (0.3, 2, 1, 0.3), "hard": (0.2, 3, 2, 0.1)}
DISTANCE = 0.66          # of f's minimiser from its vertex
LAYER = 0.1             # w: in units of the distance from the boundary near x*
BEYOND = 0.06           # how far behind the boundary a quadratic model at x* has its minimum
_SAMPLES, _CANDIDATES, NEAR = 2000, 400, 0.1


@dataclass(frozen=True)
class ConstrainedBox(BlackBox):
    """Constraints too, in the order in which a trial computes them, and the part of the cube that is feasible, by sampling."""

    constraints: tuple[Callable[[np.ndarray], float], ...]
    feasible_part: float

    def values(self, x: np.ndarray) -> tuple[float, ...]:
        """What a trial computes: constraints up to the first that is violated, or all and then the objective."""
        found: list[float] = []
        for g in self.constraints:
            found.append(g(x))
            if found[-1] > 0:
                return tuple(found)
        return *found, self.fun(x)


def constrained(kind: str, n: int, number: int, seed: int) -> ConstrainedBox:
    """One problem: the same for the same arguments."""
    radius, count, active, part = CONSTRAINED[kind]
    random = np.random.default_rng([seed, number, n, *kind.encode()])
    while True:
        boxes = [gkls(parameters(random, n, DISTANCE, 0.3)) for _ in range(count)]
        found = place(random, boxes, active, part, n)
        if found is not None:
            break
    best, levels, share = found
    p = parameters(random, n, DISTANCE, radius, best)
    f = gkls(p).fun
    bend = 2 * (1 + 3 * (DISTANCE**2 - p["f"][1]) / radius**2)       # the second derivative of f at its minimiser
    slopes = [slope(box.fun, best) for box in boxes]
    constraints = tuple(_above(box.fun, level, s) for box, level, s in zip(boxes, levels, slopes, strict=True))
    force = BEYOND * bend * LAYER / active

    def objective(x: np.ndarray) -> float:
        return f(x) - force * sum(float(np.tanh(g(x) / LAYER)) for g in constraints[:active])
    order = random.permutation(count)
    return ConstrainedBox(objective, best, -1.0, 1.0, tuple(constraints[k] for k in order), share)


def slope(f: Callable[[np.ndarray], float], x: np.ndarray, step: float = 1e-6) -> float:
    """The length of the gradient, by differences."""
    ways = step * np.eye(len(x))
    return float(np.linalg.norm([(f(x + way) - f(x - way)) / (2 * step) for way in ways]))


def _above(f: Callable[[np.ndarray], float], level: float, scale: float) -> Callable[[np.ndarray], float]:
    return lambda x: (f(x) - level) / scale


def place(random: np.random.Generator, boxes: list[BlackBox], active: int, part: float, n: int
           ) -> tuple[np.ndarray, list[float], float] | None:
    """A point x*, and levels, so that the wanted part is feasible; None if no candidate is fit."""
    sample, candidates = random.uniform(-1, 1, (_SAMPLES, n)), random.uniform(-0.9, 0.9, (_CANDIDATES, n))
    at_sample, at_candidates = (np.array([[box.fun(x) for box in boxes] for x in points]) for points in (sample, candidates))
    quiet = np.quantile(at_sample[:, active:], 0.8, axis=0)           # levels of those that are not active at x*
    for point, values in zip(candidates, at_candidates, strict=True):
        levels = np.append(values[:active], quiet)
        share = float(np.mean(np.all(at_sample <= levels, axis=1)))
        if abs(share / part - 1) < NEAR and np.all(values[active:] < quiet) and _steep(boxes, point):
            return point, levels.tolist(), share
    return None


def _steep(boxes: list[BlackBox], point: np.ndarray) -> bool:
    """Whether the constraints have slopes that they can be measured by."""
    return all(slope(box.fun, point) > 0.1 for box in boxes)
