"""Boxes around a minimiser, each within the one before, and how convex f is on each of them."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator, Hessian
from infimum.linear_algebra.interval_matrices import Interval
from infimum.linear_algebra.positive_definite import dominance, scaled
from infimum.search.policy.bounds import ISOLATION as POLICY


class NestedBoxes(NamedTuple):
    """Boxes (n, N): `share` is how far each reaches, as a part of what is wanted; the last one is where it was begun."""

    lo: np.ndarray
    hi: np.ndarray
    share: np.ndarray

    def portions(self) -> "Iterator[NestedBoxes]":
        """Some of the boxes after the other, the largest first."""
        for begin in range(0, len(self.share), POLICY.boxes_at_once):
            some = slice(begin, begin + POLICY.boxes_at_once)
            yield NestedBoxes(self.lo[:, some], self.hi[:, some], self.share[some])


def nested_boxes(x: np.ndarray, inner: Interval, reach: Interval, bounds: Interval) -> NestedBoxes:
    """Boxes around x that hold the box `inner`, within the bounds, and at first more than the box `reach`."""
    share, x = np.append(POLICY.first_growth * 0.5 ** np.arange(POLICY.halvings), 0.0), x[:, None]
    with np.errstate(all="ignore"):
        lo, hi = (x + np.where(share > 0, (end[:, None] - x) * share, 0.0) for end in reach)
    return NestedBoxes(np.maximum(np.fmin(lo, inner[0][:, None]), bounds[0][:, None]),
                       np.minimum(np.fmax(hi, inner[1][:, None]), bounds[1][:, None]), share)


def part_of(found: Hessian, variables: np.ndarray) -> Interval:
    """The Hessian of these variables."""
    at = np.ix_(variables, variables)
    return found.lo[at], found.hi[at]


def convexity(evaluator: Evaluator, row: NestedBoxes, variables: np.ndarray, factor: np.ndarray, held: Interval) -> np.ndarray:
    """For each box a number not above the eigenvalues of T H Tᵀ at all of its points, H the Hessian of these variables, T the
    factor; minus infinity where the box is unbounded, f is not smooth, or does not rise strictly from the bounds that hold other
    variables: masks of those `held` at lower bounds, and at upper ones."""
    found = evaluator.hessian(row.lo, row.hi)
    may = found.value.smooth & (np.isfinite(row.lo) & np.isfinite(row.hi)).all(axis=0)
    may &= (found.gradient.lo[held[0]] > 0).all(axis=0) & (found.gradient.hi[held[1]] < 0).all(axis=0)
    if not len(variables):
        return np.where(may, np.inf, -np.inf)
    least = np.where(may, dominance(scaled(part_of(found, variables), np.repeat(factor, len(row.share), axis=2))), -np.inf)
    if not ((least > 0) & (row.share >= 1.0)).any():
        wider = np.flatnonzero(may & (row.share <= 1.0) & ~(least > 0))
        least[wider] = _along(evaluator, row.lo[:, wider], row.hi[:, wider], variables, factor)
    return least


def _along(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, variables: np.ndarray, factor: np.ndarray) -> np.ndarray:
    """The same from an enclosure along the rows of the factor: tighter where the boxes are long valleys, for a kernel more."""
    count, directions = len(variables), np.zeros((evaluator.n,) * 2)
    if not lo.shape[1]:
        return np.zeros(0)
    directions[:count, variables] = factor[..., 0]
    value, low, high = evaluator.curvature(lo, hi, directions)
    return np.where(value.smooth, dominance((low[:count, :count], high[:count, :count])), -np.inf)
