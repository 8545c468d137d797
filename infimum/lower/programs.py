"""The kernels that an Evaluator runs: which numbers go in, which come out."""

from collections.abc import Callable
from dataclasses import dataclass

from infimum.expr.build import build
from infimum.expr.diff import gradient, hessian_vector
from infimum.expr.node import Expr, topological, var
from infimum.interval.arithmetic import add, sub
from infimum.interval.pair import INF, LIPSCHITZ, UNDEFINED, Pair, b_level, exact, is_empty
from infimum.lower import bound, branch, cells, complete, descent, flight, refine, shave, sweep
from infimum.lower.data import Data
from infimum.lower.kernel import Builder, Kernel, Value
from infimum.lower.lowering import Beside, Lowering
from infimum.lower.meaning import Enclosures, Estimates
from infimum.lower.nodes import nodes
from infimum.lower.proof import shown_level
from infimum.lower.schedule import STRAIGHT, independent_roots, straight_cost
from infimum.lower.views import At

VALUE, GRADIENT, HESSIAN, MEAN_VALUE, NODES = "value", "gradient", "hessian", "mean_value", "nodes"
ESTIMATE, ESTIMATE_GRADIENT, ESTIMATE_HESSIAN_VECTOR = "estimate", "estimate_gradient", "estimate_hessian_vector"
DESCENT_DENSE, DESCENT_LIMITED, PROBE = "descent_dense", "descent_limited", "probe"
SCATTER, FLIGHT = "scatter", "flight"
BOUND, BOUND_BY_PIECES = "bound", "bound_by_pieces"
BRANCH, BRANCH_BY_PIECES, FATE, WIDE = "branch", "branch_by_pieces", "fate", "wide"  # "branch_by_pieces:1" for infinite bounds
CONTEXT, SWEEP = "context", "sweep"  # "context:64" encloses pieces by so many slices
SPREAD, SHAVED = "spread", "shaved"
TERMS, REDUCED, TESTED = "terms", "reduced", "tested"
POINT_CONTEXT, SAMPLE, NEWTON = "point_context", "sample", "newton"
CELLS, STEEP, BEND, SHIFT = "cells", "steep", "bend", "shift"  # "cells:2" has so many constants
AT_POINTS, CURVATURE, HOPE = "at_points", "curvature", "hope"
BLOCK_CONTEXT, COMPLETE = "block_context", "complete"  # with sizes: "complete:10:4:10"


@dataclass(slots=True)
class Program:
    """A kernel with its data. `rows` are the rows of each output array; what is given with each run lies at `at` in the
    doubles."""

    kernel: Kernel
    data: Data
    rows: tuple[int, ...]
    at: int = 0


class _Box:
    """The box of a lane as leaves of an expression, and the guard against boxes that are none."""

    def __init__(self, b: Builder, n: int):
        self.b = b
        self.guard = Beside(n, self._gap)

    def __call__(self, i: "int | Value") -> Pair:
        return Pair(self.b.neg(self.b.input(0, i)), self.b.input(1, i))

    def _gap(self, i: "int | Value") -> Value:
        """max(0, lo - hi): 0 for an interval, positive for an empty one, NaN for NaN ends and for points at infinity."""
        b = self.b
        return b.max(0.0, b.sub(b.input(0, i), b.input(1, i)))

    def write(self, slot: int, value: Pair) -> None:
        """Outputs lo, hi and level of the value at slot …: Empty for an empty box, everything and undefined for no box or NaN."""
        b, gap = self.b, self.guard.value
        empty, broken = b.ogt(gap, 0.0), b.mor(b.uno(gap, gap), b.uno(value.nlo, value.hi))
        ends = [b.select(empty, -INF, b.select(broken, INF, end)) for end in (value.nlo, value.hi)]
        bad = b.mor(empty, broken)
        b.output(slot, 0, b.neg(ends[0]))
        b.output(slot + 1, 0, ends[1])
        b.output(slot + 2, 0, b.select(bad, float(UNDEFINED), shown_level(b, value.level)))


def _write_pair(b: Builder, slot: int) -> Callable[["int | Value", Pair], None]:
    """A writer of derivative enclosures. NaN and Empty become the whole line: the value's status tells what they are worth."""
    def write(row: "int | Value", value: Pair) -> None:
        broken = b.uno(value.nlo, value.hi)
        if value.may_be_empty:
            broken = b.mor(broken, is_empty(b, value))
        b.output(slot, row, b.neg(b.select(broken, INF, value.nlo)))
        b.output(slot + 1, row, b.select(broken, INF, value.hi))
    return write


