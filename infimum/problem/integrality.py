"""Which variables are whole numbers. Their bounds may be infinite, on one side or on both.

Proof: docs/proofs/exact_bounds.md.
"""

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import OptionError, ShapeError
from infimum.problem.problem import Problem
from infimum.problem.start_boxes import StartBoxes
from infimum.problem.text import counted
from infimum.problem.variable_bounds import FAR, End, OuterBox, end_of, of_ends


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
    if kinds.ndim > 1 or (kinds.ndim == 1 and len(kinds) != n):
        raise ShapeError(f"integrality has the shape {kinds.shape}, and there are {counted(n, 'variable')}: give one number, or "
                         "one for each variable")
    kinds = np.broadcast_to(kinds, (n,))
    for i in np.flatnonzero((kinds != 0) & (kinds != 1))[:1]:
        raise OptionError(f"integrality of variable {i} is {kinds[i].item()!r}: 0 stands for any number, 1 for whole numbers; "
                          "others of SciPy's values are not there")
    integers = np.flatnonzero(kinds)
    problem = _in_boxes(problem, integers) if problem.several is not None else problem
    none, problem = _rounded(problem, integers)
    x0 = problem.x0
    if x0 is not None:
        x0 = x0.copy()
        x0[integers] = np.clip(np.rint(x0[integers]), problem.lo[integers, None], problem.hi[integers, None])
    return tuple(integers.tolist()), none, replace(problem, x0=x0)


def _rounded(problem: Problem, integers: np.ndarray) -> tuple[int | None, Problem]:
    """A variable whose bounds hold no whole number, if there is one, and the problem with the bounds of others rounded inward."""
    lo, hi, outer, ends = problem.lo.copy(), problem.hi.copy(), problem.outer, dict(problem.ends)
    lo[integers], hi[integers] = np.ceil(lo[integers]), np.floor(hi[integers])
    outer = outer and outer.but(integers, *(lo[integers], hi[integers]) * 2)
    none = integers[lo[integers] > hi[integers]].tolist()
    for i in sorted({i for i, _ in ends} & set(integers.tolist())):
        whole = [_whole(ends.pop((i, side), None), float(problem.region[side][i]), i, side) for side in (0, 1)]
        if whole[0] <= whole[1]:
            box = of_ends([tuple(End(number, number) if isinstance(number, float) else end_of(Fraction(number))
                                 for number in whole)])
            lo[i], hi[i] = box.lo[0], box.hi[0]
            outer = outer.but(i, *(end[0] for end in box.outer or (box.lo, box.hi) * 2))
            ends |= {(i, side): box.end(0, side) for _, side in box.needed()}
            none = [k for k in none if k != i]
    for i in none:  # any numbers will do
        lo[i], hi[i] = (end[i] for end in problem.region)
        outer = outer and outer.but(i, *(lo[i], hi[i]) * 2)
    outer = outer and outer.unless(lo, hi)
    start = problem.start if problem.start is None or problem.several else StartBoxes(lo[:, None], hi[:, None], outer
                                                                                      and OuterBox(
        *(end[:, None] for end in outer)))
    return none[0] if none else None, replace(problem, lo=lo, hi=hi, outer=outer, ends=ends, start=start)


def _whole(end: End | None, double: float, i: int, side: int) -> int | float:
    """The whole number within the bounds that is next to an end of theirs; it is this double where it is None. An infinite end
    stays as it is."""
    if end is None and math.isinf(double):
        return double
    number = double if end is None else end.number if isinstance(end.number, Fraction) else (end.up, end.down)[side]
    if end is not None and max(abs(end.down), abs(end.up)) > FAR and not isinstance(number, Fraction):
        raise OptionError(f"variable {i} is a whole number, and which one is next to its bound {end.number!r} is not known: give "
                          "an integer")
    return (math.ceil, math.floor)[side](number)


def _in_boxes(problem: Problem, integers: np.ndarray) -> Problem:
    """With start boxes whose ends are rounded inward, those that hold whole numbers, unless there are none."""
    lo, hi, outer = problem.start.lo.copy(), problem.start.hi.copy(), problem.start.outer
    if outer is not None:
        # beyond FAR a whole number may lie between an end and the double within
        inexact = np.any([(mine != its) & (np.maximum(np.abs(mine), np.abs(its)) > FAR) for mine, its in
                          ((outer.lo, lo), (outer.hi, hi))], axis=0)
        for i in integers[inexact[integers].any(axis=1)][:1]:
            raise OptionError(f"variable {i} is a whole number, and an end of a start box of its is one beyond 2**53 that is no "
                              "double: give the next one that is")
    lo[integers], hi[integers] = np.ceil(lo[integers]), np.floor(hi[integers])
    some = np.flatnonzero((lo[integers] <= hi[integers]).all(axis=0))
    if not len(some):
        return problem
    outer = outer and OuterBox(*(end[:, some] for end in outer.but(integers, *(lo[integers], hi[integers]) * 2)))
    start = StartBoxes(lo[:, some], hi[:, some], outer)
    low, high = start.hull
    ends = {at: end for at, end in problem.ends.items() if at[0] not in integers}
    return replace(problem, lo=low, hi=high, start=start, outer=start.outer_of_all, ends=ends)
