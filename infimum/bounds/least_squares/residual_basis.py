"""Rows of separable residuals, e = rest(θ) + Σ_j column_j(θ) κ_j, around a point t of a box T of the nonlinear parameters θ.

A row may be replaced by any other whose square is certainly not larger, or left out; the columns by others with the same span, or
a larger one: lower bounds stay lower bounds. Where a denominator D that all of a row is divided by varies much over T, or
vanishes, the row is multiplied by D / max |D|: that is linear in what stands in D, where the quotient has a pole. Functions that
become equal are replaced by divided differences (`kernel/forms/divided_differences.py`). Where exp(A) would overflow it is exp(A
- g) with g the exponent in one of the rows: its coefficient is κ exp(g) then, any number again.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations_with_replacement
from typing import NamedTuple

from infimum.expr.node import Expr
from infimum.interval.arithmetic import add, mul
from infimum.interval.pair import SMOOTH, Pair, b_level
from infimum.kernel.box_conclusions import add_up, common, whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.balls import middle
from infimum.kernel.forms.divided_differences import DividedDifferences, DividedNode, node_of
from infimum.kernel.ir import Builder, Value
from infimum.kernel.jets import Jet, Jets, unit
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures, Estimates
from infimum.kernel.schedule import plan
from infimum.ops.rules import ESTIMATES, RULES
from infimum.search.policy.bounds import LEAST_SQUARES as POLICY
from infimum.structure.function_families import FunctionFamily
from infimum.structure.separable_residuals import ExponentShift, SeparableResiduals

LARGE = 2.0**400  # fixed: numbers beyond are not worked with
TINY = 2.0**-400  # fixed: its reciprocal


class CoarseEnclosures(Enclosures):
    """Enclosures, but tiny exponentials are only known to be tiny."""

    rules = {**RULES, "exp": lambda b, x: _blunt(b, RULES["exp"](b, x))}


class CoarseEstimates(Estimates):
    """Tiny exponentials are 0."""

    rules = {**ESTIMATES, "exp": lambda b, x: _exp_or_zero(b, x)}


def _blunt(b: Builder, y: Pair) -> Pair:
    return y.but(nlo=b.select(b.ogt(y.nlo, -POLICY.negligible_exponential), 0.0, y.nlo),
                 hi=b.select(b.olt(y.hi, POLICY.negligible_exponential), POLICY.negligible_exponential, y.hi),
                 least=min(y.least, 0), point=None)


def _exp_or_zero(b: Builder, x: Value) -> Value:
    """It is not even computed where it would underflow."""
    tiny = b.olt(x, POLICY.log_negligible)
    return b.select(tiny, 0.0, ESTIMATES["exp"](b, b.select(tiny, POLICY.log_negligible, x)))


class TaylorForm(NamedTuple):
    """A function of θ on T: its value and slopes at t, its slopes and second derivatives on T; None where that is 0."""

    value: Pair
    first: tuple[Pair | None, ...]
    slopes: tuple[Pair | None, ...]
    curvature: tuple[Pair | None, ...]

    def map(self, function: Callable[[Pair], Pair]) -> "TaylorForm":
        def each(pairs: tuple[Pair | None, ...]) -> tuple[Pair | None, ...]:
            return tuple(None if p is None else function(p) for p in pairs)
        return TaylorForm(function(self.value), each(self.first), each(self.slopes), each(self.curvature))


class BasisRow(NamedTuple):
    """One row, `rest` first, then the functions; is it `kept`, and as it is in the residuals (`plain`)? And the data of each
    column; None is 1."""

    values: list[Value]         # at t, estimates
    first: list[list[Value]]    # their slopes there; only if asked for
    taylors: list[TaylorForm]       # only if asked for
    kept: Value
    plain: Value
    data: list[Pair | None]


class ResidualBasis:
    """The box T and the point t of each lane, and the rows. `h` says how far T reaches from t, in each nonlinear parameter."""

    def __init__(self, b: Builder, data: Data, parts: SeparableResiduals, lo: list[Value], hi: list[Value]):
        self.b, self.data, self.parts, self.lo, self.hi = b, data, parts, lo, hi
        self.p, self.q = len(parts.nonlinear), len(parts.columns)
        self.pairs = tuple(combinations_with_replacement(range(self.p), 2))
        functions = {place: gauge.function for place, gauge in parts.gauges}
        self.vectors = [parts.rest, *(functions.get(place, function) for place, function in enumerate(parts.functions))]
        self.gauges: dict[str, tuple[Value, Value]] = {}  # is there one, and is it that of the last row?
        self.t: dict[int, Value] = {}
        self.h: list[Value] = []
        self.bounded = b.olt(-1.0, 0.0)
        for i in parts.nonlinear:
            t = b.min(b.max(b.add(b.mul(lo[i], 0.5), b.mul(hi[i], 0.5)), lo[i]), hi[i])
            self.t[i] = t
            self.h.append(b.max(b.sub(hi[i], t), b.sub(t, lo[i])))
            self.bounded = b.mand(self.bounded, b.mand(b.ogt(lo[i], -LARGE), b.olt(hi[i], LARGE)))
        self._choose_gauges()
        self.largest = self._largest() if parts.multiplied else None
        self.divided = [DividedDifferences(b, data, family, self._nodes(family), CoarseEnclosures()) for family in parts.families]

    def _nodes(self, family: FunctionFamily) -> list[DividedNode]:
        return [node_of(self.b, self.parts.nonlinear.index(i), self.lo[i], self.hi[i], self.t[i], family.inverse)
                for _, i in family.members]

    def is_replaced(self, function: int) -> Value | None:
        """In which lanes the columns of a function are not those of the residuals; None: in no lane."""
        for divided in self.divided:
            if any(place == function for place, _ in divided.family.members):
                return divided.any
        for place, gauge in self.parts.gauges:
            if place == function:
                return self.gauges[gauge.name][0]
        return None

    def sizes(self, sizes: list[Value]) -> list[Value]:
        """The largest coefficients of the columns as they are here, from those of the residuals."""
        column = {function: j for j, (_, function) in enumerate(self.parts.columns)}
        for divided in self.divided:
            places = [column[place] for place, _ in divided.family.members]
            for j, size in zip(places, divided.sizes([sizes[j] for j in places]), strict=True):
                sizes[j] = size
        for place, gauge in self.parts.gauges:  # times exp(g)
            used = self.gauges[gauge.name][0]
            most = RULES["exp"](self.b, self._lowering(CoarseEnclosures(), self._box).elements.leaves[gauge.name](0)).hi
            for j, (_, function) in enumerate(self.parts.columns):
                if function == place:
                    sizes[j] = self.b.select(used, self.b.mul(sizes[j], most), sizes[j])
        return sizes

    # ---- leaves
    def _choose_gauges(self) -> None:
        """The larger one of the exponents in the first and in the last row at t, if that is large, or far below 0."""
        b, lowering = self.b, Lowering(self.b, CoarseEstimates(), {"x": lambda i: self.t[i]}, self.data)
        for _, gauge in self.parts.gauges:
            first, last = lowering.elements_at(list(gauge.choices), ())
            self.gauges[gauge.name] = b.ogt(b.abs(b.max(first, last)), POLICY.largest_exponent), b.ogt(last, first)

    def _gauge(self, gauge: ExponentShift, meaning: object, leaf: Callable) -> Value | Pair | Jet:
        """g, with this meaning."""
        b, (used, second) = self.b, self.gauges[gauge.name]
        first, last = Lowering(b, meaning, {"x": leaf}, self.data).elements_at(list(gauge.choices), ())
        zero = Pair(b.const(0.0), b.const(0.0))

        def value(one: Value, other: Value) -> Value:
            return b.select(used, b.select(second, other, one), 0.0)

        def pair(one: Pair | None, other: Pair | None) -> Pair | None:
            if one is None and other is None:
                return None
            one, other = one or zero, other or zero
            return Pair(value(one.nlo, other.nlo), value(one.hi, other.hi),
                        b.select(used, b.min(b_level(b, one.level), b_level(b, other.level)), float(SMOOTH)))
        if isinstance(first, Jet):
            return Jet(pair(first.value, last.value), *(tuple(map(pair, one, other)) for one, other in
                                                        zip(first[1:], last[1:], strict=True)))
        return pair(first, last) if isinstance(first, Pair) else value(first, last)

    def _lowering(self, meaning: object, leaf: Callable, tighter: dict | None = None) -> Lowering:
        known = {gauge.name: self._gauge(gauge, meaning, leaf) for _, gauge in self.parts.gauges}
        leaves = {name: lambda _, g=g: g for name, g in known.items()}
        lowering = Lowering(self.b, meaning, {"x": leaf, **leaves}, self.data, tighter)
        data = [column for column, _ in self.parts.columns if column is not None]
        lowering.elements.plan = plan([*self.vectors, *self.parts.multiplied, *data], straight=False)
        return lowering

    def _box(self, i: int) -> Pair:
        return Pair(self.b.neg(self.lo[i]), self.hi[i])

    def _point(self, i: int) -> Pair:
        return Pair(self.b.neg(self.t[i]), self.t[i], point=self.t[i])

    def _jets(self, box: Callable[[int], Pair], pairs: tuple, tighter: dict | None = None) -> Lowering:
        jets, where = Jets(self.data, self.p, pairs, CoarseEnclosures()), {i: k for k, i in enumerate(self.parts.nonlinear)}
        return self._lowering(jets, lambda i: jets.leaf(box(i), [unit(self.b, k, where[i]) for k in range(self.p)]), tighter)

    def _largest(self) -> Value:
        """The largest 1 / D that a row may have, else it is weighted down: some times what is typical, by the mean of its fourth
        roots. A few rows near a pole would leave nothing of the others."""
        b, values = self.b, self._lowering(CoarseEstimates(), lambda i: self.t[i])
        with b.loop(self.parts.rest.size) as turn, values.elements.scope():
            inverse = b.div(1.0, b.max(b.abs(values.elements.element(self.parts.multiplied[0], (turn.index,))), TINY))
            total = b.step((0.0,), (b.sqrt(b.sqrt(inverse)),), add_up)
        mean = b.div(total.results[0], float(self.parts.rest.size))
        return b.mul(b.mul(b.mul(mean, mean), b.mul(mean, mean)), POLICY.largest_weight)

    # ---- rows
    @contextmanager
    def rows(self, slopes: bool = False, taylor: bool = False) -> Iterator[BasisRow]:
        """A loop over them. With `slopes` and `taylor` these are computed too."""
        values = self._lowering(CoarseEstimates(), lambda i: self.t[i])
        here = self._jets(self._point, ())
        tighter = {gauge.function.args[0]: lambda _, jet, at, node=gauge.function.args[0]: self._mean_value(
            jet, here.elements.element(node, at)) for _, gauge in self.parts.gauges}
        there = self._jets(self._box, self.pairs, tighter)
        boxes = self._jets(self._box, (), tighter) if tighter else self._lowering(CoarseEnclosures(), self._box)
        with self.b.loop(self.parts.rest.size) as turn, ExitStack() as stack:
            at = (turn.index,)
            for lowering in (values, boxes, here, there, *(each for divided in self.divided for each in divided.lowerings())):
                stack.enter_context(lowering.elements.scope())

            def jets(nodes: list[Expr]) -> list[TaylorForm]:
                found = []
                for node in nodes:
                    one, other = here.elements.element(node, at), there.elements.element(node, at)
                    found.append(TaylorForm(one.value, one.first, other.first, other.second))
                return found

            def points(nodes: list[Expr]) -> list[list[Value]]:
                return [self._slopes(here.elements.element(node, at)) for node in nodes] if slopes else []

            def plain(lowering: Lowering, nodes: list[Expr]) -> list:
                found = [lowering.elements.element(node, at) for node in nodes]
                return [each.value if isinstance(each, Jet) else each for each in found]
            yield self._chosen(
                self._replaced(at, taylor, plain(values, self.vectors), points(self.vectors),
                               jets(self.vectors) if taylor else [], self._kept(plain(boxes, self.vectors))),
                self._multiplied(at, values, boxes, points, jets if taylor else lambda _: []),
                [None if column is None else plain(boxes, [column])[0] for column, _ in self.parts.columns])

    def _replaced(self, at: tuple, taylor: bool, values: list, first: list, taylors: list, kept: Value) -> tuple:
        """The row, with divided differences where functions are close to each other."""
        b = self.b
        for divided in self.divided:
            for place, choices in divided.replaced(at, self.p, self.pairs, taylor).items():
                k = 1 + place
                for mask, value, slope, slopes, curvature, sound in choices:
                    values[k] = b.select(mask, middle(b, value), values[k])
                    if first:
                        first[k] = [b.select(mask, b.const(0.0) if p is None else middle(b, p), old)
                                    for p, old in zip(slope, first[k], strict=True)]
                    if taylors:
                        form = TaylorForm(value, tuple(slope), tuple(slopes), tuple(curvature))
                        taylors[k] = _select(b, mask, form, taylors[k])
                    kept = b.mand(kept, b.mor(b.mnot(mask), sound))
        return values, first, taylors, kept

    def _mean_value(self, jet: Jet, at_point: Jet) -> Jet:
        """A jet on T whose value and slopes are intersected with what follows from those at t and the next derivatives on T: its
        parts may depend on each other."""
        b, first = self.b, list(jet.first)
        smooth = b.oge(b_level(b, jet.value.level), float(SMOOTH))

        def better(known: Pair, start: Pair, terms: list[tuple[Pair | None, Value]]) -> Pair:
            found = Pair(start.nlo, start.hi)
            for slope, far in terms:
                if slope is not None:
                    found = add(b, found, mul(b, whole_if_unsound(b, slope), Pair(far, far)))
            best = common(b, whole_if_unsound(b, found), whole_if_unsound(b, known))
            return known.but(nlo=b.select(smooth, best.nlo, known.nlo), hi=b.select(smooth, best.hi, known.hi), point=None)
        second = dict(zip(self.pairs, jet.second, strict=True)) if jet.second else {}
        for k, slope in enumerate(jet.first):
            if second and slope is not None and at_point.first[k] is not None:
                terms = [(second[min(k, m), max(k, m)], h) for m, h in enumerate(self.h)]
                first[k] = better(slope, at_point.first[k], terms)
        value = better(jet.value, at_point.value, list(zip(first, self.h, strict=True)))
        if second:
            halves = [(entry, b.mul(b.mul(self.h[k], self.h[m]), 0.5 if k == m else 1.0)) for (k, m), entry in second.items()]
            value = better(value, at_point.value, [*zip(at_point.first, self.h, strict=True), *halves])
        return Jet(value, tuple(first), jet.second)

    def _slopes(self, jet: Jet) -> list[Value]:
        return [self.b.const(0.0) if p is None else p.hi for p in jet.first]

    def _kept(self, there: list[Pair]) -> Value:
        """Is a row smooth and bounded on the box?"""
        b = self.b
        keep = b.olt(-1.0, 0.0)
        for pair in there:
            keep = b.mand(keep, b.mand(b.olt(pair.nlo, LARGE), b.olt(pair.hi, LARGE)))
            if pair.level is not SMOOTH:
                keep = b.mand(keep, b.oge(b_level(b, pair.level), float(SMOOTH)))
        return keep

    def _multiplied(self, at: tuple, values: Lowering, boxes: Lowering, points: Callable, jets: Callable) -> tuple | None:
        """The row times its denominator, as part of the largest; and where that is better."""
        if not self.parts.multiplied:
            return None
        b, (denominator, *vectors) = self.b, self.parts.multiplied
        there, here = boxes.elements.element(denominator, at), values.elements.element(denominator, at)
        largest = b.max(b.abs(there.nlo), b.abs(there.hi))
        part = b.min(b.neg(b.div(-1.0, largest)), self.largest)  # rounded down
        sound = b.mand(b.mand(b.ogt(largest, TINY), b.olt(largest, LARGE)), self._kept([there]))
        much = b.ogt(b.add(there.nlo, there.hi), b.mul(POLICY.much_variation, b.abs(here)))
        # such rows count fully: the bound is to be sharp
        little = b.olt(b.add(there.nlo, there.hi), b.mul(POLICY.little_variation, b.abs(here)))
        weight = b.select(little, 1.0, b.min(b.mul(self.largest, b.abs(here)), 1.0))
        return self._weighted(part, [values.elements.element(v, at) for v in vectors], points(vectors), jets(vectors),
                              b.mand(sound, self._kept([boxes.elements.element(v, at) for v in vectors]))), much, weight

    def _weighted(self, weight: Value, values: list, first: list, taylors: list, kept: Value) -> tuple:
        """A row times a number that is not negative."""
        b, factor = self.b, Pair(self.b.neg(weight), weight, point=weight, least=0)
        return ([b.mul(v, weight) for v in values], [[b.mul(s, weight) for s in row] for row in first],
                [taylor.map(lambda p: mul(b, factor, p)) for taylor in taylors], kept)

    def _chosen(self, one: tuple, more: tuple | None, data: list[Pair | None]) -> BasisRow:
        b = self.b
        if more is None:
            return BasisRow(*one, b.olt(-1.0, 0.0), data)
        other, much, weight = more
        one = self._weighted(weight, *one)
        use = b.mand(other[3], b.mor(much, b.mnot(one[3])))

        def pick(mine: list, its: list) -> list:
            return [b.select(use, y, x) for x, y in zip(mine, its, strict=True)]
        return BasisRow(pick(one[0], other[0]), [pick(x, y) for x, y in zip(one[1], other[1], strict=True)],
                        [_select(b, use, y, x) for x, y in zip(one[2], other[2], strict=True)],
                        b.mor(use, one[3]), b.mand(b.mnot(use), b.oeq(weight, 1.0)), data)


def _select(b: Builder, use: Value, one: TaylorForm, other: TaylorForm) -> TaylorForm:
    """The first where the mask holds, else the second."""
    zero = Pair(b.const(0.0), b.const(0.0))

    def pick(p: Pair | None, q: Pair | None) -> Pair | None:
        if p is None and q is None:
            return None
        p, q = p or zero, q or zero
        return Pair(b.select(use, p.nlo, q.nlo), b.select(use, p.hi, q.hi))
    rest = (tuple(map(pick, mine, its)) for mine, its in zip(one[1:], other[1:], strict=True))
    return TaylorForm(pick(one.value, other.value), *rest)
