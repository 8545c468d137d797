"""What the conditions of Fritz John leave of regions with constraints, the last axis a lane for each region:
docs/proofs/stationary_points.md.

A constraint is *tied* on a region unless it is Lipschitz and strictly satisfied on all of it. At a minimiser there are
multipliers of f and of the tied constraints, not all 0, for which the sum of the derivatives by each *free* variable vanishes: a
variable that is no whole number, and whose bounds the region does not reach. Where the gradients of the tied constraints by the
free variables are certainly independent, that of f is not 0, and may be 1. Elsewhere the same holds, without any multipliers, of
the *loose* variables alone: those that no tied constraint reads; and `dependent_gradients.py` asks which multiplier may be the
largest.
"""

from typing import TYPE_CHECKING

import numpy as np

from infimum.bounds.fritz_john.binding_constraints import BindingConstraints, ReducedRegions
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.node import var
from infimum.expr.variable_reads import reads
from infimum.linear_algebra.interval_matrices import Interval, down, exactly, matrix_product, minus, plus, times, transposed, up
from infimum.linear_algebra.lane_algebra import total
from infimum.linear_algebra.least_squares_multipliers import left_inverse, multipliers
from infimum.linear_algebra.positive_definite import midpoint
from infimum.search.policy.bounds import FRITZ_JOHN
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.bounds.fritz_john import dependent_gradients, kkt_conditions
else:
    dependent_gradients = LazyModule("bounds.fritz_john.dependent_gradients")
    kkt_conditions = LazyModule("bounds.fritz_john.kkt_conditions")


class StationarityTest:
    """The conditions for a system within the user's bounds (n). Equations of a Newton step are solved in `sweeps` sweeps."""

    def __init__(self, evaluator: Evaluator, bounds: Interval, sweeps: int = FRITZ_JOHN.sweeps):
        self.evaluator, self.bounds, self.sweeps, system = evaluator, bounds, sweeps, evaluator.system
        self.reads = reads(list(system.rows), var("x", (evaluator.n,)))[1:]

    def __call__(self, lo: np.ndarray, hi: np.ndarray) -> ReducedRegions:
        """For regions (n, N)."""
        with np.errstate(all="ignore"):
            work = _Regions(self, lo, hi)
            work.enclose_multipliers()
            work.test_first_derivatives()
            which = np.flatnonzero(work.usable & ~work.none)
            if len(which):
                work.contract(which)
            which = np.flatnonzero(work.lipschitz & ~(work.known | work.none))
            if len(which):
                ends = (end[:, which] for end in (work.lo, work.hi))
                left = dependent_gradients.by_cases(BindingConstraints(self.evaluator, self.bounds, *ends))
                work.lo[:, which], work.hi[:, which], work.none[which] = left
            return ReducedRegions(work.lo, work.hi, work.none)


