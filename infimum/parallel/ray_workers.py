"""Trials on the nodes of a Ray cluster: an actor for each processor, replaced when it is lost.

What a trial does to its own process is dealt with on its node (`ray_host`). Here it is known whether actors live: a trial whose
actor is lost, with its node or without, is a crash; so is one whose actor is frozen and does not answer. What comes from the
cluster arrives in a queue, so that a trial costs the same however many workers there are.
"""

import atexit
import os
import queue
import sys
from collections import deque
from time import monotonic
from typing import Any

import infimum
from infimum.blackbox.command import Command
from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.trial_workers import BlackBox, FinishedTrial, Workers
from infimum.errors import TrialError
from infimum.parallel import ray_cluster
from infimum.parallel.ray_host import Host

_MOST_FAILED_STARTS = 3  # how often in a row actors may be lost while they start
_END_SECONDS = 2.0  # seconds for a node to end a trial
_NO_ANSWER = 60.0  # seconds beyond the timeout of a trial after which its node is given up
_START_SECONDS = 300.0  # seconds in which no worker is ready, after which the run is given up
_CHECK_SECONDS = 1.0  # seconds between two looks at who has not answered
_ASKED, _SILENT = 10.0, 40.0  # seconds of a trial after which its actor is asked whether it lives; after which it is given up
_READY, _END, _OUTCOME, _ALIVE = range(4)  # what a message is about


class _Worker:
    """An actor, and what it is doing."""

    __slots__ = ("actor", "ready", "gone", "ticket", "started", "deadline", "silent", "asked")

    def __init__(self, actor: Any):
        self.actor, self.ready, self.gone = actor, False, False
        self.ticket: int | None = None
        self.started = self.deadline = self.silent = 0.0
        self.asked = False  # whether it lives


