"""The least value of a polynomial of whole variables, proved by eliminating one variable after the other.

Variables are neighbours that occur in one term of f, or in one constraint. The least value, over one variable, of all terms that
have it is a table over its neighbours, which takes the place of these terms; the last table is a number. All tables hold whole
numbers: f in multiples of a unit. This takes as long as the largest table is, however many points there are: it is quick where
variables have few neighbours when their turn comes (dynamic programming; chains, grids, sparse graphs, narrow bands).

Proof: docs/proofs/variable_elimination.md.
"""

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from heapq import heapify, heappop, heappush
from math import ceil, floor, lcm, prod
from typing import NamedTuple

import numpy as np

from infimum.expr.exact_forms import CONSTANT, ExactForms, Form, is_polynomial
from infimum.problem.system import System
from infimum.search.policy.bounds import VARIABLE_ELIMINATION as POLICY
from infimum.support.clock import stop_if_over

_LARGEST = 2**62  # fixed: whole numbers of tables and their sums are smaller
_LARGEST_VALUE = 2**40  # fixed: whole numbers that doubles hold
_KEPT_BYTES, _BYTES_AT_WORK = 10, 64  # fixed: of an element of a table that is kept, and of the one that is made
Powers = tuple[tuple[int, int], ...]  # variables, in order, and their powers
Polynomial = dict[Powers, int]


class _Forms(ExactForms):
    most_elements = POLICY.most_elements


class Multiple(NamedTuple):
    """A form is its constant and `unit` times a number that differs from the polynomial by `error` at most. `most`: a bound of
    the size of the polynomial, and of all its parts."""

    unit: Fraction
    polynomial: Polynomial
    error: int
    most: int

    @classmethod
    def of(cls, form: Form, values: list[np.ndarray], tables: int) -> "Multiple":
        """In a unit of which all coefficients are multiples, or the smallest power of two such that as many tables hold no larger
        numbers than they can."""
        terms: dict[Powers, Fraction] = defaultdict(Fraction)
        for term, c in form.items():
            if term:  # powers of a variable that is 0 or 1 are that variable
                terms[tuple((v, 1 if values[v].tolist() == [0, 1] else p) for (_, v), p in term)] += c
        largest = [max(1, abs(int(found[0])), abs(int(found[-1]))) for found in values]
        sizes = {powers: prod(largest[v] ** p for v, p in powers) for powers in terms}
        size = sum((abs(c) * sizes[powers] for powers, c in terms.items()), Fraction(0))
        unit = Fraction(1, lcm(*(c.denominator for c in terms.values())))
        if _span(ceil(size / unit), tables) >= _LARGEST:
            unit = Fraction(2) ** (ceil(size * (tables + 2)).bit_length() - 58)
        whole = {powers: floor(c / unit) for powers, c in terms.items()}
        error = sum(sizes[powers] for powers, c in terms.items() if whole[powers] * unit != c)
        return cls(unit, whole, error, sum(abs(c) * sizes[powers] for powers, c in whole.items()))

    def is_small(self, tables: int) -> bool:
        return _span(self.most, tables) < _LARGEST


class Row(NamedTuple):
    """lower <= polynomial <= upper; None where there is no such end."""

    polynomial: Polynomial
    lower: int | None
    upper: int | None

    @property
    def scope(self) -> set[int]:
        return {v for powers in self.polynomial for v, _ in powers}


class Stage(NamedTuple):
    """A variable, its neighbours at its turn, in order, and the terms and constraints that have it and no earlier variable."""

    variable: int
    around: tuple[int, ...]
    terms: Polynomial
    rows: list[Row]


class Minimum(NamedTuple):
    """f is not below `lower` at any feasible point, of which x is one where it is that, or about."""

    lower: Fraction
    x: np.ndarray


