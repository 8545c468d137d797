"""Threads that wait for commands: each program is a process of its own already."""

import atexit
import queue
import threading

from infimum.blackbox.command import Command, Programs
from infimum.blackbox.trial_workers import FinishedTrial, Workers

_KILL_SECONDS = 5.0  # seconds for a killed program to be gone


class CommandThreads(Workers):
    """Runs a command for each trial, `count` at once. They are in sessions of their own, so that Ctrl-C in a terminal reaches
    only this process, which kills them when it closes."""

    def __init__(self, command: Command, count: int, timeout: float | None = None):
        super().__init__(count)
        self._command, self._timeout, self._idle = command, timeout, count
        self._programs = Programs()
        self._jobs: queue.SimpleQueue = queue.SimpleQueue()
        self._ended: queue.SimpleQueue = queue.SimpleQueue()
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(count)]
        for thread in self._threads:
            thread.start()
        atexit.register(self.close)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            ticket, x = job
            try:
                self._ended.put(FinishedTrial(ticket, self._command.evaluate(x, self._timeout, self._programs)))
            except BaseException as error:  # of ours, to be raised where somebody hears it
                self._ended.put(error)

    def _deal(self) -> None:
        while self._waiting and self._idle:
            self._idle -= 1
            self._jobs.put(self._waiting.popleft())

    def _await(self, seconds: float) -> None:
        try:
            ended = self._ended.get(timeout=seconds)
        except queue.Empty:
            return
        if isinstance(ended, BaseException):
            raise ended
        self._done.append(ended)
        self._idle += 1
        self._deal()

    def _end(self) -> None:
        self._programs.stop()
        for _ in self._threads:
            self._jobs.put(None)
        for thread in self._threads:
            thread.join(_KILL_SECONDS)
        atexit.unregister(self.close)
