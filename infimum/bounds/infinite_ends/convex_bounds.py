"""Bounds of variables that have none, by convexity: the points that obey all convex constraints, and at which f is not above the
best value if it is convex, form a convex set. A box around a point of that set holds all of the set if the set does not meet
those faces of the box at which the variables have no bound: a way out would lead through one of them. Whether it meets a face is
decided on the box, which is bounded, by linear programs over tangents.

Proof: docs/proofs/convex_bounds.md.
"""

from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import VIEWS
from infimum.expr.node import topological, var
from infimum.linear_algebra.interval_matrices import exactly, times, up
from infimum.problem.system import System
from infimum.relax.convex_quadratics import quadratic_curvatures
from infimum.relax.dense_simplex import solved
from infimum.relax.safe_conclusions import IntervalRows, LinearCost, lowest, usable, weighted
from infimum.search.policy.infinite_ends import CONVEX_BOUNDS as POLICY
from infimum.structure.curvature import CONCAVE, CONVEX, LINEAR, curvatures
from infimum.support.clock import stop_if_over

Box = tuple[np.ndarray, np.ndarray]


def with_convex_bounds(evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, upper: float) -> Box:
    """The box [lo, hi] with ends in the place of infinite and of very far ones, as far as they follow for the points that obey
    all constraints and f <= upper. `x` may be any point; the bounds are good if it obeys the constraints."""
    if not np.isfinite(x).all() or len(lo) > POLICY.most_variables:
        return lo, hi
    x = np.minimum(np.maximum(x, lo), hi)
    with np.errstate(all="ignore"):
        convex = ConvexSet.of(evaluator, lo, hi, x, upper)
        return (lo, hi) if convex is None else _Search(convex, lo, hi, x).result()


