"""A run goes on with another goal or another memory limit: nothing that was put aside under the old one is forgotten."""

import numpy as np
import pytest

import infimum
from infimum import Verdict, problems
from infimum.search.checkpoint import load
from tests.engine.coupled import COLVILLE

AUTO = COLVILLE, {}
COMPLETE = problems.get("rastrigin", 4), {"engine": "complete", "options": {"partition": (2, 4)}}
NEWTON = COLVILLE, {"engine": "newton"}
BOTH = pytest.mark.parametrize(("p", "settings"), (AUTO, NEWTON, COMPLETE), ids=("auto", "newton", "complete"))
WIDE = {"atol": 1e-2, "rtol": 0.0}


def started(p, path, **settings) -> infimum.Result:
    return infimum.minimize(p.fun, p.bounds, checkpoint=path, **settings)


def holds(r: infimum.Result, p) -> bool:
    """Every known minimiser lies in a region, and the minimum between the bounds."""
    inside = all(((r.regions.lo <= hi) & (lo <= r.regions.hi)).all(axis=1).any() for lo, hi in p.minimisers)
    return inside and r.lower <= p.minimum.hi and p.minimum.lo <= r.upper


@BOTH
def test_a_narrower_gap(p, settings, tmp_path):
    path = str(tmp_path / "run.inf")
    first = started(p, path, **WIDE, **settings)
    r = infimum.resume(path, p.fun, atol=1e-8)
    assert first.verdict is r.verdict is Verdict.PROVED and r.nfev > first.nfev
    assert first.upper - first.lower > 1e-8 >= r.upper - r.lower and holds(first, p) and holds(r, p)


@BOTH
@pytest.mark.parametrize("before", (None, 1e-1))
def test_narrower_regions(p, settings, before, tmp_path):
    path = str(tmp_path / "run.inf")
    first = started(p, path, xtol=before, **WIDE, **settings)
    r = infimum.resume(path, p.fun, xtol=1e-3)
    done = first.regions.width <= 1e-3  # regions around a proved minimiser are one, as narrow as doubles tell
    assert first.verdict is r.verdict is Verdict.PROVED and (done or r.nfev > first.nfev) and not (done and before is None)
    assert r.regions.width <= 1e-3 and holds(r, p)


@BOTH
def test_a_wider_goal_is_met_at_once(p, settings, tmp_path):
    path = str(tmp_path / "run.inf")
    first = started(p, path, atol=1e-9, rtol=0.0, xtol=1e-9, max_boxes=200, **settings)
    gap = first.upper - first.lower
    r = infimum.resume(path, p.fun, atol=2 * gap, xtol=np.inf)
    assert first.verdict is Verdict.STOPPED and r.verdict is Verdict.PROVED and holds(r, p)
    assert (r.lower, r.upper) == (first.lower, first.upper) and r.nfev <= 1.25 * first.nfev + 4096


@BOTH
def test_a_run_that_its_memory_limit_stopped_goes_on(p, settings, tmp_path):
    path, limit = str(tmp_path / "run.inf"), {"memory_limit": 2000}
    first = started(p, path, **limit, **settings)
    same = infimum.resume(path, p.fun)
    assert first.verdict is same.verdict is Verdict.STOPPED and "memory limit" in same.message and same.nfev == first.nfev
    r = infimum.resume(path, p.fun, memory_limit=np.inf)
    whole = infimum.minimize(p.fun, p.bounds, **settings)
    assert r.verdict is Verdict.PROVED and (r.nfev, r.lower, r.upper, r.regions) == (
        whole.nfev, whole.lower, whole.upper, whole.regions)


@BOTH
def test_the_file_keeps_what_is_asked_for(p, settings, tmp_path):
    """A run that is resumed again has the goal and limit given last; one to which nothing is given changes nothing."""
    path = str(tmp_path / "run.inf")
    started(p, path, max_boxes=2000, **settings)
    infimum.resume(path, p.fun, atol=1e-3, rtol=1e-4, xtol=0.5, memory_limit=1e8, max_boxes=1)
    asked = load(path).values["settings"]
    assert asked["goal"] == [1e-3, 1e-4, 0.5] and asked["memory_limit"] == 1e8
    infimum.resume(path, p.fun, max_boxes=1)
    assert load(path).values["settings"] == asked
    infimum.resume(path, p.fun, xtol=np.inf, max_boxes=1)
    assert load(path).values["settings"]["goal"] == [1e-3, 1e-4, None]


def test_a_proof_without_a_cut_goes_on_to_narrower_regions(tmp_path):
    """There was nothing to keep but the settings: it begins anew with the new goal."""
    path = str(tmp_path / "run.inf")
    f = lambda x: np.sum((x - 0.25) ** 2)  # noqa: E731
    first = infimum.minimize(f, [(-1, 2)] * 8, checkpoint=path)
    r = infimum.resume(path, f, xtol=1e-3)
    assert first.verdict is r.verdict is Verdict.PROVED and r.regions.width <= 1e-3 < first.regions.width
    assert load(path).values["settings"]["goal"] == [1e-6, 1e-6, 1e-3]


@pytest.mark.parametrize("xtol", (4.0, 3.0, 2.0))
def test_which_regions_are_wide_is_found_as_when_they_came(xtol, tmp_path):
    p, path = problems.get("styblinski_tang", 4), str(tmp_path / "run.inf")
    started(p, path, xtol=xtol, max_boxes=40, engine="complete", options={"partition": (2, 4), "cuts": "golden"})
    kept = load(path)
    infimum.resume(path, p.fun, xtol=100.0, max_boxes=1)
    assert not load(path).arrays["list.wide"].any() and kept.arrays["list.wide"].any()
    infimum.resume(path, p.fun, xtol=xtol, max_boxes=1)
    assert (load(path).arrays["list.wide"] == kept.arrays["list.wide"]).all()


@pytest.mark.parametrize("given", ({"atol": -1.0}, {"rtol": "x"}, {"xtol": float("nan")}, {"memory_limit": 0}))
def test_what_makes_no_sense_is_refused(given, tmp_path):
    with pytest.raises(infimum.OptionError, match=next(iter(given))):
        infimum.resume(str(tmp_path / "run.inf"), lambda x: x[0], **given)
