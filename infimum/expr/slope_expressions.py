"""Slopes: numbers s_i with f(x) - f(c) = Σ s_i (x_i - c_i) for given points x and c, as expressions in both.

They lie in narrower enclosures than derivatives: x² - c² is (x + c)(x - c), so that the slope of x² on a box X is X + c, half
as wide as 2 X. For products, quotients, powers and roots there are such identities, true for all x and c. By reverse mode they
make one of whatever consists of them. Any other operation inside f, w(x), has slopes by the mean value theorem: the derivatives
of w at some point of the box that holds x and c. That is another point for each of them, so it is a variable of its own: as x
it would be taken for x, and what differs might cancel.

Proof: docs/proofs/constraint_lines.md.
"""

from infimum.expr.array_derivative_rules import negative, over, times
from infimum.expr.build import broadcast, build, rebuilt, substituted
from infimum.expr.derivative_rules import sent_back
from infimum.expr.differentiate import depends_on, gradient, reverse
from infimum.expr.node import Expr, const, topological, var
from infimum.ops.vocabulary import Kind

_LINEAR = ("add", "sub", "neg", "sum", "cumsum")
POINT, BETWEEN = "c", "z"  # names of the variables: c, and z0, z1, …


class SlopeExpressions:
    """Those of one expression. `value` has them, in the shape of x; `between` are the names of the points between x and c."""

    def __init__(self, f: Expr, x: Expr):
        self.x, self.c, self.between = x, var(POINT, x.shape), []
        nodes, self.active = list(topological([f])), depends_on([f], x)
        self.twin: dict[Expr, Expr] = {x: self.c}  # the same at c
        for node in nodes:
            if node not in self.twin:
                self.twin[node] = rebuilt(node, self.twin)
        self.value = reverse(f, x, self._share, self._ends)

    def _moves(self, node: Expr) -> bool:
        return id(node) in self.active

    def _share(self, node: Expr, a: Expr, i: int) -> Expr | None:
        rule = _RULES.get(node.op)
        return sent_back(node, a, i) if rule is None else rule(self, node, a, i)

    def _ends(self, node: Expr, a: Expr) -> Expr | None:
        """Where the mean value theorem begins."""
        if node is self.x or node.op in _RULES or node.op in _LINEAR or node.kind is Kind.VIEW:
            return None
        z = var(f"{BETWEEN}{len(self.between)}", self.x.shape)
        self.between.append(z["name"])
        there = build("mul", broadcast(a, node.shape), substituted(node, {self.x: z}))
        return gradient(build("sum", there, axes=tuple(range(len(node.shape)))) if node.shape else there, z)

    # ---- identities
    def _mul(self, node: Expr, a: Expr, i: int) -> Expr:
        """u v - u' v' = (v + v')/2 (u - u') + (u + u')/2 (v - v')"""
        other = node.args[1 - i]
        return times(a, self._middle(other) if self._moves(other) else other)

    def _middle(self, node: Expr) -> Expr:
        return build("mul", 0.5, build("add", node, self.twin[node]))

    def _div(self, node: Expr, a: Expr, i: int) -> Expr:
        """u/v - u'/v' = (u - u')/v - (u'/v') (v - v')/v"""
        v = node.args[1]
        return over(a, v) if i == 0 else negative(over(times(a, self.twin[node]), v))

    def _powi(self, node: Expr, a: Expr, i: int) -> Expr | None:
        k, u = node["k"], node.args[0]
        if k == 0:
            return None
        slope = _of_power(u, self.twin[u], abs(k))
        if k > 0:
            return times(a, slope)
        both = build("mul", build("powi", u, k=-k), build("powi", self.twin[u], k=-k))
        return negative(times(a, build("div", slope, both)))

    def _sqrt(self, node: Expr, a: Expr, i: int) -> Expr:
        return over(a, build("add", node, self.twin[node]))


_RULES = {"mul": SlopeExpressions._mul, "div": SlopeExpressions._div, "powi": SlopeExpressions._powi,
          "sqrt": SlopeExpressions._sqrt}


def _of_power(u: Expr, v: Expr, k: int) -> Expr:
    """(u**k - v**k) / (u - v)"""
    if k == 1:
        return broadcast(const(1.0), u.shape)
    if k == 2:
        return build("add", u, v)
    if k % 2 == 0:
        half = k // 2
        return build("mul", _of_power(u, v, half), build("add", build("powi", u, k=half), build("powi", v, k=half)))
    if k == 3:  # u² + u v + v², with u once
        middle = build("add", u, build("mul", 0.5, v))
        return build("add", build("powi", middle, k=2), build("mul", 0.75, build("powi", v, k=2)))
    rest = build("mul", v, _of_power(u, v, k - 1))
    return build("add", build("powi", u, k=k - 1), rest)
