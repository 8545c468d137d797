"""The complete search with constraints: no feasible point is lost, nor a minimiser on an active constraint; whole numbers."""

import numpy as np
import pytest

import infimum
from infimum import Verdict
from infimum.engines.complete_kernel import LEFT, LOWER, SAMPLE, UPPER
from infimum.engines.complete_options import CompleteOptions
from infimum.engines.complete_search import CompleteSearch
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from tests.engine.constrained.planted_systems import INF, evaluator_of, planted

BOX = [(-3, 3)] * 2


def radius(x):
    return x[0] ** 2 + x[1] ** 2


def search(evaluator, lo, hi, xtol=None, **options):
    return CompleteSearch(Problem(None, lo, hi), evaluator, CompleteOptions(**options), Goal(1e-6, 1e-6, xtol), 0)


def lanes(s, lo, hi, start=0, upper=0.0, user=None):
    """What the kernel says of all subregions of [lo, hi], the same with samples and without, and the boxes of these."""
    numbers, ends = np.arange(s.pieces**s.block), s._ends(lo, hi, start)
    given = s.lanes.parameters(lo, hi, start, ends, -INF, user or (s.lo, s.hi), upper)
    inputs = [numbers.view(np.float64)[None]]
    plain, = s.evaluator.run(s.lanes.kinds[0], inputs, parameters=given[:s.lanes.plain])
    out, = s.evaluator.run(s.lanes.kinds[-1], inputs, parameters=given)
    assert np.array_equal(plain[[LOWER, LEFT]], out[[LOWER, LEFT]], equal_nan=True)
    s.taken = [(lo, hi, start)]
    return out, s.boxes_of(np.zeros(len(numbers), int), numbers)


# ---- the kernel
@pytest.mark.parametrize("seed", range(12))
def test_no_feasible_point_is_lost(seed):
    """A lane that holds one may be dropped only by first order, and then there is a lower feasible point nearby: none of the
    planted ones is, where a constraint that it just meets reads every variable."""
    n = 1 + seed % 3
    at, rng = planted(seed, n, equations=seed % 2), np.random.default_rng(seed)
    s = search(at.evaluator, at.lo, at.hi, partition=(2, 4), points=3)
    for _ in range(4):
        lo, hi = np.sort(rng.integers(-8, 9, (2, n)) / 4, axis=0)
        start = int(rng.integers(0, n - s.block + 1))
        for upper in (INF, 0.0):
            out, (low, high) = lanes(s, lo, hi, start, upper)
            for k, value in enumerate(at.values):
                held = ((low <= at.points[:, k, None]) & (at.points[:, k, None] <= high)).all(axis=0)
                assert not np.isnan(out[LOWER][held]).any() and (out[LOWER][held] <= float(value)).all()
                assert upper < INF or not np.isnan(out[LEFT][held]).any()


def test_first_order_needs_slack_constraints():
    """f falls with x0 and rises with x1. Where a constraint that reads the variable may be active, nothing is concluded; and
    nothing at all as long as no feasible point is known."""
    e = evaluator_of(lambda x: x[1] - x[0], [(lambda x: x[0] * x[1], -INF, 1.0), (lambda x: x[1] ** 2, -INF, 4.0)], 2)
    s = search(e, np.zeros(2), np.full(2, 2.0), partition=(2, 4))
    out, (low, high) = lanes(s, s.lo, s.hi)
    violated, slack = low[0] * low[1] > 1, high[0] * high[1] < 1
    excluded = slack & ((high[0] < 2) | ((low[1] > 0) & (high[1] < 2)))  # the second constraint does not read x0
    assert (np.isnan(out[LEFT]) == (violated | excluded)).all() and excluded.sum() >= 5 and (~violated & ~excluded).sum() >= 5
    unknown, _ = lanes(s, s.lo, s.hi, upper=INF)
    assert (np.isnan(unknown[LEFT]) == violated).all()


