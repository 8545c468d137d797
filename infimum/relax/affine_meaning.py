"""Affine forms as a meaning: every number as its enclosure and a linear function of the variables with an error
(`interval/affine_forms.py`), carried from the leaves up. The enclosures are never wider than those of `Enclosures`.

Proof: docs/proofs/affine_bounds.md.
"""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from infimum.expr.node import Expr
from infimum.interval import affine_forms
from infimum.interval.arithmetic import div, mul
from infimum.interval.pair import Pair, exact
from infimum.kernel.constant_data import Data
from infimum.kernel.ir import Builder, Value
from infimum.kernel.meaning import Enclosures, Meaning, pairwise
from infimum.ops.choices import Truth, decided
from infimum.ops.line_rules import SMOOTH_CURVES, LinePair
from infimum.ops.powers import norm_root
from infimum.ops.rules import RULES
from infimum.ops.vocabulary import OPS, Kind
from infimum.relax.backward_composition import HINGES
from infimum.relax.curve_lines import hinge, lines_at


class AffineElement(NamedTuple):
    """An enclosure; the form, None where the number does not depend on the variables, as far as is known; and of a function of
    one number its lines."""

    pair: Pair
    form: tuple[Value, ...] | None = None
    lines: LinePair | None = None
    size: Value | None = None  # of the numbers of the form, where it is known


class Addend(NamedTuple):
    """What a sum is made of while it is added up: the enclosure is met with the form at the end, and not at every step."""

    pair: Pair
    form: tuple[Value, ...] = ()
    size: Value | None = None


