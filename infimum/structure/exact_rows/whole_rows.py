"""What whole numbers make of polynomial constraints: ends that no value reaches are tightened, coefficients with them, variables
that equations make whole are found, constraints that others or the bounds imply are left out. All in rational numbers.

Proof: docs/proofs/whole_numbers.md.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator
from fractions import Fraction
from math import ceil, floor, gcd, lcm
from typing import NamedTuple

import numpy as np

from infimum.expr.build import VIEWS
from infimum.expr.exact_forms import CONSTANT, ExactForms, Form, Term, is_linear, is_polynomial, variable
from infimum.expr.node import Expr, topological
from infimum.problem.system import System
from infimum.search.policy.search import WHOLE_ROWS as POLICY
from infimum.support.clock import stop_if_over
from infimum.support.given_numbers import round_down, round_up

End = Fraction | None  # None: there is no such end


class NoWholePoint(Exception):
    """No point meets the constraint of this number, or some of them together where it is None."""

    def __init__(self, number: int | None):
        self.number = number


class WholeRow(NamedTuple):
    """lower <= form <= upper, which constraint `number` says, `rewritten` with other coefficients. With the constant of the
    constraint added, the ends are doubles."""

    form: Form
    constant: Fraction
    lower: End
    upper: End
    number: int
    rewritten: bool = False

    @property
    def is_equation(self) -> bool:
        return self.lower is not None and self.lower == self.upper

    @property
    def coefficients(self) -> dict[int, Fraction]:
        """Of the variables, where it is linear."""
        return {j: c for term, c in self.form.items() for j in variables_of([term])}

    def within(self, lower: End, upper: End) -> "WholeRow":
        """With these ends, which hold at the same points as its own together with them."""
        if lower is not None and upper is not None and lower > upper:
            raise NoWholePoint(self.number)
        return self._replace(lower=lower, upper=upper)


def rows_of(system: System) -> Iterator[WholeRow]:
    """The constraints that are polynomials with rational coefficients, wherever they are looked at. Nothing else of a constraint
    may be left out: it says where the problem is defined."""
    forms = ExactForms({})
    for number, row in enumerate(system.rows[1:]):
        form = forms.of(row) if is_defined_everywhere(row) else None
        if form is not None and is_polynomial(form) and len(form) <= POLICY.most_terms:
            ends = (None if np.isinf(end) else Fraction(float(end)) for end in (system.lower[number], system.upper[number]))
            constant, form = form.get(CONSTANT, Fraction(0)), {term: c for term, c in form.items() if term}
            if form:
                yield WholeRow(form, constant, *(None if end is None else end - constant for end in ends), number)


def is_defined_everywhere(row: Expr) -> bool:
    """Is it made of finite constants and variables by sums, products, powers and divisions by numbers other than 0?"""
    return not any(map(may_be_undefined, topological([row])))


def may_be_undefined(node: Expr) -> bool:
    """Is it no finite constant, no variable, and none of these operations?"""
    if node.op == "const":
        return not (np.isfinite(node.lo).all() and np.isfinite(node.hi).all())
    if node.op == "div":
        return node.args[1].op != "const" or bool(((node.args[1].lo <= 0) & (node.args[1].hi >= 0)).any())
    if node.op == "powi":
        return node["k"] < 0
    return node.op not in ("var", "add", "sub", "neg", "mul", "sum", "prod") and node.op not in VIEWS


def variables_of(terms: Iterable[Term]) -> set[int]:
    """The variables in these terms."""
    return {j for term in terms for (_, j), _ in term}


class WholeRows:
    """The rows over a box, with the variables that are whole. `run` does all that there is to do."""

    def __init__(self, system: System, lo: np.ndarray, hi: np.ndarray):
        self.rows, self.whole, self.lo, self.hi = list(rows_of(system)), set(system.integers), lo.copy(), hi.copy()
        self.dropped: set[int] = set()

    def run(self) -> None:
        """Raises NoWholePoint where a contradiction is found."""
        self._find_whole()
        self._solve_equations()
        self.rows = self._each_once()
        self.rows = [self._tightened(row) for row in self.rows]
        self.rows = [row for row in self.rows if not self._is_implied(row)]
        self.rows = [self._tightened(self._with_smaller_coefficients(row)) for row in self.rows]

    # ---- which variables are whole
    def _find_whole(self) -> None:
        """a y + Σ c t = b with whole c / a, b / a and whole terms t: y is whole."""
        waiting, news = [row for row in self.rows if row.is_equation], True
        while news:
            news = False
            for row in waiting:
                real = [term for term in row.form if not variables_of([term]) <= self.whole]
                if len(real) != 1 or len(real[0]) != 1 or real[0][0][1] != 1:
                    continue
                a, (j,) = row.form[real[0]], variables_of(real)
                if all((c / a).denominator == 1 for c in (*row.form.values(), row.lower)):
                    self.whole.add(j)
                    self.lo[j], self.hi[j], news = np.ceil(self.lo[j]), np.floor(self.hi[j]), True
                    if self.lo[j] > self.hi[j]:
                        raise NoWholePoint(row.number)

    def _is_whole(self, row: WholeRow) -> bool:
        return variables_of(row.form) <= self.whole

    # ---- linear equations together
    def _solve_equations(self) -> None:
        """All solutions of the linear equations together: the classes of whole variables, or that there are none."""
        linear = [row for row in self.rows if row.is_equation and is_linear(row.form)]
        real = sorted({j for row in linear for j in variables_of(row.form)} - self.whole)
        rows = [({j: row.form[variable(j)] for j in variables_of(row.form)}, row.lower) for row in linear]
        for j in real:  # one equation tells each real variable
            k = next((k for k, (row, _) in enumerate(rows) if j in row), None)
            if k is not None:
                lead, right = rows.pop(k)
                rows = [_without(row, end, j, lead, right) for row, end in rows]
        names = sorted({j for row, _ in rows for j in row})
        if not names or len(rows) * len(names) > POLICY.most_entries:
            return
        for j, residue, modulus in _classes(rows, names):
            lo, hi = float(self.lo[j]), float(self.hi[j])
            low, high = (residue, residue) if not modulus else (
                lo if np.isinf(lo) else residue + modulus * ceil((Fraction(lo) - residue) / modulus),
                hi if np.isinf(hi) else residue + modulus * floor((Fraction(hi) - residue) / modulus))
            if low > high or low > hi or high < lo:
                raise NoWholePoint(None)
            self.lo[j], self.hi[j] = low if _is_double(low) else lo, high if _is_double(high) else hi

    # ---- the rows one by one
    def _each_once(self) -> list[WholeRow]:
        """Rows that are multiples of one another as one row with the ends of all."""
        found: dict[tuple, WholeRow] = {}
        for row in self.rows:
            terms = sorted(row.form)
            key = tuple((term, row.form[term] / row.form[terms[0]]) for term in terms)
            known = found.get(key)
            if known is None:
                found[key] = row
                continue
            factor = known.form[terms[0]] / row.form[terms[0]]
            lower, upper = (None if end is None else end * factor for end in (row.lower, row.upper)[::1 if factor > 0 else -1])
            joined = known.within(_most(known.lower, lower), _least(known.upper, upper))
            if all(end is None or _is_double(end + known.constant) for end in (joined.lower, joined.upper)):
                found[key] = joined
                self.dropped.add(row.number)
            else:
                found[*key, row.number] = row
        return list(found.values())

    def _tightened(self, row: WholeRow) -> WholeRow:
        """With ends at values that the form can have."""
        if not self._is_whole(row):
            return row
        unit = _unit(row.form.values())
        values = self._values(row, unit)
        found = [end if end is None else _value(end, side, unit, values) for end, side in ((row.lower, -1), (row.upper, 1))]
        if any(one is not None and one[0] is None for one in found):
            raise NoWholePoint(row.number)
        row.within(*(one if one is None else one[0] for one in found))  # where these cross, there is no point
        return row.within(*(end if one is None else _end(end, side, *one, row.constant)
                            for end, side, one in zip((row.lower, row.upper), (-1, 1), found, strict=True)))

    def _values(self, row: WholeRow, unit: Fraction) -> list[int] | None:
        """The values, in units, that a sum of multiples of bounded whole variables has, in order; None where they are many."""
        if not is_linear(row.form):
            return None
        found = {0}
        for c, term in sorted((int(c / unit), term) for term, c in row.form.items()):
            stop_if_over()
            low, high = self._ends(*variables_of([term]))
            if low is None or high is None or len(found) * (high - low + 1) > POLICY.most_sums:
                return None
            found = {value + c * k for value in found for k in range(int(low), int(high) + 1)}
        return sorted(found)

    def _ends(self, j: int) -> tuple[End, End]:
        return tuple(Fraction(float(end)) if np.isfinite(end) else None for end in (self.lo[j], self.hi[j]))

    def _range(self, form: Form) -> tuple[End, End]:
        """Of the values of a form on the box; one that is not bounded has no end there."""
        low: End = Fraction(0)
        high: End = Fraction(0)
        for term, value in form.items():
            ends: tuple[End, End] = (value, value)
            for (_, j), power in term:
                a, b = self._ends(j)
                if a is None or b is None:
                    if len(term) > 1 or power != 1:
                        return None, None
                    ends = tuple(None if end is None else end * value for end in ((a, b) if value > 0 else (b, a)))
                    break
                powers = [a**power, b**power, *([Fraction(0)] if power % 2 == 0 and a < 0 < b else [])]
                products = [end * other for end in ends for other in (min(powers), max(powers))]
                ends = min(products), max(products)
            low, high = (None if None in (total, end) else total + end for total, end in zip((low, high), ends, strict=True))
        return low, high

    def _is_implied(self, row: WholeRow) -> bool:
        """Does it hold everywhere within the bounds?"""
        low, high = self._range(row.form)
        holds = (row.lower is None or (low is not None and low >= row.lower)) and \
            (row.upper is None or (high is not None and high <= row.upper))
        if holds:
            self.dropped.add(row.number)
        return holds

    def _with_smaller_coefficients(self, row: WholeRow) -> WholeRow:
        """a x + rest <= b, where rest <= b - a (u - 1) everywhere but for a whole variable x at its upper bound u, and the mirror
        images of that."""
        if (row.lower is None) == (row.upper is None) or not is_linear(row.form):
            return row
        sign = 1 if row.lower is None else -1
        form, end = {term: sign * c for term, c in row.form.items()}, row.upper if sign > 0 else -row.lower
        tops = {term: self._range({term: c})[1] for term, c in form.items()}
        if None in tops.values():
            return row
        most = sum(tops.values())
        for term in sorted(form):
            (j,), a = variables_of([term]), form[term]
            at, other = self._ends(j)[::-1] if a > 0 else self._ends(j)
            if most <= end:
                break  # it holds anyway
            if j in self.whole and at != other:
                sides = 1 if a > 0 else -1
                spare = end - (most - sides * a)  # what is left where x is not at this bound
                if spare > 0 and all(map(_is_double, (a - sides * spare, end - sides * spare * at))):
                    form[term], end, most = a - sides * spare, end - sides * spare * at, most - sides * spare * at
        changed = {term: sign * c for term, c in form.items()}
        if changed == row.form or not all(_is_double(c) for c in changed.values()):
            return row
        return WholeRow(changed, Fraction(0), sign * end if sign < 0 else None, end if sign > 0 else None, row.number, True)


def _unit(numbers: Iterable[Fraction]) -> Fraction:
    """The largest number of which all these are multiples."""
    numbers = list(numbers)
    together = lcm(*(q.denominator for q in numbers))
    return Fraction(gcd(*(int(q * together) for q in numbers)), together)


def _value(end: Fraction, side: int, unit: Fraction, values: list[int] | None) -> tuple[End, End]:
    """The last value that a sum of multiples of a unit has within an end, and the first beyond; None where there is none. `side`:
    1 for an upper end, -1 for a lower one."""
    if values is None:
        within = floor(end / unit) if side > 0 else ceil(end / unit)
        return within * unit, (within + side) * unit
    k = bisect_right(values, end / unit) - 1 if side > 0 else bisect_left(values, end / unit)
    return tuple(values[i] * unit if 0 <= i < len(values) else None for i in (k, k + side))


def _end(end: Fraction, side: int, within: Fraction, beyond: End, constant: Fraction) -> Fraction:
    """An end that holds for the same values, from the one within to the one beyond; the one known, if no double is nearer."""
    if within == end:
        return end
    found = Fraction((round_up if side > 0 else round_down)(within + constant)) - constant
    return found if beyond is None or (beyond - found) * side > 0 else end


def _is_double(q: Fraction | float) -> bool:
    try:
        return float(q) == q
    except OverflowError:
        return False


def _most(one: End, other: End) -> End:
    return other if one is None else one if other is None else max(one, other)


def _least(one: End, other: End) -> End:
    return other if one is None else one if other is None else min(one, other)


Equation = tuple[dict[int, Fraction], Fraction]


def _without(row: dict[int, Fraction], end: Fraction, j: int, lead: dict[int, Fraction], right: Fraction) -> Equation:
    """An equation less a multiple of another one, so that variable j is gone."""
    if j not in row:
        return row, end
    factor = row[j] / lead[j]
    found = {k: value for k in {*row, *lead} if (value := row.get(k, Fraction(0)) - factor * lead.get(k, Fraction(0)))}
    return found, end - factor * right


def _classes(rows: list[Equation], names: list[int]) -> Iterator[tuple[int, int, int]]:
    """(variable, residue, modulus) of variables that the equations over whole numbers leave one class of; modulus 0: one number.

    Columns are combined (x = U y, U unimodular) until each equation tells one more y, or that there is no whole solution."""
    columns = [[1 if i == j else 0 for i in range(len(names))] for j in range(len(names))]  # of U
    free, known = list(range(len(names))), [0] * len(names)  # what U times the y that are told is
    for row, right in rows:
        stop_if_over()
        if not row:
            if right:
                raise NoWholePoint(None)
            continue
        unit = _unit(row.values())
        whole = [int(row.get(j, 0) / unit) for j in names]
        left = right / unit - sum(a * b for a, b in zip(whole, known, strict=True))
        values = {c: sum(a * b for a, b in zip(whole, columns[c], strict=True)) for c in free}
        while len(some := [c for c in free if values[c]]) > 1:
            least = min(some, key=lambda c: abs(values[c]))
            for c in some:
                if c != least and (times := values[c] // values[least]):
                    columns[c] = [a - times * b for a, b in zip(columns[c], columns[least], strict=True)]
                    values[c] -= times * values[least]
        if not some:
            if left:
                raise NoWholePoint(None)
            continue
        y = left / values[some[0]]
        if y.denominator != 1:
            raise NoWholePoint(None)
        known = [a + int(y) * b for a, b in zip(known, columns[some[0]], strict=True)]
        free.remove(some[0])
        if max(abs(v).bit_length() for column in (known, *columns) for v in column) > POLICY.most_bits:
            return
    for i, j in enumerate(names):
        modulus = gcd(*(columns[c][i] for c in free))
        if modulus != 1:
            yield j, known[i] if not modulus else known[i] % modulus, modulus
