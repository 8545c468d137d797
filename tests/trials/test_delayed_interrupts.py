"""Ctrl-C that comes while processes start or end is heard afterwards, whichever thread it reaches."""

import os
import signal
import threading
import time

import pytest

from infimum.blackbox.trial_workers import LocalWorkers
from infimum.errors import TrialError
from infimum.parallel.process_workers import Processes
from infimum.support.held_interrupts import interrupts_held_back
from tests.trials.test_frozen_workers import Answering


@pytest.mark.parametrize("starting", (True, False))
def test_it_waits_also_where_there_are_other_threads(starting, ctrl_c_heard):
    over, within = threading.Event(), False
    other = threading.Thread(target=over.wait)
    other.start()
    try:
        with pytest.raises(KeyboardInterrupt), interrupts_held_back(starting):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
            within = True
    finally:
        over.set()
        other.join()
    assert within and signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_workers_end_although_ctrl_c_comes_meanwhile(monkeypatch, ctrl_c_heard):
    workers = Processes(Answering(), 2)
    processes, usual = [one.process for one in workers._workers], Processes._end

    def end(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(0.05)
        usual(self)
    monkeypatch.setattr(Processes, "_end", end)
    with pytest.raises(KeyboardInterrupt):
        workers.close()
    assert all(process.exitcode is not None for process in processes)
    monkeypatch.undo()
    workers.close()  # once more is no fault


def test_closing_where_nothing_runs_starts_nothing(monkeypatch):
    from multiprocessing import resource_tracker

    monkeypatch.setattr(resource_tracker, "ensure_running", lambda: pytest.fail("a process was started"))
    LocalWorkers(Answering()).close()


def test_one_that_is_killed_while_it_starts_is_replaced():
    with Processes(Answering(), 2) as workers:
        workers._workers[0].process.kill()
        assert [outcome.values for outcome in workers.run([[0.0] * k for k in range(4)])] == [(0.0,), (1.0,), (2.0,), (3.0,)]


def test_workers_that_are_all_killed_while_they_start_are_given_up(monkeypatch):
    usual = Processes._start

    def started(self):
        one = usual(self)
        one.process.kill()
        return one
    monkeypatch.setattr(Processes, "_start", started)
    with Processes(Answering(), 2) as workers, pytest.raises(TrialError, match="end before they are ready"):
        workers.run([[1.0]])
