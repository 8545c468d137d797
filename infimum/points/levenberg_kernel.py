"""The kernel of a trial of Levenberg and Marquardt's method with variable projection, a point of the nonlinear parameters a lane.

Let e = rest(θ) + Φ(θ) κ (`structure/separable_residuals.py`). At a trial point, θ + step clipped to the bounds, κ is the linear
fit within its bounds, r the residuals there, and v_k = ∂rest/∂θ_k + Σ_j κ_j ∂φ_j/∂θ_k. With P the projection orthogonal to the
columns whose κ_j is inside its bounds, Kaufman's approximation of the derivatives of r is P v_k; A = vᵀ P v, g = vᵀ P r. A trial
that is lower is accepted. From where the lane then stands the next step solves (A + λ diag A) step = -g, with less damping λ
after trials that went as predicted, with more after others; A and g are kept for the steps after trials that were not accepted.

Two passes over the data: the Gram matrix of the columns, which gives κ, then residuals and slopes. Parameters that have one sign
and range over orders of magnitude (`geometric`) move by factors: θ (1 + s) upwards, θ / (1 - s) downwards.
Estimates all of it, in plain upward arithmetic; what is not finite counts as infinitely high.
"""

from collections.abc import Callable, Iterable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np

from infimum.bounds.least_squares.residual_basis import CoarseEstimates
from infimum.bounds.least_squares.residual_slopes import SlopeMeaning, ValueWithSlopes
from infimum.expr.node import Expr
from infimum.interval.pair import INF
from infimum.kernel.box_conclusions import add_up
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Estimates
from infimum.kernel.schedule import plan
from infimum.search.policy.points import LEVENBERG_MARQUARDT as POLICY
from infimum.structure.separable_residuals import SeparableResiduals, sum_of_squares

_GOLDEN = 0x9E3779B97F4A7C15  # fixed: 2**64 over the golden ratio
_LARGE, _TINY = 2.0**1000, 2.0**-1000  # fixed: near the ends of the range of doubles
_SMALL = 2.0**-500  # fixed: products of smaller numbers underflow

Lanes = list[Value]
Triangle = dict[tuple[int, int], Value]