def _value(f: Expr, x: Expr) -> Program:
    b, data, out = Builder(), Data(), {}
    box = _Box(b, x.size)
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    box.write(0, out["f"])
    return Program(b.kernel(VALUE, 2, 3), data, (1, 1, 1))


def _nodes(f: Expr, x: Expr) -> Program:
    b = Builder()
    return Program(*nodes(NODES, f, _Box(b, x.size), b))


def _gradient(f: Expr, x: Expr) -> Program:
    b, data, out = Builder(), Data(), {}
    box, write = _Box(b, x.size), _write_pair(b, 3)
    Lowering(b, Enclosures(), {"x": box}, data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (gradient(f, x), lambda at, v: write(at[0], v))], box.guard)
    box.write(0, out["f"])
    return Program(b.kernel(GRADIENT, 2, 5), data, (1, 1, 1, x.size, x.size))


def _mean_value(f: Expr, x: Expr) -> Program:
    """Natural enclosure, and its intersection with f(c) + g(X)(X - c) where f is Lipschitz on the box."""
    b, data, out = Builder(), Data(), {}
    box = _Box(b, x.size)

    def centre(i: "int | Value") -> Pair:
        """A double inside the interval; for unbounded ones the end that is finite, or 0."""
        lo, hi = b.input(0, i), b.input(1, i)
        middle = b.add(b.mul(lo, 0.5), b.mul(hi, 0.5))
        middle = b.min(b.max(middle, lo), hi)
        finite_lo, finite_hi = b.ogt(lo, -INF), b.olt(hi, INF)
        half_line = b.select(finite_lo, lo, b.select(finite_hi, hi, 0.0))
        c = b.select(b.mand(finite_lo, finite_hi), middle, half_line)
        return Pair(b.neg(c), c)
    # X - c is a variable of its own, so that no simplification can mistake it for the argument of the gradient
    deviation = var("d", x.shape)
    tilt = build("sum", build("mul", gradient(f, x), deviation), axes=(0,))
    leaves = {"x": box, "d": lambda i: sub(b, box(i), centre(i))}
    Lowering(b, Enclosures(), {"x": centre}, data).run([(f, lambda at, v: out.setdefault("centre", v))])
    Lowering(b, Enclosures(), leaves, data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (tilt, lambda at, v: out.setdefault("tilt", v))], box.guard)
    natural, tilted = out["f"], add(b, out["centre"], out["tilt"])
    sound = b.mand(b.ogt(tilted.nlo, -INF), b.ogt(tilted.hi, -INF))  # neither NaN nor empty
    usable = b.mand(b.oge(b_level(b, natural.level), float(LIPSCHITZ)), sound)
    best = natural.but(nlo=b.select(usable, b.min(tilted.nlo, natural.nlo), natural.nlo),
                       hi=b.select(usable, b.min(tilted.hi, natural.hi), natural.hi))
    box.write(0, best)
    box.write(3, natural)
    return Program(b.kernel(MEAN_VALUE, 2, 6), data, (1,) * 6)


def _hessian(f: Expr, x: Expr) -> Program:
    """Row i is the Hessian times the i-th unit vector."""
    b, data, out = Builder(), Data(), {}
    box, write, n = _Box(b, x.size), _write_pair(b, 3), x.size
    v = var("v", (n,))
    product = hessian_vector(f, x, v)
    written_out = n * straight_cost(list(topological([product]))) <= 4 * STRAIGHT
    once = Lowering(b, Enclosures(), {"x": box}, data)
    common = [] if written_out else independent_roots(product, v)
    once.run([(f, lambda at, v: out.setdefault("f", v)), *((node, lambda at, v: None) for node in common)], box.guard,
             written_out, stored={node for node in common if node.size > 1})
    box.write(0, out["f"])

    def row(i: "int | Value") -> None:
        def unit(j: "int | Value") -> Pair:
            if isinstance(i, int) and isinstance(j, int):
                return exact(b, float(i == j))
            one = b.select(b.ueq(i, j), 1.0, 0.0)
            return Pair(b.neg(one), one, least=0)

        def put(at: At, v: Pair) -> None:
            write(b.place("uadd", b.place("umul", i, n), at[0]), v)
        once.within({"v": unit}).run([(product, put)], straight=written_out)
    if written_out:
        for i in range(n):
            row(i)
    else:
        with b.loop(n) as turn:
            row(turn.index)
    return Program(b.kernel(HESSIAN, 2, 5), data, (1, 1, 1, n * n, n * n))


