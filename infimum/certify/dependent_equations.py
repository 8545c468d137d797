"""Equations that follow from others, proved: repeated ones, and linear ones in exact arithmetic."""

from fractions import Fraction
from functools import cached_property

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.point_value import PointValues
from infimum.search.policy.bounds import EQUATION_SOLUTIONS as POLICY
from infimum.support.clock import stop_if_over

Row = dict[int, Fraction]
CONSTANT = -1  # fixed: the key of the right side


class LinearEquations:
    """The linear equations of a system on a box, found and solved when first asked for.

    A constraint is linear if its derivatives by the variables that the box does not fix are enclosed by single numbers on all of
    it, around which it is Lipschitz: the mean value theorem then leaves nothing but these slopes. Its value at one point gives
    the right side. On a face of the bounds more constraints are linear than on the whole.
    """

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.lo, self.hi = evaluator, lo, hi

    def follows(self, k: int, others: np.ndarray) -> bool:
        """Does equation k certainly hold wherever the others do?"""
        system = self.evaluator.system
        same = system.rows[1 + k]
        if any(system.rows[1 + i] is same and system.lower[i] == system.lower[k] for i in others):
            return True
        known = self.exact
        if k not in known:
            return False
        return not _reduced(known[k], eliminate_rationally([known[i] for i in others if i in known]))

    @cached_property
    def exact(self) -> dict[int, Row]:
        """The linear equations Σ a x = b: the a, and b."""
        system, slopes = self.evaluator.system, self.evaluator.jacobian(self.lo, self.hi)
        at = np.minimum(np.maximum(0.0, self.lo), self.hi)
        there = PointValues(at)
        fixed = self.lo == self.hi
        slope = np.where(fixed, 0.0, slopes.lo)
        single = (fixed | ((slopes.lo == slopes.hi) & np.isfinite(slopes.lo))).all(axis=1) & slopes.value.lipschitz
        found: dict[int, Row] = {}
        for k in np.flatnonzero(single[1:] & system.equal)[:POLICY.most_equations].tolist():
            stop_if_over()
            ends = there.enclosed(system.rows[1 + k])
            if ends is not None and ends[0] == ends[1] and np.isfinite(ends[0]):
                row = {int(j): Fraction(slope[1 + k, j]) for j in np.flatnonzero(slope[1 + k])}
                right = Fraction(system.lower[k]) - Fraction(ends[0]) + sum(a * Fraction(at[j]) for j, a in row.items())
                found[k] = {**row, CONSTANT: right} if right else row
        return found

    @cached_property
    def contradict(self) -> bool:
        """Do the linear equations certainly have no common solution?"""
        return any(set(row) == {CONSTANT} for row in eliminate_rationally(list(self.exact.values())).values())


def eliminate_rationally(rows: list[Row]) -> dict[int, Row]:
    """Rows with the same span, by a variable each that no later one has; one without variables says 0 = b."""
    found: dict[int, Row] = {}
    for row in rows:
        stop_if_over()
        row = _reduced(row, found)
        if row:
            lead = max(row)  # the right side only if nothing else is left
            found[lead] = {j: a / row[lead] for j, a in row.items()}
    return found


def _reduced(row: Row, by: dict[int, Row]) -> Row:
    """What is left of a row after subtracting multiples of the others."""
    row = dict(row)
    for lead, other in by.items():
        factor = row.get(lead)
        if factor:
            for j, a in other.items():
                value = row.get(j, Fraction(0)) - factor * a
                if value:
                    row[j] = value
                else:
                    row.pop(j, None)
    return row
