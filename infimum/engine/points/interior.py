"""A local method for a function with constraints: a primal-dual interior point method, many lanes at once. Estimates.

Minimise f over x between its bounds, with c(x) = b for the equations and c(x) = s for the inequalities, s between their ends. A
barrier of weight μ keeps x and s strictly between; the conditions of first order are solved by Newton's method while μ goes
to 0. After A. Wächter and L. T. Biegler, "On the implementation of an interior-point filter line-search algorithm for
large-scale nonlinear programming", Math. Program. 106 (2006), with a merit function instead of the filter. Its ends lie strictly
inside the inequalities, by about μ over the multiplier, which is what a proof of feasibility needs.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from infimum.engine.points.barrier import Barrier, Lanes
from infimum.engine.points.lanes import applied, gram, solve, total
from infimum.evaluate import Evaluator

_SLOWER = 0.2                      # μ becomes the lesser of that part of it and its power 3/2
_SOLVED = 10.0                     # times μ is the error with which the next μ is taken
_TO_BOUNDARY = 0.99                # at most that part of the way
_STEP = 2.0**-24                   # of differences that give second derivatives
_ARMIJO, _ROUNDING = 1e-4, 2.0**-48
_SHORTER = 2.0 ** -np.arange(1.0, 12.0, 2.0)  # parts of a step that are tried where the whole is too long
_CLOSER = 0.9                      # a step that reduces the error by that is good as well
_CURVED, _FEWEST, _MORE, _LESS, _TRIES = 2.0**-10, 2.0**-40, 16.0, 1 / 3, 10  # what is added to the diagonal until it is convex
_WEIGHT = 10.0                     # of squared equations in the matrix, as part of its largest element
_REGULAR = 2.0**-34
_LARGE = 1e10                      # by which multipliers of bounds may differ from μ over the gap
_MANY = 1 << 22                    # numbers of all jacobians that second derivatives take; beyond it by another kernel


class Ends(NamedTuple):
    """Where lanes ended: points (n, N), f there, multipliers y (m, N) with which ∇f + Σ y ∇c vanishes but for what bounds take,
    and the error of all conditions, relative to the scales of the rows; infinite where nothing could be evaluated."""

    x: np.ndarray
    value: np.ndarray
    multipliers: np.ndarray
    error: np.ndarray


class Interior:
    """Begins at points (n, N), between bounds (n, N) of their own; variables whose bounds are equal are held. μ goes from `first`
    to `last`."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, points: np.ndarray, first: float = 0.1,
                 last: float = 2.0**-37):
        self.barrier, self.last = Barrier(evaluator), last
        self.n, self.equal = self.barrier.n, self.barrier.equal
        count = points.shape[1]
        self.ends = Ends(points.copy(), np.full(count, np.inf), np.zeros((evaluator.system.m, count)), np.full(count, np.inf))
        self.lanes = self.barrier.lanes(lo, hi, points, first)
        self._least, self._since = np.full(count, np.inf), np.zeros(count, np.int64)  # errors, and the steps that led to them

    @property
    def evaluations(self) -> int:
        return self.barrier.evaluations

    def run(self, steps: int) -> Ends:
        """Up to so many steps of all lanes."""
        for _ in self.steps(steps):
            pass
        return self.ends

    def steps(self, most: int, patience: int | None = None, settled: bool = False) -> Iterator[None]:
        """The same, in pieces. Once a lane has converged, or from the beginning where it is `settled`, lanes whose error was not
        halved for so many steps end."""
        for step in range(most):
            with np.errstate(all="ignore"):
                self._end_those(self._lower_mu())
                if patience is not None:
                    settled = settled or (self.ends.error <= 2 * self.last).any()
                    self._end_those(self._stuck(step, patience) & settled)
                if self.lanes.count:
                    self._end_those(~self._step())
            yield
            if not self.lanes.count:
                return
        self._end_those(np.ones(self.lanes.count, bool))

    def _stuck(self, step: int, patience: int) -> np.ndarray:
        a = self.lanes
        gained = a.error <= self._least[a.number] / 2
        self._least[a.number[gained]], self._since[a.number[gained]] = a.error[gained], step
        return step - self._since[a.number] >= patience

    def _end_those(self, ended: np.ndarray) -> None:
        if ended.any():
            a = self.lanes.some(np.flatnonzero(ended))
            self.ends.x[:, a.number], self.ends.value[a.number] = a.w[:self.n], a.values[0] * a.sigma[0]
            self.ends.multipliers[np.ix_(self.barrier.used, a.number)] = a.y / a.sigma[1:] * a.sigma[0]
            self.ends.error[a.number] = np.where(np.isnan(a.error), np.inf, a.error)
            self.lanes = self.lanes.some(np.flatnonzero(~ended))

    def _lower_mu(self) -> np.ndarray:
        """Where the barrier's problem is solved well enough. Which lanes have ended?"""
        a = self.lanes
        others, gaps = self.barrier.slopes_and_residuals(a), self.barrier.gaps(a, a.w)
        for _ in range(4):
            error = np.maximum(others, self.barrier.complementarity(a, gaps, a.mu))
            lower = (error <= _SOLVED * a.mu) & (a.mu > self.last)
            if not lower.any():
                break
            a.mu = np.where(lower, np.maximum(self.last, np.minimum(_SLOWER * a.mu, a.mu * np.sqrt(a.mu))), a.mu)
            a.penalty = np.where(lower, 1.0, a.penalty)
        a.error = np.maximum(others, self.barrier.complementarity(a, gaps, np.zeros_like(a.mu)))
        return a.error <= 2 * self.last

    def _step(self) -> np.ndarray:
        """Which lanes have moved?"""
        a = self.lanes
        gaps = self.barrier.gaps(a, a.w)
        step, y, good = self._direction(a, gaps)
        both = np.concatenate([step, -step])
        change = a.mu / gaps - a.z - a.z / gaps * both
        longest = _part(gaps, both, a.mu)
        return self._search(a, gaps, step, y, _part(a.z, change, a.mu) * change, longest) & good

    # ---- in which direction
    def _direction(self, a: Lanes, gaps: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Newton's step of w, the new y, and where there is one."""
        n, k, equal = self.n, len(a.w), self.equal
        pull, sigma = a.mu / gaps, a.z / gaps
        pull, sigma = pull[:k] - pull[k:], sigma[:k] + sigma[k:]
        jacobian = np.where(a.free, a.jacobian * a.unit, 0.0)
        residual, among, beside = self.barrier.residual(a, a.values, a.w), jacobian[1:][equal], jacobian[1:][~equal]
        each, count = np.arange(n), len(among)
        matrix = np.where(a.free[:, None] & a.free, self._curvature(a), 0.0) + gram(beside, sigma[n:])
        matrix[each, each] += np.where(a.free, sigma[:n] * a.unit * a.unit, 1.0)
        right = np.where(a.free, pull[:n] * a.unit - jacobian[0], 0.0)
        right -= total(beside * (sigma[n:] * residual[~equal] - pull[n:])[:, None])
        size = np.maximum(np.abs(matrix[each, each]).max(axis=0), _FEWEST)
        steep = total((among * among).swapaxes(0, 1))
        fixed, steep = steep == 0, np.maximum(steep, _FEWEST)  # an equation of variables that are held has no say
        weight, small = np.where(fixed, 0.0, _WEIGHT * size / steep), np.where(fixed, 1.0, _REGULAR * steep / size)
        whole = np.zeros((n + count, n + count, a.count))
        whole[:n, :n], whole[:n, n:], whole[n:, :n] = matrix + gram(among, weight), among.swapaxes(0, 1), among
        whole[np.arange(n, n + count), np.arange(n, n + count)] = -small
        right = np.concatenate([right - total(among * (weight * residual[equal])[:, None]),
                                -residual[equal] - small * a.y[equal]])
        found, good = self._solve(a, whole, right, size)
        y, moved = np.empty_like(a.y), applied(beside, found[:n]) + residual[~equal]
        y[equal], y[~equal] = found[n:], sigma[n:] * moved - pull[n:]
        return np.concatenate([np.where(a.free, a.unit * found[:n], 0.0), moved]), y, good

    def _solve(self, a: Lanes, whole: np.ndarray, right: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """With more and more on the diagonal of the variables, where the matrix is not convex along the equations."""
        found, good, added = np.zeros_like(right), np.zeros(a.count, bool), np.zeros_like(a.mu)
        each = np.arange(self.n)
        for trial in range(_TRIES):
            todo = np.flatnonzero(~good)
            if not len(todo):
                break
            more = whole[..., todo]
            more[each, each] += added[todo]
            found[:, todo], good[todo] = solve(more, right[:, todo], self.n)
            fresh = np.maximum(_CURVED * size, _LESS * a.curved) if trial == 0 else _MORE * added
            added = np.where(good, added, fresh)
        a.curved = np.where(added > 0, added, a.curved * _LESS)
        return found, good

    def _curvature(self, a: Lanes) -> np.ndarray:
        """Second derivatives of f + Σ y c by differences of first ones, in units of the variables, away from the nearer bound."""
        n, x, each = self.n, a.w[:self.n], np.arange(self.n)
        inward = np.where(x - a.lo[:n] > a.hi[:n] - x, -1.0, 1.0)
        places = np.repeat(x[:, None], n, axis=1)
        places[each, each] += inward * _STEP * np.maximum(np.abs(x), a.unit)
        apart, places = places[each, each] - x, places.reshape(n, -1)
        multipliers = np.concatenate([np.ones((1, a.count)), a.y])
        weights = multipliers / a.sigma
        if len(weights) * n * n * a.count > _MANY:
            slopes = self.barrier.weighted_slopes(places, np.tile(weights, n)).reshape(n, n, -1)
        else:
            slopes = total(self.barrier.rows(places)[1].reshape(-1, n, n, a.count) * weights[:, None, None])
        matrix = (slopes - total(a.jacobian * multipliers[:, None])[:, None]) / apart * a.unit[:, None] * a.unit
        matrix = np.where(np.isfinite(matrix), matrix, 0.0)
        return (matrix + matrix.swapaxes(0, 1)) / 2

    # ---- how far
    def _search(self, a: Lanes, gaps: np.ndarray, step: np.ndarray, y: np.ndarray, change: np.ndarray,
                longest: np.ndarray) -> np.ndarray:
        """Moves the lanes as far as that lowers the merit function, or the error of all conditions. Which have moved?"""
        barrier = self.barrier
        broken = total(np.abs(barrier.residual(a, a.values, a.w)))
        a.penalty = np.maximum(a.penalty, 1.5 * np.abs(y).max(axis=0, initial=0.0))
        slope = total(a.jacobian[0] * step[:self.n]) - a.mu * total(np.concatenate([step, -step]) / gaps) - a.penalty * broken
        merit = barrier.merit(a, a.values, a.w)
        error = np.maximum(barrier.slopes_and_residuals(a), barrier.complementarity(a, gaps, a.mu))
        enough, slope = merit + _ROUNDING * np.abs(merit), _ARMIJO * np.minimum(slope, 0.0)
        there = a.moved(step, longest, y, change)
        there.values, there.jacobian = barrier.scaled_rows(there)
        good = barrier.merit(there, there.values, there.w) <= enough + longest * slope
        good |= np.maximum(barrier.slopes_and_residuals(there),
                           barrier.complementarity(there, barrier.gaps(there, there.w), a.mu)) <= _CLOSER * error
        good &= there.known
        rest = np.flatnonzero(~good)
        if len(rest):
            lanes, parts = np.tile(rest, len(_SHORTER)), np.repeat(_SHORTER, len(rest)) * longest[np.tile(rest, len(_SHORTER))]
            near = a.some(lanes).moved(step[:, lanes], parts, y[:, lanes], change[:, lanes], parts / longest[lanes])
            near.values, near.jacobian = barrier.scaled_rows(near)
            fine = (barrier.merit(near, near.values, near.w) <= enough[lanes] + parts * slope[lanes]) & near.known
            fine = fine.reshape(len(_SHORTER), -1)
            first = np.argmax(fine, axis=0) * len(rest) + np.arange(len(rest))
            there.put(rest, near.some(first))
            good[rest] = fine.any(axis=0)
        at = a.mu / barrier.gaps(there, there.w)
        there.z = np.minimum(np.maximum(there.z, at / _LARGE), at * _LARGE)
        there.error, self.lanes = a.error, there
        if not good.all():
            lost = np.flatnonzero(~good)
            there.put(lost, a.some(lost))
        return good


def _part(gaps: np.ndarray, steps: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The largest part of the steps, at most 1, that leaves something of every gap."""
    most = np.maximum(_TO_BOUNDARY, 1 - mu)
    return np.minimum(1.0, np.where(steps < 0, -most * gaps / steps, np.inf).min(axis=0, initial=np.inf))
