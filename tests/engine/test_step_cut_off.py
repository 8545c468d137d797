"""A step that time or memory cuts off leaves no trace in a checkpoint: a run that is resumed takes the course of one that was
never stopped. What the step has found until then is part of the answer."""

from contextlib import suppress

import numpy as np
import pytest

import infimum
from infimum import problems
from infimum.api import prepared_run
from infimum.engines.constrained_run import ConstrainedRun
from infimum.evaluation.evaluator import Evaluator
from infimum.problem.settings import Goal
from infimum.search import checkpoint_content
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.checkpoint import load, save
from infimum.search.incumbent import Incumbent
from infimum.support.clock import OutOfTime


def maker(fun, bounds, **asked):
    """What makes the engine that a call of `minimize` would run, anew each time."""
    class Caught(BaseException):
        pass

    def caught(*given):
        error = Caught()
        error.make = lambda: search(*given)
        raise error
    search = prepared_run._search
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(prepared_run, "_search", caught)
        try:
            infimum.minimize(fun, bounds, seed=0, progress=False, check=False, device="cpu", **asked)
        except Caught as error:
            return error.make
    raise AssertionError("no engine was made")


def to_the_end(run):
    for _ in run.steps():
        pass
    return run


def outcome(run) -> list:
    r = run.finish(None, 0.0, [])
    return [r.verdict, r.lower, r.upper, r.nit, r.nfev, r.lp, r.x.tolist(), r.regions.lo.tolist(), r.regions.hi.tolist(),
            getattr(run.branch, "discarded", None)]


def stored(state, path):
    """As a file gives it back."""
    save(path, state)
    return load(path)


def resumed(run, state):
    checkpoint_content.restore(run, state)
    return to_the_end(run)


def cut_off(run, call: int, error: type[BaseException]) -> int:
    """The run, until the call of a kernel of this number within steps fails. How many there were."""
    original, step, count, within = Evaluator.run, run.step, 0, False

    def fails(self, *given, **named):
        nonlocal count
        count += within
        if within and count == call:
            raise error
        return original(self, *given, **named)

    def watched():
        nonlocal within
        within = True
        try:
            step()
        finally:
            within = False
    run.step = watched
    with pytest.MonkeyPatch.context() as patch, suppress(OutOfTime):
        patch.setattr(Evaluator, "run", fails)
        to_the_end(run)
    return count


def waves(x):
    return np.sum(np.sin(3 * x[:-1]) * np.cos(2 * x[1:])) + 0.1 * np.sum((x - 0.3) ** 2)


def hills(x):
    return np.sum(x**2) + np.sin(5 * x[0] * x[1]) + np.sum(np.cos(x))


RASTRIGIN = problems.get("rastrigin", 4)  # regions with equal lower bounds: which comes first is where it was
CASES = {
    "auto": (hills, [(-3, 4)] * 2, {"xtol": 1e-6}),
    "constrained": (hills, [(-3, 4)] * 2, {"constraints": lambda x: x[0] * x[1] >= 1, "xtol": 1e-5}),
    "newton": (hills, [(-3, 4)] * 2, {"engine": "newton", "xtol": 1e-6}),
    "complete": (RASTRIGIN.fun, RASTRIGIN.bounds, {"engine": "complete", "options": {"partition": (2, 4)}}),
    "lp": (lambda x: waves(x) + x[0] * x[1], [(-9, 9)] * 4, {
        "integrality": [1, 0, 1, 0], "constraints": lambda x: x[0] * x[2] + x[3] <= 7.5, "max_boxes": 3000,
        "options": {"lp": True}}),
}


@pytest.mark.parametrize("name", CASES)
def test_wherever_a_step_is_cut_off_it_is_repeated(name, tmp_path):
    if name == "lp":
        pytest.importorskip("highspy")
    fun, bounds, asked = CASES[name]
    make = maker(fun, bounds, **asked)
    run = make()
    calls = cut_off(run, 0, OutOfTime)
    whole = outcome(run)
    for part, error in ((0.3, OutOfTime), (0.6, MemoryError), (0.9, OutOfTime)):
        run = make()
        assert cut_off(run, int(part * calls), error) == int(part * calls) > 1
        assert outcome(resumed(make(), stored(run.state(), tmp_path / "run.inf"))) == whole


def fails(*_, **__):
    raise OutOfTime


def on_call(method, number: int):
    """The method of a class, which fails at its call of this number."""
    count = 0

    def called(self, *given, **named):
        nonlocal count
        count += 1
        if count == number:
            raise OutOfTime
        return method(self, *given, **named)
    return called


