"""Flight: points drawn within the bounds, and a particle swarm that moves over them.

Few points are drawn and moved here, by NumPy. `MANY` are drawn and moved by kernels (`lower.flight`), which take time to compile,
and stay where those run. Which way is taken depends on the number of points alone, so that the bits do not depend on the machine.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from infimum.engine import sobol
from infimum.engine.random import key_of, uniform
from infimum.engine.swarm_options import SwarmOptions
from infimum.evaluate import Evaluator
from infimum.lower.flight import flight_parameters, particle_rows, scatter_parameters
from infimum.lower.programs import FLIGHT, SCATTER

MANY = 1 << 12
STARTS, _SWARM, _VELOCITY, _SOBOL, _FLIGHT = 0, 16, 17, 1 << 20, 1 << 24  # streams of random numbers; searches have others


class Flight:
    """Draws and moves points within the bounds. `evaluations` counts the looks."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, seed: int):
        self.evaluator, self.lo, self.hi, self.seed = evaluator, lo, hi, seed
        self.n, self.width = len(lo), hi - lo
        self.evaluations = 0

    def points(self, stream: int, step: int, count: int) -> Any:
        """Points (n, count), drawn uniformly."""
        if count < MANY:
            return self.scaled(uniform(self.seed, stream, step, range(count), self.n))
        return self._scattered(self.lo, self.hi, stream, step, count)

    def scaled(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube, as points within the bounds."""
        return self._within(self.lo[:, None] + self.width[:, None] * unit)

    def _within(self, x: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(x, self.lo[:, None]), self.hi[:, None])

    def _scattered(self, lo: np.ndarray, hi: np.ndarray, stream: int, step: int, count: int) -> Any:
        numbers = self.evaluator.arrays_for(count, MANY).numbers(count)
        parameters = scatter_parameters(lo, hi, self.width, key_of(self.seed, stream, step))
        return self.evaluator.run(SCATTER, [numbers], parameters=parameters)[0]

    def fly(self, wave: int, count: int, options: SwarmOptions) -> Iterator[tuple[np.ndarray, float]]:
        """Moves particles; after each step it yields the best place so far, the first of equals, and its value. Returns the best
        place of each particle."""
        quasi = options.start == "sobol" and self.n <= sobol.LIMIT
        x = self.scaled(sobol.points(self.seed, _SOBOL + wave, 0, count, self.n)) if quasi else \
            self.points(_SWARM, wave, count)
        return (yield from (self._fly_here if count < MANY else self._fly_there)(x, wave, count, options))

    def _fly_here(self, x: np.ndarray, wave: int, count: int, o: SwarmOptions) -> Iterator[tuple[np.ndarray, float]]:
        v = (uniform(self.seed, _VELOCITY, wave, range(count), self.n) - 0.5) * self.width[:, None]
        own, own_value = x.copy(), np.full(count, np.inf)
        for step in range(o.swarm_steps + 1):
            value = self.evaluator.estimate(x)
            self.evaluations += count
            better = np.isfinite(value) & (value < own_value)
            own_value = np.where(better, value, own_value)
            own = np.where(better, x, own)
            k = int(np.argmin(own_value))
            yield own[:, k], float(own_value[k])
            if step == o.swarm_steps:
                break
            leader = own[:, k:k + 1] if own_value[k] < np.inf else x
            r = uniform(self.seed, _FLIGHT + wave, step, range(count), 2 * self.n)
            v = o.inertia * v + o.cognitive * r[:self.n] * (own - x) + o.social * r[self.n:] * (leader - x)
            moved = x + v
            x = self._within(moved)
            v = np.where(x == moved, v, 0.0)
        return own

    def _fly_there(self, x: Any, wave: int, count: int, o: SwarmOptions) -> Iterator[tuple[np.ndarray, float]]:
        arrays = self.evaluator.arrays_for(count, MANY)
        x = arrays.send(x) if isinstance(x, np.ndarray) else x
        v = self._scattered(-0.5 * self.width, 0.5 * self.width, _VELOCITY, wave, count)
        numbers, rows = arrays.numbers(count), particle_rows(self.n)
        particles, others = [x, v, *(arrays.empty(r, count) for r in rows[2:])], [arrays.empty(r, count) for r in rows]
        leader, social = np.zeros(self.n), 0.0
        for step in range(o.swarm_steps + 1):
            rules = o.inertia, o.cognitive, social, float(step > 0)
            parameters = flight_parameters(self.lo, self.hi, leader, rules, key_of(self.seed, _FLIGHT + wave, max(step - 1, 0)))
            self.evaluator.run(FLIGHT, [numbers, *particles], others, parameters)
            self.evaluations += count
            particles, others = others, particles
            value, leader = arrays.least_column(particles[3], particles[2])
            social = o.social if value < np.inf else 0.0
            yield leader, value
        return particles[2]