def _estimate(name: str, outputs: list[Expr], inputs: int) -> Program:
    b, data = Builder(), Data()
    leaves = {"x": lambda i: b.input(0, i), "v": lambda i: b.input(1, i)}

    def writer(slot: int) -> Callable:
        return lambda at, v: b.output(slot, at[0] if at else 0, v)
    Lowering(b, Estimates(), leaves, data).run([(node, writer(slot)) for slot, node in enumerate(outputs)])
    return Program(b.kernel(name, inputs, len(outputs)), data, tuple(node.size for node in outputs))


PROGRAMS: dict[str, Callable[..., Program]] = {
    VALUE: _value, GRADIENT: _gradient, HESSIAN: _hessian, MEAN_VALUE: _mean_value, NODES: _nodes,
    ESTIMATE: lambda f, x: _estimate(ESTIMATE, [f], 1),
    ESTIMATE_GRADIENT: lambda f, x: _estimate(ESTIMATE_GRADIENT, [f, gradient(f, x)], 1),
    ESTIMATE_HESSIAN_VECTOR: lambda f, x: _estimate(ESTIMATE_HESSIAN_VECTOR, [hessian_vector(f, x, var("v", x.shape))], 2),
    DESCENT_DENSE: lambda f, x: Program(*descent.Dense.program(DESCENT_DENSE, f, x)),
    DESCENT_LIMITED: lambda f, x: Program(*descent.Limited.program(DESCENT_LIMITED, f, x)),
    PROBE: lambda f, x: Program(*descent.probe(PROBE, f, x)),
    SCATTER: lambda f, x: Program(*flight.scatter(SCATTER, x.size)),
    FLIGHT: lambda f, x: Program(*flight.flight(FLIGHT, f, x)),
    BOUND: lambda f, x: Program(*bound.bound(BOUND, f, x)),
    BOUND_BY_PIECES: lambda f, x: Program(*bound.bound(BOUND_BY_PIECES, f, x, by_pieces=True)),
    BRANCH: lambda f, x: Program(*branch.branch(BRANCH, f, x)),
    BRANCH_BY_PIECES: lambda f, x, unbounded=0: Program(*branch.branch(BRANCH_BY_PIECES, f, x, True, bool(unbounded))),
    FATE: lambda f, x: Program(*branch.fate(FATE, x.size)),
    WIDE: lambda f, x: Program(*branch.wide(WIDE, x.size)),
    CONTEXT: lambda f, x, slices=0: Program(*sweep.context(CONTEXT, f, x, slices=slices)),
    SWEEP: lambda f, x: Program(*sweep.sweep(SWEEP, f, x)),
    SPREAD: lambda f, x: Program(*shave.spread(SPREAD, f, x)),
    SHAVED: lambda f, x: Program(*shave.shaved(SHAVED, x.size)),
    TERMS: lambda f, x: Program(*refine.terms(TERMS, f, x)),
    REDUCED: lambda f, x: Program(*refine.reduced(REDUCED, f, x)),
    TESTED: lambda f, x: Program(*refine.tested(TESTED, f, x)),
    POINT_CONTEXT: lambda f, x: Program(*sweep.context(POINT_CONTEXT, f, x, estimates=True)),
    SAMPLE: lambda f, x: Program(*sweep.sample(SAMPLE, f, x)),
    NEWTON: lambda f, x: Program(*sweep.newton(NEWTON, f, x)),
    BLOCK_CONTEXT: lambda f, x, m: Program(*sweep.context(BLOCK_CONTEXT, f, x, block=m)),
    CELLS: lambda f, x, constants: Program(*cells.cells(CELLS, f, x, constants)),
    STEEP: lambda f, x, constants: Program(*cells.steep(STEEP, f, x, constants)),
    BEND: lambda f, x, constants: Program(*cells.bend(BEND, f, x, constants)),
    SHIFT: lambda f, x: Program(*cells.shift(SHIFT, x.size)),
    HOPE: lambda f, x: Program(*cells.hope(HOPE)),
    AT_POINTS: lambda f, x, constants: Program(*cells.at_points(AT_POINTS, f, x, constants)),
    CURVATURE: lambda f, x, constants: Program(*cells.at_points(CURVATURE, f, x, constants, curved=True)),
    COMPLETE: lambda f, x, m, p, samples: Program(*complete.complete(COMPLETE, f, x, m, p, samples)),
}
