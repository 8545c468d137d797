"""Minimisers that are not isolated: the run ends with a word, by counts, before the regions along them are hopelessly many."""

import numpy as np
import pytest

import infimum
from infimum.certify import minimiser_cluster

NOT_ISOLATED = {
    "a curve": (lambda x: (x[0] ** 2 + x[1] ** 2 - 1) ** 2, [(-2, 2.3)] * 2, 1e-6),
    "two lines": (lambda x: (x[0] * x[1]) ** 2, [(-1, 1.5)] * 2, 1e-6),
    "a surface": (lambda x: (x[0] * x[1] * x[2] - 0.1) ** 2, [(-1, 1.5)] * 3, 1e-3),
    "an unused variable": (lambda x: (x[0] - 0.3) ** 2 + 0 * x[1], [(-1, 1.5)] * 2, 1e-7),
    "far away": (lambda x: np.exp(-x[0]), [(0, np.inf)], 1e-3),  # a ray, of a problem that is convex without bounds
    "a curve of kinks": (lambda x: abs(x[0] ** 2 + x[1] ** 2 - 1), [(-2, 2.3)] * 2, 1e-6),
}


@pytest.mark.parametrize("engine", ["auto", "newton"])
@pytest.mark.parametrize("name", NOT_ISOLATED)
def test_it_ends_with_a_word(name, engine, monkeypatch):
    monkeypatch.setattr(minimiser_cluster.POLICY, "batches", 2)
    f, sides, xtol = NOT_ISOLATED[name]
    r = infimum.minimize(f, sides, xtol=xtol, batch=1024, engine=engine)
    assert r.verdict.name == "STOPPED" and r.message.startswith("minimisers seem to fill a curve or a surface")
    assert "larger xtol" in r.obstacle and r.lower == 0.0 and r.x in r.regions
    assert len(r.minimisers) == 0 and r.minimisers.why


def test_what_can_be_finished_is_finished(monkeypatch):
    """Many regions along a curve, but no hopeless number; very many around an isolated minimiser."""
    monkeypatch.setattr(minimiser_cluster.POLICY, "batches", 2)
    r = infimum.minimize(lambda x: (x[0] ** 2 + x[1] ** 2 - 1) ** 2, [(-2, 2.3)] * 2, xtol=1e-3, batch=1024)
    assert r.verdict.name == "PROVED" and r.regions.count > 4096
    monkeypatch.setattr(minimiser_cluster.POLICY, "batches", 0)
    r = infimum.minimize(lambda x: (x[0] - 0.3) ** 2 + (x[1] * x[0] - 0.2) ** 2, [(-1, 1.5)] * 2, xtol=1e-9)
    assert r.verdict.name == "PROVED" and r.minimisers.exactly_one


def test_a_gap_that_is_open_is_never_given_up():
    f = infimum.compile(lambda x: x[0] ** 4 + x[1] ** 4 + 2 * x[0] ** 2 * x[1] ** 2 - 2 * x[0] ** 2 - 2 * x[1] ** 2, 2)
    r = infimum.minimize(f, [(-2, 2.3)] * 2, xtol=1e-9, batch=64, max_boxes=20_000, atol=1e-9)
    assert r.verdict.name == "STOPPED" and "boxes were enclosed" in r.message and r.gap > 1e-9


def test_a_run_that_is_resumed_stops_at_the_same_place(tmp_path, monkeypatch):
    monkeypatch.setattr(minimiser_cluster.POLICY, "batches", 2)
    f, sides, xtol = NOT_ISOLATED["two lines"]
    whole = infimum.minimize(f, sides, xtol=xtol, batch=1024)
    infimum.minimize(f, sides, xtol=xtol, batch=1024, max_boxes=whole.nfev // 3, checkpoint=tmp_path / "run.inf")
    again = infimum.resume(tmp_path / "run.inf", f)
    assert (again.message, again.regions, again.lower) == (whole.message, whole.regions, whole.lower)
    wider = infimum.resume(tmp_path / "run.inf", f, xtol=0.1)
    assert wider.verdict.name == "PROVED" and wider.regions.width <= 0.1
