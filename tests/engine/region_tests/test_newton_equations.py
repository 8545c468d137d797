"""Newton's method for equations loses no feasible point, whatever the numbers are that rows are multiplied by."""

from collections import Counter

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.python import PythonBackend
from infimum.bounds import bound_order, newton_equations_kernel
from infimum.bounds.gradient_rows import GradientRows
from infimum.bounds.interface import StepContext
from infimum.bounds.newton_equations import NewtonEquations
from infimum.evaluation.evaluator import Evaluator
from infimum.kernel.region_cut import DISCARDED_AXIS, NO_AXIS
from infimum.search.region_pool import can_be_cut
from tests.engine.constrained.planted_systems import check_nothing_lost, evaluator_of, planted, regions_around
from tests.engine.region_tests.systems import INF, columns, random_case, random_regions
from tests.engine.region_tests.test_gradient_rows import WrongSlope


def part_of(evaluator: Evaluator, lo: float = -2.0, hi: float = 2.0) -> NewtonEquations:
    return NewtonEquations(evaluator, np.full(evaluator.n, lo), np.full(evaluator.n, hi))


def equations(*rows, n: int, integers: tuple[int, ...] = (), width: float = 0.0) -> NewtonEquations:
    """Each row is 0, or within the width of it."""
    return part_of(evaluator_of(lambda x: x[0], [(row, -width, width) for row in rows], n, integers))


def left(part: NewtonEquations, *sides: tuple[float, float]) -> np.ndarray | None:
    """What is left of a region, a row for each variable; None if it is gone."""
    lo, hi = (np.array(ends)[:, None] for ends in zip(*sides, strict=True))
    out, n = part.test(columns(lo, hi), StepContext(INF)).regions[:, 0], len(sides)
    return None if out[2 * n + 1] == DISCARDED_AXIS else out[:2 * n].reshape(2, n).T


def judge(before: np.ndarray, after: np.ndarray, worth: np.ndarray, feasible: np.ndarray) -> Counter:
    """No feasible point, a row each, is lost; regions are as they must be."""
    n = feasible.shape[1]
    lo, hi, axis = after[:n], after[n:2 * n], after[2 * n + 1]
    there = axis != DISCARDED_AXIS
    assert not np.isnan(after).any() and np.isin(worth, (0.0, 1.0)).all()
    assert (lo >= before[:n])[:, there].all() and (hi <= before[n:2 * n])[:, there].all() and (lo <= hi)[:, there].all()
    assert (after[2 * n] == before[2 * n]).all()
    cut = can_be_cut(lo, hi)
    assert ((axis[there] == NO_AXIS) == ~cut.any(axis=0)[there]).all()
    assert cut[np.maximum(axis, 0).astype(int), np.arange(len(axis))][there & (axis != NO_AXIS)].all()
    counts = Counter(gone=int((~there).sum()), narrower=int(((lo != before[:n]) | (hi != before[n:2 * n])).any(axis=0).sum()))
    for p in feasible[:, :, None]:
        held = ((before[:n] <= p) & (p <= before[n:2 * n])).all(axis=0)
        assert there[held].all() and ((lo <= p) & (p <= hi)).all(axis=0)[held].all()
        counts["held"] += int(held.sum())
    return counts


def campaign(seeds: range) -> Counter:
    """Rows with kinks, quotients and jumps; integers; ranges beside equations."""
    total = Counter()
    for seed in seeds:
        case = random_case(seed)
        if len(case.system.two_sided):
            part = NewtonEquations(Evaluator(case.system.f, len(case.lo), system=case.system), case.lo, case.hi)
            regions = random_regions(case, seed, 120)
            out = part.test(regions.copy(), StepContext(INF))
            total += judge(regions, out.regions, out.paid, case.feasible)
    return total


def test_no_feasible_point_is_lost():
    counts = campaign(range(24))
    assert min(counts["held"], counts["gone"], counts["narrower"]) > 200


