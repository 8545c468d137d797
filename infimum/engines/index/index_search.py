"""The default search of a black box: the index method with several r at once, and descents from trials that lie lower than
their neighbours say.

Trials of the index method come in turns, one ranking after the other: its convergence stays, since every ranking is asked for
ever. Between them go the trials of a descent, while there is one. A descent starts where a local model of the neighbours,
without the trial itself, predicts a higher value than was found there: such a trial has seen something that the others have
not. With constraints it may start from an infeasible trial, down the constraint that is violated there. All trials are entered
on the curve, so that what descents learn of slopes and values steers the index method too. `trial_polish.py` improves the best
trial.
"""

import heapq
from bisect import bisect_left

import numpy as np

from infimum.engines.index.constrained_descent import descent
from infimum.engines.index.curves import Place
from infimum.engines.index.index_method import IndexMethod, MethodOptions, Trial
from infimum.engines.index.interval_ranking import Ranking
from infimum.engines.index.local_models import predicted
from infimum.engines.index.model_descent import ModelDescent
from infimum.engines.index.trial_values import TrialOutcome
from infimum.support.lazy import dataclass


@dataclass(frozen=True, slots=True)
class SearchOptions(MethodOptions):
    """Those of the method, r aside, and of what is around it."""

    order: int = 20
    several_r: tuple[float, ...] = (2.5, 4.5, 10.0)
    window: int = 24            # trials on both sides on the line among which neighbours are sought
    descents: bool = True
    share: int = 2              # trials of descents for one of the index method, while there is a descent
    finest: float = 0.006       # a descent ends when its box is so small
    gain: float = 2.0           # how far below its trial a start is expected to lead, in units of what it lies too low
    known: float = 0.3          # no descent starts nearer to a minimum than that, in units of the longest way of a descent to it
    known_restrained: float = 0.15   # the same with constraints, where ways along boundaries are long
    join: float = 0.1           # a descent ends there that comes so near, in the same units
    reach: float = 0.4          # with constraints: or so near, in units of its box; without any, 2: boundaries keep minima apart
    finer: float = 8.0          # with constraints a descent that has the best trial continues to boxes smaller by this factor
    notable: float = 0.02       # what counts as too low, in units of the neighbours' range


@dataclass(frozen=True, slots=True)
class DescentMinima:
    """Where descents ended: how many constraints hold there, values, and the longest way of a descent to each."""

    points: np.ndarray
    levels: np.ndarray
    values: np.ndarray
    ways: np.ndarray

    def __len__(self) -> int:
        return len(self.values)

    def near(self, point: np.ndarray, level: int, value: float, share: float, within: float = 0.0) -> np.ndarray:
        """Those of a higher level, or lower than the value and so near a point: a share of their ways, or within a distance."""
        apart = np.linalg.norm(self.points - point, axis=1)
        better = (self.levels > level) | (self.levels == level) & (self.values < value)
        return np.flatnonzero((apart < np.maximum(share * self.ways, within)) & better)

    def reached(self, which: int, start: np.ndarray) -> None:
        """Another descent came to one of them."""
        self.ways[which] = max(self.ways[which], float(np.linalg.norm(start - self.points[which])))

    def with_one(self, descent: ModelDescent) -> "DescentMinima":
        """These, and where a descent ended."""
        return DescentMinima(np.vstack([self.points, descent.best]), np.append(self.levels, descent.level),
                             np.append(self.values, descent.value),
                             np.append(self.ways, np.linalg.norm(descent.start - descent.best)))


