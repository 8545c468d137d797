"""A descent from a trial with few more of them: quadratic models in a box that grows and shrinks, after Powell.

With constraints every function that was computed near the best trial has its model. A trial is better that satisfies more
constraints, in their order, or as many with a lower last value, as the index method has it: a descent from an infeasible trial
goes down the constraint that is violated until it holds, then down the next function. Its steps keep to where the models of the
constraints that hold are negative, and stay away from there by a share of the box that adapts: less after feasible steps,
more after others. So a descent comes to a minimum on the boundary as well.
"""

import numpy as np

from infimum.engine.index.models import Restraint, least_in_box, least_restrained, quadratic

_GROW = 1.6
_FILLED = 0.7    # of the box: no face is farther from a trial than that
_NEW = 0.1       # of the box: nearer to a trial, another one tells nothing
_REACH = 4.0     # of the box: with constraints, of which fewer trials have values, models are made of trials so far away
_PATIENCE = 2    # infeasible trials before the box shrinks, each time farther from the boundary
_INSIDE = 0.05   # of the box: how far from the boundary of a constraint a step stays at first,
_NEARER, _FARTHER, _LEAST_INSIDE, _MOST_INSIDE = 0.25, 4.0, 1e-5, 0.2   # and after steps that were feasible, or were not


class Descent:
    """One descent: `next` names a point of the unit cube, `tell` takes the values computed there, none where it failed; `over`
    at its end.

    Values are rows, constraints first and then f, NaN from where they were not computed.
    """

    def __init__(self, start: np.ndarray, values: np.ndarray, points: np.ndarray, others: np.ndarray, radius: float,
                 least: float):
        self.n, self.start = len(start), start
        self.best, self.best_values = start, values
        self.points, self.values = np.vstack([points, start]), np.vstack([others, values])
        self.first_radius = self.radius = radius
        self.least, self.trials, self.over = least, 0, False
        self._wanted = (self.n + 1) * (self.n + 2) // 2
        self._faces = np.concatenate([np.eye(self.n), -np.eye(self.n)])
        self._failed, self._outside = False, 0      # outside: infeasible trials since the last that was not
        self._inside, self._restrained = _INSIDE, False  # how far from boundaries, and was that asked of the last step?
        self._modelled: tuple[tuple, list[Restraint]] | None = None    # the last restraints, and of what they were made

    @property
    def level(self) -> int:
        """How many constraints hold at the best trial: the number of the function to go down."""
        return int(np.count_nonzero(~np.isnan(self.best_values))) - 1

    @property
    def value(self) -> float:
        """The least value of that function."""
        return float(self.best_values[self.level])

    def next(self) -> np.ndarray:
        """The least point of the model; or where it knows least, while it is not good enough to be believed."""
        while True:
            level = self.level
            near = self._near(level)
            restraints = self._restraints(level)
            if len(near) <= self.n or self._failed:
                unknown, gap = self._least_known(level, restraints)
                if len(near) <= self.n or gap > _FILLED * self.radius:
                    self._failed = self._restrained = False
                    return unknown
            if self._failed:
                self._shrink()
            lo, hi = np.maximum(-self.radius, -self.best), np.minimum(self.radius, 1 - self.best)
            model = quadratic(self.points[near], self.values[near, level], self.best)
            step = least_in_box(*model, lo, hi)
            self._restrained = any(r.at(step[None])[0] > 0 for r in restraints)
            if self._restrained:
                step = least_restrained(*model, restraints, lo, hi, self._inside * self.radius)
            found = self.best + step
            if self.over or np.abs(self.points - found).max(axis=1).min() >= _NEW * self.radius:
                return found
            self._failed = True

    def tell(self, point: np.ndarray, values: np.ndarray | None) -> None:
        """What came of a trial."""
        self.trials += 1
        if values is None:        # no model knows where there are values: nearer to the best
            self._shrink()
            return
        self.points, self.values = np.vstack([self.points, point]), np.vstack([self.values, values])
        computed, level = int(np.count_nonzero(~np.isnan(values))) - 1, self.level
        if computed < level:
            self._inside = min(_FARTHER * self._inside, _MOST_INSIDE)
        elif self._restrained:
            self._inside = max(_NEARER * self._inside, _LEAST_INSIDE)
        self._restrained = False
        if computed < level and self._outside < _PATIENCE:      # the constraint's model has learned: the same box again
            self._outside += 1
            return
        self._outside = 0
        if computed > level or computed == level and values[level] < self.value:
            far = np.abs(point - self.best).max() > 0.7 * self.radius
            self.best, self.best_values, self._failed, self._modelled = point, values, False, None
            self.radius = min(self.radius * (_GROW if far else 1.0), 2 * self.first_radius)
        else:
            self._failed = True
            restraints = self._restraints(level)
            if self._least_known(level, restraints)[1] <= _FILLED * self.radius:
                self._shrink()

    def _shrink(self) -> None:
        self.radius *= 0.5
        self._failed = False
        self.over = self.radius < self.least

    def _near(self, function: int) -> np.ndarray:
        """The trials that a model of a function is made of: the nearest, up to as many as a quadratic has coefficients."""
        apart = np.abs(self.points - self.best).max(axis=1)
        reach = _REACH if self.values.shape[1] > 1 else 2.0
        close = np.flatnonzero((apart <= reach * self.radius) & ~np.isnan(self.values[:, function]))
        return close[np.argsort(apart[close], kind="stable")][:self._wanted]

    def _restraints(self, level: int) -> list[Restraint]:
        """The models of the constraints before a function, made once while nothing is learned and the box stays."""
        made_of = level, len(self.points), self.radius
        if self._modelled is None or self._modelled[0] != made_of:
            self._modelled = made_of, [r for k in range(level) if (r := self._restraint(k)) is not None]
        return self._modelled[1]

    def _restraint(self, function: int) -> Restraint | None:
        """The model of a constraint that holds at the best trial; None where too little is known of it."""
        near = self._near(function)
        if len(near) <= self.n:
            return None
        model = quadratic(self.points[near], self.values[near, function], self.best)
        return Restraint(float(self.best_values[function]), *model)

    def _least_known(self, level: int, restraints: list[Restraint]) -> tuple[np.ndarray, float]:
        """Of the points at the box's faces, one on each axis and side, that which is farthest from all trials that have a value
        of the function; and how far. Points where a constraint will not hold count only if there are no others."""
        places = np.clip(self.best + self._faces * self.radius, 0, 1)
        points = self.points
        if restraints:
            holds = np.all([r.at(places - self.best) <= 0 for r in restraints], axis=0)
            if holds.any():
                places, points = places[holds], points[~np.isnan(self.values[:, level])]
        gaps = np.abs(places[:, None] - points).max(axis=2).min(axis=1)
        farthest = int(np.argmax(gaps))
        return places[farthest], float(gaps[farthest])
