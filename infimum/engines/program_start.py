"""When linear programs that nobody asked for begin: by counts, so that a run that is resumed takes the same course."""

import numpy as np

from infimum.problem.system import System
from infimum.search.policy.bounds import ROOT_LINEAR_PROGRAMS as POLICY


def are_due(system: System, steps: int) -> bool:
    """Do they begin after this number of steps?"""
    return steps >= (POLICY.first_step_whole if system.integers else POLICY.first_step)


def is_large_lattice(system: System, box: tuple[np.ndarray, np.ndarray]) -> bool:
    """Are all variables whole, and their points in this box very many? Then programs look for the first one."""
    if not len(system.integers) == len(box[0]):
        return False
    with np.errstate(all="ignore"):
        return float(np.log2(box[1] - box[0] + 1.0).sum()) > POLICY.large_lattice