def test_a_better_point_of_a_step_that_was_cut_off_is_there_for_the_answer(tmp_path):
    f = infimum.compile(hills, 2)
    lo, hi = np.full(2, -3.0), np.full(2, 4.0)

    def search():
        return BranchAndBound(f, Goal(1e-6, 1e-6), Incumbent(f, lo, hi))
    branch = search()
    branch.incumbent.offer(np.array([[3.0], [3.0]]))
    branch.begin(lo[:, None], hi[:, None])
    before, known = branch.state(), branch.incumbent.upper
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OutOfTime):
        patch.setattr(BranchAndBound, "_enclosed_final", fails)
        branch.step()
    state, better = stored(branch.state(), tmp_path / "run.inf"), branch.incumbent.upper
    assert better < known and state.values == before.values
    assert all(np.array_equal(state.arrays[name], array, equal_nan=True) for name, array in before.arrays.items())
    again = search()
    again.restore(state)
    assert again.incumbent.upper == known and again.state().arrays["found"][0] == better
    again.incumbent.take_found(again.found)
    assert again.incumbent.upper == better and again.incumbent.x.tolist() == branch.incumbent.x.tolist()


def test_a_found_point_that_is_too_good_is_refused(tmp_path):
    make = maker(hills, [(-3, 4)] * 2, max_boxes=1000)
    state = to_the_end(make()).state()
    best = state.arrays["incumbent"]
    state.arrays["found"] = np.concatenate([best[:1] - 1.0, best[1:]])
    with pytest.raises(ValueError, match="below all values"):
        checkpoint_content.restore(make(), stored(state, tmp_path / "run.inf"))


def test_what_follows_a_step_is_repeated_where_it_is_cut_off(monkeypatch, tmp_path):
    """Minimisers that are isolated between two steps."""
    make = maker(hills, [(-3, 4)] * 2, xtol=1e-6)
    whole, run = outcome(to_the_end(make())), make()
    with monkeypatch.context() as patch, pytest.raises(OutOfTime):
        patch.setattr(BranchAndBound, "isolate_minimisers", on_call(BranchAndBound.isolate_minimisers, 3))
        to_the_end(run)
    state, again, calls = stored(run.state(), tmp_path / "run.inf"), make(), []
    original = BranchAndBound.isolate_minimisers
    monkeypatch.setattr(BranchAndBound, "isolate_minimisers",
                        lambda self, *given, **named: calls.append(self.steps) or original(self, *given, **named))
    assert outcome(resumed(again, state)) == whole and calls[0] == run.branch.steps


def test_a_bound_between_two_steps_is_repeated_where_it_is_cut_off(monkeypatch, tmp_path):
    pytest.importorskip("highspy")
    pairs = [*zip(range(9), range(1, 10), strict=True), *zip(range(8), range(2, 10), strict=True),
             (0, 8), (0, 9), (1, 9), (0, 4), (3, 6)]
    first, second = (np.array(part) for part in zip(*pairs, strict=True))
    make = maker(lambda x: -np.sum(x[first] * x[second]), [(0, 1)] * 10, constraints=lambda x: np.sum(x) == 1,
                 options={"lp": True})
    whole, run = outcome(to_the_end(make())), make()
    bound, kept = ConstrainedRun._bound_at_once, []

    def cut_off_between_steps(self):
        bound(self)
        if self.state_before_search is not None:
            kept.append(self.state_before_search)
            raise OutOfTime
    with monkeypatch.context() as patch, pytest.raises(OutOfTime):
        patch.setattr(ConstrainedRun, "_bound_at_once", cut_off_between_steps)
        to_the_end(run)
    assert kept and outcome(resumed(make(), stored(run.state(), tmp_path / "run.inf"))) == whole


def test_late_searches_before_one_step_are_repeated_from_the_first(monkeypatch):
    run = maker(hills, [(-3, 4)] * 2, max_boxes=50_000)()
    before = []

    def first():
        before.append(run.state().arrays["incumbent"])
        run.incumbent.x, run.incumbent.upper = run.incumbent.x + 1e-9, run.incumbent.upper - 1e-9
        yield
    monkeypatch.setattr(run, "_late_searches", lambda: [first, fails] if run.branch.steps == 2 else [])
    with pytest.raises(OutOfTime):
        to_the_end(run)
    assert run.state().arrays["incumbent"].tolist() == before[0].tolist()
