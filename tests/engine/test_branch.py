"""Branch and bound: after every step the minimum is enclosed and every known minimiser lies in a region."""

import signal
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st

import infimum
from infimum import problems
from infimum.backend.arrays import HostArrays
from infimum.backend.cpu import CpuBackend
from infimum.problem.problem import Interval
from infimum.problem.settings import Goal
from infimum.search import branch_and_bound as branch_module
from infimum.search import interrupts, region_search
from infimum.search import region_heap as heap_module
from infimum.search import region_pool as pool_module
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.incumbent import Incumbent
from infimum.search.region_pool import Regions
from tests.all_threads import all_threads_work  # noqa: F401
from tests.oracle.arb_values import precision, settled_value
from tests.random_kernels import same_bits

INF = np.inf
Box = tuple[np.ndarray, np.ndarray]


def started(fun: "Callable | infimum.Evaluator", lo, hi, goal: Goal | None = None, x=None, threads: int | None = None,
            batch: int | None = None) -> BranchAndBound:
    """A search at its beginning; `x` is offered as a first point."""
    lo, hi = np.array(lo, dtype=float), np.array(hi, dtype=float)
    e = fun if isinstance(fun, infimum.Evaluator) else infimum.compile(fun, len(lo), backend=CpuBackend(threads=threads))
    incumbent = Incumbent(e, lo, hi)
    if x is not None:
        incumbent.offer(np.array(x, dtype=float)[:, None])
    branch = BranchAndBound(e, goal or Goal(), incumbent, batch)
    branch.begin(lo[:, None], hi[:, None])
    return branch


def covered(regions: Regions, boxes: "tuple[Box, ...] | list[Box]") -> bool:
    """Does each box meet a region?"""
    return all(((regions.lo <= hi[:, None]) & (regions.hi >= lo[:, None])).all(axis=0).any() for lo, hi in boxes)


def holds(branch: BranchAndBound, minimum: Interval, minimisers: "tuple[Box, ...] | list[Box]") -> None:
    """Everything that is promised at any moment."""
    regions = branch.regions()
    assert branch.lower() <= minimum.hi and branch.incumbent.upper >= minimum.lo
    assert covered(regions, minimisers)
    assert (regions.lo >= branch.lo[:, None]).all() and (regions.hi <= branch.hi[:, None]).all()
    assert (regions.lo <= regions.hi).all()
    assert not (regions.lower > branch.incumbent.upper).any() and not np.isnan(regions.lower).any()
    # a region's own bound holds at the minimisers inside it
    for lo, hi in minimisers:
        inside = ((regions.lo <= lo[:, None]) & (regions.hi >= hi[:, None])).all(axis=0)
        assert (regions.lower[inside] <= minimum.hi).all()


KNOWN = [("camel_six_hump", 2), ("goldstein_price", 2), ("branin", 2), ("shekel_5", 4), ("colville", 4), ("himmelblau", 2),
         ("easom", 2), ("ackley", 2), ("rastrigin", 3), ("bukin_6", 2), ("hartmann_3", 3), ("shubert", 2), ("eggholder", 2),
         ("cross_in_tray", 2), ("mccormick", 2), ("hosaki", 2), ("bard", 3), ("levy", 4), ("zirilli", 2), ("michalewicz", 2)]


@pytest.mark.parametrize("cuts", (1, 4))
@pytest.mark.parametrize(("name", "n"), KNOWN)
def test_the_minimum_is_enclosed_after_every_step(name, n, cuts, monkeypatch):
    """Without any help by a swarm, cut once a step and several times."""
    monkeypatch.setattr(branch_module.POLICY, "most_cuts", cuts)
    p = problems.get(name, n)
    branch = started(p.fun, p.lo, p.hi)
    lower, upper = -INF, INF
    holds(branch, p.minimum, p.minimisers)
    for _, _ in zip(branch.run(), range(300), strict=False):
        holds(branch, p.minimum, p.minimisers)
        assert branch.lower() >= lower and branch.incumbent.upper <= upper, "an enclosure only shrinks"
        lower, upper = branch.lower(), branch.incumbent.upper
    x, upper = branch.incumbent.x, branch.incumbent.upper
    assert branch.done and Goal().met(branch.lower(), upper)
    assert (p.lo <= x).all() and (x <= p.hi).all()
    with precision(200):
        assert settled_value(branch.evaluator.f, x) <= arb(upper), "upper is verified at x"


