"""The kernel of quadratic models: about the lowest point, within a region, of the function as its derivatives at the middle tell.
An estimate, which proves nothing; but a point of the region in any case."""

from infimum.expr.differentiate import gradient, hessian_vector
from infimum.expr.node import Expr, var
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Estimates
from infimum.search.policy.points import POLISHING as POLICY


def lowest(name: str, f: Expr, x: Expr) -> tuple[Kernel, Data, tuple[int, ...], int]:
    """The kernel. Input: the regions. One variable after the other goes where the model is lowest along it, several times; that
    is written without loops."""
    b, data, n, v = Builder(), Data(), x.size, var("v", x.shape)
    slopes, rows = b.buffer(n), b.buffer(n * n)

    def ends(i: "int | Value") -> tuple[Value, Value]:
        return b.input(0, i), b.input(0, b.place("uadd", i, n))

    def middle(i: "int | Value") -> Value:
        lo, hi = ends(i)
        return b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
    Lowering(b, Estimates(), {"x": middle}, data).run([(gradient(f, x), lambda at, g: b.store(slopes, at[0], g))])
    with b.loop(n) as turn:
        row = b.place("umul", turn.index, n)

        def unit(j: "int | Value") -> Value:
            return b.select(b.ueq(turn.index, j), 1.0, 0.0)
        Lowering(b, Estimates(), {"x": middle, "v": unit}, data).run(
            [(hessian_vector(f, x, v), lambda at, h: b.store(rows, b.place("uadd", row, at[0]), h))])
    every = range(n)
    place, slope = [middle(i) for i in every], [b.load(slopes, i) for i in every]
    for _ in range(POLICY.sweeps_of_model):
        for i in every:
            here, = b.outline("model_lowest", _lowest, place[i], slope[i], b.load(rows, i * n + i), *ends(i))
            step, place[i] = b.sub(here, place[i]), here
            slope = [b.fma(b.load(rows, i * n + j), step, slope[j]) for j in every]
    for i in every:
        b.output(0, i, place[i])
    return b.kernel(name, 1, 1), data, (n,), 0


def _lowest(b: Builder, x: Value, slope: Value, curvature: Value, lo: Value, hi: Value) -> tuple[Value]:
    """Where a parabola is lowest in [lo, hi]; where there is none, the end it falls to, and x if nothing is known."""
    falls_to = b.select(b.ogt(slope, 0.0), lo, b.select(b.olt(slope, 0.0), hi, x))
    place = b.sub(x, b.div(slope, curvature))
    return b.min(b.max(b.select(b.ogt(curvature, 0.0), place, falls_to), lo), hi),
