"""Cuts of whole numbers: inequalities that all points with whole numbers obey, and the solution of the whole box's program does
not.

Rows of that program, single ones and sums of them, are rounded (`mixed_integer_rounding.py`): sums are those in which a basic
column that should be whole is expressed by columns at their ends (Gomory, 1960), and rows from which columns between their ends
are eliminated (Marchand and Wolsey, 2001). Products, powers and sums of whole columns are whole. Cuts hold in every region.

Proof: docs/proofs/rounding_cuts.md.
"""

from collections.abc import Iterator
from fractions import Fraction
from functools import cached_property
from itertools import islice
from math import inf
from typing import NamedTuple

import numpy as np

from infimum.bounds.linear_programs.mixed_integer_rounding import ColumnEnds, Inequality, in_doubles, rounded
from infimum.linear_algebra.interval_matrices import down, up
from infimum.relax.lifting import Column, LinearForm
from infimum.relax.program_bounds import LinearProgramBounding, TightenedRegion
from infimum.relax.relaxation import RegionPrograms
from infimum.relax.scaling import ScaledProgram
from infimum.search.policy.cuts import ROUNDING_CUTS as POLICY
from infimum.support.clock import stop_if_over

_Side = tuple[LinearForm, float, float]


def add_rounding_cuts(bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray) -> None:
    """Adds cuts to the rows of a problem with these bounds, as long as the bound of its program rises."""
    relaxation = bounding.relaxation
    if not len(relaxation.whole) or relaxation.columns > POLICY.most_columns or relaxation.entries > POLICY.most_entries:
        return
    whole, rows = whole_columns(relaxation.lift.columns, relaxation.whole.tolist()), relaxation.sides
    cuts: list[_Side] = []
    costs: list[float] = []
    left = POLICY.most_estimated // relaxation.columns  # sums that may be looked at
    for _ in range(POLICY.most_rounds):
        program = _RootProgram.of(bounding, lo, hi, whole)
        if program is None:
            return
        if not costs or program.cost > max(costs):  # others would come again
            cuts = [cut for cut in cuts if program.is_tight(cut)]
        costs.append(program.cost)
        if len(costs) > POLICY.patience and costs[-1] - costs[-1 - POLICY.patience] <= POLICY.least_gain * (costs[-1] - costs[0]):
            break
        sums = list(islice(program.sums(), left))
        left -= len(sums)
        found = program.cuts(sums)
        if not found:
            break
        cuts += found
        relaxation.strengthen(rows + cuts, relaxation.switches)
    relaxation.strengthen(rows + cuts, relaxation.switches)


def whole_columns(columns: list[Column], variables: list[int]) -> np.ndarray:
    """Which columns are whole wherever these variables are: their products and powers, and sums of these with whole factors."""
    found = np.zeros(len(columns), bool)
    found[variables] = True
    for k, column in enumerate(columns):
        if column.factors is not None:
            found[k] = all(found[j] for j in column.factors)
        elif column.curve is not None:
            op, params = column.curve
            found[k] = found[column.argument] and (op == "abs" or (op == "powi" and dict(params)["k"] >= 0))
        elif column.form is not None:
            numbers = [column.form.constant, *(c for _, c in column.form.terms)]
            found[k] = all(found[j] for j in column.parts) and all(a == b and a.denominator == 1 for a, b in numbers)
    return found