@pytest.mark.parametrize("n, rows", ((2, 2), (3, 3), (4, 3), (2, 3), (3, 2)))
def test_no_planted_root_is_lost(n, rows):
    """More variables than equations, as many, and more equations."""
    for seed in range(2):
        at = planted(seed, n, equations=rows, inequalities=1)
        before = regions_around(np.random.default_rng(seed), at, 256)
        after = part_of(at.evaluator).test(before.copy(), StepContext(INF)).regions
        check_nothing_lost(at, before, after, INF, DISCARDED_AXIS)
        assert (after[:2 * n] != before[:2 * n]).any(axis=0).sum() > 50


def test_any_numbers_will_do(nothing_lowered, monkeypatch):
    """The rows are multiplied by what the region's first end says, by infinite numbers and NaN."""
    def garbage(self):
        b, found = self.b, self.b.state(self.m**2)
        with b.loop(self.m**2) as turn:
            seed = b.mul(b.add(b.input(0, 0), b.data(b.place("uadd", self.numbers, 0))), 12.9898)
            b.store(found, turn.index, b.div(b.sub(seed, 3.0), b.sub(b.floor(seed), 2.0)))
        return found
    monkeypatch.setattr(newton_equations_kernel.NewtonEquationsKernel, "_eliminate", garbage)
    counts = campaign(range(24))
    assert min(counts["held"], counts["narrower"]) > 200


@pytest.mark.parametrize("what, wrong", (("SlopeExpressions", WrongSlope), ("LIPSCHITZ", -1), ("close_ends", INF)))
def test_wrong_ones_would_be_noticed(nothing_lowered, monkeypatch, what, wrong):
    """Slopes of the wrong sign and rows with jumps lose points; ranges that are too wide to tell anything do not."""
    monkeypatch.setattr(newton_equations_kernel.POLICY if what == "close_ends" else newton_equations_kernel, what, wrong)
    if what == "close_ends":
        assert campaign(range(6))["held"] > 50
    else:
        with pytest.raises(AssertionError):
            campaign(range(50, 90))


def test_a_solution_comes_near_at_the_rate_of_newtons_method():
    part = equations(lambda x: x[0] ** 2 + x[1] - 11, lambda x: x[0] + x[1] ** 2 - 7, n=2)
    sides, widths = ((2.8, 3.1), (1.9, 2.2)), [0.3]
    for _ in range(4):
        sides = left(part, *sides)
        assert (sides[:, 0] <= (3, 2)).all() and (sides[:, 1] >= (3, 2)).all()
        widths.append(np.ptp(sides, axis=1).max())
    assert all(after < 0.5 * before**2 or after < 1e-14 for before, after in zip(widths, widths[1:], strict=False))
    assert left(part, (2.0, 2.5), (1.9, 2.2)) is None


def test_parameters_stay():
    """Two equations in four variables: they are solved in those in which they vary most."""
    part = equations(lambda x: 4 * x[0] + x[1] ** 2 + x[2] / 64 - 1, lambda x: x[0] - 3 * x[1] + x[3] / 64, n=4)
    sides = left(part, (-1, 1), (-0.5, 0.5), (-1, 1), (-1, 1))
    assert np.ptp(sides, axis=1)[:2].max() < 0.2 and (np.ptp(sides, axis=1)[2:] == 2).all()


def test_dependent_equations():
    """One row says all, twice; and two that contradict each other far from what each of them sees."""
    twice = equations(*(2 * [lambda x: x[0] ** 2 + x[1] - 1]), n=2)
    assert left(twice, (0.5, 1.5), (0.1, 0.2))[0, 1] < 1
    against = equations(lambda x: x[0] - x[1] ** 2, lambda x: 3 * x[0] - 3 * x[1] ** 2 - 2.0**-20, n=2)
    assert left(against, (0.5, 0.75), (0.5, 1)) is not None
    assert left(against, (0.5, 0.75), (0.75, 0.75 + 2.0**-12)) is None


def test_a_matrix_of_zeros_and_a_double_root():
    part = equations(lambda x: x[0] ** 2 - x[1] ** 2, lambda x: x[0] * x[1], n=2)
    assert (left(part, (-0.5, 0.5), (-0.5, 0.5)) == ((-0.5, 0.5), (-0.5, 0.5))).all()
    assert left(part, *left(part, (0.25, 0.5), (-0.5, 0.5))) is None


