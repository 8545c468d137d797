"""The rows of a system as linear forms over columns: the variables, and behind them products of two columns, curves over one, and
sums that a product or a curve is taken of.

Equal products are one column, whatever rows they stand in: products of sums are multiplied out. Coefficients are exact.

Proof: docs/proofs/lifted_relaxation.md.
"""

from collections import OrderedDict
from fractions import Fraction
from functools import cached_property
from math import inf, nextafter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from infimum.expr.build import build
from infimum.expr.node import Expr, const, topological
from infimum.expr.rewriting_switches import step
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Place, made_in_order, summands_or_factors
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import plan, straight_cost
from infimum.kernel.view_positions import At
from infimum.ops.line_rules import SMOOTH_CURVES
from infimum.ops.vocabulary import Kind
from infimum.problem.system import System
from infimum.search.policy.bounds import LINEAR_RELAXATIONS as POLICY
from infimum.support.lazy import LazyModule

if TYPE_CHECKING:
    from infimum.expr import point_value
else:
    point_value = LazyModule("expr.point_value")

SQUARE, _INVERSE, _LOG = ("powi", (("k", 2),)), ("powi", (("k", -1),)), ("log", ())


class LiftLimits(NamedTuple):
    """What a lift may need at most: of the cost of what is written out, columns, rows times columns, and products that are made
    for the sake of equations times variables alone."""

    cost: int
    columns: int
    table: float
    made: int
    linear: bool = False  # also of rows that are all linear, of which propagation knows much


IN_LANES, SPARSE = LiftLimits(*POLICY.lane_lift), LiftLimits(*POLICY.single_lift, linear=True)
Number = tuple[Fraction, Fraction]  # a real number between two fractions, mostly equal
# fixed: numbers
_ZERO, ONE, _MINUS = (Fraction(0),) * 2, (Fraction(1),) * 2, (Fraction(-1),) * 2


class LinearForm(NamedTuple):
    """Σ factor times column, and a constant."""

    terms: tuple[tuple[int, Number], ...]  # in the order of columns
    constant: Number = _ZERO

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def is_exact(self) -> bool:
        """Only then are equal forms one number: between two ends there are many."""
        return all(number[0] == number[1] for number in (self.constant, *(c for _, c in self.terms)))

    @property
    def column(self) -> int | None:
        """The column that it is, if it is one."""
        alone = len(self.terms) == 1 and self.constant == _ZERO and self.terms[0][1] == ONE
        return self.terms[0][0] if alone else None


class Column(NamedTuple):
    """A variable has nothing here; a product has two factors, a curve an operation and its argument, a sum a form."""

    factors: tuple[int, int] | None = None
    curve: tuple[str, tuple] | None = None
    argument: int | None = None
    form: LinearForm | None = None
    depth: int = 0

    @property
    def parts(self) -> tuple[int, ...]:
        """The columns that it is made of."""
        if self.form is not None:
            return tuple(k for k, _ in self.form.terms)
        return self.factors or (() if self.argument is None else (self.argument,))


class CannotBeLifted(Exception):
    """An operation has no lines, there would be too many columns, or a coefficient is beyond doubles or has very many bits."""


def doubles(number: Number) -> tuple[float, float]:
    """Doubles around it."""
    try:
        lo, hi = float(number[0]), float(number[1])
    except OverflowError:
        raise CannotBeLifted from None
    return nextafter(lo, -inf) if _above(lo, number[0]) else lo, nextafter(hi, inf) if _above(-hi, -number[1]) else hi


def _above(double: float, number: Fraction) -> bool:
    a, b = double.as_integer_ratio()
    return a * number.denominator > number.numerator * b


def _bits(number: Number) -> int:
    return max(part.bit_length() for end in number for part in (end.numerator, end.denominator))


def _times(one: Number, other: Number) -> Number:
    if _bits(one) + _bits(other) > POLICY.most_coefficient_bits:
        raise CannotBeLifted
    if one[0] == one[1] and other[0] == other[1]:
        return (one[0] * other[0],) * 2
    ends = [p * q for p in one for q in other]
    return min(ends), max(ends)


def plus(*forms: LinearForm) -> LinearForm:
    terms: dict[int, Number] = {}
    lo, hi = _ZERO
    for form in forms:
        lo, hi = lo + form.constant[0], hi + form.constant[1]
        for k, c in form.terms:
            terms[k] = (terms[k][0] + c[0], terms[k][1] + c[1]) if k in terms else c
    return LinearForm(tuple(sorted((k, c) for k, c in terms.items() if c != _ZERO)), (lo, hi))


def scaled(form: LinearForm, factor: Number) -> LinearForm:
    if factor == _ZERO:
        return LinearForm(())
    return LinearForm(tuple((k, _times(c, factor)) for k, c in form.terms), _times(form.constant, factor))


