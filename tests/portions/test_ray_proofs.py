"""Proofs on a Ray cluster: the bits of one process, also where workers and nodes are lost. Skipped without Ray."""

import os
import signal
import warnings
from pathlib import Path

import pytest

import infimum
from infimum.errors import OptionError, TrialError
from infimum.parallel.proofs.portion_runner import WorkerPortionRunner
from tests.portions.proofs import BOUNDS, SETTINGS, bits, limits, waves
from tests.trials.test_workers import descendants, gone, posix

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    ray = pytest.importorskip("ray")
pytestmark = [posix, pytest.mark.filterwarnings("ignore::ResourceWarning"),  # of Ray's own pipes
              pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")]
TIGHT = SETTINGS | {"atol": 1e-10, "portions": 6, "batch": 16}


@pytest.fixture(scope="module")
def nodes():
    """A cluster of two nodes with a processor each, to which this process is connected."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from ray.cluster_utils import Cluster
        made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1, "include_dashboard": False})
        made.second = made.add_node(num_cpus=1)
        ray.init(address=made.address, log_to_driver=False, logging_level="error")
        yield made
        ray.shutdown()
        made.shutdown()


def losing(monkeypatch, lose):
    """Calls `lose(workers)` once, in the second round, when portions of it are being worked on."""
    usual, rounds, lost = WorkerPortionRunner.run_portions, [], []

    def deal(self, count, portion):
        rounds.append(count)

        def and_lose(number):
            if len(rounds) == 2 and number == 3 and not lost:
                lost.append(lose(self.workers))
            return portion(number)
        return usual(self, count, and_lose)
    monkeypatch.setattr(WorkerPortionRunner, "run_portions", deal)
    return lost


def test_a_cluster_gives_the_bits_of_one_process(nodes):
    asked = {"constraints": [lambda x: limits(x)], **SETTINGS, "portions": 2, "batch": 16}
    one, two = (infimum.minimize(lambda x: waves(x), BOUNDS, workers=workers, **asked) for workers in (1, "ray"))
    assert bits(one) == bits(two) and two.rounds["workers"] == 2 and two.rounds["rounds"] > 0 and ray.is_initialized()


def test_actors_that_are_killed(nodes, monkeypatch):
    """Every one that has a portion, with its process."""
    one = infimum.minimize(waves, BOUNDS, workers=1, **TIGHT)

    def lose(workers):
        busy = [worker.actor for worker in workers._workers if worker.ticket is not None]
        for actor in busy:
            ray.kill(actor)
        return len(busy)
    lost = losing(monkeypatch, lose)
    two = infimum.minimize(waves, BOUNDS, workers="ray", **TIGHT)
    assert bits(one) == bits(two) and lost[0] >= 1 and two.rounds["redone"] >= lost[0]


def test_a_node_that_is_lost_costs_its_portions(nodes, monkeypatch):
    one = infimum.minimize(waves, BOUNDS, workers=1, **TIGHT)
    lost = losing(monkeypatch, lambda workers: nodes.remove_node(nodes.second, allow_graceful=False))
    two = infimum.minimize(waves, BOUNDS, workers="ray", **TIGHT)
    nodes.second = nodes.add_node(num_cpus=1)
    assert bits(one) == bits(two) and len(lost) == 1


def test_a_process_that_is_frozen_on_its_node(nodes, monkeypatch):
    """By SIGSTOP, while its actor lives, which notices."""
    one = infimum.minimize(waves, BOUNDS, workers=1, **TIGHT)
    monkeypatch.setattr("infimum.parallel.proofs.portion_runner._SILENCE_SECONDS", 2.0)

    def freeze(workers):
        pids = [pid for pid in descendants(os.getpid()) if b"multiprocessing.spawn" in Path(f"/proc/{pid}/cmdline").read_bytes()]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        return pids
    frozen = losing(monkeypatch, freeze)
    two = infimum.minimize(waves, BOUNDS, workers="ray", **TIGHT)
    assert bits(one) == bits(two) and len(frozen[0]) == 2 and two.rounds["redone"] >= 1 and gone(frozen[0])


def test_what_a_cluster_lacks_is_said(nodes):
    with pytest.raises(OptionError, match="connected to a Ray cluster already"):
        infimum.minimize(waves, BOUNDS, workers="127.0.0.1:1", **SETTINGS)
    with pytest.raises((OptionError, infimum.DeviceError), match="GPU"):
        infimum.minimize(waves, BOUNDS, workers="ray", device="cuda", **SETTINGS)


def test_a_cluster_that_is_not_there(monkeypatch):
    def fails(address, **_):
        raise ConnectionError("nobody answers")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    monkeypatch.setattr(ray, "init", fails)
    with pytest.raises(TrialError, match="the Ray cluster at '10.0.0.9:6379' cannot be reached.*ray start --head"):
        infimum.minimize(waves, BOUNDS, workers="10.0.0.9:6379", **SETTINGS)
