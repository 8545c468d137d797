"""A descent where there are constraints.

Every function that was computed near the best trial has its model. A trial is better that satisfies more constraints, in their
order, or as many with a lower last value, as the index method has it: a descent from an infeasible trial goes down the
constraint that is violated until it holds, then down the next function. Its steps keep to where the models of the constraints
that hold are negative, with a margin for each: as much as its model has lately been exceeded. So a descent comes to a minimum on
the boundary as well. After a step that led to nothing better the next trial goes where the model, for what it does not know, may
be wrong by enough; only if that is nowhere the box shrinks.
"""

from functools import cache

import numpy as np

from infimum.engines.index.constrained_model_step import least_constrained
from infimum.engines.index.fitted_quadratics import FittedQuadratics, quadratics
from infimum.engines.index.model_descent import ModelDescent
from infimum.search.policy.index import CONSTRAINED_DESCENT as POLICY


class ConstrainedDescent(ModelDescent):
    """Like a descent, with the values of constraints, and then of f, in rows: NaN from where they were not computed."""

    def __init__(self, start: np.ndarray, values: np.ndarray, points: np.ndarray, others: np.ndarray, radius: float,
                 least: float):
        super().__init__(start, values, points, others, radius, least)
        self._outside = 0                         # infeasible trials since the last that was not
        self._margins = np.full(len(values) - 1, POLICY.first_margin)
        self._made: FittedQuadratics | None = None      # the models, until a trial is told
        # of the last step: rises, lengths of slopes
        self._expected: tuple[FittedQuadratics, np.ndarray, np.ndarray] | None = None

    def next(self) -> np.ndarray:
        """The least point of the models; or after a failure where the function may be lower for what they do not know."""
        level = self.level
        while True:
            if self._made is None:
                self._made = quadratics(self.points, self.values, self.best, level)
            models, self._expected = self._made, None
            if models is None:
                return self._least_known()[0]
            lo, hi = np.maximum(-self.radius, -self.best), np.minimum(self.radius, 1 - self.best)
            known, lengths = models.functions[:-1], _lengths(models.gradients[:-1])
            failed, self._failed = self._failed, False
            step = self._doubtful(models, lo, hi) if failed else None
            if failed and step is None:
                self._shrink()
                continue
            if step is None:
                margins = np.minimum(self._margins[known], POLICY.largest_margin) * self.radius
                step = least_constrained(models.gradients[-1], models.hessians[-1], self.best_values[known] / lengths + margins,
                                         models.gradients[:-1] / lengths[:, None], models.hessians[:-1] / lengths[:, None, None],
                                         lo, hi)
            found = self.best + step
            if failed or self.over or self._is_new(found, level):
                self._expected = models, models.rise(step), lengths
                return found
            self._failed = True

    def _learn(self, point: np.ndarray, values: np.ndarray) -> None:
        """The same, and how far from each constraint steps are to stay."""
        self._made = None
        computed, level = int(np.count_nonzero(~np.isnan(values))) - 1, self.level
        self._learn_margins(values, computed)
        if computed < level:      # models have learned: the same box again
            self._outside += 1
            if self._outside > POLICY.patience_trials:
                self._outside = 0
                self._shrink()
            return
        self._outside = 0
        if computed > level or values[level] < self.value:
            self._better(point, values, computed > level)
        else:
            self._failed = True

    def _is_new(self, found: np.ndarray, level: int) -> bool:
        """Far from all trials that have a value of the function; those that missed it by little are corrected by little."""
        apart = np.maximum.reduce(np.abs(self.points - found), axis=1)
        near = np.where(np.isnan(self.values[:, level]), POLICY.same_distance, POLICY.new_distance) * self.radius
        return bool((apart >= near).all())

    def _better(self, point: np.ndarray, values: np.ndarray, higher: bool) -> None:
        expected = None if self._expected is None else -float(self._expected[1][-1])
        gain = self.value - float(values[self.level])
        far = float(np.abs(point - self.best).max()) > POLICY.long_step * self.radius
        self.best, self.best_values, self._failed = point, values, False
        if expected is None:
            return
        if far and (higher or gain > POLICY.good_ratio * expected):
            grown = min(self.radius * POLICY.growth, 2 * self.first_radius) / self.radius
            self.radius, self._margins = self.radius * grown, self._margins * grown
        elif not higher and gain < POLICY.poor_ratio * expected:
            self._shrink(POLICY.shrink_little)

    def _learn_margins(self, values: np.ndarray, computed: int) -> None:
        """In units of the box, of distance: by what each constraint was above its model."""
        if self._expected is None:
            return
        models, rises, lengths = self._expected
        for row, k in enumerate(models.functions[:-1]):
            if k <= computed:
                exceeded = POLICY.margin_of_excess * float(values[k] - self.best_values[k] - rises[row]) / (float(lengths[row])
                                                                                                      * self.radius)
                self._margins[k] = max(POLICY.margin_decay * self._margins[k], min(exceeded, 1.0), POLICY.least_margin)

    def _shrink(self, by: float = POLICY.shrink) -> None:
        """A quarter of the box's bend is left: half of a margin, in units of the box."""
        self.radius *= by
        self._margins *= by
        self._failed = False
        self.over = self.radius < self.least

    def _doubtful(self, models: FittedQuadratics, lo: np.ndarray, hi: np.ndarray) -> np.ndarray | None:
        """The step to where the function may be lowest for what its model does not know; None if it may not be notably lower."""
        steps = np.minimum(np.maximum(_directions(self.n) * self.radius, lo), hi)
        rises = models.rises(steps)
        holds = (rises[:-1] <= -self.best_values[models.functions[:-1], None]).all(axis=0)
        steps, lowest = steps[holds], rises[-1, holds]
        if not len(steps):
            return None
        lowest = lowest - POLICY.unknown_share * models.unknown(steps)
        slope, bend = float(np.abs(models.gradients[-1]).sum()), float(np.abs(models.hessians[-1]).sum())
        most = self.radius * (slope + 0.5 * self.radius * bend)
        for candidate in np.argsort(lowest, kind="stable"):
            if lowest[candidate] >= -POLICY.worth_change * most:
                return None
            found = self.best + steps[candidate]
            if np.abs(self.points - found).max(axis=1).min() >= POLICY.informative_distance * self.radius:
                return steps[candidate]
        return None


def descent(start: np.ndarray, values: np.ndarray, points: np.ndarray, others: np.ndarray, radius: float, least: float
            ) -> ModelDescent:
    """A descent from a trial by its values, with others near it, in a box of that radius until it is so small."""
    return (ConstrainedDescent if len(values) > 1 else ModelDescent)(start, values, points, others, radius, least)


def _lengths(slopes: np.ndarray) -> np.ndarray:
    """Of rows, however large or small; 1 of a row of zeros."""
    most = np.maximum.reduce(np.abs(slopes), axis=1)
    most[most == 0] = 1.0
    lengths = most * np.sqrt(np.add.reduce((slopes / most[:, None]) ** 2, axis=1))
    lengths[lengths == 0] = 1.0
    return lengths


@cache
def _directions(n: int) -> np.ndarray:
    """Points on the faces of a box, the same each time, and their middles."""
    spread = np.random.Generator(np.random.PCG64(n)).uniform(-1, 1, (POLICY.candidates, n))
    return np.vstack([spread / np.abs(spread).max(axis=1)[:, None], np.eye(n), -np.eye(n)])
