"""Lines lose no feasible point that may be a minimiser, whatever the multipliers of the linear program are."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.bounds.gradient_rows import GradientRows
from infimum.bounds.interface import StepContext
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, concat, index
from infimum.expr.node import Expr
from infimum.expr.slope_expressions import SlopeExpressions
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS
from infimum.relax import gradient_rows_kernel
from infimum.relax import lane_simplex as simplex
from infimum.search.region_pool import can_be_cut
from tests.engine.region_tests.systems import INF, Case, Kernel, random_case, random_regions


class Lost(AssertionError):
    """A feasible point was lost, or a bound does not hold."""


def judge(case: Case, before: np.ndarray, upper: float, out: list[np.ndarray]) -> Counter:
    """Holds what is said of the regions against the feasible points in them."""
    left, worth, found, point = out
    n, counts = len(case.lo), Counter()
    lower, axis = left[2 * n], left[2 * n + 1]
    gone = axis == DISCARDED_AXIS
    assert not np.isnan(left).any() and np.isin(worth, (0.0, 1.0)).all()
    lo, hi = left[:n], left[n:2 * n]
    there = ~gone
    assert (lo >= before[:n])[:, there].all() and (hi <= before[n:2 * n])[:, there].all() and (lo <= hi)[:, there].all()
    cut = can_be_cut(lo, hi)
    assert ((axis[there] == NO_AXIS) == ~cut.any(axis=0)[there]).all()
    assert cut[np.maximum(axis, 0).astype(int), np.arange(len(axis))][there & (axis != NO_AXIS)].all()
    for p, v in zip(case.feasible, case.values, strict=True):
        inside = ((before[:n] <= p[:, None]) & (p[:, None] <= before[n:2 * n])).all(axis=0)
        for k in np.flatnonzero(inside):
            if gone[k]:
                raise Lost(f"region {k} is gone and holds {p}")
            if v <= Fraction(upper) if upper < INF else True:
                kept = (lo[:, k] <= p).all() and (p <= hi[:, k]).all() and not lower[k] > upper
                counts["kept" if kept else "lost"] += 1
                if not kept and not case.has_a_lower_one(p):
                    raise Lost(f"{p} with {float(v)} <= {upper} of region {k}, and nothing near it is lower")
                if kept and lower[k] > -INF and v < Fraction(lower[k]):
                    raise Lost(f"{p} with {float(v)} is below {lower[k]}, which is said of region {k}")
    for k in np.flatnonzero(found[0] < INF):
        if not case.is_feasible(point[:, k]) or case.value(point[:, k]) > Fraction(found[0, k]):
            raise Lost(f"{point[:, k]} is no feasible point with {found[0, k]}")
        counts["points"] += 1
    counts["gone"] += int(gone.sum())
    counts["above"] += int((~gone & (lower > upper)).sum())
    counts["narrower"] += int((((lo != before[:n]) | (hi != before[n:2 * n])).any(axis=0) & there).sum())
    counts["raised"] += int((lower[there] > -INF).sum())
    return counts


def campaign(seeds: range, kernel_of: Callable[[Case], Callable[[np.ndarray, float], list[np.ndarray]]] = Kernel) -> Counter:
    total = Counter()
    for seed in seeds:
        case = random_case(seed)
        kernel, regions = kernel_of(case), random_regions(case, seed, 120)
        values = sorted(case.values)
        for upper in (INF, *(float(v) for v in values[:1] + values[len(values) // 2:][:1] if Fraction(float(v)) == v)):
            try:
                total += judge(case, regions, upper, kernel(regions, upper))
            except Lost as error:
                raise Lost(f"seed {seed}, upper {upper}: {error}") from error
    return total


def by_slopes(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for systems that are too large for lines that are composed backward."""
    monkeypatch.setattr(gradient_rows_kernel, "is_short", lambda rows: False)


@pytest.mark.parametrize("composed", (True, False))
def test_no_feasible_point_is_lost(nothing_lowered, monkeypatch, composed):
    if not composed:
        by_slopes(monkeypatch)
    counts = campaign(range(14))
    assert counts["kept"] > 2000 and min(counts[what] for what in ("gone", "above", "narrower", "raised", "points", "lost")) > 30


