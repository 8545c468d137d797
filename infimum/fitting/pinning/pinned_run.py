"""Solving: one run of a fit with pinned measurements (see `pinned`), from the relaxed sum to the question with equations.

Each search covers the bounds as they were given, also where their ends are no doubles; points that are claimed are doubles
within them. What is known when a limit or Ctrl-C ends the run is its answer.

Proof: docs/proofs/pinned_measurements.md.
"""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from infimum.api.solve import minimize
from infimum.certify.advice import RunSettings, advice
from infimum.certify.verdict import proved_result
from infimum.errors import InternalError
from infimum.evaluation.compile import compile
from infimum.fitting.budget import Budget
from infimum.fitting.pinning.pinned_data import PinnedData
from infimum.fitting.zero_residuals import loss_that_counts_as_zero
from infimum.problem.minimisers import Minimisers
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from infimum.problem.variable_bounds import Bounds, read_bounds
from infimum.result import Progress, Result, Verdict
from infimum.search.callbacks import Snapshot, read_callback
from infimum.search.feasible_incumbent import FeasibleIncumbent
from infimum.search.incumbent import Incumbent
from infimum.search.interrupts import Interrupts
from infimum.search.region_pool import Regions
from infimum.sets.set_run import run
from infimum.sets.sublevel_search import Accuracy, SublevelSearch
from infimum.support.clock import OutOfTime, Watch, answering

_RELAXED_RTOL = 1e-3  # of the relaxed sum, within which it is to be proved: it is no more than a first step
_SMALL_SHARE = 1e-3  # a part of its bounds: the size of a parameter near 0
_MARGIN = 2.0**-12  # of its size, around the set that holds the best fits
_TINY_SIZE = 2.0**-300  # parameters of such sizes are left in their units
_UNDERFLOW = 2.0**-1000  # products of such sizes may be rounded
_COVERING_BOXES, _BOXES_A_REGION = 1 << 16, 128  # boxes that are spent on that set; for each region that is cut, about
_ROUNDING = 2.0**-20  # more than rounding errors
_LARGEST_RESIDUAL = 2.0**500  # of a residual in units of sigma: its square is a double
_ABOVE_ZERO = 2.0**10  # times a loss that counts as 0: what rounding errors can tell from it
_OF_THE_FIRST = frozenset(("checkpoint", "options", "workers", "portions", "feasibility"))  # settings of other searches

Box = tuple[np.ndarray, np.ndarray]


