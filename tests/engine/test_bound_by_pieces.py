"""Enclosures by pieces against Arb: the bounds of branch and bound and of sweeps that use them, their bits, their tightness."""

import zlib
from collections.abc import Callable

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.bounds.bound_table import Payoff, Schedule
from infimum.bounds.function_bounds.first_order_kernel import LOWER
from infimum.evaluation.programs import BOUND, BOUND_BY_PIECES, CONTEXT, ProgramKind
from infimum.problem.settings import Goal
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from tests.engine.test_bound import Bounds, judge_one, judge_some, within
from tests.engine.test_bound import Judge as BoundJudge
from tests.engine.test_sweep import BOUNDS, INF, Judge, Swept, best_value, boxes
from tests.expr.test_pieces import FOUND
from tests.oracle.boxes import points_of
from tests.oracle.check import Checker
from tests.random_kernels import same_bits


@pytest.mark.parametrize("first", range(0, 90, 15))
def test_random_expressions_of_one_variable(first):
    """The whole expression is a piece, wherever it reads its variable twice."""
    pieces = 0
    for seed in range(first, first + 15):
        found = judge_one(seed, users=5, boxes=10, per_box=4, n=1, kind=BOUND_BY_PIECES)
        pieces += found is not None and found.c.evaluator.facts.has_pieces
    assert pieces


@pytest.mark.parametrize("seed", range(20))
def test_random_expressions(seed):
    judge_some(seed + 700, users=4, boxes=8, per_box=4, kind=BOUND_BY_PIECES)


ROUGH: dict[str, Callable] = {  # pieces with kinks, jumps, poles, and parts where they are undefined
    "kinks": lambda x: np.sum(np.abs(x - 0.3) * x - np.maximum(x, 0.1)), "jumps": lambda x: np.sum(np.floor(3 * x) * x + x**2),
    "poles": lambda x: np.sum(1 / x + x**2), "undefined in parts": lambda x: np.sum(np.sqrt(x) * np.log(x) + x),
    "cusps": lambda x: np.sum(np.sqrt(np.abs(x)) - 0.3 * x), "branches": lambda x: np.sum(np.where(x < 0.25, x**2, 1 - x)),
    "compared where it is undefined": lambda x: (lambda q: np.where(q < 4, q**2 - q, -5.0))(np.sum(np.sqrt(x))),
    "root at its end": lambda x: np.sum(x**1.5 - x), "products": lambda x: np.prod(x * np.cos(3 * x) + 0.1),
    **{name: f for name, (f, *_) in FOUND.items()},
}


def evaluator(name: str, n: int = 5, **backend) -> infimum.Evaluator:
    return infimum.compile(ROUGH[name], n, **backend)


@pytest.mark.parametrize("name", ROUGH)
def test_bounds_hold_where_pieces_are_rough(name):
    f, rng = evaluator(name), np.random.default_rng(zlib.crc32(name.encode()))
    judge = BoundJudge(Checker(f.f, f.n))
    for bounds in BOUNDS:
        low, high = np.array((bounds * 2)[:f.n], dtype=float).T
        lo, hi = within(rng, low, high, 4)
        judge.judge(Bounds(f, lo, hi, low, high, BOUND_BY_PIECES), [points_of(rng, lo[:, k], hi[:, k], 4) for k in range(4)])
    assert f.facts.has_pieces and judge.values > 10


@pytest.mark.parametrize("slices", (8, 64))
@pytest.mark.parametrize("name", [name for name in ROUGH if evaluator(name).facts.local is not None])
def test_sweeps_by_pieces_cut_nothing_without_a_reason(name, slices):
    f, rng = evaluator(name), np.random.default_rng(zlib.crc32(name.encode()) + slices)
    judge = Judge(rng)
    for bounds in BOUNDS[:5]:
        low, high = np.array((bounds * 2)[:f.n], dtype=float).T
        lo, hi = boxes(rng, low, high, 2)
        for upper in (INF, best_value(f, points_of(rng, low, high, 30))):
            judge.judge(Swept(f, lo, hi, low, high, upper, slices))
    assert judge.cut_points + judge.values > 50


