"""minimize proves: the enclosure holds the minimum and the boxes hold the minimisers, however the run ends."""

import signal
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

import infimum
from infimum import Result, Verdict, problems
from infimum.backend.cpu import CpuBackend
from infimum.certify import verdict
from infimum.certify.verdict import merged
from infimum.errors import OptionError
from infimum.evaluation.programs import BRANCH, BRANCH_BY_PIECES, ProgramKind
from infimum.search import interrupts
from infimum.search.region_pool import Regions
from tests.all_threads import all_threads_work  # noqa: F401
from tests.engine.coupled import COLVILLE
from tests.oracle.arb_values import precision, settled_value
from tests.oracle.walk import Special
from tests.random_kernels import same_bits

INF, MAX = np.inf, float(np.finfo(float).max)
FAST = {"particles": 32, "swarm_steps": 8}


def minimize(fun: Callable, bounds: Any, **given: Any) -> Result:
    """infimum.minimize with a short swarm, and nothing but the truth about its result."""
    given.setdefault("options", FAST)
    r = infimum.minimize(fun, bounds, **given)
    true_to_itself(r, fun, np.array(bounds, dtype=float).reshape(-1, 2))
    return r


def true_to_itself(r: Result, fun: "Callable | infimum.Evaluator", bounds: np.ndarray) -> None:
    """What holds of every result: upper is a value at x rounded up, the boxes lie within the bounds, the words fit."""
    assert r.lower <= r.upper and r.fun == r.upper and r.engine == "auto" and r.success == (r.verdict is Verdict.PROVED)
    assert (r.x is None) == (r.upper == INF) and r.message and str(r) and repr(r)
    for lo, hi in r.boxes:
        assert (bounds[:, 0] <= lo).all() and (lo <= hi).all() and (hi <= bounds[:, 1]).all()
        assert (lo < INF).all() and (hi > -INF).all(), "a box of points at infinity holds nothing"
    assert len(r.boxes) <= max(len(r.regions), 1)
    if r.x is not None:
        assert (bounds[:, 0] <= r.x).all() and (r.x <= bounds[:, 1]).all()
        f = fun if isinstance(fun, infimum.Evaluator) else infimum.compile(fun, len(bounds))
        v = settled_value(f.f, r.x)
        with precision(200):
            assert not isinstance(v, Special) and v <= arb(r.upper)


def held(r: Result, point: Any) -> bool:
    """Does one of the boxes hold the point?"""
    return any((lo <= point).all() and (np.array(point) <= hi).all() for lo, hi in r.boxes)


def keeps_its_word(r: Result, p: problems.GalleryProblem) -> None:
    assert r.lower <= p.minimum.hi and r.upper >= p.minimum.lo
    for low, high in p.minimisers:
        assert any((lo <= high).all() and (hi >= low).all() for lo, hi in r.boxes), (low, high)


# ---- the gallery
QUICK = """camel_six_hump camel_three_hump goldstein_price branin himmelblau easom bukin_6 shubert hansen eggholder cross_in_tray
    holder_table pen_holder schaffer_4 mccormick bird deckkers_aarts quadratic treccani tripod zettl adjiman bartels_conn giunta
    hosaki langermann muller_brown trefethen tube_holder engvall shekel_foxholes forrester gramacy_lee shubert_one_variable bard
    brown_dennis colville hartmann_3 shekel_5 wolfe helical_valley modified_rosenbrock""".split()
AT_TWO = """rosenbrock rastrigin ackley griewank levy michalewicz schwefel_2_26 styblinski_tang alpine_2 trid qing
    complete_search_salomon dixon_price""".split()
CASES = [(name, problems.get(name).n) for name in QUICK] + [(name, 2) for name in AT_TWO]


@pytest.mark.parametrize(("name", "n"), CASES)
def test_the_gallery_is_proved(name, n):
    p = problems.get(name, n)
    r = minimize(p.fun, p.bounds)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.PROVED and r.success
    assert Fraction(r.upper) - Fraction(r.lower) <= max(Fraction(1e-6), Fraction(1e-6) * abs(Fraction(r.upper)))
    if p.complete:
        assert len(r.boxes) <= 50 * len(p.minimisers)
    assert r.history[-1].lower <= r.lower and all(a.lower <= b.lower for a, b in zip(r.history, r.history[1:], strict=False))


