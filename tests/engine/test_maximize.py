"""Maxima: all that is said is about the function itself."""

import copy
import pickle

import numpy as np
import pytest

import infimum
from infimum.points.point_search import PointSearch

BOX = [(0, 10)]


def wave(x):
    return np.sin(x[0]) * x[0]


PEAK = 7.978665712413241
VALUE = float(np.sin(PEAK) * PEAK)


@pytest.mark.parametrize("engine", ["auto", "newton", "complete"])
def test_proofs(engine):
    r = infimum.maximize(wave, BOX, engine=engine)
    assert r.verdict is infimum.Verdict.PROVED and r.maximised and r.purpose == "maximise"
    assert r.fun == r.lower <= VALUE + 1e-14 and VALUE <= r.upper and r.gap <= 1e-6 * 8
    assert abs(r.x[0] - PEAK) < 1e-2 and any(lo[0] <= PEAK <= hi[0] for lo, hi in r.boxes)
    assert "the global maximum is proved" in str(r) and ("supremum" in r.message) and "infimum" not in r.message
    assert str(r).index("lower bound") < str(r).index("upper bound") and "maximisers" in str(r)
    assert all(h.lower <= VALUE <= h.upper and h.fun <= VALUE + 1e-14 for h in r.history)


def test_regions_have_upper_bounds():
    r = infimum.maximize(wave, BOX, xtol=1e-3)
    assert (r.regions.upper >= r.lower).all() and (r.regions.lower == -np.inf).all() and r.regions.upper.max() <= r.upper
    same = infimum.minimize(lambda x: -wave(x), BOX, xtol=1e-3)
    assert (same.regions.upper == np.inf).all() and np.array_equal(r.regions.upper, -same.regions.lower)
    assert r.regions != same.regions
    assert (r.lower, r.upper) == (-same.upper, -same.lower) and r.x.tolist() == same.x.tolist()


def test_maximisers():
    r = infimum.maximize(wave, BOX, xtol=1e-3)
    only, = r.minimisers
    assert only.lo[0] <= PEAK <= only.hi[0] and only.lower <= VALUE + 1e-14 and only.upper >= VALUE - 1e-14
    assert str(r.minimisers).startswith("exactly one global maximiser, proved")
    assert str(pickle.loads(pickle.dumps(r)).minimisers) == str(copy.deepcopy(r).minimisers) == str(r.minimisers)


def test_the_swarm():
    r = infimum.maximize(wave, BOX, engine="swarm")
    assert r.verdict is infimum.Verdict.CANDIDATE and r.minima[0].value == pytest.approx(VALUE) and r.upper == np.inf
    assert r.lower == r.fun and "higher values may exist" in str(r) and "highest maximum" in r.message and "maxima" in str(r)


def test_what_callbacks_and_progress_show(capsys):
    seen = []
    infimum.maximize(wave, BOX, callback=seen.append, progress=True)
    assert all(s.lower <= VALUE + 1e-14 <= s.upper + 1e-13 and s.fun <= VALUE + 1e-14 for s in seen)
    assert "best -4.794621373" in capsys.readouterr().err  # in the middle, where the search begins


def test_figures_of_a_proof():
    from infimum.presolve.maximisation import Maximisation
    from infimum.presolve.presolve_stack import PresolvedRun
    from infimum.search.progress import bounds

    class Proof:
        name = "proof"
        lower, value, evaluations = -3.0, -2.0, 7

        def figures(self):
            return bounds(self.lower, self.value) | {"regions": "5"}
    seen = PresolvedRun(Proof(), Maximisation())
    assert (seen.lower, seen.value, seen.upper, seen.evaluations) == (2.0, 2.0, 3.0, 7)
    assert seen.figures() == {"lower": "2", "upper": "3", "gap": "1 (50 %)", "regions": "5"}  # of the value


def test_other_questions():
    squared = infimum.compile(lambda x: x[0] ** 2, 1)
    assert infimum.maximize(squared, [(-1, 2)]).lower == 4.0
    assert infimum.maximize(lambda x, a: a * x[0], BOX, args=(3.0,)).lower == 30.0
    zero = infimum.maximize(lambda x: -x[0] ** 2, [(-1, 1)])
    assert str(zero.lower) == "0.0" and not str(zero.upper).startswith("-")
    nowhere = infimum.maximize(lambda x: np.log(-1 - x[0] ** 2), BOX)
    assert nowhere.verdict is infimum.Verdict.INFEASIBLE and nowhere.message.startswith("the function is defined nowhere")


def test_obstacles_are_about_the_minimum_of_the_opposite():
    r = infimum.maximize(lambda x: 1 / x[0], [(-1, 1)], max_boxes=200)
    assert r.obstacle is None or r.obstacle.startswith("For the minimum of -f: ")
    assert r.upper == np.inf


def test_resuming(tmp_path):
    whole = infimum.maximize(wave, BOX)
    infimum.maximize(wave, BOX, max_boxes=20, checkpoint=tmp_path / "run.inf")
    again = infimum.resume(tmp_path / "run.inf", wave)
    assert again.maximised and (again.lower, again.upper, again.x.tolist()) == (whole.lower, whole.upper, whole.x.tolist())


def test_out_of_time_before_anything_is_compiled(monkeypatch):
    from infimum.support.clock import OutOfTime

    def slow(x):
        if not isinstance(x, np.ndarray):
            raise OutOfTime("tracing")
        return wave(x)
    r = infimum.maximize(slow, BOX, time_limit=0.1)
    assert r.verdict is infimum.Verdict.STOPPED and r.maximised and r.upper == np.inf and r.lower == -np.inf
    assert r.fun == wave(r.x)


def test_pictures():
    pytest.importorskip("matplotlib")
    r = infimum.maximize(wave, BOX)
    assert r.plot() is not None
    assert r.view.estimate(np.array([[PEAK]]))[0] == pytest.approx(VALUE)


def test_a_search_without_a_point_shows_none():
    from infimum.presolve.maximisation import Maximisation
    from infimum.presolve.presolve_stack import PresolvedRun

    class Search(PointSearch):
        name, x, value, lower, evaluations = "search", None, np.inf, -np.inf, 0

        def rounds(self):
            return []
    assert Search().figures() == PresolvedRun(Search(), Maximisation()).figures() == {"best": "none"}
