"""A descent from a trial with few more of them: quadratic models in a box that grows and shrinks, after Powell."""

import numpy as np

from infimum.engines.index.local_models import least_in_box, quadratic
from infimum.search.policy.index import MODEL_DESCENT as POLICY


class ModelDescent:
    """One descent: `next` names a point of the unit cube, `tell` takes the values computed there, none where it failed; `over`
    at its end.

    Values are rows: of one number here; `ConstrainedDescent` has constraints, and then f, NaN from where they were not computed.
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
        self._failed = False

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
            near = self._near()
            if len(near) <= self.n or self._failed:
                unknown, gap = self._least_known()
                if len(near) <= self.n or gap > POLICY.farthest_face * self.radius:
                    self._failed = False
                    return unknown
            if self._failed:
                self._shrink()
            lo, hi = np.maximum(-self.radius, -self.best), np.minimum(self.radius, 1 - self.best)
            model = quadratic(self.points[near], self.values[near, 0], self.best)
            found = self.best + least_in_box(*model, lo, hi)
            if self.over or np.abs(self.points - found).max(axis=1).min() >= POLICY.new_distance * self.radius:
                return found
            self._failed = True

    def tell(self, point: np.ndarray, values: np.ndarray | None) -> None:
        """What came of a trial."""
        self.trials += 1
        if values is None:        # no model knows where there are values: nearer to the best
            self._shrink()
            return
        self.points, self.values = np.concatenate([self.points, point[None]]), np.concatenate([self.values, values[None]])
        self._learn(point, values)

    def _learn(self, point: np.ndarray, values: np.ndarray) -> None:
        """Moves to a better point; or else the next trial tells more of the function, or the box is smaller."""
        if values[0] < self.value:
            far = np.abs(point - self.best).max() > 0.7 * self.radius
            self.best, self.best_values, self._failed = point, values, False
            self.radius = min(self.radius * (POLICY.growth if far else 1.0), 2 * self.first_radius)
        else:
            self._failed = True
            if self._least_known()[1] <= POLICY.farthest_face * self.radius:
                self._shrink()

    def _shrink(self) -> None:
        self.radius *= 0.5
        self._failed = False
        self.over = self.radius < self.least

    def _near(self) -> np.ndarray:
        """The trials that a model is made of: the nearest, up to as many as a quadratic has coefficients."""
        apart = np.abs(self.points - self.best).max(axis=1)
        close = np.flatnonzero(apart <= POLICY.model_radius * self.radius)
        return close[np.argsort(apart[close], kind="stable")][:self._wanted]

    def _least_known(self) -> tuple[np.ndarray, float]:
        """Of the points at the box's faces, one on each axis and side, that which is farthest from all trials; and how far."""
        places = np.clip(self.best + self._faces * self.radius, 0, 1)
        gaps = np.abs(places[:, None] - self.points).max(axis=2).min(axis=1)
        farthest = int(np.argmax(gaps))
        return places[farthest], float(gaps[farthest])