class _Regions(BindingConstraints):
    """Regions on the way: `usable` are those of which something can be said, with multipliers in `w`."""

    def __init__(self, about: StationarityTest, lo: np.ndarray, hi: np.ndarray):
        super().__init__(about.evaluator, about.bounds, lo.copy(), hi.copy())
        self.about, self.given, self.known, self.none = about, (lo, hi), self.lipschitz.copy(), np.zeros(lo.shape[1], bool)
        self.loose = self.may_move & ~(self.may_bind[:, None] & about.reads[..., None]).any(axis=0)

    def enclose_multipliers(self) -> None:
        """With independent gradients; by their signs some regions go. Where they may be dependent only loose variables count."""
        slopes = tuple(np.where(self.may_bind[:, None] & self.free & self.known, end[1:], 0.0) for end in self.slopes)
        left = left_inverse(midpoint(slopes))
        self.known &= np.isfinite(left).all(axis=(0, 1))
        left = np.where(self.known, left, 0.0)
        slope = np.where(self.free & self.known, midpoint(tuple(end[0] for end in self.slopes)), 0.0)
        centre = np.where(self.may_bind, -total((left * slope).swapaxes(0, 1)),
                          0.0) if len(left) else np.zeros(self.may_bind.shape)
        gradient = tuple(np.where(self.free, end, 0.0) for end in self.gradient(exactly(centre)))
        w, known = multipliers(left, slopes, gradient, centre, self.may_bind)
        self.known &= known
        w = (np.where(self.at_high & ~self.at_low, np.maximum(w[0], 0.0), w[0]),
             np.where(self.at_low & ~self.at_high, np.minimum(w[1], 0.0), w[1]))
        self.none |= self.known & (w[0] > w[1]).any(axis=0)
        self.w = tuple(np.where(self.known & ~self.none, end, 0.0) for end in w)
        self.may_bind &= self.known
        for mask in (self.free, self.on_low, self.on_high, self.may_move):
            mask &= self.loose | self.known
        self.projection = np.eye(len(self.free))[..., None] * self.free  # about, to the directions along the tied constraints
        for row, other in zip(midpoint(slopes), left, strict=True):
            self.projection -= np.where(self.known, row[:, None] * other, 0.0)
        self.projection = np.where(self.free[:, None] & self.free & self.usable, self.projection, 0.0)

    def gradient(self, w: Interval) -> Interval:
        """Of f + Σ w_k g_k on the regions, (n, N)."""
        found = tuple(np.where(self.usable, end[0], 0.0) for end in self.slopes)
        for k, tied in enumerate(self.may_bind):
            slope = tuple(np.where(tied & self.known, end[1 + k], 0.0) for end in self.slopes)
            found = plus(found, times((w[0][k], w[1][k]), slope))
        return found

    def test_first_derivatives(self) -> None:
        """No minimiser is where the derivative of the Lagrangian function by a free variable cannot vanish, nor one along the
        tied constraints. Towards a bound it may have a sign, and then minimisers lie on that bound."""
        usable, (low, high) = self.usable & ~self.none, self.gradient(self.w)
        rises, falls = low > 0, high < 0
        self.none |= usable & (self.may_move & ((rises & ~self.on_low) | (falls & ~self.on_high))).any(axis=0)
        face_low, face_high = self.faces
        self.hi = np.where(usable & rises & self.on_low, face_low, self.hi)
        self.lo = np.where(usable & falls & self.on_high, face_high, self.lo)
        slopes = tuple(np.where(self.free & self.usable, end[0], 0.0)[:, None] for end in self.slopes)
        found = tuple(end[:, 0] for end in matrix_product(exactly(self.projection), slopes))
        slopes = tuple(np.where(self.free & self.may_bind[:, None], end[1:], 0.0) for end in self.slopes)
        across = matrix_product(exactly(self.projection), transposed(slopes))
        for k in range(len(self.may_bind)):
            found = plus(found, times((self.w[0][k], self.w[1][k]), tuple(end[:, k] for end in across)))
        self.none |= usable & (self.free & ((found[0] > 0) | (found[1] < 0))).any(axis=0)

    # ---- second derivatives
    def contract(self, which: np.ndarray) -> None:
        """A Newton step in variables and multipliers for these regions, where f and all constraints are smooth."""
        def some(a: np.ndarray) -> np.ndarray:
            return np.take(a, which, axis=-1)
        system, n, (lo, hi) = self.evaluator.system, len(self.lo), map(some, self.given)
        w, tied, free, ones = tuple(map(some, self.w)), some(self.may_bind), some(self.free), np.ones((1, len(which)))
        # equations, and inequalities whose multiplier cannot vanish, hold just so
        equal, lower, upper = system.equal[:, None], system.lower[:, None], system.upper[:, None]
        sure = tied & (equal | (w[0] > 0) | (w[1] < 0))
        ends = np.where(sure, np.where(equal | (w[0] > 0), upper, lower), 0.0)
        x, v = (np.minimum(np.maximum(0.5 * a + 0.5 * b, a), b) for a, b in ((lo, hi), w))
        there = self.evaluator.jacobian(x, x)
        found = kkt_conditions.lagrangian(self.evaluator, (lo, hi), tuple(np.concatenate([ones, end]) for end in w))
        matrix = tuple(np.zeros((n + len(v), n + len(v), len(which))) for _ in range(2))
        for whole, h, on_box, at in zip(matrix, found.hessian, map(some, self.slopes), (there.lo, there.hi), strict=True):
            whole[:n, :n] = np.where(free[:, None], h, 0.0)
            whole[:n, n:] = np.where(free[:, None] & tied, at[1:].swapaxes(0, 1), 0.0)
            whole[n:, :n] = np.where(sure[:, None], on_box[1:], 0.0)
        right = there.lo[0], there.hi[0]
        for k, weight in enumerate(v):
            right = plus(right, times(exactly(weight), tuple(np.where(tied[k], at[1 + k], 0.0) for at in (there.lo, there.hi))))
        off, holds = minus((there.value.lo[1:], there.value.hi[1:]), exactly(ends)), np.concatenate([free, sure])
        right = tuple(np.where(holds, np.concatenate(parts), 0.0) for parts in zip(right, off, strict=True))
        usable = found.smooth & np.isfinite(matrix[0] + matrix[1]).all(axis=(0, 1)) & np.isfinite(right[0] + right[1]).all(axis=0)
        deviation = minus(tuple(np.concatenate(parts) for parts in zip((lo, hi), w, strict=True)),
                          exactly(np.concatenate([x, v])))
        low, high, none = _solved(matrix, right, deviation, holds & usable, self.about.sweeps)
        concave = found.hessian[1][np.arange(n), np.arange(n)] < 0
        self.none[which] |= none | (usable & (free & some(self.loose) & concave).any(axis=0))
        use = free & usable & ~none
        self.lo[:, which] = np.where(use, np.maximum(lo, down(x + low[:n])), some(self.lo))
        self.hi[:, which] = np.where(use, np.minimum(hi, up(x + high[:n])), some(self.hi))


