"""Newton's method within the bounds for sums of small terms, from a point near a minimiser to its last digits. Estimates."""

import numpy as np

from infimum.certify.term_sums.diagonal_convexity import HeldTermSum
from infimum.certify.term_sums.term_hessians import SecondOrderEnclosure, TermSum
from infimum.linear_algebra.positive_definite import midpoint
from infimum.points.valley_polish import solve
from infimum.search.policy.bounds import TERM_SUM_ISOLATION as POLICY


def polished(terms: TermSum, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Steps while they shrink what a step would gain."""
    best, gain = x, np.inf
    for _ in range(POLICY.newton_steps):
        bends = terms.enclose(x, x)
        slope = midpoint(bends.gradient)
        held = ((x <= lo) & (slope > 0)) | ((x >= hi) & (slope < 0)) | (lo == hi)
        step = _step(HeldTermSum(terms, held), bends, slope[terms.order.variable])[terms.order.position]
        gains = _dot(np.where(held, 0.0, slope), step)
        if not (bends.smooth and 0 <= gains < gain and np.isfinite(step).all()):
            break
        best, gain = x, gains
        x = np.minimum(np.maximum(x - step, lo), hi)
        if gains == 0:
            break
    return best


def _step(held: HeldTermSum, bends: SecondOrderEnclosure, slope: np.ndarray) -> np.ndarray:
    """About the inverse of the Hessian times the gradient, in the order of elimination."""
    cliques = midpoint(bends.cliques)
    step = held.solve(cliques, slope)
    mixed, slopes, inner = (midpoint(part) for part in (bends.mixed, bends.slopes, bends.inner))
    count = len(mixed)
    if not count:
        return step
    columns = [np.where(held.held, 0.0, row) for row in (*mixed, *slopes)]  # U of U M Uᵀ, the part of low rank
    middle = np.block([[np.zeros((count, count)), np.eye(count)], [np.eye(count), inner]])
    solved = [held.solve(cliques, column) for column in columns]

    def times_middle(v: list[float]) -> np.ndarray:
        return np.array([sum(float(a) * b for a, b in zip(row, v, strict=True)) for row in middle])
    gram = [times_middle([_dot(column, other) for column in columns]) for other in solved]
    rest = solve(np.eye(2 * count) + np.stack(gram, axis=1), times_middle([_dot(column, step) for column in columns]))
    if rest is not None:
        for part, column in zip(rest, solved, strict=True):
            step = step - part * column
    return step


def _dot(a: np.ndarray, b: np.ndarray) -> float:
    """In the order of the elements: a library's product has an order of its machine's own."""
    return float(np.bincount(np.zeros(len(a), np.int64), a * b, 1)[0])
