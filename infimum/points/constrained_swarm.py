"""The swarm with constraints: interior point methods from uniform starts and from particles that a swarm has moved.

It goes in waves as the swarm does, with more lanes each time. Particles move by f and a penalty for what is violated. All lanes
of the interior point method go to their ends, which tell local minima apart, and from the best ends of a wave
`ConstrainedSearch` continues to the last digits, to whole numbers, and, where nothing obeys the constraints, to where it does.
All of it is steered by estimates. The upper bound of the answer is that of a point proved to be feasible.
"""

from collections.abc import Iterator
from dataclasses import fields, replace

import numpy as np

from infimum.bounds.propagation import propagate
from infimum.errors import OptionError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.constrained_search import ConstrainedSearch
from infimum.points.coordinate_lines import LinePoint
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentEnds
from infimum.points.interior_point import InteriorPoint
from infimum.points.particle_flight import STARTS, ParticleFlight
from infimum.points.swarm import Swarm
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.result import Result
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.policy.points import CONSTRAINED_SWARM as POLICY
from infimum.search.policy.points import SWARM

_UNUSED = ("searches", "armijo", "halvings", "samples")  # options of searches that know no constraints


class PenaltyFlight(ParticleFlight):
    """Moves particles by f and what is violated, each measured by the first particles. Always here, by NumPy."""

    most_here = np.inf
    scales: tuple[float, np.ndarray] | None = None

    def values(self, x: np.ndarray) -> np.ndarray:
        """f and a penalty; infinite where something has no value."""
        system = self.evaluator.system
        x = x.copy()
        x[list(system.integers)] = np.rint(x[list(system.integers)])
        found = self.evaluator.estimate_jacobian(x)[0]
        with np.errstate(all="ignore"):
            broken = np.maximum(np.maximum(found[1:] - system.upper[:, None], system.lower[:, None] - found[1:]), 0.0)
            known = np.isfinite(found).all(axis=0)
            if self.scales is None:
                values = found[0, known]
                spread = float(values.max() - values.min()) if len(values) else 0.0
                largest = broken.max(axis=1, initial=0.0, where=known)
                self.scales = spread if 0 < spread < np.inf else 1.0, np.where(largest > 0, largest, 1.0)
            merit = found[0] / self.scales[0] + POLICY.penalty * (broken / self.scales[1][:, None]).max(axis=0, initial=0.0)
        return np.where(known & np.isfinite(merit), merit, np.inf)


