"""Proofs by worker processes: the bits of one process, whatever happens to the others."""

import multiprocessing
import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

import infimum
from infimum.blackbox.trial_workers import LocalWorkers
from infimum.engines import auto
from infimum.errors import OptionError, TrialError
from infimum.parallel import ray_cluster
from infimum.parallel.process_workers import Processes
from infimum.parallel.proofs.portion_runner import WorkerPortionRunner
from infimum.search.rounds import StepRounds
from infimum.support.clock import Watch
from tests.portions.proofs import BOUNDS, SETTINGS, bits, killing_one, limits, ripples, waves, wide_limits
from tests.trials.test_workers import posix

TIGHT = SETTINGS | {"atol": 1e-10}


def test_two_workers_give_the_bits_of_one():
    """A lambda too: what travels is what was traced."""
    one = infimum.maximize(lambda x: -waves(x), BOUNDS, workers=1, **TIGHT)
    two = infimum.maximize(lambda x: -waves(x), BOUNDS, workers=2, **TIGHT)
    assert bits(one) == bits(two) and one.rounds["rounds"] > 1
    assert (one.rounds["workers"], two.rounds["workers"], two.rounds["redone"]) == (1, 2, 0)
    alone = infimum.minimize(waves, BOUNDS, **{k: v for k, v in TIGHT.items() if k != "portions"})
    assert alone.rounds is None and -one.upper <= alone.upper and alone.lower <= -one.lower


@posix
def test_workers_that_are_killed_cost_nothing_but_time(monkeypatch):
    """By SIGKILL, whoever works on the first portion of the second round; with constraints, narrow regions and a whole number."""
    asked = {"constraints": [wide_limits], "integrality": [0, 0, 1], "xtol": 1e-4, **SETTINGS, "portions": 2, "batch": 16}
    one = infimum.minimize(ripples, [(-9, 10)] * 3, workers=1, **asked)
    usual, rounds, killed = WorkerPortionRunner.run_portions, [], []

    def deal(self, count, portion):
        rounds.append(count)

        def and_kill(number):
            if len(rounds) == 2 and number == 1 and not killed:
                killed.extend(worker.process.pid for worker in self.workers._workers if worker.ticket is not None)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            return portion(number)
        return usual(self, count, and_kill)
    monkeypatch.setattr(WorkerPortionRunner, "run_portions", deal)
    for _ in range(5):  # a worker may have answered before it is killed: then nothing is done again
        rounds.clear()
        killed.clear()
        three = infimum.minimize(ripples, [(-9, 10)] * 3, workers=3, **asked)
        assert bits(one) == bits(three) and len(killed) == 1
        if three.rounds["redone"]:
            break
    assert three.rounds["redone"] == 1


def test_a_portion_that_ends_all_workers_ends_the_run(monkeypatch):
    """With what was proved before: the regions are all there."""
    monkeypatch.setattr("infimum.parallel.proofs.portion_runner._started", lambda *_: Broken())
    result = infimum.minimize(waves, BOUNDS, workers=2, **TIGHT)
    assert result.verdict.name == "STOPPED" and "lost 4 times with the same regions (the worker process ended" in result.message
    proved = infimum.minimize(waves, BOUNDS, **{k: v for k, v in TIGHT.items() if k != "portions"})
    assert result.lower <= proved.lower and proved.lower <= result.upper and result.rounds["redone"] >= 4


class Broken(Processes):
    """Workers whose every portion is a crash."""

    def __init__(self):
        self.count, self.closed, self.outstanding, self.busy_seconds, self.tickets = 2, False, 0, 0.0, 0

    def submit(self, x):
        self.tickets, self.outstanding = self.tickets + 1, self.outstanding + 1
        return self.tickets

    def next_finished(self, timeout=None):
        from infimum.blackbox.outcome import Outcome, OutcomeKind
        from infimum.blackbox.trial_workers import FinishedTrial

        self.outstanding -= 1
        return FinishedTrial(self.tickets - self.outstanding,
                             Outcome.failed(OutcomeKind.CRASH, "the worker process ended: killed"))

    def close(self):
        self.closed = True


