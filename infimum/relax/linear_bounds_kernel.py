"""Linear bounds of expressions, composed backward from the result: in a box, an expression is nowhere below a linear function.

The elements of the expressions are written out as numbers, each a sum of multiples of others, a product of two, or a curve: a
function of one. A multiple λ y of a number is at least a multiple of what y is made of, plus a constant: for sums that is exact;
for a curve λ > 0 takes the line below it and λ < 0 the one above (`ops/line_rules.py`); for a product the planes of McCormick.
What a number receives from all its users is added up before it is passed on, from the result down to the variables: where an
expression uses a number several times, its multiples cancel before anything is enclosed. Multiples are enclosures themselves.

Proof: docs/proofs/linear_bounds.md.
"""

from collections.abc import Callable
from itertools import product as every
from typing import NamedTuple

from infimum.expr.node import Expr
from infimum.interval.arithmetic import add, div, mul
from infimum.interval.pair import Pair, exact
from infimum.kernel.box_conclusions import whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.element_lowering import Place, made_in_order, summands_or_factors
from infimum.kernel.ir import Builder, Value
from infimum.kernel.lowering import LaneBox, Lowering
from infimum.kernel.meaning import Enclosures
from infimum.kernel.schedule import plan
from infimum.kernel.view_positions import At
from infimum.ops.line_rules import SMOOTH_CURVES, LinePair, through_curve, through_middle, through_product
from infimum.ops.vocabulary import Kind
from infimum.problem.system import System
from infimum.relax.affine_meaning import AffineElement, AffineForms
from infimum.relax.curve_lines import lines_at


class LinearNumber(NamedTuple):
    """One number: its enclosure; the numbers it is a sum of, with their factors; or two that it is the product of; or the one
    that it is a curve over, with its lines. With none of these it is a variable, if it has one, or what its enclosure says."""

    pair: Pair
    terms: tuple[tuple[int, Pair | None], ...] = ()  # None: the factor 1
    factors: tuple[int, int] | None = None
    argument: int | None = None
    lines: LinePair | None = None
    variable: int | None = None
    constant: bool = False


