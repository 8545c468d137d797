"""Random constrained problems in five variables with known minimisers, after the class that nested schemes were published with:

    phi(y1, ..., y5) = p(y1, ..., y5) (f(y1, y2) + g(y3, y4, y5))

f is one of Grishagin's functions, whose minimiser is found by a proof, g a GKLS function, both shifted so that their minimum is
0, and p > 0 a polynomial of second order that mixes all variables, so that neither sum nor product comes apart. A constraint on
y1, y2, a GKLS function minus a level, is active at the minimiser of f. As in `constrained_boxes.py`, f has a term that goes on
falling across the boundary: where the constraint holds f is at least what it was, so that the minimum with constraints is 0, at
(arg min f, arg min g) and nowhere else, and lower values without it are infeasible. The kind "both" has the same for g, with a
constraint on y3, y4, y5. A last constraint, a half-space of the variables that are constrained, holds at the minimiser and cuts
off a fifth of the cube.
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

KINDS = {"outer": False, "both": True}    # are the inner variables constrained?
_RADIUS, _PART = 0.3, 0.4                 # of g's ball at its minimiser; of the cubes of y and z, what is feasible
_SAMPLES, _OUTSIDE, _MIXED = 2000, 0.2, 0.5


@dataclass(frozen=True)
class NestedBox:
    """Minimise p (f + g) where all constraints are <= 0, over y in [0, 1]^2 and z in [-1, 1]^3. All functions are NumPy's."""

    f: Callable[[Any], Any]
    g: Callable[[Any], Any]
    p: Callable[[Any, Any], Any]
    of_y: Callable[[Any], Any]
    of_z: Callable[[Any], Any] | None
    half_space: Callable[[Any, Any], Any]
    minimiser: np.ndarray

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

    @property
    def outer_constraints(self) -> list[Callable[[Any], Any]]:
        """Of y alone, <= 0 where it is allowed."""
        return [self.of_y, *([] if self.of_z else [lambda y: self.half_space(y, np.zeros(3))])]

    @property
    def inner_constraints(self) -> list[Callable[..., Any]]:
        """Of y and z, and what is simulated."""
        return [lambda y, z, simulated: self.of_z(z), lambda y, z, simulated: self.half_space(y, z)] if self.of_z else []

    @cached_property
    def constraints(self) -> list[Callable[[Any], Any]]:
        """All of them, in all variables."""
        return [lambda x, g=g: g(x[:2]) for g in self.outer_constraints] + \
            [lambda x, g=g: g(x[:2], x[2:], None) for g in self.inner_constraints]

    def solved(self, x: np.ndarray | None) -> bool:
        """Whether a feasible point is near enough."""
        widths = np.array([hi - lo for lo, hi in self.bounds])
        return x is not None and bool((np.abs(x - self.minimiser) <= WITHIN * widths).all())


def nested_box(kind: str, number: int, seed: int) -> NestedBox:
    """One problem: the same for the same arguments."""
    random = np.random.default_rng([seed, number, *kind.encode()])
    f = _waves(random)
    known = infimum.minimize(f, [(0.0, 1.0)] * 2, atol=1e-9, rtol=1e-9)
    assert known.verdict.name == "PROVED", known
    at, of_y, of_z = known.x, _constraint_at(random, known.x), None
    best = random.uniform(-0.9, 0.9, 3)
    while KINDS[kind]:
        drawn = parameters(random, 3, DISTANCE, 0.3)
        found = place(random, [gkls(drawn)], 1, _PART, 3)
        if found is not None:
            best, (level,), _ = found
            of_z = _below(gkls_of(drawn), level, slope(gkls(drawn).fun, best))
            break
    cubic = parameters(random, 3, DISTANCE, _RADIUS, best)
    bend = 2 * (1 + 3 * (DISTANCE**2 - cubic["f"][1]) / _RADIUS**2)
    mixing = random.uniform(-1, 1, (5, 5))
    square, middle = _MIXED * mixing @ mixing.T / 5, random.uniform(-0.5, 0.5, 5)

    def polynomial(y: Any, z: Any) -> Any:
        away = np.concatenate([y, z]) - middle
        return 1 + away @ (square @ away)
    minimiser = np.append(at, best)
    return NestedBox(_beyond(f, known.upper, of_y, _bend(f, at)), _beyond(gkls_of(cubic), cubic["f"][1], of_z, bend), polynomial,
                     of_y, of_z, _half_space(random, minimiser, 5 if of_z else 2), minimiser)


def _half_space(random: np.random.Generator, minimiser: np.ndarray, variables: int) -> Callable[[Any, Any], Any]:
    """One of the first variables that holds the minimiser, and not a part of the cube."""
    way = np.append(random.normal(size=variables), np.zeros(5 - variables))
    sample = np.column_stack([random.uniform(0, 1, (_SAMPLES, 2)), random.uniform(-1, 1, (_SAMPLES, 3))]) @ way
    if np.mean(sample > minimiser @ way) < _OUTSIDE:     # else the minimiser would be cut off
        way, sample = -way, -sample
    end = float(np.quantile(sample, 1 - _OUTSIDE))
    return lambda y, z: y @ way[:2] + z @ way[2:] - end


def _waves(random: np.random.Generator) -> Callable[[Any], Any]:
    """One of Grishagin's functions, a root of squares of Fourier sums, with random coefficients."""
    a, b, c, d = random.uniform(-1, 1, (4, 7, 7))
    k = np.pi * np.arange(1, 8)

    def f(x: Any) -> Any:
        sines = np.sin(k * x[0])[:, None] * np.sin(k * x[1])
        cosines = np.cos(k * x[0])[:, None] * np.cos(k * x[1])
        return -np.sqrt(np.sum(a * sines + b * cosines) ** 2 + np.sum(c * sines - d * cosines) ** 2)
    return f


def _constraint_at(random: np.random.Generator, at: np.ndarray) -> Callable[[Any], Any]:
    """A constraint in two variables between 0 and 1 that is active at a point and holds in the wanted part of the square."""
    sample = random.uniform(0, 1, (_SAMPLES, 2))
    while True:
        drawn = parameters(random, 2, DISTANCE, 0.3)
        numbers, cubic = gkls(drawn).fun, gkls_of(drawn)
        level, steep = numbers(2 * at - 1), 2 * slope(numbers, 2 * at - 1)
        share = float(np.mean([numbers(2 * y - 1) <= level for y in sample]))
        if abs(share / _PART - 1) < 2 * NEAR and steep > 0.2:
            return _below(lambda y, cubic=cubic: cubic(2 * y - 1), level, steep)


def _below(f: Callable[[Any], Any], level: float, scale: float) -> Callable[[Any], Any]:
    """In units of the distance from the boundary, where f has the slope `scale`."""
    return lambda x: (f(x) - level) / scale


def _beyond(f: Callable[[Any], Any], least: float, constraint: Callable[[Any], Any] | None, bend: float) -> Callable[[Any], Any]:
    """f without its minimum, and less than that behind the boundary, if there is one."""
    if constraint is None:
        return lambda x: f(x) - least
    force = BEYOND * bend * LAYER
    return lambda x: f(x) - least - force * np.tanh(constraint(x) / LAYER)


def _bend(f: Callable[[Any], Any], at: np.ndarray, step: float = 1e-3) -> float:
    """The mean second derivative, by differences."""
    ways = step * np.eye(len(at))
    return float(np.mean([(f(at + way) - 2 * f(at) + f(at - way)) / step**2 for way in ways]))
