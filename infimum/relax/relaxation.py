"""The linear programs of regions: all columns of the lifted relaxation (`relax/lifting.py`), with every inequality that holds
there.

**Rows**, in this order: constraints that are linear in the columns; what sums are, and linear equations times variables; linear
inequalities times the distances of a variable from its ends; f <= upper; the planes of McCormick, four for each product; lines
below and above curves, and for each further point that is given the tangents of all curves. Where entries stand depends on the
system and the number of points alone, so that a basis of one region serves for others; further points add rows at the end.

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
from infimum.problem.system import System
from infimum.relax.column_kernel import BOUNDED, HIGH, LINES, LOW, OF_CURVE, curve_order
from infimum.relax.lifting import SPARSE, Lift, LinearForm, doubles, lift_of, product_key
from infimum.relax.safe_conclusions import IntervalRows, LinearCost
from infimum.relax.switches import Switches
from infimum.search.policy.bounds import LINEAR_PROGRAMS as POLICY
from infimum.structure.curvature import is_convex_but_whole

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


class RegionPrograms(NamedTuple):
    """Linear programs of regions, and the boxes of all columns that they are about, a region a row. `known`: of which there is
    one; of the others f has a column without bounds, and nothing is known."""

    low: np.ndarray
    high: np.ndarray
    rows: IntervalRows
    cost: LinearCost
    known: np.ndarray

    def at(self, which: np.ndarray) -> "RegionPrograms":
        """Of the regions with these numbers; of a single one, without the axis of regions."""
        r = self.rows
        rows = IntervalRows(r.row, r.column, r.low[which], r.high[which], r.lower[which], r.upper[which])
        return RegionPrograms(self.low[which], self.high[which], rows, self.cost, self.known[which])


class Relaxation:
    """Of a system."""

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

    @classmethod
    def suffices(cls, system: System, lo: np.ndarray, hi: np.ndarray) -> bool:
        """Is all convex but for whole numbers, and do lines of curves tell that of every row? Then nothing but whole numbers and
        products need be cut."""
        if not is_convex_but_whole(system, lo, hi):
            return False
        lift = lift_of(system, var("x", (len(lo),)), SPARSE)
        return lift is not None and all(lift.is_flat(k, products=True) for k in range(1 + system.m))

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
        found: list[tuple[LinearForm, int]] = []
        for row, lower, upper in self.sides:
            if row.is_constant or lower == upper or any(j >= self.n for j, _ in row.terms):
                continue
            partners = sorted(set.intersection(*(self._partners[j] for j, _ in row.terms)))
            for sign, end in ((1, upper), (-1, lower)) if partners else ():
                if not np.isfinite(end):
                    continue
                flip = Fraction(sign)
                turned = tuple((j, tuple(sorted((flip * c[0], flip * c[1])))) for j, c in row.terms)
                constant = tuple(sorted(flip * (c - Fraction(float(end))) for c in row.constant))
                if constant[0] != constant[1] or doubles(constant)[0] != constant[0]:
                    continue  # it stands on both sides of a row, and must be one double
                found += [(LinearForm(turned, constant), i) for i in partners]
        return found[:POLICY.most_rows_times_sides // 2]

    @cached_property
    def _partners(self) -> list[set[int]]:
        """Of each variable those with which its product is a column."""
        return [{i for i in range(self.n) if product_key(i, j) in self.lift.known} for j in range(self.n)]

    def at(self, low: np.ndarray, high: np.ndarray, upper: float, touches: np.ndarray) -> RegionPrograms:
        """Of the regions, K rows, in which all columns lie between `low` and `high` (K, columns), of those beyond the variables
        maybe infinite, and f <= upper is asked for. `touches` (curves, K, N): where curves are touched. A column that is empty
        has low > high; of one that may have no value there are no rows."""
        count, lanes = len(low), touches.shape[2]
        given = np.repeat(np.concatenate([low, high], axis=1).T, lanes, axis=1)
        at = touches.reshape(-1, count * lanes) if len(touches) else np.zeros((1, count * lanes))
        out = self.evaluator.run(COLUMNS, [given, at])
        low, high = (np.ascontiguousarray(out[k][:, ::lanes].T) for k in (LOW, HIGH))
        with np.errstate(all="ignore"):
            parts = [self._fixed(low, high, upper), self._planes(low, high),
                     self._lines(out[LINES].reshape(-1, count, lanes), count, lanes)]
        row, column = self._places(lanes)
        rows = IntervalRows(row, column, *(np.concatenate(part, axis=1) for part in zip(*parts, strict=True)))
        known = out[BOUNDED][0, ::lanes] > 0
        if not known.all():
            unknown = np.zeros(low.shape, bool)
            unknown[~known] = self._without_value(low[~known], high[~known])
            rows = _without(rows, unknown)
            known = known | (unknown.any(axis=1) & ~unknown[:, [k for k, _ in self.f.terms]].any(axis=1))
        return RegionPrograms(low, high, rows, self.cost, known)

    def _without_value(self, low: np.ndarray, high: np.ndarray) -> np.ndarray:
        """Which columns may have no value where the system is defined: those that are unbounded, and what is made of them."""
        found = ~(np.isfinite(low) & np.isfinite(high))
        for k, column in enumerate(self.lift.columns):
            for j in column.parts:
                found[:, k] |= found[:, j]
        return found

    def enclosed(self, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ends of all columns that lie between these, of regions or of a single one; of one that is not bounded they may be
        infinite."""
        given = np.concatenate([low, high], axis=-1).reshape(-1, 2 * self.columns).T
        out = self.evaluator.run(COLUMNS, [np.ascontiguousarray(given), np.zeros((max(1, len(self.curves)), given.shape[1]))])
        return tuple(np.ascontiguousarray(out[k].T).reshape(low.shape) for k in (LOW, HIGH))

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
                np.concatenate([t.column, np.repeat(planes, 4, axis=0).ravel(), np.tile(entries.ravel(), lanes + 1)]))
        return self._known_places[lanes]

    @property
    def entries(self) -> int:
        """About how many a region's rows have."""
        return len(self.table.row) + 12 * len(self.products) + 3 * (POLICY.touched_solutions + 4) * len(self.curves)

    def _fixed(self, low: np.ndarray, high: np.ndarray, upper: float) -> Ends:
        t, n, count = self.table, self.n, len(low)
        ends = np.concatenate([low[:, :n], high[:, :n], np.zeros((count, 1))], axis=1)[:, t.end]
        least, most = (np.repeat(p[None], count, axis=0) for p in t.p)
        moving = np.flatnonzero((t.end[t.row] >= 0) & ((t.q[0] != 0.0) | (t.q[1] != 0.0)))
        if len(moving):
            moved = ends[:, t.row[moving]]
            found = plus((t.p[0][moving], t.p[1][moving]), times((moved, moved), (t.q[0][moving], t.q[1][moving])))
            least[:, moving] = np.where(moved == 0.0, least[:, moving], found[0])
            most[:, moving] = np.where(moved == 0.0, most[:, moving], found[1])
        right = np.where(ends == 0.0, t.upper, up(t.upper + up(ends * t.more)))
        right[:, -1] = up(upper - self.cost.constant) if upper < inf else inf
        return least, most, np.repeat(t.lower[None], count, axis=0), right

    def _planes(self, low: np.ndarray, high: np.ndarray) -> Ends:
        """Of products of one factor in [a, b] and one in [u, v]."""
        (a, b), (u, v) = ([end[:, f] for end in (low, high)] for f in self.factors.T)
        value = np.empty((*a.shape, 4, 3))
        for k, (first, second, sign) in enumerate(((u, a, -1.0), (v, b, -1.0), (-u, -b, 1.0), (-v, -a, 1.0))):
            value[:, :, k, 0], value[:, :, k, 1], value[:, :, k, 2] = first, second, sign
        right = up(np.stack([a * u, b * v, -b * u, -a * v], axis=2))
        return _one_sided(value.reshape(len(a), -1), right.reshape(len(a), -1))

    def _lines(self, found: np.ndarray, count: int, lanes: int) -> Ends:
        """`found` (7 curves, K, N). Rows: below all curves, above all, and then touching all, a point after the other."""
        curves = len(self.curves)
        if not curves:
            return _one_sided(np.zeros((count, 0)), np.zeros((count, 0)))
        below, nlo, above, hi, side, slope, rest = found[:OF_CURVE * curves].reshape(curves, OF_CURVE, count, lanes).transpose(
            1, 2, 3, 0)  # each (K, N, curves)
        one = np.ones((count, 1, curves))
        first = np.concatenate([below[:, :1], -above[:, :1], (side * slope)[:, 1:]], axis=1)
        second = np.concatenate([-one, one, -side[:, 1:]], axis=1)
        upper = np.concatenate([nlo[:, :1], hi[:, :1], rest[:, 1:]], axis=1)
        sound = np.isfinite(first) & np.isfinite(upper)
        first, second, upper = np.where(sound, first, 0.0), np.where(sound, second, 0.0), np.where(sound, upper, inf)
        value = [first, second]
        if self.switches is not None:
            hung, upper = self.switches.lifted(first, second, upper)
            value.append(hung)
        return _one_sided(np.stack(value, axis=3).reshape(count, -1), upper.reshape(count, -1))

    @property
    def first_plane(self) -> int:
        """The row of the first plane; f <= upper is the one before."""
        return len(self.table.lower)


def _without(rows: IntervalRows, unknown: np.ndarray) -> IntervalRows:
    """The rows without those that have one of these columns of their region, or, where there are any, a coefficient that is no
    number: these have entries 0, and say nothing."""
    some = unknown.any(axis=1)[:, None]
    bad = some & (unknown[:, rows.column] | ~(np.isfinite(rows.low) & np.isfinite(rows.high)))
    lane, entry = np.nonzero(bad)
    gone = np.zeros(rows.lower.shape, bool)
    gone[lane, rows.row[entry]] = True
    out = gone[:, rows.row]
    return IntervalRows(rows.row, rows.column, np.where(out, 0.0, rows.low), np.where(out, 0.0, rows.high),
                        np.where(gone, -inf, rows.lower), np.where(gone, inf, rows.upper))


def _one_sided(value: np.ndarray, upper: np.ndarray) -> Ends:
    return value, value, np.full(upper.shape, -inf), upper


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
