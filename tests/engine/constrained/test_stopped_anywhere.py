"""A run with constraints is stopped in the middle of a search for points, of a proof and of a step: by counts, not by the clock.
Nothing is lost, and what was only begun is done again by a run that goes on from there."""

import traceback

import numpy as np
import pytest

import infimum
from infimum.engines.constrained_run import ConstrainedRun
from infimum.points.swarm_options import SwarmOptions
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Limits, Method
from infimum.problems import constrained
from infimum.search.branch_and_bound import BranchAndBound
from infimum.search.driver import drive
from infimum.support.clock import OutOfTime, RunTimeOver, Watch, stop_if_over, stoppable

METHOD = Method("auto", SwarmOptions(), Goal(1e-7, 1e-3))


def test_a_pause_ends_at_the_whole_time_and_only_where_nothing_is_lost():
    with Watch(-1.0, None), stoppable():
        stop_if_over()
    with Watch(None, -1.0) as watch:
        watch.check()
        stop_if_over()
        with pytest.raises(RunTimeOver), stoppable():
            stop_if_over()
        stop_if_over()
    with Watch() as watch, stoppable(), pytest.raises(RunTimeOver):
        watch.asked_to_stop = lambda: True
        stop_if_over()
    with stoppable():
        stop_if_over()


def run_of(name: str, boxes: int | None = None) -> ConstrainedRun:
    p = constrained.get(name)
    evaluator = infimum.compile(p.fun, p.n, constraints=p.constraints)
    return ConstrainedRun(Problem(p.fun, p.lo, p.hi), evaluator, METHOD, Limits(max_boxes=boxes))


class StopsAfter(Watch):
    """A watch that says stop at its pause of that number."""

    def __init__(self, pauses: int):
        super().__init__()
        self.left = pauses

    def stop_if_over(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise RunTimeOver


def stopped(run: ConstrainedRun, pauses: int) -> bool:
    try:
        with StopsAfter(pauses):
            for _ in run.steps():
                pass
    except RunTimeOver:
        return True
    return False


@pytest.mark.parametrize("name", ["hs_78", "haverly_1", "hs_71"])
def test_whatever_is_interrupted_the_enclosure_holds_and_the_run_can_go_on(name):
    p, pauses, ends = constrained.get(name), 0, 0
    while stopped(run := run_of(name), pauses):
        result = run.finish("stopped", 0.0, [])
        assert result.lower <= p.minimum.hi and result.upper >= p.minimum.lo and len(result.regions), pauses
        state = run.state()
        if state is not None:
            again, ends = run_of(name), ends + 1
            again.restore(state)
            for _ in again.steps():
                pass
            assert again.goal.met(again.lower, again.value) and again.lower <= p.minimum.hi and again.value >= p.minimum.lo
        pauses += 1 + pauses // 3
    assert pauses > 4 and ends, "there are several pauses, some of them after branching began"


def test_a_look_for_points_that_is_cut_off_is_repeated_with_the_same_bits():
    whole = run_of("hs_93", 300_000)
    for _ in whole.steps():
        pass
    run, cut = run_of("hs_93", 300_000), 0
    steps = run.steps()
    for _ in steps:
        if run.state_before_search is not None and run.branch.steps >= 8:
            cut += 1
            if cut == 5:
                break
    steps.close()
    assert cut == 5 and run.state().values["step_to_end"] is False
    again = run_of("hs_93", 300_000)
    again.restore(run.state())
    for _ in again.steps():
        pass
    assert (again.lower, again.value, again.evaluations) == (whole.lower, whole.value, whole.evaluations)
    assert np.array_equal(again.search.x, whole.search.x) and again.branch.steps == whole.branch.steps


def test_a_stop_in_the_middle_is_an_answer_like_others():
    run = run_of("hs_78")
    result = drive(run, progress=False, watch=StopsAfter(3))
    assert result.verdict.name == "STOPPED" and result.lower > -np.inf and "reached" in result.message


def test_a_search_for_points_pauses_between_its_evaluations():
    class Places(Watch):
        seen: set[str] = set()

        def stop_if_over(self) -> None:
            self.seen |= {frame.filename for frame in traceback.extract_stack()}
    with Places() as watch:
        for _ in run_of("hs_71").steps():
            assert not watch.stoppable, "what follows a step may have to be kept"
    assert any(name.endswith("points/barrier_problem.py") for name in watch.seen)


def test_an_answer_in_a_hurry_has_one_box_around_all_regions(monkeypatch):
    monkeypatch.setattr("infimum.support.clock.BRIEF", -1.0)
    run = run_of("haverly_1")
    next(None for _ in run.steps() if run.branch is not None and len(run.branch.regions()) > 1)
    with Watch(hurried=True):
        result = run.finish("stopped", 0.0, [])
    (lo, hi), = result.boxes
    regions = run.branch.regions()
    assert (lo <= regions.lo.min(axis=1)).all() and (hi >= regions.hi.max(axis=1)).all() and result.obstacle is None


def test_wide_bounds_that_a_point_narrows_are_kept_if_time_ends_there(monkeypatch):
    calls = []

    def out_of_time(self, lo, hi):
        calls.append(begin(self, lo, hi) if len(calls) < 1 else None)
        if len(calls) > 1:
            raise OutOfTime("compiling")
    begin = BranchAndBound.begin
    monkeypatch.setattr(BranchAndBound, "begin", out_of_time)
    evaluator = infimum.compile(lambda x: x[0] ** 2 + x[1] ** 4, 2, constraints=lambda x: x[0] * x[1] >= 1)
    sides = np.full(2, -1e9), np.full(2, 1e9)
    run = ConstrainedRun(Problem(None, *sides), evaluator, METHOD)
    with pytest.raises(OutOfTime):
        for _ in run.steps():
            pass
    result = run.finish("stopped", 0.0, [])
    assert len(calls) == 2 and result.verdict.name == "STOPPED" and len(result.regions) and result.upper < np.inf