@pytest.mark.parametrize(("name", "n"), [("camel_six_hump", 2), ("shekel_5", 4), ("shubert", 2), ("himmelblau", 2)])
def test_with_a_good_point_from_the_beginning(name, n):
    p = problems.get(name, n)
    branch = started(p.fun, p.lo, p.hi, Goal(1e-10, 1e-10), x=p.points[0])
    for _, _ in zip(branch.run(), range(200), strict=False):
        holds(branch, p.minimum, p.minimisers)
    assert branch.done


@pytest.mark.parametrize(("name", "front"), [("camel_six_hump", 1), ("goldstein_price", 8)])
def test_a_small_front_loses_nothing(name, front, monkeypatch):
    """Regions wait in the pool, and a step takes a few only."""
    monkeypatch.setattr(region_search.POLICY, "batches_at_hand", 0.5)
    monkeypatch.setattr(branch_module.POLICY, "full_step", 4)
    p = problems.get(name)
    branch, heaps = started(p.fun, p.lo, p.hi, batch=2 * front), 0
    branch.lanes = 2 * front
    for _, _ in zip(branch.run(), range(1500), strict=False):
        heaps += bool(len(branch.pool.waiting))
        holds(branch, p.minimum, p.minimisers)
    assert branch.done and heaps > 3


# ---- minimisers known exactly
def on_faces(x):
    return x[0] + 2 * x[1] - np.exp(x[2])


def flat_valley(x):
    """Every point with x0 + x1 = 1 is a minimiser; there are doubles among them."""
    return (x[0] + x[1] - 1) ** 2


EXACT = {
    "a corner": (on_faces, [(-1, 2), (0, 3), (-2, 1)], -1 - np.e, [(-1.0, 0.0, 1.0)]),
    "a valley": (flat_valley, [(0, 1), (0, 1)], 0.0, [(0.0, 1.0), (0.5, 0.5), (0.25, 0.75), (1.0, 0.0)]),
    "a kink": (lambda x: np.abs(x[0] - 0.1) + np.abs(x[1]), [(-1, 2), (-1, 1)], 0.0, [(0.1, 0.0)]),
    "a kink on a bound": (lambda x: np.abs(x[0] - 0.1) + x[1], [(0.1, 2), (0, 1)], 0.0, [(0.1, 0.0)]),
    "an edge of the domain": (lambda x: x[0] + np.sqrt(x[0]) + x[1] ** 2, [(-1, 1), (-1, 1)], 0.0, [(0.0, 0.0)]),
    "the zero product": (lambda x: x[0] + x[1] * np.sqrt(x[0]), [(-1, 1), (0, 0)], 0.0, [(0.0, 0.0)]),
    "a power": (lambda x: x[0] ** 1.5 + x[0], [(-1, 1)], 0.0, [(0.0,)]),
    "a jump": (lambda x: np.where(x[0] < 0, 5.0, x[0]), [(-1, 1)], 0.0, [(0.0,)]),
    "a step": (lambda x: x[0] - 3 * np.floor(x[0]), [(0, 1.5)], -2.0, [(1.0,)]),
    "one point": (lambda x: np.where(x[0] == 0.5, -1.0, x[0] ** 2), [(-1, 1)], -1.0, [(0.5,)]),
    "a domain of one point": (lambda x: x[0] + np.sqrt(-((x[0] - 0.5) ** 2)), [(0, 1)], 0.5, [(0.5,)]),
    "the other branch": (lambda x: np.where(x[0] >= 1, x[0], np.log(x[0] - 5)), [(0, 3)], 1.0, [(1.0,)]),
    "a norm": (lambda x: np.linalg.norm(x - 0.3), [(-1, 2), (0.3, 1)], 0.0, [(0.3, 0.3)]),
    "two": (lambda x: (x[0] ** 2 - 1) ** 2 + np.abs(x[1]), [(-2, 3), (-1, 1)], 0.0, [(1.0, 0.0), (-1.0, 0.0)]),
    "a constant": (lambda x: 0 * x[0] + 7.5, [(-1, 2)], 7.5, [(-1.0,), (0.3,), (2.0,)]),
    "no width": (lambda x: x[0] ** 2 + x[1], [(0.5, 0.5), (-0.25, -0.25)], 0.0, [(0.5, -0.25)]),
    "an entropy": (lambda x: x[0] * np.log(x[0]) + x[1] * np.log(x[1]), [(0.5, 2), (1, 2)], -0.5 * np.log(2), [(0.5, 1.0)]),
    "the line": (lambda x: (x[0] - 3) ** 2 + np.abs(x[1] + 1e5), [(-INF, INF), (-INF, 0)], 0.0, [(3.0, -1e5)]),
}