class ConvexSet(NamedTuple):
    """Points at which sign times row, a convex function, is not above an end, for each of these rows of the evaluator."""

    evaluator: Evaluator
    row: np.ndarray
    sign: np.ndarray
    end: np.ndarray
    linear: np.ndarray

    @classmethod
    def of(cls, evaluator: Evaluator, lo: np.ndarray, hi: np.ndarray, x: np.ndarray, upper: float) -> "ConvexSet | None":
        """Of the convex rows that are defined at x, and on all of the box or a convex part of it, with ends that are raised where
        that is needed to hold x."""
        system, box, there = evaluator.system, evaluator.rows(lo, hi), evaluator.rows(x, x)
        bits = row_curvatures(system, lo, hi)
        ends = np.append(upper, system.upper), np.append(-np.inf, system.lower)
        usable_rows = there.defined & (box.defined | _have_convex_domains(system))
        found = []
        for sign, curve, end, most in ((1.0, CONVEX, ends[0], there.hi), (-1.0, CONCAVE, -ends[1], -there.lo)):
            raised = np.maximum(end, most)
            fit = usable_rows & ((bits & curve) > 0) & np.isfinite(end) & np.isfinite(raised)
            found += [(k, sign, raised[k], bits[k] == LINEAR) for k in np.flatnonzero(fit)]
        return cls(evaluator, *map(np.array, zip(*found, strict=True))) if found else None

    def tangents(self, points: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Below and above the coefficients (n, N), and the right sides, of tangents at points (n, N), each of one of the rows."""
        at, lanes = self.evaluator.jacobian(points, points), np.arange(points.shape[1])
        row, sign = self.row[rows], self.sign[rows]
        low, high = at.lo[row, :, lanes].T, at.hi[row, :, lanes].T
        least = np.where(sign > 0, at.value.lo[row, lanes], -at.value.hi[row, lanes])
        low, high = np.where(sign > 0, low, -high), np.where(sign > 0, high, -low)
        right = up(self.end[rows] - least)
        for product in times((low, high), exactly(points))[1]:
            right = up(right + product)
        sound = at.value.lipschitz[row, lanes] & np.isfinite(right) & np.isfinite([low, high]).all(axis=(0, 1))
        return low[:, sound], high[:, sound], right[sound]

    def excess(self, points: np.ndarray) -> np.ndarray:
        """By how much points (n, N) violate the rows that are not linear, as part of their ends' size. An estimate."""
        values = self.evaluator.estimate_jacobian(points)[0][self.row] * self.sign[:, None]
        excess = (values - self.end[:, None]) / np.maximum(1.0, np.abs(self.end))[:, None]
        return np.where(self.linear[:, None], -np.inf, np.where(np.isnan(excess), np.inf, excess))


def row_curvatures(system: System, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
    """The bits CONVEX and CONCAVE of f and of each constraint, on the box: by their formulas, or of quadratic functions by their
    second derivatives."""
    found = curvatures((system.f, *system.bodies), lo, hi)
    bits = np.zeros(1 + system.m, int) if found is None else np.concatenate([part.ravel() for part in found])
    unknown = np.flatnonzero(bits == 0)
    bits[unknown] = quadratic_curvatures([system.rows[k] for k in unknown], var("x", lo.shape))
    return bits


def is_convex(system: System, lo: np.ndarray, hi: np.ndarray) -> bool:
    """Is f known to be convex, and not to be linear, where it is defined, and are variables few enough for these bounds?"""
    return len(lo) <= POLICY.most_variables and row_curvatures(system, lo, hi)[0] == CONVEX


# fixed: by the lemma of the proof
_CONVEX_DOMAINS = {"var", "const", "add", "sub", "neg", "mul", "div", "powi", "sum", "exp", "exp2", "log", "log2", "log10",
                   "xlogx", "sqrt", "max", "min", "abs", "hypot", "norm", *VIEWS}


def _have_convex_domains(system: System) -> np.ndarray:
    """For f and each constraint: is it defined on a convex set if it is convex or concave by its formula?"""
    each = [all(node.op in _CONVEX_DOMAINS for node in topological([row])) for row in (system.f, *system.bodies)]
    return np.repeat(each, [1, *(body.size for body in system.bodies)])


class _Search:
    """Looks for the bounds. Ends are numbered: first all lower ones, then all upper ones; `open` are those for which nearer ones
    are looked for, and `reach` is where the smaller box ends, in the place of these."""

    def __init__(self, convex: ConvexSet, lo: np.ndarray, hi: np.ndarray, x: np.ndarray):
        self.convex, self.x, self.n = convex, x, len(x)
        self.ends, self.whole = np.concatenate([lo, hi]), convex.evaluator.system.integers
        self.length = POLICY.first_reach * np.tile(np.maximum(1.0, np.abs(x)), 2)
        self.last = self.length * POLICY.last_reach
        self.open = np.arange(2 * self.n)
        self._stretch()
        self.low, self.high, self.right = np.empty((self.n, 0)), np.empty((self.n, 0)), np.empty(0)
        self.weights: dict[int, np.ndarray] = {}  # multipliers that were found last, for each end
        self.operations = 0
        self._touch(np.repeat(x[:, None], len(convex.row), axis=1), np.arange(len(convex.row)))

    def result(self) -> Box:
        """The ends, with those in the place of infinite ones that are proved."""
        for _ in range(POLICY.most_rounds):
            left = np.array([end for end in self.open if not self._inside(end, self._bound(end))], np.intp)
            if not len(left):
                return self._proved()
            places = self._solve(left)
            stuck = left[~self._cut(places)]
            stuck = stuck[[not self._inside(end, self._bound(end)) for end in stuck]]
            self.length[stuck] *= POLICY.growth
            self._stretch()
            if not len(self.open) or self.operations > POLICY.most_operations:
                break
        return self.ends[:self.n], self.ends[self.n:]

    def _stretch(self) -> None:
        """The smaller box reaches from x this far. Where that is no nearer than the end, or too far, the end stays."""
        away = np.concatenate([self.x - self.length[:self.n], self.x + self.length[self.n:]])
        nearer = np.abs(self.ends - np.tile(self.x, 2)) > self.length
        self.reach = np.where(nearer, away, self.ends)
        self.open = self.open[(nearer & (self.length <= self.last))[self.open]]

    def _inside(self, end: int, bound: float) -> bool:
        """Is a bound of this end nearer than the box reaches? Then the set does not meet that face."""
        return bool(bound > self.reach[end] if end < self.n else bound < self.reach[end])

    def _proved(self) -> Box:
        """All bounds, after the box is known to hold the set: other ends may follow from it too."""
        asked = np.flatnonzero(self.ends != np.roll(self.ends, self.n))
        self._cut(self._solve(asked))
        self._solve(asked)
        found = self.ends.copy()
        found[asked] = [self._bound(end) for end in asked]
        lo, hi = np.maximum(self.ends[:self.n], found[:self.n]), np.minimum(self.ends[self.n:], found[self.n:])
        for i in self.whole:
            if np.ceil(lo[i]) <= np.floor(hi[i]):
                lo[i], hi[i] = np.ceil(lo[i]), np.floor(hi[i])
        return lo, hi

    # ---- linear programs
    def _touch(self, points: np.ndarray, rows: np.ndarray) -> None:
        """Adds tangents of these rows at these points."""
        low, high, right = self.convex.tangents(points, rows)
        self.low, self.high = np.concatenate([self.low, low], axis=1), np.concatenate([self.high, high], axis=1)
        self.right = np.append(self.right, right)

    def _bound(self, end: int) -> float:
        """What the multipliers that were found last prove of this end of the set, in the box in which only open ends are nearer
        than the given ones; nothing if there are no multipliers."""
        n, sign = self.n, 1.0 if end < self.n else -1.0
        if end not in self.weights:
            return -sign * np.inf
        y, box, unit = self.weights[end], self.ends.copy(), np.zeros(n)
        box[self.open], unit[end % n] = self.reach[self.open], sign
        used = np.flatnonzero(y)
        low, high = self.low[:, used].T, self.high[:, used].T
        entries = (low != 0) | (high != 0)
        rows = IntervalRows(*np.nonzero(entries), low[entries], high[entries], np.full(len(used), -np.inf), self.right[used])
        return sign * lowest(weighted(rows, usable(rows, y[used]), LinearCost(unit, unit, 0.0)), box[:n], box[n:])

    def _solve(self, asked: np.ndarray) -> np.ndarray:
        """Better multipliers for these ends, and where the linear programs have their solutions (n, asked)."""
        begin, width = self.reach[:self.n], self.reach[self.n:] - self.reach[:self.n]
        middle = 0.5 * (self.low + self.high)
        matrix, offset = middle.T * width, self.right.copy()
        for i in range(self.n):
            offset = offset - middle[i] * begin[i]
        scale = np.maximum(np.abs(matrix).max(axis=1, initial=0.0), np.finfo(float).tiny)
        matrix, offset, places = matrix / scale[:, None], offset / scale, np.empty((self.n, len(asked)))
        for k, end in enumerate(asked):
            stop_if_over()
            unit, i = np.zeros(self.n), end % self.n
            unit[i] = 1.0 if end < self.n else -1.0
            ended = solved(unit, matrix, offset, POLICY.most_turns)
            self.operations += ended.turns * matrix.size
            before, known = self._bound(end), self.weights.get(end)
            self.weights[end] = ended.multipliers / scale * (1.0 if ended.no_point else width[i])
            if known is not None and not unit[i] * (self._bound(end) - before) > 0:
                self.weights[end] = np.append(known, np.zeros(len(self.right) - len(known)))
            places[:, k] = begin + width * ended.point
        return places

    def _cut(self, places: np.ndarray) -> np.ndarray:
        """Adds tangents where the ways from x to these places leave the set. Returns on which of them that is."""
        out = (self.convex.excess(places) > POLICY.excess).any(axis=0)
        if out.any():
            start, way = self.x[:, None], places[:, out] - self.x[:, None]
            near, far = np.zeros(way.shape[1]), np.ones(way.shape[1])
            for _ in range(POLICY.halvings):
                middle = 0.5 * (near + far)
                beyond = (self.convex.excess(start + way * middle) > POLICY.excess).any(axis=0)
                near, far = np.where(beyond, near, middle), np.where(beyond, middle, far)
            points = start + way * far
            row, lane = np.nonzero(self.convex.excess(points) > 0.0)
            self._touch(points[:, lane], row)
        return out