@pytest.mark.parametrize(("name", "xtol"), [
    ("camel_six_hump", 1e-6), ("himmelblau", 1e-4), ("shubert", 1e-3), ("shekel_5", 1e-4)])
def test_each_minimiser_is_told_apart(name, xtol):
    """With xtol the boxes are small and as many as there are minimisers, give or take their neighbours."""
    p = problems.get(name)
    r = minimize(p.fun, p.bounds, xtol=xtol)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.PROVED and len(r.boxes) == len(p.minimisers)
    assert all((hi - lo <= 100 * xtol).all() for lo, hi in r.boxes), "merged boxes are a few regions wide"


@pytest.mark.parametrize("atol", (1e-2, 1e-9, 1e-13))
def test_the_gap_asked_for_is_reached(atol):
    p = problems.get("hartmann_3")
    r = minimize(p.fun, p.bounds, atol=atol, rtol=0.0)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.PROVED and Fraction(r.upper) - Fraction(r.lower) <= Fraction(atol)


def test_a_gap_that_rounding_does_not_allow_stays_open():
    """The boxes around 1/3 cannot be cut any more; the answer is honest about it."""
    r = minimize(lambda x: (3 * x[0] - 1) ** 2 + np.sin(x[0]) * 1e-9, [(-1, 2)], atol=0.0, rtol=0.0, max_boxes=2_000_000)
    assert r.verdict is Verdict.UNDECIDED and not r.success and 0 < r.upper - r.lower < 1e-20 and "no double" in r.message
    stationary = 1 / 3 - 1e-9 * np.cos(1 / 3) / 18
    assert any(lo[0] <= stationary + 1e-16 and hi[0] >= stationary - 1e-16 for lo, hi in r.boxes) and r.attained is True


# ---- the same bits
def bits_of(r: Result) -> np.ndarray:
    boxes = [end for box in r.boxes for end in box]
    return np.concatenate([[r.lower, r.upper, r.nit, r.nfev, len(r.regions), r.status], r.x, *boxes])


@pytest.mark.parametrize(("name", "n"), [("goldstein_price", 2), ("colville", 4), ("hosaki", 2)])
def test_the_same_bits_for_every_number_of_threads(name, n, all_threads_work):  # noqa: F811
    p, found = problems.get(name, n), []
    for threads in (1, 2, 3):
        f = infimum.compile(p.fun, n, backend=CpuBackend(threads=threads))
        found.append(bits_of(infimum.minimize(f, p.bounds, options=FAST, seed=5)))
    for other in found[1:]:
        assert len(other) == len(found[0]) and same_bits(other, found[0]).all()


def test_the_same_call_gives_the_same_bits_and_another_seed_the_same_truth():
    p = problems.get("camel_six_hump")
    one, two = (bits_of(minimize(p.fun, p.bounds)) for _ in range(2))
    assert len(one) == len(two) and same_bits(one, two).all()
    for seed in (1, 2, 3):
        keeps_its_word(minimize(p.fun, p.bounds, seed=seed), p)


# ---- stopped
@pytest.fixture
def interruptible(monkeypatch, ctrl_c_heard) -> Iterator[None]:
    """Each SIGINT is heard as if it were the first."""
    monkeypatch.setattr(interrupts.POLICY, "second_interrupt_seconds", -1.0)
    state = np.geterr()
    yield
    np.seterr(**state)  # an exception between entering `np.errstate` and its block leaves it set


def slow(x):
    """Its minimum 0 at (0, 0) takes thousands of boxes: the terms cancel."""
    return (x[0] ** 2 + x[1] ** 2) ** 2 - 2 * x[0] ** 2 * x[1] ** 2 + 2 * (x[0] * x[1]) ** 2 + np.sin(x[0] - x[1]) ** 2


def ask(r: Result) -> None:
    """The enclosure of a run of `slow` that was stopped."""
    assert r.verdict is Verdict.STOPPED and not r.success and r.status == list(Verdict).index(Verdict.STOPPED)
    assert r.lower <= 0 <= r.upper and held(r, (0.0, 0.0))


BOUNDS = [(-3, 4), (-3.5, 4)]
TIGHT = {"atol": 0.0, "rtol": 0.0}