class AffineForms(Meaning):
    """Elements are `AffineElement`s of n variables."""

    def __init__(self, n: int):
        self.n, self.plain = n, Enclosures()
        self.rules = {op: self._rule(op) for op in RULES}

    def leaf(self, b: Builder, j: "int | Value", lo: Value, hi: Value) -> AffineElement:
        """The variable j in [lo, hi]."""
        return AffineElement(Pair(b.neg(lo), hi), affine_forms.variable(b, j, self.n, lo, hi))

    def _rule(self, op: str) -> Callable:
        if op in OPS and OPS[op].kind is Kind.TEST:
            return lambda b, *args: RULES[op](b, *(a.pair if isinstance(a, AffineElement) else a for a in args))
        name = op.split()[0]  # "sin with cos"
        made = _MADE.get(name) or (_curve if name in SMOOTH_CURVES else None)

        def rule(b: Builder, *args: Any, **params: Any) -> AffineElement:
            pair = RULES[op](b, *(a.pair if isinstance(a, AffineElement) else a for a in args), **params)
            still = made is None or all(a.form is None for a in args if isinstance(a, AffineElement))
            return AffineElement(pair) if still else made(self, b, _Operation(pair, name, tuple(sorted(params.items()))), *args)
        return rule

    # ---- forms
    def form_of(self, b: Builder, x: AffineElement) -> tuple[Value, ...]:
        if x.form is not None:
            return x.form
        if x.pair.point is not None:
            return (x.pair.point, *(b.const(0.0),) * (self.n + 1))
        return b.outline(f"affine_constant_{self.n}", partial(_constant, n=self.n), x.pair.nlo, x.pair.hi)

    def sized(self, b: Builder, x: AffineElement) -> tuple[tuple[Value, ...], Value]:
        form = self.form_of(b, x)
        return form, affine_forms.total(b, form[:-1]) if x.size is None else x.size

    def call(self, b: Builder, what: Callable, pair: Pair, *given: Value, lines: LinePair | None = None) -> AffineElement:
        """What one of the functions of `interval/affine_forms.py` makes of an enclosure."""
        nlo, hi, *form = b.outline(f"affine_{what.__name__}_{self.n}", what, pair.nlo, pair.hi, *given)
        return AffineElement(pair.but(nlo=nlo, hi=hi, point=None, zero=False), tuple(form), lines)

    # ---- constants, views, reductions
    def constant(self, b: Builder, data: Data, node: Expr, position: "int | Value") -> AffineElement:
        return AffineElement(self.plain.constant(b, data, node, position))

    def zero(self, b: Builder) -> AffineElement:
        return AffineElement(self.plain.zero(b))

    def nothing(self, b: Builder, op: str) -> AffineElement:
        return AffineElement(self.plain.nothing(b, op))

    def pick(self, b: Builder, mask: Value, value: AffineElement) -> AffineElement:
        form = None if value.form is None else tuple(b.select(mask, v, 0.0) for v in value.form)
        return AffineElement(self.plain.pick(b, mask, value.pair), form)

    def combine(self, op: str) -> Callable:
        rule = self.rules[pairwise(op)]
        return lambda b, x, y: self._add(b, x, y) if isinstance(x, Addend) or isinstance(y, Addend) else rule(b, x, y)

    def before(self, b: Builder, op: str, value: AffineElement) -> AffineElement | Addend:
        value = self.rules["powi"](b, value, k=2) if op == "norm" else value
        return value if value.form is None or pairwise(op) != "add" else self._addend(b, value)

    def after(self, b: Builder, op: str, value: AffineElement | Addend) -> AffineElement:
        if isinstance(value, Addend):
            value = self.call(b, affine_forms.added_up, value.pair, value.size, *value.form)
        return AffineElement(norm_root(b, value.pair)) if op == "norm" else value

    def _addend(self, b: Builder, value: AffineElement | Addend) -> Addend:
        if isinstance(value, Addend):
            return value
        return Addend(value.pair, *self.sized(b, value))

    def _add(self, b: Builder, x: AffineElement | Addend, y: AffineElement | Addend) -> Addend:
        x, y = self._addend(b, x), self._addend(b, y)
        return Addend(RULES["add"](b, x.pair, y.pair), *affine_forms.add_to(b, x.form, x.size, y.form, y.size))

    # ---- through loops and buffers: the form follows the enclosure
    def form(self, value: AffineElement | Addend, op: str | None = None) -> AffineElement | Addend:
        return type(value)(self.plain.form(value.pair, op))

    def recurrence_form(self, a: AffineElement, m: AffineElement) -> AffineElement:
        return AffineElement(self.plain.recurrence_form(a.pair, m.pair))

    def common(self, one: AffineElement, other: AffineElement) -> AffineElement:
        return AffineElement(self.plain.common(one.pair, other.pair))

    def lanes(self, b: Builder, value: AffineElement) -> tuple[Value, ...]:
        form, size = self.sized(b, value)
        return (*form, size, *self.plain.lanes(b, value.pair))

    def pack(self, b: Builder, value: AffineElement | Addend, form: AffineElement | Addend) -> tuple[Value, ...]:
        found, size = (value.form, value.size) if isinstance(value, Addend) else self.sized(b, value)
        return (*found, size, *self.plain.pack(b, value.pair, form.pair))

    def unpack(self, lanes: tuple[Value, ...], form: AffineElement | Addend) -> AffineElement | Addend:
        n = self.n
        return type(form)(self.plain.unpack(lanes[n + 3:], form.pair), form=tuple(lanes[:n + 2]), size=lanes[n + 2])

    def neutral(self, op: str, form: AffineElement | Addend) -> tuple[float, ...]:
        value = float(op == "prod")
        error = float("inf") if op in ("amin", "amax") else 0.0
        return (value, *(0.0,) * self.n, error, value, *self.plain.neutral(op, form.pair))


def _constant(b: Builder, nlo: Value, hi: Value, n: int) -> tuple[Value, ...]:
    return affine_forms.constant(b, n, nlo, hi)


# ---- operations: (meaning, builder, the operation, arguments)
class _Operation(NamedTuple):
    """An operation with its parameters, and the enclosure of its result."""

    pair: Pair
    op: str
    params: tuple


