"""Kernels of dynamic programming over intervals: what a term is worth on a cell, a box of the few variables that it reads.

`cells` encloses the term t and its derivatives on the cell X, and t at a point c of it. `shifted_bound` turns that into a lower
bound of t(x) - s·(x - c), for slopes s that are chosen later: the larger of

    t(X) - rad |s|                    where the natural enclosure is all that is known,
    t(c) - rad max |t'(X) - s|        the mean value form, where t is Lipschitz on the cell,

with rad the distance of c to the farther end, in each variable, all rounded outward. For s = 0 `cells` has it already. Where t is
not Lipschitz, the ends of its derivative are infinite, and so is the second.

Proof: docs/proofs/chains.md.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr.build import index, substituted
from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, topological, var
from infimum.interval.pair import INF, SMOOTH, Pair
from infimum.kernel.box_conclusions import larger, natural, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures, Estimates
from infimum.ops.vocabulary import Kind
from infimum.search.policy.bounds import CHAIN as POLICY
from infimum.structure.term_sums import C

LO, HI, CENTRE, CONSTANTS = range(4)       # the inputs of `cells`; constants are lower ends, then upper ends
FACTS, FROM, TO = range(3)                 # its outputs, and the first inputs of `shifted_bound`: bounds, ends of the derivatives
NATURAL, AT_CENTRE, UNSHIFTED = range(3)   # rows of FACTS: lower bounds on the cell and at c, minus the bound for s = 0
_STEEP = ("sqrt", "cbrt", "pow")
# instead of a value where there is none; of values that decide between equal bounds
NO_VALUE = 2.0**900  # fixed: instead of a value where there is none
SLOPES = 3  # fixed: the last input of `shifted_bound`: distances, then slopes


def cells(name: str, f: Expr, x: Expr, constants: int) -> tuple:
    """(kernel, data, rows of the outputs, where the parameters begin in the doubles)."""
    b, data, k = Builder(), Data(), x.size

    def leaves(lo: int, hi: int) -> dict:
        return {"x": lambda i: Pair(b.neg(b.input(lo, i)), b.input(hi, i)),
                C: lambda i: Pair(b.neg(b.input(CONSTANTS, i)), b.input(CONSTANTS, b.place("uadd", i, constants)))}
    slopes: dict[int, Pair] = {}
    out: dict[str, Pair] = {}
    Lowering(b, Enclosures(), leaves(LO, HI), data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), lambda at, v: slopes.setdefault(at[0], v))], straight=True)
    known = natural(b, out["f"])
    lipschitz = known.lipschitz(b)
    at_centre, = Lowering(b, Enclosures(), leaves(CENTRE, CENTRE), data).values([f], straight=True)
    there = b.ogt(at_centre.nlo, -INF)
    usable = b.mand(lipschitz, there)
    b.output(FACTS, NATURAL, b.select(known.empty, INF, b.neg(known.nlo)))
    b.output(FACTS, AT_CENTRE, b.select(there, b.neg(at_centre.nlo), -INF))
    form = at_centre.nlo
    for i in range(k):
        g = whole_if_unsound(b, slopes[i])
        b.output(FROM, i, b.select(lipschitz, b.neg(g.nlo), -INF))
        b.output(TO, i, b.select(lipschitz, g.hi, INF))
        rad = b.max(b.sub(b.input(HI, i), b.input(CENTRE, i)), b.sub(b.input(CENTRE, i), b.input(LO, i)))
        form = b.add(form, b.mul(rad, b.max(g.nlo, g.hi)))
    better = b.mand(usable, b.olt(form, known.nlo))
    b.output(FACTS, UNSHIFTED, b.select(known.empty, -INF, b.select(better, form, known.nlo)))
    return b.kernel(name, 4 if constants else 3, 3), data, (3, k, k), 0


def steep_terms(f: Expr) -> list[Expr]:
    """The roots and powers in f: where they have no derivative, neither has f, but in between f may be gentle. None where f has
    conditions, which tell undefined parts from others."""
    nodes = list(topological([f]))
    steep = [] if any(node.kind is Kind.TEST for node in nodes) else [node for node in nodes if node.op in _STEEP]
    return [node for node in steep if node is not f and node.shape == ()][-POLICY.steep_parts:]


def steep(name: str, f: Expr, x: Expr, constants: int) -> tuple:
    """For cells on which f has no derivative: the range of each root or power in it is cut into slices, and f is enclosed on the
    whole cell with the root in one slice after the other. Output: minus the best lower bound."""
    b, data = Builder(), Data()
    leaves = {"x": lambda i: Pair(b.neg(b.input(0, i)), b.input(1, i)),
              C: lambda i: Pair(b.neg(b.input(2, i)), b.input(2, b.place("uadd", i, constants)))}
    ends, best = data.offset(np.arange(POLICY.steep_slices + 1) / POLICY.steep_slices), None
    for node in steep_terms(f):
        value, = Lowering(b, Enclosures(), leaves, data).values([node], straight=True)
        whole = whole_if_unsound(b, value)
        lo, width = b.neg(whole.nlo), b.add(whole.hi, whole.nlo)

        def end(k: "int | Value", lo: Value = lo, width: Value = width, hi: Value = whole.hi) -> Value:
            return b.min(b.max(b.fma(width, b.data(b.place("uadd", ends, k)), lo), lo), hi)
        inner = substituted(f, {node: var("root", ())})
        with b.loop(POLICY.steep_slices) as turn:
            left = b.select(b.ueq(turn.index, 0), lo, end(turn.index))
            right = b.select(b.ueq(turn.index, POLICY.steep_slices - 1), whole.hi, end(b.place("uadd", turn.index, 1)))
            piece = Pair(b.neg(left), right)
            found, = Lowering(b, Enclosures(), {**leaves, "root": lambda _, piece=piece: piece}, data).values(
                [inner], straight=True)
            known = natural(b, found)
            hull = b.step((-INF,), (b.select(known.empty, -INF, known.nlo),), larger)
        mine = b.select(b.olt(width, INF), hull.results[0], INF)
        best = mine if best is None else b.min(best, mine)
    b.output(0, 0, INF if best is None else best)
    return b.kernel(name, 3 if constants else 2, 1), data, (1,), 0


def second_order_bound(name: str, f: Expr, x: Expr, constants: int) -> tuple:
    """The second order: minus the lower bound of t(x) - s·(x - c) where t is twice continuously differentiable on the cell,

        t(c) - rad |t'(c) - s| + d·H(X) d / 2,   |d| <= rad,

    else inf. In the last part 2 |d_i d_j| <= w d_i² + d_j² / w for every w > 0, so that each variable has its own part, b d²,
    which is at least 0 or b rad². Twice, with different w: as wide as the cell, and such that nothing is left of b in the first
    variable, as where H is positive definite; the better counts. Inputs: the ends of cells, their centres, slopes, constants."""
    b, data, k, ends = Builder(), Data(), x.size, (0, 1)

    def leaves(lo: int, hi: int) -> dict:
        return {"x": lambda i: Pair(b.neg(b.input(lo, i)), b.input(hi, i)),
                C: lambda i: Pair(b.neg(b.input(SLOPES + 1, i)), b.input(SLOPES + 1, b.place("uadd", i, constants)))}
    slopes = gradient(f, x)
    at = [index(slopes, i) for i in range(k)]
    second = {(i, j): index(gradient(at[i], x), j) for i in range(k) for j in range(i, k)}
    value, *entries = Lowering(b, Enclosures(), leaves(*ends), data).values([f, *second.values()], straight=True)
    bends = {place: whole_if_unsound(b, entry) for place, entry in zip(second, entries, strict=True)}
    there, *tilts = Lowering(b, Enclosures(), leaves(CENTRE, CENTRE), data).values([f, *at], straight=True)
    rad = [b.max(b.sub(b.input(HI, i), b.input(CENTRE, i)), b.sub(b.input(CENTRE, i), b.input(LO, i))) for i in range(k)]
    form = there.nlo
    for i in range(k):
        tilt = whole_if_unsound(b, tilts[i])
        steep = b.max(b.sub(tilt.hi, b.input(SLOPES, i)), b.add(tilt.nlo, b.input(SLOPES, i)))
        form = b.add(form, b.mul(rad[i], steep))

    def loss(weight: Callable[[int, int], Value]) -> Value:
        """Minus the part of H, with these w."""
        own, total = [bends[i, i].nlo for i in range(k)], b.const(0.0)
        for i in range(k):
            for j in range(i + 1, k):
                size, w = b.max(bends[i, j].nlo, bends[i, j].hi), weight(i, j)
                own[i], own[j] = b.add(own[i], b.mul(size, w)), b.add(own[j], b.mul(size, b.div(1.0, w)))
        for i in range(k):  # a NaN, as of 0 / w with a tiny w, stays one
            total = b.add(total, b.mul(b.mul(b.mul(b.max(0.0, own[i]), 0.5), rad[i]), rad[i]))
        return total

    def usable(w: Value) -> Value:
        return b.select(b.mand(b.ogt(w, 0.0), b.olt(w, INF)), w, 1.0)
    by_width = loss(lambda i, j: usable(b.div(rad[j], rad[i])))
    parts = float(max(1, k - 1))
    by_bend = loss(lambda i, j: usable(b.div(b.neg(bends[i, i].nlo), b.mul(parts, b.max(bends[i, j].nlo, bends[i, j].hi)))))
    known = natural(b, value)
    smooth = b.mand(b.oge(known.level, float(SMOOTH)), b.ogt(there.nlo, -INF))
    found = b.add(form, b.select(b.olt(by_bend, by_width), by_bend, by_width))
    b.output(0, 0, b.select(b.mand(smooth, b.olt(found, INF)), found, INF))
    return b.kernel(name, 5 if constants else 4, 1), data, (1,), 0


def shifted_bound(name: str, k: int) -> tuple:
    """Output: minus the lower bound."""
    b = Builder()
    flat, form = b.neg(b.input(FACTS, NATURAL)), b.neg(b.input(FACTS, AT_CENTRE))
    for i in range(k):
        rad, slope = b.input(SLOPES, i), b.input(SLOPES, k + i)
        form = b.add(form, b.mul(rad, b.max(b.sub(b.input(TO, i), slope), b.sub(slope, b.input(FROM, i)))))
        flat = b.add(flat, b.mul(rad, b.abs(slope)))
    b.output(0, 0, b.select(b.olt(form, flat), form, flat))
    return b.kernel(name, 4, 1), Data(), (1,), 0


def optimistic_bound(name: str) -> tuple:
    """Minus the lower bound of a term on a cell, where there is one; of equal bounds that with the lower value at c is larger.
    Input: FACTS. An estimate, of what the cell may hold at best."""
    b = Builder()
    minus, there = b.input(0, UNSHIFTED), b.input(0, AT_CENTRE)
    value = b.sub(minus, b.mul(POLICY.tie_break, b.add(there, minus)))
    b.output(0, 0, b.select(b.olt(b.abs(value), INF), value, -NO_VALUE))
    return b.kernel(name, 1, 1), Data(), (1,), 0


def at_points(name: str, f: Expr, x: Expr, constants: int, curved: bool = False) -> tuple:
    """The value at points; if `curved`, also the gradient, and the Hessian row by row. Inputs: points, constants. Estimates."""
    b, data, k = Builder(), Data(), x.size
    slopes = gradient(f, x)
    outputs = [(f, 0, 0), (slopes, 1, 0), *((gradient(index(slopes, i), x), 2, i * k) for i in range(k))]
    rows = (1, k, k * k) if curved else (1,)

    def writer(slot: int, begin: int) -> Callable:
        return lambda at, v: b.output(slot, begin + at[0] if at else begin, v)
    Lowering(b, Estimates(), {"x": lambda i: b.input(0, i), C: lambda i: b.input(1, i)}, data).run(
        [(node, writer(slot, begin)) for node, slot, begin in outputs if slot < len(rows)], straight=True)
    return b.kernel(name, 2 if constants else 1, len(rows)), data, rows, 0
