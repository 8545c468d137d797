"""The linear program of a region: all columns of the lifted relaxation (`relax/lifting.py`), with every inequality that holds
there.

**Rows**, in this order: constraints that are linear in the columns; what sums are, and linear equations times variables; linear
inequalities times the distances of a variable from its ends; f <= upper; the planes of McCormick, four for each product; lines
below and above curves, and tangents at as many points as are given. Where entries stand depends on the system and the number of
points alone, so that a basis of one region serves for others.

Proof: docs/proofs/linear_programs.md.
"""

from fractions import Fraction
from functools import cached_property
from math import inf
from typing import NamedTuple

import numpy as np

from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import COLUMNS
from infimum.expr.node import var
from infimum.linear_algebra.interval_matrices import down, plus, times, up
from infimum.relax.column_kernel import BOUNDED, HIGH, LINES, LOW, OF_CURVE, curve_order
from infimum.relax.lifting import SPARSE, Lift, LinearForm, doubles, lift_of, product_key
from infimum.relax.safe_conclusions import IntervalRows, LinearCost
from infimum.relax.switches import Switches
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY

Ends = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]  # of entries, and of rows



class RowTable(NamedTuple):
    """Rows with entries p + e q, e the end numbered `end` of all ends of the variables, lower ones first, or 0 where that is -1;
    and ends of rows, with what is to be added for e."""

    row: np.ndarray
    column: np.ndarray
    p: tuple[np.ndarray, np.ndarray]
    q: tuple[np.ndarray, np.ndarray]
    end: np.ndarray    # of each row
    lower: np.ndarray
    upper: np.ndarray
    more: np.ndarray   # times e, to the upper end


class RegionProgram(NamedTuple):
    """A linear program, and the box of all columns that it is about."""

    low: np.ndarray
    high: np.ndarray
    rows: IntervalRows
    cost: LinearCost