def _solved(matrix: Interval, right: Interval, left: Interval, holds: np.ndarray,
            sweeps: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What of `left` (k, N) the equations M d + r = 0 leave of d, those that hold, by sums of multiples of them; and where that
    is nothing."""
    size = len(holds)
    y = _inverses(np.where(holds[:, None] & holds, midpoint(matrix), np.eye(size)[..., None]))
    good = np.isfinite(y).all(axis=(0, 1))
    y, holds = exactly(np.where(holds[:, None] & holds & good, y, 0.0)), holds & good
    matrix, right = matrix_product(y, matrix), tuple(end[:, 0] for end in matrix_product(y, tuple(end[:, None] for end in right)))
    (low, high), none = (end.copy() for end in left), np.zeros(holds.shape[1], bool)
    for i in (*range(size),) * sweeps:
        total_ = tuple(end[i] for end in right)
        for j in range(size):
            if j != i:
                total_ = plus(total_, times((matrix[0][i, j], matrix[1][i, j]), (low[j], high[j])))
        divisor = matrix[0][i, i], matrix[1][i, i]
        solved = holds[i] & ((divisor[0] > 0) | (divisor[1] < 0))
        quotients = [-end / by for end in total_ for by in divisor]
        a, b = np.fmax(low[i], down(np.minimum.reduce(quotients))), np.fmin(high[i], up(np.maximum.reduce(quotients)))
        none |= solved & (a > b)
        use = solved & (a <= b)
        low[i], high[i] = np.where(use, a, low[i]), np.where(use, b, high[i])
    return low, high, none


def _inverses(a: np.ndarray) -> np.ndarray:
    """About the inverses of matrices (k, k, N), by elimination with pivots; not finite where there is none."""
    size, lanes = len(a), a.shape[2]
    a, each = np.concatenate([a, np.repeat(np.eye(size)[..., None], lanes, axis=2)], axis=1), np.arange(lanes)
    for k in range(size):
        pivot = k + np.argmax(np.abs(a[k:, k]), axis=0)
        row = a[pivot, :, each].T
        a[pivot, :, each] = a[k].T
        a[k] = row / row[k]
        others = np.arange(size) != k
        a[others] -= a[others, k][:, None] * a[k]
    return a[:, size:]