def test_max_boxes_stops():
    found = [minimize(slow, BOUNDS, max_boxes=limit, **TIGHT) for limit in (1, 100, 5000)]
    for r, limit in zip(found, (1, 100, 5000), strict=True):
        ask(r)
        assert f"limit is {limit:,}" in r.message
    assert found[0].lower <= found[1].lower <= found[2].lower


def test_stopped_before_the_regions_are_narrow():
    """The gap is closed at once, but xtol was asked for as well."""
    p = problems.get("himmelblau")
    r = minimize(p.fun, p.bounds, xtol=1e-9, max_boxes=100)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.STOPPED and r.upper - r.lower <= 1e-6


def test_the_memory_limit_stops():
    r = minimize(slow, BOUNDS, memory_limit=20_000, **TIGHT)
    ask(r)
    assert "memory limit of 20,000 bytes" in r.message


@pytest.mark.parametrize("limit", (1e-9, 0.02, 0.2))
def test_the_time_limit_stops(limit, clock):
    r = minimize(slow, BOUNDS, time_limit=limit, **TIGHT)
    ask(r)
    assert "time limit" in r.message and f"{limit:g} s" in r.message


@pytest.mark.parametrize("how", ("true", "stop", "interrupt"))
@pytest.mark.parametrize("moment", (1, 5, 30, "proof", "late"))
def test_the_callback_stops_at_any_moment(how, moment):
    calls, proving = [], []

    def callback(snapshot):
        calls.append(snapshot)
        if snapshot.lower > -INF:
            proving.append(snapshot)
        if len(calls) == moment or len(proving) == {"proof": 1, "late": 8}.get(moment, 10**9):
            if how == "stop":
                raise StopIteration
            if how == "interrupt":
                raise KeyboardInterrupt
            return True
        return None
    r = minimize(slow, BOUNDS, callback=callback, **TIGHT)
    ask(r)
    assert r.message == ("interrupted" if how == "interrupt" else "stopped by the callback")
    assert all(s.lower <= 0 for s in calls) and (r.lower > -INF) == bool(proving)
    assert all(a.lower <= b.lower and a.nfev <= b.nfev for a, b in zip(calls, calls[1:], strict=False))


def test_a_callback_that_goes_on_changes_nothing():
    p = problems.get("camel_six_hump")
    one, two = (bits_of(minimize(p.fun, p.bounds, callback=c)) for c in (None, lambda s: 1))
    assert len(one) == len(two) and same_bits(one, two).all()


@pytest.mark.parametrize("run", (1, 2, 3, 5, 8, 12))
def test_ctrl_c_while_boxes_are_enclosed(run, interruptible, monkeypatch):
    """The signal comes where most of the time is spent: in the kernel, between taking regions and putting their pieces back."""
    p = problems.get("goldstein_price")
    f, seen, usual = infimum.compile(p.fun, p.n), [], infimum.Evaluator.run

    def interrupted(self, kind, *rest, **named):
        if ProgramKind.read(kind).name in (BRANCH, BRANCH_BY_PIECES):
            seen.append(kind)
            if len(seen) == run:
                signal.raise_signal(signal.SIGINT)
        return usual(self, kind, *rest, **named)
    monkeypatch.setattr(infimum.Evaluator, "run", interrupted)
    r = minimize(f, p.bounds)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.STOPPED and r.message == "interrupted"


# ---- infinite bounds
def test_the_line():
    r = minimize(lambda x: (x[0] - 3) ** 2, [(-INF, INF)])
    assert r.verdict is Verdict.PROVED and r.lower <= 0 <= r.upper <= 1e-6 and held(r, (3.0,))
    r = minimize(lambda x: (x[0] - 3) ** 2 + np.abs(x[1] + 1e5), [(-INF, INF), (-INF, 0)])
    assert r.verdict is Verdict.PROVED and r.lower <= 0 <= r.upper <= 1e-6 and held(r, (3.0, -1e5))


def test_an_infimum_that_is_approached_only():
    r = minimize(lambda x: np.exp(-x[0]), [(0, INF)])
    assert r.verdict is Verdict.PROVED and r.attained is None and 0 <= r.lower <= r.upper <= 1e-6
    r = minimize(lambda x: -np.arctan(x[0]) + x[1] ** 2, [(-INF, INF), (-1, 2)])
    assert r.verdict is Verdict.PROVED and r.attained is None and r.lower <= -np.pi / 2 <= r.upper
    assert any(hi[0] == INF for _, hi in r.boxes)