class IndexSearch(IndexMethod):
    """One search; asked and told like the method."""

    options: SearchOptions

    def __init__(self, n: int, constraints: int = 0, options: SearchOptions | None = None):
        super().__init__(n, constraints, options or SearchOptions())
        self.descent: ModelDescent | None = None
        self.descending: int | None = None               # the descent's trial that is waited for
        self.minima = DescentMinima(np.empty((0, n)), np.empty(0), np.empty(0), np.empty(0))
        # trials to start from, by how many constraints hold: least expected value first
        self._starts: list[list[tuple[float, int]]] = [[] for _ in range(constraints + 1)]
        self._turn, self._since, self._wants = 0, 0, False

    def _rankings(self) -> list[Ranking]:
        return [Ranking(self.intervals, r) for r in self.options.several_r]

    def _whose_turn(self) -> Ranking:
        self._turn += 1
        return self.rankings[self._turn % len(self.rankings)]

    # choosing

    def _next(self) -> Place | None:
        self._wants = False
        if len(self.asked) >= self.options.first and self.options.descents and self.descending is None:
            if self.descent is None:
                self._start()
            if self.descent is not None and self._since < self.options.share:
                place = self._descend()
                if place is not None:
                    self._since += 1
                    self._wants = True
                    return place
        self._since = 0
        return super()._next()

    def _ask(self, place: Place) -> Trial:
        trial = super()._ask(place)
        if self._wants:
            self.descending = trial.number
        return trial

    def _descend(self) -> Place | None:
        """The place of the descent's next trial; a descent that names a place that is taken shrinks its box instead."""
        while self.descent is not None:
            place = self.curves.nearest(self.descent.next())
            if place not in self._taken:
                self._chosen = None
                return place
            self.descent.radius *= 0.5
            self.descent.over = self.descent.radius < self.descent.least
            self._end()
        return None

    # learning

    def tell(self, number: int, told: TrialOutcome) -> None:
        super().tell(number, told)
        new = self.trials.count - 1
        if number == self.descending:
            self.descending = None
            if self.descent is not None:
                self.descent.tell(self.trials.points[new].copy(), None if told.failure else self.trials.values[new].copy())
                self._end()
        elif not told.failure and self.options.descents:
            self._consider(new, told.index)

    def _consider(self, trial: int, level: int) -> None:
        """Whether a trial lies lower than its neighbours say; of one that violates a constraint: so low that this may hold."""
        low = self._too_low(trial, level, self._neighbours(trial, level))
        if low is not None:
            expected = float(self.trials.z[trial]) - self.options.gain * low
            if level == self.trials.constraints or expected < 0 or self.trials.highest == level:
                heapq.heappush(self._starts[level], (expected, trial))

    def _too_low(self, trial: int, level: int, near: np.ndarray) -> float | None:
        """By how much a trial lies lower than its neighbours say; None if it does not."""
        if len(near) <= self.trials.n + 1:
            return None
        points, values, value = self.trials.points, self.trials.values[near, level], float(self.trials.z[trial])
        low = predicted(points[near], values, points[trial]) - value
        notable = low > self.options.notable * float(np.ptp(values)) or value < values.min()
        return max(low, 0.0) if notable else None

    def _neighbours(self, trial: int, level: int) -> np.ndarray:
        """The nearest of the trials around one on its line, those with values of a function."""
        line = self.intervals.lines[0]
        known = line.levels[level]
        at = bisect_left(known, self.begins[trial])
        around = [line.trial[q] for q in known[max(at - self.options.window, 0):at + self.options.window]]
        near = np.array([k for k in around if k != trial], dtype=int)
        if not len(near):
            return near
        apart = np.sum((self.trials.points[near] - self.trials.points[trial]) ** 2, axis=1)
        return near[np.argsort(apart, kind="stable")[:3 * self.trials.n + 2]]

    def _start(self) -> None:
        """Begins the next descent, where no known minimum is near for how far descents came to it: from one of the trials that
        satisfy most constraints."""
        share = self.options.known_restrained if self.trials.constraints else self.options.known
        for level in range(self.trials.constraints, -1, -1):
            while self._starts[level]:
                _, trial = heapq.heappop(self._starts[level])
                point, value = self.trials.points[trial].copy(), float(self.trials.z[trial])
                if len(self.minima.near(point, level, value, share)):
                    continue
                near = self._neighbours(trial, level)
                if self._too_low(trial, level, near) is None:
                    continue
                apart = np.abs(self.trials.points[near] - point).max(axis=1)
                radius = float(np.median(apart[:self.trials.n + 1])) * 0.5
                if level:        # constraints are known from more trials
                    near = np.union1d(near, self._neighbours(trial, 0))
                values = self.trials.values
                self.descent = descent(point, values[trial].copy(), self.trials.points[near], values[near],
                                       max(radius, 2 * self.options.finest), self.options.finest)
                return

    def _end(self) -> None:
        """Enters where the descent came to, when it is over or goes where another one went."""
        descent = self.descent
        if descent.over and self._continues(descent):
            descent.over = False
            return
        reach = self.options.reach if self.trials.constraints else 2.0
        near = self.minima.near(descent.best, descent.level, descent.value, self.options.join, reach * descent.radius)
        if len(near):
            self.minima.reached(int(near[0]), descent.start)
        elif descent.over:
            self.minima = self.minima.with_one(descent)
        else:
            return
        self.descent = None

    def _continues(self, descent: ModelDescent) -> bool:
        """Along a boundary descents are slow: one that has the best trial continues where others end."""
        best = 0 < self.trials.constraints == descent.level and descent.value <= self.trials.least
        return best and descent.radius >= self.options.finest / self.options.finer
