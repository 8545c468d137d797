"""The whole box before it is cut: sweeps shrink it in all variables at once, while that pays."""

from collections.abc import Iterator

import numpy as np

from infimum.cover import widths
from infimum.engine.goal import Goal
from infimum.engine.parts.sweep import FEW, Sweeper
from infimum.engine.points.incumbent import Incumbent
from infimum.engine.regions.pool import Regions
from infimum.engine.running.checkpoint import State
from infimum.evaluate import Evaluator
from infimum.lower.sweep import SLICES

_PAYS = 0.9  # a sweep pays if it shrinks some variable to this part


class Root:
    """One box that holds every minimiser. `lower()` and the incumbent's upper bound enclose the infimum."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, goal: Goal, incumbent: Incumbent):
        self.evaluator, self.goal, self.incumbent, self.n = evaluator, goal, incumbent, len(lo)
        self.box, self.known, self.sweeps = (lo[:, None], hi[:, None]), -np.inf, 0  # f is not below what is known
        sweeper = Sweeper(evaluator, lo, hi) if self.n >= FEW else None
        self.sweeper = sweeper if sweeper is not None and sweeper.possible else None

    def lower(self) -> float:
        """Certainly not above the infimum."""
        return min(self.known, self.incumbent.upper)

    @property
    def boxes(self) -> int:
        """How many were enclosed."""
        return self.sweeps * SLICES * self.n

    @property
    def width(self) -> float:
        return float(widths(*self.box).max())

    @property
    def empty(self) -> bool:
        """Is all of it proved away?"""
        return not (self.box[0] <= self.box[1]).all()

    @property
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing left?"""
        narrow = self.goal.xtol is None or self.width <= self.goal.xtol
        return self.empty or (self.goal.met(self.known, self.incumbent.upper) and narrow)

    def sweep(self) -> Iterator[None]:
        """Sweeps until there is nothing to do, or it no longer pays."""
        while self.sweeper is not None:
            lo, hi, lower = self.sweeper.sweep(*self.box, self.incumbent.upper)
            self.sweeps += 1
            pays = bool((widths(lo, hi) < _PAYS * widths(*self.box)).any())
            self.box, self.known = (lo, hi), max(self.known, float(lower[0]))
            yield
            if self.done or not (pays or self.sweeper.look_closer()):
                return

    def state(self) -> State:
        """What a later run needs."""
        slices = 0 if self.sweeper is None else self.sweeper.slices
        return State({"sweeps": self.sweeps, "slices": slices}, {"root": np.concatenate([*self.box, [[self.known]]])[:, 0]})

    def restore(self, state: State) -> None:
        """Goes on from there."""
        n, root, self.sweeps = self.n, state.arrays["root"], state.values["sweeps"]
        self.box, self.known = (root[:n, None].copy(), root[n:2 * n, None].copy()), float(root[2 * n])
        if self.sweeper is not None:
            self.sweeper.slices = state.values["slices"]

    def regions(self) -> Regions:
        """What may still hold a minimiser."""
        if self.empty:
            return Regions.none(self.n)
        value = self.evaluator.value(*self.box)
        return Regions(*self.box, np.array([self.known]), np.zeros(1, np.int32), value.level.astype(np.int8))