@pytest.mark.parametrize(("f", "bounds"), [
    (lambda x: x[0] ** 3, (-INF, 2)), (lambda x: -np.exp(x[0]), (0, INF)), (lambda x: 1 / x[0], (-1, 1))])
def test_an_infimum_of_minus_infinity_is_said(f, bounds):
    r = minimize(f, [bounds])
    assert r.verdict is Verdict.UNDECIDED and r.lower == -INF and "-infinity" in r.message and r.attained is None


@pytest.mark.parametrize(("f", "low", "high"), [
    (lambda x: -np.sum(x), 0, INF), (lambda x: np.sum(x), -INF, 0), (lambda x: -x[0] + np.sum((x[1:] - 3) ** 2), 0, INF)])
def test_an_infinite_bound_is_never_reduced_to(f, low, high):
    """Enough variables for sweeps, which must not end at infinity either."""
    r = minimize(f, [(low, high)] * 8, max_boxes=3000)
    assert r.verdict in (Verdict.STOPPED, Verdict.UNDECIDED) and r.lower == -INF
    assert all(np.isinf(lo).any() or np.isinf(hi).any() for lo, hi in r.boxes[:1])


def test_bounds_wider_than_the_largest_double():
    for xtol in (None, 1e3):
        r = minimize(lambda x: np.arctan(x[0]) ** 2 + np.abs(x[1]), [(-1.5e308, 1.7e308), (-1, 1)], xtol=xtol)
        assert r.verdict is Verdict.PROVED and r.lower <= 0 <= r.upper <= 1e-6 and held(r, (0.0, 0.0))


# ---- domains
def test_nothing_is_feasible():
    for f in (lambda x: np.log(-1 - x[0] ** 2), lambda x: np.sqrt(np.sin(x[0]) - 1.5), lambda x: np.arcsin(2 + np.abs(x[0]))):
        r = minimize(f, [(-3, 4)])
        assert r.verdict is Verdict.INFEASIBLE and r.boxes == [] and r.x is None and not r.success and r.attained is None
        assert r.lower == r.upper == INF and "defined nowhere" in r.message


@pytest.mark.parametrize(("f", "bounds", "minimum", "point"), [
    (lambda x: np.sqrt(x[0]) - x[0], [(-2.5, 4)], -2.0, (4.0,)), (lambda x: np.sqrt(x[0]) + x[0], [(-2.5, 4)], 0.0, (0.0,)),
    (lambda x: x[0] - np.log(x[0]), [(-1, 3)], 1.0, (1.0,)), (lambda x: x[0] ** 1.5 + x[0], [(-1, 1)], 0.0, (0.0,)),
    (lambda x: x[0] + x[1] * np.sqrt(x[0]), [(-1, 1), (0, 0)], 0.0, (0.0, 0.0)),
    (lambda x: np.arcsin(x[0]) + x[1] ** 2, [(-3, 3), (-1, 2)], -np.pi / 2, (-1.0, 0.0)),
    (lambda x: np.where(x[0] >= 1, x[0], np.log(x[0] - 5)), [(0, 3)], 1.0, (1.0,)),
    (lambda x: np.sqrt(-((x[0] - 0.3) ** 2)) + x[0], [(0, 1)], 0.3, (0.3,)), (lambda x: 1 / x[0], [(0, 2)], 0.5, (2.0,))])
def test_functions_undefined_on_a_part(f, bounds, minimum, point):
    r = minimize(f, bounds)
    slack = 0.0 if minimum in (-2.0, 0.0, 1.0, 0.3, 0.5) else 1e-15
    assert r.verdict is Verdict.PROVED and r.lower - slack <= minimum <= r.upper + slack and held(r, point)


def test_a_point_that_may_be_undefined_is_no_point():
    """3 * 0.1 is a little more than 0.3: the function is undefined at the point offered, though its enclosure is not empty."""
    r = minimize(lambda x: np.sqrt(0.3 - x[0] * 0.1) - x[0], [(2, 3.5)], x0=[3.0])
    assert r.verdict is Verdict.PROVED and r.x[0] < 3 and r.upper > -3


def test_a_logarithm_without_end():
    """The infimum is -infinity, approached at 0 so slowly that doubles do not see it: nothing is claimed."""
    r = minimize(lambda x: np.log(x[0]), [(-2.5, 4)])
    assert r.verdict is Verdict.UNDECIDED and r.lower == -INF and -745 < r.upper < -744 and held(r, (5e-324,))


