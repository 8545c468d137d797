"""Covering: regions that together hold every point within the bounds at which f is at most a threshold.

The parts of branch and bound that only say "f lies above" are asked as they are, with the threshold in place of the upper bound
of the infimum. What first derivatives say of minimisers is switched off by bounds that no region reaches (lower ones of plus
infinity, upper ones of minus infinity): a region is then neither discarded nor reduced to a face for them.

Proof: docs/proofs/sublevel_sets.md.
"""

import numpy as np

from infimum.bounds.function_bounds.bound_by_pieces import BoundByPieces
from infimum.bounds.function_bounds.first_order import FirstOrder
from infimum.bounds.function_bounds.interval_newton import IntervalNewton
from infimum.bounds.function_bounds.tangent_bound import TangentBound
from infimum.bounds.interface import CuttingTest, RegionTest, StepContext
from infimum.bounds.least_squares.gauss_newton import GaussNewton
from infimum.bounds.least_squares.variable_projection import VariableProjection
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BRANCH_BY_PIECES, ProgramKind
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows
from infimum.search.policy.sets import SUBLEVEL_SETS as POLICY
from infimum.search.region_pool import Regions


class CoveringTests:
    """The parts in the order in which they are asked, for one meaning of what may be discarded.

    `held` None: nothing but points with f above the threshold. Otherwise the regions are asked for points at which f is least
    among those of the bounds with the same value of variable `held`: tests of minimisers hold in all other variables.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, held: int | None = None,
                 more: tuple[RegionTest, ...] = ()):
        off = np.ones(len(lo), bool) if held is None else np.arange(len(lo)) == held
        low, high = np.where(off, np.inf, lo), np.where(off, -np.inf, hi)
        pieces = BoundByPieces.applies(evaluator)
        self.cutting: CuttingTest = (BoundByPieces if pieces else FirstOrder)(evaluator, low, high)
        if pieces:
            self.cutting.kernel = ProgramKind.of(BRANCH_BY_PIECES, unbounded=True)
        kinds: list[type[RegionTest]] = [GaussNewton, *([TangentBound] if evaluator.facts.tangents is not None else []),
                                         *([IntervalNewton] if held is not None and len(lo) > 1 else [])]
        self.others = [*more, *(kind(evaluator, low, high) for kind in kinds if kind.applies(evaluator))]
        # bounds only tell it what is wide
        if VariableProjection.applies(evaluator) and not evaluator.facts.separable.many_nonlinear:
            self.others.insert(len(more), VariableProjection(evaluator, lo, hi))


class Covering:
    """`columns`: the regions, as columns of `kernel/region_cut.py`. `boxes` is the work so far, in boxes enclosed."""

    def __init__(self, evaluator: Evaluator, threshold: float, columns: np.ndarray, boxes: int = 0):
        self.evaluator, self.threshold, self.n = evaluator, threshold, (len(columns) - 3) // 2
        self.columns, self.boxes, self.steps = columns, boxes, 0

    @classmethod
    def of_box(cls, evaluator: Evaluator, threshold: float, lo: np.ndarray, hi: np.ndarray) -> "Covering":
        """Begins with one box."""
        whole = Regions(lo[:, None], hi[:, None], np.full(1, -np.inf), np.zeros(1), np.zeros(1))
        return cls(evaluator, threshold, whole.columns())

    @property
    def lo(self) -> np.ndarray:
        return self.columns[:self.n]

    @property
    def hi(self) -> np.ndarray:
        return self.columns[self.n:2 * self.n]

    def __len__(self) -> int:
        return self.columns.shape[1]

    @property
    def can_be_cut(self) -> np.ndarray:
        return self.columns[rows(self.n)[1]] != NO_AXIS

    def take(self, chosen: np.ndarray) -> "Covering":
        """The regions with these numbers, to be worked on apart."""
        return Covering(self.evaluator, self.threshold, np.ascontiguousarray(self.columns[:, chosen]), 0)

    def test(self, tests: CoveringTests) -> None:
        """Asks all parts about all regions as they are."""
        self.columns = self._tested(self.columns, 1, tests)

    def cut(self, chosen: np.ndarray, tests: CoveringTests) -> None:
        """Cuts the regions with these numbers, and tests the pieces. If that fails, nothing has been done."""
        parents, pieces = np.ascontiguousarray(self.columns[:, chosen]), 2
        while pieces < POLICY.most_pieces and pieces * len(chosen) < POLICY.full_step:
            pieces *= 2
        found = self._tested(parents, pieces, tests)
        self.columns = np.concatenate([np.delete(self.columns, chosen, axis=1), found], axis=1)
        self.steps += 1

    def _tested(self, parents: np.ndarray, pieces: int, tests: CoveringTests) -> np.ndarray:
        as_others = StepContext(alike=True)  # linear parameters are cut as well
        outcomes = tests.cutting.cut(parents, pieces, as_others) if parents.shape[1] else []
        self.boxes += sum(outcome.boxes for outcome in outcomes)
        left = self._kept(np.concatenate([parents[:, :0], *(outcome.regions for outcome in outcomes)], axis=1))
        for part in tests.others:
            most, found = part.most or max(1, left.shape[1]), []
            for begin in range(0, left.shape[1], most):
                outcome = part.test(np.ascontiguousarray(left[:, begin:begin + most]), StepContext(self.threshold))
                self.boxes += outcome.boxes
                found.append(self._kept(outcome.regions))
            left = np.concatenate([left[:, :0], *found], axis=1)
        return left

    def _kept(self, columns: np.ndarray) -> np.ndarray:
        lower, axis, _ = rows(self.n)
        return columns[:, (columns[axis] != DISCARDED_AXIS) & ~(columns[lower] > self.threshold)]
