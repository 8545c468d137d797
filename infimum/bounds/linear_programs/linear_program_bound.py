"""Linear programs of single regions as a region test (`relax/program_bounds.py`): those of the lowest regions of a step.

**Discards** a region of which multipliers prove that no point is feasible: it is gone; one in which only points above the upper
bound are left has an infinite lower bound instead. **Reduces** each variable by its reduced cost. **Raises** the lower bound to
that of the linear program. **Chooses** the variable to cut next (`program_branching.py`). **Costs** a program, or two: counted
as 64 boxes. **Judged** by the distance of the lowest region to the upper bound, which a turn of programs must bring down: else
the others have their turn (`_review`). In its turns, steps have few regions. Regions begin with the basis, the multipliers and
the points of the region they were cut from (`program_starts.py`), and those multipliers may spare the program. A step depends on
these, on the basis of the whole box, and on what variables have gained.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from infimum.bounds.bound_table import Payoff
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


class PayoffInTurns(Payoff):
    """It always pays, but it is not asked for `rest` steps when a turn of the other tests begins. Those of the `others` that were
    never tried are due in that turn."""

    rest = 0
    others: Sequence[Payoff] = ()

    def judge(self, step: int, regions: int, gone: float) -> None:
        super().judge(step, regions, gone)
        if self.rest:
            self.pays, self.due, self.rest = False, step + self.rest, 0
            for other in self.others:
                other.due = other.due if other.tried else min(other.due, step + 1)

    def state(self) -> np.ndarray:
        """With a rest that was found due in the midst of a step, where nothing is judged."""
        return np.append(super().state(), self.rest)

    def restore(self, state: np.ndarray) -> None:
        super().restore(state)
        self.rest = int(state[4]) if len(state) > 4 else 0


class Turn(NamedTuple):
    """What was known when a turn of programs, or of the others, began. `rests`: turns of others until then; `patience`: how many
    of them in a row had brought no more."""

    solved: float = 0.0
    lower: float = -np.inf
    upper: float = np.inf
    rests: float = 0.0
    patience: float = 0.0
    is_rest: float = 0.0

    def has_paid(self, lower: float, upper: float) -> bool:
        """Has it brought the lowest region nearer to the upper bound by a part of the distance, or where there is none, its
        bound up by a part of its size?"""
        if lower == -np.inf:
            return self.upper == np.inf and upper < np.inf
        if self.upper < np.inf:
            return upper - lower <= POLICY.worth_gap_left * (self.upper - self.lower)
        return upper < np.inf or lower - self.lower > POLICY.worth_rise * max(1.0, abs(lower))


class LinearProgramBound(RegionTest):
    """Tests regions where they lie."""

    name, discards = "lp", "constraints"
    knows_faces = True  # nothing that it says depends on them
    proposes_points = True
    judged_by = PayoffInTurns
    step_size = POLICY.few_regions

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        super().__init__(evaluator, lo, hi)
        self.is_convex = Relaxation.suffices(evaluator.system, lo, hi)
        self.bounding = LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs)
        strengthen(self.bounding, lo, hi)
        add_gradient_cuts(self.bounding, lo, hi)
        add_rounding_cuts(self.bounding, lo, hi)
        self.bounding.grid = ValueGrid.of(self.bounding.relaxation, lo, hi)
        self.turn: Turn | None = None
        self.branching = ProgramBranching(self.bounding, self.n)
        self.starts = ProgramStarts(self.n, self.bounding.library.numbers)
        self.compare_with(lo, hi)

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return Relaxation.applies(evaluator)

    def compare_with(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Sides of regions are measured as parts of those of this box."""
        with np.errstate(all="ignore"):
            self.branching.units = np.where(np.isfinite(1.0 / (hi - lo)), 1.0 / (hi - lo), 1.0)
            low, high = self.bounding.relaxation.enclosed(*self.bounding.columns_of(lo, hi))
            self.branching.column_units = np.where(np.isfinite(1.0 / (high - low)), 1.0 / (high - low), 0.0)

    def test(self, regions: Any, context: StepContext) -> Outcome:
        arrays, n, upper = self.evaluator.arrays_of(regions), self.n, context.upper
        low_row, axis_row, _ = rows(n)
        here = arrays.fetch(regions).copy()
        before = here[low_row].copy()
        chosen = np.argsort(before, kind="stable")[:POLICY.most_programs]
        self._review(float(before.min(initial=np.inf)), upper)
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
        return Outcome(arrays.send(here), self.cost * len(chosen))

    def remembered(self) -> Callable[[], None]:
        counts, gains, turn = self.bounding.counts.state(), self.branching.gains.copy(), self.turn
        self.starts.mark()

        def put_back() -> None:
            self.bounding.counts.restore(counts)
            self.branching.gains, self.turn = gains, turn
            self.starts.undo()
        return put_back

    def _bounded(self, lo: np.ndarray, hi: np.ndarray, upper: float, rounds: int) -> list[TightenedRegion]:
        """Of boxes (n, N), each from what the program of a box around it left."""
        low, high = self.bounding.columns_of(lo.T, hi.T)
        regions = [TightenedRegion(low[k], high[k], -np.inf, start=ProgramStart(self.bounding.basis) if start is None else start)
                   for k, start in enumerate(self.starts.around(lo, hi))]
        return self.bounding.bound_each(regions, upper, rounds)

    def _review(self, lower: float, upper: float) -> None:
        """A turn of programs that has not paid is followed by one of the others, and each is longer than the last: of some
        problems programs say little, and many boxes cost as much as one. Where the others have brought no more, programs have
        twice as many for their next turn. No turns are taken where all variables are whole, as bounds rise in jumps then, and
        where the problem is convex but for whole numbers: others can only cut, which closes no region that programs leave
        open."""
        if self.is_convex or len(self.bounding.relaxation.whole) == self.n or self.payoff.rest:
            return
        solved, turn = self.bounding.counts.solved, self.turn or Turn(np.inf, lower, upper)
        patience, judged = int(turn.patience), POLICY.judged_programs << int(turn.patience)
        paid, ends = turn.has_paid(lower, upper), solved - turn.solved >= judged
        if turn.is_rest:
            self.turn = Turn(solved, lower, upper, turn.rests, 0 if paid else patience + 1)
        elif ends and not paid:
            self.payoff.rest = POLICY.first_pause << int(turn.rests)
            self.turn = Turn(solved, lower, upper, turn.rests + 1, patience, True)
        elif ends or self.turn is None:
            self.turn = Turn(solved, lower, upper, turn.rests, patience)

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
        turn = {} if self.turn is None else {"lp.turn": np.array(self.turn, float)}
        gains = {"lp.gains": self.branching.gains.copy()} if self.branching.gains.any() else {}
        return {"lp.counts": self.bounding.counts.state(), **turn, **basis, **gains, **self.starts.state()}

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        self.bounding.basis = arrays.get("lp.basis")
        self.starts.restore(arrays, len(self.bounding.relaxation.curves))
        if "lp.gains" in arrays:
            self.branching.gains = arrays["lp.gains"].copy()
        if "lp.counts" in arrays:
            self.bounding.counts.restore(arrays["lp.counts"])
        if "lp.turn" in arrays:
            self.turn = Turn(*arrays["lp.turn"].tolist())
