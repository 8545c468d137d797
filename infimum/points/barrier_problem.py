"""The barrier problem of a function with constraints, in many lanes: its variables, its merit function and the errors of its
conditions. Estimates."""

from dataclasses import fields, replace
from functools import cache

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import log_of_product, total
from infimum.search.policy.points import INTERIOR_POINT as POLICY
from infimum.support.lazy import dataclass


@dataclass
class BarrierLanes:
    """What belongs to each lane, its last axis. w are x and the slacks s of inequalities together, z the multipliers of their
    lower bounds, then of their upper ones, y those of the constraints."""

    number: np.ndarray
    free: np.ndarray      # which variables may move; the others have infinite bounds here
    unit: np.ndarray      # of the variables
    sigma: np.ndarray     # of the rows
    lo: np.ndarray        # of w
    hi: np.ndarray
    w: np.ndarray
    z: np.ndarray
    y: np.ndarray
    mu: np.ndarray
    penalty: np.ndarray
    curved: np.ndarray    # what was added to the diagonal last
    error: np.ndarray
    values: np.ndarray    # of the rows, scaled
    jacobian: np.ndarray
    gaps: np.ndarray      # to the lower bounds, then to the upper ones
    logs: np.ndarray      # of all gaps together
    residual: np.ndarray  # c - b, or c - s
    broken: np.ndarray    # the sum of all residuals
    size: np.ndarray      # of the multipliers
    least: np.ndarray     # of all gaps times their multipliers
    most: np.ndarray
    others: np.ndarray    # the error of all conditions but complementarity

    @property
    def count(self) -> int:
        return len(self.number)

    @property
    def known(self) -> np.ndarray:
        """Has everything a value?"""
        return np.isfinite(self.values).all(axis=0) & np.isfinite(self.jacobian).all(axis=(0, 1))

    def some(self, these: np.ndarray) -> "BarrierLanes":
        return BarrierLanes(*[getattr(self, name).take(these, axis=-1) for name in _names()])

    def put(self, these: np.ndarray, lanes: "BarrierLanes") -> None:
        for name in _names():
            getattr(self, name)[..., these] = getattr(lanes, name)

    def moved(self, step: np.ndarray, part: np.ndarray, y: np.ndarray, change: np.ndarray,
              of_y: "np.ndarray | float" = 1.0) -> "BarrierLanes":
        """By a part of the step; the multipliers change by theirs. What follows from that is yet to be computed."""
        return replace(self, w=np.minimum(np.maximum(self.w + part * step, self.lo), self.hi),
                       y=self.y + of_y * (y - self.y), z=self.z + change, penalty=self.penalty.copy(), mu=self.mu.copy())

    @property
    def merit(self) -> np.ndarray:
        return self.values[0] - self.mu * self.logs + self.penalty * self.broken

    def error_at(self, mu: "np.ndarray | float") -> np.ndarray:
        """Of all conditions: how far products of gaps and multipliers are from μ as well."""
        return np.maximum(self.others, np.fmax(np.fmax(self.most - mu, mu - self.least), 0.0) / self.size)


@cache
def _names() -> list[str]:
    return [f.name for f in fields(BarrierLanes)]


