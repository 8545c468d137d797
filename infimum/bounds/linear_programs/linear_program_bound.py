"""Linear programs of single regions as a region test (`relax/program_bounds.py`): those of the lowest regions of a step.

**Discards** a region of which multipliers prove that no point is feasible: it is gone; one in which only points above the upper
bound are left has an infinite lower bound instead. **Reduces** each variable by its reduced cost. **Raises** the lower bound to
that of the linear program. **Chooses** the variable to cut next (`program_branching.py`). **Costs** a program, or two: counted
as 64 boxes. **Judged** by regions discarded, or brought as near to the upper bound as cutting would for that cost
(`worth_gap_left`), or where there is none by bounds that rose. While it pays, steps have few regions; while it does not, it is
tried more and more seldom. Regions begin with the basis, the multipliers and the points of the region they were cut from
(`program_starts.py`), and those multipliers may spare the program. A step depends on these, on the basis of the whole box, and on
what variables have gained.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.bounds.bound_table import ALL_TESTS, Payoff, worth_gap_left
from infimum.bounds.interface import Outcome, RegionTest, StepContext
from infimum.bounds.linear_programs.gradient_cuts import add_gradient_cuts
from infimum.bounds.linear_programs.program_branching import ProgramBranching
from infimum.bounds.linear_programs.program_starts import ProgramStarts
from infimum.bounds.linear_programs.rounding_cuts import add_rounding_cuts
from infimum.bounds.linear_programs.switched_rows import strengthen
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import DISCARDED_AXIS, rows
from infimum.relax.program_bounds import LinearProgramBounding, ProgramStart, TightenedRegion
from infimum.relax.relaxation import Relaxation
from infimum.relax.value_grid import ValueGrid
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY


class _PayoffWithPause(Payoff):
    """With a `rest` it is not asked for that number of steps, and others have their turn that were never `tried`. After each of
    `misses` bad judgements in a row it waits longer."""

    rest = misses = 0
    others: Sequence[Payoff] = ()

    def judge(self, step: int, regions: int, gone: float) -> None:
        super().judge(step, regions, gone)
        if self.pays:
            self.misses = 0
        else:
            self.due = step + ((self.due - step) << min(self.misses, POLICY.most_doublings))
            self.misses += 1
        if self.rest:
            self.pays, self.due, self.rest = False, step + self.rest, 0
            for other in self.others:
                other.due = other.due if other.tried else min(other.due, step + 1)

    def state(self) -> np.ndarray:
        """With a rest that was found due in the midst of a step, where nothing is judged."""
        return np.append(super().state(), [self.rest, self.misses])

    def restore(self, state: np.ndarray) -> None:
        super().restore(state)
        self.rest, self.misses = (int(state[k]) if len(state) > k else 0 for k in (4, 5))


class LinearProgramBound(RegionTest):
    """Tests regions where they lie."""

    name, discards = "lp", "constraints"
    knows_faces = True  # nothing that it says depends on them
    proposes_points = True
    judged_by = _PayoffWithPause
    step_size = POLICY.few_regions

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.is_convex = Relaxation.suffices(evaluator.system, lo, hi)
        if self.is_convex:
            self.schedule = ALL_TESTS[self.name].schedules["convex"]
            self.payoff = self.judged_by(self.schedule)
        self.bounding = LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs)
        strengthen(self.bounding, lo, hi)
        add_gradient_cuts(self.bounding, lo, hi)
        add_rounding_cuts(self.bounding, lo, hi)
        self.bounding.grid = ValueGrid.of(self.bounding.relaxation, lo, hi)
        self.mark: tuple[int, float] | None = None  # programs, and the distance, when it was last looked at
        self.rests = 0
        self.branching = ProgramBranching(self.bounding, self.n)
        relaxation = self.bounding.relaxation
        worth = worth_gap_left(self.cost, len({*relaxation.lift.cut_variables, *relaxation.whole}))
        self.gap_left = min(POLICY.most_gap_left, worth)
        self.starts = ProgramStarts(self.n, self.bounding.library.numbers)
        self.compare_with(lo, hi)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return Relaxation.applies(evaluator)

    def compare_with(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Sides of regions are measured as parts of those of this box."""
        with np.errstate(all="ignore"):
            self.branching.units = np.where(np.isfinite(1.0 / (hi - lo)), 1.0 / (hi - lo), 1.0)

    def test(self, regions: Any, context: StepContext) -> Outcome:
        arrays, n, upper = self.evaluator.arrays_of(regions), self.n, context.upper
        low_row, axis_row, _ = rows(n)
        here = arrays.fetch(regions).copy()
        before, paid = here[low_row].copy(), np.zeros((1, here.shape[1]))
        chosen = np.argsort(before, kind="stable")[:POLICY.most_programs]
        self._review(upper - float(before.min(initial=np.inf)))
        self.bounding.session()
        for k, left in zip(chosen, self._bounded(here[:n, chosen], here[n:2 * n, chosen], upper, POLICY.rounds), strict=True):
            gone = left.empty and upper == np.inf
            here[low_row, k] = np.inf if left.empty and not gone else max(before[k], left.lower)
            if gone:
                here[axis_row, k] = DISCARDED_AXIS
            elif not (left.empty or here[low_row, k] > upper):
                here[:n, k], here[n:2 * n, k] = left.low[:n], left.high[:n]
                here[axis_row, k] = self.branching.axis(left, here[axis_row, k], upper)
                if left.weights is not None:
                    self.starts.keep(left.low[:n], left.high[:n], left.start)
            paid[0, k] = float(gone or here[low_row, k] > upper or self._nearer(before[k], here[low_row, k], upper))
        return Outcome(arrays.send(here), self.cost * len(chosen), arrays.send(paid))

    def remembered(self) -> Callable[[], None]:
        counts, gains, mark = self.bounding.counts.state(), self.branching.gains.copy(), (self.mark, self.rests)
        self.starts.mark()

        def put_back() -> None:
            self.bounding.counts.restore(counts)
            self.branching.gains, (self.mark, self.rests) = gains, mark
            self.starts.undo()
        return put_back

    def _bounded(self, lo: np.ndarray, hi: np.ndarray, upper: float, rounds: int) -> list[TightenedRegion]:
        """Of boxes (n, N), each from what the program of a box around it left."""
        low, high = self.bounding.columns_of(lo.T, hi.T)
        regions = [TightenedRegion(low[k], high[k], -np.inf, start=ProgramStart(self.bounding.basis) if start is None else start)
                   for k, start in enumerate(self.starts.around(lo, hi))]
        return self.bounding.bound_each(regions, upper, rounds)

    def _nearer(self, before: float, after: float, upper: float) -> bool:
        """Is a lower bound nearer to the upper bound by a part of the distance, or where there is none, higher by a part of its
        size?"""
        if upper < np.inf:
            return upper - after <= self.gap_left * (upper - before)
        return bool(after > -np.inf and after - before > POLICY.worth_rise * max(1.0, abs(after)))

    def _review(self, gap: float) -> None:
        """After a number of programs the distance of the lowest region to the upper bound must have become a part of what it was,
        or the others have their turn for some steps, more each time. Where all variables are whole, bounds rise in jumps, long
        after programs have begun to discard what lies below: these are judged by what they discard alone. So are problems that
        are convex but for whole numbers: others can only cut, which closes no region that programs leave open."""
        if self.is_convex or len(self.bounding.relaxation.whole) == self.n:
            return
        solved = self.bounding.counts.solved
        if not np.isfinite(gap) or (self.mark is not None
                                    and solved - self.mark[0]
                                    < POLICY.judged_programs >> min(self.rests, POLICY.halvings_after_pause)):
            return
        if self.mark is not None and gap > POLICY.worth_gap_left * self.mark[1]:
            self.payoff.rest, self.rests = POLICY.first_pause << self.rests, self.rests + 1
        self.mark = solved, gap

    def points(self, lo: np.ndarray, hi: np.ndarray, upper: float) -> np.ndarray:
        """The solutions (n, N) of the linear programs of boxes (n, N), the middles of boxes that have none."""
        self.bounding.session()
        found = lo / 2 + hi / 2
        for k, left in enumerate(self._bounded(lo, hi, upper, 1)):
            if left.point is not None:
                found[:, k] = np.minimum(np.maximum(left.point[:self.n], lo[:, k]), hi[:, k])
        return found

    def state(self) -> dict[str, np.ndarray]:
        """What later programs depend on, and what was counted."""
        basis = {} if self.bounding.basis is None else {"lp.basis": self.bounding.basis}
        mark = (-1, np.nan) if self.mark is None else self.mark
        gains = {"lp.gains": self.branching.gains.copy()} if self.branching.gains.any() else {}
        return {"lp.counts": self.bounding.counts.state(), "lp.mark": np.array([*mark, self.rests], float), **basis, **gains,
                **self.starts.state()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.bounding.basis = arrays.get("lp.basis")
        self.starts.restore(arrays, len(self.bounding.relaxation.curves))
        if "lp.gains" in arrays:
            self.branching.gains = arrays["lp.gains"].copy()
        if "lp.counts" in arrays:
            self.bounding.counts.restore(arrays["lp.counts"])
            solved, gap, rests = arrays["lp.mark"].tolist()
            self.mark, self.rests = None if solved < 0 else (int(solved), gap), int(rests)
