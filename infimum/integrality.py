"""Which variables are whole numbers."""

from dataclasses import replace
from typing import Any

import numpy as np

from infimum.errors import OptionError, ShapeError
from infimum.problem import Problem
from infimum.start_boxes import StartBoxes
from infimum.text import counted


def read_integrality(integrality: Any, problem: Problem) -> tuple[tuple[int, ...], int | None, Problem]:
    """The variables that are whole numbers, one of them whose bounds hold none, if there is one, and the problem with the bounds
    of the others rounded inward. `integrality` has 1 for each such variable and 0 for each other, as in scipy.optimize.milp.

    >>> read_integrality([0, 1], Problem.read(sum, [(0.5, 1.5), (0.5, 2.5)]))[2].lo
    array([0.5, 1. ])
    """
    n = len(problem.lo)
    if integrality is None:
        return (), None, problem
    kinds = np.asarray(integrality)
    if kinds.dtype.kind not in "biuf":
        raise OptionError(f"integrality must hold 0 (any number) or 1 (a whole number) for each variable, not {integrality!r}")
    if kinds.ndim > 1 or (kinds.ndim == 1 and len(kinds) not in (1, n)):
        raise ShapeError(f"integrality has the shape {kinds.shape}, and there are {counted(n, 'variable')}: give one number, or "
                         "one for each variable")
    kinds = np.broadcast_to(kinds, (n,))
    for i in np.flatnonzero((kinds != 0) & (kinds != 1))[:1]:
        raise OptionError(f"integrality of variable {i} is {kinds[i].item()!r}: 0 stands for any number, 1 for whole numbers; "
                          "others of SciPy's values are not there")
    integers = np.flatnonzero(kinds)
    for i in integers[~np.isfinite(problem.lo[integers]) | ~np.isfinite(problem.hi[integers])][:1]:
        ends = float(problem.lo[i]), float(problem.hi[i])
        raise OptionError(f"variable {i} is a whole number, and its bounds {ends} are infinite: give finite ones")
    if problem.start is not None:
        problem = _in_boxes(problem, integers)
    lo, hi = problem.lo.copy(), problem.hi.copy()
    lo[integers], hi[integers] = np.ceil(lo[integers]), np.floor(hi[integers])
    none = integers[lo[integers] > hi[integers]]
    lo[none], hi[none] = problem.lo[none], problem.hi[none]
    x0 = problem.x0
    if x0 is not None:
        x0 = x0.copy()
        x0[integers] = np.clip(np.rint(x0[integers]), lo[integers, None], hi[integers, None])
    return tuple(integers.tolist()), int(none[0]) if len(none) else None, replace(problem, lo=lo, hi=hi, x0=x0)


def _in_boxes(problem: Problem, integers: np.ndarray) -> Problem:
    """With start boxes whose ends are rounded inward, those that hold whole numbers, unless there are none."""
    lo, hi = problem.start.lo.copy(), problem.start.hi.copy()
    lo[integers], hi[integers] = np.ceil(lo[integers]), np.floor(hi[integers])
    some = np.flatnonzero((lo <= hi).all(axis=0))
    if not len(some):
        return problem
    start = StartBoxes(lo[:, some], hi[:, some])
    low, high = start.hull
    return replace(problem, lo=low, hi=high, start=start)