@pytest.mark.parametrize("name", EXACT)
def test_exact_minimisers_stay(name):
    fun, bounds, minimum, points = EXACT[name]
    lo, hi = np.array(bounds, dtype=float).T
    branch = started(fun, lo, hi)
    slack = 1e-12 if minimum not in (0.0, -1.0, -2.0, 0.5, 1.0, 7.5) else 0.0
    boxes = [(np.array(p), np.array(p)) for p in points]
    holds(branch, Interval(minimum - slack, minimum + slack), boxes)
    for _, _ in zip(branch.run(), range(300), strict=False):
        holds(branch, Interval(minimum - slack, minimum + slack), boxes)
    assert branch.done


def test_a_monotone_function_is_done_at_once():
    """The box is reduced to the corner, a point."""
    branch = started(on_faces, [-1, 0, -2], [2, 3, 1])
    assert branch.done and branch.boxes == 1 and len(branch.final) == 1
    assert branch.final.lo[:, 0].tolist() == branch.final.hi[:, 0].tolist() == [-1, 0, 1]


def test_what_is_known_of_a_box_holds_for_its_pieces():
    """A lower bound from elsewhere is not forgotten, though every enclosure here lies below it."""
    f = infimum.compile(lambda x: (x[0] * x[0] - x[0]) * (x[1] + 2) + 0.25 * (x[1] + 2), 2)
    lo, hi = np.array([0.0, -1.0]), np.array([1.0, 1.0])
    branch = BranchAndBound(f, Goal(0.0, 0.0), Incumbent(f, lo, hi))
    branch.begin(lo[:, None], hi[:, None], 0.0)
    for _, _ in zip(branch.run(), range(4), strict=False):
        assert branch.lower() >= 0 and (branch.regions().lower >= 0).all()
    assert f.value(*(np.ascontiguousarray(a) for a in (branch.regions().lo, branch.regions().hi))).lo.min() < 0


