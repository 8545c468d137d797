"""Rows that a binary variable switches on or off, strengthened by what the other constraints imply where it has either value.

Of a row h + c z <= e with z in {0, 1} the relaxation knows an upper bound E0 of h among the points with z = 0, and E1 among those
with z = 1, from the row itself, from enclosures, and from linear programs. The row h <= E0 + (E1 - E0) z holds at all points and
is the strongest one of this form: a large M becomes the least one that these bounds prove. Curves whose arguments z fixes get
stronger lines as well (`relax/switches.py`).

Proof: docs/proofs/switches.md.
"""

from fractions import Fraction
from math import inf

import numpy as np

from infimum.bounds.propagation import propagated_lanes
from infimum.relax.lifting import LinearForm, doubles, plus
from infimum.relax.lifting import scaled as scaled_form
from infimum.relax.program_bounds import LinearProgramBounding, TightenedRegion
from infimum.relax.relaxation import RegionPrograms
from infimum.relax.safe_conclusions import LinearCost, LinearUnderestimator, lowest, usable, weighted
from infimum.relax.scaling import ScaledProgram
from infimum.relax.switches import Switches
from infimum.search.policy.cuts import SWITCHED_ROWS as POLICY

_Box = tuple[np.ndarray, np.ndarray]
_Program = tuple[RegionPrograms, ScaledProgram]
_MINUS = (Fraction(-1),) * 2  # fixed: a sign


def strengthen(bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray) -> None:
    """Gives the relaxation of a problem with these bounds its stronger rows and lines."""
    binary = [int(j) for j in bounding.relaxation.whole if lo[j] == 0.0 and hi[j] == 1.0][:POLICY.most_variables]
    if not binary or not np.isfinite([lo, hi]).all():
        return
    rows, curves = _SwitchedRows(bounding), _SwitchedCurves(bounding, lo, hi)
    bounding.session()
    for j, boxes in zip(binary, _boxes(bounding, binary, lo, hi), strict=True):
        regions = [None if box is None else _region(bounding, *box) for box in boxes]
        if None not in regions:
            rows.learn(j, regions)
            curves.learn(j, regions)
    bounding.relaxation.strengthen(rows.sides, curves.switches())


def _boxes(bounding: LinearProgramBounding, binary: list[int], lo: np.ndarray, hi: np.ndarray) -> list[list[_Box | None]]:
    """For each binary variable what propagation leaves where it is 0, and where it is 1; None: nothing."""
    los, his = (np.repeat(end[:, None], 2 * len(binary), axis=1) for end in (lo, hi))
    for k, j in enumerate(binary):
        his[j, 2 * k], los[j, 2 * k + 1] = 0.0, 1.0
    los, his, lost, _ = propagated_lanes(bounding.relaxation.evaluator, los, his, (lo, hi), inf, POLICY.propagation_rounds)
    found = [None if gone else (los[:, k].copy(), his[:, k].copy()) for k, gone in enumerate(lost)]
    return [found[k:k + 2] for k in range(0, len(found), 2)]


def _region(bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray) -> _Program | None:
    return bounding.program_of(TightenedRegion(*bounding.columns_of(lo, hi), -inf), inf)


