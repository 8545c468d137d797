"""The swarm: many descents at once from uniform starts, from particles that a swarm has moved, and from points that a search
found.

It goes in waves, with more descents each time: independent ones from uniform starts; a search from the best of them; a
particle swarm and a descent from each particle's best place; a search from the best of these. All of it is steered by estimates;
the answer's upper bound is verified. After the ZEUS paper (particle swarm, then a quasi-Newton descent a lane), with searches
where that fails.
"""

from collections.abc import Iterator
from dataclasses import replace
from enum import Enum
from itertools import count
from typing import Any

import numpy as np

from infimum.errors import BoundsError, UndefinedError
from infimum.evaluation.evaluator import Evaluator
from infimum.points.coordinate_lines import CoordinateLineSearch, LinePoint
from infimum.points.crossing import Crossing
from infimum.points.descent_kernel import LaneState
from infimum.points.descents import DescentEnds, DescentRules, Descents
from infimum.points.local_minima import LocalMinima
from infimum.points.particle_flight import STARTS, ParticleFlight
from infimum.points.point_search import PointSearch
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.result import End, Result, Verdict
from infimum.search.incumbent import Incumbent
from infimum.search.policy.points import COORDINATE_LINES, DESCENTS
from infimum.search.policy.points import SWARM as POLICY
from infimum.search.progress import Figures, shown_value


class StartOrigin(Enum):
    """How the lanes of a descent came to their starts: drawn uniformly, moved by the swarm or given, or within a search, of which
    only the end counts as a lane."""

    INDEPENDENT = 0
    MOVED = 1
    SEARCH = 2


