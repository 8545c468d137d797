"""Rows as polynomials, but for factors that are enclosed on a box: functions of variables that may have no bounds.

Proof: docs/proofs/convex_bounds.md.
"""

from fractions import Fraction
from functools import reduce
from math import inf

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index, reshape
from infimum.expr.exact_forms import ExactForms, Factor, Form, is_polynomial, opaque
from infimum.expr.node import Expr, topological
from infimum.structure.curvature import CONCAVE, CONVEX, curvatures

Ends = tuple[Fraction | float, Fraction | float]  # exact numbers, or infinite ones


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
    return is_polynomial(form) and all(sum(power for _, power in term) <= 2 for term in form)


class EnclosedForms:
    """Of rows of n variables. Other factors than variables are enclosed on the box that was given last."""

    def __init__(self, n: int):
        self.n, self.kinds = n, (ExactForms({}), AddendForms({}))
        self.rows: list[Expr] = []  # those with such factors
        self.found: dict[Factor, Ends] = {}
        self.curves: dict[str, np.ndarray] = {}

    def of(self, row: Expr) -> list[Form]:
        """The forms of a scalar: multiplied out, and where that is another one with its addends as they are."""
        forms = [form for kind in self.kinds if (form := kind.of(row)) is not None]
        if not all(map(is_polynomial, forms)):
            self.rows.append(row)
        return forms[:1] if forms[0:1] == forms[1:2] else forms

    def enclose(self, lo: np.ndarray, hi: np.ndarray) -> None:
        """Encloses all factors where they are defined. One that is defined nowhere, or not known, may be any number."""
        if not self.rows:
            return
        total = reduce(lambda a, b: build("add", a, b), self.rows)
        for node, enclosure in Evaluator(total, self.n).inside(lo[:, None], hi[:, None]).items():
            for k, (low, high) in enumerate(zip(enclosure.lo[:, 0].tolist(), enclosure.hi[:, 0].tolist(), strict=True)):
                known = low <= high and low < inf and high > -inf
                self.found[node.key, k] = (_exact(low), _exact(high)) if known else (-inf, inf)

    def element(self, factor: Factor) -> Expr:
        """A factor as an expression."""
        name, k = factor
        node = next(node for node in topological(self.rows) if node.key == name)
        return index(reshape(node, (node.size,)), k)

    def is_convex(self, factor: Factor, positive: bool, lo: np.ndarray, hi: np.ndarray) -> bool:
        """Is it convex, or if it is multiplied by a negative number, concave, as its formula tells? An estimate where it is not
        defined on all of the box."""
        if factor[0] not in self.curves:
            node = next(node for node in topological(self.rows) if node.key == factor[0])
            known = curvatures((node,), lo, hi)
            self.curves[factor[0]] = np.zeros(node.size, int) if known is None else known[0].reshape(-1)
        return bool(self.curves[factor[0]][factor[1]] & (CONVEX if positive else CONCAVE))

    def ends(self, form: Form, lo: np.ndarray, hi: np.ndarray) -> Ends:
        """The form on a box, term by term."""
        low = high = Fraction(0)
        for term, value in form.items():
            least, most = value, value
            for (name, k), power in term:
                ends = self.found.get((name, k), (-inf, inf)) if name else (_exact(float(lo[k])), _exact(float(hi[k])))
                powers = [ends[0]**power, ends[1]**power, *([Fraction(0)] if power % 2 == 0 and ends[0] < 0 < ends[1] else [])]
                products = [_times(a, b) for a in (least, most) for b in (min(powers), max(powers))]
                least, most = min(products), max(products)
            low, high = _plus(low, least), _plus(high, most)
        return low, high


def _exact(end: float) -> Fraction | float:
    return Fraction(end) if abs(end) < inf else end


def _times(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    """As ends of intervals: 0 times an infinite end is 0."""
    if not (a and b):
        return Fraction(0)
    if abs(a) == inf or abs(b) == inf:
        return inf if (a > 0) == (b > 0) else -inf
    return a * b


def _plus(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    """Of two ends of the same side: where one is infinite, so is the sum."""
    return a if abs(a) == inf else b if abs(b) == inf else a + b