def _sum(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement, y: AffineElement) -> AffineElement:
    what = affine_forms.sum_of if made.op == "add" else affine_forms.difference_of
    return forms.call(b, what, made.pair, *forms.form_of(b, x), *forms.form_of(b, y))


def _minus(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement) -> AffineElement:
    return AffineElement(made.pair, (*(b.neg(v) for v in x.form[:-1]), x.form[-1]))


def _multiple(forms: AffineForms, b: Builder, pair: Pair, x: AffineElement, factor: Pair) -> AffineElement:
    """x times what lies in the factor."""
    if factor.point is not None:
        form, size = affine_forms.multiple_of(b, factor.point, *forms.sized(b, x))
        return AffineElement(pair, form, None, size)
    slope = b.sub(b.mul(0.5, factor.hi), b.mul(0.5, factor.nlo))
    rest = mul(b, Pair(b.add(factor.nlo, slope), b.sub(factor.hi, slope)), x.pair)
    return forms.call(b, affine_forms.along_line, pair, slope, rest.nlo, rest.hi, *x.form)


def _product(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement,
             y: AffineElement) -> AffineElement:
    if x.form is None or y.form is None:
        return _multiple(forms, b, made.pair, *((y, x.pair) if x.form is None else (x, y.pair)))
    return forms.call(b, affine_forms.product_of, made.pair, y.pair.nlo, y.pair.hi, *x.form, *y.form)


def _quotient(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement,
              y: AffineElement) -> AffineElement:
    inverse = div(b, exact(b, 1.0), y.pair)
    if y.form is None:
        return _multiple(forms, b, made.pair, x, inverse)
    return _product(forms, b, made, x, _curve(forms, b, _Operation(inverse, "powi", (("k", -1),)), y))


def _curve(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement) -> AffineElement:
    """A function of one number: it differs from a line between its two lines by no more than these."""
    lines = lines_at(b, made.op, made.params, x.pair, made.pair, x.form[0])
    slope = b.add(b.mul(0.5, lines.slope_below), b.mul(0.5, lines.slope_above))
    below, above = (mul(b, Pair(b.sub(slope, own), b.sub(own, slope)), x.pair) for own in (lines.slope_below, lines.slope_above))
    return forms.call(b, affine_forms.along_line, made.pair, slope, b.add(below.nlo, lines.nlo), b.add(above.hi, lines.hi),
                      *x.form, lines=lines)


def _hinge(forms: AffineForms, b: Builder, made: _Operation, x: AffineElement,
           y: AffineElement) -> AffineElement:
    """max(x, y) = y + relu(x - y) and its like; the lines are those of the difference."""
    d, bent = hinge(b, HINGES[made.op], x.pair, y.pair)
    difference = forms.call(b, affine_forms.difference_of, d, *forms.form_of(b, x), *forms.form_of(b, y))
    curve = _curve(forms, b, _Operation(bent, HINGES[made.op], ()), difference)
    what, whole = (affine_forms.difference_of, x) if made.op == "min" else (affine_forms.sum_of, y)
    return forms.call(b, what, made.pair, *forms.form_of(b, whole), *curve.form, lines=curve.lines)


def _where(forms: AffineForms, b: Builder, made: _Operation, test: Truth, x: AffineElement,
           y: AffineElement) -> AffineElement:
    """The form of the one that is chosen in the whole box; where that is not decided only the enclosure is known."""
    first, second = decided(b, test)
    ways = zip(*(forms.form_of(b, v) for v in (x, y, AffineElement(made.pair))), strict=True)
    return AffineElement(made.pair, tuple(b.select(first, one, b.select(second, other, neither)) for one, other, neither in ways))


_MADE: dict[str, Callable] = {"where": _where, "add": _sum, "sub": _sum, "neg": _minus, "mul": _product, "div": _quotient,
                              **dict.fromkeys(HINGES, _hinge)}
