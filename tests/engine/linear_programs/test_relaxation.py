"""Rows of linear programs hold at all feasible points, with exact numbers."""

from fractions import Fraction as Q

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infimum
from infimum.expr.node import const
from infimum.expr.point_value import enclose_at_point
from infimum.problems import constrained
from infimum.relax.curve_lines import POWER, curve_at
from infimum.relax.program_bounds import LinearProgramBounding, TightenedRegion
from infimum.relax.relaxation import Relaxation
from infimum.relax.scaling import scaled

SYSTEMS = {
    "pool": (lambda x: (3 * x[0] + x[1] - 0.3) * x[2] - x[3],
             [lambda x: x[0] + x[1] == 1, lambda x: x[2] + 0.1 * x[3] <= 7, lambda x: x[0] * x[2] + x[1] * x[3] <= 5,
              lambda x: x[2] * x[0] + x[3] * x[0] >= -100]),
    "curves": (lambda x: np.exp(x[0] * x[1]) + np.sqrt(x[2] + 3.0) - x[3] ** 3,
               [lambda x: x[0] ** 2 + x[1] ** 2 <= 40, lambda x: np.sin(x[2]) + x[3] / (x[0] + 9.5) <= 20]),
    "powers": (lambda x: (x[0] + 1) ** 1.7 - (x[1] + 1) ** 0.3 + (x[2] + 1.5) ** -0.5,
               [lambda x: (x[0] + 1.0) ** 0.5 + (x[3] + 1.0) ** 2.25 <= 300, lambda x: (x[1] + 2) ** -1.5 + x[2] >= 0]),
}


def program_of(relaxation, low, high, upper=np.inf):
    """Of the second of two regions."""
    touches = np.broadcast_to([0.1, 0.7, 2.0], (len(relaxation.curves), 2, 3))
    other = np.where(np.isfinite(low), low / 2, low), np.where(np.isfinite(high), high + 1, high)
    return relaxation.at(np.stack([other[0], low]), np.stack([other[1], high]), upper, touches).at(1)


def columns_at(lift, x):
    """Ends of all columns at a point, as fractions."""
    ends = []
    for k, column in enumerate(lift.columns):
        if k < lift.n:
            ends.append((Q(float(x[k])),) * 2)
        elif column.factors:
            products = [a * b for a in ends[column.factors[0]] for b in ends[column.factors[1]]]
            ends.append((min(products), max(products)))
        elif column.form is not None:
            lo, hi = column.form.constant
            for j, c in column.form.terms:
                products = [a * b for a in c for b in ends[j]]
                lo, hi = lo + min(products), hi + max(products)
            ends.append((lo, hi))
        else:
            op, params = column.curve
            doubles = [float(end) for end in ends[column.argument]]
            doubles = [np.nextafter(doubles[0], -np.inf), np.nextafter(doubles[1], np.inf)]
            root = op in (POWER, "sqrt") and doubles[0] < 1e-17  # of positive exponents: `enclose_at_point` knows no such bases
            if root:
                doubles = [0.0, max(doubles[1], 1e-17)]
            values = [Q(v) for d in doubles for v in ((0.0, 0.0) if root and d == 0.0 else
                                                      enclose_at_point(curve_at(op, params, const(float(d))), np.empty(0)))]
            wide = Q(1, 10**12) * (1 + max(map(abs, values)))  # the curve is monotone or smooth between two such doubles
            ends.append((min(values) - wide, max(values) + wide))
    return ends


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(sorted(SYSTEMS)), st.lists(st.floats(0, 1), min_size=12, max_size=12), st.booleans())
def test_all_rows_hold_at_feasible_points(name, parts, cut):
    evaluator = EVALUATORS[name]
    relaxation, n = RELAXATIONS[name], 4
    ends = np.sort(np.array(parts[:8]).reshape(n, 2) * 5 - 1, axis=1)
    lo, hi = ends[:, 0], ends[:, 1]
    x = np.minimum(np.maximum(lo + np.array(parts[8:]) * (hi - lo), lo), hi)
    if name == "pool":  # the equation holds exactly
        x[0] = np.round(x[0] * 64) / 64
        x[1] = 1 - x[0]
        lo, hi = np.minimum(lo, x), np.maximum(hi, x)
    rows = evaluator.rows(x, x)
    if not ((rows.lo[1:] <= evaluator.system.upper) & (rows.hi[1:] >= evaluator.system.lower)).all():
        return
    low, high = LinearProgramBounding(relaxation, None).columns_of(lo, hi)
    region = program_of(relaxation, low, high, float(rows.hi[0]) if cut else np.inf)
    z = columns_at(relaxation.lift, x)
    assert all(Q(float(a)) <= ends[1] and ends[0] <= Q(float(b)) for a, b, ends in zip(region.low, region.high, z, strict=True))
    r = region.rows
    least, most = [Q(0)] * len(r.lower), [Q(0)] * len(r.lower)
    for k, j, a, b in zip(r.row, r.column, r.low, r.high, strict=True):
        products = [Q(float(c)) * end for c in (a, b) for end in z[j]]
        least[k], most[k] = least[k] + min(products), most[k] + max(products)
    for k in range(len(least)):
        assert r.upper[k] == np.inf or least[k] <= Q(float(r.upper[k])), k
        assert r.lower[k] == -np.inf or most[k] >= Q(float(r.lower[k])), k


