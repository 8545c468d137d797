"""Descents: many quasi-Newton descents at once, one a lane, on the kernels of `lower.descent`."""

from dataclasses import dataclass

import numpy as np

from infimum.evaluate import Evaluator
from infimum.lower.descent import PARAMETERS, SCALARS, State
from infimum.lower.programs import DESCENT_DENSE, DESCENT_LIMITED

DENSE = 32        # up to so many variables the inverse Hessian is kept whole
_TOGETHER = 264   # lanes a run: their metrics stay in the cache, and 264*8 bytes is no power of two, so that rows do not collide
_LOOK = 8         # trials between two looks at what has ended
_LEAST = 8        # lanes fill a vector: fewer cost as much
_VALUE, _STATE = SCALARS.index("value"), SCALARS.index("state")


@dataclass(frozen=True, slots=True)
class Ends:
    """Where lanes ended: points (n, N), values (infinite if DEAD) and states; `lane` is the number of the start."""

    x: np.ndarray
    value: np.ndarray
    state: np.ndarray
    lane: np.ndarray


@dataclass(frozen=True, slots=True)
class Rules:
    """When a trial is accepted, and when a lane is done. `spread` is the size of the differences of the function's values."""

    armijo: float = 0.3
    halvings: int = 20
    trials: int = 400
    spread: float = 1.0


class Descents:
    """Lanes that descend together inside a box; `advance` runs a few trials, ended lanes leave and are gathered.

    A lane ends CONVERGED where its gradient has vanished, KINK where value and point have stopped moving although it has not,
    DEAD where the start has no finite value or gradient. Lanes whose budget is spent keep the state they are in.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, starts: np.ndarray, rules: Rules):
        self.evaluator, self.rules, self.n = evaluator, rules, len(lo)
        self.kind = DESCENT_DENSE if self.n <= DENSE else DESCENT_LIMITED
        last = [rules.armijo, rules.halvings, 1e-24 * rules.spread, 1e-4 * rules.spread]
        assert len(last) == len(PARAMETERS)
        self.parameters = np.concatenate([lo, hi, hi - lo, last])
        count = starts.shape[1]
        self.waiting = [(starts[:, k:k + _TOGETHER], np.arange(k, min(k + _TOGETHER, count))) for k in range(0, count, _TOGETHER)]
        self.ended: list[Ends] = []
        self.trials = self.evaluations = 0
        self.lanes: list[np.ndarray] | None = None

    @property
    def done(self) -> bool:
        return not self.waiting and self.lanes is None

    def advance(self, trials: int = _LOOK) -> Ends | None:
        """Runs so many trials of the lanes at work; returns those that ended."""
        if self.lanes is None:
            if not self.waiting:
                return None
            self._begin(*self.waiting.pop(0))
        trials = min(trials, self.rules.trials - self.used)
        for _ in range(trials):
            self.lanes, self.spare = self.evaluator.run(self.kind, self.lanes, self.spare, self.parameters), self.lanes
        self.used += trials
        self.trials += trials
        self.evaluations += trials * int((self.number >= 0).sum())
        return self._collect()

    def run(self) -> Ends:
        """Everything to its end."""
        while not self.done:
            self.advance()
        return self.all_ends()

    def all_ends(self) -> Ends:
        """The lanes that have ended so far, in the order of their starts."""
        if not self.ended:
            return Ends(np.empty((self.n, 0)), np.empty(0), np.empty(0, int), np.empty(0, int))
        order = np.argsort(np.concatenate([e.lane for e in self.ended]), kind="stable")
        parts = (np.concatenate([getattr(e, name) for e in self.ended], axis=-1) for name in ("x", "value", "state", "lane"))
        return Ends(*(np.take(part, order, axis=-1) for part in parts))

    @property
    def running(self) -> int:
        """The lanes at work or waiting."""
        at_work = 0 if self.lanes is None else int((self.number >= 0).sum())
        return at_work + sum(len(number) for _, number in self.waiting)

    def best(self) -> tuple[np.ndarray, float] | None:
        """The best point of the lanes at work."""
        if self.lanes is None:
            return None
        value = np.where(self.lanes[-1][_STATE] > State.FRESH, self.lanes[-1][_VALUE], np.inf)
        value = np.where(self.lanes[-1][_STATE] == State.DEAD, np.inf, value)
        k = int(np.argmin(value))
        return (self.lanes[0][:, k].copy(), float(value[k])) if value[k] < np.inf else None

    def _begin(self, starts: np.ndarray, number: np.ndarray) -> None:
        """Lanes for these starts; where they are few, the first start fills the vector. A filler has the number -1."""
        fill = max(0, _LEAST - len(number))
        self.number, self.used = np.concatenate([number, np.full(fill, -1)]), 0
        self.lanes = [np.zeros((count, len(self.number))) for count in self.evaluator.prepare(self.kind)[3]]
        self.lanes[0][:, :len(number)], self.lanes[0][:, len(number):] = starts, starts[:, :1]
        self.spare = [np.empty_like(a) for a in self.lanes]

    def _collect(self) -> Ends | None:
        """Takes the ended lanes out, once they are many enough or no others are left."""
        state, mine = self.lanes[-1][_STATE], self.number >= 0
        spent = self.used >= self.rules.trials
        over = mine if spent else mine & (state >= State.CONVERGED)
        if not over.any() or (2 * over.sum() < mine.sum() and not spent):
            return None
        value = np.where(state == State.DEAD, np.inf, self.lanes[-1][_VALUE])
        ends = Ends(np.compress(over, self.lanes[0], axis=1), value[over], state[over].astype(int), self.number[over])
        self.ended.append(ends)
        self.number = np.where(over, -1, self.number)
        left = int(mine.sum() - over.sum())
        if left == 0:
            self.lanes = self.spare = None
        elif len(self.number) > _LEAST:
            kept = np.sort(np.argsort(self.number < 0, kind="stable")[:max(left, _LEAST)])
            self.lanes = [np.take(a, kept, axis=1) for a in self.lanes]
            self.spare = [np.empty_like(a) for a in self.lanes]
            self.number = self.number[kept]
        return ends
