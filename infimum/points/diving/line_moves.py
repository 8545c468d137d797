"""Better points on lines through a point along which linear equations go on holding: one variable moves, and as many others as
there are equations. Estimates.

Local searches end in the basin they begin in, and cannot follow kinks. A look along a line sees its whole range. Which variables
make up for the one that moves is another choice each time, so that every pair has its turn where there is one equation.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.search.policy.points import LINE_MOVES as POLICY


class LineMoves:
    """Of one problem. Whole variables stay where they are."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray):
        self.evaluator, self.system, self.lo, self.hi, self.n = evaluator, evaluator.system, lo, hi, len(lo)
        self.equations, self.free, self.evaluations = np.flatnonzero(self.system.equal), lo < hi, 0
        self.free[list(self.system.integers)] = False

    @cached_property
    def applies(self) -> bool:
        """Are all equations linear, and does something move with them?"""
        if self.n > POLICY.most_variables or not self.free.sum() > len(self.equations):
            return False
        return not np.isin(self.equations + 1, self.evaluator.curved_rows[0]).any()

    def ends(self, starts: np.ndarray, most: int) -> Iterator[None]:
        """Where points (n, N) lead to, the first ones, after about as many evaluations in all."""
        found, end = [], self.evaluations + most
        for x in starts.T:
            if self.evaluations >= end:
                break
            found.append((yield from self.moved(x, end - self.evaluations)))
        return np.stack(found, axis=1) if found else np.empty((self.n, 0))

    def moved(self, x: np.ndarray, most: int) -> Iterator[None]:
        """A point with a lower f that violates constraints no more than x does, after about as many evaluations; x itself if none
        was found."""
        values, jacobian = self.evaluator.estimate_jacobian(x)
        size = np.abs(jacobian[1:] * np.maximum(1.0, np.abs(x))).max(axis=1, initial=0.0)
        tolerance = np.maximum(POLICY.tolerance * size, self._broken(values[1:, None])[:, 0])
        a, best, end = jacobian[1 + self.equations], float(values[0]), self.evaluations + most
        turns = range(0, int(self.free.sum()) if len(a) else 1, POLICY.choices)
        idle = turn = 0
        while idle < len(turns) and self.evaluations < end:
            found = yield from self._lowest(x, self._directions(a, x, turns[turn % len(turns)]), tolerance)
            idle, turn = idle + 1, turn + 1
            if found is not None and found[1] < best - POLICY.least_gain * max(1.0, abs(best)):
                (x, best), idle = found, 0
        return x

    def _directions(self, a: np.ndarray, x: np.ndarray, first: int) -> np.ndarray:
        """Columns (n, D): for some choices of variables that make up for another, one for each other variable."""
        room = np.where(self.free, np.minimum(self.hi - x, x - self.lo), -1.0)
        order = np.argsort(-room, kind="stable")[:int(self.free.sum())]
        found = []
        for turn in range(first, min(first + POLICY.choices, len(order) if len(a) else 1)):
            reduced, pivots = _reduced(a, np.roll(order, -turn))
            others = np.array([j for j in order.tolist() if j not in pivots], np.intp)
            d = np.zeros((self.n, len(others)))
            d[others, np.arange(len(others))] = 1.0
            d[pivots] = -reduced[:, others]
            found.append(d)
        return np.concatenate(found, axis=1)

    def _lowest(self, x: np.ndarray, d: np.ndarray, tolerance: np.ndarray) -> Iterator[None]:
        """(point, value): the lowest on all lines; None where there is none."""
        with np.errstate(all="ignore"):
            ahead = np.where(d > 0, (self.hi - x)[:, None], (self.lo - x)[:, None]) / d
            behind = np.where(d > 0, (self.lo - x)[:, None], (self.hi - x)[:, None]) / d
        reach = POLICY.reach * np.maximum(1.0, np.abs(x).max())
        last = np.minimum(np.where(d == 0, np.inf, ahead).min(axis=0), reach)
        first = np.maximum(np.where(d == 0, -np.inf, behind).max(axis=0), -reach)
        some = np.flatnonzero(last > first)
        if not len(some):
            return None
        d, first, last = d[:, some], first[some], last[some]
        cell = (last - first) / (POLICY.samples - 1)
        at = first[:, None] + cell[:, None] * np.arange(POLICY.samples)
        at = np.concatenate([at, cell[:, None] * np.append(-(h := 0.5 ** np.arange(1, 1 + POLICY.near)), h)], axis=1)
        at = np.sort(np.minimum(np.maximum(at, first[:, None]), last[:, None]), axis=1)
        values = yield from self._values(x, d, at, tolerance)
        padded = np.pad(values, ((0, 0), (1, 1)), constant_values=np.inf)
        line, k = np.nonzero((values < np.inf) & (values <= padded[:, :-2]) & (values < padded[:, 2:]))
        middle, value = at[line, k], values[line, k]
        for turn in range(POLICY.refinements + 1):
            keep = np.argsort(value, kind="stable")[:POLICY.refined]
            if not len(keep):
                return None
            line, middle, value = line[keep], middle[keep], value[keep]
            if turn == POLICY.refinements:
                break
            width = cell[line] * (2.0 / (POLICY.samples_of_refinement - 1)) ** turn
            at = middle[:, None] + width[:, None] * np.linspace(-1.0, 1.0, POLICY.samples_of_refinement)
            at = np.minimum(np.maximum(at, first[line, None]), last[line, None])
            values = yield from self._values(x, d[:, line], at, tolerance)
            k = np.argmin(values, axis=1)
            middle, value = at[np.arange(len(k)), k], values[np.arange(len(k)), k]
        return np.minimum(np.maximum(x + middle[0] * d[:, line[0]], self.lo), self.hi), float(value[0])

    def _values(self, x: np.ndarray, d: np.ndarray, at: np.ndarray, tolerance: np.ndarray) -> Iterator[None]:
        """f on lines (n, D) at places (D, S), infinite where a constraint is violated."""
        points = (x[:, None, None] + d[:, :, None] * at).reshape(self.n, -1)
        points = np.minimum(np.maximum(points, self.lo[:, None]), self.hi[:, None])
        found = []
        for begin in range(0, points.shape[1], POLICY.lanes_at_once):
            values, _ = self.evaluator.estimate_jacobian(points[:, begin:begin + POLICY.lanes_at_once])
            self.evaluations += values.shape[1]
            fits = np.isfinite(values).all(axis=0) & (self._broken(values[1:]) <= tolerance[:, None]).all(axis=0)
            found.append(np.where(fits, values[0], np.inf))
            yield
        return np.concatenate(found).reshape(at.shape)

    def _broken(self, c: np.ndarray) -> np.ndarray:
        with np.errstate(all="ignore"):
            return np.maximum(np.maximum(c - self.system.upper[:, None], self.system.lower[:, None] - c), 0.0)


def _reduced(a: np.ndarray, order: np.ndarray) -> tuple[np.ndarray, list[int]]:
    """Rows of equal span, each 1 in one column and 0 in those of the others: columns are taken in this order where that is
    stable. Equations that depend on others are gone."""
    a, pivots, rows = a.copy(), [], []
    left = list(range(len(a)))
    for j in order.tolist():
        if not left:
            break
        r = max(left, key=lambda r: abs(a[r, j]))
        if abs(a[r, j]) <= POLICY.least_pivot * np.abs(a[r]).max():
            continue
        a[r] /= a[r, j]
        for other in range(len(a)):
            if other != r:
                a[other] -= a[other, j] * a[r]
        left.remove(r)
        pivots.append(j)
        rows.append(r)
    return a[rows], pivots
