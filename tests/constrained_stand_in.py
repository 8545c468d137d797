"""A plain branch and bound over constraints, to test what is said of its results: natural enclosures, midpoints, nothing more.

Equations are never proved; `told` may hold a box that is then taken for proved.
"""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from infimum.problem.cover import Cover
from infimum.result import Progress, Result, Verdict
from infimum.search.checkpoint import State
from infimum.search.progress import bounds


class StandIn:
    name = "stand-in"
    told: Any = None

    def __init__(self, problem, evaluator, method, limits, batch=None, rounds=None):
        self.problem, self.evaluator, self.goal, self.seed = problem, evaluator, method.goal, method.seed
        self.max_boxes, self.batch = limits.max_boxes or 20000, batch
        self.lo, self.hi, self.low = problem.lo[:, None].copy(), problem.hi[:, None].copy(), np.array([-np.inf])
        self.best, self.value, self.evaluations, self.count = None, np.inf, 0, 0
        self.incumbent = SimpleNamespace(box=self.told, evaluator=self.evaluator)

    @property
    def x(self) -> np.ndarray:
        return self.problem.lo if self.best is None else self.best

    @property
    def lower(self) -> float:
        return float(min(self.low.min(initial=np.inf), self.value))

    def figures(self) -> dict[str, str]:
        return bounds(self.lower, self.value)

    def state(self) -> State:
        return State({"count": self.count}, {})

    def restore(self, state: State) -> None:
        self.count = state.values["count"]

    def steps(self) -> Iterator[None]:
        while self.low.size and not self.goal.met(self.lower, self.value) and self.evaluations < self.max_boxes:
            self._step()
            yield

    def _step(self) -> None:
        system, whole = self.evaluator.system, list(self.evaluator.system.integers)
        k = np.argsort(self.low, kind="stable")[:64]
        lo, hi = self.lo[:, k], self.hi[:, k]
        self.lo, self.hi, self.low = (np.delete(a, k, axis=-1) for a in (self.lo, self.hi, self.low))
        axis, lane = np.argmax(hi - lo, axis=0), np.arange(len(k))
        middle = lo + (hi - lo) / 2
        left, right = hi.copy(), lo.copy()
        left[axis, lane] = right[axis, lane] = middle[axis, lane]
        lo, hi = np.concatenate([lo, right], axis=1), np.concatenate([left, hi], axis=1)
        lo[whole], hi[whole] = np.ceil(lo[whole]), np.floor(hi[whole])
        rows = self.evaluator.rows(lo, hi)
        ends = system.lower[:, None], system.upper[:, None]
        alive = ((lo <= hi).all(axis=0) & ~rows.empty.any(axis=0) & (rows.hi[1:] >= ends[0]).all(axis=0)
                 & (rows.lo[1:] <= ends[1]).all(axis=0) & (rows.lo[0] <= self.value))
        self.evaluations += lo.shape[1]
        points = lo + (hi - lo) / 2
        points[whole] = np.rint(points[whole])
        at = self.evaluator.rows(points, points)
        good = (at.defined.all(axis=0) & (at.lo[1:] >= ends[0]).all(axis=0) & (at.hi[1:] <= ends[1]).all(axis=0) & alive)
        value = np.where(good, at.hi[0], np.inf)
        if self.told is not None and self.best is None:
            self.best = (self.told[0] + self.told[1]) / 2
            self.value = float(self.evaluator.rows(*self.told).hi[0])
        if self.told is None and value.min() < self.value:
            self.best, self.value = points[:, np.argmin(value)].copy(), float(value.min())
        self.lo, self.hi, self.low = (np.concatenate([a, b[..., alive]], axis=-1)
                                      for a, b in ((self.lo, lo), (self.hi, hi), (self.low, rows.lo[0])))

    def finish(self, stopped: str | None, seconds: float, history: list[Progress]) -> Result:
        met = self.goal.met(self.lower, self.value)
        verdict = Verdict.INFEASIBLE if not self.low.size and self.best is None else Verdict.PROVED if met else Verdict.STOPPED
        return Result(x=self.best, fun=self.value, success=met, status=0, message=stopped or "the limit was reached", nit=0,
                      nfev=self.evaluations, verdict=verdict, lower=self.lower, upper=self.value, history=history,
                      regions=Cover(self.lo, self.hi, self.low), boxes=[], engine=self.name, seconds=seconds, seed=self.seed)
