"""Rows of a system as exact sums of terms with rational coefficients, where some of the variables have known values.

A term is a product of powers of variables and of subexpressions that are kept as they are. Two rows that say the same, in another
order, with the other sign or as multiples, have proportional forms; elimination in rational numbers finds what follows from what.

Proof: docs/proofs/feasible_points.md.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import inf

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.node import Expr, topological
from infimum.expr.real import exact_constant
from infimum.search.policy.bounds import EXACT_FORMS as POLICY
from infimum.support.clock import stop_if_over

Factor = tuple[str, int]                  # ("", j): the variable j; (key, k): the element k of the expression with that key
Term = tuple[tuple[Factor, int], ...]     # factors, in order, and their powers
Form = dict[Term, Fraction]
Ends = tuple[Fraction | float, Fraction | float]  # of an interval: exact numbers, or infinite ones
CONSTANT: Term = ()                       # fixed: the product of no factors


class TooLong(Exception):
    """A form would have more terms than are looked at."""


def variable(j: int) -> Term:
    """The term that is the variable j alone."""
    return ((("", j), 1),)


def degree(term: Term) -> int:
    """The sum of its powers."""
    return sum(power for _, power in term)


def is_linear(form: Form) -> bool:
    """Is every term a constant or a variable alone?"""
    return all(len(term) == 0 or (len(term) == 1 and term[0][1] == 1 and not term[0][0][0]) for term in form)


def is_polynomial(form: Form) -> bool:
    """Is every factor a variable?"""
    return not any(factor[0] for term in form for factor, _ in term)


def plus(a: Form, b: Form, factor: Fraction = Fraction(1)) -> Form:
    """a + factor b."""
    found = dict(a)
    for term, value in b.items():
        total = found.get(term, 0) + factor * value
        if total:
            found[term] = total
        else:
            found.pop(term, None)
    return found


def times(a: Form, b: Form) -> Form:
    """The product, term by term."""
    if len(a) * len(b) > POLICY.most_terms:
        raise TooLong
    found: Form = {}
    for term, value in a.items():
        for other, factor in b.items():
            powers = dict(term)
            for base, power in other:
                powers[base] = powers.get(base, 0) + power
            product = tuple(sorted(powers.items()))
            found[product] = found.get(product, 0) + value * factor
    return {term: value for term, value in found.items() if value}


def number(value: Fraction) -> Form:
    """The form of a constant."""
    return {CONSTANT: value} if value else {}


class ExactForms:
    """Forms of expressions where the variables numbered in `fixed` have these values."""

    most_elements = POLICY.most_elements

    def __init__(self, fixed: dict[int, Fraction]):
        self.fixed, self.found = fixed, {}

    def of(self, row: Expr) -> Form | None:
        """The form of a scalar; None where there is too much to look at."""
        nodes = [node for node in topological([row]) if node not in self.found]
        if sum(node.size for node in nodes) > self.most_elements:
            return None
        for node in nodes:
            stop_if_over()
            self.found[node] = self._form(node, [self.found[a] for a in node.args])
        return self.found[row].item()

    def _form(self, node: Expr, args: list[np.ndarray]) -> np.ndarray:
        if node.op in VIEWS:
            return VIEWS[node.op](node, *args)
        found = np.empty(node.shape, object)
        flat = found.reshape(-1)  # a view, since it is contiguous
        rule = _RULES.get(node.op)
        if node.op == "var":
            flat[:] = [number(self.fixed[j]) if j in self.fixed else {variable(j): Fraction(1)} for j in range(node.size)]
        elif node.op == "const":
            flat[:] = [_constant(node, k) for k in range(node.size)]
        elif node.op in ("sum", "prod"):
            rows = _along(args[0], node["axes"]).reshape(node.size, -1)
            flat[:] = [_or_opaque(node, k, _REDUCED[node.op], rows[k]) for k in range(node.size)]
        elif rule is not None:
            parts = [np.broadcast_to(a, node.shape).reshape(-1) for a in args]
            flat[:] = [_or_opaque(node, k, rule, node, *(part[k] for part in parts)) for k in range(node.size)]
        else:
            flat[:] = [opaque(node, k) for k in range(node.size)]
        return found


def _along(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    kept = [a for a in range(x.ndim) if a not in axes]
    return np.ascontiguousarray(np.transpose(x, [*kept, *axes]))


def opaque(node: Expr, k: int) -> Form:
    """The form that is this element as it is."""
    return {(((node.key, k), 1),): Fraction(1)}


def _or_opaque(node: Expr, k: int, rule: Callable[..., "Form | None"], *args: object) -> Form:
    try:
        form = rule(*args)
    except TooLong:
        form = None
    return opaque(node, k) if form is None else form


def _constant(node: Expr, k: int) -> Form:
    value = exact_constant(float(node.lo.flat[k]), float(node.hi.flat[k]))
    return opaque(node, k) if value is None else number(value)


def _quotient(node: Expr, a: Form, b: Form) -> Form | None:
    if set(b) != {CONSTANT}:
        return None
    return {term: value / b[CONSTANT] for term, value in a.items()}


def _power(node: Expr, a: Form) -> Form | None:
    k = node["k"]
    if not 0 <= k <= POLICY.largest_power:
        return number(a[CONSTANT] ** k) if set(a) == {CONSTANT} and abs(k) <= POLICY.largest_power else None
    found = number(Fraction(1))
    for _ in range(k):
        found = times(found, a)
    return found


def _sum(forms: Iterable[Form]) -> Form:
    found: Form = {}
    for form in forms:
        for term, value in form.items():
            found[term] = found.get(term, 0) + value
    return {term: value for term, value in found.items() if value}


def _product(forms: Iterable[Form]) -> Form:
    found = number(Fraction(1))
    for form in forms:
        found = times(found, form)
    return found


_REDUCED: dict[str, Callable[..., Form]] = {"sum": _sum, "prod": _product}
_RULES: dict[str, Callable[..., Form | None]] = {
    "add": lambda node, a, b: plus(a, b), "sub": lambda node, a, b: plus(a, b, Fraction(-1)),
    "neg": lambda node, a: {term: -value for term, value in a.items()}, "mul": lambda node, a, b: times(a, b),
    "div": _quotient, "powi": _power,
}


# ---- values, and what follows from what
def value_at(form: Form, x: dict[int, Fraction]) -> Fraction | None:
    """At a point; None unless the form is a polynomial."""
    if not is_polynomial(form):
        return None
    total = Fraction(0)
    for term, value in form.items():
        for (_, j), power in term:
            value *= x[j] ** power
        total += value
    return total


def enclosed(form: Form, lo: np.ndarray, hi: np.ndarray, known: dict[Factor, Ends] | None = None) -> Ends:
    """On a box, term by term. `known`: of other factors than variables; one that is not known may be any number.

    >>> enclosed({variable(0): Fraction(2), CONSTANT: Fraction(1)}, np.array([-1.0]), np.array([np.inf]))
    (Fraction(-1, 1), inf)
    """
    low = high = Fraction(0)
    for term, value in form.items():
        least, most = value, value
        for (name, k), power in term:
            ends = (known or {}).get((name, k), (-inf, inf)) if name else (exact_end(float(lo[k])), exact_end(float(hi[k])))
            powers = [ends[0]**power, ends[1]**power, *([Fraction(0)] if power % 2 == 0 and ends[0] < 0 < ends[1] else [])]
            products = [_product_of_ends(a, b) for a in (least, most) for b in (min(powers), max(powers))]
            least, most = min(products), max(products)
        low, high = _sum_of_ends(low, least), _sum_of_ends(high, most)
    return low, high


def exact_end(end: float) -> Fraction | float:
    """Of an interval: exactly what the double is, which may be infinite."""
    return Fraction(end) if abs(end) < inf else end


def _product_of_ends(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    """0 times an infinite end is 0."""
    if not (a and b):
        return Fraction(0)
    if abs(a) == inf or abs(b) == inf:
        return inf if (a > 0) == (b > 0) else -inf
    return a * b


def _sum_of_ends(a: Fraction | float, b: Fraction | float) -> Fraction | float:
    """Of two ends of the same side: where one is infinite, so is the sum."""
    return a if abs(a) == inf else b if abs(b) == inf else a + b


def _size(value: Fraction) -> float:
    """Of a number that may lie beyond all doubles."""
    try:
        return abs(float(value))
    except OverflowError:
        return inf


class Elimination:
    """Forms that vanish, each with a term that it is solved for and that occurs in no other one: what they leave of further ones.

    >>> x, y = variable(0), variable(1)
    >>> known = Elimination(lambda term: 1.0)
    >>> known.add({x: Fraction(1), y: Fraction(2)}) is None, known.reduced({x: Fraction(3), y: Fraction(6)})
    (True, {})
    """

    def __init__(self, preference: Callable[[Term], float]):
        self.preference, self.by = preference, {}

    def reduced(self, form: Form) -> Form:
        """What is left of it where the others vanish."""
        stop_if_over()
        for term in [term for term in form if term in self.by]:
            form = plus(form, self.by[term], -form[term])
        return form

    def add(self, form: Form) -> Form | None:
        """Solves it for the preferred term; returns what is left if that is a constant, which then cannot be chosen."""
        form = self.reduced(form)
        terms = [term for term in sorted(form) if term]
        if not terms:
            return form
        lead = max(terms, key=lambda term: _size(form[term]) * self.preference(term))
        form = {term: value / form[lead] for term, value in form.items()}
        for other, row in self.by.items():
            if lead in row:
                self.by[other] = plus(row, form, -row[lead])
        self.by[lead] = form
        return None