class LaneRows(NamedTuple):
    """Where a lane keeps what it knows, p nonlinear parameters and q columns: slices of its rows. `left` is how much lower the
    next step is predicted to lead."""

    point: slice
    step: slice
    slope: slice
    matrix: slice
    kappa: slice
    value: int
    damping: int
    left: int

    @classmethod
    def of(cls, p: int, q: int) -> "LaneRows":
        ends = np.cumsum([0, p, p, p, p * (p + 1) // 2, q]).tolist()
        return cls(*(slice(*ends[k:k + 2]) for k in range(5)), *range(ends[-1], ends[-1] + 3))

    @property
    def count(self) -> int:
        return self.left + 1


def some_rows(count: int, stride: int) -> np.ndarray:
    """One of every `stride` rows, at a place that changes evenly: rows at equal distances show a wave as a slower one."""
    turns = np.arange(count // stride, dtype=np.uint64)
    places = (turns * np.uint64(_GOLDEN) >> np.uint64(32)) * np.uint64(stride) >> np.uint64(32)
    return (turns * np.uint64(stride) + places).astype(np.int64)


def levenberg(name: str, f: Expr, x: Expr, stride: int = 1) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel, from lanes to lanes (`LaneRows`), for all residuals or `some_rows`. Parameters: bounds of θ, low and high,
    which of it are geometric, the bounds of κ."""
    writer = LevenbergKernel(sum_of_squares(f, x), stride)
    return writer.b.kernel(name, 1, 1), writer.data, (writer.rows.count,), writer.at


class LevenbergKernel:
    """Writes it."""

    def __init__(self, parts: SeparableResiduals, stride: int):
        self.b, self.data, self.parts, self.stride = Builder(), Data(), parts, stride
        self.some = None if stride == 1 else some_rows(parts.rest.size, stride)
        self.p, self.q = len(parts.nonlinear), len(parts.columns)
        self.rows = LaneRows.of(self.p, self.q)
        self.at = self.data.offset(np.zeros(3 * self.p + 2 * self.q))
        self.vectors = [parts.rest, *parts.functions, *(data for data, _ in parts.columns if data is not None)]
        self.pairs = list(combinations_with_replacement(range(self.p), 2))
        self.trial = [self._moved(k) for k in range(self.p)]
        self._fit()
        self._evaluate()
        self._compare()
        self._write(self._next_step())

    # ---- what is given
    def _state(self, rows: slice) -> Lanes:
        return [self.b.input(0, row) for row in range(rows.start, rows.stop)]

    def _parameter(self, k: int) -> Value:
        return self.b.data(self.at + k)

    def _bounds(self, k: int) -> tuple[Value, Value]:
        return self._parameter(k), self._parameter(self.p + k)

    def _limits(self, j: int) -> tuple[Value, Value]:
        """Of κ_j."""
        return self._parameter(3 * self.p + j), self._parameter(3 * self.p + self.q + j)

    def _geometric(self, k: int) -> Value:
        return self.b.ogt(self._parameter(2 * self.p + k), 0.0)

    def _moved(self, k: int) -> Value:
        b, x, s = self.b, self._state(self.rows.point)[k], self._state(self.rows.step)[k]
        by_factor = b.select(b.ogt(s, 0.0), b.fma(x, s, x), b.div(x, b.sub(1.0, s)))
        return self._clipped(b.select(self._geometric(k), by_factor, b.add(x, s)), self._bounds(k))

    def _clipped(self, value: Value, ends: tuple[Value, Value]) -> Value:
        return self.b.min(self.b.max(value, ends[0]), ends[1])

    # ---- rows of residuals, in a loop over the data
    def _sums(self, meaning: Estimates, leaf: Callable, terms: Callable[[Callable], Lanes]) -> Lanes:
        """The sums over the rows of what `terms` makes of them, given a way to an element of each vector."""
        b = self.b
        lowering = Lowering(b, meaning, {"x": leaf}, self.data)
        lowering.elements.plan = plan(self.vectors, straight=False)
        with b.loop(self.parts.rest.size // self.stride) as turn, lowering.elements.scope():
            row = turn.index
            if self.some is not None:
                row = b.udata(b.place("uadd", self.data.position_offset(self.some), row))
            found = terms(lambda node: lowering.elements.element(node, (row,)))
            total = b.step((0.0,) * len(found), tuple(found), add_up)
        return list(total.results)

    def _columns(self, functions: Lanes, element: Callable[[Expr], Value]) -> Lanes:
        return [functions[k] if data is None else self.b.mul(element(data), functions[k]) for data, k in self.parts.columns]

    # ---- the linear fit
    def _fit(self) -> None:
        """κ, which of it is free, and the factors of the Gram matrix of the free columns, scaled to a unit diagonal."""
        b, q = self.b, self.q
        self.kappa, self.free, self.scale, self.factors = [], [], [], _Cholesky(b, 0, {})
        if not q:
            return
        where = {i: k for k, i in enumerate(self.parts.nonlinear)}
        every, pairs = range(q), list(combinations_with_replacement(range(q), 2))

        def terms(element: Callable[[Expr], Value]) -> Lanes:
            functions = [_plain(b, element(node)) for node in self.parts.functions]
            rest, columns = element(self.parts.rest), self._columns(functions, element)
            return [*(b.mul(columns[i], columns[j]) for i, j in pairs), *(b.mul(c, rest) for c in columns)]
        sums = self._sums(CoarseEstimates(), lambda i: self.trial[where[i]], terms)
        gram = dict(zip(pairs, sums, strict=False))
        self.scale = [b.div(1.0, b.max(b.sqrt(gram[j, j]), _TINY)) for j in every]
        scaled = {(i, j): b.mul(b.mul(v, self.scale[i]), self.scale[j]) if i != j else b.const(1.0) for (i, j), v in gram.items()}
        right = [b.neg(b.mul(v, s)) for v, s in zip(sums[len(pairs):], self.scale, strict=True)]
        size = [b.div(1.0, s) for s in self.scale]
        ends = [tuple(b.mul(end, size[j]) for end in self._limits(j)) for j in every]
        free = _Cholesky(b, q, scaled).solve(right)
        kappa = [self._clipped(v, e) for v, e in zip(free, ends, strict=True)]
        if q > 1:
            kappa = self._descend(scaled, right, kappa, ends)
        self.free = [b.mand(b.ogt(v, e[0]), b.olt(v, e[1])) for v, e in zip(kappa, ends, strict=True)]
        masked = {(i, j): v if i == j else b.select(b.mand(self.free[i], self.free[j]), v, 0.0) for (i, j), v in scaled.items()}
        self.factors = _Cholesky(b, q, masked)
        held = [b.select(f, 0.0, v) for f, v in zip(self.free, kappa, strict=True)]
        left = [b.sub(right[j], _dot(b, [(scaled[min(i, j), max(i, j)], held[i]) for i in every if i != j])) for j in every]
        solved = self.factors.solve([b.select(f, v, 0.0) for f, v in zip(self.free, left, strict=True)])
        for j, (free, v) in enumerate(zip(self.free, solved, strict=True)):
            low, high = self._limits(j)
            bound = b.select(b.ole(kappa[j], ends[j][0]), low, high)
            self.kappa.append(b.select(free, self._clipped(b.mul(v, self.scale[j]), (low, high)), bound))

    def _descend(self, gram: Triangle, right: Lanes, kappa: Lanes, ends: list) -> Lanes:
        """A lower point within the bounds, one coordinate after the other; where κ is inside them already, it stays."""
        b, kappa = self.b, list(kappa)
        for _ in range(POLICY.sweeps_at_bounds):
            for j in range(self.q):
                others = _dot(b, [(gram[min(i, j), max(i, j)], v) for i, v in enumerate(kappa) if i != j])
                kappa[j] = self._clipped(b.sub(right[j], others), ends[j])
        return kappa

    # ---- the trial
    def _evaluate(self) -> None:
        """The value, the matrix A and the slope g there."""
        b, p, q, pairs = self.b, self.p, self.q, self.pairs
        slopes, where = SlopeMeaning(self.data, p), {i: k for k, i in enumerate(self.parts.nonlinear)}

        def terms(element: Callable[[Expr], ValueWithSlopes]) -> Lanes:
            rest, functions = element(self.parts.rest), [element(node) for node in self.parts.functions]
            columns = self._columns([_plain(b, f.value) for f in functions], lambda data: element(data).value)
            shares = [b.const(0.0)] * len(functions)  # what each function is multiplied by
            for (data, at), kappa in zip(self.parts.columns, self.kappa, strict=True):
                shares[at] = b.add(shares[at], kappa) if data is None else b.fma(element(data).value, kappa, shares[at])
            r = _dot(b, zip(columns, self.kappa, strict=True), rest.value)
            v = [_plain(b, _dot(b, [(f.first[k], s) for f, s in zip(functions, shares, strict=True) if f.first[k] is not None],
                                b.const(0.0) if rest.first[k] is None else rest.first[k])) for k in range(p)]
            return [b.mul(r, r), *(b.mul(d, r) for d in v), *(b.mul(v[k], v[m]) for k, m in pairs),
                    *(b.mul(c, d) for c in columns for d in (r, *v))]
        sums = self._sums(slopes, lambda i: slopes.leaf(b, self.trial[where[i]], where[i]), terms)
        self.value, slope, matrix = sums[0], sums[1:1 + p], dict(zip(pairs, sums[1 + p:], strict=False))
        across = sums[1 + p + len(pairs):]
        # what lies in the span of the free columns: L⁻¹ Φᵀ r, L⁻¹ Φᵀ v
        known = [[b.select(f, b.mul(v, s), 0.0) for v in across[j * (p + 1):(j + 1) * (p + 1)]]
                 for j, (f, s) in enumerate(zip(self.free, self.scale, strict=True))]
        inside, *turned = [self.factors.forward([known[j][m] for j in range(q)]) for m in range(p + 1)] if q else [[]] * (p + 1)
        slope = [b.sub(slope[k], _dot(b, zip(turned[k], inside, strict=True))) for k in range(p)]
        for k, m in pairs:
            rest = b.sub(matrix[k, m], _dot(b, zip(turned[k], turned[m], strict=True)))
            matrix[k, m] = b.max(rest, b.mul(matrix[k, k], POLICY.least_pivot)) if k == m else rest
        by = [b.select(self._geometric(k), self.trial[k], 1.0) for k in range(p)]
        self.slope = [b.mul(v, s) for v, s in zip(slope, by, strict=True)]
        self.matrix = {(k, m): b.mul(b.mul(v, by[k]), by[m]) for (k, m), v in matrix.items()}

    def _compare(self) -> None:
        """Takes the trial over where it is lower, and chooses the damping of the next step."""
        b, rows = self.b, self.rows
        before, damping, left = (b.input(0, row) for row in (rows.value, rows.damping, rows.left))
        sound = b.olt(self.value, before)
        for v in (*self.slope, *self.matrix.values()):
            sound = b.mand(sound, b.olt(b.abs(v), _LARGE))
        part = b.div(b.sub(before, self.value), b.max(left, _TINY))
        factor = b.select(sound, b.select(b.ogt(part, POLICY.good_ratio), POLICY.damping_reduction,
                                          b.select(b.ogt(part, POLICY.poor_ratio), 1.0, POLICY.damping_growth)),
                          POLICY.damping_large_growth)
        first = b.oeq(before, INF)
        self.damping = b.select(first, damping, b.min(b.max(b.mul(damping, factor), POLICY.least_damping), POLICY.most_damping))

        def newer(new: Lanes, old: slice) -> Lanes:
            return [b.select(sound, v, w) for v, w in zip(new, self._state(old), strict=True)]
        self.value = b.select(sound, self.value, before)
        self.point, self.kappa = newer(self.trial, rows.point), newer(self.kappa, rows.kappa)
        self.slope = newer(self.slope, rows.slope)
        self.matrix = dict(zip(self.pairs, newer(list(self.matrix.values()), rows.matrix), strict=True))

    def _next_step(self) -> Lanes:
        """Variables that are at a bound and would leave it are held."""
        b, p, every = self.b, self.p, range(self.p)
        move = []
        for k in every:
            (lo, hi), x, g = self._bounds(k), self.point[k], self.slope[k]
            g = b.mul(g, b.select(b.mand(self._geometric(k), b.olt(x, 0.0)), -1.0, 1.0))  # by factors: up is away from 0
            held = b.mor(b.mand(b.ole(x, lo), b.oge(g, 0.0)), b.mand(b.oge(x, hi), b.ole(g, 0.0)))
            move.append(b.mnot(held))
        scale = [b.div(1.0, b.max(b.sqrt(self.matrix[k, k]), _TINY)) for k in every]
        damped = b.add(1.0, self.damping)
        scaled = {(k, m): damped if k == m else b.select(b.mand(move[k], move[m]), b.mul(b.mul(v, scale[k]), scale[m]), 0.0)
                  for (k, m), v in self.matrix.items()}
        right = [b.select(m, b.neg(b.mul(g, s)), 0.0) for m, g, s in zip(move, self.slope, scale, strict=True)]
        moves = _Cholesky(b, p, scaled).solve(right)
        # the decrease that A and g predict is -2 g·s - sᵀ A s
        self.left = _dot(b, [(m, b.fma(self.damping, m, r)) for m, r in zip(moves, right, strict=True)])
        return [b.mul(m, s) for m, s in zip(moves, scale, strict=True)]

    def _write(self, step: Lanes) -> None:
        rows = self.rows
        for part, values in ((rows.point, self.point), (rows.step, step), (rows.slope, self.slope),
                             (rows.matrix, list(self.matrix.values())), (rows.kappa, self.kappa)):
            for row, value in zip(range(part.start, part.stop), values, strict=True):
                self.b.output(0, row, value)
        for row, value in ((rows.value, self.value), (rows.damping, self.damping), (rows.left, self.left)):
            self.b.output(0, row, value)


class _Cholesky:
    """The factors L Lᵀ of about a matrix, given as its upper triangle; pivots are raised to a part of the diagonal."""

    def __init__(self, b: Builder, n: int, a: Triangle):
        self.b, self.n, self.inverse = b, n, []
        self.low: list[Lanes] = [[] for _ in range(n)]
        for j in range(n):
            left = a[j, j]
            for k in range(j):
                left = b.sub(left, b.mul(self.low[j][k], self.low[j][k]))
            self.inverse.append(b.div(1.0, b.sqrt(b.max(left, b.max(b.mul(a[j, j], POLICY.least_pivot), _TINY)))))
            for i in range(j + 1, n):
                v = b.sub(a[j, i], _dot(b, zip(self.low[i], self.low[j], strict=False)))
                self.low[i].append(b.mul(v, self.inverse[j]))

    def forward(self, right: Lanes) -> Lanes:
        """L⁻¹ right."""
        b, y = self.b, []
        for j in range(self.n):
            y.append(b.mul(b.sub(right[j], _dot(b, zip(self.low[j], y, strict=True))), self.inverse[j]))
        return y

    def solve(self, right: Lanes) -> Lanes:
        b, x = self.b, self.forward(right)
        for j in reversed(range(self.n)):
            x[j] = b.mul(b.sub(x[j], _dot(b, [(self.low[i][j], x[i]) for i in range(j + 1, self.n)])), self.inverse[j])
        return x


def _plain(b: Builder, value: Value) -> Value:
    """0 instead of numbers so small that arithmetic on their products is slow."""
    return b.select(b.olt(b.abs(value), _SMALL), 0.0, value)


def _dot(b: Builder, factors: Iterable[tuple[Value, Value]], start: Value | None = None) -> Value:
    total = start
    for one, other in factors:
        total = b.mul(one, other) if total is None else b.fma(one, other, total)
    return b.const(0.0) if total is None else total