def test_rows_that_jump_or_end_are_not_used():
    """Their derivatives say nothing: both would leave nothing of a region that holds a solution."""
    jump = equations(lambda x: x[0] + np.floor(x[1]) - 1, lambda x: x[0] + x[1] - 1, n=2)
    assert np.array_equal(left(jump, (-0.25, 0.5), (0.5, 1.25))[:, :], ((-0.25, 0.5), (0.5, 1.25)))
    edge = equations(lambda x: np.sqrt(x[0]) - x[1], lambda x: x[0] + x[1], n=2)
    assert (left(edge, (-0.25, 0.25), (-0.25, 0.25)) == ((-0.25, 0.25), (-0.25, 0.25))).all()


def test_relaxed_equations_keep_what_they_allow():
    width = 2.0**-10
    part = equations(lambda x: x[0] + x[1] - 1, lambda x: x[0] - x[1], n=2, width=width)
    sides = left(part, (0, 1), (0, 1))
    assert (sides[:, 0] <= 0.5 - width).all() and (sides[:, 1] >= 0.5 + width).all()  # both ends are reached
    assert np.ptp(sides, axis=1) == pytest.approx(2 * width)
    assert np.ptp(left(part, (0.5, 0.5 + width / 4), (0.5, 0.5 + width / 4)), axis=1).min() == width / 4  # nothing to say


def test_integers():
    rows = lambda x: x[0] ** 2 + x[1] - 6.5, lambda x: x[0] - x[1] + 0.5  # noqa: E731  (2, 2.5)
    whole, other = left(equations(*rows, n=2, integers=(0,)), (1.5, 2.5), (2, 3))
    assert (whole == 2).all() and other[0] <= 2.5 <= other[1] and np.ptp(other) < 1e-14
    assert left(equations(*rows, n=2, integers=(1,)), (1.5, 2.5), (2, 3)) is None


def test_unbounded_regions_are_left_alone():
    part = equations(lambda x: x[0] + x[1], lambda x: x[0] - x[1], n=2)
    assert (left(part, (-INF, 1), (0, 1)) == ((-INF, 1), (0, 1))).all()


def test_bits_are_those_of_the_definition():
    for seed in (2, 4):
        case = random_case(seed)
        assert len(case.system.two_sided)
        regions = random_regions(case, seed, 5)
        regions[0, 0] = -INF
        found = [NewtonEquations(Evaluator(case.system.f, len(case.lo), backend, None, system=case.system), case.lo, case.hi)
                 .test(regions, StepContext(INF)) for backend in (CpuBackend(), PythonBackend())]
        assert found[0].regions.tobytes() == found[1].regions.tobytes() and found[0].paid.tobytes() == found[1].paid.tobytes()


# ---- in the list of parts
def test_where_it_is_asked():
    def broyden(x):
        return [(3 - 2 * x[i]) * x[i] - (x[i - 1] if i else 0) - (2 * x[i + 1] if i < 4 else 0) + 1 for i in range(5)]

    def parts(f, rows, n):
        lo = np.full(n, -1.0)
        return {type(part): part
                for part in bound_order.region_tests_of(evaluator_of(f, [(row, 0.0, 0.0) for row in rows], n), lo, -lo)}
    rows = [lambda x, i=i: broyden(x)[i] for i in range(5)]
    alone = parts(lambda x: 0.0, rows, 5)
    assert alone[NewtonEquations].payoff.due == 1 and alone[GradientRows].payoff.due > 16
    for found in (parts(lambda x: x[0], rows, 5), parts(lambda x: 0.0, rows, 6), parts(lambda x: 0.0, rows[:4], 5)):
        assert found[NewtonEquations].payoff.due > 4 > found[GradientRows].payoff.due
    assert NewtonEquations not in parts(lambda x: 0.0, rows[:1], 5)


def test_all_roots_of_a_system():
    def h(x):
        return [x[0] ** 3 - 3 * x[0] * x[1] ** 2 == 1, 3 * x[0] ** 2 * x[1] == x[1] ** 3]  # the cube roots of 1
    r = infimum.feasible([(-2, 2), (-2, 2)], h, xtol=1e-9, seed=0)
    found = sorted(lo[0] / 2 + hi[0] / 2 for lo, hi in r.boxes)
    assert r.verdict.name == "PROVED" and found == pytest.approx([-0.5, -0.5, 1.0])
