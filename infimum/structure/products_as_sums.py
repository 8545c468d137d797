"""Products of many factors, as functions of a sum: Π u_i = τ exp(Σ log |u_i|), where τ is the product of the signs.

`as_sums` rewrites a function so, for points of a box on which its factors are enclosed. Where a factor may be 0, its logarithm is
cut off: with u_i between -M_i and M_i, and v_i = max(|u_i|, ε M_i),

    | Π u_i |  lies between  Π v_i - ε Π M_i  and  Π v_i.

The two are equal if nothing is cut off. Otherwise some |u_i| <= ε M_i, so both are between 0 and ε Π M_i, the first one below the
second. So the product is τ (exp(Σ log v_i) - r) with an r between 0 and ε Π M_i, which depends on the point.
(docs/proofs/chains.md)
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.expr.build import build, reshape, substituted
from infimum.expr.node import Expr, between, const, topological, var
from infimum.expr.rewriting_switches import step
from infimum.search.policy.search import RECOGNITION
from infimum.structure.term_sums import X, families_of
from infimum.support.lazy import dataclass

_CUT = 2.0**-60  # fixed: ε of the proof
_LEAST, _MOST = 2.0**-400, 2.0**400  # fixed: of M_i, and of Π M_i: no number here overflows or becomes subnormal


@dataclass(frozen=True, slots=True)
class ProductsAsSums:
    """f: what the function is, for some r of each product that is cut off, and τ of `signed`, one whose sign is not known.
    cut: sums of logarithms that may be cut off; at points where such a sum is above the number given, it is not, and r = 0."""

    f: Expr
    cut: dict[Expr, float]
    signed: Expr | None


@step("factors as logarithms", lambda f, n: [])
def products_of(f: Expr, n: int) -> list[Expr]:
    """The products in f that no term may hold."""
    return [node for node in topological([f]) if node.op == "prod" and node.size == 1
            and node.args[0].size > RECOGNITION.term_variables
            and families_of(node, var(X, (n,))) is None]


def as_sums(f: Expr, products: list[Expr], enclosures: Callable[[Expr], Any], sign: Expr) -> ProductsAsSums:
    """With the products as functions of sums. `enclosures`: of the elements of a node, on the box; `sign` stands for τ."""
    new, cut, signed = {}, {}, None
    for node in products:
        inside = node.args[0]
        lo, hi = (np.asarray(end, dtype=float).reshape(inside.shape) for end in enclosures(inside))
        largest = np.maximum(-lo, hi)
        whole = _product(largest.reshape(-1).tolist())
        if not (lo <= hi).all() or whole is None:
            continue
        known = (lo >= 0) | (hi <= 0)
        if not known.all():
            if signed is not None:
                continue
            signed = node
        strict = bool(((lo > 0) | (hi < 0)).all())
        size = build("mul", const(np.where(lo > 0, 1.0, -1.0)), inside) if strict else build(
            "max", build("abs", inside), const(largest * _CUT))
        total = _sum_of_logarithms(node, size)
        value = build("exp", total)
        if not strict:
            value, cut[total] = build("sub", value, between(0.0, whole * _CUT)), _above_logarithm(whole * _CUT)
        tau = sign if not known.all() else const(float(np.prod(np.where(lo >= 0, 1.0, -1.0))))
        new[node] = reshape(build("mul", tau, value), node.shape)
    return ProductsAsSums(substituted(f, new), cut, signed)


@step("factors as logarithms", lambda f: f)
def with_logarithms(f: Expr) -> Expr:
    """f with each `prod` as e to the sum of the logarithms of its factors: the same function where all of these are positive, and
    undefined elsewhere."""
    new = {node: build("exp", _sum_of_logarithms(node, node.args[0])) for node in topological([f]) if node.op == "prod"}
    return substituted(f, new) if new else f


def _sum_of_logarithms(product: Expr, sizes: Expr) -> Expr:
    return build("sum", build("log", sizes), axes=product["axes"])


def _product(numbers: list[float]) -> float | None:
    """Of positive numbers, or somewhat more; None if one of them is extreme, or the product."""
    product = 1.0
    for number in numbers:
        if not _LEAST < number < _MOST:
            return None
        product = math.nextafter(product * number, math.inf)
        if not _LEAST < product < _MOST:
            return None
    return product


def _above_logarithm(number: float) -> float:
    """Somewhat more than its logarithm: by 0.7 at most, and a rounding error."""
    return (math.frexp(number)[1] * 0.6931471805599453) + 1e-9
