"""Propagation as a part of branch and bound, and on the whole box."""

import numpy as np
import pytest

from infimum.bounds.interface import StepContext
from infimum.bounds.propagation import Propagation, propagate
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import PROPAGATE, ProgramKind
from infimum.expr.build import build, reshape
from infimum.expr.node import Expr, const, var
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS, rows
from infimum.problem.system import System
from infimum.search.region_pool import Regions
from infimum.trace.trace import trace

INF = np.inf
ALWAYS_LOOPS = ProgramKind.of(PROPAGATE, written_out=0)


def system(n: int, f, *constraints, integers: tuple[int, ...] = ()) -> Evaluator:
    """f, and (function, lower end, upper end) of each constraint."""
    bodies = tuple(reshape(trace(g, n), (1,)) for g, _, _ in constraints)
    ends = np.array([c[1:] for c in constraints], float).reshape(-1, 2).T
    whole = System(trace(f, n), bodies, *np.ascontiguousarray(ends), integers)
    return Evaluator(whole.f, n, system=whole)


def regions(lo, hi, axis: int = 0) -> np.ndarray:
    """One region."""
    lo, hi = np.array(lo, float)[:, None], np.array(hi, float)[:, None]
    return Regions(lo, hi, np.array([-INF]), np.array([axis], np.int32), np.zeros(1, np.int8)).columns()


def after(evaluator: Evaluator, lo, hi, upper: float = INF) -> Regions:
    part = Propagation(evaluator, np.array(lo, float), np.array(hi, float))
    return Regions.from_columns(part.test(regions(lo, hi), StepContext(upper)).regions)


def test_the_box_shrinks_to_where_the_constraints_can_hold():
    f = system(2, lambda x: x[0] + x[1], (lambda x: x[0] * x[1], 4.0, 8.0), (lambda x: x[0] ** 2 + x[1] ** 2, -INF, 25.0))
    r = after(f, [1.0, 0.0], [10.0, 10.0])
    assert r.lo[0, 0] == 1.0 and 0.8 <= r.lo[1, 0] and (r.hi <= 5.0).all() and r.axis[0] >= 0
    assert r.lower[0] > 1.79


def test_what_violates_a_constraint_is_gone_whatever_the_upper_bound():
    f = system(1, lambda x: x[0], (lambda x: x[0] ** 2, 4.0, INF))
    for upper in (INF, 5.0):
        assert after(f, [-1.0], [1.5], upper).axis[0] == DISCARDED_AXIS


def test_what_a_domain_excludes_is_gone():
    f = system(1, lambda x: x[0], (lambda x: np.log(x[0]), -INF, INF))
    assert after(f, [-2.0], [-1.0]).axis[0] == DISCARDED_AXIS
    r = after(f, [-2.0], [1.0])
    assert (r.lo[0, 0], r.hi[0, 0], r.axis[0]) == (0.0, 1.0, 0)


def test_what_the_upper_bound_excludes_counts_as_above():
    f = system(2, lambda x: x[0], (lambda x: x[0] + x[1], 3.0, 3.0))
    r = after(f, [0.0, 0.0], [2.5, 1.0], upper=1.0)  # only together: the sum needs x[0] >= 2
    assert r.axis[0] != DISCARDED_AXIS and r.lower[0] == INF
    r = after(f, [1.5, 0.0], [2.5, 1.0], upper=1.0)  # the value alone
    assert r.axis[0] != DISCARDED_AXIS and 1.5 <= r.lower[0] < INF
    r = after(f, [0.0, 0.0], [2.5, 1.0], upper=2.0)
    assert (r.lo[:, 0].tolist(), r.hi[:, 0].tolist()) == ([2.0, 1.0], [2.0, 1.0])


def test_without_an_upper_bound_an_empty_box_is_gone():
    f = system(2, lambda x: x[0], (lambda x: x[0] - x[1], 0.0, 0.0), (lambda x: x[0] + x[1], 3.0, 3.0),
               (lambda x: x[0], -INF, 1.0))
    assert after(f, [0.0, 0.0], [2.0, 2.0]).axis[0] == DISCARDED_AXIS


def test_whole_numbers():
    f = system(2, lambda x: x[0] + x[1], (lambda x: x[0] + x[1], 2.5, 9.0), integers=(0,))
    r = after(f, [0.2, 0.0], [3.7, 0.5])
    assert (r.lo[0, 0], r.hi[0, 0]) == (2.0, 3.0) and r.lo[1, 0] == 0.0
    assert after(f, [2.2, 0.0], [2.8, 1.0]).axis[0] == DISCARDED_AXIS


def test_pieces_cover_what_the_parent_held():
    f = system(2, lambda x: x[1], (lambda x: np.sin(x[0]) - x[1], 0.0, 0.0))
    lo, hi = np.array([0.0, -2.0]), np.array([8.0, 2.0])
    part = Propagation(f, lo, hi)
    found = [Regions.from_columns(o.regions) for o in part.cut(regions(lo, hi), 8, StepContext())]
    pieces = [some.at(np.array([k])) for some in found for k in range(len(some))]
    assert len(pieces) == 8
    for x in np.linspace(0.0, 8.0, 97):
        point = np.array([[x], [np.sin(x)]])
        assert any(((p.lo <= point) & (point <= p.hi)).all(axis=0).any() for p in pieces)
    assert sum(float((p.hi[1] - p.lo[1]).sum()) for p in pieces) < 8