class VariableElimination:
    """`cost`: operations on elements of tables; `bytes`: of all tables. f is the constant and the terms times the unit, but for
    the error."""

    def __init__(self, values: list[np.ndarray], f: Form, rows: list[Row], order: list[tuple[int, tuple[int, ...]]]):
        self.values, self.constant = values, f.get(CONSTANT, Fraction(0))
        multiple = Multiple.of(f, values, len(values))
        self.unit, self.error, self.most = multiple.unit, multiple.error, multiple.most
        self.stages = _stages(order, multiple.polynomial, rows)
        self.cost = sum(len(values[s.variable]) * _cells(s.around, values) * (len(s.around) + 2 * len(s.rows) + 4)
                        for s in self.stages)
        cells = [_cells(s.around, values) for s in self.stages]
        self.bytes = _KEPT_BYTES * sum(cells) + _BYTES_AT_WORK * max(cells, default=0)

    @classmethod
    def of(cls, system: System, lo: np.ndarray, hi: np.ndarray) -> "VariableElimination | None":
        """For the points of a box; None unless all is polynomial and whole, and tables are small."""
        n = len(lo)
        if len(system.integers) != n or not (hi - lo <= POLICY.most_values).all() or (np.abs([lo, hi]) > _LARGEST_VALUE).any():
            return None
        values, forms = [np.arange(int(a), int(b) + 1) for a, b in zip(np.ceil(lo), np.floor(hi), strict=True)], _Forms({})
        found = [forms.of(row) for row in system.rows]
        if any(form is None or not is_polynomial(form) for form in found) or not all(map(len, values)):
            return None
        f, *others = found
        rows = [_row(form, float(a), float(b), values) for form, a, b in zip(others, system.lower, system.upper, strict=True)
                if set(form) - {CONSTANT} and np.isfinite([a, b]).any()]
        if None in rows:
            return None
        order = _order([*({j for (_, j), _ in term} for term in f), *(row.scope for row in rows)], [len(v) for v in values])
        found = None if order is None else cls(values, f, rows, order)
        return found if found is not None and _span(found.most, n) < _LARGEST else None

    def minimum(self) -> Minimum | None:
        """None where no point is feasible."""
        kind = np.int32 if _span(self.most, len(self.values)) < 2**31 else np.int64
        none, chosen, total = kind(2 * self.most + 1), [], 0
        tables: dict[int, list[tuple[tuple[int, ...], np.ndarray]]] = defaultdict(list)
        places = {stage.variable: k for k, stage in enumerate(self.stages)}
        for stage in self.stages:
            best, which = self._least(stage, tables.pop(stage.variable, []), none)
            chosen.append(which)
            if stage.around:
                tables[min(stage.around, key=places.__getitem__)].append((stage.around, best))
            else:
                total += int(best)
        if total > self.most:
            return None
        at: dict[int, int] = {}
        for stage, which in zip(reversed(self.stages), reversed(chosen), strict=True):
            at[stage.variable] = int(which[tuple(at[v] for v in stage.around)])
        x = np.array([float(self.values[v][at[v]]) for v in range(len(self.values))])
        return Minimum(self.constant + (total - self.error) * self.unit, x)

    def _least(self, stage: Stage, tables: list[tuple[tuple[int, ...], np.ndarray]], none: np.signedinteger) -> tuple:
        """(table over the neighbours of the least value, the number of the value of the variable where it is)."""
        v, around = stage.variable, stage.around
        shape = tuple(len(self.values[w]) for w in around)
        best = np.full(shape, none)
        which = np.zeros(shape, np.uint8 if len(self.values[v]) <= 256 else np.uint16)
        for k, value in enumerate(self.values[v].tolist()):
            total = self._table(_at(stage.terms, v, value), around, none.dtype)
            for scope, table in tables:
                stop_if_over()
                part = table[(slice(None),) * scope.index(v) + (k,)]
                total = total + part.reshape([len(self.values[w]) if w in scope else 1 for w in around])
            for row in stage.rows:
                found = self._table(_at(row.polynomial, v, value), around, np.dtype(np.int64))
                for end, is_beyond in ((row.lower, np.less), (row.upper, np.greater)):
                    if end is not None:
                        total = np.where(is_beyond(found, end), none, total)
            better = np.broadcast_to(total, shape) < best
            np.copyto(best, total, where=better)
            which[better] = k
        return best, which

    def _table(self, terms: Polynomial, around: Sequence[int], kind: np.dtype) -> np.ndarray:
        """The values of a polynomial at all points of these variables, with one element along those that it has not."""
        degrees = {w: max((p for powers in terms for u, p in powers if u == w), default=0) for w in around}
        table = np.zeros([degrees[w] + 1 for w in around], kind)
        for powers, c in terms.items():
            found = dict(powers)
            table[tuple(found.get(w, 0) for w in around)] += c
        for axis, w in enumerate(around):
            if degrees[w]:
                stop_if_over()
                table = _evaluated(table, axis, self.values[w].astype(kind))
        return table


