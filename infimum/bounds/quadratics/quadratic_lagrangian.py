"""A lower bound over the whole box for quadratic functions with quadratic constraints: a Lagrangian function that products of
constraints make convex. See docs/proofs/quadratic.md.

At the feasible points of a box, the slacks s_i of bounds and linear inequalities are not negative, and h_k = 0 for linear
equations. So

    L(x) = f(x) + Σ w_k (g_k(x) - e_k) - Σ v_ij s_i(x) s_j(x) + Σ h_k(x) m_k·(x - c),    v_ij >= 0,

is at most f there, for any numbers w_k with the ends e_k, and any vectors m_k. It is quadratic: if its second derivatives, which
are the same everywhere, are positive definite with Σ t_i (x_i - c_i)² / 2 added, it lies above its tangent at c less that sum.
With the multipliers of a solution c and good weights (`constraint_products.py`), the bound is often f(c).
"""

import numpy as np

from infimum.bounds.quadratics.quadratic_multipliers import is_active, multipliers_for
from infimum.bounds.quadratics.quadratic_proof import Coefficients, curvature_of, proved_lower_bound
from infimum.evaluation.evaluator import Evaluator
from infimum.linear_algebra.lane_algebra import total
from infimum.linear_algebra.positive_definite import midpoint
from infimum.search.policy.bounds import QUADRATIC_PROBLEMS as POLICY
from infimum.structure.degree import degrees


class QuadraticLagrangian:
    """Of a system; `applies` if it is quadratic, and not too large. `starts` (n, N) are points from which a better one may be
    found than that of the last bound, if that was not good enough, and all constraints are linear: otherwise it is mostly the
    relaxation that is not exact. `steps` are those that all bounds have taken together."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.system, self.n = evaluator, evaluator.system, evaluator.n
        sized = (1 + self.system.m) * self.n * (self.n + 2) <= POLICY.most_elements
        found = degrees((self.system.f, *self.system.bodies)) if sized else ()
        degree = np.concatenate([np.zeros(0, int), *(part.ravel() for part in found)])
        self.linear = degree[1:] <= 1 if sized and (degree <= 2).all() else None
        self.starts: np.ndarray | None = None
        self.steps = 0

    @property
    def applies(self) -> bool:
        return self.linear is not None

    def bound(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, multipliers: np.ndarray, gap: float,
              most_steps: float = np.inf) -> float:
        """f is certainly not below this at the feasible points of the bounded box [lo, hi]; -inf where nothing is known.

        `multipliers` (m) and the point x may be any; the bound is good if they belong to a solution. A bound that is off by less
        than `gap` is as good as any; the search for it ends after about `most_steps`.
        """
        self.starts = None
        if not (np.isfinite(lo) & np.isfinite(hi)).all():
            return -np.inf
        with np.errstate(all="ignore"):
            w = self._usable(multipliers)
            x = self._at_ends(lo, hi, np.minimum(np.maximum(x, lo), hi), w)
            read = None if x is None else self._read(x)
            if read is None:
                return -np.inf
            given, search = multipliers_for(self.system, read, (lo, hi), x, w, gap, most_steps)
            self.steps += search.steps
            found = proved_lower_bound(self.system, read, lo, hi, x, given)
            ended = search.directions is not None and search.steps < most_steps
            if ended and self.linear.all() and not found >= read.value[0][0] - gap:
                self.starts = _starts(search.directions, lo, hi, x)
            return found

    def _usable(self, w: np.ndarray) -> np.ndarray:
        """0 for multipliers whose constraint has no such end."""
        w = np.where(np.isfinite(w), w, 0.0)
        return np.where(np.isfinite(np.where(w > 0, self.system.upper, self.system.lower)), w, 0.0)

    def _at_ends(self, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, w: np.ndarray) -> np.ndarray | None:
        """x, at its bounds where a solution is."""
        read, width = self._read(x), hi - lo
        if read is None:
            return None
        steep = total(midpoint(read.slope) * np.append(1.0, w)[:, None]) * width
        steep = steep / np.abs(midpoint(curvature_of(read, w)) * width * width[:, None]).max(initial=0.0)
        x = np.where(is_active((x - lo) / width, steep), lo, x)
        return np.where(is_active((hi - x) / width, -steep), hi, x)

    def _read(self, x: np.ndarray) -> Coefficients | None:
        far = float(np.ldexp(1.0, min(int(np.frexp(np.abs(x).max(initial=1.0))[1]), POLICY.largest_exponent)))
        points = np.concatenate([x[:, None], np.zeros((self.n, 1)), far * np.eye(self.n)], axis=1)
        at = self.evaluator.jacobian(points, points)
        ends = at.value.lo, at.value.hi, at.lo, at.hi
        if not (at.value.lipschitz.all() and all(np.isfinite(end).all() for end in ends)):
            return None
        return Coefficients((at.value.lo[:, 0], at.value.hi[:, 0]), (at.lo[..., 0], at.hi[..., 0]),
                            (at.lo[..., 1:], at.hi[..., 1:]), far, self.linear)


def _starts(directions: np.ndarray, lo: np.ndarray, hi: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Points (n, N) on the way from x along the largest of these directions, and the main one, both ways."""
    largest = np.argsort(-np.diag(directions), kind="stable")[:POLICY.start_columns]
    main = directions[:, largest[0]]
    for _ in range(POLICY.start_powers):
        main = total(directions * main[:, None])
        main = main / np.abs(main).max()
    ways = np.concatenate([main[:, None], -main[:, None], directions[:, largest] * np.where(x == hi, -1.0, 1.0)[largest]], axis=1)
    ways = ways / np.abs(ways).max(axis=0)
    points = x[:, None] + (hi - lo)[:, None] * np.concatenate([part * ways for part in POLICY.start_lengths], axis=1)
    return np.minimum(np.maximum(points, lo[:, None]), hi[:, None])