def test_a_domain_without_doubles():
    """Defined at the root of 2 alone: no point can be shown, and no emptiness either."""
    r = minimize(lambda x: np.sqrt(x[0] ** 2 - 2) + np.sqrt(2 - x[0] ** 2), [(0, 4)])
    assert r.verdict is Verdict.UNDECIDED and r.x is None and r.lower <= 0 and r.upper == INF
    assert any(lo[0] <= 1.4142135623730951 <= hi[0] for lo, hi in r.boxes)


@pytest.mark.parametrize("f", (lambda x: 0 * x[0] + 3.0, lambda x: np.sum(x * 0) + 0.1, lambda x: np.sin(x[0]) ** 0))
@pytest.mark.parametrize("n", (1, 3))
def test_constants(f, n):
    r = minimize(f, [(-3, 4)] * n)
    assert r.verdict is Verdict.PROVED and r.lower == r.upper and len(r.boxes) == 1 and r.attained is True
    assert (r.boxes[0][0] == -3).all() and (r.boxes[0][1] == 4).all()


# ---- jumps
@pytest.mark.parametrize(("f", "bounds", "infimum_", "attained"), [
    (lambda x: np.floor(x[0]) + x[0], [(-2.5, 4)], -5.5, True), (lambda x: x[0] - np.floor(x[0]), [(0.25, 2.5)], 0.0, True),
    (lambda x: np.sign(x[0] - 1) * 3 + x[0] ** 2, [(-2.5, 4)], -3.0, True),
    (lambda x: np.where(x[0] > 0, x[0], 1.0), [(-2.5, 4)], 0.0, False),
    (lambda x: np.floor(x[0]) - x[0], [(0.25, 2.5)], -1.0, False),
    (lambda x: np.ceil(x[0]) - x[0] + x[1] ** 2, [(0.25, 2.5), (-1, 1)], 0.0, True),
    (lambda x: np.where(x[0] == 0.5, -1.0, x[0] ** 2), [(-1, 1)], -1.0, True)])
def test_jumps(f, bounds, infimum_, attained):
    """The enclosure is right; that the value is attained is never claimed where it is not."""
    r = minimize(f, bounds, options=None)
    assert r.lower <= infimum_ <= r.upper and r.attained in ((True, None) if attained else (None,))
    if infimum_ != -1.0:  # a single point, or one side of a jump, is not found by luck
        assert r.verdict is Verdict.PROVED and r.upper - r.lower <= 2e-6


def test_a_jump_on_every_box_says_that_it_does_not_know():
    for f in (lambda x: np.where(x[0] > 0, x[0], 1.0), lambda x: np.sign(x[0]) * 2 + np.abs(x[0]),
              lambda x: np.floor(x[0] + 0.5) ** 2):
        assert minimize(f, [(-2, 3)]).attained is None
    assert minimize(lambda x: np.abs(x[0]) + np.maximum(x[0], 0), [(-2, 3)]).attained is True


# ---- variables without width
def test_fixed_variables():
    r = minimize(lambda x: x[0] * np.sin(x[1]), [(2, 2), (0, 6)])
    assert r.verdict is Verdict.PROVED and r.lower <= -2 <= r.upper and r.x[0] == 2
    r = minimize(lambda x: x[0] * x[1] + x[2], [(0.1, 0.1), (-1, 2), (5, 5)])
    assert r.verdict is Verdict.PROVED and held(r, (0.1, -1.0, 5.0))
    assert Fraction(r.lower) <= 5 - Fraction(0.1) <= Fraction(r.upper)


@pytest.mark.parametrize("bounds", ([(2, 2)], [(2, 2), (0.1, 0.1)]))
def test_all_variables_fixed(bounds):
    r = minimize(lambda x: np.sum(x * x), bounds)
    assert r.verdict is Verdict.PROVED and len(r.boxes) == 1 and r.x.tolist() == [low for low, _ in bounds]
    assert Fraction(r.lower) <= sum(Fraction(low) ** 2 for low, _ in bounds) <= Fraction(r.upper)


