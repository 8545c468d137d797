"""Bounds that hold whichever of two parts a whole variable lies in: each part is propagated, all parts of all variables at once.

Beyond 2**53 the next whole number need not be a double: there the other part holds the end as well.

Proof: docs/proofs/propagation.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.rewriting_switches import step
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.text import counted
from infimum.problem.variable_bounds import FAR
from infimum.search.policy.search import PROBING as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds import propagation
    from infimum.problem import integrality
else:
    propagation, integrality = LazyModule("bounds.propagation"), LazyModule("problem.integrality")

Box = tuple[np.ndarray, np.ndarray]


class ProbedBounds(PresolveStep):
    """Where a part of the bounds of every whole variable is left; else the search finds that there is no feasible point."""

    @step("probed bounds", lambda self, given: None)
    def apply(self, given: Formulation) -> Formulation | None:
        problem, evaluator, system = *given, given.evaluator.system
        if system is None or not system.integers or not system.m or problem.outer is not None or problem.start is not None:
            return None
        if evaluator.n > POLICY.most_variables:
            return None
        first = box = propagation.propagate(evaluator, problem.lo, problem.hi, rounds=POLICY.first_rounds)
        for _ in range(POLICY.most_turns):
            stop_if_over()
            closer = None if box is None else self._probed(given, *box)
            news = closer is not None and _is_news(box, closer)
            box = box if closer is None else closer
            if not news:
                break
        whole = np.array(system.integers)
        if box is None or not _is_news(*(tuple(end[whole] for end in ends) for ends in (first, box))):
            return None
        lo, hi = problem.lo.copy(), problem.hi.copy()
        lo[whole], hi[whole] = box[0][whole], box[1][whole]
        count = int(((lo > first[0]) | (hi < first[1]))[whole].sum())
        fixed = int(((lo == hi) & (first[0] < first[1])).sum())
        self.said = f"bounds of {counted(count, 'whole variable')} closer by trying values"
        self.said += f", {counted(fixed, 'variable')} fixed" if fixed else ""
        kinds = np.isin(np.arange(evaluator.n), whole)
        return Formulation(integrality.read_integrality(kinds, replace(problem, lo=lo, hi=hi))[2], evaluator)

    def _probed(self, given: Formulation, lo: np.ndarray, hi: np.ndarray) -> Box | None:
        """What is left of a box around all feasible points."""
        whole = np.array(given.evaluator.system.integers)
        whole = whole[(lo[whole] < hi[whole]) & (np.isfinite(lo[whole]) | np.isfinite(hi[whole]))][:POLICY.most_probes]
        if not len(whole):
            return lo, hi
        los, his = (np.repeat(end[:, None], 4 * len(whole), axis=1) for end in (lo, hi))
        at = 4 * np.arange(len(whole))
        least, most = lo[whole], hi[whole]
        his[whole, at], los[whole, at + 1] = least, np.where(np.abs(least) < FAR, least + 1, least)   # it, and all others
        los[whole, at + 2], his[whole, at + 3] = most, np.where(np.abs(most) < FAR, most - 1, most)
        ends = np.isfinite(lo[whole]), np.isfinite(hi[whole])
        for part, known in enumerate(np.repeat(ends, 2, axis=0)):
            los[:, at[~known] + part], his[:, at[~known] + part] = lo[:, None], hi[:, None]
        los, his, lost, _ = propagation.propagated_lanes(given.evaluator, los, his, (lo, hi), np.inf, POLICY.rounds)
        los[:, lost], his[:, lost] = np.inf, -np.inf
        low = np.minimum(los[:, ::2], los[:, 1::2]).max(axis=1)
        high = np.maximum(his[:, ::2], his[:, 1::2]).min(axis=1)
        return None if (low > high).any() else (np.maximum(lo, low), np.minimum(hi, high))


def _is_news(before: Box, after: Box) -> bool:
    """Is a side notably shorter?"""
    widths, left = before[1] - before[0], after[1] - after[0]
    return bool(((left < POLICY.notable_shrinkage * widths) | (np.isinf(widths) & np.isfinite(left))).any())