@pytest.mark.parametrize("seed", range(12))
def test_random_functions_with_a_planted_minimiser(seed):
    """A sum of terms, each least at the same point c of doubles: on a bound, beside one, or inside."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 4))
    lo, hi = -rng.uniform(0.5, 3, n), rng.uniform(0.5, 3, n)
    c = np.where(rng.random(n) < 0.5, rng.uniform(lo, hi), np.where(rng.random(n) < 0.5, lo, hi))
    weights, waves = rng.uniform(0.2, 3, n), rng.uniform(1, 6, n)
    kinds = rng.integers(0, 5, n)

    def fun(x):
        total = 0.0
        for i in range(n):
            d = x[i] - float(c[i])
            wave = d**2 + 1 - np.cos(d * float(waves[i]))
            terms = np.abs(d), d**2, wave, np.sqrt(np.abs(d)), np.where(d == 0, -0.5, d**2)
            total = total + float(weights[i]) * terms[kinds[i]]
        return total + np.linalg.norm(x - c) * np.exp(x[0])
    minimum = sum(-Fraction(1, 2) * Fraction(float(weights[i])) for i in range(n) if kinds[i] == 4)
    at = Interval(float(minimum), float(minimum))
    branch = started(fun, lo, hi)
    for _, _ in zip(branch.run(), range(60), strict=False):
        assert Fraction(branch.lower()) <= minimum <= Fraction(branch.incumbent.upper)
        assert covered(branch.regions(), [(c, c)])
    holds(branch, at, [(c, c)]) if Fraction(at.lo) == minimum else None


# ---- the goal
REALS = st.floats(allow_nan=False, allow_infinity=False)


@given(upper=REALS, gap=st.one_of(st.floats(0, 1e3), st.floats(0, 1e-300), st.integers(0, 4)), atol=st.floats(0, 10),
       rtol=st.one_of(st.sampled_from([0.0, 1e-6, 2.0**-20, 0.1]), st.floats(0, 1)), near=st.booleans())
def test_the_gap_is_rounded_up(upper, gap, atol, rtol, near):
    """Whatever is called met is met in exact arithmetic."""
    goal = Goal(atol, rtol)
    slack = max(Fraction(atol), Fraction(rtol) * abs(Fraction(upper)))
    lower = upper - (float(min(slack, Fraction(2) ** 1000)) if near else gap)
    for low in (lower, np.nextafter(lower, -INF), np.nextafter(lower, INF)) if np.isfinite(lower) and abs(lower) < 1e308 else ():
        if goal.met(float(low), upper):
            assert Fraction(upper) - Fraction(float(low)) <= slack or low >= upper
        elif Fraction(upper) - Fraction(float(low)) <= slack * (1 - Fraction(2) ** -50):
            assert slack < Fraction(2) ** -1000, "not met by rounding alone"


def test_the_goal_at_its_edge():
    goal = Goal(atol=1e-6, rtol=0.0)
    assert not goal.met(0.0, 1e-6) and goal.met(1e-6 - np.nextafter(1e-6, 0), 1e-6) and goal.met(5e-22, 1e-6)
    assert Goal(0.0, 0.0).met(1.0, 1.0) and not Goal(0.0, 0.0).met(np.nextafter(1.0, 0), 1.0)
    assert not Goal().met(-INF, 0.0) and not Goal().met(-INF, INF) and not Goal().met(0.0, INF)
    assert Goal(0.0, 0.5).met(0.6, 1.0) and not Goal(0.0, 0.5).met(0.4, 1.0) and Goal(0.0, 0.5).met(-1.4, -1.0)


@pytest.mark.parametrize("xtol", (1e-2, 1e-6, 1e-12))
def test_no_region_is_wider_than_xtol(xtol):
    p = problems.get("camel_six_hump")
    branch = started(p.fun, p.lo, p.hi, Goal(xtol=xtol))
    for _, _ in zip(branch.run(), range(400), strict=False):
        holds(branch, p.minimum, p.minimisers)
    regions = branch.regions()
    assert branch.done and ((regions.hi - regions.lo).max(axis=0) <= xtol).all()
    assert Goal().met(branch.lower(), branch.incumbent.upper)


@pytest.mark.parametrize("name", ("himmelblau", "branin", "shubert"))
def test_narrowing_a_few_regions_at_a_time_loses_none(name):
    p = problems.get(name)
    branch = started(p.fun, p.lo, p.hi, Goal(xtol=1e-2), x=p.points[0])
    branch.lanes = 4
    for _, _ in zip(branch.run(), range(1500), strict=False):
        assert covered(branch.regions(), p.minimisers)
    assert branch.done and len(branch.regions()) >= len(p.minimisers)


def test_xtol_that_no_double_allows_ends():
    """The first variable is one ulp wide and cannot be cut, the second can: what can be cut is cut, and that is the end."""
    above = np.nextafter(1.0, 2)
    branch = started(lambda x: 0 * x[0] + 0 * x[1], [1.0, 0.0], [above, 1e-17], Goal(xtol=1e-18))
    for _, _ in zip(branch.run(), range(60), strict=False):
        assert len(branch.regions()) < 1000
    regions = branch.regions()
    assert branch.done and covered(regions, [(np.array([1.0, 0.0]), np.array([1.0, 0.0])), (np.array([above, 1e-17]),) * 2])
    assert ((regions.hi - regions.lo)[1] <= 1e-18).all()


def test_xtol_of_an_interval_wider_than_the_largest_double():
    branch = started(lambda x: np.arctan(x[0]) ** 2, [-1.5e308], [1.5e308], Goal(xtol=1e-3))
    for _, _ in zip(branch.run(), range(700), strict=False):
        assert branch.lower() <= 0
    assert branch.done and covered(branch.regions(), [(np.zeros(1), np.zeros(1))])


# ---- where no double is left
def test_regions_without_a_double_inside_are_final():
    branch = started(lambda x: np.log(x[0]), [0.0], [1.0])
    for _, _ in zip(branch.run(), range(1500), strict=False):
        assert branch.lower() == -INF and covered(branch.regions(), [(np.array([0.0]), np.array([5e-324]))])
    assert branch.done and not len(branch.pool) and len(branch.final)
    assert branch.incumbent.upper == pytest.approx(-744.44, abs=0.01)
    assert (branch.final.hi <= np.nextafter(branch.final.lo, INF)).all()


def test_points_are_final_and_bound_as_well():
    branch = started(lambda x: x[0] * x[1], [0.1, 0.3], [0.1, 0.3])
    assert branch.done and len(branch.final) == 1 and not len(branch.pool)
    assert Fraction(branch.lower()) <= Fraction(0.1) * Fraction(0.3) <= Fraction(branch.incumbent.upper)


def test_final_regions_above_the_upper_bound_are_dropped():
    """Points are final at once; a better one drops those above it, and those of the same value stay."""
    f = infimum.compile(lambda x: np.ceil(4 * x[0] ** 2), 1)
    lo, hi = np.array([-2.0]), np.array([2.0])
    branch = BranchAndBound(f, Goal(0.0, 0.0), Incumbent(f, lo, hi))
    branch.begin(*[np.array([[1.0, 1.5, -1.0]])] * 2)
    assert branch.final.lo.tolist() == [[1.0, -1.0]] and branch.incumbent.upper == 4
    branch.begin(*[np.array([[0.5]])] * 2)
    assert branch.final.lo.tolist() == [[0.5]] and branch.lower() == branch.incumbent.upper == 1


def test_a_final_region_whose_bound_is_the_upper_bound_stays():
    """Two neighbouring doubles: the value at the first is 3, at the second 2, which is found since it is a corner."""
    f = infimum.compile(lambda x: np.ceil(4 - 4 * x[0]), 1)
    lo, hi = np.array([0.0]), np.array([0.5])
    branch = BranchAndBound(f, Goal(0.0, 0.0), Incumbent(f, lo, hi))
    branch.begin(np.array([[np.nextafter(0.5, 0)]]), np.array([[0.5]]))
    assert branch.final.lower.tolist() == [2] and branch.incumbent.upper == 2 and branch.incumbent.x.tolist() == [0.5]
    branch.begin(*[np.array([[0.5]])] * 2)
    assert len(branch.final) == 2 and branch.lower() == branch.incumbent.upper == 2


def test_nothing_is_left_where_nothing_is_defined():
    branch = started(lambda x: np.log(-1 - x[0] ** 2), [-1.0], [2.0])
    assert branch.done and not len(branch.regions()) and branch.incumbent.x is None and branch.lower() == INF


def test_every_box_is_kept_or_discarded_by_proof():
    p = problems.get("goldstein_price")
    branch = started(p.fun, p.lo, p.hi, x=p.points[0])
    for _ in range(6):
        before, counted = len(branch.pool) + len(branch.final), dict(branch.discarded)
        enclosed, pruned = branch.boxes, branch.incumbent.upper
        branch.step()
        assert branch.incumbent.upper == pruned
        gone = sum(branch.discarded.values()) - sum(counted.values())
        taken = before + (branch.boxes - enclosed) - gone - len(branch.pool) - len(branch.final)
        assert 0 < taken <= before and (branch.boxes - enclosed) % taken == 0


class RunsOut:
    """Arrays of NumPy; the answer to question number `at` finds no memory."""

    def __init__(self, at: int):
        self._arrays = self.here = HostArrays()
        self.at = at

    def __getattr__(self, name: str):
        asked = getattr(self._arrays, name)
        if name in ("put", "fill"):  # they need none
            return asked

        def answer(*arguments, **named):
            self.at -= 1
            if self.at == 0:
                raise MemoryError
            return asked(*arguments, **named)
        return answer


@pytest.mark.parametrize("at", range(1, 120))
def test_wherever_memory_runs_out_no_region_is_lost(at, monkeypatch):
    """Few regions at hand, so that all ways of the pool are gone; every minimiser stays in a region, and the search can go on."""
    monkeypatch.setattr(region_search.POLICY, "batches_at_hand", 0.5)
    monkeypatch.setattr(branch_module.POLICY, "full_step", 4)
    p = problems.get("himmelblau")
    branch = started(p.fun, p.lo, p.hi, batch=16)
    for _ in range(4):
        branch.step()
    arrays = RunsOut(at)
    branch.arrays = branch.pool.arrays = branch.pool.front.arrays = branch.pool.waiting.arrays = arrays
    failed = 0
    for _ in range(12):
        try:
            branch.step()
        except MemoryError:
            failed += 1
        left, arrays.at = arrays.at, -1
        assert branch.lower() <= p.minimum.hi and branch.incumbent.upper >= p.minimum.lo
        assert covered(branch.regions(), p.minimisers), "though some may lie above a point found on the way"
        arrays.at = left
    assert failed <= 1 and (arrays.at < 0 or at > 60)  # pruning can wait, and fails in silence


# ---- bits
def fingerprint(branch: BranchAndBound) -> list[np.ndarray]:
    """Everything the search has, bit for bit."""
    regions = branch.regions()
    arrays = [regions.lo, regions.hi, regions.lower, regions.axis, regions.level, branch.incumbent.x,
              np.array([branch.lower(), branch.incumbent.upper, branch.boxes, branch.steps])]
    return [np.ascontiguousarray(a, dtype=float) for a in arrays]


@pytest.mark.parametrize(("name", "n"), [("goldstein_price", 2), ("kowalik", 4), ("levy", 3)])
def test_the_same_bits_for_every_number_of_threads(name, n, all_threads_work):  # noqa: F811
    p, found = problems.get(name, n), []
    for threads in (1, 2, 3):
        branch = started(p.fun, p.lo, p.hi, Goal(1e-9, 1e-9), threads=threads)
        for _ in range(12):
            if not branch.done:
                branch.step()
        found.append(fingerprint(branch))
    for other in found[1:]:
        assert all(a.shape == b.shape and same_bits(a, b).all() for a, b in zip(found[0], other, strict=True))


@pytest.mark.parametrize("cuts", range(1, 7))
def test_a_search_goes_on_with_the_same_bits_in_the_midst_of_a_step(cuts):
    p, found = problems.get("goldstein_price"), []
    for stops in (False, True):
        branch = started(p.fun, p.lo, p.hi, Goal(1e-9, 1e-9))
        for _ in range(cuts):
            branch.step()
        assert (branch.steps, branch.cuts) == divmod(cuts, 4), "few regions are cut four times a step"
        if stops:
            state, branch = branch.state(), started(p.fun, p.lo, p.hi, Goal(1e-9, 1e-9))
            branch.restore(state)
        for _ in range(12):
            branch.step()
        found.append(fingerprint(branch))
    assert all(a.shape == b.shape and same_bits(a, b).all() for a, b in zip(*found, strict=True))


# ---- Ctrl-C
@pytest.fixture
def interruptible(monkeypatch, ctrl_c_heard) -> None:
    """Each SIGINT is heard as if it were the first."""
    monkeypatch.setattr(interrupts.POLICY, "second_interrupt_seconds", -1.0)


class AtLine:
    """Sends SIGINT when line number `at` of the given files is reached."""

    def __init__(self, at: int, files: tuple[str, ...]):
        self.at, self.files, self.seen = at, files, 0

    def __call__(self, frame, event, arg):
        if frame.f_code.co_filename not in self.files:
            return None
        if event == "line":
            self.seen += 1
            if self.seen == self.at:
                signal.raise_signal(signal.SIGINT)
        return self


def valid(r: "infimum.Result | infimum.InfimumError", p: problems.GalleryProblem) -> bool:
    return isinstance(r, infimum.Result) and r.lower <= p.minimum.hi and r.upper >= p.minimum.lo and all(
        any((lo <= m[1]).all() and (hi >= m[0]).all() for lo, hi in r.boxes) for m in p.minimisers)


def test_ctrl_c_at_any_line_of_a_run_leaves_a_valid_enclosure(interruptible):
    """A step commits whole or not at all: no moment is a bad one to be stopped at."""
    p = problems.get("camel_six_hump")
    f = infimum.compile(p.fun, p.n)
    files = branch_module.__file__, pool_module.__file__, heap_module.__file__
    options = {"particles": 8, "swarm_steps": 1, "descent_steps": 8, "samples": 3}

    def run(at: int) -> tuple[Any, int]:
        tracer, before, state = AtLine(at, files), sys.gettrace(), np.geterr()
        sys.settrace(tracer)
        try:
            return infimum.minimize(f, p.bounds, options=options), tracer.seen
        except infimum.InfimumError as error:
            return error, tracer.seen
        except KeyboardInterrupt:
            return None, tracer.seen  # while the answer was put together
        finally:
            sys.settrace(before)
            np.seterr(**state)  # an exception between entering `np.errstate` and its block leaves it set
    whole, lines = run(-1)
    assert whole.verdict.name == "PROVED" and whole.nit > 3
    answers = {at: r for at in range(1, lines, max(1, lines // 60)) if (r := run(at)[0]) is not None}
    wrong = [at for at, r in answers.items() if not valid(r, p)]
    assert len(answers) > 50 and not wrong, f"of {len(answers)} answers {len(wrong)} are wrong: stopped at lines {wrong[:10]} …"