# ---- what is asked wrongly
@pytest.mark.parametrize(("given", "words"), [
    ({"atol": -1.0}, "atol must be a number that is not negative"), ({"atol": float("nan")}, "atol"), ({"atol": None}, "atol"),
    ({"atol": "1e-6"}, "atol must be"), ({"rtol": -1e-9}, "rtol must be a number that is not negative"), ({"rtol": True}, "rtol"),
    ({"xtol": -1.0}, "xtol must be a number that is not negative, or None"), ({"xtol": float("nan")}, "xtol"),
    ({"max_boxes": 0}, "max_boxes must be a positive number, or None"), ({"max_boxes": -5}, "not -5"),
    ({"max_boxes": "many"}, "'many'"),
    ({"memory_limit": 0}, "memory_limit must be a positive number"), ({"memory_limit": 8}, "8 GB are memory_limit=8e9"),
    ({"memory_limit": float("nan")}, "memory_limit"),
    ({"progress": "yes"}, "progress must be True (shown at once), False (never) or None"), ({"progress": 1}, "not 1"),
    ({"time_limit": 0}, "time_limit must be a positive number"), ({"time_limit": -1}, "time_limit"),
    ({"engine": "simplex"}, "there is no engine 'simplex'; there are 'auto', "), ({"engine": None}, "no engine None"),
    ({"callback": 3}, "callback must be a function"), ({"seed": -1}, "seed"), ({"seed": 1.5}, "seed"),
    ({"options": {"particels": 3}}, "particels"), ({"x0": [9.0]}, "outside the bounds"), ({"x0": [0.0, 0.0]}, "x0 must be")])
def test_what_makes_no_sense_is_refused(given, words):
    with pytest.raises(OptionError) as caught:
        infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)], **given)
    assert words in str(caught.value)


def test_limits_that_are_none_or_infinite_are_none():
    r = minimize(lambda x: x[0] ** 2, [(-1, 2)], memory_limit=None, max_boxes=None, time_limit=INF)
    assert r.verdict is Verdict.PROVED


def test_points_are_offered():
    """A point where the swarm does not look: the only place where the function is low."""
    def needle(x):
        return np.where(np.abs(x[0] - 0.123456789) < 1e-9, -1.0, x[0] ** 2)
    r = minimize(needle, [(-1, 1)], x0=[0.123456789])
    assert r.verdict is Verdict.PROVED and r.x.tolist() == [0.123456789] and r.lower == r.upper == -1.0
    r = minimize(lambda x: (x[0] - 1e7) ** 2, [(-INF, INF)], x0=[[1.0], [1e7]])
    assert r.verdict is Verdict.PROVED and r.upper == 0.0 and r.x.tolist() == [1e7]


# ---- merged boxes
def as_regions(lo: np.ndarray, hi: np.ndarray) -> Regions:
    count = lo.shape[1]
    return Regions(lo, hi, np.zeros(count), np.zeros(count, np.int32), np.zeros(count, np.int8))


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(("work", "separate"), [(10**6, 10_000), (200, 10_000), (50, 5), (0, 3)])
def test_merged_boxes_cover_all_regions(seed, work, separate, monkeypatch):
    monkeypatch.setattr(verdict.POLICY, "merge_work", work)
    monkeypatch.setattr(verdict.POLICY, "most_separate_boxes", separate)
    rng = np.random.default_rng(seed)
    n, count = int(rng.integers(1, 4)), int(rng.integers(1, 60))
    lo = rng.integers(0, 12, (n, count)).astype(float)
    hi = lo + rng.integers(0, 3, (n, count))
    lo[0, rng.random(count) < 0.05] = -INF
    boxes = merged(as_regions(lo, hi))
    for k in range(count):
        assert any((a <= lo[:, k]).all() and (hi[:, k] <= b).all() for a, b in boxes)
    assert all((a <= b).all() for a, b in boxes) and len(boxes) <= count


def test_merged_boxes_do_not_touch_what_they_were_merged_from():
    lo = np.array([[0.0, 1.0, 2.0, 5.0, 7.0], [0.0, 0.0, 1.0, 0.0, 0.0]])
    hi = lo + np.array([[1.0], [1.0]])
    boxes = merged(as_regions(lo, hi))
    assert sorted((a.tolist(), b.tolist()) for a, b in boxes) == [([0, 0], [3, 2]), ([5, 0], [6, 1]), ([7, 0], [8, 1])]
    assert merged(as_regions(np.empty((2, 0)), np.empty((2, 0)))) == []


