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

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import applied, gram, total
from infimum.points.barrier_problem import BarrierLanes, BarrierProblem
from infimum.search.policy.points import INTERIOR_POINT as POLICY


class InteriorEnds(NamedTuple):
    """Where lanes ended: points (n, N), f there, multipliers y (m, N) with which ∇f + Σ y ∇c vanishes but for what bounds take,
    and the error of all conditions, relative to the scales of the rows; infinite where nothing could be evaluated."""

    x: np.ndarray
    value: np.ndarray
    multipliers: np.ndarray
    error: np.ndarray


class InteriorPoint:
    """Begins at points (n, N), between bounds (n, N) of their own, with multipliers (m, N) of the constraints if there are any;
    variables whose bounds are equal are held. μ goes from `first`, which each lane may have of its own, to `last`."""

    def __init__(self, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, points: np.ndarray,
                 first: "float | np.ndarray" = POLICY.first_barrier, last: float = POLICY.last_barrier,
                 multipliers: np.ndarray | None = None):
        self.barrier, self.last = BarrierProblem(evaluator), last
        self.n, self.equal, self.solve_symmetric = self.barrier.n, self.barrier.equal, evaluator.host_arrays.solve_symmetric
        count = points.shape[1]
        self.ends = InteriorEnds(points.copy(), np.full(count, np.inf), np.zeros((evaluator.system.m, count)),
                                 np.full(count, np.inf))
        self.lanes = self.barrier.lanes(lo, hi, points, np.full(count, first), multipliers)
        self._least, self._since = np.full(count, np.inf), np.zeros(count, np.int64)  # errors, and the steps that led to them

    @property
    def evaluations(self) -> int:
        return self.barrier.evaluations

    def run(self, steps: int) -> InteriorEnds:
        """Up to the given number of steps of all lanes."""
        for _ in self.steps(steps):
            pass
        return self.ends

    def steps(self, most: int, patience: int | None = None, settled: bool = False, few: int = 0) -> Iterator[None]:
        """The same, in pieces. Lanes whose error was not halved for `patience` steps end once a lane has converged, or from the
        beginning where it is `settled`, and otherwise after twice as many; when only `few` are left and none of them is below one
        that has converged, all end."""
        for step in range(most):
            with np.errstate(all="ignore"):
                self._end_those(self._lower_mu())
                if patience is not None:
                    settled = settled or (self.ends.error <= 2 * self.last).any()
                    self._end_those(self._stuck(step, patience if settled else 2 * patience))
                if self.lanes.count:
                    self._end_those(~self._step())
            yield
            if not self.lanes.count:
                return
            if self.lanes.count <= few and self._is_lowest_known():
                break
        self._end_those(np.ones(self.lanes.count, bool))

    def _is_lowest_known(self) -> bool:
        """Has a lane converged, and to a value below which no other is yet?"""
        known = self.ends.value[self.ends.error <= 2 * self.last].min(initial=np.inf)
        return known < np.inf and not (self.lanes.values[0] * self.lanes.sigma[0] < known).any()

    def _stuck(self, step: int, patience: int) -> np.ndarray:
        a = self.lanes
        gained = a.error <= self._least[a.number] / 2
        self._least[a.number[gained]], self._since[a.number[gained]] = a.error[gained], step
        return step - self._since[a.number] >= patience

    def _end_those(self, ended: np.ndarray) -> None:
        if ended.any():
            a, these = self.lanes, np.flatnonzero(ended)
            number, values, sigma, y = a.number[these], a.values[0, these], a.sigma[:, these], a.y[:, these]
            self.ends.x[:, number], self.ends.value[number] = a.w[:self.n, these], values * sigma[0]
            self.ends.multipliers[np.ix_(self.barrier.used, number)] = y / sigma[1:] * sigma[0]
            self.ends.error[number] = np.where(np.isnan(a.error[these]), np.inf, a.error[these])
            self.lanes = a.some(np.flatnonzero(~ended))

    def _lower_mu(self) -> np.ndarray:
        """Where the barrier's problem is solved well enough. Which lanes have ended?"""
        a = self.lanes
        for _ in range(4):
            lower = (a.error_at(a.mu) <= POLICY.solved_error * a.mu) & (a.mu > self.last)
            if not lower.any():
                break
            a.mu = np.where(lower, np.maximum(self.last, np.minimum(POLICY.barrier_reduction * a.mu, a.mu * np.sqrt(a.mu))), a.mu)
            a.penalty = np.where(lower, 1.0, a.penalty)
        a.error = a.error_at(0.0)
        return a.error <= 2 * self.last

    def _step(self) -> np.ndarray:
        """Which lanes have moved?"""
        a = self.lanes
        inverse, k = 1 / a.gaps, len(a.w)
        towards, sigma = a.mu * inverse, a.z * inverse
        pull = towards[:k] - towards[k:]
        step, y, good = self._direction(a, pull, sigma[:k] + sigma[k:])
        both = np.concatenate([step, -step])
        change = towards - a.z - sigma * both
        longest = _part(both * inverse, a.mu)
        return self._search(a, step, pull, y, _part(change / a.z, a.mu) * change, longest) & good

    # ---- in which direction
    def _direction(self, a: BarrierLanes, pull: np.ndarray, sigma: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Newton's step of w, the new y, and where there is one."""
        n, equal, residual = self.n, self.equal, a.residual
        jacobian = a.jacobian * a.unit
        among, beside = jacobian[1:][equal], jacobian[1:][~equal]
        each, count = np.arange(n), len(among)
        matrix = self._curvature(a) + gram(beside, sigma[n:])
        matrix[each, each] += np.where(a.free, sigma[:n] * a.unit * a.unit, 1.0)
        right = np.where(a.free, pull[:n] * a.unit - jacobian[0], 0.0)
        right -= total(beside * (sigma[n:] * residual[~equal] - pull[n:])[:, None])
        size = np.maximum(np.abs(matrix[each, each]).max(axis=0), POLICY.least_shift)
        steep = total((among * among).swapaxes(0, 1))
        fixed, steep = steep == 0, np.maximum(steep, POLICY.least_shift)  # an equation of variables that are held has no say
        weight, small = np.where(fixed, 0.0, POLICY.equation_weight * size / steep), np.where(fixed, 1.0,
                                                                                        POLICY.regularisation * steep / size)
        whole = np.zeros((n + count, n + count, a.count))
        whole[:n, :n], whole[:n, n:], whole[n:, :n] = matrix + gram(among, weight), among.swapaxes(0, 1), among
        whole[np.arange(n, n + count), np.arange(n, n + count)] = -small
        right = np.concatenate([right - total(among * (weight * residual[equal])[:, None]),
                                -residual[equal] - small * a.y[equal]])
        found, good = self._solve(a, whole, right, size)
        y, moved = np.empty_like(a.y), applied(beside, found[:n]) + residual[~equal]
        y[equal], y[~equal] = found[n:], sigma[n:] * moved - pull[n:]
        return np.concatenate([np.where(a.free, a.unit * found[:n], 0.0), moved]), y, good

    def _solve(self, a: BarrierLanes, whole: np.ndarray, right: np.ndarray, size: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """With more and more on the diagonal of the variables, where the matrix is not convex along the equations."""
        first = np.maximum(POLICY.first_shift * size, POLICY.shift_reduction * a.curved)
        found, good, added = self.solve_symmetric(whole, right, self.n, first, POLICY.shift_growth, POLICY.shift_tries)
        a.curved = np.where(added > 0, added, a.curved * POLICY.shift_reduction)
        return found, good

    def _curvature(self, a: BarrierLanes) -> np.ndarray:
        """Second derivatives of f + Σ y c by differences of first ones, in units of the variables, away from the nearer bound;
        where most rows are linear, of the others alone."""
        n, x, each = self.n, a.w[:self.n], np.arange(self.n)
        inward = np.where(x - a.lo[:n] > a.hi[:n] - x, -1.0, 1.0)
        places = np.repeat(x[:, None], n, axis=1)
        places[each, each] += inward * POLICY.difference_step * np.maximum(np.abs(x), a.unit)
        apart, places = places[each, each] - x, places.reshape(n, -1)
        multipliers = np.concatenate([np.ones((1, a.count)), a.y])
        weights, known = multipliers / a.sigma, a.jacobian * multipliers[:, None]
        if 2 * self.barrier.curved.sum() <= len(weights):
            slopes = self.barrier.curved_slopes(places, np.tile(weights, n)).reshape(n, n, -1)
            known = known[self.barrier.curved]
        elif len(weights) * n * n * a.count > POLICY.most_numbers:
            slopes = self.barrier.weighted_slopes(places, np.tile(weights, n)).reshape(n, n, -1)
        else:
            slopes = total(self.barrier.rows(places)[1].reshape(-1, n, n, a.count) * weights[:, None, None])
        matrix = (slopes - total(known)[:, None]) / apart * a.unit[:, None] * a.unit
        matrix = np.where(np.isfinite(matrix) & (a.free if a.free.all() else a.free[:, None] & a.free), matrix, 0.0)
        return (matrix + matrix.swapaxes(0, 1)) / 2

    # ---- how far
    def _search(self, a: BarrierLanes, step: np.ndarray, pull: np.ndarray, y: np.ndarray, change: np.ndarray,
                longest: np.ndarray) -> np.ndarray:
        """Moves the lanes as far as that lowers the merit function, or the error of all conditions. Which have moved?"""
        barrier = self.barrier
        a.penalty = np.maximum(a.penalty, 1.5 * np.abs(y).max(axis=0, initial=0.0))
        slope = total(a.jacobian[0] * step[:self.n]) - total(pull * step) - a.penalty * a.broken
        merit = a.merit
        enough, slope = merit + POLICY.rounding * np.abs(merit), POLICY.armijo * np.minimum(slope, 0.0)
        there = a.moved(step, longest, y, change)
        barrier.place(there)
        barrier.judge(there)
        good = (there.merit <= enough + longest * slope) | (there.error_at(a.mu) <= POLICY.error_reduction * a.error_at(a.mu))
        good &= there.known
        rest = np.flatnonzero(~good)
        if len(rest):
            lanes = np.tile(rest, len(POLICY.step_lengths))
            parts = np.repeat(POLICY.step_lengths, len(rest)) * longest[lanes]
            near = a.some(lanes).moved(step[:, lanes], parts, y[:, lanes], change[:, lanes], parts / longest[lanes])
            barrier.place(near)
            fine = (near.merit <= enough[lanes] + parts * slope[lanes]) & near.known
            fine = fine.reshape(len(POLICY.step_lengths), -1)
            near = near.some(np.argmax(fine, axis=0) * len(rest) + np.arange(len(rest)))
            barrier.judge(near)
            there.put(rest, near)
            good[rest] = fine.any(axis=0)
        there.error, self.lanes = a.error, there
        if not good.all():
            lost = np.flatnonzero(~good)
            there.put(lost, a.some(lost))
        return good


def _part(steps: np.ndarray, mu: np.ndarray) -> np.ndarray:
    """The largest part of the steps, each in units of its gap, at most 1, that leaves something of every gap."""
    most = np.maximum(POLICY.to_boundary, 1 - mu)
    return most / np.maximum(most, -np.fmin.reduce(steps, initial=0.0))
