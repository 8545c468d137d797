"""Refinement: unions of slices hold every minimiser, even 2**n of them, and bound the infimum."""

import itertools
import pickle
import zlib

import numpy as np
import pytest
from flint import arb

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.bounds.sweeps import slice_refinement
from infimum.bounds.sweeps.refinement_kernel import LEVEL, LOWER
from infimum.bounds.sweeps.slice_refinement import SliceRefinement
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import REDUCED, TERMS, TESTED
from infimum.problem.settings import Goal
from infimum.problem.unions import Unions
from infimum.search.incumbent import Incumbent
from infimum.search.root_box import RootBox
from tests.engine.test_sweep import Recorded
from tests.expr.test_hoist import LOCAL
from tests.oracle.arb_values import PRECISIONS, value
from tests.oracle.walk import UNDECIDED
from tests.random_kernels import same_bits

INF, ROOT2 = np.inf, np.sqrt(2.0)


def refiner_of(f, bounds, goal: Goal | None = None, point=None) -> SliceRefinement:
    """A refinement of the whole box, before its first step."""
    lo, hi = np.array(bounds, dtype=float).T.copy()
    evaluator = f if isinstance(f, Evaluator) else infimum.compile(f, len(lo))
    best = Incumbent(evaluator, lo, hi)
    if point is not None:
        best.offer(np.array(point, dtype=float)[:, None])
    return SliceRefinement(Sweeper(evaluator, lo, hi), (lo[:, None], hi[:, None]), goal or Goal(), best)


def refined(*args, **named) -> SliceRefinement:
    r = refiner_of(*args, **named)
    for _ in r.steps():
        pass
    return r


def quartic(x):
    return np.sum(x**4 - 4 * x**2)


# ---- 2**n minimisers
@pytest.mark.parametrize("n", [20, 1000])
def test_two_to_the_n_minimisers_are_proved_at_the_root(n):
    r = infimum.minimize(quartic, [(-3, 3)] * n)
    assert r.verdict.name == "PROVED" and r.lower <= -4 * n <= r.upper and r.attained
    assert r.regions.count == 2**n and r.regions.width < 1e-3 and r.x in r.regions
    signs = np.random.default_rng(n).choice([-1.0, 1.0], (50, n))
    assert all(ROOT2 * s in r.regions for s in signs)
    assert len(r.boxes) == 1 and "a product of unions" in str(r)
    assert pickle.loads(pickle.dumps(r)).regions == r.regions


def test_few_minimisers_are_listed():
    r = infimum.minimize(quartic, [(-3, 3)] * 8, xtol=1e-6)
    assert r.verdict.name == "PROVED" and len(r.boxes) == 256 and r.regions.width <= 1e-6
    for signs in itertools.product((-1, 1), repeat=8):
        x = ROOT2 * np.array(signs)
        assert sum(((lo <= x) & (x <= hi)).all() for lo, hi in r.boxes) == 1 and x in r.regions


MANY = {  # a function, its bounds, its minimum, and places of each variable at which minimisers lie
    "on both faces": (lambda x: np.sum(x**2 * (2 - x**2)), (-2, 2), -8.0, (-2, 2)),
    "at kinks": (lambda x: np.sum(np.abs(np.abs(x) - 1) * (2 + x**2)), (-3, 3.5), 0.0, (-1, 1)),
    "one on a face, one inside": (lambda x: np.sum(x**2 * (x - 1)**2 * (x + 2)), (0, 3), 0.0, (0, 1)),
    "three, one at an edge of the domain": (lambda x: np.sum(np.sqrt(x) * (x - 1)**2 * (x - 2)**2), (-1, 3), 0.0, (0, 1, 2)),
    "in two sums": (lambda x: np.sum(x**4) - 4 * np.sum(x**2) + 4 * len(x), (-3, 3), 0.0, (-ROOT2, ROOT2)),
    "of a norm": (lambda x: np.sqrt(np.sum((x**2 - 2)**2)), (-3, 3.5), 0.0, (-ROOT2, ROOT2)),
    "of a maximum": (lambda x: np.max(np.abs(x**2 - 2)), (-3, 3.5), 0.0, (-ROOT2, ROOT2)),
    "at jumps": (lambda x: np.sum(np.where(np.abs(x) >= 1, np.abs(x), 2.0)), (-3, 3.5), 1.0, (-1, 1)),
    "far away": (lambda x: np.sum((x**2 - 2)**2), (-INF, INF), 0.0, (-ROOT2, ROOT2)),
    "with shifts": (lambda x: np.sum((x[1:]**2 - 2)**2) + (x[0]**2 - 2)**2, (-3, 3.5), 0.0, (-ROOT2, ROOT2)),
}