def _is_logarithm_of_quotient(node: Expr) -> bool:
    """log(a / b) is log a - log b where the columns of both are bounded, and elsewhere nothing is known."""
    return node.op == "log" and node.args[0].op == "div"


def _at_constant(op: str, params: tuple, constant: Number) -> Number:
    """A curve over a constant."""
    lo, hi = doubles(constant)
    found = point_value.enclose_at_point(build(op, const(lo), **dict(params)), np.empty(0)) if lo == hi else None
    if found is None or not np.isfinite(found).all():
        raise CannotBeLifted
    return Fraction(found[0]), Fraction(found[1])


def _unit(form: LinearForm) -> tuple[tuple | None, Fraction | None]:
    """Its terms with the first factor made 1, and that factor: sums that differ by a factor and a constant have the same."""
    if form.is_constant or any(lo != hi for lo, hi in (form.constant, *(c for _, c in form.terms))):
        return None, None
    first = form.terms[0][1][0]
    return tuple((k, c[0] / first) for k, c in form.terms), first


def _ordered(ends: list[Fraction | float], factor: Fraction) -> list[Fraction | float]:
    """Finite ends that were multiplied by the factor, infinite ones that were not: the lower one first."""
    return ends if factor > 0 else [-end if end in (-inf, inf) else end for end in reversed(ends)]