class LinearBoundsKernel:
    """Writes the enclosures of all numbers at once, and a linear function for each row that is asked for. With `forms` the
    enclosures are those of affine forms, which are narrower."""

    def __init__(self, b: Builder, data: Data, box: Callable[["int | Value"], Pair], rows: list[Expr],
                 forms: AffineForms | None = None):
        self.b, self.data, self.box = b, data, box
        leaf = box if forms is None else lambda i: forms.leaf(b, i, box(i).lo(b), box(i).hi)
        self.elements = Lowering(b, forms or Enclosures(), {"x": leaf}, data).elements
        self.elements.plan = plan(rows, straight=True)
        self.numbers: list[LinearNumber] = []
        self.places: dict[Place, int] = {}
        self.rows = [self._number(row, ()) for row in rows]

    # ---- numbers
    def _number(self, node: Expr, at: At) -> int:
        """The number that an element is."""
        return made_in_order((node, at), self.places, self._needs, self._made)

    def _needs(self, node: Expr, at: At) -> list[Place]:
        found = summands_or_factors(self.elements, node, at)
        if found is None:
            found = [(arg, at) for arg in node.args] if node.kind is Kind.MAP and node.op in _MADE else []
        return found

    def _made(self, node: Expr, at: At, needs: list[int]) -> int:
        if node.kind is Kind.VIEW:
            return needs[0] if len(needs) == 1 else self._sum(needs, self._element(node, at)[0])
        pair, lines = self._element(node, at)
        if node.op == "var":
            return self._put(LinearNumber(pair, variable=at[0] if at else 0))
        if node.op == "const":
            return self._put(LinearNumber(pair, constant=True))
        if node.op == "sum":
            return self._sum(needs, pair)
        if node.op == "prod":
            return self._product_of_all(needs, pair)
        made = _MADE.get(node.op) if node.kind is Kind.MAP else None
        if lines is not None and made is _bent:
            return self._put(LinearNumber(pair, argument=needs[0], lines=lines))
        return self._put(LinearNumber(pair)) if made is None else made(self, node, needs, pair)

    def _element(self, node: Expr, at: At) -> tuple[Pair, LinePair | None]:
        """The enclosure of an element, and its lines, if they are known."""
        value = self.elements.element(node, at)
        return (value.pair, value.lines) if isinstance(value, AffineElement) else (value, None)

    def _put(self, number: LinearNumber) -> int:
        self.numbers.append(number)
        return len(self.numbers) - 1

    def _sum(self, terms: list[int], pair: Pair) -> int:
        return self._put(LinearNumber(pair, tuple((k, None) for k in terms)))

    def _scaled(self, k: int, factor: Pair, pair: Pair) -> int:
        return self._put(LinearNumber(pair, ((k, factor),)))

    def _product(self, one: int, other: int, pair: Pair) -> int:
        first, second = self.numbers[one], self.numbers[other]
        if first.constant or second.constant:
            return self._scaled(*((other, first.pair) if first.constant else (one, second.pair)), pair)
        if one == other:
            return self._curve("powi", (("k", 2),), one, pair)
        return self._put(LinearNumber(pair, factors=(one, other)))

    def _product_of_all(self, terms: list[int], pair: Pair) -> int:
        total = terms[0] if terms else self._put(LinearNumber(pair, constant=True))
        for k in terms[1:]:
            total = self._product(total, k, mul(self.b, self.numbers[total].pair, self.numbers[k].pair))
        return total

    def _curve(self, op: str, params: tuple, k: int, pair: Pair) -> int:
        if self.numbers[k].constant:
            return self._put(LinearNumber(pair, constant=True))
        return self._put(LinearNumber(pair, argument=k, lines=lines_at(self.b, op, params, self.numbers[k].pair, pair)))

    def _quotient(self, one: int, other: int, pair: Pair) -> int:
        b, divisor = self.b, self.numbers[other].pair
        inverse = div(b, exact(b, 1.0), divisor)
        if self.numbers[other].constant:
            return self._scaled(one, inverse, pair)
        return self._product(one, self._curve("powi", (("k", -1),), other, inverse), pair)

    # ---- from a row down to the variables
    def below(self, row: int, sign: float, first: bool | None) -> tuple[dict[int, Pair], Value]:
        """A linear function that sign times the row is nowhere below: the multiples of variables, and minus the constant. Of the
        two planes below a product, the `first` or the other; None: the one between them."""
        b = self.b
        given: dict[int, Pair] = {self.rows[row]: exact(b, sign)}
        found, nlo = {}, b.const(0.0)
        for k in range(self.rows[row], -1, -1):
            factor = given.pop(k, None)
            if factor is None:
                continue
            number = self.numbers[k]
            if number.variable is not None:
                found[number.variable] = factor
                continue
            shares: list[tuple[int, Pair]] = []
            if number.terms:
                shares = [(j, factor if c is None else mul(b, factor, c)) for j, c in number.terms]
            elif number.factors is not None:
                one, other = number.factors
                known = _ends(factor, self.numbers[one].pair, self.numbers[other].pair, number.pair)
                ends = (b.outline("through_middle", through_middle, *known) if first is None else
                        b.outline("through_product", through_product, *known, b.const(float(first))))
                shares, nlo = [(one, Pair(*ends[:2])), (other, Pair(*ends[2:4]))], b.add(nlo, ends[4])
            elif number.argument is not None:
                ends = b.outline("through_curve", through_curve, *_ends(factor), *number.lines, *_ends(number.pair))
                shares, nlo = [(number.argument, Pair(*ends[:2]))], b.add(nlo, ends[2])
            else:
                nlo = b.add(nlo, mul(b, factor, whole_if_unsound(b, number.pair)).nlo)
            for j, share in shares:
                given[j] = add(b, given[j], share) if j in given else share
        return found, nlo

    def line(self, row: int, sign: float, first: bool | None) -> tuple[dict[int, Value], Value]:
        """The same as a function of the distances from the lower ends of the box, which are not negative: its slopes by the
        variables on which the row depends, in their order, and minus its constant."""
        b, (found, nlo) = self.b, self.below(row, sign, first)
        for i, factor in found.items():
            lo = self.box(i).lo(b)
            nlo = b.add(nlo, mul(b, factor, Pair(b.neg(lo), lo, point=lo)).nlo)
        return {i: b.neg(found[i].nlo) for i in sorted(found)}, nlo


def linear_bounds(name: str, system: System, x: Expr) -> tuple:
    """(kernel, data, rows of the outputs): for every row of the system, and minus it, with the first planes and with the others,
    the slopes of a line in the distances from the lower ends of a box, and its constant."""
    b, data, n = Builder(), Data(), x.size
    bounds = LinearBoundsKernel(b, data, LaneBox(b, n), list(system.rows))
    for k, (row, sign, first) in enumerate(every(range(1 + system.m), (1.0, -1.0), (True, False))):
        slopes, nlo = bounds.line(row, sign, first)
        for i in range(n):
            b.output(0, k * n + i, slopes.get(i, 0.0))
        b.output(1, k, b.neg(nlo))
    count = 4 * (1 + system.m)
    return b.kernel(name, 2, 2), data, (count * n, count)


def _ends(*pairs: Pair) -> list[Value]:
    return [end for p in pairs for end in (p.nlo, p.hi)]


def _of_two(method: str) -> Callable:
    return lambda self, node, needs, pair: getattr(self, method)(*needs, pair)


def _linear(*signs: float) -> Callable:
    def made(self: LinearBoundsKernel, node: Expr, needs: list[int], pair: Pair) -> int:
        return self._put(LinearNumber(pair,
                                      tuple((k, None if s > 0 else exact(self.b, s)) for k, s in zip(needs, signs, strict=True))))
    return made


def _bent(self: LinearBoundsKernel, node: Expr, needs: list[int], pair: Pair) -> int:
    return self._curve(node.op, node.params, needs[0], pair)


_MADE: dict[str, Callable] = {
    "add": _linear(1.0, 1.0), "sub": _linear(1.0, -1.0), "neg": _linear(-1.0), "mul": _of_two("_product"),
    "div": _of_two("_quotient"), **dict.fromkeys(SMOOTH_CURVES, _bent),
}