@pytest.mark.parametrize("name", MANY)
def test_no_minimiser_is_lost(name):
    f, bounds, each, places = MANY[name]
    n = 4
    r = refined(f, [bounds] * n, point=[places[0]] * n)
    low = each * (1 if name in ("of a norm", "of a maximum") else n)
    assert r.lower <= low + 1e-12 and r.lower > low - 0.1, r.lower
    for x in itertools.product(places, repeat=n):
        assert np.nextafter(x, np.where(np.array(x) > 0, 0, 9)) in r.unions or np.array(x) in r.unions, x
    assert r.unions.width < 0.5 and r.unions.merged().count >= len(places)**n


@pytest.mark.parametrize("name", [name for name, (f, bounds, _, _) in MANY.items() if name != "with shifts"])
def test_what_minimize_says_of_many_minimisers(name):
    f, bounds, each, places = MANY[name]
    n = 7
    r = infimum.minimize(f, [bounds] * n, max_boxes=20_000)
    low = each * (1 if name in ("of a norm", "of a maximum") else n)
    assert r.lower <= low + 1e-12 and r.upper >= low - 1e-12
    covers = [(lo, hi) for lo, hi in r.boxes]
    for x in itertools.islice(itertools.product(places, repeat=n), 0, None, 7):
        assert any((lo <= np.array(x) + 1e-15).all() and (np.array(x) - 1e-15 <= hi).all() for lo, hi in covers), x


def test_a_flat_minimum_keeps_all_of_it():
    """Minimisers fill a box: slices stay, as narrow as asked for, and none is lost."""
    r = infimum.minimize(lambda x: np.sum(np.maximum(np.abs(x) - 1, 0.0) * (3 + x)), [(-2, 2)] * 6, xtol=0.1)
    assert r.verdict.name == "PROVED" and r.regions.width <= 0.1
    points = np.random.default_rng(1).uniform(-1, 1, (200, 6))
    assert all(x in r.regions for x in points) and np.ones(6) in r.regions and -np.ones(6) in r.regions


# ---- bounds held against Arb
def with_gaps(rng: np.random.Generator, n: int) -> Unions:
    """Random slices, also points and neighbours that touch."""
    intervals = []
    for _ in range(n):
        ends = np.sort(rng.choice([*rng.uniform(-2, 2, 6), -1.0, 0.0, 0.25, 1.0], 8, replace=False))
        pairs = list(itertools.pairwise(ends))
        intervals.append([pairs[k] for k in sorted(rng.choice(7, 3, replace=False))] + [(ends[-1], ends[-1])])
    return Unions.of(intervals)


def settled(f: Evaluator, p: np.ndarray):
    for bits in PRECISIONS[:2]:
        found = value(f.f, p, bits)
        if found is not UNDECIDED:
            return found
    return UNDECIDED


@pytest.mark.parametrize("name", [name for name, (f, _) in LOCAL.items() if infimum.compile(f, 5).facts.local.terms])
def test_the_bounds_of_slices_with_gaps_hold(name):
    """At points of a product of unions f is nowhere below what is said of the slices that hold the point, one of each variable,
    and where they say that f is defined, it is."""
    f, n, rng = infimum.compile(LOCAL[name][0], 5), 5, np.random.default_rng(zlib.crc32(name.encode()))
    for _ in range(3):
        r = refiner_of(f, [(-3, 3)] * n)
        r.unions = unions = with_gaps(rng, n)
        recorded = r.evaluator = Recorded(f)
        for _ in r._round():
            pass
        out, starts = recorded.out[TESTED][0], unions.starts[:-1]
        for _ in range(20):
            at = starts + rng.integers(0, unions.counts)
            p = rng.uniform(unions.lo[at], unions.hi[at]) if rng.random() < 0.7 else unions.lo[at]
            exact = settled(f, p)
            if isinstance(exact, arb):
                assert (out[LOWER][at] <= float(exact.upper())).all()
                assert np.array_equal(p, unions.lo[at]) or r.lower <= float(exact.upper()) or p not in r.unions
            elif exact is not UNDECIDED:
                assert (out[LEVEL][at] < 1).all(), "said to be defined"


