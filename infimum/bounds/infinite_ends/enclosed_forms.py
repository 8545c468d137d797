"""Rows as polynomials, but for factors that are enclosed on a box: functions of variables that may have no bounds.

Proof: docs/proofs/convex_bounds.md.
"""

from functools import reduce
from math import inf

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index, reshape
from infimum.expr.exact_forms import Ends, ExactForms, Factor, Form, degree, enclosed, exact_end, is_polynomial, opaque
from infimum.expr.node import Expr, topological
from infimum.structure.curvature import CONCAVE, CONVEX, curvatures


class AddendForms(ExactForms):
    """Products and powers are not multiplied out where that is no quadratic polynomial: a square is never negative, its terms may
    be."""

    def _form(self, node: Expr, args: list[np.ndarray]) -> np.ndarray:
        found = super()._form(node, args)
        if node.op in ("mul", "div", "powi", "prod"):
            flat = found.reshape(-1)
            flat[:] = [form if len(form) < 2 or _is_quadratic(form) else opaque(node, k) for k, form in enumerate(flat)]
        return found


def _is_quadratic(form: Form) -> bool:
    return is_polynomial(form) and all(degree(term) <= 2 for term in form)


class EnclosedForms:
    """Of rows of n variables. Other factors than variables are enclosed on the box that was given last."""

    def __init__(self, n: int):
        self.n, self.kinds = n, (ExactForms({}), AddendForms({}))
        self.rows: list[Expr] = []  # those with such factors
        self.box = np.full(n, -inf), np.full(n, inf)
        self.found: dict[Factor, Ends] = {}
        self.nodes: dict[str, Expr] = {}
        self.curves: dict[str, np.ndarray] = {}

    def of(self, row: Expr) -> list[Form]:
        """The forms of a scalar: multiplied out, and where that is another one with its addends as they are."""
        forms = [form for kind in self.kinds if (form := kind.of(row)) is not None]
        if not all(map(is_polynomial, forms)):
            self.rows.append(row)
        return forms[:1] if forms[0:1] == forms[1:2] else forms

    def enclose(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Encloses all factors where they are defined. One that is defined nowhere, or not known, may be any number."""
        self.box, self.curves = (lo.copy(), hi.copy()), {}
        if not self.rows:
            return
        self.nodes = {node.key: node for node in topological(self.rows)}
        total = reduce(lambda a, b: build("add", a, b), self.rows)
        for node, enclosure in Evaluator(total, self.n).inside(lo[:, None], hi[:, None]).items():
            for k, (low, high) in enumerate(zip(enclosure.lo[:, 0].tolist(), enclosure.hi[:, 0].tolist(), strict=True)):
                known = low <= high and low < inf and high > -inf
                self.found[node.key, k] = (exact_end(low), exact_end(high)) if known else (-inf, inf)

    def element(self, factor: Factor) -> Expr:
        """A factor as an expression."""
        name, k = factor
        return index(reshape(self.nodes[name], (self.nodes[name].size,)), k)

    def is_convex(self, factor: Factor, positive: bool) -> bool:
        """Is it convex, or if it is multiplied by a negative number, concave, as its formula tells? An estimate where it is not
        defined on all of the box."""
        name, k = factor
        if name not in self.curves:
            known = curvatures((self.nodes[name],), *self.box)
            self.curves[name] = np.zeros(self.nodes[name].size, int) if known is None else known[0].reshape(-1)
        return bool(self.curves[name][k] & (CONVEX if positive else CONCAVE))

    def ends(self, form: Form, lo: np.ndarray, hi: np.ndarray) -> Ends:
        """The form on a box within that one, term by term."""
        return enclosed(form, lo, hi, self.found)
