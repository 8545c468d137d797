"""Kernels of one function: its enclosure, with derivatives, in mean value form; and estimates at points.

Each function returns a kernel, its constants, and the rows of its outputs.
"""

from collections.abc import Callable

from infimum.expr.build import build
from infimum.expr.differentiate import gradient as gradient_of
from infimum.expr.differentiate import hessian_vector
from infimum.expr.node import Expr, var
from infimum.interval.arithmetic import add, sub
from infimum.interval.pair import INF, LIPSCHITZ, Pair, b_level
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import LaneBox, Lowering, write_pair
from infimum.kernel.meaning import Enclosures, Estimates

Written = tuple[Kernel, Data, tuple[int, ...]]


def value(name: str, f: Expr, x: Expr) -> Written:
    """The natural enclosure: lower end, upper end, level."""
    b, data, out = Builder(), Data(), {}
    box = LaneBox(b, x.size)
    Lowering(b, Enclosures(), {"x": box}, data).run([(f, lambda at, v: out.setdefault("f", v))], box.guard)
    box.write(0, out["f"])
    return b.kernel(name, 2, 3), data, (1, 1, 1)


def gradient(name: str, f: Expr, x: Expr) -> Written:
    """The same, and lower and upper ends of the derivatives."""
    b, data, out = Builder(), Data(), {}
    box, write = LaneBox(b, x.size), write_pair(b, 3)
    Lowering(b, Enclosures(), {"x": box}, data).run(
        [(f, lambda at, v: out.setdefault("f", v)), (gradient_of(f, x), lambda at, v: write(at[0], v))], box.guard)
    box.write(0, out["f"])
    return b.kernel(name, 2, 5), data, (1, 1, 1, x.size, x.size)


def mean_value(name: str, f: Expr, x: Expr) -> Written:
    """The natural enclosure met with f(c) + g(X)(X - c) where f is Lipschitz on the box; the natural enclosure alone."""
    b, data, out = Builder(), Data(), {}
    box = LaneBox(b, x.size)

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
    tilt = build("sum", build("mul", gradient_of(f, x), deviation), axes=(0,))
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
    return b.kernel(name, 2, 6), data, (1,) * 6


def estimate(name: str, f: Expr, x: Expr) -> Written:
    """f at a point."""
    return _estimates(name, [f], 1)


def estimate_gradient(name: str, f: Expr, x: Expr) -> Written:
    """f at a point, and its gradient."""
    return _estimates(name, [f, gradient_of(f, x)], 1)


def estimate_hessian_vector(name: str, f: Expr, x: Expr) -> Written:
    """The Hessian at a point times a vector, the second input."""
    return _estimates(name, [hessian_vector(f, x, var("v", x.shape))], 2)


def _estimates(name: str, outputs: list[Expr], inputs: int) -> Written:
    b, data = Builder(), Data()
    leaves = {"x": lambda i: b.input(0, i), "v": lambda i: b.input(1, i)}

    def writer(slot: int) -> Callable:
        return lambda at, v: b.output(slot, at[0] if at else 0, v)
    Lowering(b, Estimates(), leaves, data).run([(node, writer(slot)) for slot, node in enumerate(outputs)])
    return b.kernel(name, inputs, len(outputs)), data, tuple(node.size for node in outputs)
