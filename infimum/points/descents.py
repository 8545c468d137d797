"""Descents: many quasi-Newton descents at once, one a lane, on the kernels of `points.descent_kernel`."""

from typing import Any

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import DESCENT_DENSE, DESCENT_LIMITED
from infimum.points.descent_kernel import PARAMETERS, SCALARS, LaneState
from infimum.search.policy.points import DESCENTS as POLICY
from infimum.support.lazy import dataclass

_VALUE, _STATE, _TRIALS = (SCALARS.index(name) for name in ("value", "state", "trials"))


@dataclass(frozen=True, slots=True)
class DescentEnds:
    """Where lanes ended: points (n, N), values (infinite if DEAD) and states; `lane` is the number of the start.

    Those may be the lowest only. Of all that ended: how often f was evaluated, and how often in the lane that took longest.
    """

    x: np.ndarray
    value: np.ndarray
    state: np.ndarray
    lane: np.ndarray
    evaluations: int
    longest: int


@dataclass(frozen=True, slots=True)
class DescentRules:
    """When a trial is accepted, and when a lane is done. `spread` is the size of the differences of the function's values."""

    armijo: float = POLICY.armijo
    halvings: int = POLICY.halvings
    trials: int = POLICY.trials
    spread: float = 1.0


class Descents:
    """Lanes that descend together inside a box; `advance` runs a few trials, ended lanes leave and are gathered.

    The starts are an array of NumPy's or of the evaluator's `arrays`: there the lanes stay. How many work at the same time
    changes nothing that a lane does. A lane ends CONVERGED where its gradient has vanished, KINK where value and point have
    stopped moving although it has not, DEAD where the start has no finite value or gradient. Lanes whose budget is spent keep
    the state they are in.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, starts: Any, rules: DescentRules):
        self.evaluator, self.rules, self.n = evaluator, rules, len(lo)
        self.kind = DESCENT_DENSE if self.n <= POLICY.most_dense_variables else DESCENT_LIMITED
        last = [rules.armijo, rules.halvings, 1e-24 * rules.spread, 1e-4 * rules.spread]
        assert len(last) == len(PARAMETERS)
        self.parameters = np.concatenate([lo, hi, hi - lo, last])
        self.starts, self.count = starts, starts.shape[1]
        self.here, self.arrays = isinstance(starts, np.ndarray), evaluator.arrays_of(starts)
        self.together = POLICY.lanes_at_once if self.here else max(POLICY.vector_lanes, POLICY.gpu_bytes // (16 * sum(self.rows)))
        beyond = self.count + POLICY.vector_lanes  # where lanes end that only fill a vector
        self.numbers, self.end = self.arrays.numbers(beyond), self.arrays.zeros(self.n + len(SCALARS), beyond)
        self.begun = self.ended = 0
        self.evaluations = self.counted = 0  # at least, in the trials of those at work; the ends tell exactly
        self.lanes: Any = None  # rows of the points, the scalars, and all else

    @property
    def rows(self) -> tuple[int, ...]:
        """Of the kernel's arrays."""
        return self.evaluator.prepare(self.kind)[3]

    @property
    def done(self) -> bool:
        return self.begun == self.count and self.lanes is None

    @property
    def running(self) -> int:
        """The lanes at work or waiting, those that ended and were not gathered yet among them."""
        return self.count - self.ended

    def advance(self, trials: int | None = None) -> int:
        """Runs some trials of the lanes at work; returns how many lanes were gathered."""
        if self.done:
            return 0
        if self.lanes is None:
            self._begin()
        often = self.here and self.at_work > POLICY.few_lanes
        soon = POLICY.quick_work[not self.here] // (self.n * self.number.shape[1])
        trials = trials or max(POLICY.trials_between_checks, 0 if often else min(self.used // 2, soon))
        self._try(trials)
        return self._collect()

    def queue(self) -> None:
        """On a GPU: has the first trials begin, without a look at them, so that this machine is free meanwhile."""
        self._begin()
        self._try(max(POLICY.trials_between_checks,
                      min(3 * POLICY.trials_between_checks, POLICY.unchecked_work // (self.n * self.number.shape[1]))))

    def _try(self, trials: int) -> None:
        """So many trials of all lanes, or as many as are left."""
        trials = min(trials, self.rules.trials - self.used)
        self.evaluator.run(self.kind, self._parts(self.lanes), self._parts(self.spare), self.parameters, trials)
        if trials % 2:
            self.lanes, self.spare = self.spare, self.lanes
        self.used += trials

    def run(self) -> DescentEnds:
        """Everything to its end."""
        while not self.done:
            self.advance()
        return self.ends()

    def ends(self, most: int | None = None) -> DescentEnds:
        """The lanes that were gathered so far, in the order of their starts; the `most` lowest, if all of them were."""
        fetch = self.arrays.fetch
        trials = fetch(self._row(self.end, _TRIALS)[:, :self.count])
        if most is not None and most < self.count and self.done:
            index, _ = self.arrays.lowest(self._row(self.end, _VALUE)[:, :self.count], most)
            end, lane = fetch(self.arrays.gather(self.end, index)), fetch(index)
        else:
            end = fetch(self.end)[:, :self.count]
            lane = np.flatnonzero(end[self.n + _STATE] > LaneState.FRESH)
            end = np.take(end, lane, axis=1)
        return DescentEnds(end[:self.n], end[self.n + _VALUE], end[self.n + _STATE].astype(int), lane, int(trials.sum()),
                           int(trials.max(initial=0)))

    def _row(self, lanes: Any, scalar: int) -> Any:
        return lanes[self.n + scalar:self.n + scalar + 1]

    def _parts(self, lanes: Any) -> list[Any]:
        """The arrays of the kernel: points, gradients, directions, metrics, and the scalars, which stand behind the points."""
        begin, parts = self.n + len(SCALARS), [lanes[:self.n]]
        for rows in self.rows[1:-1]:
            parts.append(lanes[begin:begin + rows])
            begin += rows
        return [*parts, lanes[self.n:self.n + len(SCALARS)]]

    def best(self) -> tuple[np.ndarray, float] | None:
        """The best point of the lanes at work."""
        if self.lanes is None:
            return None
        value, x = self.arrays.least_column(self._row(self.lanes, _VALUE), self.lanes[:self.n])
        return (x, value) if value < np.inf else None

    def _begin(self) -> None:
        """Lanes for the next starts; where they are few, the first of them fills the vector."""
        put, begin = self.arrays.put, self.begun
        self.begun = min(begin + self.together, self.count)
        self.at_work = self.begun - begin
        width = max(self.at_work, POLICY.vector_lanes)
        self.lanes, self.spare = self.arrays.zeros(sum(self.rows), width), self.arrays.empty(sum(self.rows), width)
        self.number, self.used, self.counted = self.arrays.empty(1, width), 0, 0
        put(self.lanes[:self.n], 0, self.starts, begin, self.begun)
        put(self.number, 0, self.numbers, begin, self.begun)
        for k in range(self.at_work, width):
            put(self.lanes[:self.n], k, self.starts, begin, begin + 1)
            put(self.number, k, self.numbers, self.count + k, self.count + k + 1)

    def _collect(self) -> int:
        """Takes the ended lanes out, once they are many enough or no others are left."""
        width = self.number.shape[1]
        (order, counts), = self.arrays.order(len(LaneState), self._row(self.lanes, _STATE))
        self.evaluations += (self.used - self.counted) * min(self.at_work, sum(counts[:LaneState.CONVERGED]))
        self.counted = self.used
        running = 0 if self.used >= self.rules.trials else sum(counts[:LaneState.CONVERGED])
        if 2 * running > width or running == width:
            return 0
        gather, ended = self.arrays.gather, order[running:]
        self.arrays.scatter(gather(self.lanes[:self.n + len(SCALARS)], ended), gather(self.number, ended), self.end)
        before, self.at_work = self.at_work, min(running, self.at_work)
        self.ended += before - self.at_work
        if running == 0:
            self.lanes = self.spare = None
        elif width > POLICY.vector_lanes:
            kept = order[:max(running, POLICY.vector_lanes)]  # some that have ended fill the vector: they stay as they are
            self.lanes, self.number = gather(self.lanes, kept), gather(self.number, kept)
            self.spare = self.arrays.empty(*self.lanes.shape)
        return before - self.at_work