@pytest.mark.parametrize("name", ("kinks", "undefined in parts", "of a slice", "of a norm", "within a piece's quantity"))
def test_the_bits_are_the_definitions(name):
    n = 5
    low, high = np.full(n, -1.0), np.full(n, 2.0)
    lo, hi = within(np.random.default_rng(3), low, high, 3)
    exact = evaluator(name, backend=PythonBackend())
    bounds = Bounds(exact, lo, hi, low, high, BOUND_BY_PIECES).out
    context = exact.run(ProgramKind.of(CONTEXT, slices=8), [lo, hi])
    for lanes in host().widths():
        f = evaluator(name, backend=CpuBackend(lanes=lanes, threads=2))
        pairs = [*zip(Bounds(f, lo, hi, low, high, BOUND_BY_PIECES).out, bounds, strict=True),
                 *zip(f.run(ProgramKind.of(CONTEXT, slices=8), [lo, hi]), context, strict=True)]
        assert all(same_bits(found, wanted).all() for found, wanted in pairs)


def test_the_hull_is_tight_to_second_order():
    """Half the width, a quarter of the excess (and the mean value form over the whole box has four times as much at least)."""
    f = infimum.compile(lambda x: np.sum(x**4 - 16 * x**2 + 5 * x), 3)
    c, excess = -2.903534027771177, {BOUND: [], BOUND_BY_PIECES: []}
    for width in (1.0, 0.5, 0.25):
        lo, hi = np.full((3, 1), c - width / 3), np.full((3, 1), c + width)
        for kind, row in excess.items():
            row.append(f.estimate([c] * 3) - Bounds(f, lo, hi, [-5] * 3, [5] * 3, kind).out[LOWER][0, 0])
    for wide, narrow in zip(excess[BOUND_BY_PIECES], excess[BOUND_BY_PIECES][1:], strict=False):
        assert 0 <= narrow <= wide / 3.5
    assert all(4 * tight <= loose for tight, loose in zip(excess[BOUND_BY_PIECES], excess[BOUND], strict=True))


# ---- when a test is used
def test_a_payoff_is_judged_by_counts():
    p = Payoff(Schedule(8, 64, 0.5))
    assert not p.is_due(7) and p.is_due(8) and not p.pays
    p.judge(8, 100, 50)
    assert p.pays and not p.is_due(71) and p.is_due(72)
    q = Payoff(Schedule(8, 64, 0.5))
    q.restore(p.state())
    assert (q.due, q.pays, q.tried, q.gained) == (72, True, 100, 50)
    q.judge(72, 100, 49)
    assert not q.pays and q.due == 136 and q.tried == 200


def branch(name: str, n: int) -> BranchAndBound:
    p = problems.get(name, n)
    f = infimum.compile(p.fun, n)
    incumbent = Incumbent(f, p.lo, p.hi)
    incumbent.offer(p.points[0][:, None])
    found = BranchAndBound(f, Goal(), incumbent)
    found.begin(p.lo[:, None], p.hi[:, None])
    return found


def test_pieces_are_used_while_they_pay():
    b = branch("styblinski_tang", 8)
    for _ in range(200):
        if b.done:
            break
        b.step()
    pieces = {part.name: part for part in b.tests}["pieces"]
    assert b.done and pieces.payoff.pays and b.steps < 100  # without pieces it takes 350


def test_without_pieces_none_are_tried():
    b = branch("rosenbrock", 4)
    assert "first_order" in (names := [part.name for part in b.tests]) and "pieces" not in names
    for _ in range(12):
        b.step()


@pytest.mark.parametrize(("name", "n"), [("schwefel_2_26", 30), ("styblinski_tang", 40), ("alpine_2", 20), ("michalewicz", 12)])
def test_separable_functions_are_proved(name, n):
    p = problems.get(name, n)
    r = infimum.minimize(p.fun, p.bounds)
    assert r.verdict is infimum.Verdict.PROVED
    assert r.lower <= p.minimum.hi and r.upper >= p.minimum.lo and r.nit < 100
    assert all(any(((lo <= b[1]) & (hi >= b[0])).all() for lo, hi in r.boxes) for b in p.minimisers)
