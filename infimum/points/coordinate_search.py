"""A good point of a function of very many variables: along each over its whole range, all at once, and along lines downhill."""

from collections.abc import Iterator

import numpy as np

from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROBE
from infimum.points.descents import DescentRules, Descents
from infimum.points.point_search import PointSearch
from infimum.points.random_numbers import uniform
from infimum.search.policy.bounds import SWEEPS
from infimum.search.policy.points import COORDINATE_SEARCH as POLICY

_STREAM = 4  # fixed: the stream of random numbers


class CoordinateSearch(PointSearch):
    """Moves points downhill at a cost that is linear in the number of variables. Estimates only."""

    def __init__(self, evaluator: Evaluator, sweeper: Sweeper, lo: np.ndarray, hi: np.ndarray, seed: int):
        self.evaluator, self.sweeper, self.lo, self.hi, self.seed = evaluator, sweeper, lo, hi, seed
        self.x, self.evaluations = lo + (hi - lo) * 0.5, 0
        self.value = self._value(self.x)

    def _value(self, x: np.ndarray) -> float:
        self.evaluations += 1
        value = float(self.evaluator.estimate(x))
        return value if np.isfinite(value) else np.inf

    def rounds(self) -> list[Iterator[None]]:
        """Ways to a better point, the quickest first: the next is taken only where the one before was not good enough."""
        return [self._from_the_middle(), self._finely(), self._along_lines(), self._descend(), self._from_drawn_points(),
                self._every_way(), self._descend()]

    def _from_the_middle(self) -> Iterator[None]:
        yield from self._look(self.lo, self.hi)
        yield from self._zoom_in(POLICY.zoom_levels if len(self.lo) < POLICY.sharpened_variables
                                 else POLICY.levels_before_sharpening + 1)

    def _finely(self) -> Iterator[None]:
        yield from self._search_finely()
        yield from self._zoom_in(POLICY.zoom_levels)

    def _along_lines(self) -> Iterator[None]:
        """What depends on a distance alone falls along no variable, but along a line it does. From the middle too: at a minimum
        along all variables a gradient tells nothing."""
        best = self.x, self.value
        for start in (best[0], self.lo + (self.hi - self.lo) * 0.5):
            self.x = start
            before = self.value = self._value(start)
            yield from self._downhill()
            if self.value < before:
                yield from self._zoom_in(POLICY.zoom_levels)
            if self.value < best[1]:
                best = self.x, self.value
        self.x, self.value = best

    def _search_finely(self) -> Iterator[None]:
        """Over the whole range, window by window."""
        width = (self.hi - self.lo) / POLICY.fine_windows
        for k in range(POLICY.fine_windows):
            yield from self._look(self.lo + k * width, np.minimum(self.lo + (k + 1) * width, self.hi))

    def _descend(self) -> Iterator[None]:
        """Quasi-Newton descents from here and from some drawn points: narrow valleys lead along no variable."""
        if len(self.lo) * POLICY.descents > POLICY.most_descended_numbers:
            return
        drawn = uniform(self.seed, _STREAM, 1, range(POLICY.descents), len(self.lo))
        starts = self.lo[:, None] + (self.hi - self.lo)[:, None] * drawn
        starts[:, 0] = self.x
        descents = Descents(self.evaluator, self.lo, self.hi, starts, DescentRules())
        while not descents.done:
            descents.advance()
            yield
        ends = descents.ends()
        self.evaluations += ends.evaluations
        k = int(np.argmin(ends.value))
        if ends.value[k] < self.value:
            self.x, self.value = ends.x[:, k].copy(), float(ends.value[k])

    def _from_drawn_points(self) -> Iterator[None]:
        best = self.x, self.value
        for k in range(1, max(4, min(POLICY.starts, POLICY.samples // len(self.lo)))):
            self.x = self.lo + (self.hi - self.lo) * uniform(self.seed, _STREAM, 0, range(k, k + 1), len(self.lo))[:, 0]
            self.value = self._value(self.x)
            if k < 2:  # before a look: at a minimum along all variables a gradient tells nothing
                yield from self._downhill()
            for _ in range(3):
                yield from self._look(self.lo, self.hi)
            yield from self._zoom_in(2)
            if self.value < best[1]:
                best = self.x, self.value
        self.x, self.value = best
        yield from self._zoom_in(POLICY.zoom_levels)

    def _every_way(self) -> Iterator[None]:
        for _ in range(POLICY.passes):
            before = self.value
            yield from self._downhill()
            yield from self._zoom_in(POLICY.zoom_levels)
            yield from self._search_finely()
            if not self.value < before - 1e-9 * abs(before):
                break
        yield from self._zoom_in(POLICY.zoom_levels)

    def _zoom_in(self, times: int) -> Iterator[None]:
        """Around the point, closer each time."""
        cell = (self.hi - self.lo) / SWEEPS.slices
        for k in range(times):
            due = k == POLICY.levels_before_sharpening and len(self.lo) >= POLICY.sharpened_variables
            if due and (yield from self._sharpen()):
                return
            yield from self._look(np.maximum(self.lo, self.x - cell), np.minimum(self.hi, self.x + cell))
            cell = cell / (SWEEPS.slices // 2)

    def _sharpen(self) -> Iterator[None]:
        """Newton's method along every variable; True if it has converged."""
        for _ in range(POLICY.zoom_levels):
            x, convex = self.sweeper.newton(self.x, self.lo, self.hi)
            value = self._value(x)
            yield
            if not value <= self.value:
                return False
            step = np.abs(x - self.x)
            self.x, self.value = x, value
            if (step <= POLICY.least_step * (self.hi - self.lo)).all():
                return convex
        return False

    def _look(self, low: np.ndarray, high: np.ndarray) -> Iterator[None]:
        """Along every variable within its window."""
        places, values, worst, highest = self.sweeper.sample(self.x, low, high)
        self.evaluations += SWEEPS.slices * len(places)
        before = self.x
        self._move(places, values)
        with np.errstate(invalid="ignore"):  # a window without any value
            larger = np.abs(highest) - np.abs(values)
        self._move_pairs(np.where(values < highest, places, before), worst, larger)
        yield

    def _move(self, places: np.ndarray, values: np.ndarray) -> None:
        """Makes the changes that help alone: all together, or the better half of them, or a quarter, …: whatever is lowest."""
        helps = values < self.value
        count = int(helps.sum())
        best, order = (self.x, self.value), None
        for part in range(12):
            take = count >> part
            if take == 0:
                break
            if part == 0:
                chosen = helps
            else:
                order = np.argsort(values, kind="stable") if order is None else order
                chosen = np.zeros(len(values), bool)
                chosen[order[:take]] = True
            x = np.where(chosen, places, self.x)
            value = self._value(x)
            if value < best[1]:
                best = x, value
            elif best[1] < self.value:
                break
        self.x, self.value = best

    def _move_pairs(self, places: np.ndarray, worst: np.ndarray, larger: np.ndarray) -> None:
        """A product of factors of both signs: where one would be largest with the wrong sign, two such changes make it right."""
        flips = larger > 0
        if flips.any() and not flips.all():
            least = np.argmin(np.where(flips, larger, np.inf))
            for undone in (None, least):
                if undone is not None:
                    flips[undone] = False
                x = np.where(flips, worst, places)
                value = self._value(x)
                if value < self.value:
                    self.x, self.value = x, value

    def _downhill(self) -> Iterator[None]:
        """Along the gradient, on every scale: functions of a norm fall along it and along no variable."""
        n, lanes = len(self.lo), POLICY.points_of_line * POLICY.scales_of_line
        if n * lanes > POLICY.most_numbers:
            return
        for _ in range(POLICY.scales_of_line):
            _, g = self.evaluator.estimate_gradient(self.x)
            size = np.abs(g).max()
            if not 1e-300 < size < np.inf:
                return
            reach = float((self.hi - self.lo).max())
            direction = g * (-1.0 / size)
            t = (np.ldexp(reach, -2 * np.arange(POLICY.scales_of_line))[:, None]
                 * (np.arange(1, POLICY.points_of_line + 1) / POLICY.points_of_line)).ravel()
            probe = np.zeros((5, lanes))
            probe[0] = probe[2] = -1.0
            probe[4] = t
            parameters = np.concatenate([self.x, direction, self.lo, self.hi, np.arange(n, dtype=float)])
            values = self.evaluator.run(PROBE, [probe], parameters=parameters)[0][0]
            self.evaluations += lanes
            yield
            k = int(np.argmin(np.where(np.isfinite(values), values, np.inf)))
            x = np.minimum(np.maximum(self.x + t[k] * direction, self.lo), self.hi)
            value = self._value(x)
            if not value < self.value - 1e-12 * abs(self.value):
                return
            self.x, self.value = x, value