class _SwitchedRows:
    """`sides` are the rows as they are known by now, with their ends."""

    def __init__(self, bounding: LinearProgramBounding):
        self.bounding, self.relaxation, self.programs = bounding, bounding.relaxation, 0
        self.sides, self.whole = list(self.relaxation.sides), set(self.relaxation.whole.tolist())

    def learn(self, j: int, regions: list[_Program]) -> None:
        """What both values of a binary variable say: regions with either."""
        reads = [k for k in range(len(self.sides)) if self._switches(k, j)]
        ends = [self._largest(reads, j, region) for region in regions]
        for k, *largest in zip(reads, *ends, strict=True):
            self._replace(k, j, largest)

    def _switches(self, k: int, j: int) -> bool:
        """Has the row one end, the variable in a linear term alone, and others than whole variables?"""
        form, lower, upper = self.sides[k]
        columns = [i for i, _ in form.terms]
        return ((lower == -inf) != (upper == inf) and j in columns and not self.whole.issuperset(columns)
                and not any(self.relaxation.lift.reads[i, j] for i in columns if i != j))

    def _signed(self, k: int) -> tuple[LinearForm, float, int]:
        """The row as form <= end, and its sign."""
        form, lower, upper = self.sides[k]
        return (form, upper, 1) if upper < inf else (scaled_form(form, _MINUS), -lower, -1)

    def _largest(self, reads: list[int], j: int, region: _Program) -> list[float]:
        """Of each of these rows an upper bound of what is added to the variable's term, in a region."""
        (region, program), found = region, []
        for k in reads:
            rest = _without(self._signed(k)[0], j)
            cost = _negative_cost(rest, self.relaxation.columns)
            least, own = lowest(cost, region.low, region.high), None
            if self.programs < POLICY.most_programs and self.bounding.counts.iterations < POLICY.most_iterations:
                own, _ = self.bounding.multipliers(program.for_cost(cost.low), primal=bool(found))
                self.programs += 1
            if own is not None:
                line = weighted(region.rows, usable(region.rows, own), LinearCost(*cost))
                least = max(least, lowest(line, region.low, region.high))
            found.append(inf if least == -inf else doubles((rest.constant[1] - Fraction(least),) * 2)[1])
        return found

    def _replace(self, k: int, j: int, largest: list[float]) -> None:
        """The row k by one with the largest numbers of the rest where the variable j is 0 and 1."""
        form, end, sign = self._signed(k)
        factor, rest = dict(form.terms)[j], _without(form, j)
        own = [doubles((Fraction(end) - value * factor[0],) * 2)[1] for value in (0, 1)]
        new = [min(pair) for pair in zip(own, largest, strict=True)]
        if all(before - after <= POLICY.least_gain * max(1.0, abs(before)) for before, after in zip(own, new, strict=True)):
            return
        slope = Fraction(new[0]) - Fraction(new[1])
        form = plus(rest, LinearForm(((j, (slope, slope)),)))
        self.sides[k] = (form, -inf, new[0]) if sign > 0 else (scaled_form(form, _MINUS), -new[0], inf)


def _without(form: LinearForm, j: int) -> LinearForm:
    return LinearForm(tuple(term for term in form.terms if term[0] != j), form.constant)


def _negative_cost(form: LinearForm, columns: int) -> LinearUnderestimator:
    """Minus its terms."""
    low, high = np.zeros(columns), np.zeros(columns)
    for k, number in form.terms:
        least, most = doubles(number)
        low[k], high[k] = -most, -least
    return LinearUnderestimator(low, high, 0.0)


class _SwitchedCurves:
    """For each curve the value of a binary variable at which its argument is narrowest, and where both lie then."""

    def __init__(self, bounding: LinearProgramBounding, lo: np.ndarray, hi: np.ndarray):
        r = self.relaxation = bounding.relaxation
        low, high = r.enclosed(*bounding.columns_of(lo, hi))
        with np.errstate(all="ignore"):
            self.width = (high - low)[r.arguments]
        self.part = np.full(len(r.curves), POLICY.narrow_part)
        self.column, self.off = r.arguments.copy(), np.full(len(r.curves), np.nan)
        self.ends = np.zeros((4, len(r.curves)))

    def learn(self, j: int, regions: list[_Program]) -> None:
        """What both values of a binary variable say: regions with either."""
        r = self.relaxation
        for off, (region, _) in enumerate(regions):
            with np.errstate(all="ignore"):
                part = (region.high - region.low)[r.arguments] / self.width
            ends = np.stack([end[which] for which in (r.arguments, r.curves) for end in (region.low, region.high)])
            better = (part < self.part) & (r.arguments != j) & np.isfinite(ends).all(axis=0)
            self.part[better], self.column[better], self.off[better] = part[better], j, off
            self.ends[:, better] = ends[:, better]

    def switches(self) -> Switches | None:
        if not np.isfinite(self.off).any():
            return None
        return Switches(self.column, self.off, (self.ends[0], self.ends[1]), (self.ends[2], self.ends[3]))