def test_rough_constraints_keep_everything():
    """Slack on all of a subregion, but with a jump at its edge, beyond which it is violated: moving there is not allowed."""
    e = evaluator_of(lambda x: -x[0], [(lambda x: np.where(x[0] <= 0.5, 0.0, 1.0), -INF, 0.5)], 1)
    s = search(e, np.zeros(1), np.ones(1), partition=(1, 2))
    out, _ = lanes(s, np.zeros(1), np.ones(1))
    assert not np.isnan(out[LEFT][0])
    r = infimum.minimize(lambda x: -x[0], [(0, 1)], constraints=lambda x: np.where(x[0] <= 0.5, 0, 1) <= 0.5, engine="complete",
                         atol=1e-3, options={"iterations": 20})
    assert r.lower <= -0.5 <= r.upper and np.array([0.5]) in r.regions


def test_samples_are_feasible():
    e = evaluator_of(lambda x: x[0] + x[1], [(radius, 1.0, INF)], 2, integers=(1,))
    s = search(e, np.full(2, -2.0), np.full(2, 2.0), partition=(2, 4), points=4)
    out, (low, high) = lanes(s, s.lo, s.hi)
    good = np.flatnonzero(out[UPPER] < INF)
    assert len(good) and (out[SAMPLE][good] >= 0).all() and (out[SAMPLE][out[UPPER] == INF] == -1).all()
    for lane in good:
        x = low[:, lane] + (high - low)[:, lane] * s.parts[int(out[SAMPLE][lane])]
        x[1] = np.floor(x[1])
        assert radius(x) >= 1 - 1e-12 and out[UPPER][lane] == pytest.approx(x.sum(), abs=1e-12)
    assert search(evaluator_of(lambda x: x[0], [(radius, 1.0, 1.0)], 2), s.lo, s.hi).lanes.kinds[1:] == []


# ---- the engine
CASES = {
    "a disc": (lambda x: x[0] + x[1], BOX, {"constraints": lambda x: radius(x) <= 2}, -2.0, [(-1, -1)]),
    "a circle": (lambda x: x[0] + x[1], BOX, {"constraints": lambda x: radius(x) == 2}, -2.0, [(-1, -1)]),
    "two minimisers": (lambda x: x[1], BOX, {"constraints": lambda x: x[1] >= (x[0] ** 2 - 1) ** 2}, 0.0, [(-1, 0), (1, 0)]),
    "whole numbers": (lambda x: (x[0] - 1.4) ** 2 + (x[1] + 0.6) ** 2, BOX, {"integrality": 1}, 0.32, [(1, -1)]),
    "one whole number": (radius, BOX, {"constraints": lambda x: x[0] + x[1] == 3, "integrality": [1, 0]}, 5.0, [(1, 2), (2, 1)]),
    "undefined outside": (lambda x: x[0] + x[1], BOX, {"constraints": lambda x: np.log(x[0]) >= -1}, np.exp(-1) - 3, []),
    "a step": (lambda x: x[0] + x[1], BOX, {"constraints": lambda x: np.floor(x[0]) == 1}, -2.0, [(1, -3)]),
    "at a bound": (lambda x: -x[0], BOX, {"constraints": lambda x: x[1] >= x[0] - 4}, -3.0, [(3, 0), (3, -1), (3, 3)]),
}


@pytest.mark.parametrize("name", CASES)
def test_it_proves(name):
    fun, bounds, asked, optimum, minimisers = CASES[name]
    settings = {"engine": "complete", "atol": 1e-2, "rtol": 0.0, "options": {"partition": (2, 8)}}
    r = infimum.minimize(fun, bounds, **asked, **settings)
    assert r.verdict is Verdict.PROVED and r.lower <= optimum + 1e-15 and optimum <= r.upper + 1e-15 and r.engine == "complete"
    assert r.feasible is not None and r.maxcv < 1e-15 and all(np.array(x, float) in r.regions for x in minimisers)
    largest = infimum.maximize(lambda x: -fun(x), bounds, **asked, **settings)
    assert (largest.lower, largest.upper) == (0.0 - r.upper, 0.0 - r.lower)