class RayWorkers(Workers):
    """A worker for each processor of the cluster at `address`, or for each of its `gpus`; "ray": see `cluster.join`. With a
    timeout, each trial may take that number of seconds; `silence`: see `Processes`."""

    has_processes = True

    def __init__(self, box: BlackBox, address: str, timeout: float | None = None, gpus: int = 0, silence: float | None = None):
        self._ray = ray_cluster.ray_module()
        pickled = _pickled(self._ray, box)
        self._joined = ray_cluster.join(address)
        self._workers: list[_Worker] = []
        self._idle: deque[_Worker] = deque()
        self._messages: queue.SimpleQueue = queue.SimpleQueue()  # what has come from the cluster: (worker, about, future)
        self._timeout, self._silence, self._failed_starts, self._looked = timeout, silence, 0, monotonic()
        self._last_ready = self._looked
        try:
            super().__init__(gpus or ray_cluster.processors())
            atexit.register(self.close)
            self._box, self._is_command = self._ray.put(pickled), isinstance(box, Command)
            self._hosts = self._ray.remote(num_cpus=1, num_gpus=1 if gpus else 0, max_restarts=0, max_task_retries=0,
                                           max_concurrency=Host.THREADS)(Host)
            for _ in range(self.count):
                self._workers.append(self._start())
        except BaseException:
            self.closed = True
            self._end()
            raise

    def _start(self) -> _Worker:
        path = [os.path.abspath(folder) for folder in sys.path]
        one = _Worker(self._hosts.remote(self._box, self._is_command, self._timeout, self._silence, path))
        self._expect(one, _READY, one.actor.ready.remote())
        self._expect(one, _END, one.actor.lives.remote())
        return one

    def _expect(self, one: _Worker, about: int, promised: Any) -> None:
        """What is promised will be a message."""
        promised.future().add_done_callback(lambda future: self._messages.put((one, about, future)))

    def _deal(self) -> None:
        if self._waiting and self._idle and not self._messages.empty():
            self._hear_all()  # of workers that were lost while nobody asked for anything
        while self._waiting and self._idle:
            one = self._idle.popleft()
            if not one.gone:
                one.ticket, x = self._waiting.popleft()
                one.started, one.silent = monotonic(), 0.0
                one.deadline = float("inf") if self._timeout is None else one.started + self._timeout + _NO_ANSWER
                self._expect(one, _OUTCOME, one.actor.try_at.remote(x))

    def _await(self, seconds: float) -> None:
        try:
            self._hear(*self._messages.get(timeout=seconds))
        except queue.Empty:
            self._look()
        else:
            self._hear_all()
            if monotonic() - self._looked >= _CHECK_SECONDS:
                self._look()
        self._deal()

    def _hear_all(self) -> None:
        while not self._messages.empty():
            self._hear(*self._messages.get())

    def _look(self) -> None:
        """Gives up what has not answered for too long. While nobody looked, nobody was silent."""
        now = monotonic()
        passed, self._looked = min(now - self._looked, 2 * _CHECK_SECONDS), now
        for one in [one for one in self._workers if one.ticket is not None]:
            one.silent += passed
            if now >= one.deadline:
                said = f"killed after {self._timeout:g} s; its node does not answer"
                self._finish(one, Outcome.failed(OutcomeKind.TIMEOUT, said, (), now - one.started))
                self._replace(one)
            elif one.silent >= _SILENT:
                self._finish(one, Outcome.failed(OutcomeKind.CRASH, "the worker was lost: its node does not answer", (),
                                                 now - one.started))
                self._replace(one)
            elif one.silent >= _ASKED and not one.asked:
                one.asked = True
                self._expect(one, _ALIVE, one.actor.answers.remote())
        if any(one.ready for one in self._workers):
            self._last_ready = now
        elif now - self._last_ready >= _START_SECONDS:
            raise TrialError(f"no worker was ready on the Ray cluster for {_START_SECONDS:g} s: its nodes are lost, or busy "
                             "with other work (`ray status` shows what is free and what waits)")

    def _hear(self, one: _Worker, about: int, future: Any) -> None:
        """Takes a message of a worker, or its end."""
        if one.gone:
            return
        error = future.exception()
        if error is not None:
            self._fail(one, error)
        elif about == _READY:
            self._check(future.result())
            one.ready, self._failed_starts = True, 0
            self._idle.append(one)
        elif about == _ALIVE:
            one.silent, one.asked = 0.0, False
        elif about == _OUTCOME:
            outcome = future.result()
            self._finish(one, outcome)
            if outcome.kind in (OutcomeKind.CRASH, OutcomeKind.TIMEOUT):  # its process is started anew, which is no trial's time
                self._expect(one, _READY, one.actor.ready.remote())
            else:
                self._idle.append(one)

    def _check(self, version: str) -> None:
        if version != infimum.__version__:
            raise TrialError(f"a node of the cluster has infimum {version}, and this process {infimum.__version__}: install the "
                             "same on all of them")

    def _fail(self, one: _Worker, error: BaseException) -> None:
        """An actor is lost, or has said that its black box cannot be used."""
        if isinstance(error, TrialError):
            raise TrialError(str(getattr(error, "cause", error))) from None
        if not one.ready:
            self._failed_starts += 1
            if self._failed_starts >= _MOST_FAILED_STARTS:
                raise TrialError(f"workers on the Ray cluster end before they are ready: {_shortened(error)}. "
                                 "Every node needs infimum, NumPy and llvmlite, in the versions that this process has") from error
        if one.ticket is not None:
            self._finish(one, Outcome.failed(OutcomeKind.CRASH, self._why_lost(error), (), monotonic() - one.started))
        self._replace(one)

    def _why_lost(self, error: BaseException) -> str:
        """Without what differs from run to run, such as the names of actors."""
        exceptions = self._ray.exceptions
        if isinstance(error, exceptions.OutOfMemoryError):
            return "the worker was killed by Ray: its node is short of memory"
        if isinstance(error, exceptions.RayActorError):
            return "the worker was lost, with its node or without it"
        return f"the worker was lost: {_shortened(error)}"

    def _finish(self, one: _Worker, outcome: Outcome) -> None:
        self._done.append(FinishedTrial(one.ticket, outcome))
        one.ticket = None

    def _replace(self, one: _Worker) -> None:
        one.gone = True
        self._ray.kill(one.actor)
        self._workers[self._workers.index(one)] = self._start()

    def _end(self) -> None:
        try:
            self._end_all()
        finally:
            if self._joined:
                self._joined = False
                ray_cluster.leave()
        atexit.unregister(self.close)

    def _end_all(self) -> None:
        stopping = [one.actor.stop.remote() for one in self._workers if one.ready and not one.gone]
        if stopping:
            self._ray.wait(stopping, num_returns=len(stopping), timeout=_END_SECONDS)
        for one in self._workers:
            one.gone = True
            self._ray.kill(one.actor)
        self._workers = []


def _shortened(error: BaseException) -> str:
    """The beginning of Ray's message, in one line."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' '.join(lines)[:300]}"


def _pickled(ray: Any, box: BlackBox) -> bytes:
    try:
        return ray.cloudpickle.dumps(box)
    except Exception as error:
        for part in getattr(box, "parts", ()):
            try:
                ray.cloudpickle.dumps((part.fun, part.args))
            except Exception as own:
                raise TrialError(f"{part.title} cannot be sent to other machines: {own}. It holds on to something of this "
                                 "process, such as an open file or a lock: make that within the function, or give a "
                                 "command") from None
        raise TrialError(f"the function cannot be sent to other machines: {error}") from None
