"""Proofs whose workers are frozen by SIGSTOP: the bits of one process, and limits that hold."""

import os
import signal
import time

import infimum
from infimum.parallel.proofs.portion_runner import WorkerPortionRunner
from tests.portions.proofs import BOUNDS, SETTINGS, bits, waves
from tests.trials.test_workers import gone, posix

pytestmark = posix
QUICK = SETTINGS | {"engine": "newton"}  # whose kernels are soon compiled


def freezing(monkeypatch, everyone: bool) -> list[int]:
    """When portions of the first round are being worked on, one worker that has one is frozen, or everyone."""
    usual, frozen = WorkerPortionRunner.run_portions, []

    def deal(self, count, portion):
        def and_freeze(number):
            if number == 2 and not frozen:
                while all(one.ticket is None for one in self.workers._workers):
                    self.workers._await(0.1)
                some = [one.process.pid for one in self.workers._workers if everyone or one.ticket is not None]
                frozen.extend(some if everyone else some[:1])
                for pid in frozen:
                    os.kill(pid, signal.SIGSTOP)
            return portion(number)
        return usual(self, count, and_freeze)
    monkeypatch.setattr(WorkerPortionRunner, "run_portions", deal)
    return frozen


def test_the_portion_of_a_frozen_worker_goes_to_another(monkeypatch):
    one = infimum.minimize(waves, BOUNDS, workers=1, **QUICK)
    monkeypatch.setattr("infimum.parallel.proofs.portion_runner._SILENCE_SECONDS", 1.0)
    frozen = freezing(monkeypatch, everyone=False)
    two = infimum.minimize(waves, BOUNDS, workers=2, **QUICK)
    assert bits(one) == bits(two) and len(frozen) == two.rounds["redone"] == 1 and gone(frozen)


def test_limits_hold_while_all_workers_are_frozen(monkeypatch):
    """Long before their silence is noticed."""
    frozen, begun = freezing(monkeypatch, everyone=True), []

    def stop(snapshot):
        begun.extend([time.monotonic()] if frozen and not begun else [])
        return bool(begun) and time.monotonic() - begun[0] >= 1.0
    result = infimum.minimize(waves, BOUNDS, workers=2, callback=stop, **QUICK)
    assert time.monotonic() - begun[0] < 20 and len(frozen) == 2 and gone(frozen)
    assert result.verdict.name == "STOPPED" and result.rounds["redone"] == 0
    assert result.lower <= -2.27785 <= result.upper + 1e-5