def test_regions_are_narrowed():
    fun, bounds, asked, _, minimisers = CASES["two minimisers"]
    r = infimum.minimize(fun, bounds, **asked, engine="complete", xtol=0.05, options={"partition": (2, 4)})
    assert r.verdict is Verdict.PROVED and (r.regions.hi - r.regions.lo <= 0.05).all() and len(r.boxes) == 2
    assert all(np.array(x, float) in r.regions for x in minimisers)


@pytest.mark.parametrize(("bounds", "asked"), [
    (BOX, {"constraints": lambda x: radius(x) >= 20}),
    (BOX, {"constraints": [lambda x: x[0] * x[1] >= 1, lambda x: x[0] + x[1] <= 1.5, lambda x: x[0] >= 0]}),
    ([(0, 5)] * 2, {"constraints": lambda x: 2 * x[0] + 4 * x[1] == 7, "integrality": 1}),
    ([(0.1, 0.9)] * 2, {"integrality": 1})])
def test_nothing_is_feasible(bounds, asked):
    """f rises everywhere: by first order alone nothing would be left either, and that would be no proof."""
    r = infimum.minimize(lambda x: x[0] + x[1], bounds, **asked, engine="complete", options={"partition": (2, 8)})
    assert r.verdict is Verdict.INFEASIBLE and r.x is None and r.lower == INF


def test_without_a_point_nothing_is_called_infeasible(monkeypatch):
    """Feasible points exist, and nobody finds one: regions are left."""
    monkeypatch.setattr("infimum.search.feasible_incumbent.FeasibleIncumbent.offer", lambda *_: False)
    r = infimum.minimize(lambda x: x[0] + x[1], BOX, constraints=lambda x: radius(x) <= 2, engine="complete",
                         options={"partition": (2, 4), "iterations": 30})
    assert r.verdict is Verdict.STOPPED and r.x is None and np.array([-1.0, -1.0]) in r.regions and r.lower <= -2.0
    assert r.message.endswith("no feasible point was found")


@pytest.mark.parametrize("name", ("a circle", "one whole number"))
def test_a_run_that_is_resumed_has_the_same_bits(name, tmp_path):
    fun, bounds, asked, *_ = CASES[name]
    settings = {"engine": "complete", "atol": 1e-4, "rtol": 0.0, "options": {"partition": (2, 4)}, "xtol": 0.1}
    whole = infimum.minimize(fun, bounds, **asked, **settings)
    for boxes in (20, 60):
        path = tmp_path / f"{boxes}.inf"
        part = infimum.minimize(fun, bounds, **asked, **settings, max_boxes=boxes, checkpoint=path)
        rest = infimum.resume(path, fun, constraints=asked["constraints"])
        assert part.verdict is Verdict.STOPPED and whole.verdict is rest.verdict is Verdict.PROVED
        assert (rest.lower, rest.upper, rest.nit, rest.nfev, rest.regions) == (
            whole.lower, whole.upper, whole.nit, whole.nfev, whole.regions)
        assert np.array_equal(rest.feasible, whole.feasible)


def test_more_variables_than_a_block_has():
    """Blocks follow one another; the constraints tie them together."""
    r = infimum.minimize(lambda x: np.sum(x**2), [(-2, 2)] * 5, constraints=lambda x: np.sum(x) >= 2.5, engine="complete",
                         atol=1.0, options={"partition": (2, 4)})
    assert r.verdict is Verdict.PROVED and r.lower <= 1.25 <= r.upper + 1e-12 and np.full(5, 0.5) in r.regions


def test_functions_that_cannot_be_taken_apart_need_not_be():
    r = infimum.minimize(lambda x: np.sum(np.cumsum(x) ** 2), [(0, 1)] * 3, constraints=lambda x: x[2] >= 0.5, engine="complete",
                         atol=1e-2)
    assert r.verdict is Verdict.PROVED and r.lower <= 0.25 <= r.upper


def test_infinite_bounds_are_refused():
    with pytest.raises(infimum.BoundsError, match="finite bounds"):
        infimum.minimize(radius, [(0, INF)] * 2, constraints=lambda x: x[0] >= 1, engine="complete")
