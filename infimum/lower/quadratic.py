"""A lower bound of a quadratic function over a box around 0, a box a lane: c + 2 gᵀd + dᵀM d for |d_k| <= h_k.

In s = d / h, |s_k| <= 1. M, as it is then, is split into L D Lᵀ with D >= 0, exactly the matrix of these doubles, and the rest E,
which takes away at most the sum of |E_kl|, on the diagonal of its negative part. For a point s0 of the box convexity gives
2 gᵀs + sᵀP s >= 2 (g + P s0)ᵀs - s0ᵀP s0, which is least in a corner.
"""

from itertools import combinations_with_replacement

from infimum.lower.balls import Ball, dot, size, total
from infimum.lower.kernel import Builder, Value

_PIVOT = 2.0**-40   # of a pivot, as part of the diagonal
_SWEEPS = 6         # of coordinate descent
_TINY = 2.0**-400


def least(b: Builder, constant: Ball, tilt: list[Ball], matrix: dict[tuple[int, int], Ball], h: list[Value]) -> Value:
    """The lower bound; `matrix` has the entries (k, l) with k <= l."""
    p = len(h)
    every, pairs = range(p), list(combinations_with_replacement(range(p), 2))
    exact = [Ball(v) for v in h]
    tilt = [dot(b, (tilt[k], exact[k])) for k in every]
    matrix = {(k, l): dot(b, (dot(b, (matrix[k, l], exact[k])), exact[l])) for k, l in pairs}
    low, pivots = _factors(b, {pair: entry.mid for pair, entry in matrix.items()}, p)
    lost = [b.const(0.0) if constant.rad is None else constant.rad]
    form = {}
    for k, l in pairs:
        products = [dot(b, (Ball(pivots[m]), dot(b, (Ball(low[k][m]), Ball(low[l][m]))))) for m in range(k + 1)]
        form[k, l] = dot(b, *((Ball(b.const(1.0)), product) for product in products))
        error = dot(b, (Ball(b.const(1.0)), matrix[k, l]), (Ball(b.const(-1.0)), form[k, l]))
        below = b.sub(error.rad, error.mid)
        lost.append(b.select(b.ole(below, 0.0), 0.0, below) if k == l else b.mul(2.0, size(b, error)))  # NaN stays NaN
    point = _descend(b, {pair: entry.mid for pair, entry in form.items()}, [t.mid for t in tilt])
    for k in every:
        turned = dot(b, *((Ball(point[l]), form[min(k, l), max(k, l)]) for l in every))
        gradient = dot(b, (Ball(b.const(1.0)), tilt[k]), (Ball(b.const(1.0)), turned))
        bend = dot(b, (Ball(point[k]), turned))
        lost += [b.mul(2.0, size(b, gradient)), b.add(bend.mid, bend.rad)]
    return b.neg(b.sub(total(b, lost), constant.mid))


def _factors(b: Builder, a: dict, p: int) -> tuple[list[list[Value]], list[Value]]:
    """L and D >= 0 of about the matrix, its pivots raised to 0 where they are below."""
    low, pivots = [[b.const(float(i == j)) for j in range(p)] for i in range(p)], []
    for j in range(p):
        left = a[j, j]
        for k in range(j):
            left = b.sub(left, b.mul(pivots[k], b.mul(low[j][k], low[j][k])))
        positive = b.ogt(left, b.mul(b.max(b.abs(a[j, j]), _TINY), _PIVOT))
        pivots.append(b.select(positive, left, 0.0))
        for i in range(j + 1, p):
            v = a[j, i]
            for k in range(j):
                v = b.sub(v, b.mul(pivots[k], b.mul(low[i][k], low[j][k])))
            low[i][j] = b.select(positive, b.div(v, left), 0.0)
    return low, pivots


def _descend(b: Builder, form: dict, tilt: list[Value]) -> list[Value]:
    """About the lowest point of 2 tilt·s + sᵀ form s for |s_k| <= 1."""
    p = len(tilt)
    point = [b.const(0.0)] * p
    for _ in range(_SWEEPS if p > 1 else 1):
        for k in range(p):
            slope = tilt[k]
            for l in range(p):
                slope = slope if l == k else b.fma(form[min(k, l), max(k, l)], point[l], slope)
            best = b.neg(b.div(slope, b.max(form[k, k], _TINY)))
            best = b.min(b.max(best, -1.0), 1.0)
            point[k] = b.select(b.uno(best, best), 0.0, best)
    return point
