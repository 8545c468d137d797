"""Random constrained problems in five variables with known minimisers, after the class that nested schemes were published with:

    phi(y1, ..., y5) = p(y1, ..., y5) (f(y1, y2) + g(y3, y4, y5))

f is one of Grishagin's functions, whose minimiser is found by a proof, g a GKLS function, both shifted so that their minimum is 0,
and p > 0 a polynomial of second order that mixes all variables, so that neither sum nor product comes apart. A constraint on y1, y2 and one on y3, y4, y5, GKLS
functions minus levels, are active at the minimisers of f and g. As in `constrained_boxes.py`, f and g have a term that goes on
falling across the boundary: where the constraints hold f and g are at least what they were, so that the minimum with constraints
is 0, at (arg min f, arg min g) and nowhere else, and lower values without them are infeasible. A third constraint is a half-space
of all five variables that holds there and cuts off a fifth of the cube.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

import infimum
from bench.black_boxes import WITHIN, gkls, parameters
from bench.constrained_boxes import BEYOND, DISTANCE, LAYER, NEAR, place, slope
from bench.gkls import nested as gkls_of

# radius of g's ball at its minimiser, and the parts of both cubes that are feasible
KINDS = {"simple": (0.3, 0.4), "hard": (0.2, 0.2)}
_SAMPLES, _OUTSIDE, _MIXED = 2000, 0.2, 0.5


@dataclass(frozen=True)
class NestedBox:
    """Minimise p (f + g) where all constraints are <= 0, over y in [0, 1]^2 and z in [-1, 1]^3. All functions are NumPy's."""

    f: Callable[[Any], Any]
    g: Callable[[Any], Any]
    p: Callable[[Any, Any], Any]
    of_y: Callable[[Any], Any]
    of_z: Callable[[Any], Any]
    half_space: Callable[[Any, Any], Any]
    minimiser: np.ndarray
    feasible_part: float

    bounds = [(0.0, 1.0)] * 2 + [(-1.0, 1.0)] * 3

    def simulate(self, y: np.ndarray) -> float:
        """The difficult part of the objective."""
        return float(self.f(y))

    def inner(self, y: Any, z: Any, simulated: Any) -> Any:
        """The objective, given that."""
        return self.p(y, z) * (simulated + self.g(z))

    def objective(self, x: Any) -> Any:
        """In all variables."""
        return self.inner(x[:2], x[2:], self.f(x[:2]))

    @cached_property
    def constraints(self) -> tuple[Callable[[Any], Any], ...]:
        """The same: <= 0 where a point is allowed."""
        return (lambda x: self.of_y(x[:2])), (lambda x: self.of_z(x[2:])), (lambda x: self.half_space(x[:2], x[2:]))

    def solved(self, x: np.ndarray | None) -> bool:
        """Whether a feasible point is near enough."""
        widths = np.array([hi - lo for lo, hi in self.bounds])
        return x is not None and bool((np.abs(x - self.minimiser) <= WITHIN * widths).all())


def nested_box(kind: str, number: int, seed: int) -> NestedBox:
    """One problem: the same for the same arguments."""
    radius, part = KINDS[kind]
    random = np.random.default_rng([seed, number, *kind.encode()])
    f = _waves(random)
    known = infimum.minimize(f, [(0.0, 1.0)] * 2, atol=1e-9, rtol=1e-9)
    assert known.verdict.name == "PROVED", known
    at = known.x
    of_y, part_y = _constraint_at(random, at, part)
    while True:
        box = parameters(random, 3, DISTANCE, 0.3)
        found = place(random, [gkls(box)], 1, part, 3)
        if found is not None:
            break
    best, (level,), part_z = found
    of_z = _below(gkls_of(box), level, best)
    p = parameters(random, 3, DISTANCE, radius, best)
    g, bend = gkls_of(p), 2 * (1 + 3 * (DISTANCE**2 - p["f"][1]) / radius**2)
    mixing = random.uniform(-1, 1, (5, 5))
    square, middle = _MIXED * mixing @ mixing.T / 5, random.uniform(-0.5, 0.5, 5)
    way = random.normal(size=5)
    minimiser = np.append(at, best)
    sample = np.column_stack([random.uniform(0, 1, (_SAMPLES, 2)), random.uniform(-1, 1, (_SAMPLES, 3))])
    if np.mean(sample @ way > minimiser @ way) < _OUTSIDE:     # else the minimiser would be cut off
        way = -way
    end = float(np.quantile(sample @ way, 1 - _OUTSIDE))

    def polynomial(y: Any, z: Any) -> Any:
        away = np.concatenate([y, z]) - middle
        return 1 + away @ (square @ away)
    return NestedBox(_beyond(f, known.upper, of_y, _bend(f, at)),
                     _beyond(g, p["f"][1], of_z, bend), polynomial, of_y, of_z,
                     lambda y, z: y @ way[:2] + z @ way[2:] - end, minimiser, part_y * part_z * (1 - _OUTSIDE))


def _waves(random: np.random.Generator) -> Callable[[Any], Any]:
    """One of Grishagin's functions, a root of squares of Fourier sums, with random coefficients."""
    a, b, c, d = random.uniform(-1, 1, (4, 7, 7))
    k = np.pi * np.arange(1, 8)

    def f(x: Any) -> Any:
        sines = np.sin(k * x[0])[:, None] * np.sin(k * x[1])
        cosines = np.cos(k * x[0])[:, None] * np.cos(k * x[1])
        return -np.sqrt(np.sum(a * sines + b * cosines) ** 2 + np.sum(c * sines - d * cosines) ** 2)
    return f


def _constraint_at(random: np.random.Generator, at: np.ndarray, part: float) -> tuple[Callable[[Any], Any], float]:
    """A constraint in two variables between 0 and 1 that is active at a point, and the part of the square where it holds."""
    sample = random.uniform(0, 1, (_SAMPLES, 2))
    while True:
        cubic = gkls_of(parameters(random, 2, DISTANCE, 0.3))

        def scaled(y: Any, cubic: Callable[[Any], Any] = cubic) -> Any:
            return cubic(2 * y - 1)
        level = float(scaled(at))
        share = float(np.mean([scaled(y) <= level for y in sample]))
        if abs(share / part - 1) < 2 * NEAR and slope(scaled, at) > 0.2:
            return _below(scaled, level, at), share


def _below(f: Callable[[Any], Any], level: float, at: np.ndarray) -> Callable[[Any], Any]:
    """In units of the distance from the boundary near a point."""
    scale = slope(f, at)
    return lambda x: (f(x) - level) / scale


def _beyond(f: Callable[[Any], Any], least: float, constraint: Callable[[Any], Any], bend: float) -> Callable[[Any], Any]:
    """f without its minimum, and less than that behind the boundary."""
    force = BEYOND * bend * LAYER
    return lambda x: f(x) - least - force * np.tanh(constraint(x) / LAYER)


def _bend(f: Callable[[Any], Any], at: np.ndarray, step: float = 1e-3) -> float:
    """The mean second derivative, by differences."""
    ways = step * np.eye(len(at))
    return float(np.mean([(f(at + way) - 2 * f(at) + f(at - way)) / step**2 for way in ways]))