class ConstrainedSwarm(Swarm):
    """One run; the same as a `Swarm` for whoever drives it."""

    def __init__(self, problem: Problem, evaluator: Evaluator, options: SwarmOptions, seed: int, limited: bool = False):
        _check_options(options)
        if not (np.isfinite(problem.lo).all() and np.isfinite(problem.hi).all()):
            left = propagate(evaluator, problem.lo, problem.hi)  # constraints may imply bounds
            problem = problem if left is None else replace(problem, lo=left[0], hi=left[1])
        super().__init__(problem, evaluator, options, seed, limited)
        self.points = ConstrainedSearch(evaluator, self.lo, self.hi, seed, problem.x0)
        if options.particles is None:
            self.options = replace(options,
                                   particles=max(POLICY.least_particles,
                                                 min(POLICY.particles, self.points.most_starts // POLICY.wave_cost_ratio)))
        self.incumbent = FeasibleIncumbent(evaluator, self.lo, self.hi)
        self.flight = PenaltyFlight(evaluator, self.lo, self.hi, seed)
        self.idle = 0  # waves without a better point

    @property
    def evaluations(self) -> int:
        return super().evaluations + self.points.evaluations

    # ---- the work
    def _all_waves(self) -> Iterator[None]:
        yield from self.points.from_points(self.points.given_points())
        self._take_over()
        yield from super()._all_waves()

    def _given_points(self) -> Iterator[None]:
        """They were the first."""
        yield

    def _is_enough(self) -> bool:
        """A wave that brings nothing better is the last one as well, unless `restarts` are asked for; with whole numbers, of
        which the ends of relaxed problems tell nothing, there is no other rule."""
        enough = not len(self.points.integers) and super()._is_enough()
        return enough or (self.options.restarts is None and not self.endless and self.idle > 0)

    def _one_wave(self, wave: int) -> Iterator[None]:
        lanes = min(self.options.particles, SWARM.first_particles * SWARM.growth**min(wave, 12), self.points.most_starts)
        particles = self.flying or min(self.options.particles, SWARM.growth * lanes)
        before = self.value
        starts = yield from self.flight.points(STARTS, wave, lanes)
        if wave == 0:
            self.minima.spread = self._spread(starts)
        yield from self._solve(starts, True)
        places = yield from self._fly(wave, particles)
        order = np.argsort(self.flight.values(places), kind="stable")[:lanes]
        yield from self._solve(places[:, order], False)
        self.idle = 0 if wave == 0 or self.value < before - POLICY.least_gain * abs(before) else self.idle + 1

    def _spread(self, starts: np.ndarray) -> float:
        """The size of the differences of values."""
        values = self.evaluator.estimate_jacobian(starts)[0][0]
        values = np.sort(values[np.isfinite(values)])
        with np.errstate(over="ignore"):
            spread = float(values[-1 - len(values) // 4] - values[len(values) // 4]) if len(values) else 0.0
        return spread if 0 < spread < np.inf else 1.0

    def _fly(self, wave: int, particles: int) -> Iterator[np.ndarray]:
        """The best place of each particle. What the flight compares is no value of f, and nobody sees it."""
        flight = self.flight.fly(wave, particles, self.options)
        while True:
            try:
                next(flight)
            except StopIteration as end:
                return end.value
            yield

    def _solve(self, starts: np.ndarray, independent: bool) -> Iterator[None]:
        """All lanes to their ends, and from the best of them to the last digits."""
        lo, hi = (np.repeat(end[:, None], starts.shape[1], axis=1) for end in (self.lo, self.hi))
        method = InteriorPoint(self.evaluator, lo, hi, starts)
        for _ in method.steps(min(POLICY.steps, self.options.descent_steps)):
            self.trials, self.running = self.trials + 1, method.lanes.count
            yield
        self._evaluations += method.evaluations
        ends = method.ends
        violation = self.points.violations(ends.x)
        if not len(self.points.integers):
            self._add(ends.x, ends.value, violation, ends.error, independent)
        order = np.lexsort((ends.value, np.where(violation <= self.points.tolerated, 0.0, violation)))
        yield from self.points.from_points(ends.x[:, order[:POLICY.continued_ends]])
        self._take_over()

    def _add(self, x: np.ndarray, value: np.ndarray, violation: np.ndarray, error: np.ndarray, independent: bool) -> None:
        """Ends that obey the constraints and the conditions of first order are local minima."""
        state = np.where((violation <= self.points.tolerated) & (error <= POLICY.converged), LaneState.CONVERGED, LaneState.DEAD)
        self.minima.add(DescentEnds(x, value, state, np.arange(len(value)), 0, 0), independent)

    def _take_over(self) -> None:
        """What the search found is offered, and is a minimum as well."""
        points = self.points
        if points.violation <= self.points.tolerated and points.value < self.best.value:
            self.best = LinePoint(points.x.copy(), points.value)
            state = LaneState.CONVERGED if len(points.integers) else LaneState.LEARNED  # unless a lane says so as well
            self.minima.add(DescentEnds(points.x[:, None], np.array([points.value]), np.array([state]), np.zeros(1), 0, 0), False)
        self.incumbent.offer(np.stack(points.candidates(), axis=1))

    # ---- the answer
    def candidates(self) -> list[np.ndarray]:
        return [*self.points.candidates(), *super().candidates()] if len(self.minima.value) else self.points.candidates()

    def finish(self, stopped: str | None, seconds: float, history: list) -> Result:
        """With whole numbers there are no descents whose agreement would support the answer: it is never a success."""
        result = super().finish(stopped, seconds, history)
        if not len(self.points.integers) or result.x is None:
            return result
        return replace(result, success=False, status=1, message=f"{result.message}; CAUTION: no descents tell basins of whole "
                       "numbers apart, and lower values may be among the unseen; the other engines prove what they find")

    def _nothing(self) -> str:
        """Whoever answers says that no feasible point was found."""
        return ""


def _check_options(options: SwarmOptions) -> None:
    for name in _UNUSED:
        usual = next(field.default for field in fields(SwarmOptions) if field.name == name)
        if getattr(options, name) != usual:
            raise OptionError(f"option {name!r} is of searches that know no constraints and no whole numbers: leave it out; "
                              "'particles', 'restarts' and 'swarm_steps' say how much is looked at")