def _evaluated(table: np.ndarray, axis: int, values: np.ndarray) -> np.ndarray:
    """With the values of polynomials in the place of their coefficients, along this axis."""
    if table.shape[axis] == 2 and values.tolist() == [0, 1]:
        table = np.ascontiguousarray(table)
        pairs = table.reshape(prod(table.shape[:axis]), 2, -1)
        pairs[:, 1] += pairs[:, 0]
        return table
    coefficients = np.moveaxis(table, axis, 0)
    x = values.reshape(-1, *[1] * (table.ndim - 1))
    total = np.broadcast_to(coefficients[-1], (len(values), *coefficients.shape[1:]))
    for c in coefficients[-2::-1]:
        total = total * x + c
    return np.ascontiguousarray(np.moveaxis(total, 0, axis))


def _at(terms: Polynomial, variable: int, value: int) -> Polynomial:
    """What is left of a polynomial where a variable has this value."""
    found: Polynomial = defaultdict(int)
    for powers, c in terms.items():
        c *= prod(value**p for v, p in powers if v == variable)
        if c:
            found[tuple(power for power in powers if power[0] != variable)] += c
    return found


def _row(form: Form, lower: float, upper: float, values: list[np.ndarray]) -> Row | None:
    """A constraint in whole numbers, or one that it implies; None where these are too large."""
    found, constant = Multiple.of(form, values, 0), form.get(CONSTANT, Fraction(0))
    low, high = ((Fraction(end) - constant) / found.unit if np.isfinite(end) else None for end in (lower, upper))
    low, high = None if low is None else ceil(low) - found.error, None if high is None else floor(high) + found.error
    inside = (None if end is None else max(min(end, _LARGEST), -_LARGEST) for end in (low, high))
    return Row(found.polynomial, *inside) if found.is_small(0) else None


def _span(most: int, tables: int) -> int:
    """A bound of the sums of this number of tables, whose values are at most `most` or stand for the absence of a point."""
    return (tables + 2) * (2 * most + 2)


def _cells(around: Sequence[int], values: list[np.ndarray]) -> int:
    return prod(len(values[w]) for w in around)


def _order(scopes: list[set[int]], sizes: list[int]) -> list[tuple[int, tuple[int, ...]]] | None:
    """(variable, its neighbours at its turn): first those whose tables are smallest; None where some would be too large."""
    def cells_of(around: set[int]) -> int:
        found = 1
        for w in around:
            found *= sizes[w]
            if found > POLICY.most_cells:
                break
        return found
    near: list[set[int]] = [{v} for v in range(len(sizes))]
    for scope in scopes:
        stop_if_over()
        if cells_of(scope) > POLICY.most_cells:
            return None
        for v in scope:
            near[v] |= scope
    cells = [cells_of(around) for around in near]
    waiting, order, kept = [(count, v) for v, count in enumerate(cells)], [], 0
    heapify(waiting)
    while waiting:
        stop_if_over()
        count, v = heappop(waiting)
        if count != cells[v]:
            continue
        around, cells[v], kept = near[v] - {v}, 0, kept + count // sizes[v]
        if count > POLICY.most_cells or kept > POLICY.most_cells_kept:
            return None
        order.append((v, tuple(sorted(around))))
        for w in around:
            near[w] = (near[w] | around) - {v}
            cells[w] = cells_of(near[w])
            heappush(waiting, (cells[w], w))
    return order


def _stages(order: list[tuple[int, tuple[int, ...]]], terms: Polynomial, rows: list[Row]) -> list[Stage]:
    """With the terms and constraints of which a variable is the first."""
    stages = [Stage(v, around, {}, []) for v, around in order]
    place = {stage.variable: k for k, stage in enumerate(stages)}
    for powers, c in terms.items():
        stages[min(place[v] for v, _ in powers)].terms[powers] = c
    for row in rows:
        stages[min(place[v] for v in row.scope)].rows.append(row)
    return stages