def test_merging_a_long_chain_is_not_left_to_chance(monkeypatch):
    """Regions along a curve join one after the other: the number of passes over all of them is limited."""
    monkeypatch.setattr(verdict.POLICY, "merge_work", 1 << 22)
    passes, usual = [], np.min
    monkeypatch.setattr(verdict.np, "min", lambda *a, **k: (passes.append(1), usual(*a, **k))[1])
    lo = np.arange(8000.0) * np.ones((2, 1))
    boxes = merged(as_regions(lo, lo + 1.0))
    monkeypatch.undo()
    assert all(any((a <= lo[:, k]).all() and (lo[:, k] + 1 <= b).all() for a, b in boxes) for k in (0, 1, 4000, 7999))
    assert len(passes) <= (1 << 22) // lo.size + 2


# ---- random functions
@pytest.mark.parametrize("seed", range(20))
def test_random_smooth_functions(seed):
    """Sums of waves, powers, kinks and exponentials in one or two variables, against a dense sample."""
    rng = np.random.default_rng(seed)
    n = 1 + seed % 2
    a, w, s = rng.normal(size=(3, 4, n)) * np.array([1.0, 3.0, 1.0])[:, None, None]
    parts = rng.permutation(6)[:3]

    def fun(x):
        terms = (np.sum(a[0] * np.sin(w[0] * x + s[0])), np.sum(a[1] * x**3) + np.sum(x**4),
                 np.exp(-np.sum((x - s[1]) ** 2)) * a[2, 0], np.abs(np.sum(a[3] * x) + s[2, 0]), np.sum(np.cos(w[1] * x) * x),
                 np.log(1 + np.sum((x - s[3]) ** 2)))
        return terms[parts[0]] + terms[parts[1]] + terms[parts[2]] * terms[parts[0]]
    lo, hi = -rng.uniform(0.5, 3, n), rng.uniform(0.5, 3, n)
    r = minimize(fun, np.stack([lo, hi], axis=1), max_boxes=300_000)
    sides = [np.linspace(x, y, 40_001 if n == 1 else 201) for x, y in zip(lo, hi, strict=True)]
    grid = np.stack(np.meshgrid(*sides)).reshape(n, -1)
    f = infimum.compile(fun, n)
    values = f.value(grid, grid)
    assert r.lower <= values.hi.min() and r.verdict is Verdict.PROVED and r.attained is True
    best = grid[:, np.argmin(values.hi)]
    assert r.upper <= values.hi.min() + 2e-6 * (1 + abs(r.upper))
    if values.hi.min() <= r.lower:  # then the sampled point is a minimiser as far as anyone can tell
        assert held(r, best)


def test_warnings_are_errors_and_none_is_raised():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        steep = minimize(lambda x: np.exp(x[0] * 1000) - np.exp(-x[0] * 1000) * x[0], [(-5, 5)], max_boxes=10_000)
        huge = minimize(lambda x: x[0] * 1e308 * x[1], [(-5, 5), (-10, 10)], max_boxes=10_000)
    assert steep.lower <= steep.upper < 1.0 and huge.upper <= -1e308 and huge.lower == -np.inf


def test_a_late_look_that_closes_the_gap_ends_the_run():
    """Nothing is left to cut then, and nothing is taken."""
    p = problems.get("biggs_exp_4")
    few = {"particles": 1, "swarm_steps": 1, "descent_steps": 20, "enough": 1, "samples": 3}
    r = minimize(p.fun, p.bounds, atol=1e-14, rtol=0, xtol=1000.0, options=few)
    keeps_its_word(r, p)
    assert r.verdict is Verdict.PROVED


def test_a_limit_of_boxes_holds_when_resumed(tmp_path):
    p, path = COLVILLE, str(tmp_path / "run.inf")
    r = infimum.minimize(p.fun, p.bounds, atol=1e-9, rtol=1e-9, max_boxes=5_000, checkpoint=path)
    again = infimum.resume(path, p.fun, max_boxes=5_000)
    assert r.verdict is again.verdict is Verdict.STOPPED and (r.nfev, r.nit) == (again.nfev, again.nit)


def test_an_infinite_memory_limit():
    assert minimize(lambda x: x[0] ** 2, [(-1, 2)], memory_limit=np.inf).verdict is Verdict.PROVED