def _short(low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Doubles between these with few digits."""
    found, left = low.copy(), low != high
    with np.errstate(all="ignore"):
        for unit in 0.5 ** np.arange(0, 49, 8):
            near = np.round((low / 2 + high / 2) / unit) * unit
            fits = left & (low <= near) & (near <= high)
            found, left = np.where(fits, near, found), left & ~fits
    return found


def with_sums(row: np.ndarray, column: np.ndarray, value: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """Rows in which some column has several entries, whose sum might be rounded."""
    found = np.zeros(rows, bool)
    places, count = np.unique((row * columns + column)[value != 0.0], return_counts=True)
    found[places[count > 1] // columns] = True
    return found


class _Base(NamedTuple):
    """Inequalities by their numbers, and their weights."""

    which: np.ndarray
    weights: np.ndarray


class _Estimate(NamedTuple):
    """A cut, about: by how much the solution violates it, as a distance; its direction; and what is divided by what."""

    depth: float
    normal: np.ndarray
    base: _Base
    divisor: float


class _RootProgram:
    """The program of the whole box, its solution, and its rows as inequalities, each end of a row one of them."""

    def __init__(self, bounding: LinearProgramBounding, region: RegionPrograms, program: ScaledProgram,
                 weights: np.ndarray, z: np.ndarray, whole: np.ndarray):
        self.bounding, self.program, self.weights, self.z, self.whole = bounding, program, weights, z, whole
        self.cost = program.offset + program.unit * bounding.last_cost
        low, high = region.low.copy(), region.high.copy()
        low[whole], high[whole] = np.ceil(low[whole]), np.floor(high[whole])
        self.low, self.high = low, high
        rows, count = region.rows, len(region.rows.lower)
        value, spread = _short(rows.low, rows.high), np.zeros(count)
        table = np.zeros((count, len(low)))
        np.add.at(table, (rows.row, rows.column), value)
        with np.errstate(all="ignore"):  # of what is known between two doubles alone, twice what it may be off by
            off = np.maximum(rows.high - value, value - rows.low) * np.maximum(np.abs(low), np.abs(high))[rows.column]
            np.add.at(spread, rows.row, np.where(rows.low == rows.high, 0.0, 2.0 * up(off)))
            upper = np.where(spread == 0, rows.upper, up(rows.upper + spread))
            lower = np.where(spread == 0, rows.lower, down(rows.lower - spread))
        usable = np.isfinite(spread) & table.any(axis=1) & ~with_sums(rows.row, rows.column, value, count, len(low))
        above, below = (np.flatnonzero(usable & np.isfinite(end)) for end in (upper, lower))
        self.row, self.sign = np.append(above, below), np.append(np.ones(len(above)), -np.ones(len(below)))
        self.matrix = table[self.row] * self.sign[:, None]
        self.end = np.where(self.sign > 0, upper[self.row], -lower[self.row])
        self.equation = (lower == upper)[self.row]
        self.known: dict[int, Inequality | None] = {}

    @classmethod
    def of(cls, bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray, whole: np.ndarray) -> "_RootProgram | None":
        """None where there is nothing to cut."""
        stop_if_over()
        bounding.session()
        bounding.warm = None
        found = bounding.program_of(TightenedRegion(*bounding.columns_of(lo, hi), -inf), inf)
        weights, z = (None, None) if found is None else bounding.multipliers(found[1])
        return None if z is None else cls(bounding, *found, weights, z, whole)

    def is_tight(self, cut: _Side) -> bool:
        form, _, end = cut
        value = sum(float(c[0]) * self.z[j] for j, c in form.terms)
        return end - value <= POLICY.tight * max(1.0, abs(end))

    @cached_property
    def columns(self) -> ColumnEnds:
        """Measured from the nearer end."""
        return ColumnEnds.of(self.low.tolist(), self.high.tolist(), self.whole.tolist(), self.from_upper.tolist())

    @cached_property
    def from_upper(self) -> np.ndarray:
        return self.high - self.z < self.z - self.low

    @cached_property
    def distance(self) -> np.ndarray:
        return np.maximum(0.0, np.where(self.from_upper, self.high - self.z, self.z - self.low))

    @cached_property
    def ends(self) -> tuple[dict[int, int], dict[int, int]]:
        """The inequalities of upper and of lower ends, by the rows of the program."""
        numbers = [(int(r), k) for k, r in enumerate(self.row)]
        return tuple({r: k for r, k in numbers if self.sign[k] * sign > 0} for sign in (1.0, -1.0))

    @cached_property
    def entries(self) -> np.ndarray:
        """How many factors of each inequality are not 0."""
        return (self.matrix != 0).sum(axis=1)

    @cached_property
    def slack(self) -> np.ndarray:
        return self.end - np.array([(row * self.z).sum() for row in self.matrix])

    @cached_property
    def fractional(self) -> np.ndarray:
        """Whole columns, by their numbers, that are none in the solution."""
        away = np.abs(self.z - np.round(self.z))
        return np.flatnonzero(self.whole & (away > POLICY.least_fraction))

    def inequality(self, k: int) -> Inequality | None:
        if k not in self.known:
            terms = [(int(j), float(self.matrix[k, j])) for j in np.flatnonzero(self.matrix[k])]
            self.known[k] = Inequality.of(terms, float(self.end[k]), self.columns.whole, bool(self.equation[k]))
        return self.known[k]

    def cuts(self, sums: list[_Base]) -> list[_Side]:
        """The deepest ones of these sums, which differ."""
        kept: list[tuple[np.ndarray, _Side]] = []
        for about in sorted(filter(None, map(self._estimated, sums)), key=lambda cut: -cut.depth):
            if all(abs((about.normal * other).sum()) < POLICY.most_parallel for other, _ in kept):
                side = self._proved(about)
                if side is not None:
                    kept.append((about.normal, side))
            if len(kept) == POLICY.most_cuts:
                break
        return [side for _, side in kept]

    # ---- what may be rounded
    def sums(self) -> Iterator[_Base]:
        """Tight rows with whole columns, sums without columns between their ends, rows of the simplex tableau, and the sum that
        bounds f; nothing where all whole columns are whole."""
        if not len(self.fractional):
            return
        norms = np.sqrt((self.matrix**2).sum(axis=1))
        tight = np.flatnonzero((self.slack <= POLICY.tight * norms) & (self.matrix[:, self.whole] != 0).any(axis=1))
        for k in tight[:POLICY.most_rows]:
            base = _Base(np.array([k]), np.ones(1))
            yield base
            yield from self._eliminated(base, tight)
        yield from self._tableau()
        if (base := self._sum(self.weights)) is not None:
            yield base

    def _eliminated(self, base: _Base, tight: np.ndarray) -> Iterator[_Base]:
        """Sums with other tight rows, in which a column that lies between its ends, and is no whole variable, is gone."""
        total, free = self.matrix[base.which[0]].copy(), self.row[tight] != self.row[base.which[0]]
        for _ in range(POLICY.most_eliminations):
            between = np.where(total == 0.0, 0.0, self.distance)
            between[self.bounding.relaxation.whole] = 0.0
            j = int(np.argmax(between))
            if not between[j] > POLICY.least_fraction:
                return
            pivot = self.matrix[tight, j]
            fits = free & ((pivot * total[j] < 0) | ((pivot != 0) & self.equation[tight]))
            if not fits.any():
                return
            k = int(tight[np.argmin(np.where(fits, self.entries[tight], np.iinfo(np.int64).max))])
            weight = -total[j] / self.matrix[k, j]
            total = total + weight * self.matrix[k]
            total[j] = 0.0
            free &= self.row[tight] != self.row[k]
            base = _Base(np.append(base.which, k), np.append(base.weights, weight))
            yield base

    def _tableau(self) -> Iterator[_Base]:
        """Rows of the simplex tableau of whole columns that are none, by the rows of the program."""
        nearest = np.abs(self.z[self.fractional] - np.floor(self.z[self.fractional]) - 0.5)
        some = self.fractional[np.argsort(nearest, kind="stable")][:POLICY.most_tableau_rows]
        for j, weights in self.bounding.solver.tableau_rows(some):
            with np.errstate(all="ignore"):
                base = self._sum(weights * self.program.scales * self.program.width[j])
            if base is not None:
                yield base
                yield base._replace(weights=-base.weights)

    def _sum(self, weights: np.ndarray) -> _Base | None:
        """Rows of the program with these weights, each by the end that is nearer; None if one of them cannot be used, or there
        are very many."""
        which, own = [], []
        for r in np.flatnonzero(np.abs(weights) > POLICY.negligible * np.abs(weights).max(initial=0.0)).tolist():
            k = min((ends[r] for ends in self.ends if r in ends), key=lambda k: self.slack[k], default=None)
            if k is None:
                return None
            which.append(k)
            own.append(weights[r] * self.sign[k])
        return _Base(np.array(which), np.array(own)) if 0 < len(which) <= POLICY.most_summed_rows else None

    # ---- the cut of a sum
    def _estimated(self, base: _Base) -> _Estimate | None:
        """None where it cuts little off."""
        stop_if_over()
        rows, weights = [self.inequality(k) for k in base.which.tolist()], base.weights[:, None]
        if None in rows:
            return None
        matrix = self.matrix[base.which]
        total, end = (weights * matrix).sum(axis=0), (base.weights * self.end[base.which]).sum()
        begin = np.where(self.from_upper, self.high, self.low)
        with np.errstate(all="ignore"):
            end = end - np.where(total == 0, 0.0, total * begin).sum()
        if not np.isfinite(end):
            return None
        c = np.where(self.from_upper, -total, total)
        between = self.whole & (self.distance > POLICY.least_fraction) & (np.abs(c) > POLICY.negligible)
        first = np.unique(np.append(np.abs(c[between]), 1.0))[::-1][:POLICY.most_divisors]
        divisor = self._deepest(c, end, first)
        if divisor is not None:
            divisor = self._deepest(c, end, divisor * 2.0 ** np.arange(4))
        if divisor is None:
            return None
        fraction = end / divisor - np.floor(end / divisor)
        normal = _rounded(c / divisor, fraction, self.whole)
        depth = (normal * self.distance).sum() - np.floor(end / divisor)
        normal = np.where(self.from_upper, -normal, normal)
        step = np.array([row.multiple[0] / 2.0 ** row.multiple[1] for row in rows])
        factors = _rounded(base.weights / divisor * step, fraction, np.array([row.slack == "whole" for row in rows])) / step
        factors[[row.slack == "none" for row in rows]] = 0.0
        normal = normal - (factors[:, None] * matrix).sum(axis=0)
        size = np.sqrt((normal**2).sum())
        if not (0.0 < size < inf and depth > POLICY.least_depth * size):
            return None
        return _Estimate(float(depth / size), normal / size, base, divisor)

    def _deepest(self, c: np.ndarray, end: float, divisors: np.ndarray) -> float | None:
        """The divisor whose cut is deepest, about."""
        with np.errstate(all="ignore"):
            b = end / divisors
            fraction = (b - np.floor(b))[:, None]
            factors = _rounded(c / divisors[:, None], fraction, self.whole)
            depth = ((factors * self.distance).sum(axis=1) - np.floor(b)) / np.sqrt((factors**2).sum(axis=1))
            away = np.minimum(fraction, 1.0 - fraction)[:, 0]
        depth[~(away > POLICY.least_remainder) | ~np.isfinite(depth)] = -inf
        k = int(np.argmax(depth))
        return float(divisors[k]) if depth[k] > 0.0 else None

    def _proved(self, about: _Estimate) -> _Side | None:
        """In whole numbers."""
        parts = [(self.inequality(int(k)), float(w)) for k, w in zip(about.base.which, about.base.weights, strict=True)]
        exact = rounded(parts, about.divisor, self.columns)
        short = None if exact is None else in_doubles(exact, self.columns, POLICY.negligible)
        if short is None or not short[0]:
            return None
        terms, end = short
        sizes = [abs(c) for _, c in terms]
        if max(sizes) > POLICY.most_ratio * min(sizes):
            return None
        return LinearForm(tuple((j, (Fraction(c),) * 2) for j, c in terms)), -inf, end


def _rounded(a: np.ndarray | float, fraction: np.ndarray | float, whole: np.ndarray | bool) -> np.ndarray:
    """Factors of the cut, about: see `bounds/linear_programs/mixed_integer_rounding.py`."""
    with np.errstate(all="ignore"):
        least = np.floor(a)
        factor = np.where(whole, np.maximum(0.0, a - least - fraction), np.minimum(a, 0.0)) / (1.0 - fraction)
        return np.where(whole, least + factor, factor)
