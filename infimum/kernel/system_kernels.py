"""Kernels of a function and its constraints together: what both need is computed once."""

from collections.abc import Callable

from infimum.expr.differentiate import gradient
from infimum.expr.node import Expr, var
from infimum.interval.pair import INF, UNDEFINED, Pair
from infimum.kernel.box_conclusions import shown_level
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Kernel, Value
from infimum.kernel.lowering import LaneBox, Lowering, write_pair
from infimum.kernel.meaning import Enclosures, Estimates
from infimum.problem.system import System

Written = tuple[Kernel, Data, tuple[int, ...]]


def values(name: str, system: System, x: Expr) -> Written:
    """Lower ends, upper ends and levels of f, then of all constraints, on a box. What is NaN is everything and undefined."""
    b, data = Builder(), Data()
    Lowering(b, Enclosures(), {"x": LaneBox(b, x.size)}, data).run(outputs_of(b, system, _enclosure_to(b)))
    return b.kernel(name, 2, 3), data, (1 + system.m,) * 3


def jacobian(name: str, system: System, x: Expr) -> Written:
    """The same, and lower and upper ends of the derivatives, those of f first, row after row."""
    b, data, n = Builder(), Data(), x.size
    write = write_pair(b, 3)

    def row(k: int) -> Callable:
        return lambda at, v: write(b.place("uadd", k * n, at[0]), v)
    slopes = [(g, row(k)) for k, g in enumerate(system.jacobian(x))]
    Lowering(b, Enclosures(), {"x": LaneBox(b, n)}, data).run([*outputs_of(b, system, _enclosure_to(b)), *slopes])
    size = (1 + system.m) * n
    return b.kernel(name, 2, 5), data, (*(1 + system.m,) * 3, size, size)


def estimates(name: str, system: System, x: Expr) -> Written:
    """f, then all constraints, at a point, and their derivatives, row after row."""
    b, data, n = Builder(), Data(), x.size

    def row(k: int) -> Callable:
        return lambda at, v: b.output(1, b.place("uadd", k * n, at[0]), v)
    slopes = [(g, row(k)) for k, g in enumerate(system.jacobian(x))]
    Lowering(b, Estimates(), {"x": lambda i: b.input(0, i)}, data).run(
        [*outputs_of(b, system, lambda at, v: b.output(0, at, v)), *slopes])
    return b.kernel(name, 1, 2), data, (1 + system.m, (1 + system.m) * n)


def weighted(name: str, system: System, x: Expr) -> Written:
    """The sum of f and all constraints, each times its weight, at a point, and its gradient. The weights are the second input:
    that of f, then those of the constraints."""
    b, data = Builder(), Data()
    total = system.weighted(var("w", (1 + system.m,)))
    Lowering(b, Estimates(), {"x": lambda i: b.input(0, i), "w": lambda i: b.input(1, i)}, data).run(
        [(total, lambda at, v: b.output(0, 0, v)), (gradient(total, x), lambda at, v: b.output(1, at[0], v))])
    return b.kernel(name, 2, 2), data, (1, x.size)


def weighted_slopes(name: str, system: System, x: Expr) -> Written:
    """Lower and upper ends of the gradient of that sum on a box; the weights are the third input."""
    b, data = Builder(), Data()
    write = write_pair(b, 0)

    def weight(i: "int | Value") -> Pair:
        w = b.input(2, i)
        return Pair(b.neg(w), w)
    slopes = gradient(system.weighted(var("w", (1 + system.m,))), x)
    Lowering(b, Enclosures(), {"x": LaneBox(b, x.size), "w": weight}, data).run([(slopes, lambda at, v: write(at[0], v))])
    return b.kernel(name, 3, 2), data, (x.size, x.size)


def weighted_hessian(name: str, system: System, x: Expr) -> tuple:
    """Enclosures of that sum, of its gradient and of its Hessian (`kernel/hessian.py`); the weights are the third input, lower
    ends, then upper ends."""
    from infimum.kernel.hessian import hessian
    from infimum.structure.term_sums import C

    return hessian(name, system.weighted(var(C, (1 + system.m,))), x, 1 + system.m)


def outputs_of(b: Builder, system: System, write: Callable[["int | Value", object], None]) -> list:
    """Outputs of a lowering: f at row 0, and behind it one body after the other."""
    outputs, begin = [(system.f, lambda at, v: write(0, v))], 1
    for body in system.bodies:
        outputs.append((body, lambda at, v, begin=begin: write(b.place("uadd", begin, at[0]), v)))
        begin += body.size
    return outputs


def _enclosure_to(b: Builder) -> Callable[["int | Value", Pair], None]:
    def write(row: "int | Value", value: Pair) -> None:
        broken = b.uno(value.nlo, value.hi)
        b.output(0, row, b.neg(b.select(broken, INF, value.nlo)))
        b.output(1, row, b.select(broken, INF, value.hi))
        b.output(2, row, b.select(broken, float(UNDEFINED), shown_level(b, value.level)))
    return write