def test_the_side_to_cut_is_the_widest_that_is_not_narrow():
    f = system(3, lambda x: x[0] + x[1] + x[2])
    part = Propagation(f, np.zeros(3), np.array([1.0, 100.0, 1.0]))
    given = regions([0.0, 0.0, 0.0], [0.5, 10.0, 0.25])
    axis_row = rows(3)[1]
    assert part.test(given, StepContext(INF)).regions[axis_row, 0] == 0
    assert part.test(given, StepContext(INF, narrow=0.5)).regions[axis_row, 0] == 1
    assert part.test(regions([0.0] * 3, [0.0] * 3), StepContext(INF, narrow=0.5)).regions[axis_row, 0] == NO_AXIS


def test_a_branch_that_may_not_be_chosen_says_nothing():
    f = system(1, lambda x: x[0], (lambda x: np.where(x[0] > 0, np.sqrt(x[0] - 1), x[0]), -5.0, 5.0))
    r = after(f, [-2.0], [3.0])
    assert (r.lo[0, 0], r.hi[0, 0]) == (-2.0, 3.0)
    assert after(f, [0.5], [3.0]).lo[0, 0] == 1.0


def test_elements_that_nobody_reads_say_nothing():
    x = var("x", (40,))
    roots = build("slice", build("sqrt", x), starts=(1,), steps=(1,), counts=(39,))
    whole = System(build("sum", x, axes=(0,)), (roots,), np.zeros(39), np.full(39, INF))
    for kind in (PROPAGATE, ALWAYS_LOOPS):
        out = Evaluator(whole.f, 40, system=whole).run(
            kind, [regions([-1.0] * 40, [1.0] * 40)],
            parameters=np.concatenate([np.full(40, -1.0), np.ones(40), np.arange(40.0), [0, 0, 1, 0, INF]]))[0]
        assert out[0, 0] == -1.0 and (out[1:40, 0] == 0.0).all()


@pytest.mark.parametrize("kind", [PROPAGATE, ALWAYS_LOOPS], ids=["as usual", "always loops"])
@pytest.mark.parametrize("op", ["cumsum", "cumprod"])
def test_running_sums_and_products_tell_each_element(op, kind):
    x, values = var("x", (20,)), np.linspace(1.0, 1.5, 20)
    for exclusive in (False, True):
        for reverse in (False, True):
            order = slice(None, None, -1 if reverse else 1)
            running = (np.cumsum if op == "cumsum" else np.cumprod)(values[order])[order]
            before = running - values if op == "cumsum" else running / values
            wanted = before if exclusive else running
            whole = System(build("sum", x, axes=(0,)), (build(op, x, exclusive=exclusive, reverse=reverse),),
                           wanted - 1e-9, wanted + 1e-9)
            given = np.concatenate([np.zeros(20), np.full(20, 9.0), np.arange(20.0), [0, 0, 1, 0, INF]])
            out = Evaluator(whole.f, 20, system=whole).run(kind, [regions([0.0] * 20, [9.0] * 20)], parameters=given)[0]
            lo, hi = out[:20, 0], out[20:40, 0]
            assert (lo <= values).all() and (values <= hi).all() and np.sort(hi - lo)[-2] < 1e-7
            assert (hi[0 if reverse else -1] > 8.0) == exclusive  # the last one is in no result


def chain(n: int, step) -> Evaluator:
    """x[0] == 0.3, x[1:] == step(x[:-1])."""
    x = var("x", (n,))

    def part(start: int, count: int) -> Expr:
        return build("slice", x, starts=(start,), steps=(1,), counts=(count,))
    ends = np.array([0.3] + [0.0] * (n - 1))
    whole = System(build("sum", x, axes=(0,)), (part(0, 1), build("sub", part(1, n - 1), step(part(0, n - 1)))), ends, ends)
    return Evaluator(whole.f, n, system=whole)


@pytest.mark.parametrize("n", [10, 1000])
def test_a_chain_of_equations_becomes_a_point(n):
    f = chain(n, lambda x: build("add", build("mul", build("powi", x, k=2), const(0.25)), const(0.5)))
    lo, hi = propagate(f, np.full(n, -2.0), np.full(n, 2.0))
    assert (hi - lo).max() < 1e-14
    value = 0.3
    for k in range(n):
        assert abs(lo[k] - value) < 1e-13
        value = 0.5 + 0.25 * value * value


def test_the_whole_box_may_hold_nothing():
    f = system(2, lambda x: x[0], (lambda x: x[0] * x[1], 1.0, 1.0), (lambda x: np.exp(x[0]) + x[1], -INF, 3.0))
    assert propagate(f, np.array([0.1, 0.1]), np.array([5.0, 5.0])) is None
    assert propagate(f, np.array([-INF, -INF]), np.array([INF, INF])) is not None
