"""When linear programs that nobody asked for begin: by counts, so that a run that is resumed takes the same course."""

from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.node import topological
from infimum.kernel.schedule import straight_cost
from infimum.problem.system import System
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.policy.bounds import ROOT_LINEAR_PROGRAMS as POLICY
from infimum.search.policy.points import DIVES as POINTS
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.relax import relaxation
else:
    relaxation = LazyModule("relax.relaxation")


def are_due(system: System, branch: BranchAndBound, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Do they begin after what has been done? By steps, or where functions are costly by what has been enclosed."""
    steps, whole = branch.steps, bool(system.integers)
    if steps >= (POLICY.first_step_whole if whole else POLICY.first_step):
        return True
    if _operations(system, branch.boxes) >= POLICY.first_operations:
        # without a lower bound regions of real variables become bounded by cuts: programs say nothing of most of them
        return whole or branch.lower() > -np.inf
    return whole and steps == POLICY.first_step_convex and relaxation.Relaxation.suffices(system, *box)


def _operations(system: System, boxes: int) -> int:
    return boxes * straight_cost(list(topological(list(system.rows))))


def is_large_lattice(system: System, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Are all variables whole, and their points in this box very many? Then programs look for the first one."""
    if not len(system.integers) == len(box[0]):
        return False
    with np.errstate(all="ignore"):
        return float(np.log2(box[1] - box[0] + 1.0).sum()) > POLICY.large_lattice


def find_the_first_point(system: System, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Do programs look for the first point? Where whole points are very many, or whole numbers more than few and all else is
    convex: with these fixed it is solved for."""
    if len(system.integers) <= POINTS.few_whole_numbers or is_large_lattice(system, box):
        return is_large_lattice(system, box)
    return relaxation.Relaxation.suffices(system, *box)