class Lift:
    """Makes the columns; `rows` are the forms of f and the constraints."""

    def __init__(self, system: System, x: Expr, size: LiftLimits = IN_LANES):
        rows = list(system.rows)
        if straight_cost(list(topological(rows))) > size.cost:
            raise CannotBeLifted
        self.n, self.system, self.size = x.size, system, size
        self.columns = [Column() for _ in range(self.n)]
        self.known: dict[tuple, int] = {}
        self.elements = Lowering(Builder(), Enclosures(), {}, Data()).elements
        self.elements.plan = plan(rows, straight=True)
        self.forms: dict[Place, LinearForm] = {}
        self.rows = [self._form(row) for row in rows]
        self.logarithmic, self.within = self._sums_times_logarithms(), self._within()
        self.multiplied = equations_times_variables(self, size.made)
        if (len(self.columns) == self.n and not size.linear) or self.entries > size.table:
            raise CannotBeLifted
        for form in (*self.rows, *self.fixed):
            for number in (form.constant, *(c for _, c in form.terms)):
                doubles(number)
        del self.elements, self.forms  # large, and not needed any more

    # ---- forms
    def _form(self, node: Expr) -> LinearForm:
        """What a scalar is."""
        return made_in_order((node, ()), self.forms, self._needs, self._made)

    def _needs(self, node: Expr, at: At) -> list[Place]:
        found = summands_or_factors(self.elements, node, at)
        if found is None and node.kind is Kind.MAP and (node.op in _MADE or node.op in SMOOTH_CURVES):
            found = [(arg, at) for arg in (node.args[0] if _is_logarithm_of_quotient(node) else node).args]
        if found is None and node.kind is not Kind.LEAF:
            raise CannotBeLifted
        return found or []

    def _made(self, node: Expr, at: At, needs: list[LinearForm]) -> LinearForm:
        if node.op == "var":
            return LinearForm(((at[0] if at else 0, ONE),))
        if node.op == "const":
            ends = [float(end[at]) for end in (node.lo, node.hi)]
            if not np.isfinite(ends).all():
                raise CannotBeLifted
            return LinearForm((), (Fraction(ends[0]), Fraction(ends[1])))
        if node.kind is Kind.VIEW or node.op == "sum":
            return plus(*needs)
        if node.op == "prod":
            total = LinearForm((), ONE)
            for form in needs:
                total = self._product(total, form)
            return total
        if _is_logarithm_of_quotient(node):
            return plus(self._curve(*_LOG, needs[0]), scaled(self._curve(*_LOG, needs[1]), _MINUS))
        return self._curve(node.op, node.params, needs[0]) if node.op in SMOOTH_CURVES else _MADE[node.op](self, *needs)

    def _product(self, one: LinearForm, other: LinearForm) -> LinearForm:
        if one.is_constant or other.is_constant:
            return scaled(other, one.constant) if one.is_constant else scaled(one, other.constant)
        if one == other and one.is_exact and len(one.terms) > 1:
            return self._curve(*SQUARE, one)
        if len(one.terms) * len(other.terms) > POLICY.most_expanded_products:
            one, other = (LinearForm(((self._column(form), ONE),)) for form in (one, other))
        products = [scaled(self.pair(j, k), _times(c, d)) for j, c in one.terms for k, d in other.terms]
        return plus(*products, scaled(LinearForm(one.terms), other.constant), scaled(other, one.constant))

    def pair(self, j: int, k: int) -> LinearForm:
        """The product of two columns."""
        if j == k:
            return self._curved(*SQUARE, j)
        j, k = min(j, k), max(j, k)
        if self.columns[k].argument == j and self.columns[k].curve == _INVERSE:
            return LinearForm((), ONE)
        if self.columns[k].argument == j and self.columns[k].curve == _LOG:
            return self._curved("xlogx", (), j)
        depth = 1 + max(self.columns[j].depth, self.columns[k].depth)
        return self._put(("product", j, k), Column(factors=(j, k), depth=depth))

    def _curve(self, op: str, params: tuple, form: LinearForm) -> LinearForm:
        if form.is_constant:
            return LinearForm((), _at_constant(op, params, form.constant))
        if (op, params) == SQUARE and len(form.terms) == 1:
            return self._product(form, form)
        if op == "powi" and len(form.terms) == 1 and form.constant == _ZERO:
            (k, factor), power = form.terms[0], dict(params)["k"]
            if power > 0 and factor[0] == factor[1] and power * _bits(factor) <= POLICY.most_coefficient_bits:
                return scaled(self._curved(op, params, k), (factor[0]**power,) * 2)
        return self._curved(op, params, self._column(form))

    def _curved(self, op: str, params: tuple, k: int) -> LinearForm:
        return self._put((op, params, k), Column(curve=(op, params), argument=k, depth=1 + self.columns[k].depth))

    def _quotient(self, one: LinearForm, other: LinearForm) -> LinearForm:
        if other.is_constant:
            lo, hi = other.constant
            if lo <= 0 <= hi:
                raise CannotBeLifted
            return scaled(one, (1 / hi, 1 / lo))
        return self._product(one, self._curve(*_INVERSE, other))

    def _power(self, one: LinearForm, other: LinearForm) -> LinearForm:
        """One curve where the exponent is a double and no whole number: it is convex or concave then, wherever it is defined."""
        low, high = doubles(other.constant) if other.is_constant and not one.is_constant else (0.0, 0.0)
        if low == high != np.floor(low):
            return self._curve("pow", (("exponent", low),), one)
        return self._curve("exp", (), self._product(other, self._curve("log", (), one)))

    def _column(self, form: LinearForm) -> int:
        """The column that the form is, made if there is none."""
        if form.column is not None:
            return form.column
        depth = 1 + max(self.columns[k].depth for k, _ in form.terms)
        return self._put(("sum", form, None if form.is_exact else len(self.columns)), Column(form=form, depth=depth)).column

    def _put(self, key: tuple, column: Column) -> LinearForm:
        if key not in self.known:
            if len(self.columns) >= self.size.columns:
                raise CannotBeLifted
            self.known[key] = len(self.columns)
            self.columns.append(column)
        return LinearForm(((self.known[key], ONE),))

    # ---- what the columns are
    def _is_linear(self, k: int) -> bool:
        """Is a column a variable or a sum of variables?"""
        form = self.columns[k].form
        return k < self.n or (form is not None and all(j < self.n for j, _ in form.terms))

    def is_flat(self, row: int, products: bool) -> bool:
        """Has a row, f being the first, no columns but variables, curves of linear functions and, with `products`, products of
        two of them? Only then are its lines as good as its tangents."""
        return all(self._is_linear(k) or ((products or self.columns[k].factors is None)
                                          and all(self._is_linear(j) for j in self.columns[k].parts))
                   for k, _ in self.rows[row].terms)

    def _which(self, wanted: str) -> list[int]:
        return [k for k, column in enumerate(self.columns) if getattr(column, wanted) is not None]

    @cached_property
    def products(self) -> list[int]:
        return self._which("factors")

    @cached_property
    def curves(self) -> list[int]:
        return self._which("curve")

    @cached_property
    def cut_variables(self) -> np.ndarray:
        """Those that products and curves read: where these are narrow, relaxations are nearly exact."""
        return np.flatnonzero(self.reads[self.n:].any(axis=0))

    @cached_property
    def reads(self) -> np.ndarray:
        """Which columns (rows here) read which variables."""
        found = np.zeros((len(self.columns), self.n), bool)
        for k, column in enumerate(self.columns):
            if k < self.n:
                found[k, k] = True
            for j in column.parts:
                found[k] |= found[j]
        return found

    @cached_property
    def fixed(self) -> list[LinearForm]:
        """Forms that are nowhere above 0: constraints, what sums are, products of equations and variables."""
        found, system = [], self.system
        for k in range(system.m):
            row, ends = self.rows[k + 1], (system.lower[k], system.upper[k])
            if ends[1] < np.inf:
                found.append(plus(row, LinearForm((), (-Fraction(float(ends[1])),) * 2)))
            if ends[0] > -np.inf:
                found.append(plus(scaled(row, _MINUS), LinearForm((), (Fraction(float(ends[0])),) * 2)))
        for form in self.identities:
            found += [form, scaled(form, _MINUS)]
        return found

    @cached_property
    def identities(self) -> list[LinearForm]:
        """Forms that are 0 at feasible points: what sums are, sums times logarithms, products of equations and variables."""
        same = [plus(column.form, LinearForm(((k, _MINUS),))) for k, column in enumerate(self.columns) if column.form is not None]
        return same + self.logarithmic + self.multiplied

    def _within(self) -> dict[int, tuple[float, float]]:
        """Of sums that constraints bound: between what. Boxes do not know that a denominator stays away from 0."""
        bounds: dict[tuple, tuple[Fraction | float, Fraction | float]] = {}
        for row, *ends in zip(self.rows[1:], self.system.lower, self.system.upper, strict=True):
            key, factor = _unit(row)
            if key is not None:
                ends = [(Fraction(float(end)) - row.constant[0]) / factor if np.isfinite(end) else end for end in ends]
                lo, hi = _ordered(ends, factor)
                known = bounds.get(key, (-inf, inf))
                bounds[key] = max(lo, known[0]), min(hi, known[1])
        found = {}
        for k, column in enumerate(self.columns):
            key, factor = (None, None) if column.form is None else _unit(column.form)
            if key in bounds:
                ends = [end if end in (-inf, inf) else end * factor + column.form.constant[0] for end in bounds[key]]
                lo, hi = _ordered(ends, factor)
                found[k] = lo if lo == -inf else doubles((lo, lo))[0], hi if hi == inf else doubles((hi, hi))[1]
        return found

    def _sums_times_logarithms(self) -> list[LinearForm]:
        """Σ c_i a_i = s gives Σ c_i (a_i log s) = s log s, where all these products are there: terms of an entropy."""
        found = []
        for k, column in enumerate(list(self.columns)):
            form = self.columns[column.argument].form if column.curve == _LOG else None
            if form is not None and all(("product", min(j, k), max(j, k)) in self.known for j, _ in form.terms):
                products = [scaled(self.pair(j, k), c) for j, c in form.terms]
                constant = scaled(LinearForm(((k, ONE),)), form.constant)
                found.append(plus(*products, constant, scaled(self._curved("xlogx", (), column.argument), _MINUS)))
        return found

    @property
    def count(self) -> int:
        """Rows of the linear program, that of f aside."""
        return len(self.fixed) + 4 * (len(self.products) + len(self.curves))

    @property
    def entries(self) -> int:
        """Of the table of the linear program."""
        return len(self.columns) * (self.count + 1)


