"""Terms of entropies, x log x, as one operation: the product of x and log x has no bound near 0, where x log x tends to 0.

Proof: docs/proofs/poles_and_edges.md.
"""

from dataclasses import replace

from infimum.expr.build import build, rebuilt
from infimum.expr.node import Expr, topological
from infimum.expr.rewriting_switches import step
from infimum.problem.system import System


@step("entropies", lambda system: system)
def with_entropies(system: System) -> System:
    """The same system, with products x log x as `xlogx`, and x log(x / y) as y times that of x / y. Where the product is not
    defined, at 0, the operation is: whoever uses the system may bound f on too many points, not on too few.

    >>> import numpy as np
    >>> from infimum.trace.trace import trace
    >>> system = System(trace(lambda x: 3 * x[0] * np.log(x[0]) + x[1], 2), (), np.zeros(0), np.zeros(0))
    >>> with_entropies(system).f.args[0].args[1].op
    'xlogx'
    """
    roots, new = (system.f, *system.bodies), {}
    for node in topological(roots):
        new[node] = _written(rebuilt(node, new))
    if all(new[root] is root for root in roots):
        return system
    f, *bodies = (new[root] for root in roots)
    return replace(system, f=f, bodies=tuple(bodies))


def _written(node: Expr) -> Expr:
    if node.op != "mul" or node.args[0].shape != node.args[1].shape:
        return node
    (one, first), (other, second) = (_factored(arg) for arg in node.args)
    for log, x in ((first, second), (second, first)):
        if log.op != "log":
            continue
        inside = log.args[0]
        if inside.key == x.key:
            found = build("xlogx", x)
        elif inside.op == "div" and inside.args[0].key == x.key and inside.args[1].shape == x.shape:
            found = build("mul", inside.args[1], build("xlogx", inside))
        else:
            continue
        for factor in (one, other):
            found = found if factor is None else build("mul", factor, found)
        return found
    return node


def _factored(node: Expr) -> tuple[Expr | None, Expr]:
    """A constant factor, if there is one, and the rest."""
    if node.op == "mul":
        for constant, rest in (node.args, node.args[::-1]):
            if constant.op == "const" and rest.shape == node.shape:
                return constant, rest
    return None, node
