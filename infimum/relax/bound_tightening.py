"""Variables tightened by solving for them: the least and the largest number that the linear program allows each of them.

Every multiplier that a solver returns gives a bound by `safe_conclusions.py`, whatever was asked for. A side at whose end a
solution already was is not asked about: nothing is to be gained there. What is asked is bounded by counts: passes, and iterations
of all together.

Proof: docs/proofs/linear_programs.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.relax.program_bounds import LinearProgramBounding, TightenedRegion
from infimum.relax.safe_conclusions import LinearCost, lowest, usable, weighted
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.support.clock import stop_if_over


def tightened(bounding: LinearProgramBounding, left: TightenedRegion, upper: float, suffices: Callable[[float], bool],
              seen: list[np.ndarray]) -> TightenedRegion:
    """What is left of a region, of which a bound was asked before, until the bound suffices. Solutions on the way are added to
    those `seen`."""
    n, begun = bounding.relaxation.n, bounding.counts.iterations
    for _ in range(POLICY.tightening_passes):
        if left.empty or left.weights is None or left.lower > upper or suffices(left.lower):
            return left
        before = left.high[:n] - left.low[:n]
        low, high, points = _one_pass(bounding, left, upper, begun + POLICY.tightening_iterations)
        seen += points
        if (low > high).any():
            return left._replace(low=low, high=high, empty=True)
        found = bounding.bound(low, high, upper, 2)
        left = found._replace(lower=max(found.lower, left.lower))
        with np.errstate(all="ignore"):
            part = np.where(before > 0, (left.high[:n] - left.low[:n]) / before, 1.0)
        if bounding.counts.iterations >= begun + POLICY.tightening_iterations or not part.mean() < 1.0 - POLICY.tightening_worth:
            return left
    return left


def _one_pass(bounding: LinearProgramBounding, left: TightenedRegion, upper: float, most: int) -> tuple[np.ndarray, np.ndarray,
                                                                                                        list[np.ndarray]]:
    """New ends of all columns, where f <= upper, and solutions."""
    relaxation = bounding.relaxation
    asked = bounding.program_of(left, upper, cutoff=True)
    if asked is None:
        return left.low, left.high, []
    region, program = asked
    low, high = region.low.copy(), region.high.copy()
    seen: list[np.ndarray] = []
    y, z = bounding.multipliers(program)
    if y is None:
        return low, high, seen
    if z is None:
        found = bounding.concluded(region, y, z, upper)
        return found.low, found.low - 1.0 if found.empty else found.high, seen
    seen.append(z)
    for j in relaxation.lift.cut_variables:
        for sign in (1.0, -1.0):
            width = high[j] - low[j]
            end = low[j] if sign > 0 else high[j]
            there = min(abs(z[j] - end) for z in seen)
            if not width > 0 or there <= POLICY.tightening_at_end * width or bounding.counts.iterations >= most:
                continue
            stop_if_over()
            unit = np.zeros(relaxation.columns)
            unit[j] = sign
            y, z = bounding.multipliers(program.for_cost(unit), primal=True)
            if y is None:
                return low, high, seen
            if z is not None:
                seen.append(z)
            found = lowest(weighted(region.rows, usable(region.rows, y), LinearCost(unit, unit, 0.0)), low, high)
            if sign > 0:
                low[j] = max(low[j], found)
            else:
                high[j] = min(high[j], -found)
            if j in relaxation.whole:
                low[j], high[j] = np.ceil(low[j]), np.floor(high[j])
            if low[j] > high[j]:
                return low, high, seen
    return low, high, seen