EVALUATORS = {name: infimum.compile(f, 4, constraints=c) for name, (f, c) in SYSTEMS.items()}
RELAXATIONS = {name: Relaxation(evaluator) for name, evaluator in EVALUATORS.items()}


def test_inequalities_are_multiplied_by_sides():
    relaxation = RELAXATIONS["pool"]
    assert relaxation.first_plane > 4 + len(relaxation.lift.identities) + 1  # constraints, identities, f <= upper


def test_a_column_without_bounds_has_no_program():
    relaxation = RELAXATIONS["pool"]
    low, high = LinearProgramBounding(relaxation, None).columns_of(np.zeros(4), np.array([1.0, 1, np.inf, 1]))
    assert not program_of(relaxation, low, high).known


@pytest.mark.parametrize("name, least", [("bental_5", -3500.0), ("foulds_2", -1100.0), ("bental_4", -550.0)])
def test_equations_times_variables_close_pooling_problems(name, least):
    pytest.importorskip("highspy")
    p = constrained.get(name)
    evaluator = infimum.compile(p.fun, p.n, constraints=p.constraints)
    bounding = LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs)
    bounding.session()
    left = bounding.bound(*bounding.columns_of(*np.array(p.bounds, float).T), np.inf, 3)
    assert least - 1e-6 * abs(least) < left.lower <= least + 1e-9 * abs(least)
    assert bounding.counts.failed == 0


def test_scaled_programs_have_entries_of_size_one():
    relaxation = RELAXATIONS["pool"]
    bounding = LinearProgramBounding(relaxation, None)
    low, high = (end[None] for end in bounding.columns_of(np.zeros(4), np.array([1.0, 1, 1e9, 1e-9])))
    program, = scaled(relaxation.at(low, high, np.inf, np.zeros((0, 1, 3))))
    assert np.abs(program.matrix.value).max() == 1.0 and np.abs(program.cost).max() == 1.0


def test_rows_without_unbounded_columns_hold():
    """1 / x is unbounded here, and what is made of it; the rest of the rows still bounds f, below every feasible value."""
    rng = np.random.default_rng(0)
    evaluator = infimum.compile(lambda x: x[1] * x[2] - x[1], 3, constraints=[
        lambda x: 1 / x[0] + x[1] <= 4, lambda x: np.log(x[1] / x[0]) + x[2] >= 0.5, lambda x: x[1] + x[2] >= 1])
    bounding = LinearProgramBounding(Relaxation(evaluator), evaluator.linear_programs)
    lo, hi = np.array([0.0, 0.1, 0.0]), np.array([2.0, 3.0, 2.0])
    bounding.session()
    region, _ = bounding.program_of(TightenedRegion(*bounding.columns_of(lo, hi), -np.inf), np.inf)
    unbounded = ~(np.isfinite(region.low) & np.isfinite(region.high))
    used = (region.rows.low != 0) | (region.rows.high != 0)
    assert unbounded.any() and used.any() and not unbounded[region.rows.column[used]].any()
    left = bounding.bound(*bounding.columns_of(lo, hi), np.inf, 2)
    assert -np.inf < left.lower and not left.empty
    x = rng.uniform(lo, hi, (20_000, 3)).T
    fits = (1 / x[0] + x[1] <= 4) & (np.log(x[1] / x[0]) + x[2] >= 0.5) & (x[1] + x[2] >= 1)
    assert fits.any() and (x[1] * x[2] - x[1])[fits].min() >= left.lower
    assert ((x.T[fits] >= left.low[:3]) & (x.T[fits] <= left.high[:3])).all()
    of_f = infimum.compile(lambda x: 1 / x[0] + x[1], 3, constraints=[lambda x: x[1] + x[2] >= 1])
    bounding = LinearProgramBounding(Relaxation(of_f), of_f.linear_programs)
    bounding.session()
    assert bounding.bound(*bounding.columns_of(lo, hi), np.inf, 2).lower == -np.inf
