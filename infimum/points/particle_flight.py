"""Flight: points drawn within the bounds, and a particle swarm that moves over them.

Few points are drawn and moved here, by NumPy. Many particles are drawn and moved by kernels (`points.swarm_kernel`), which take
time to compile, and stay where those run. Which way is taken depends on the number of points alone, so that the bits do not
depend on the machine. The methods are generators: they yield between runs, so that a time limit is kept.
"""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import FLIGHT, SCATTER
from infimum.points import sobol
from infimum.points.random_numbers import key_of, uniform
from infimum.points.swarm_options import SwarmOptions
from infimum.search.policy.points import PARTICLE_FLIGHT as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.points import swarm_kernel as kernel
else:
    kernel = LazyModule("points.swarm_kernel")

STARTS, _SWARM, _VELOCITY, _SOBOL, _FLIGHT = 0, 16, 17, 1 << 20, 1 << 24  # fixed: streams of random numbers; searches have others


def bytes_of(particles: int, n: int) -> int:
    """Roughly the memory that this number of particles takes: twice their places, velocities and best places, and where descents
    begin and end.
    """
    return 8 * particles * (8 * n + 11)


class ParticleFlight:
    """Draws and moves points within the bounds. `evaluations` counts the looks."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, seed: int):
        self.evaluator, self.lo, self.hi, self.seed = evaluator, lo, hi, seed
        self.n, self.width = len(lo), hi - lo
        self.evaluations = 0
        self.landing: Any = None  # where the best places of particles on a GPU will stand

    @property
    def most_here(self) -> float:
        """Fewer particles are moved by NumPy."""
        return POLICY.many_particles

    def values(self, x: np.ndarray) -> np.ndarray:
        """What particles here are compared by."""
        return self.evaluator.estimate(x)

    def few(self, stream: int, step: int, count: int) -> np.ndarray:
        """Points (n, count), drawn uniformly by NumPy."""
        return self.scaled(uniform(self.seed, stream, step, range(count), self.n))

    def points(self, stream: int, step: int, count: int) -> Iterator[Any]:
        """Points (n, count), drawn uniformly; where many stay, they come in parts."""
        if count < POLICY.many_particles:
            return self.few(stream, step, count)
        parts = yield from self._scattered(self._numbers(count), self.lo, self.hi, stream, step)
        return self._together(parts)

    def scaled(self, unit: np.ndarray) -> np.ndarray:
        """Points of the unit cube, as points within the bounds."""
        return self._within(self.lo[:, None] + self.width[:, None] * unit)

    def _within(self, x: np.ndarray) -> np.ndarray:
        return np.minimum(np.maximum(x, self.lo[:, None]), self.hi[:, None])

    def _part(self, count: int) -> int:
        """So many of these lanes are run together: all of them on a GPU."""
        return count if self.uses_gpu(count) else max(POLICY.many_particles, POLICY.numbers_at_once // self.n)

    def _numbers(self, count: int) -> list[Any]:
        """The numbers of the lanes, in parts."""
        numbers, size = self.evaluator.arrays_for(count, POLICY.many_particles).numbers(count), self._part(count)
        return [numbers[:, k:k + size] for k in range(0, count, size)]

    @staticmethod
    def _together(parts: list[Any]) -> Any:
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _scattered(self, numbers: list[Any], lo: np.ndarray, hi: np.ndarray, stream: int, step: int) -> Iterator[list[Any]]:
        """A point for each lane, in the parts that the numbers come in."""
        parameters = kernel.scatter_parameters(lo, hi, self.width, key_of(self.seed, stream, step))
        parts = []
        for part in numbers:
            parts += self.evaluator.run(SCATTER, [part], parameters=parameters)
            yield
        return parts

    def fly(self, wave: int, count: int, options: SwarmOptions) -> Iterator[tuple[np.ndarray, float] | None]:
        """Moves particles. Now and then, and at the end, it yields the best place so far, the first of equals, and its value.
        Returns the best place of each particle. On a GPU everything is queued until the first yield: there is time for other
        work."""
        quasi = options.start == "sobol" and self.n <= sobol.LIMIT
        x = self.scaled(sobol.points(self.seed, _SOBOL + wave, 0, count, self.n)) if quasi else None
        way = self._fly_here if count < self.most_here else self._fly_on_gpu if self.uses_gpu(count) else self._fly_in_parts
        return (yield from way(x, wave, count, options))

    def uses_gpu(self, count: int) -> bool:
        """Does this number of particles fly on a GPU?"""
        return count >= POLICY.many_particles and self.evaluator.uses_gpu(count, POLICY.many_particles)

    def _fly_here(self, x: np.ndarray | None, wave: int, count: int, o: SwarmOptions) -> Iterator[tuple[np.ndarray, float]]:
        x = self.few(_SWARM, wave, count) if x is None else x
        v = (uniform(self.seed, _VELOCITY, wave, range(count), self.n) - 0.5) * self.width[:, None]
        own, own_value = x.copy(), np.full(count, np.inf)
        for step in range(o.swarm_steps + 1):
            value = self.values(x)
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
            with np.errstate(over="ignore", invalid="ignore"):  # bounds may be as far apart as doubles are
                v = o.inertia * v + o.cognitive * r[:self.n] * (own - x) + o.social * r[self.n:] * (leader - x)
                moved = x + v
            x = self._within(moved)
            v = np.where(x == moved, v, 0.0)
        return own

    def _rules(self, o: SwarmOptions, wave: int, step: int) -> tuple[tuple[float, ...], tuple[int, int]]:
        """What a step goes by: parameters of the kernel, and the key of its random numbers."""
        return (o.inertia, o.cognitive, o.social, float(step > 0)), key_of(self.seed, _FLIGHT + wave, max(step - 1, 0))

    def _velocities(self, numbers: list[Any], wave: int) -> Iterator[list[Any]]:
        return (yield from self._scattered(numbers, -0.5 * self.width, 0.5 * self.width, _VELOCITY, wave))

    def _fly_in_parts(self, x: np.ndarray | None, wave: int, count: int, o: SwarmOptions) \
            -> Iterator[tuple[np.ndarray, float] | None]:
        """By kernels here, some thousands at a time."""
        arrays, numbers = self.evaluator.arrays_for(count, POLICY.many_particles), self._numbers(count)
        rows = kernel.particle_rows(self.n)
        if x is None:
            places = yield from self._scattered(numbers, self.lo, self.hi, _SWARM, wave)
        else:
            size = self._part(count)
            places = [np.ascontiguousarray(x[:, k:k + size]) for k in range(0, count, size)]
        velocities = yield from self._velocities(numbers, wave)
        parts = [[x, v, *(arrays.empty(r, x.shape[1]) for r in rows[2:])] for x, v in zip(places, velocities, strict=True)]
        spare = [[arrays.empty(r, x.shape[1]) for r in rows] for x in places]
        best = np.inf, np.zeros(self.n)
        for step in range(o.swarm_steps + 1):
            parameters = kernel.flight_parameters(self.lo, self.hi, *best, *self._rules(o, wave, step))
            best = np.inf, best[1]
            for mine, particles, others in zip(numbers, parts, spare, strict=True):
                self.evaluator.run(FLIGHT, [mine, *particles], others, parameters)
                self.evaluations += mine.shape[1]
                best = min(best, arrays.least_column(others[3], others[2]), key=lambda found: found[0])
                yield None
            parts, spare = spare, parts
            yield best[1], best[0]
        return self._together([own for _, _, own, _ in parts])

    def _fly_on_gpu(self, x: np.ndarray | None, wave: int, count: int, o: SwarmOptions) \
            -> Iterator[tuple[np.ndarray, float] | None]:
        """By kernels on a GPU."""
        self.landing, values = self._queued(x, wave, count, o)
        yield None
        landing, self.landing = self.landing, None
        self.evaluations += count * (o.swarm_steps + 1)
        value, leader = self.evaluator.arrays.least_column(values, landing)
        yield leader, value
        return landing

    def _queued(self, x: np.ndarray | None, wave: int, count: int, o: SwarmOptions) -> tuple[Any, Any]:
        """The best place of each particle and its value, on the GPU, when all steps are done: the leader of one is written there
        to where the next reads it. What else they need is free again."""
        arrays, numbers = self.evaluator.arrays, self._numbers(count)
        places = [arrays.send(x)] if x is not None else self._at_once(self._scattered(numbers, self.lo, self.hi, _SWARM, wave))
        velocities = self._at_once(self._velocities(numbers, wave))
        particles, others = ([*given, *(arrays.empty(r, count) for r in kernel.particle_rows(self.n)[len(given):])]
                             for given in ([*places, *velocities], []))
        nobody = np.inf, np.zeros(self.n)
        steps = [kernel.flight_parameters(self.lo, self.hi, *nobody, *self._rules(o, wave, k)) for k in range(o.swarm_steps + 1)]
        doubles = arrays.send(np.stack([self.evaluator.doubles(FLIGHT, parameters) for parameters in steps]))
        at = self.evaluator.parameters_at(FLIGHT) + kernel.leader_at(self.n)
        for step in range(len(steps)):
            self.evaluator.run(FLIGHT, [*numbers, *particles], others, doubles=doubles[step:step + 1])
            particles, others = others, particles
            if step + 1 < len(steps):
                arrays.put_least(particles[3], particles[2], doubles[step + 1:step + 2], at)
        return particles[2], particles[3]

    @staticmethod
    def _at_once(parts: Iterator[list[Any]]) -> list[Any]:
        """All steps at once."""
        while True:
            try:
                next(parts)
            except StopIteration as end:
                return end.value