class Swarm(PointSearch):
    """One run of the swarm: `steps()` works in small pieces, `finish()` says what was found, at any moment."""

    name = "swarm"

    def __init__(self, problem: Problem, evaluator: Evaluator, options: SwarmOptions, seed: int, limited: bool = False):
        self.problem, self.evaluator, self.seed = problem, evaluator, seed
        self.lo, self.hi, self.n = problem.lo, problem.hi, len(problem.lo)
        with np.errstate(over="ignore"):
            self.width = self.hi - self.lo
        _check_finite(self.lo, self.hi, self.width)
        particles = options.particles or (512 if self.n <= 16 else 256 if self.n <= DESCENTS.most_dense_variables
                                          else max(8, min(256, 2**15 // self.n)))
        self.options, self.flying = replace(options, particles=particles), options.particles
        self.endless = limited or options.confidence is not None  # it continues until its answer can be trusted
        self.wanted = POLICY.confidence if options.confidence is None else options.confidence
        self.waves = 1 + options.restarts if options.restarts is not None else None if self.endless else 1 + POLICY.restarts
        self.rules = DescentRules(options.armijo, options.halvings, options.descent_steps)
        self.incumbent = Incumbent(evaluator, self.lo, self.hi)
        self.minima = LocalMinima(self.lo, self.hi)
        self.search = CoordinateLineSearch(evaluator, self.lo, self.hi, options.samples, seed)
        self.flight = ParticleFlight(evaluator, self.lo, self.hi, seed)
        self.crossing = Crossing(self.lo, self.hi, seed, min(particles, POLICY.most_crossed))
        self.descents: Descents | None = None  # at work
        # of what has ended; and of what is at work, as far as one looked
        self.best = self.seen = LinePoint(np.zeros(self.n), np.inf)
        self.wave = self.trials = self.running = 0
        self.agreed, self.limit = False, None
        self._evaluations = 0

    # ---- what a reader of the progress sees
    @property
    def x(self) -> np.ndarray:
        return self._lowest().x.copy()

    @property
    def value(self) -> float:
        return self._lowest().value

    @property
    def upper(self) -> float:
        """Nothing is verified before the end."""
        return np.inf

    def _lowest(self) -> LinePoint:
        return min(self.best, self.seen, key=lambda place: place.value)

    @property
    def lower(self) -> float:
        """Nothing is proved."""
        return -np.inf

    @property
    def evaluations(self) -> int:
        at_work = 0 if self.descents is None else self.descents.evaluations
        return self._evaluations + self.search.evaluations + self.flight.evaluations + at_work

    def figures(self) -> Figures:
        """What a reader of the progress sees."""
        converged = int((self.minima.state >= LaneState.CONVERGED).sum())
        return {"best": shown_value(self.value), "descents": f"{converged:,} converged, {self.running:,} running",
                "basins": f"{self.minima.seen():,}", "wave": f"{self.wave}"}

    # ---- the work
    def rounds(self) -> list[Iterator[None]]:
        """All of it, for a proof: that no point has a value is no error there, since the proof may find some, or that there are
        none."""
        return [self._steps_if_defined()]

    def _steps_if_defined(self) -> Iterator[None]:
        try:
            yield from self.steps()
        except UndefinedError:
            yield

    def steps(self) -> Iterator[None]:
        """Everything, in pieces; a caller may stop after any of them. Where memory runs out, what was found is the answer."""
        try:
            yield from self._all_waves()
        except MemoryError:
            if not self.value < np.inf:
                raise
            self.descents, self.limit = None, "there is too little memory for this number of particles"

    def _all_waves(self) -> Iterator[None]:
        yield from self._given_points()
        while self.waves is None or self.wave < self.waves:
            yield from self._one_wave(self.wave)
            self.wave += 1
            if self._is_enough():
                return

    def _is_enough(self) -> bool:
        if not self.width.any():  # nothing can move
            return True
        enough = self.options.enough
        self.agreed = enough is not None and self.minima.lowest() >= enough
        return self.agreed or (self.endless and self.minima.trusted() >= self.wanted)

    def _one_wave(self, wave: int) -> Iterator[None]:
        lanes = min(self.options.particles, POLICY.first_particles * POLICY.growth**min(wave, 12))
        particles = self.flying or min(self.options.particles, POLICY.growth * lanes)
        flying, moved, far = self._fly(wave, particles), None, self.flight.uses_gpu(particles)
        if far:
            next(flying)  # it is queued, and continues meanwhile
        starts = yield from self.flight.points(STARTS, wave, lanes)
        if wave == 0:
            self._measure(starts)
        if far:
            moved = self._queued(self.flight.landing)
        mine = yield from self._descend(self._descents(starts), StartOrigin.INDEPENDENT)
        if wave > 0:
            yield from self._cross(min(lanes, POLICY.lowest_ends))
        yield from self._search_from(mine, wave)
        places = yield from flying
        mine = yield from self._descend(moved or self._descents(places))
        yield from self._search_from(mine, wave)

    def _measure(self, starts: np.ndarray) -> None:
        """The size of the differences of values; an error if there is no value at all."""
        values = self._estimate(starts)
        finite = np.sort(values[np.isfinite(values)])
        if not len(finite) and not np.isfinite(self.best.value):
            more = self.flight.few(STARTS, 2**31, 4096 if self.n <= 1000 else 64)
            values = self._estimate(more)
            finite = np.sort(values[np.isfinite(values)])
            if not len(finite):
                first = ", ".join(f"{v:.6g}" for v in starts[:6, 0]) + (", …" if self.n > 6 else "")
                raise UndefinedError(f"the function has no finite value at any of {starts.shape[1] + more.shape[1]:,} points "
                                     f"within the bounds; the first of them is x = ({first}). Correct the function or the bounds")
        with np.errstate(over="ignore"):
            spread = float(finite[-1 - len(finite) // 4] - finite[len(finite) // 4]) if len(finite) else 0.0
        spread = spread if 0 < spread < np.inf else 1.0
        if len(finite) and finite[0] == finite[-1]:  # as far as one sees it is constant: all of it is one minimum
            self.minima.place = np.inf
        self.rules, self.minima.spread = replace(self.rules, spread=spread), spread
        if len(finite):
            k = int(np.nanargmin(np.where(np.isfinite(values), values, np.inf)))
            self._offer(starts[:, k] if values.shape[0] == starts.shape[1] else more[:, k], float(values[k]))

    def _estimate(self, points: np.ndarray) -> np.ndarray:
        self._evaluations += points.shape[1]
        return self.evaluator.estimate(points)

    def _offer(self, x: np.ndarray, value: float) -> None:
        if value < self.best.value:
            self.best = LinePoint(x.copy(), value)

    def _given_points(self) -> Iterator[None]:
        """The middle of the bounds and the user's points are offered as they are; the latter are descended from."""
        given = np.empty((self.n, 0)) if self.problem.x0 is None else self.problem.x0
        points = np.concatenate([self.flight.scaled(np.full((self.n, 1), 0.5)), given], axis=1)
        values = self._estimate(points)
        for k in np.flatnonzero(np.isfinite(values)):
            self._offer(points[:, k], float(values[k]))
        yield
        if given.shape[1]:
            yield from self._descend(self._descents(given))

    def _descents(self, starts: Any) -> Descents:
        return Descents(self.evaluator, self.lo, self.hi, starts, self.rules)

    def _queued(self, starts: Any) -> Descents | None:
        """Descents from there whose first trials are queued on a GPU; None if there is no memory now."""
        try:
            descents = self._descents(starts)
            descents.queue()
        except MemoryError:
            return None
        return descents

    def _descend(self, descents: Descents, route: StartOrigin = StartOrigin.MOVED) -> Iterator[DescentEnds]:
        self.descents, self.route = descents, route
        for turn in count(1):
            if self.descents.done:
                break
            self.descents.advance()
            self.running = self.descents.running
            if turn % POLICY.turns_between_checks == 0:
                self._see(self.descents.best())
            yield
        return self._ended()

    def _see(self, found: tuple[np.ndarray, float] | None) -> None:
        if found is not None and found[1] < self.seen.value:
            self.seen = LinePoint(*found)

    def _ended(self) -> DescentEnds:
        """Takes over what the lanes at work have found."""
        ends = self.descents.ends(None if self.route is StartOrigin.INDEPENDENT else POLICY.lowest_ends)
        self._evaluations += max(ends.evaluations, self.descents.evaluations)  # the latter also of lanes at work
        self.trials += ends.longest
        self.descents = None
        if self.route is not StartOrigin.SEARCH:
            self.minima.add(ends, self.route is StartOrigin.INDEPENDENT)
        if len(ends.value):
            k = int(np.argmin(ends.value))
            self._offer(ends.x[:, k], float(ends.value[k]))
        return ends

    def _cross(self, lanes: int) -> Iterator[None]:
        """Descends from what the lowest minima have in common, again and again while that leads to a lower one; which then counts
        as one lane."""
        lowest = np.argsort(self.minima.value, kind="stable")[:4 * self.crossing.most]
        self.crossing.add(np.take(self.minima.x, lowest, axis=1), self.minima.value[lowest])
        idle, lower = 0, False
        for _ in range(POLICY.crossings):
            if idle == POLICY.idle_crossings or len(self.crossing) < POLICY.least_crossed:
                break
            ends = yield from self._descend(self._descents(self.crossing.starts(lanes)), StartOrigin.SEARCH)
            better = self.crossing.add(ends.x, ends.value)
            idle, lower = 0 if better else idle + 1, lower or better
        if lower:
            yield from self._descend(self._descents(self.crossing.x[:, :1]))

    def _search_from(self, ends: DescentEnds, wave: int) -> Iterator[None]:
        """Searches from the lowest of these ends, and descends from where the searches lead."""
        most = POLICY.searches[min(wave, 1)] if self.options.searches is None else self.options.searches
        order = np.argsort(ends.value, kind="stable")
        places: list[LinePoint] = []
        for k in order:
            value = float(ends.value[k])
            if len(places) == most or not np.isfinite(value):
                break
            if all(abs(value - p.value) > 1e-6 * (abs(value) + self.rules.spread) for p in places):
                places.append(LinePoint(ends.x[:, k].copy(), value))
        for turn, place in enumerate(places):
            yield from self._search(place, self.wave * 8 + turn)

    def _search(self, place: LinePoint, turn: int) -> Iterator[None]:
        """Sweeps and descends while that pays, then moves pairs, at one radius after another; at the end the last bits."""
        idle = attempt = 0
        while idle <= COORDINATE_LINES.radii_of_pairs and attempt < 8 * COORDINATE_LINES.radii_of_pairs:
            before, starts = place.value, []
            if idle == 0:
                place = yield from self._sweep(place)
                lower = yield from self.search.downhill(place)
                starts = [place.x[:, None], lower.x[:, None]]
            else:
                starts = [(yield from self.search.pairs(place, idle - 1, turn * 8 * COORDINATE_LINES.radii_of_pairs + attempt))]
            ends = yield from self._descend(self._descents(np.concatenate(starts, axis=1)), StartOrigin.SEARCH)
            lines = place.variables, place.basins
            if len(ends.value) and np.nanmin(ends.value) < place.value:
                k = int(np.nanargmin(ends.value))
                place = LinePoint(ends.x[:, k].copy(), float(ends.value[k]), *lines)
                if ends.state[k] == LaneState.KINK:
                    place = yield from self._polish(place)
            attempt += 1
            idle = 0 if before - place.value > 1e-9 * (abs(place.value) + self.rules.spread) else idle + 1
        place = yield from self._polish(place)
        yield from self._descend(self._descents(place.x[:, None]))

    def _polish(self, place: LinePoint) -> Iterator[LinePoint]:
        """The last bits, which descents do not find at a kink."""
        polished = yield from self.search.polish(place)
        self._offer(polished.x, polished.value)
        return LinePoint(polished.x, polished.value, place.variables, place.basins)

    def _sweep(self, place: LinePoint) -> Iterator[LinePoint]:
        """Sweeps again and again, while they pay."""
        for _ in range(POLICY.line_sweeps):
            swept = yield from self.search.sweep(place)
            self._offer(swept.x, swept.value)
            paid = place.value - swept.value > 1e-3 * (abs(place.value) + self.rules.spread * 1e-3)
            place = swept
            if not paid:
                break
        return place

    def _fly(self, wave: int, particles: int) -> Iterator[Any]:
        """The particle swarm: the best place of each particle. The last best of all counts, on every device the same; those
        before it, which not every device tells, are seen."""
        flight, last = self.flight.fly(wave, particles, self.options), None
        while True:
            try:
                last = next(flight) or last
            except StopIteration as end:
                self._offer(*last)
                return end.value
            self._see(last)
            yield

    # ---- the answer
    def finish(self, stopped: str | None, seconds: float, history: list) -> Result:
        """What was found so far. `stopped` says what ended the run early."""
        if self.descents is not None:
            self._see(self.descents.best())
            self._ended()
        groups = self.minima.groups()
        minima = self.minima.found(groups, self.evaluator)
        points = self.candidates() + ([] if self.problem.x0 is None else list(self.problem.x0.T))
        self.incumbent.offer(np.stack(points, axis=1))
        found = self.incumbent.x is not None
        trust, descents, seen, once = self.minima.trust(groups)
        converged = bool(minima) and minima[0].status is not End.UNFINISHED
        cautious = once > max(2, seen // 2)  # most minima were met by one descent alone
        trusted = trust >= self.wanted if self.endless else not cautious
        success = found and converged and trusted
        caution = f"; CAUTION: {descents} independent descents found {seen} minima, {once} of them only once: there are many " \
            "more, and the lowest may be among the unseen" if found and cautious else ""
        return Result(
            x=self.incumbent.x, fun=self.incumbent.upper, success=success, status=0 if success else 1,
            message=self._message(stopped, found, converged, trusted) + caution, nit=self.trials, nfev=self.evaluations,
            verdict=Verdict.CANDIDATE if found else Verdict.UNDECIDED, lower=-np.inf, upper=self.incumbent.upper, minima=minima,
            confidence=trust if descents else None, history=history, engine=self.name, seconds=seconds, seed=self.seed)

    def candidates(self) -> list[np.ndarray]:
        """The best points, as far as estimates tell."""
        lowest = np.argsort(self.minima.value, kind="stable")[:8]
        return [self._lowest().x, *(self.minima.x[:, k] for k in lowest)]

    def _message(self, stopped: str | None, found: bool, converged: bool, trusted: bool) -> str:
        if stopped or self.limit:
            said = stopped or self.limit
        elif self.agreed:
            said = f"{self.minima.lowest()} descents agree on the lowest minimum"
        elif self.endless and trusted:
            said = f"the confidence of {self.wanted:g} is reached"
        else:
            said = "1 wave is done" if self.wave == 1 else f"{self.wave} waves are done"
        if not found:
            return said + self._nothing()
        if not converged:
            said += "; no descent has converged yet"
        elif self.endless and not trusted:
            said += f"; the confidence of {self.wanted:g} is not reached"
        return said

    def _nothing(self) -> str:
        return "; no point was found where the function is certainly defined"


def _check_finite(lo: np.ndarray, hi: np.ndarray, width: np.ndarray) -> None:
    bad = np.flatnonzero(~(np.isfinite(lo) & np.isfinite(hi) & np.isfinite(width)))
    if len(bad):
        i = int(bad[0])
        if np.isfinite(lo[i]) and np.isfinite(hi[i]):
            raise BoundsError(f"the bounds ({lo[i]:g}, {hi[i]:g}) of variable {i} are too far apart: their distance is no double")
        raise BoundsError(f"the swarm needs finite bounds, and those of variable {i} are ({lo[i]:g}, {hi[i]:g}): give bounds "
                          "that certainly hold the minimum, such as (-1e3, 1e3), or substitute x = tan(t) with t in (-1.5, 1.5)")