class PinnedProblem:
    """`units`: powers of two, of the parameters' sizes. `scaled`: the bounds in these units, exactly. `best`: a verified loss, if
    there is one. `cover`: boxes that hold all best fits, the rows of two arrays."""

    def __init__(self, pinned: PinnedData, settings: dict[str, Any], budget: Budget):
        self.pinned, self.settings, self.budget, self.bounds = pinned, settings, budget, pinned.problem.parameters.bounds
        self.n, self.units, self.scaled = len(self.bounds.lo), np.ones(len(self.bounds.lo)), self.bounds
        self.begun, self.cover, self.runs = budget.elapsed, tuple(end[None] for end in self.bounds.region), []
        self.boxes, self.before = 0, budget.spent
        self.best: Incumbent | None = None
        self.watch = Watch()
        self.callback = read_callback(settings.get("callback"))

    def run(self) -> tuple[Result, Minimisers | None]:
        """As `minimize` of the loss; and the minimisers, where they were isolated."""
        own = self.settings
        first = minimize(self.pinned.relaxed(), self.bounds.pairs(), **own | {
            "rtol": max(float(own["rtol"]), _RELAXED_RTOL), "xtol": None,
            "callback": self._told(lambda s: replace(s, upper=np.inf))})
        self._count(first)
        if first.x is None:
            return replace(first, message=self.budget.named(first.message)), None
        with Interrupts() as interrupts:
            self.watch = Watch(self.budget.seconds, self.budget.seconds)
            self.watch.asked_to_stop = lambda: interrupts.heard
            try:
                with self.watch:
                    return self._continued(first)
            except OutOfTime:
                stopped = "interrupted" if interrupts.heard else self.budget.reached()
                return (self._plainly(first), None) if self.best is None else (self._answer(stopped), None)

    def _continued(self, first: Result) -> tuple[Result, Minimisers | None]:
        """What follows the search of the relaxed sum."""
        low, high = self.bounds.region
        self.units = _powers_of_two(np.maximum(np.abs(first.x), _SMALL_SHARE * (high - low)))
        self.scaled = scaled(self.bounds, self.units)
        best, z = self._attained(first.x)
        threshold = max(best.upper, _ABOVE_ZERO * loss_that_counts_as_zero(self.pinned.problem))
        reach = self._reach(threshold)
        if not reach <= _LARGEST_RESIDUAL:  # residuals of best fits may be larger than the question with equations can have
            return self._plainly(first), None
        self.best = best
        if not first.success or self.budget.reached() is not None:
            return self._answer(self.budget.reached() if first.success else self.budget.named(first.message)), None
        stopped = self._find_cover(first.x, threshold) or self.budget.reached()
        if stopped is not None:
            return self._answer(stopped), None
        last = self._last(z, reach)
        self._count(last)
        if last.verdict is Verdict.INFEASIBLE:
            raise InternalError("no best fit lies in a set that holds them all")
        if last.x is not None and last.upper < best.upper:
            best.take(np.clip(last.x[:self.n] * self.units, self.bounds.lo, self.bounds.hi), last.upper)
        if last.regions is not None and last.regions.kept:
            self.cover = self._shared(last)
        message = self.budget.named(last.message).partition("; ")[0]  # the rest is about equations and start boxes
        return self._answer(message if last.verdict is Verdict.STOPPED else None), self._minimisers(last)

    def _count(self, found: Result) -> None:
        self.runs.append(found)
        self.budget.spent += found.nfev

    def _reach(self, loss: float) -> float:
        """No pinned residual of a fit with at most that loss is larger, in units of sigma."""
        problem = self.pinned.problem
        return (1 + _ROUNDING) * problem.loss.reach(loss, problem.scale) if np.isfinite(loss) else np.inf

    def _told(self, changed: Callable[[Snapshot], Snapshot]) -> Callable[[Snapshot], Any] | None:
        """The user's callback, told about the loss and its parameters."""
        callback = self.callback
        return None if callback is None else lambda snapshot: callback(changed(snapshot))

    def _plainly(self, first: Result) -> Result:
        """By a search of the loss as it is."""
        found = minimize(self.pinned.problem.objective(self.pinned.rows), self.bounds.pairs(), **self.settings | {
            "x0": first.x, "checkpoint": None, **self.budget.settings()})
        self._count(found)
        lower = found.lower if found.success else min(max(found.lower, first.lower), found.upper)
        return replace(found, message=self.budget.named(found.message), lower=lower, nfev=self.budget.spent - self.before,
                       nit=first.nit + found.nit, seconds=self.budget.elapsed - self.begun)

    def _attained(self, x: np.ndarray) -> tuple[Incumbent, np.ndarray | None]:
        """A point near x, of doubles or not, with a verified loss; and that point with the residuals that are pinned."""
        objective, equations = self.pinned.question(self.units)
        loss = compile(self.pinned.problem.objective(self.pinned.rows), self.n, check=False)  # the first search compares it
        count, plain = len(self.pinned.numbers), Incumbent(loss, self.bounds.lo, self.bounds.hi, outer=self.bounds.outer)
        plain.offer(x[:, None])
        reach = np.full(count, _LARGEST_RESIDUAL)
        near = FeasibleIncumbent(compile(objective, self.n + count, constraints=equations, check=False),
                                 np.append(self.scaled.lo, -reach), np.append(self.scaled.hi, reach))
        near.offer(np.append(x / self.units, np.zeros(count))[:, None])
        if near.upper < plain.upper:
            plain.take(np.clip(near.x[:self.n] * self.units, self.bounds.lo, self.bounds.hi), near.upper)
        return plain, near.x

    def _find_cover(self, x: np.ndarray, threshold: float) -> str | None:
        """Boxes that hold every point at which the relaxed sum is at most that; returns what ended the search early, if
        anything."""
        ordered = tuple((a[0], b[0]) for a, b in pairwise(self.pinned.problem.groups or []))
        relaxed = compile(self.pinned.relaxed(), self.n, check=False)
        search = SublevelSearch(relaxed, self.bounds.region, (threshold, threshold), x[:, None], Accuracy(None, None),
                                ordered=ordered)
        limit = self.budget.boxes or np.inf
        search.together = max(1, int(min(search.together, limit / _BOXES_A_REGION)))
        stopped = run(search, self.budget.seconds, min(_COVERING_BOXES, limit), self.settings.get("progress"))
        stopped = None if _COVERING_BOXES <= search.evaluations < limit else stopped  # few boxes are enough
        self.boxes += search.evaluations
        self.budget.spent += search.evaluations
        parts = search.components or [search.covering]
        boxes = [(part.lo, part.hi) if part is not search.covering else (part.lo.min(axis=1), part.hi.max(axis=1))
                 for part in parts if part is not search.covering or len(part)]
        if not boxes:
            raise InternalError("a loss that was verified is attained nowhere")
        self.cover = tuple(np.array(ends) for ends in zip(*boxes, strict=True))
        return None if stopped is None else self.budget.named(stopped)

    def _last(self, z: np.ndarray | None, reach: float) -> Result:
        """The question with equations, on boxes around all best fits."""
        units, bounds, residuals = self.units, self.scaled, [(-reach, reach)] * len(self.pinned.numbers)
        low, high = bounds.region
        around = [(np.maximum(lo / units - _MARGIN, low), np.minimum(hi / units + _MARGIN, high))
                  for lo, hi in zip(*self.cover, strict=True)]
        boxes = [[*bounds.pairs_within(lo, hi), *residuals] for lo, hi in around]
        inside = z is not None and (np.abs(z[self.n:]) <= reach).all() and any(
            ((np.maximum(lo, bounds.lo) <= z[:self.n]) & (z[:self.n] <= np.minimum(hi, bounds.hi))).all() for lo, hi in around)
        own = {name: value for name, value in self.settings.items() if name not in _OF_THE_FIRST}
        if own.get("xtol") is not None:
            own["xtol"] = float(own["xtol"] / units.max())
        objective, equations = self.pinned.question(units)
        one, known, spent, late = len(boxes) == 1, self.runs[0].lower, self.budget.spent - self.before, self.budget.elapsed
        return minimize(objective, boxes[0] if one else [*bounds.pairs(), *residuals], **own | {
            "constraints": equations, "start_boxes": None if one else boxes, "x0": z if inside else None,
            "callback": self._told(lambda s: replace(
                s, x=None if s.x is None else s.x[:self.n] * units, lower=max(s.lower, known), nfev=s.nfev + spent,
                seconds=s.seconds + late - self.begun)), **self.budget.settings()})

    def _unscaled(self, lo: np.ndarray, hi: np.ndarray) -> Box:
        """Boxes around those, in units of the parameters: exactly, but for products that underflow."""
        lo, hi = lo[..., :self.n] * self.units, hi[..., :self.n] * self.units
        return (np.where(np.abs(lo) < _UNDERFLOW, np.nextafter(lo, -np.inf), lo),
                np.where(np.abs(hi) < _UNDERFLOW, np.nextafter(hi, np.inf), hi))

    def _shared(self, last: Result) -> Box:
        """What the regions of the last search share with the set that holds all best fits: they began in boxes around it."""
        (lo, hi), (low, high) = self._unscaled(last.regions.lo, last.regions.hi), self.cover
        lo, hi = np.maximum(lo[:, None], low).reshape(-1, self.n), np.minimum(hi[:, None], high).reshape(-1, self.n)
        some = (lo <= hi).all(axis=1)
        if not some.any():
            raise InternalError("no best fit is left of a set that holds them all")
        return lo[some], hi[some]

    def _answer(self, stopped: str | None) -> Result:
        """What all of the searches have shown."""
        own, best, first, last = self.settings, self.best, self.runs[0], self.runs[-1]
        lower = min(max(run.lower for run in self.runs), best.upper)
        seconds, nfev = self.budget.elapsed - self.begun, self.boxes + sum(run.nfev for run in self.runs)
        history = [replace(entry, upper=np.inf) for entry in first.history]  # values of the relaxed sum are no upper bounds
        asked = Problem(None, self.bounds.lo, self.bounds.hi), best.evaluator, RunSettings(workers=own.get("workers"))
        with answering(self.watch):
            found = proved_result(
                _regions(self.cover, lower), lower, best, Goal(float(own["atol"]), float(own["rtol"]), own.get("xtol")), stopped,
                nit=sum(run.nit for run in self.runs), nfev=nfev, engine=last.engine, seconds=seconds, seed=last.seed,
                history=[*history, Progress(seconds, nfev, best.upper, lower, best.upper)])
            return replace(found, device=last.device, batch=first.batch, view=first.view, advice=advice(found, *asked),
                           plain_calls=sum(run.plain_calls or 0 for run in self.runs))

    def _minimisers(self, last: Result) -> Minimisers | None:
        """Those of the question with equations, as far as they are parameters: the residuals follow from these."""
        known = last.find_minimisers(self.budget.seconds) if last.success and not self.budget.is_late else None
        if known is None:
            return None
        found = [(m, *self._unscaled(m.lo, m.hi)) for m in known]
        return Minimisers([replace(m, lo=lo, hi=hi) for m, lo, hi in found], known.rest,
                          known.why and self.budget.named(known.why))


def scaled(bounds: Bounds, units: np.ndarray) -> Bounds:
    """The same bounds in these units, powers of two: exact numbers again."""
    def end(number: Any, unit: float) -> Any:
        return Fraction(number) / Fraction(unit) if isinstance(number, (float, Fraction)) else number / unit
    return read_bounds([tuple(end(number, unit) for number in pair)
                        for pair, unit in zip(bounds.pairs(), units.tolist(), strict=True)])


def _powers_of_two(sizes: np.ndarray) -> np.ndarray:
    """The nearest ones: nothing is rounded in such units, and engines see parameters of the size of 1."""
    exponents = np.log2(np.where((sizes > _TINY_SIZE) & (sizes < 1 / _TINY_SIZE), sizes, 1.0))
    return np.ldexp(1.0, np.rint(exponents).astype(int))


def _regions(boxes: Box, lower: float) -> Regions:
    lo, hi = (np.ascontiguousarray(ends.T) for ends in boxes)
    count = lo.shape[1]
    return Regions(lo, hi, np.full(count, lower), np.zeros(count, np.int32), np.zeros(count, np.int8))