class Relaxation:
    """Of a system; None in the place of a region's program: a column has no bounds."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.n = evaluator, evaluator.n
        self.lift: Lift = lift_of(evaluator.system, var("x", (evaluator.n,)), SPARSE)
        lift = self.lift
        self.columns, self.f = len(lift.columns), lift.rows[0]
        self.products = np.array(lift.products, np.int64)
        self.factors = np.array([lift.columns[k].factors for k in lift.products], np.int64).reshape(-1, 2)
        self.curves = curve_order(lift)
        self.arguments = np.array([lift.columns[k].argument for k in self.curves], np.int64)
        self.whole = np.array(evaluator.system.integers, np.int64)
        system = evaluator.system
        self.sides = [(self.lift.rows[k + 1], float(system.lower[k]), float(system.upper[k])) for k in range(system.m)]
        self.switches: Switches | None = None
        self._known_places: dict[int, tuple[np.ndarray, np.ndarray]] = {}

    @classmethod
    def applies(cls, evaluator: Evaluator) -> bool:
        return evaluator.system is not None and lift_of(evaluator.system, var("x", (evaluator.n,)), SPARSE) is not None

    def strengthen(self, sides: list[tuple[LinearForm, float, float]], switches: Switches | None) -> None:
        """From here on constraints are these forms between these ends, and lines of curves hang on binary variables."""
        self.sides, self.switches = sides, switches
        self._known_places.clear()
        self.__dict__.pop("table", None)

    @cached_property
    def cost(self) -> LinearCost:
        """f."""
        low, high = np.zeros(self.columns), np.zeros(self.columns)
        for k, number in self.f.terms:
            low[k], high[k] = doubles(number)
        return LinearCost(low, high, doubles(self.f.constant)[0])

    @cached_property
    def table(self) -> RowTable:
        """What does not depend on enclosures of columns that are no variables."""
        made = _RowCollector()
        for side in self.sides:
            made.add(*side)
        for form in self.lift.identities:
            made.add(form, 0.0, 0.0)
        for form, i in self._sides():
            made.add_times(self.lift, form, i, i, 1)
            made.add_times(self.lift, form, i, self.n + i, -1)
        made.add(LinearForm(self.f.terms), -inf, inf)  # f <= upper: the last row
        return made.table()

    def _sides(self) -> list[tuple[LinearForm, int]]:
        """Linear forms that are nowhere above 0, and variables with which all products of theirs are columns."""
        lift, found = self.lift, []
        for row, lower, upper in self.sides:
            if row.is_constant or lower == upper or any(j >= self.n for j, _ in row.terms):
                continue
            for sign, end in ((1, upper), (-1, lower)):
                if not np.isfinite(end):
                    continue
                flip = Fraction(sign)
                turned = tuple((j, tuple(sorted((flip * c[0], flip * c[1])))) for j, c in row.terms)
                constant = tuple(sorted(flip * (c - Fraction(float(end))) for c in row.constant))
                if constant[0] != constant[1] or doubles(constant)[0] != constant[0]:
                    continue  # it stands on both sides of a row, and must be one double
                found += [(LinearForm(turned, constant), i) for i in range(self.n)
                          if all(product_key(i, j) in lift.known for j, _ in row.terms)]
        return found[:POLICY.most_rows_times_sides // 2]

    def at(self, low: np.ndarray, high: np.ndarray, upper: float, touches: np.ndarray) -> RegionProgram | None:
        """Of the region in which all columns lie between `low` and `high`, of those beyond the variables maybe infinite, and
        f <= upper is asked for. `touches` (curves, N): where curves are touched. A column that is empty has low > high; of one
        that may have no value there are no rows. None where that holds for one of f."""
        lanes = touches.shape[1]
        given = np.repeat(np.concatenate([low, high])[:, None], lanes, axis=1)
        out = self.evaluator.run(COLUMNS, [given, touches if len(touches) else np.zeros((1, lanes))])
        low, high = out[LOW][:, 0].copy(), out[HIGH][:, 0].copy()
        unknown = None if out[BOUNDED][0, 0] > 0 else self._without_value(low, high)
        if unknown is not None and (not unknown.any() or any(unknown[k] for k, _ in self.f.terms)):
            return None
        with np.errstate(all="ignore"):
            parts = [self._fixed(low, high, upper), self._planes(low, high), self._lines(out[LINES], lanes)]
        row, column = self._places(lanes)
        rows = IntervalRows(row, column, *map(np.concatenate, zip(*parts, strict=True)))
        return RegionProgram(low, high, rows if unknown is None else _without(rows, unknown), self.cost)

    def _without_value(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Which columns may have no value where the system is defined: those that are unbounded, and what is made of them."""
        found = ~(np.isfinite(low) & np.isfinite(high))
        for k, column in enumerate(self.lift.columns):
            found[k] |= any(found[j] for j in column.parts)
        return found

    def enclosed(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of all columns that lie between these; of one that is not bounded they may be infinite."""
        out = self.evaluator.run(COLUMNS, [np.concatenate([low, high])[:, None], np.zeros((max(1, len(self.curves)), 1))])
        return out[LOW][:, 0].copy(), out[HIGH][:, 0].copy()

    def _places(self, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """The row and column of each entry."""
        if lanes not in self._known_places:
            t, products, lines = self.table, len(self.products), len(self.curves) * (lanes + 1)
            first_line = self.first_plane + 4 * products
            planes = np.concatenate([self.factors, self.products[:, None]], axis=1)
            hung = () if self.switches is None else (self.switches.column,)
            entries = np.stack([self.arguments, self.curves, *hung], axis=1)
            self._known_places[lanes] = (
                np.concatenate([t.row, self.first_plane + np.repeat(np.arange(4 * products), 3),
                                first_line + np.repeat(np.arange(lines), entries.shape[1])]),
                np.concatenate([t.column, np.repeat(planes, 4, axis=0).ravel(), np.repeat(entries, lanes + 1, axis=0).ravel()]))
        return self._known_places[lanes]

    def _fixed(self, low: np.ndarray, high: np.ndarray, upper: float) -> Ends:
        t = self.table
        ends = np.concatenate([low[:self.n], high[:self.n], [0.0]])[t.end]
        moved = ends[t.row]
        least, most = plus(t.p, times((moved, moved), t.q))
        exact = (moved == 0.0) | ((t.q[0] == 0.0) & (t.q[1] == 0.0))
        least, most = np.where(exact, t.p[0], least), np.where(exact, t.p[1], most)
        right = np.where(ends == 0.0, t.upper, up(t.upper + up(ends * t.more)))
        right[-1] = up(upper - self.cost.constant) if upper < inf else inf
        return least, most, t.lower, right

    def _planes(self, low: np.ndarray, high: np.ndarray) -> Ends:
        (a, b), (u, v) = (end[self.factors].T for end in (low, high))
        value = np.empty((len(a), 4, 3))
        for k, (first, second, sign) in enumerate(((b, a, -1.0), (v, u, -1.0), (-b, -u, 1.0), (-v, -a, 1.0))):
            value[:, k, 0], value[:, k, 1], value[:, k, 2] = first, second, sign
        return _one_sided(value.ravel(), up(np.stack([a * b, u * v, -u * b, -a * v], axis=1)).ravel())

    def _lines(self, found: np.ndarray, lanes: int) -> Ends:
        count = len(self.curves)
        if not count:
            return _one_sided(np.zeros(0), np.zeros(0))
        lines = found[:OF_CURVE * count].reshape(count, OF_CURVE, lanes)
        below, nlo, above, hi = (lines[:, k, 0] for k in range(4))
        side, slope, rest = (lines[:, k, 1:] for k in range(4, OF_CURVE))
        first = np.concatenate([below[:, None], -above[:, None], side * slope], axis=1)
        second = np.concatenate([-np.ones((count, 1)), np.ones((count, 1)), -side], axis=1)
        upper = np.concatenate([nlo[:, None], hi[:, None], rest], axis=1)
        sound = np.isfinite(first) & np.isfinite(upper)
        first, second, upper = np.where(sound, first, 0.0), np.where(sound, second, 0.0), np.where(sound, upper, inf)
        value = [first, second]
        if self.switches is not None:
            hung, upper = self.switches.lifted(first, second, upper)
            value.append(hung)
        return _one_sided(np.stack(value, axis=2).ravel(), upper.ravel())

    @property
    def first_plane(self) -> int:
        """The row of the first plane; f <= upper is the one before."""
        return len(self.table.lower)


def _without(rows: IntervalRows, unknown: np.ndarray) -> IntervalRows:
    """The rows without those that have one of these columns, or a coefficient that is no number: these have no entries, and say
    nothing."""
    gone = np.zeros(len(rows.lower), bool)
    gone[rows.row[unknown[rows.column] | ~(np.isfinite(rows.low) & np.isfinite(rows.high))]] = True
    keep = ~gone[rows.row]
    return IntervalRows(rows.row[keep], rows.column[keep], rows.low[keep], rows.high[keep], np.where(gone, -inf, rows.lower),
                        np.where(gone, inf, rows.upper))


def _one_sided(value: np.ndarray, upper: np.ndarray) -> Ends:
    return value, value, np.full(len(upper), -inf), upper


class _RowCollector:
    """Collects the rows of a table."""

    def __init__(self):
        self.entries: list[tuple] = []
        self.ends: list[tuple] = []

    def add(self, form: LinearForm, lower: float, upper: float) -> None:
        """lower <= form <= upper."""
        low, high = doubles(form.constant)
        number = len(self.ends)
        self.ends.append((-1, float(down(lower - high)) if high else lower, float(up(upper - low)) if low else upper, 0.0))
        for k, c in form.terms:
            self.entries.append((number, k, *doubles(c), 0.0, 0.0))

    def add_times(self, lift: Lift, form: LinearForm, i: int, end: int, sign: int) -> None:
        """sign (x_i - e) form <= 0. The constant of the form is a double."""
        constant, number = form.constant, len(self.ends)
        p: dict[int, list[float]] = {}
        for j, c in form.terms:
            k = lift.known[product_key(i, j)]
            p.setdefault(k, [0.0] * 4)[:2] = _signed(doubles(c), sign)
            p.setdefault(j, [0.0] * 4)[2:] = _signed(doubles(c), -sign)
        p.setdefault(i, [0.0] * 4)[:2] = _signed(doubles(constant), sign)
        self.ends.append((end, -inf, 0.0, sign * doubles(constant)[0]))
        self.entries += [(number, k, *p[k]) for k in sorted(p)]

    def table(self) -> RowTable:
        row, column, *numbers = np.array(self.entries, float).reshape(-1, 6).T
        end, lower, upper, more = (np.array(part) for part in zip(*self.ends, strict=True))
        numbers = [np.ascontiguousarray(part) for part in numbers]
        return RowTable(row.astype(np.int64), column.astype(np.int64), tuple(numbers[:2]), tuple(numbers[2:]),
                        np.where(end < 0, -1, end).astype(np.int64), lower, upper, more)


def _signed(ends: tuple[float, float], sign: int) -> tuple[float, float]:
    return ends if sign > 0 else (-ends[1], -ends[0])