def test_no_feasible_point_of_one_system_is_lost(nothing_lowered):
    """A case of the test above for the default run, which leaves that to the thorough one."""
    assert campaign(range(1))["kept"] > 100


# ---- any multipliers
def test_any_multipliers_give_bounds_that_hold(nothing_lowered, monkeypatch):
    """Numbers that have nothing to do with the program; sometimes it is said to have no solution."""
    class Garbage(simplex.LaneSimplex):
        def multipliers(self) -> int:
            b, found = self.b, self.b.buffer(max(self.rows, 1))
            with b.loop(self.rows) as turn:
                seed = b.mul(b.add(b.abs(b.input(0, 0)), self._number(turn.index)), 12.9898)
                b.store(found, turn.index, b.mul(b.sub(seed, b.floor(seed)), 4.0))
            return found

        @property
        def status(self):
            seed = self.b.mul(self.b.input(0, 0), 78.233)
            return self.b.select(self.b.ogt(self.b.sub(seed, self.b.floor(seed)), 0.7), simplex.NO_SOLUTION, simplex.OPTIMAL)
    monkeypatch.setattr(simplex, "LaneSimplex", Garbage)
    counts = campaign(range(100, 106))
    assert counts["kept"] > 300 and counts["raised"] > 300


# ---- mutations
class WrongSlope(SlopeExpressions):
    """The slope of the first variable has the wrong sign."""

    def __init__(self, f: Expr, x: Expr):
        super().__init__(f, x)
        first = build("neg", index(self.value, slice(0, 1)))
        self.value = concat([first, index(self.value, slice(1, x.size))]) if x.size > 1 else first


def test_a_wrong_sign_of_one_slope_is_caught(nothing_lowered, monkeypatch):
    by_slopes(monkeypatch)
    monkeypatch.setattr(gradient_rows_kernel, "SlopeExpressions", WrongSlope)
    with pytest.raises(Lost):
        campaign(range(40))


def test_a_line_that_is_too_high_is_caught(nothing_lowered, monkeypatch):
    line = gradient_rows_kernel.LinearBoundsKernel.line

    def higher(self, *which):
        slopes, nlo = line(self, *which)
        return slopes, self.b.sub(nlo, 2.0**-10)
    monkeypatch.setattr(gradient_rows_kernel.LinearBoundsKernel, "line", higher)
    with pytest.raises(Lost):
        campaign(range(40))


def test_reading_less_than_is_read_is_caught(nothing_lowered, monkeypatch):
    """First order would go where a constraint is in the way."""
    monkeypatch.setattr(gradient_rows_kernel, "reads", lambda rows, x: np.zeros((len(rows), x.size), bool))
    with pytest.raises(Lost):
        campaign(range(40))


@pytest.mark.parametrize("end", ("lower", "upper"))
def test_an_end_that_is_too_tight_is_caught(nothing_lowered, monkeypatch, end):
    """By a millionth."""
    of = gradient_rows_kernel.RowLayout.of.__func__

    def tight(cls, system, linear):
        layout = of(cls, system, linear)
        wanted = (layout.sign > 0) == (end == "upper")
        return replace(layout, end=np.where(wanted & (layout.row > 0), layout.end - 2.0**-20, layout.end))
    monkeypatch.setattr(gradient_rows_kernel.RowLayout, "of", classmethod(tight))
    with pytest.raises(Lost):
        campaign(range(40))


# ---- the same bits
@pytest.mark.parametrize("seed", (1, 11))
def test_bits_are_those_of_the_definition(seed):
    case = random_case(seed)
    regions = random_regions(case, seed, 5)
    regions[0, 0] = -INF
    values = [float(v) for v in case.values]
    for upper in (INF, min(values, default=0.0)):
        found = [GradientRows(Evaluator(case.system.f, len(case.lo), backend, None, system=case.system), case.lo, case.hi)
                 .test(regions, StepContext(upper)) for backend in (CpuBackend(), PythonBackend())]
        for a, b in zip(*found, strict=True):
            assert a == b if isinstance(a, int) else a.tobytes() == b.tobytes()
