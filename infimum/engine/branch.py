"""Branch and bound: every region is cut until it is discarded by proof or the gap is closed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from infimum.engine.goal import Goal
from infimum.engine.parts.payoff import Payoff
from infimum.engine.parts.sweep import Sweeper
from infimum.engine.points.incumbent import Incumbent
from infimum.engine.regions.heap import Heap
from infimum.engine.regions.pool import Pool, Regions
from infimum.engine.running.checkpoint import State
from infimum.evaluate import Evaluator
from infimum.lower.branch import ABOVE, FAR, FATES, FINAL, NEAR, POINT, PROVED_AWAY, REGIONS, UPPER, rows, rows_of
from infimum.lower.programs import BRANCH, BRANCH_BY_PIECES, FATE, WIDE
from infimum.lower.sweep import SLICES

FEW = 6  # with fewer variables regions are cut, not swept
LEAST = 16  # boxes a step
_FULL, _MOST_PIECES = 512, 16
_TERMS = 128  # a step has fewer lanes than its batch where a lane has more variables
_TAKES = 8    # steps that the regions at hand last
_TRY_PIECES, _TRY_SHAVING = (8, 64, 0.3), (16, 128, 0.9)  # from which step on, how often, and what must be discarded: see Payoff
_TRIED, _SHAVING_SLICES = 256, 8  # regions a test is tried on; slices of a piece where regions are swept
_SHAVED = 1 << 21  # regions times variables that are swept together


@dataclass(frozen=True, slots=True)
class Fates:
    """Regions, columns of an array, sorted by what becomes of them; `counts` holds how many there are of each fate."""

    regions: Any
    order: Any
    counts: list[int]

    def of(self, fate: int) -> Any:
        """The numbers of those with this fate, in ascending order."""
        begin = sum(self.counts[:fate])
        return self.order[begin:begin + self.counts[fate]]

    @property
    def kept(self) -> Any:
        """The numbers of those that are not discarded."""
        return self.order[sum(self.counts[:NEAR]):]


def lanes_of(batch: int, n: int) -> int:
    """The boxes of n variables that a step of this batch encloses."""
    return max(LEAST, min(batch, _TERMS * batch // n))


class Branch:
    """The regions of a problem and the tests that shrink them. `lower()` and the incumbent's upper bound enclose the infimum.

    Regions lie in the memory where the kernels run; what comes here in a step are counts, bounds and a point. `batch` is the
    number of lanes a step, part of the settings: the same batch gives the same bits everywhere.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, goal: Goal, incumbent: Incumbent,
                 batch: int | None = None):
        self.evaluator, self.lo, self.hi, self.goal, self.incumbent = evaluator, lo, hi, goal, incumbent
        self.n, self.batch = len(lo), batch or evaluator.batch
        self.arrays = evaluator.arrays_for(self.batch)
        self.parameters = np.concatenate([lo, hi, np.arange(self.n, dtype=float)])
        self.lanes = lanes_of(self.batch, self.n)
        self.pool = Pool(self.n, self.arrays, _TAKES * self.batch // 2)
        self.final = Regions.none(self.n)  # regions in which no double is left to cut at
        self.boxes = self.steps = 0
        self.unbounded = False  # have regions of this step no lower bound, which pieces may give?
        self.discarded = {"value": 0, "derivative": 0, "sweep": 0}
        self.sweeper = Sweeper(evaluator, lo, hi, _SHAVING_SLICES)
        self.pieces = Payoff(*_TRY_PIECES) if evaluator.has_pieces else None
        self.shaving = Payoff(*_TRY_SHAVING) if self.n >= FEW and self.sweeper.possible else None

    def begin(self, lo: np.ndarray, hi: np.ndarray, lower: float = -np.inf) -> None:
        """Puts the boxes (n, N) to search into the pool; f is known not to be below `lower` on them."""
        count = lo.shape[1]
        boxes = Regions(lo, hi, np.full(count, lower), np.zeros(count, np.int32), np.zeros(count, np.int8))
        self.pool.reserve(count)
        self._keep(self._tested(self.arrays.send(boxes.columns()), 1))

    def lower(self) -> float:
        """Certainly not above the infimum."""
        least = min(self.pool.least(), float(self.final.lower.min()) if len(self.final) else np.inf)
        return min(least, self.incumbent.upper)

    @property
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing to cut?"""
        if not len(self.pool):
            return True
        return self.goal.met(self.lower(), self.incumbent.upper) and (self.goal.xtol is None or self._wide(1) is None)

    def _wide(self, count: int) -> tuple[Heap, Any, Any] | None:
        """(where, which, their widest sides) of up to so many regions that are wider than xtol in a variable that can still be
        cut, lowest first; those that wait come last."""
        for heap in (self.pool.front, self.pool.waiting):
            if len(heap):
                lower, axis = self.evaluator.run(WIDE, [heap.data], parameters=np.array([self.goal.xtol]))
                index, _ = heap.arrays.lowest(lower[:, :heap.used], count)
                if len(index):
                    return heap, index, heap.arrays.gather(axis, index)
        return None

    def step(self) -> None:
        """Takes the lowest regions, cuts them, and tests the pieces. If that fails, memory being short, they are put back."""
        upper, room = self.incumbent.upper, 3 * self.lanes  # for the pieces, up to two steps' worth, and for what is put back
        below = upper - self.goal.slack(upper) if np.isfinite(upper) else np.inf
        self.pool.balance()
        self.unbounded = self.pieces is not None and self.pool.least() == -np.inf
        if self.goal.xtol is not None and self.goal.met(self.lower(), upper):
            parents = self._take_wide(room)
        else:
            parents = self.pool.take(self.lanes // 2, below if below > self.pool.least() else np.inf, room)
        pieces = 2
        while pieces < _MOST_PIECES and pieces * parents.shape[1] < min(_FULL, self.lanes):
            pieces *= 2
        try:
            self._keep(self._tested(parents, pieces))
        except BaseException:
            self.pool.add(parents)  # beside those of its pieces that are there already
            raise
        if self.unbounded and self.pool.least() > -np.inf:
            self.pieces.has_paid(self.steps)
        self.steps += 1

    def _take_wide(self, room: int) -> Any:
        """Up to a step's worth of the regions that are wider than xtol."""
        self.pool.reserve(room)
        heap, index, axis = self._wide(self.lanes // 2)
        parents, row = heap.arrays.gather(heap.data, index), rows(self.n)[1]
        heap.arrays.put(parents[row:row + 1], 0, axis)
        parents = parents if heap.arrays is self.arrays else self.arrays.send(parents)
        heap.remove(index)
        return parents

    # ---- what is left of regions
    def _tested(self, parents: Any, pieces: int) -> list[Fates]:
        """Discards of the pieces of the parents what is proved away, by as many tests as pay; the pool is not touched but for
        what a better point rules out."""
        pays = self.pieces is not None and self.pieces.pays and not self.pieces.is_due(self.steps)
        found = self._bounded(BRANCH_BY_PIECES if pays or self.unbounded else BRANCH, parents, pieces)
        for test, payoff in ((self._closer, self.pieces), (self._shaved, self.shaving)):
            if payoff is not None and any(len(f.kept) for f in found):
                if payoff.is_due(self.steps):
                    found = self._tried(payoff, self._together(found), test)
                elif payoff.pays and payoff is self.shaving:
                    found = test(self._together(found))[0]
        return found

    def _bounded(self, kind: str, parents: Any, pieces: int) -> list[Fates]:
        """Bounds the pieces, offers what their points show, and says what becomes of each."""
        parts = [np.concatenate([self.parameters, [k, k / pieces, (k + 1) / pieces]]) for k in range(pieces)]
        runs = [self.evaluator.run(kind, [parents], parameters=part) for part in parts]
        self.boxes += pieces * parents.shape[1]
        if parents.shape[1]:
            self._offer(runs)
        found = self._fates(*(out[REGIONS] for out in runs))
        for f in found:
            self.discarded["derivative"] += f.counts[PROVED_AWAY]
            self.discarded["value"] += f.counts[ABOVE]
        return found

    def _offer(self, runs: list) -> None:
        """Takes the best of all points, of equal ones the first, if it is better than what was known."""
        best = self.arrays.least(*(out[UPPER] for out in runs))
        k = min(range(len(runs)), key=lambda i: best[i][0])
        upper, lane = best[k]
        if upper < self.incumbent.upper:
            self.incumbent.take(self.arrays.fetch(self.arrays.column(runs[k][POINT], lane))[:, 0], upper)
            self._prune()

    def _fates(self, *parts: Any) -> list[Fates]:
        """What becomes of each region of these arrays, as things stand."""
        orders = iter(self.arrays.order(FATES, *(self._fate(regions) for regions in parts if regions.shape[1])))
        return [Fates(regions, *(next(orders) if regions.shape[1] else ([], [0] * FATES))) for regions in parts]

    def _fate(self, regions: Any) -> Any:
        """The fate of each region, as a row."""
        return self.evaluator.run(FATE, [regions], parameters=np.array([self.incumbent.upper, self.pool.border]))[0]

    def _keep(self, found: list[Fates]) -> None:
        """Puts what is left into the pool, or, where it cannot be cut, aside. Whoever calls has made sure of room."""
        final = [Regions.from_columns(self.arrays.fetch(self.arrays.gather(f.regions, f.of(FINAL)))) for f in found
                 if f.counts[FINAL]]
        for f in found:
            self.pool.add(f.regions, f.of(NEAR), f.of(FAR))
        for regions in final:
            self._put_aside(regions)

    def _put_aside(self, regions: Regions) -> None:
        """Regions that cannot be cut are enclosed as they are now, maybe a face of what was; their corners are points like
        others."""
        value = self.evaluator.value(*(np.ascontiguousarray(side) for side in (regions.lo, regions.hi)))
        regions.lower = np.fmax(regions.lower, value.lo)
        self.final = self.final.with_(regions.at(np.flatnonzero(~value.empty)))
        if self.incumbent.offer(np.concatenate([regions.lo, regions.hi], axis=1)):
            self._prune()

    def _prune(self) -> None:
        """Drops what the best point rules out."""
        self.pool.prune(self.incumbent.upper)
        self.final = self.final.at(np.flatnonzero(~(self.final.lower > self.incumbent.upper)))

    # ---- tests that are tried now and then
    def _together(self, found: list[Fates]) -> Any:
        """What is kept, in one array."""
        whole, at = self.arrays.empty(rows_of(self.n), sum(len(f.kept) for f in found)), 0
        for f in found:
            if len(f.kept):
                self.arrays.gather(f.regions, f.kept, whole, at)
                at += len(f.kept)
        return whole

    def _tried(self, payoff: Payoff, regions: Any, test: Callable[[Any], tuple[list[Fates], int]]) -> list[Fates]:
        """Tries a test on some of the regions, and judges it."""
        count = regions.shape[1]
        some = min(_TRIED, count)
        kept, gone = test(self._part(regions, 0, some))
        payoff.judge(self.steps, some, gone)
        return [*kept, *self._fates(self._part(regions, some, count))]

    def _part(self, regions: Any, begin: int, end: int) -> Any:
        """Some of the regions, as an array of their own."""
        part = self.arrays.empty(rows_of(self.n), end - begin)
        self.arrays.put(part, 0, regions, begin, end)
        return part

    def _closer(self, regions: Any) -> tuple[list[Fates], int]:
        """Encloses regions by pieces; returns what is left, and how many that discarded."""
        found = self._bounded(BRANCH_BY_PIECES, regions, 1)
        return found, regions.shape[1] - sum(len(f.kept) for f in found)

    def _shaved(self, regions: Any) -> tuple[list[Fates], int]:
        """Sweeps regions; what that cuts to a small part of its volume counts as discarded."""
        found, gone, count, size = [], 0, regions.shape[1], max(1, _SHAVED // self.n)
        for begin in range(0, count, size):
            part = regions if count <= size else self._part(regions, begin, min(begin + size, count))
            left, worth = self.sweeper.shave(part, self.incumbent.upper)
            fates, (_, worth_counts) = self.arrays.order(FATES, self._fate(left), worth)
            found.append(Fates(left, *fates))
            self.boxes += SLICES * part.shape[1]
            self.discarded["sweep"] += found[-1].counts[PROVED_AWAY]
            gone += worth_counts[1]
        return found, gone

    def run(self) -> Iterator[None]:
        """Steps until there is nothing to do."""
        while not self.done:
            self.step()
            yield

    def state(self) -> State:
        """Everything that a later run needs to go on with the same bits."""
        counts = {"boxes": self.boxes, "steps": self.steps, "discarded": dict(self.discarded)}
        tests = {f"payoff.{name}": payoff.state() for name, payoff in self._payoffs()}
        return State(counts, {**self.pool.state(), **self.final.arrays("final"), **self.incumbent.arrays(), **tests})

    def _payoffs(self) -> list[tuple[str, Payoff]]:
        return [(name, p) for name, p in (("pieces", self.pieces), ("shaving", self.shaving)) if p is not None]

    def restore(self, state: State) -> None:
        """Goes on from there."""
        self.boxes, self.steps, self.discarded = (state.values[name] for name in ("boxes", "steps", "discarded"))
        self.pool.restore(state.arrays)
        self.final = Regions.from_arrays("final", state.arrays)
        self.incumbent.restore(state.arrays)
        for name, payoff in self._payoffs():
            payoff.restore(state.arrays[f"payoff.{name}"])

    def regions(self) -> Regions:
        """What may still hold a minimiser."""
        return self.pool.everything().with_(self.final)
