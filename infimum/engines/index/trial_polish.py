"""The best trial, made better: a descent of its own with smaller steps than those of the search, off the grid of its curve.

It knows the constraints as the descents of the search do, so that it comes to a minimum on the boundary as well.
"""

import math

import numpy as np

from infimum.engines.index.constrained_descent import descent
from infimum.engines.index.model_descent import ModelDescent
from infimum.engines.index.trial_values import TrialTable
from infimum.engines.index.unit_cube import Point, UnitCube
from infimum.search.policy.index import CURVE as POLICY


class TrialPolish:
    """At most one trial of it is waited for. It moves continuous variables, and leaves whole numbers as they are."""

    def __init__(self, cube: UnitCube):
        self.cube, self.trials, self.waiting = cube, 0, None
        self._descent: ModelDescent | None = None
        self._base: np.ndarray | None = None   # the whole place that it began with
        self._ended_at = math.inf              # the value at which the last one came to its end

    def wants(self, asked: int, value: float) -> bool:
        """Is it its turn, and is the best value not polished yet?"""
        turn = len(self.cube.continuous) and self.waiting is None and asked >= 10 * (self.cube.n + 1)
        going = self._descent is not None or value < self._ended_at
        return bool(turn and going and math.isfinite(value) and (self.trials + 1) * POLICY.trials_for_each <= asked)

    def next(self, best: Point, known: dict[Point, np.ndarray | None], trials: TrialTable) -> Point | None:
        """The point of its next trial; None at its end. `known`: what was computed in all trials, None where they failed."""
        if self._descent is None or known[best][-1] < self._descent.value:
            self._start(best, known[best], trials)
        for _ in range(POLICY.most_known_trials):
            place = self._base.copy()
            place[self.cube.continuous] = self._descent.next()
            point = self.cube.point(place)
            if point not in known:
                return point
            self._told(point, known[point])
            if self._descent is None:
                return None
        self._end()
        return None

    def ask(self, number: int) -> None:
        """Its point has become this trial."""
        self.waiting, self.trials = number, self.trials + 1

    def tell(self, number: int, point: Point, values: np.ndarray | None) -> None:
        """What came of any trial."""
        if number == self.waiting:
            self.waiting = None
            self._told(point, values)

    def _start(self, best: Point, values: np.ndarray, trials: TrialTable) -> None:
        free, self._base = self.cube.continuous, self.cube.unit(best)
        at, points = self._base[free], trials.points
        use = (trials.index >= 0) & (np.abs(points[:, free] - at).max(axis=1) <= 4 * POLICY.first_step)
        use &= self.cube.same_whole_numbers(points, self._base) & ((points[:, free] != at).any(axis=1))
        self._descent = descent(at, values, points[use][:, free], trials.values[use], POLICY.first_step, POLICY.last_step)

    def _told(self, point: Point, values: np.ndarray | None) -> None:
        self._descent.tell(self.cube.unit(point)[self.cube.continuous], values)
        if self._descent.over:
            self._end()

    def _end(self) -> None:
        self._ended_at, self._descent = self._descent.value, None