@pytest.mark.parametrize("asked", [{}, {"constraints": [limits]}, {"engine": "newton"}])
def test_a_run_that_is_stopped_in_a_round_goes_on_with_the_same_bits(tmp_path, monkeypatch, asked):
    """What came back by then counts in its result, and the checkpoint holds the state before the round."""
    whole = infimum.minimize(waves, BOUNDS, workers=1, **asked, **TIGHT)
    stop, wanted = [], 4 * (whole.rounds["rounds"] - 1)

    def deal(self, count, portion, _usual=WorkerPortionRunner.run_portions):
        for number, answer in enumerate(_usual(self, count, portion)):
            stop.extend([True] if number == 1 and self.answered > wanted else [])
            yield answer
    with monkeypatch.context() as patched:
        patched.setattr(WorkerPortionRunner, "run_portions", deal)
        asked = asked | {"callback": lambda snapshot: bool(stop)}
        early = infimum.minimize(waves, BOUNDS, workers=1, checkpoint=tmp_path / "run.inf", **asked, **TIGHT)
    assert early.verdict.name == "STOPPED" and early.lower <= whole.lower and whole.upper <= early.upper
    again = infimum.resume(tmp_path / "run.inf", waves, constraints=asked.get("constraints", ()))
    (*_, rounds, _), arrays = bits(again)
    assert arrays == bits(whole)[1] and again.nfev == whole.nfev and again.nit == whole.nit
    assert 0 < rounds <= whole.rounds["rounds"]


def test_points_that_were_looked_for_before_a_round_are_not_looked_for_again(tmp_path, monkeypatch):
    """A run that is stopped in a round before which there was a late search: that is over when it is resumed."""
    begun, stop, usual = [], [], StepRounds.round

    def in_round(self, branch, *asked):
        steps = branch.steps
        for number, _ in enumerate(rest := Returning(usual(self, branch, *asked))):
            begun.extend([steps] if number == 0 else [])
            stop.extend([True] if steps == auto.POLICY.second_search_step and number == 1 else [])
            yield
        return rest.value
    monkeypatch.setattr(StepRounds, "round", in_round)
    infimum.minimize(waves, BOUNDS, workers=1, **TIGHT)
    monkeypatch.setattr(auto.POLICY, "second_search_step", begun[1])
    whole = infimum.minimize(waves, BOUNDS, workers=1, **TIGHT)
    assert stop
    stop.clear()
    early = infimum.minimize(waves, BOUNDS, workers=1, checkpoint=tmp_path / "run.inf", callback=lambda _: bool(stop), **TIGHT)
    again = infimum.resume(tmp_path / "run.inf", waves)
    assert early.verdict.name == "STOPPED" and (again.nfev, again.nit) == (whole.nfev, whole.nit)
    assert bits(again)[1] == bits(whole)[1]


class Returning:
    """A generator, of which the value that it returns is kept."""

    def __init__(self, steps):
        self.steps, self.value = steps, None

    def __iter__(self):
        self.value = yield from self.steps


def enclosed(result) -> int:
    """The boxes of the proof, without those of searches, as the message of a limit has them."""
    return int(result.message.split(" boxes were enclosed, the limit is ")[0].replace(",", ""))


@pytest.mark.parametrize("asked", [{}, {"constraints": [limits]}, {"engine": "newton"}])
def test_the_limit_on_boxes_holds_within_a_round(tmp_path, monkeypatch, asked):
    """Up to a step or so; and who goes on with more has the bits of one run."""
    rounds = []

    def merge(self, branch, dealt, _usual=StepRounds._merge):
        before = branch.boxes
        _usual(self, branch, dealt)
        rounds.append((before, branch.boxes))
    with monkeypatch.context() as patched:
        patched.setattr(StepRounds, "_merge", merge)
        whole = infimum.minimize(waves, BOUNDS, workers=1, **asked, **TIGHT)
    most = sum(max(rounds, key=lambda ends: ends[1] - ends[0])) // 2  # in the middle of the longest round
    early = infimum.minimize(waves, BOUNDS, workers=1, max_boxes=most, checkpoint=tmp_path / "run.inf", **asked, **TIGHT)
    assert early.verdict.name == "STOPPED"
    assert most <= enclosed(early) < most + 256 and early.lower <= whole.lower and whole.upper <= early.upper
    again = infimum.resume(tmp_path / "run.inf", waves, max_boxes=1 << 40, constraints=asked.get("constraints", ()))
    assert bits(again)[1] == bits(whole)[1] and (again.nfev, again.nit) == (whole.nfev, whole.nit)


