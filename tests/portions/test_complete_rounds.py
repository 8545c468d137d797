"""The complete search by workers: iterations are dealt, with the bits of one process, whatever happens to the others."""

import numpy as np
import pytest

import infimum
from infimum.engines.complete_options import CompleteOptions
from infimum.engines.complete_run import CompleteRun
from infimum.engines.complete_search import CompleteSearch
from infimum.engines.iteration_rounds import IterationRounds
from infimum.engines.region_list import RegionList
from infimum.errors import InternalError
from infimum.parallel.proofs.portion_runner import WorkerPortionRunner
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal, Method
from infimum.search.incumbent import Incumbent
from infimum.search.rounds import process_portion
from tests.portions.proofs import BOUNDS, bits, killing_one, limits, waves
from tests.trials.test_workers import posix

PIECES = 4**3
SETTINGS = {"engine": "complete", "portions": 6, "atol": 1e-2, "rtol": 0.0, "options": {"partition": (3, 4)}}
ASKED = [{}, {"constraints": [limits], "atol": 0.2, "integrality": [0, 0, 1]}, {"xtol": 0.1},
         {"start_boxes": [[(-5, 1)] * 3, [(1, 6)] * 3]}]


def minimum(asked, **settings):
    return infimum.minimize(waves, BOUNDS, **SETTINGS | asked, **settings)


@posix
def test_two_workers_of_which_one_is_killed_give_the_bits_of_one(monkeypatch):
    one, killed = minimum({}, workers=1), killing_one(monkeypatch)
    two = minimum({}, workers=2)
    assert bits(one) == bits(two) and one.rounds["rounds"] > 3 and two.rounds["workers"] == 2 and len(killed) == 1


@pytest.mark.parametrize("asked", ASKED, ids=["plain", "constraints", "widths", "start boxes"])
def test_proofs_of_all_kinds_stopped_and_resumed(tmp_path, monkeypatch, asked):
    """In the midst of a round: what came back by then counts, and the checkpoint holds the state before the round."""
    alone, whole = infimum.minimize(waves, BOUNDS, **{k: v for k, v in (SETTINGS | asked).items() if k != "portions"}), \
        minimum(asked, workers=1)
    assert alone.verdict.name == whole.verdict.name == "PROVED" and whole.rounds["rounds"] > 1
    assert whole.lower <= alone.upper and alone.lower <= whole.upper
    stop = []

    def deal(self, count, portion, _usual=WorkerPortionRunner.run_portions):
        for number, answer in enumerate(_usual(self, count, portion)):
            stop.extend([True] if number == 1 and self.answered > 7 else [])
            yield answer
    with monkeypatch.context() as patched:
        patched.setattr(WorkerPortionRunner, "run_portions", deal)
        early = minimum(asked, workers=1, callback=lambda _: bool(stop), checkpoint=tmp_path / "run.inf")
    assert early.verdict.name == "STOPPED" and early.lower <= whole.upper and early.nfev < whole.nfev
    again = infimum.resume(tmp_path / "run.inf", waves, constraints=asked.get("constraints", ()))
    assert bits(again)[1] == bits(whole)[1] and (again.nfev, again.nit) == (whole.nfev, whole.nit)


@pytest.mark.parametrize("limit", ["boxes", "iterations"])
def test_limits_hold_within_a_round(tmp_path, limit):
    """To the iteration; and who goes on with more has the bits of one run."""
    whole = minimum({}, workers=1)
    most, boxes = whole.nit - 8, 10 * PIECES + 1
    asked = {"max_boxes": boxes} if limit == "boxes" else {"options": SETTINGS["options"] | {"iterations": most}}
    early = minimum(asked, workers=1, checkpoint=tmp_path / "run")
    assert early.verdict.name == "STOPPED" and early.nit == (11 if limit == "boxes" else most)
    assert early.lower <= whole.lower and whole.upper <= early.upper
    if limit == "boxes":
        again = infimum.resume(tmp_path / "run", waves, max_boxes=1 << 40)
        assert bits(again)[1] == bits(whole)[1] and (again.nfev, again.nit) == (whole.nfev, whole.nit)


class Here:
    """Works portions off here, in any order; it may forget some."""

    count, redone = 1, 0

    def __init__(self, order=range(6)):
        self.order, self.run = order, made()

    def run_portions(self, count, portion):
        for k in (k for k in self.order if k < count):
            state, budget = portion(k)
            yield k, process_portion(self.run.branch_of(state), budget)


def made():
    lo, hi = (np.array([float(side[k]) for side in BOUNDS]) for k in (0, 1))
    method = Method("complete", CompleteOptions((3, 4)), Goal(1e-2, 0.0))
    return CompleteRun(Problem(waves, lo, hi), infimum.compile(waves, 3), method)


def begun():
    search = made().search
    for _ in range(3):
        search.step()
    return search


def everything(search):
    regions = search.regions()
    return {column.tobytes() for column in np.concatenate([regions.lo, regions.hi], axis=0).T}


@pytest.mark.parametrize(("owner", "name"), [(Incumbent, "restore"), (RegionList, "add"), (CompleteSearch, "keep"),
                                             (RegionList, "remove"), (CompleteSearch, "prune")])
def test_wherever_it_fails_nothing_is_lost(monkeypatch, owner, name):
    search = begun()
    before, steps = everything(search), IterationRounds(Here((5, 2, 0, 1, 4, 3)), 6).round(search, None)
    for _ in range(6):
        next(steps)  # all answers are there, and nothing is done with them yet
    assert everything(search) == before

    def failing(*_):
        raise MemoryError
    with monkeypatch.context() as broken, pytest.raises(MemoryError):
        broken.setattr(owner, name, failing)
        next(steps)
    assert name in ("prune", "restore") or before <= everything(search)
    for _ in search.run():
        pass
    assert search.lower() <= -2.277849 <= search.incumbent.upper <= search.lower() + 1e-2


def test_a_dealer_that_forgets_a_portion_is_an_error():
    search = begun()
    before = everything(search)
    with pytest.raises(InternalError, match="of 6 portions 5 came back"):
        for _ in IterationRounds(Here((0, 1, 3, 4, 5)), 6).round(search, None):
            pass
    assert everything(search) == before