def test_the_bits_are_the_definitions():
    """The kernels of a refinement give what exact arithmetic says they are."""
    def f(x):
        return np.sum(np.sqrt(np.abs(x[1:])) * np.sin(x[1:])) * np.linalg.norm(x - 0.5) + np.max(np.where(x > 0.25, np.log(x), 1))

    def outputs(backend) -> list[np.ndarray]:
        r = refiner_of(infimum.compile(f, 4, backend=backend), [(-3, 3)] * 4)
        r.unions = with_gaps(np.random.default_rng(0), 4)
        recorded = r.evaluator = Recorded(r.evaluator)
        for _ in r._round():
            pass
        return [array for kind in (TERMS, REDUCED, TESTED) for array in recorded.out[kind]]
    wanted = outputs(PythonBackend())
    for lanes in host().widths():
        for threads in (1, 2):
            found = outputs(CpuBackend(lanes=lanes, threads=threads))
            assert all(same_bits(a, b).all() for a, b in zip(found, wanted, strict=True))


# ---- ends
def test_a_box_without_a_value_is_proved_away():
    r = refined(lambda x: np.sum(np.sqrt(-1 - x**2)), [(-2, 2)] * 6)
    assert r.empty
    assert infimum.minimize(lambda x: np.sum(np.sqrt(-1 - x**2)), [(-2, 2)] * 6).verdict.name == "INFEASIBLE"


def test_points_come_from_the_slices():
    """No other search is needed for the minimum of a separable sum, wherever it is undefined."""
    r = refined(lambda x: np.sum(np.sqrt(x) * np.sin(5 * x)), [(-30, 3.5)] * 20)
    assert r.incumbent.upper - r.lower < 1e-4 and (r.incumbent.x > 2).all()


def test_it_ends_where_it_does_not_pay(monkeypatch):
    monkeypatch.setattr(slice_refinement.POLICY, "most_slices", 1 << 12)
    r = refined(lambda x: np.cos(9 * np.sum(x)) * np.sum(x**2), [(-3, 3.5)] * 6)
    assert not r.goal.met(r.lower, r.incumbent.upper) and len(r.unions.lo) <= 1 << 12


def test_a_step_is_short(monkeypatch):
    """Work is done some lanes at a time, between which a run can be stopped."""
    monkeypatch.setattr(slice_refinement.POLICY, "lanes_at_once", 64)
    r = refiner_of(quartic, [(-3, 3)] * 20)
    before = 0
    for _ in itertools.islice(r.steps(), 100):
        assert r.evaluations - before <= 64
        before = r.evaluations


def test_stopped_in_the_middle_the_bounds_hold():
    n, seen = 40, []

    def stop(snapshot):
        seen.append(snapshot.lower)
        return snapshot.lower > -INF and snapshot.lower > -4.5 * n
    r = infimum.minimize(quartic, [(-3, 3)] * n, callback=stop)
    assert r.lower <= -4 * n <= r.upper and (r.verdict.name == "PROVED" or r.verdict.name == "STOPPED")
    assert ROOT2 * np.ones(n) in r.regions and -ROOT2 * np.ones(n) in r.regions


def test_a_run_that_was_stopped_in_it_is_resumed(tmp_path):
    """It begins anew, and ends with the same bits."""
    whole = infimum.minimize(quartic, [(-3, 3)] * 9, xtol=1e-7)
    path = tmp_path / "run.inf"
    stopped = infimum.minimize(quartic, [(-3, 3)] * 9, xtol=1e-7, checkpoint=path, callback=lambda s: s.lower > -100)
    again = infimum.resume(path, quartic)
    assert stopped.verdict.name == "STOPPED" and again.verdict.name == whole.verdict.name == "PROVED"
    assert (again.lower, again.upper, again.nfev, again.regions) == (whole.lower, whole.upper, whole.nfev, whole.regions)


def test_a_later_run_knows_what_was_enclosed():
    """The box and the counts are kept, the slices are not: they are quickly made again."""
    f, lo, hi = infimum.compile(quartic, 8), np.full(8, -3.0), np.full(8, 3.0)
    best = Incumbent(f, lo, hi)
    root, later = (RootBox(f, Goal(), best) for _ in range(2))
    for _ in root.sweep():
        pass
    later.restore(root.state())
    assert root.done and root.unions().count == 256 and later.boxes == root.boxes and later.known == root.known
    assert later.unions() is None and all((a == b).all() for a, b in zip(later.box, root.box, strict=True))


def test_the_bits_do_not_depend_on_how_lanes_are_grouped(monkeypatch):
    whole = refined(quartic, [(-3, 3)] * 10)
    monkeypatch.setattr(slice_refinement.POLICY, "lanes_at_once", 7)
    parts = refined(quartic, [(-3, 3)] * 10)
    assert whole.unions == parts.unions and whole.lower == parts.lower and (whole.incumbent.x == parts.incumbent.x).all()