class BarrierProblem:
    """Minimise f - μ Σ log of all gaps, where c(x) = b in the equations and c(x) = s in the inequalities that have an end."""

    def __init__(self, evaluator: Evaluator):
        system = evaluator.system
        self.evaluator, self.n, self.evaluations = evaluator, evaluator.n, 0
        self.used = np.flatnonzero(np.isfinite(system.lower) | np.isfinite(system.upper))
        self.equal = system.equal[self.used]
        self.lower, self.upper = (end[self.used, None] for end in (system.lower, system.upper))
        self.every = np.concatenate([[0], 1 + self.used])
        self.curved = np.isin(self.every, evaluator.curved_rows[0])

    def rows(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """f and the constraints that are used at points (n, N), and their derivatives."""
        self.evaluations += x.shape[1]
        values, jacobian = self.evaluator.estimate_jacobian(x)
        return (values, jacobian) if len(self.every) == len(values) else (values[self.every], jacobian[self.every])

    def place(self, a: BarrierLanes) -> None:
        """What the places of the lanes alone tell; what is held may have an infinite slope."""
        values, jacobian = self.rows(a.w[:self.n])
        a.values, a.jacobian = values / a.sigma, np.where(a.free, jacobian / a.sigma[:, None], 0.0)
        self._measure(a)

    def _measure(self, a: BarrierLanes) -> None:
        a.gaps = np.concatenate([a.w - a.lo, a.hi - a.w])
        a.logs = log_of_product(np.where(a.gaps < np.inf, a.gaps, 1.0))
        wanted = self.lower / a.sigma[1:]
        wanted[~self.equal] = a.w[self.n:]
        a.residual = a.values[1:] - wanted
        a.broken = total(np.abs(a.residual))

    def judge(self, a: BarrierLanes) -> None:
        """What multipliers tell beside that. Those of bounds are kept within reach of μ over the gap."""
        at = a.mu / a.gaps
        a.z = np.minimum(np.maximum(a.z, at / POLICY.largest_ratio), at * POLICY.largest_ratio)
        self._judge(a)

    def _judge(self, a: BarrierLanes) -> None:
        n, k = self.n, len(a.w)
        products = np.where(a.gaps < np.inf, a.z * a.gaps, np.nan)
        a.least, a.most = np.fmin.reduce(products), np.fmax.reduce(products)
        a.size = np.maximum(100.0, (total(np.abs(a.y)) + total(a.z)) / (len(a.y) + len(a.z))) / 100
        z = a.z[:k] - a.z[k:]
        slope = np.abs((a.jacobian[0] + total(a.jacobian[1:] * a.y[:, None]) - z[:n]) * a.unit)
        slack = np.abs(a.y[~self.equal] + z[n:])
        of_slopes = np.concatenate([np.where(a.free, slope, 0.0), slack]).max(axis=0) / a.size
        a.others = np.maximum(of_slopes, np.abs(a.residual).max(axis=0, initial=0.0))

    def weighted_slopes(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """The gradient of the sum of all rows times weights."""
        return self._weighted(self.evaluator, x, self._of_all(weights))

    def curved_slopes(self, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        """That of the sum of those rows that may not be linear."""
        numbers, evaluator = self.evaluator.curved_rows
        return np.zeros(x.shape) if evaluator is None else self._weighted(evaluator, x, self._of_all(weights)[numbers])

    def _of_all(self, weights: np.ndarray) -> np.ndarray:
        """Weights of all rows, of those that are not used 0."""
        every = np.zeros((1 + self.evaluator.system.m, weights.shape[1]))
        every[self.every] = weights
        return every

    def _weighted(self, evaluator: Evaluator, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
        self.evaluations += x.shape[1]
        return evaluator.estimate_weighted(x, weights)[1]

    def lanes(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, mu: np.ndarray,
              multipliers: np.ndarray | None) -> BarrierLanes:
        """Lanes that begin about there with these μ (N,), those at which everything has a value."""
        with np.errstate(all="ignore"):
            free, width = hi > lo, hi - lo
            x = np.where(free,
                         _pushed_inside(x, lo, hi, POLICY.first_gap * mu, np.maximum(1.0, np.abs(lo)),
                                        np.maximum(1.0, np.abs(hi))), lo)
            unit = np.where(free, np.minimum(width, np.maximum(1.0, np.abs(x))), 1.0)
            values, jacobian = self.rows(x)
            jacobian = np.where(free, jacobian, 0.0)
            steep = np.abs(jacobian * unit).max(axis=1)
            sigma = np.where(steep > 0, np.maximum(steep, POLICY.least_scale * np.abs(values)), np.maximum(1.0, np.abs(values)))
            values, jacobian = values / sigma, jacobian / sigma[:, None]
            low, high = ((end / sigma[1:])[~self.equal] for end in (self.lower, self.upper))
            if not free.all():  # an inequality of variables that are held has no say: it may leave no room to a slack
                said = self.evaluator.reads[self.used[~self.equal]] @ free
                low, high = np.where(said, low, -np.inf), np.where(said, high, np.inf)
            s = _pushed_inside(values[1:][~self.equal], low, high, POLICY.first_gap * mu, 1.0, 1.0)
            lo, hi = np.concatenate([np.where(free, lo, -np.inf), low]), np.concatenate([np.where(free, hi, np.inf), high])
            w, count = np.concatenate([x, s]), x.shape[1]
            z = mu / np.concatenate([w - lo, hi - w])
            y = np.zeros((len(self.used), count)) if multipliers is None else multipliers[self.used] / sigma[0] * sigma[1:]
            none = np.full(count, np.inf)
            whole = BarrierLanes(np.arange(count), free, unit, sigma, lo, hi, w, z, y, mu, np.ones(count), np.zeros(count),
                                 none, values, jacobian, w, *[none] * 7)
            self._measure(whole)
            self._judge(whole)
        return whole.some(np.flatnonzero(whole.known))


def _pushed_inside(x: np.ndarray, lo: np.ndarray, hi: np.ndarray, part: np.ndarray, *sizes: "np.ndarray | float") -> np.ndarray:
    """Away from the bounds, by a part of these sizes or of the width."""
    low, high = (part * np.minimum(size, hi - lo) for size in sizes)
    return np.minimum(np.maximum(x, np.where(lo > -np.inf, lo + low, lo)), np.where(hi < np.inf, hi - high, hi))
