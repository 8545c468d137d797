"""A descent from a trial with few more of them: quadratic models in a box that grows and shrinks, after Powell."""

import numpy as np

from infimum.engine.index.models import least_in_box, quadratic

_SHRINK, _GROW = 0.5, 1.6
_FILLED = 0.7    # of the box: no face is farther from a trial than that
_NEW = 0.1       # of the box: nearer to a trial, another one tells nothing


class Descent:
    """One descent: `next` names a point of the unit cube, `tell` takes its value, None where there is none; `over` at its end."""

    def __init__(self, start: np.ndarray, value: float, points: np.ndarray, values: np.ndarray, radius: float, least: float):
        self.n, self.start, self.start_value = len(start), start, value
        self.best, self.value = start, value
        self.points, self.values = np.vstack([points, start]), np.append(values, value)
        self.first_radius = self.radius = radius
        self.least, self.trials, self.over = least, 0, False
        self._wanted = (self.n + 1) * (self.n + 2) // 2
        self._failed = False

    def next(self) -> np.ndarray:
        """The least point of the model; or where it knows least, while it is not good enough to be believed."""
        while True:
            points, values = self._near()
            unknown, gap = self._least_known()
            if len(points) <= self.n or self._failed and gap > _FILLED * self.radius:
                self._failed = False
                return unknown
            if self._failed:
                self._shrink()
            lo, hi = np.maximum(-self.radius, -self.best), np.minimum(self.radius, 1 - self.best)
            found = self.best + least_in_box(*quadratic(points, values, self.best), lo, hi)
            if self.over or np.abs(self.points - found).max(axis=1).min() >= _NEW * self.radius:
                return found
            self._failed = True

    def tell(self, point: np.ndarray, value: float | None) -> None:
        """What came of a trial."""
        self.trials += 1
        if value is None:        # no model knows where there are values: nearer to the best
            self._shrink()
            return
        self.points, self.values = np.vstack([self.points, point]), np.append(self.values, value)
        if value < self.value:
            far = np.abs(point - self.best).max() > 0.7 * self.radius
            self.best, self.value, self._failed = point, value, False
            self.radius = min(self.radius * (_GROW if far else 1.0), 2 * self.first_radius)
        else:
            self._failed = True
            if self._least_known()[1] <= _FILLED * self.radius:
                self._shrink()

    def _shrink(self) -> None:
        self.radius *= _SHRINK
        self._failed = False
        self.over = self.radius < self.least

    def _near(self) -> tuple[np.ndarray, np.ndarray]:
        """The trials that a model is made of: the nearest, up to as many as a quadratic has coefficients."""
        apart = np.abs(self.points - self.best).max(axis=1)
        close = np.flatnonzero(apart <= 2 * self.radius)
        close = close[np.argsort(apart[close], kind="stable")][:self._wanted]
        return self.points[close], self.values[close]

    def _least_known(self) -> tuple[np.ndarray, float]:
        """Of the points at the box's faces, one on each axis and side, that which is farthest from all trials; and how far."""
        steps = np.concatenate([np.eye(self.n), -np.eye(self.n)]) * self.radius
        places = np.clip(self.best + steps, 0, 1)
        gaps = np.abs(places[:, None] - self.points).max(axis=2).min(axis=1)
        farthest = int(np.argmax(gaps))
        return places[farthest], float(gaps[farthest])
