"""When costly bounds begin that nobody asked for: by counts, so that a run that is resumed takes the same course."""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from infimum.bounds.propagation import Box, propagate
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import const, topological
from infimum.kernel.schedule import straight_cost
from infimum.problem.problem import Problem
from infimum.problem.system import System
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.policy.bounds import ROOT_LINEAR_PROGRAMS as POLICY
from infimum.search.policy.bounds import VARIABLE_ELIMINATION as ELIMINATION
from infimum.search.policy.points import CONSTRAINED_SEARCH as SEARCH
from infimum.search.policy.points import DIVES as POINTS
from infimum.search.policy.search import CONSTRAINED
from infimum.support.clock import stoppable
from infimum.support.given_numbers import round_down
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import variable_elimination
    from infimum.bounds.infinite_ends import closing
    from infimum.relax import relaxation
else:
    closing = LazyModule("bounds.infinite_ends.closing")
    variable_elimination, relaxation = LazyModule("bounds.variable_elimination"), LazyModule("relax.relaxation")


class ProgramsStage:
    """Linear programs of one run that nobody asked for: when do they begin?"""

    def __init__(self, waits: bool):
        self.waits = waits  # may they still begin?
        self.marks = ((1, np.inf), (1, np.inf))  # boxes, and the distance between both bounds then; the later has twice as many

    def are_due(self, system: System, branch: BranchAndBound, box: tuple[np.ndarray, np.ndarray]) -> bool:
        """Do they begin after what has been done? By steps, or where functions are costly by what has been enclosed; but not as
        long as boxes alone bring both bounds together."""
        if not self.waits:
            return False
        steps, whole = branch.steps, bool(system.integers)
        if self._closes(branch.boxes, float(branch.incumbent.upper) - float(branch.lower())) and not whole:
            return False
        if steps >= (POLICY.first_step_whole if whole else POLICY.first_step):
            return True
        if _operations(system, branch.boxes) >= POLICY.first_operations:
            # without a lower bound regions of real variables become bounded by cuts: programs say nothing of most of them
            return whole or branch.lower() > -np.inf
        return whole and steps == POLICY.first_step_convex and relaxation.Relaxation.suffices(system, *box)

    def _closes(self, boxes: int, distance: float) -> bool:
        """Has the distance fallen by a power of the number of boxes since there were half as many, or fewer?"""
        boxes, distance = max(boxes, 1), max(0.0, distance)  # 0 if nothing is left, where both bounds are infinite
        if boxes >= 2 * self.marks[1][0]:
            self.marks = self.marks[1], (boxes, distance)
        before, was = self.marks[0]
        return distance <= was * (before / boxes) ** POLICY.closing_power < np.inf

    def values(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"programs_wait": self.waits, "programs_marks": [float(number) for mark in self.marks for number in mark]}

    def restore(self, values: dict[str, Any]) -> None:
        """As a checkpoint has it."""
        self.waits = self.waits and values.get("programs_wait", False)
        if "programs_marks" in values:
            boxes, distance, later, then = values["programs_marks"]
            self.marks = (boxes, distance), (later, then)


def _operations(system: System, boxes: int) -> int:
    return boxes * straight_cost(list(topological(list(system.rows))))


def is_large_lattice(system: System, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Are all variables whole, and their points in this box very many? Then programs look for the first one."""
    if not len(system.integers) == len(box[0]):
        return False
    with np.errstate(all="ignore"):
        return float(np.log2(box[1] - box[0] + 1.0).sum()) > POLICY.large_lattice


def find_the_first_point(system: System, branch: BranchAndBound, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Do programs look for the first point? Where whole points are very many, or whole numbers more than few and what the
    constraints leave is convex but for these: with them fixed a point is solved for."""
    if branch.done:
        return False
    if len(system.integers) <= POINTS.few_whole_numbers or is_large_lattice(system, box):
        return is_large_lattice(system, box)
    return relaxation.Relaxation.suffices(replace(system, f=const(0.0)), *box)


def quadratic_steps_an_evaluation(system: System, n: int) -> float:
    """How many steps of the quadratic bound cost as much as an evaluation of all functions, in operations."""
    evaluation = CONSTRAINED.evaluation_operations + straight_cost(list(topological(list(system.rows))))
    return evaluation / (CONSTRAINED.quadratic_operations + CONSTRAINED.product_operations * (2 * n + system.m) ** 2)


class EliminationStage:
    """Of one run: done once, or not at all. Tables take no more memory than the limit."""

    done = False

    def __init__(self, system: System, problem: Problem, memory_limit: float | None):
        self.memory_limit = np.inf if memory_limit is None else memory_limit
        self.system, self.waits = system, bool(system.integers) and problem.start is None and problem.outer is None
        self.plan: variable_elimination.VariableElimination | None = None
        self.operations = self.at_once = 0  # of all functions of one box, and on tables before any search

    def look(self, branch: BranchAndBound, box: tuple[np.ndarray, np.ndarray]) -> None:
        """Is it due? Then f has a lower bound on the box, and a point where it is that."""
        if not self.waits or branch.done:
            return
        with stoppable():
            if self.plan is None:
                self.plan = variable_elimination.VariableElimination.of(self.system, *box)
                self.operations = straight_cost(list(topological(list(self.system.rows))))
                self.at_once = ELIMINATION.at_once[is_large_lattice(self.system, box)]
            self.waits = self.plan is not None and self.plan.bytes <= self.memory_limit
            if not self.waits or self.plan.cost > max(self.at_once, ELIMINATION.operations_each * self.operations * branch.boxes):
                return
            found = self.plan.minimum()
            if found is None:
                branch.discard_all()
            else:
                branch.floor = max(branch.floor, round_down(found.lower))
                branch.incumbent.offer(found.x[:, None])
                branch.prune()
            self.waits, self.done = False, True

    def values(self) -> dict[str, bool]:
        """For a checkpoint."""
        return {"eliminated": True} if self.done else {}

    def restore(self, values: dict[str, Any]) -> None:
        """As a checkpoint has it."""
        if values.get("eliminated", False):
            self.waits, self.done = False, True


class ClosingStage:
    """Nearer bounds in the place of infinite or very wide ones, of one run: at first, and again in the midst of the search.
    `bounding` has other forms of the evaluator's functions."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.upper, self.times = evaluator, np.inf, 0

    def is_due(self, box: Box, upper: float) -> bool:
        """Are bounds very wide, and a point much better than that with which they were looked at last?"""
        with np.errstate(all="ignore"):
            wide = bool((box[1] - box[0] > SEARCH.wide_bounds).any())
        much = CONSTRAINED.much_better * max(1.0, abs(self.upper))
        better = upper < np.inf and (self.upper == np.inf or self.upper - upper >= much)
        return wide and (not self.times or (better and self.times < CONSTRAINED.most_closings))

    def left(self, bounding: Evaluator, box: Box, x: np.ndarray, upper: float) -> Box | None:
        """What is left of the box for better points: by all functions at once, and by each of them."""
        self.upper, self.times = upper, self.times + 1
        with stoppable():
            left = closing.closed(self.evaluator, bounding, *box, x, upper)
            return propagate(bounding, *left, upper) if (left[0] <= left[1]).all() else None

    def values(self) -> dict[str, Any]:
        """For a checkpoint."""
        return {"closed_with": float(self.upper), "closings": self.times}

    def restore(self, values: dict[str, Any]) -> None:
        """As a checkpoint has it."""
        self.upper, self.times = values.get("closed_with", np.inf), values.get("closings", 0)