@pytest.mark.parametrize(("engine", "most"), [("newton", 67_013), ("subdomain", 25_331)])
def test_the_limit_on_boxes_holds_where_a_step_takes_many(engine, most):
    """A step is some hundreds of boxes, and a round has 64 portions that each end with one."""
    def hilly(x):
        return np.sum(x**2) / 20 - np.prod(np.cos(2 * x)) + np.sum(np.sin(x[:-1] * x[1:])) + np.cos(np.sum(x))
    r = infimum.minimize(hilly, [(-5, 6)] * (6 if engine == "newton" else 5), engine=engine, batch=64, workers=1, max_boxes=most)
    assert r.rounds["rounds"] > 0 and most <= enclosed(r) < most + 1024


def test_a_round_in_which_there_is_nothing_to_do_does_not_come_again(tmp_path):
    """Solutions that are too wide for a narrower goal are known to whoever deals, and to no portion."""
    known = infimum.problems.get("camel_six_hump")
    path = tmp_path / "run.inf"
    infimum.minimize(known.fun, known.bounds, engine="newton", atol=10, rtol=0, batch=16, workers=1, portions=1, checkpoint=path)
    r = infimum.resume(path, known.fun, atol=1, workers=1, time_limit=20)
    assert r.verdict.name == "PROVED" and r.upper - r.lower <= 1 and r.rounds["rounds"] < 100


def test_a_proof_begun_alone_goes_on_with_workers(tmp_path):
    path = tmp_path / "alone.inf"
    early = infimum.minimize(waves, BOUNDS, batch=32, atol=1e-10, rtol=0.0, max_boxes=500, checkpoint=path)
    assert early.rounds is None and early.verdict.name == "STOPPED"
    with pytest.raises(OptionError, match="portions must be a whole number from 1"):
        infimum.resume(path, waves, portions=0)
    done = infimum.resume(path, waves, workers=1, portions=4)
    with pytest.raises(OptionError, match="in 4 portions, which it keeps"):
        infimum.resume(path, waves, portions=8)
    assert done.verdict.name == "PROVED" and done.rounds["rounds"] > 0 and done.rounds["portions"] == 4


def test_the_time_limit_is_heard_within_a_portion(monkeypatch):
    """In this process, whose clock looks into it: the step is as if it had not been."""
    begun = []

    def over(self):
        if self.last is not None and begun:
            from infimum.support.clock import RunTimeOver
            raise RunTimeOver
    usual = WorkerPortionRunner.run_portions

    def deal(self, count, portion):
        begun.append(count)
        yield from usual(self, count, portion)
    monkeypatch.setattr(WorkerPortionRunner, "run_portions", deal)
    monkeypatch.setattr(Watch, "stop_if_over", over)
    result = infimum.minimize(waves, BOUNDS, workers=1, time_limit=1000, **TIGHT)
    assert result.verdict.name == "STOPPED" and "time limit" in result.message and result.rounds["rounds"] == 0
    assert result.lower <= -2.27785 <= result.upper + 1e-5


@pytest.mark.parametrize(("asked", "said"), [
    ({"workers": 0}, "workers must be a positive whole number"),
    ({"workers": "many"}, "workers must be a number, \"ray\", or the address"),
    ({"workers": 2, "portions": 0}, "portions must be a whole number from 1 to"),
    ({"portions": 8}, r"portions= is for proofs with workers="),
    ({"workers": 2, "engine": "swarm"}, "engine 'swarm' uses threads="),
    ({"workers": 2, "options": {"lp": True}}, "option 'lp' solves linear programs one after the other"),
])
def test_what_cannot_be_is_said(asked, said):
    with pytest.raises(OptionError, match=said):
        infimum.minimize(waves, BOUNDS, **asked)


