"""Weights of products of constraints, with which a quadratic Lagrangian function is convex: a semidefinite program. Estimates.

Around a local solution the slacks s_i ≥ 0 of bounds and linear inequalities are s_i + d_i·z. Products s_i s_j, of which at least
one is 0 at z = 0, are taken off with weights v_ij ≥ 0: the curvature K becomes K - Dᵀ V D. Where i alone is 0 there, s_i s_j
has a slope, which must not exceed the multiplier of i: Σ v_ij s_j ≤ p_i. Sought is the least δ for which K - DᵀVD + δ is
positive definite on the space of all z that are orthogonal to the gradients of equations.

A barrier method: τ δ - log det - ω Σ log v_ij - ω Σ log (p_i - Σ v_ij s_j) is made least for a growing τ, by Newton's method with
conjugate gradients, which need products of matrices of the size of z alone. It ends as soon as δ is small enough, or it is known
that it cannot become so small, or the steps of conjugate gradients are used up that it may take.
"""

from typing import NamedTuple

import numpy as np

from infimum.linear_algebra.lane_algebra import inverse, inverse_factor, total
from infimum.search.policy.bounds import CONSTRAINT_PRODUCTS as POLICY
from infimum.support.clock import stop_if_over


class Slacks(NamedTuple):
    """Those of lower bounds, upper bounds and linear inequalities, in this order, in units in which a variable's width is 1: the
    gradients of the last (p, n), and of all what they are at z = 0, those that vanish being 0; their multipliers; and which
    there are."""

    rows: np.ndarray
    values: np.ndarray
    multipliers: np.ndarray
    known: np.ndarray


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a b, terms added in their order.

    >>> product(np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]]))
    array([[11.]])
    """
    if a.shape[0] * b.shape[1] <= POLICY.elements_at_once:
        return total(a.T[:, :, None] * b[:, None])
    found, term = np.zeros((a.shape[0], b.shape[1])), np.empty((a.shape[0], b.shape[1]))
    for column, row in zip(a.T, b, strict=True):
        np.multiply(column[:, None], row, out=term)
        found += term
    return found


def _sum(a: np.ndarray) -> float:
    return float(total(total(a))) if a.ndim == 2 else float(total(a))


class ProductWeightSearch:
    """The search. `across` (n, q) are orthonormal vectors that span the gradients of the equations."""

    def __init__(self, curvature: np.ndarray, slacks: Slacks, across: np.ndarray):
        self.rows, self.across, n = slacks.rows, across, len(curvature)
        self.n, self.size = n, max(float(np.abs(curvature).max(initial=0.0)), 2.0**-500)
        self.along = np.eye(n) - product(across, across.T)
        self.curvature = self._projected(curvature / self.size)
        limits, there = slacks.multipliers / self.size, slacks.known & (slacks.values == 0)
        self.limited = there & (limits > POLICY.least_multiplier * limits.max(initial=0.0))
        away = slacks.known & (slacks.values > 0)
        self.used = there[:, None] & there | self.limited[:, None] & away | away[:, None] & self.limited
        np.fill_diagonal(self.used, False)
        self.slope = np.where(self.limited[:, None] & away, slacks.values, 0.0)  # of the product i j, of the slack i
        self.limits = np.where(self.limited, limits, 1.0)
        self.directions: np.ndarray | None = None  # Σ z zᵀ of those z along which the function may fall
        self.steps = 0  # of conjugate gradients, until now
        self._begin()

    def _projected(self, a: np.ndarray) -> np.ndarray:
        return product(product(self.along, a), self.along) if self.across.size else a

    def _begin(self) -> None:
        count = total(self.slope.T)
        most = np.where(self.slope > 0, (POLICY.first_share * self.limits / np.where(count > 0, count, 1.0))[:, None], np.inf)
        self.v = np.where(self.used, np.minimum(np.minimum(most, most.T), POLICY.first_weight), 0.0)
        matrix = self.curvature - self.form(self.v)
        self.delta = 1.5 * float(total(np.abs(matrix)).max()) + 0.1  # no eigenvalue lies below minus this sum
        self.tau = 2.0 * self.n / self.delta

    def form(self, v: np.ndarray) -> np.ndarray:
        """Dᵀ V D: gradients of bounds are unit vectors."""
        n, rows = self.n, self.rows
        found = v[:n, :n] - v[:n, n:2 * n] - v[n:2 * n, :n] + v[n:2 * n, n:2 * n]
        if len(rows):
            mixed = product(rows.T, v[2 * n:, :n] - v[2 * n:, n:2 * n])
            found = found + mixed + mixed.T + product(product(rows.T, v[2 * n:, 2 * n:]), rows)
        return found

    def _between(self, w: np.ndarray) -> np.ndarray:
        """D W Dᵀ."""
        beside = product(self.rows, w)
        both = np.concatenate([np.concatenate([w, -w, beside.T], axis=1), np.concatenate([-w, w, -beside.T], axis=1)])
        return np.concatenate([both, np.concatenate([beside, -beside, product(beside, self.rows.T)], axis=1)])

    def _inverse(self, v: np.ndarray, delta: float) -> np.ndarray | None:
        """Of K - DᵀVD + δ along the equations; None where it is not positive definite."""
        across = product(self.across, self.across.T)
        matrix = self.curvature - self._projected(self.form(v)) + delta * self.along + across
        factor = inverse_factor(matrix[..., None])[..., 0]
        return inverse(factor[..., None])[..., 0] - across if np.isfinite(factor).all() else None

    def _left(self, v: np.ndarray) -> np.ndarray:
        return self.limits - total((self.slope * v).T)

    def _both(self, per_slack: np.ndarray) -> np.ndarray:
        """What a number of each slack that is limited says of the products."""
        terms = self.slope * np.where(self.limited, per_slack, 0.0)[:, None]
        return 0.5 * (terms + terms.T)

    def run(self, enough: float, most_steps: float = np.inf) -> tuple[np.ndarray, float]:
        """The weights, and δ with which the matrix is positive definite; `enough` is as small as δ need be."""
        enough, half = enough / self.size, 0.5 * POLICY.omega
        if self._inverse(np.zeros_like(self.v), enough) is not None:
            return np.zeros_like(self.v), enough * self.size
        limit = self.n + POLICY.omega * (0.5 * np.count_nonzero(self.used) + np.count_nonzero(self.limited))
        w = self._inverse(self.v, self.delta)
        for _ in range(POLICY.newton_steps):
            stop_if_over()
            if w is None or self.delta <= enough or not _sum(w * w) > 0:  # equations may leave no direction
                break
            if self.steps >= most_steps:
                break
            self.directions = w
            safe, left = np.where(self.used, self.v, 1.0), self._left(self.v)
            slope = self._slope(w, safe, left)
            change, grown, decrement = self._direction(w, safe, left, slope, self.tau - _sum(np.diag(w)), half)
            found = self._search(change, grown)
            if found is None:
                break
            self.v, self.delta, w = found
            if decrement < POLICY.centred:
                if self.delta - POLICY.safety_factor * limit / self.tau > max(enough, 0.0):
                    break
                self.tau *= POLICY.raised
        return self.v * self.size, self.delta * self.size

    def _slope(self, w: np.ndarray, safe: np.ndarray, left: np.ndarray) -> np.ndarray:
        return np.where(self.used, self._between(w) - 0.5 * POLICY.omega / safe + self._both(POLICY.omega / left), 0.0)

    def _direction(self, w: np.ndarray, safe: np.ndarray, left: np.ndarray, slope: np.ndarray, steep: float,
                   half: float) -> tuple[np.ndarray, float, float]:
        """Newton's step of the weights and of δ, and what it promises."""
        between, sharp = self._between(w), half / (safe * safe)
        own = np.diag(between)
        diagonal = own[:, None] * own + between * between + sharp
        narrow = self.slope * self.slope * np.where(self.limited, POLICY.omega / (left * left), 0.0)[:, None]
        scale, scale_delta = 1.0 / (diagonal + 0.5 * (narrow + narrow.T)), 1.0 / _sum(w * w)
        found, grown = np.zeros_like(safe), 0.0
        rest, rest_delta = -slope, -steep
        move, move_delta = scale * rest, scale_delta * rest_delta
        now = first = _sum(rest * move) + rest_delta * move_delta
        for _ in range(POLICY.conjugate_gradient_steps):
            self.steps += 1
            turned = product(product(w, self.form(move) - move_delta * self.along), w)
            turned = 0.5 * (turned + turned.T)
            bent = self._between(turned) + sharp * move + self._both(POLICY.omega * total((self.slope * move).T) / (left * left))
            bent, bent_delta = np.where(self.used, bent, 0.0), -_sum(np.diag(turned))
            along_move = _sum(move * bent) + move_delta * bent_delta
            if not along_move > 0:
                break
            length = now / along_move
            found, grown = found + length * move, grown + length * move_delta
            rest, rest_delta = rest - length * bent, rest_delta - length * bent_delta
            towards, towards_delta = scale * rest, scale_delta * rest_delta
            before, now = now, _sum(rest * towards) + rest_delta * towards_delta
            if not now > POLICY.solved * first:
                break
            move, move_delta = towards + now / before * move, towards_delta + now / before * move_delta
        return found, grown, -(_sum(slope * found) + steep * grown)

    def _search(self, change: np.ndarray, grown: float) -> tuple[np.ndarray, float, np.ndarray] | None:
        """As far as the function falls, which is convex: where it rises along the step, that was too far."""
        used, left = total((self.slope * change).T), self._left(self.v)
        with np.errstate(all="ignore"):
            part = min(np.where(change < 0, -self.v / change, np.inf).min(initial=np.inf),
                       np.where(self.limited & (used > 0), left / used, np.inf).min(initial=np.inf))
        length = min(1.0, POLICY.to_boundary * float(part))
        for _ in range(POLICY.halvings):
            v, delta = self.v + length * change, self.delta + length * grown
            w = self._inverse(v, delta)
            if w is not None:
                slope = self._slope(w, np.where(self.used, v, 1.0), self._left(v))
                if _sum(slope * change) + (self.tau - _sum(np.diag(w))) * grown <= 0 or length < 0.01:
                    return v, delta, w
            length *= 0.5
        return None
