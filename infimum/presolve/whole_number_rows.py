"""Constraints over whole numbers, tightened in rational numbers: the inner form has the same points and the same values.

Proof: docs/proofs/whole_numbers.md.
"""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from infimum.expr.build import take
from infimum.expr.node import Expr, const, var
from infimum.expr.rewriting_switches import step
from infimum.presolve.presolve_stack import Formulation, PresolveStep
from infimum.problem.system import System
from infimum.problem.text import counted
from infimum.search.policy.search import WHOLE_ROWS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.problem import integrality
    from infimum.structure.exact_rows import row_expressions, whole_rows
else:
    row_expressions = LazyModule("structure.exact_rows.row_expressions")
    integrality, whole_rows = LazyModule("problem.integrality"), LazyModule("structure.exact_rows.whole_rows")


class WholeNumberRows(PresolveStep):
    """Nothing is done where bounds are no doubles, or where there are start boxes."""

    @step("whole rows", lambda self, given: None)
    def apply(self, given: Formulation) -> Formulation | None:
        problem, system = given.problem, given.evaluator.system
        if system is None or not system.integers or problem.outer is not None or problem.start is not None:
            return None
        if system.m > POLICY.most_rows or system.m * len(problem.lo) > POLICY.most_elements:
            return None
        found = whole_rows.WholeRows(system, problem.lo, problem.hi)
        try:
            found.run()
        except whole_rows.NoWholePoint as none:
            self.said = f"{_named(system, none.number)} cannot hold with whole numbers"
            return given.with_system(_impossible(system, none.number))
        inner, changed = _with_rows(system, var("x", (given.evaluator.n,)), found.rows, found.dropped)
        whole = tuple(sorted(found.whole))
        narrowed = int(((found.lo != problem.lo) | (found.hi != problem.hi)).sum())
        counts = ((len(whole) - len(system.integers), "variable", "whole because equations make {} so"),
                  (narrowed, "variable", "with bounds that follow from whole numbers"),
                  (changed, "constraint", "tightened for whole numbers"),
                  (len(found.dropped), "constraint", "left out, which others or the bounds imply"))
        self.said = ", ".join(f"{counted(count, noun)} {what.format('it' if count == 1 else 'them')}"
                              for count, noun, what in counts if count)
        if not self.said:
            return None
        kinds = np.isin(np.arange(len(problem.lo)), whole)
        _, _, problem = integrality.read_integrality(kinds, replace(problem, lo=found.lo, hi=found.hi))
        return Formulation(problem, given.evaluator).with_system(replace(inner, integers=whole))


def _named(system: System, number: int | None) -> str:
    if number is None:
        return "equations"
    return system.labels[number].text if system.labels else f"constraint {number}"


def _impossible(system: System, number: int | None) -> System:
    """With a constraint that no point meets."""
    return system.with_rows(const(np.zeros(1)), np.ones(1), np.full(1, np.inf), _named(system, number))


def _with_rows(system: System, x: Expr, rows: list["whole_rows.WholeRow"], dropped: set[int]) -> tuple[System, int]:
    """With the ends of these rows in the place of those of the same number, without some, and how many are other ones now. Rows
    with other coefficients come last."""
    ends = np.array([system.lower, system.upper])
    for row in rows:
        if not row.rewritten:
            ends[:, row.number] = _ends(row)
    new = [row for row in rows if row.rewritten]
    kept = np.setdiff1d(np.arange(system.m), [*dropped, *(row.number for row in new)])
    changed = int((ends != [system.lower, system.upper]).any(axis=0)[kept].sum()) + len(new)
    bodies, begin = [], 0
    for body in system.bodies:
        mine = kept[(kept >= begin) & (kept < begin + body.size)] - begin
        if len(mine):
            bodies.append(body if len(mine) == body.size else take(body, mine))
        begin += body.size
    if new:
        bodies.append(row_expressions.linear_rows([row.coefficients for row in new], x))
    lower, upper = np.concatenate([ends[:, kept], np.array([_ends(row) for row in new]).reshape(-1, 2).T], axis=1)
    labels = tuple(system.labels[k] for k in [*kept.tolist(), *(row.number for row in new)]) if system.labels else ()
    return replace(system, bodies=tuple(bodies), lower=lower, upper=upper, labels=labels), changed


def _ends(row: "whole_rows.WholeRow") -> tuple[float, float]:
    return (-np.inf if row.lower is None else float(row.lower + row.constant),
            np.inf if row.upper is None else float(row.upper + row.constant))