_MADE = {
    "add": lambda self, one, other: plus(one, other),
    "sub": lambda self, one, other: plus(one, scaled(other, _MINUS)),
    "neg": lambda self, one: scaled(one, _MINUS),
    "mul": Lift._product, "div": Lift._quotient,
    "pow": Lift._power,
}
_kept: "OrderedDict[tuple[str, int, LiftLimits], Lift | None]" = OrderedDict()


# ---- the reformulation-linearisation technique
def equations_times_variables(lift: Lift, made: int) -> list[LinearForm]:
    """Linear equations times a variable, where all products that this needs are there already, or some are, and up to `made`
    new ones are made for all of them together."""
    found = []
    for k in np.flatnonzero(lift.system.equal):
        row = plus(lift.rows[k + 1], LinearForm((), (-Fraction(float(lift.system.lower[k])),) * 2))
        if row.is_constant or any(j >= lift.n for j, _ in row.terms):
            continue
        for i in range(lift.n):
            new = sum(product_key(i, j) not in lift.known for j, _ in row.terms)
            if new == 0 or (new < len(row.terms) and len(lift.columns) + new <= lift.size.columns and new <= made):
                made -= new
                terms = [scaled(lift.pair(i, j), c) for j, c in row.terms]
                found.append(plus(*terms, scaled(LinearForm(((i, ONE),)), row.constant)))
    return found


def product_key(i: int, j: int) -> tuple:
    """By which a lift knows the product of two variables."""
    return (*SQUARE, i) if i == j else ("product", min(i, j), max(i, j))


@step("lifted columns", lambda system, x, size=None: None)
def lift_of(system: System, x: Expr, size: LiftLimits = IN_LANES) -> Lift | None:
    """The columns of a system; None where it cannot be lifted. They are kept: several parts ask for them, and so does a later
    call with an equal system."""
    key = system.key, x.size, size
    if key not in _kept:
        try:
            _kept[key] = Lift(system, x, size)
        except CannotBeLifted:
            _kept[key] = None
        if len(_kept) > POLICY.kept_lifts:
            _kept.popitem(last=False)
    return _kept[key]
