"""Branch and bound: every region is cut until it is discarded by proof or the gap is closed."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from infimum.engine.checkpoint import State
from infimum.engine.incumbent import Incumbent
from infimum.engine.payoff import Payoff
from infimum.engine.pool import Pool, Regions, can_be_cut, choose_axis, split, widths
from infimum.engine.sweep import Sweeper
from infimum.evaluate import Evaluator
from infimum.lower.bound import AXIS, DISCARD, FACTS, HI, LEVEL, LO, LOWER, POINT, UPPER
from infimum.lower.programs import BOUND, BOUND_BY_PIECES
from infimum.lower.sweep import SLICES

FEW = 6  # with fewer variables regions are cut, not swept
_LANES, _FULL, _MOST_PIECES = 1 << 13, 512, 16
_TERMS = 1 << 20  # lanes times variables in a step, where there are many variables
_TRY_PIECES, _TRY_SHAVING = (8, 64, 0.3), (16, 128, 0.9)  # from which step on, how often, and what must be discarded: see Payoff
_TRIED, _SHAVING_SLICES = 256, 8  # regions a test is tried on; slices of a piece where regions are swept
_WORTH_A_REGION = 24.0  # a region cut to 2**-24 of its volume saves as many cuts


@dataclass(frozen=True, slots=True)
class Goal:
    """What must be shown: upper - lower <= max(atol, rtol * |upper|), and, if given, no region wider than xtol."""

    atol: float = 1e-6
    rtol: float = 1e-6
    xtol: float | None = None

    def slack(self, upper: float) -> float:
        return max(self.atol, self.rtol * abs(upper)) if np.isfinite(upper) else 0.0

    def met(self, lower: float, upper: float) -> bool:
        """The difference is rounded up."""
        if not (np.isfinite(upper) and lower > -np.inf):
            return False
        with np.errstate(over="ignore"):
            return bool(np.nextafter(upper - lower, np.inf) <= self.slack(upper) or lower >= upper)


class Branch:
    """The regions of a problem and the tests that shrink them. `lower()` and the incumbent's upper bound enclose the infimum."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, goal: Goal, incumbent: Incumbent):
        self.evaluator, self.lo, self.hi, self.goal, self.incumbent = evaluator, lo, hi, goal, incumbent
        self.n = len(lo)
        self.parameters = np.concatenate([lo, hi, np.arange(self.n, dtype=float)])
        self.pool, self.final = Pool(self.n), Regions.none(self.n)  # final: regions in which no double is left to cut at
        self.lanes = max(16, min(_LANES, _TERMS // self.n))
        self.boxes = self.steps = 0
        self.discarded = {"value": 0, "derivative": 0, "sweep": 0}
        self.sweeper = Sweeper(evaluator, lo, hi, _SHAVING_SLICES)
        self.pieces = Payoff(*_TRY_PIECES) if evaluator.has_pieces else None
        self.shaving = Payoff(*_TRY_SHAVING) if self.n >= FEW and self.sweeper.possible else None

    def begin(self, lo: np.ndarray, hi: np.ndarray, lower: float = -np.inf) -> None:
        """Puts the boxes (n, N) to search into the pool; f is known not to be below `lower` on them."""
        self._test(lo, hi, np.full(lo.shape[1], lower))

    def lower(self) -> float:
        """Certainly not above the infimum."""
        least = min(self.pool.least(), float(self.final.lower.min()) if len(self.final) else np.inf)
        return min(least, self.incumbent.upper)

    @property
    def done(self) -> bool:
        """Is nothing left to do: the goal met, or nothing to cut?"""
        if not len(self.pool):
            return True
        return self.goal.met(self.lower(), self.incumbent.upper) and (self.goal.xtol is None or not self._wide().any())

    def _wide(self) -> np.ndarray:
        """Which regions are wider than xtol in a variable that can still be cut."""
        regions = self.pool.everything()
        return self._wide_sides(regions).any(axis=0)

    def _wide_sides(self, regions: Regions) -> np.ndarray:
        return (widths(regions.lo, regions.hi) > self.goal.xtol) & can_be_cut(regions.lo, regions.hi)

    def step(self) -> None:
        """Takes the lowest regions, cuts them, and tests the pieces."""
        upper = self.incumbent.upper
        below = upper - self.goal.slack(upper) if np.isfinite(upper) else np.inf
        if self.goal.xtol is not None and self.goal.met(self.lower(), upper):
            regions = self._take_wide()
        else:
            regions = self.pool.take(self.lanes // 2, below if below > self.pool.least() else np.inf)
        pieces = 2
        while pieces < _MOST_PIECES and pieces * len(regions) < min(_FULL, self.lanes):
            pieces *= 2
        lo, hi, parent = split(regions, pieces)
        self._test(lo, hi, regions.lower[parent])
        self.steps += 1

    def _take_wide(self) -> Regions:
        """Up to a step's worth of the regions that are wider than xtol."""
        regions, wide = self.pool.everything(), np.flatnonzero(self._wide())[:self.lanes // 2]
        rest = np.ones(len(regions), bool)
        rest[wide] = False
        self.pool.front = regions.at(np.flatnonzero(rest))
        taken = regions.at(wide)
        sides = np.where(self._wide_sides(taken), widths(taken.lo, taken.hi), -1.0)
        widest = np.argmax(sides, axis=0).astype(np.int32)
        return Regions(taken.lo, taken.hi, taken.lower, widest, taken.level)

    def _test(self, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray) -> None:
        """Discards of the boxes what is proved away, by as many tests as pay, and keeps the rest."""
        by_pieces = self.pieces is not None and self.pieces.pays and not self.pieces.is_due(self.steps)
        regions = self._bounded(BOUND_BY_PIECES if by_pieces else BOUND, lo, hi, lower)
        if self.pieces is not None and self.pieces.is_due(self.steps) and len(regions):
            regions = self._tried(self.pieces, regions, self._closer)
        if self.shaving is not None and len(regions):
            if self.shaving.is_due(self.steps):
                regions = self._tried(self.shaving, regions, self._shaved)
            elif self.shaving.pays:
                regions, _ = self._shaved(regions)
        regions.axis = choose_axis(regions, regions.axis).astype(np.int32)
        stuck = regions.axis < 0
        if stuck.any():
            self.final = self.final.with_(regions.at(np.flatnonzero(stuck)))
            regions = regions.at(np.flatnonzero(~stuck))
        self.pool.add(regions)

    def _bounded(self, kind: str, lo: np.ndarray, hi: np.ndarray, lower: np.ndarray) -> Regions:
        """Bounds the boxes, offers what their points show, and returns what is not proved away."""
        out = self.evaluator.run(kind, [lo, hi], parameters=self.parameters)
        self.boxes += lo.shape[1]
        facts = out[FACTS]
        k = int(np.argmin(facts[UPPER]))
        if facts[UPPER, k] < self.incumbent.upper:
            self.incumbent.take(out[POINT][:, k], float(facts[UPPER, k]))
            self.pool.prune(self.incumbent.upper)
            self.final = self.final.at(np.flatnonzero(~(self.final.lower > self.incumbent.upper)))
        lower = np.maximum(out[LOWER][0], lower)
        dead, above = facts[DISCARD] > 0, lower > self.incumbent.upper
        self.discarded["derivative"] += int(dead.sum())
        self.discarded["value"] += int((above & ~dead).sum())
        kept = np.flatnonzero(~(dead | above))
        return Regions(np.take(out[LO], kept, axis=1), np.take(out[HI], kept, axis=1), lower[kept],
                       facts[AXIS, kept].astype(np.int32), facts[LEVEL, kept].astype(np.int8))

    def _tried(self, payoff: Payoff, regions: Regions, test: Callable[[Regions], tuple[Regions, int]]) -> Regions:
        """Tries a test on some of the regions, and judges it."""
        some, rest = np.arange(min(_TRIED, len(regions))), np.arange(_TRIED, len(regions))
        kept, gone = test(regions.at(some))
        payoff.judge(self.steps, len(some), gone)
        return kept.with_(regions.at(rest))

    def _closer(self, regions: Regions) -> tuple[Regions, int]:
        """Encloses regions by pieces; returns what is left, and how many that discarded."""
        kept = self._bounded(BOUND_BY_PIECES, regions.lo, regions.hi, regions.lower)
        return kept, len(regions) - len(kept)

    def _shaved(self, regions: Regions) -> tuple[Regions, int]:
        """Sweeps regions; what it cuts to a small part of its volume counts as discarded."""
        lo, hi, lower = self.sweeper.sweep(regions.lo, regions.hi, self.incumbent.upper)
        self.boxes += SLICES * lo.shape[1]
        lower = np.maximum(lower, regions.lower)
        gone = ~(lo <= hi).all(axis=0) | (lower > self.incumbent.upper)
        self.discarded["sweep"] += int(gone.sum())
        kept = np.flatnonzero(~gone)
        before = regions.at(kept)
        swept = Regions(np.take(lo, kept, axis=1), np.take(hi, kept, axis=1), lower[kept], before.axis, before.level)
        old, new = (np.maximum(widths(r.lo, r.hi), 1e-300) for r in (before, swept))
        with np.errstate(invalid="ignore"):  # of unbounded regions
            small = np.nansum(np.log2(old / new), axis=0) >= _WORTH_A_REGION
        return swept, int(gone.sum() + small.sum())

    def run(self) -> Iterator[None]:
        """Steps until there is nothing to do."""
        while not self.done:
            self.step()
            yield

    def state(self) -> State:
        """Everything that a later run needs to go on with the same bits."""
        counts = {"boxes": self.boxes, "steps": self.steps, "discarded": self.discarded}
        tests = {f"payoff.{name}": payoff.state() for name, payoff in self._payoffs()}
        return State(counts, {**self.pool.arrays(), **self.final.arrays("final"), **self.incumbent.arrays(), **tests})

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
