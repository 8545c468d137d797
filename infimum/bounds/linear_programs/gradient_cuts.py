"""Gradients of convex rows at the solution of the whole box's program, repeated until the rows hold there: for rows of which the
columns lose the convexity, such as norms, logarithms of sums of exponentials, and squares divided by linear functions.

By convexity g(p) + a·(x - p) <= g(x) <= e for a gradient a of a row g at any point p; for f the form of its columns stands in the
place of e. These rows hold in every region.

Proof: docs/proofs/convex_bounds.md.
"""

from fractions import Fraction
from math import inf

import numpy as np

from infimum.bounds.infinite_ends.convex_bounds import ConvexSet
from infimum.problem.system import System
from infimum.relax.lifting import Lift, LinearForm, plus
from infimum.relax.program_bounds import LinearProgramBounding
from infimum.search.policy.cuts import GRADIENT_CUTS as POLICY
from infimum.structure.curvature import CONCAVE, CONVEX, curvatures

_Side = tuple[LinearForm, float, float]


def add_gradient_cuts(bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray) -> None:
    """Adds them to the rows of a problem with these bounds."""
    relaxation, n = bounding.relaxation, len(lo)
    if n > POLICY.most_variables or not np.isfinite([lo, hi]).all():
        return
    rows = _lost_rows(relaxation.lift, relaxation.evaluator.system, lo, hi)
    if not rows:
        return
    convex, rounds = _convex_rows(bounding, rows, lo, hi), 0
    bounding.session()
    while convex is not None and rounds < POLICY.rounds:
        z, rounds = bounding.solution(lo, hi), rounds + 1
        cuts = [] if z is None else _cuts(bounding, convex, z, np.minimum(np.maximum(z[:n], lo), hi))
        if not cuts:
            return
        relaxation.strengthen(relaxation.sides + cuts, relaxation.switches)


def _lost_rows(lift: Lift, system: System, lo: np.ndarray, hi: np.ndarray) -> list[int]:
    """Rows that are convex or concave by their formulas, of which their columns do not tell that. (Quadratic ones are sums of
    squares by now.)"""
    rows = [k for k in range(1 + system.m) if not lift.is_flat(k, products=False)]
    curves = curvatures((system.f, *system.bodies), lo, hi) if rows else None
    if curves is None:
        return []
    bits = np.concatenate([part.ravel() for part in curves])
    return [k for k in rows if bits[k] in (CONVEX, CONCAVE)]


def _convex_rows(bounding: LinearProgramBounding, rows: list[int], lo: np.ndarray, hi: np.ndarray) -> ConvexSet | None:
    """Those of the rows that are convex functions, with their own ends; that of f is 0."""
    evaluator = bounding.relaxation.evaluator
    system = evaluator.system
    with np.errstate(all="ignore"):
        found = ConvexSet.of(evaluator, lo, hi, lo / 2 + hi / 2, 0.0)
    if found is None:
        return None
    some = np.isin(found.row, rows) & ~found.linear
    row, sign = found.row[some], found.sign[some]
    end = np.where(sign > 0, np.append(0.0, system.upper)[row], -np.append(0.0, system.lower)[row])
    return ConvexSet(evaluator, row, sign, end, found.linear[some]) if some.any() else None


def _cuts(bounding: LinearProgramBounding, convex: ConvexSet, z: np.ndarray, p: np.ndarray) -> list[_Side]:
    """Of the rows that the point p, which belongs to the columns z, violates."""
    f, cost = bounding.relaxation.f, bounding.relaxation.cost
    claimed = float((cost.low * np.nan_to_num(z)).sum()) + cost.constant
    own = convex._replace(end=np.where(convex.row == 0, claimed, convex.end))
    with np.errstate(all="ignore"):
        excess = own.excess(p[:, None])[:, 0]
    found: list[_Side] = []
    for k in np.flatnonzero((excess > POLICY.violation) & np.isfinite(excess)):
        low, high, right = convex.tangents(p[:, None], np.array([k]))
        if not len(right):
            continue
        terms = tuple((j, (Fraction(a), Fraction(b))) for j, (a, b) in enumerate(zip(low[:, 0].tolist(), high[:, 0].tolist(),
                                                                                        strict=True)) if a or b)
        form = LinearForm(terms)
        if convex.row[k] == 0:
            form = plus(form, LinearForm(tuple((j, (-b, -a)) for j, (a, b) in f.terms), (-f.constant[1], -f.constant[0])))
        found.append((form, -inf, float(right[0])))
    return found