def test_within_a_daemon_no_workers_can_be_started(monkeypatch):
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    with pytest.raises(TrialError, match=r"of a multiprocessing.Pool or another daemon.*Leave out workers="):
        infimum.minimize(waves, BOUNDS, workers=2, **SETTINGS)


def test_other_engines_deal_their_regions_too():
    for engine in ("newton", "subdomain"):
        asked = {"constraints": [limits], "engine": engine, "workers": 1, **SETTINGS, "atol": 1e-3}
        found = infimum.minimize(waves, BOUNDS, **asked)
        assert found.verdict.name == "PROVED" and found.rounds["rounds"] > 0 and found.lower <= -1.64022561 <= found.upper + 1e-7


@posix
def test_the_newton_loop_with_workers_of_which_one_is_killed(monkeypatch):
    one = infimum.minimize(waves, BOUNDS, engine="newton", workers=1, **SETTINGS)
    killed = killing_one(monkeypatch)
    two = infimum.minimize(waves, BOUNDS, engine="newton", workers=2, **SETTINGS)
    assert bits(one) == bits(two) and two.rounds["rounds"] > 1 and len(killed) == 1 and two.rounds["redone"] <= 1


@pytest.mark.parametrize(("fun", "bounds", "asked"), [
    (waves, BOUNDS, {"start_boxes": [[(-5, 0)] * 3, [(1, 6), (0, 6), (-5, 1)]]}),
    (lambda x: waves(x[:3]) + x[3], [*BOUNDS, (2, 2)], {}),
    (lambda x: np.sum(x**2) / 20 - np.cos(2 * x[0]) + np.sin(x[1] * x[2]) * np.cos(x[0]), [(-np.inf, np.inf), *BOUNDS[1:]], {}),
    (lambda x: x[3], [*BOUNDS, (-50, 50)], {"constraints": [lambda x: x[3] >= waves(x[:3]), lambda x: limits(x[:3])]}),
], ids=["start boxes", "a fixed variable", "without a bound", "a variable that is defined"])
def test_problems_of_all_kinds(fun, bounds, asked):
    """What an engine makes of the problem before it branches, workers make of it too."""
    alone = infimum.minimize(fun, bounds, batch=32, **asked)
    found = infimum.minimize(fun, bounds, batch=32, workers=1, portions=2, **asked)
    assert found.verdict.name == alone.verdict.name == "PROVED" and found.rounds["rounds"] > 0
    assert found.lower <= alone.upper and alone.lower <= found.upper and found.x.shape == (len(bounds),)


@pytest.mark.parametrize("address", ["ray://head:10001", "head:6379", "10.0.0.1:6379", "auto", "ray"])
def test_a_cluster_is_joined_by_any_of_its_names(monkeypatch, address):
    """Once: a connection says of itself neither through what address it was made, nor what else its head is called."""
    asked = []
    ray = SimpleNamespace(is_initialized=lambda: bool(asked), init=lambda address, **_: asked.append(address),
                          shutdown=asked.clear, cluster_resources=lambda: {"CPU": 2.0},
                          get_runtime_context=lambda: SimpleNamespace(gcs_address="10.0.0.1:6379"))

    class Joined(LocalWorkers):
        def __init__(self, box, address, **settings):
            super().__init__(box)
            self.joined = ray_cluster.join(address)

        def _end(self):
            ray_cluster.leave()
    monkeypatch.setattr(ray_cluster, "ray_module", lambda: ray)
    monkeypatch.setattr("infimum.parallel.ray_workers.RayWorkers", Joined)
    assert infimum.minimize(waves, BOUNDS, workers=address, **SETTINGS).verdict.name == "PROVED" and not ray.is_initialized()


def test_progress_and_results_tell_of_rounds():
    seen = []
    result = infimum.minimize(waves, BOUNDS, workers=1, callback=lambda snapshot: seen.append(snapshot.lower) and None, **TIGHT)
    assert len(seen) > result.rounds["rounds"] * result.rounds["portions"] and np.isfinite(seen[-1])
    assert f"1, {result.rounds['rounds']} rounds of 4 portions" in str(result)
    assert result.to_dict()["rounds"] == {"workers": 1, "portions": 4, "rounds": result.rounds["rounds"], "redone": 0}
