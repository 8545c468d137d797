"""On a node of a Ray cluster: an actor that holds one worker and runs trials on it. Nothing here imports Ray.

The function does not run in the actor but in a process of its own, which the actor watches as `Processes` does. So a crash or a
timeout has the same outcome as without Ray, down to its text, and all that a trial has started is killed with it. What kills the
actor is not the trial, as a rule: a node that is lost, or Ray, where a node is short of memory.
"""

import os
import pickle
import sys
import threading
from collections.abc import Sequence

import infimum
from infimum.blackbox.outcome import Outcome
from infimum.blackbox.trial_workers import CLOCK_PERIOD, Workers
from infimum.parallel.command_threads import CommandThreads
from infimum.parallel.process_workers import Processes


class Host:
    """Holds a worker for the pickled black box. Modules are also looked for on the `path` of the process that runs the search,
    which helps where nodes see the same files. `silence`: see `Processes`. Its methods run in threads, four at once: `try_at`,
    `lives`, `answers` and `stop`."""

    THREADS = 4

    def __init__(self, pickled: bytes, is_command: bool, timeout: float | None, silence: float | None, path: list[str]):
        sys.path.extend(folder for folder in path if folder not in sys.path and os.path.exists(folder))
        self._stopped, self._lock = threading.Event(), threading.Lock()
        self._workers: Workers = CommandThreads(pickle.loads(pickled), 1, timeout) if is_command \
            else _NodeHost(pickled, 1, timeout, silence)

    def ready(self) -> str:
        """Returns when a trial could begin at once: the version of infimum on this node."""
        with self._lock:
            while not self._stopped.is_set() and not self._workers.prepare(CLOCK_PERIOD):
                pass
        return infimum.__version__

    def lives(self) -> None:
        """Returns when it is stopped. Who waits for that learns at once if the actor dies."""
        self._stopped.wait()

    def answers(self) -> None:
        """Returns at once. Who waits for that in vain knows that the actor is frozen."""

    def try_at(self, x: Sequence[float]) -> Outcome | None:
        """Runs a trial; None if it is stopped meanwhile."""
        with self._lock:
            if not self._stopped.is_set():
                self._workers.submit(x)
            while not self._stopped.is_set():
                finished = self._workers.next_finished(CLOCK_PERIOD)
                if finished is not None:
                    return finished.outcome
        return None

    def stop(self) -> None:
        """Ends the worker and what it is running."""
        self._stopped.set()
        with self._lock:
            self._workers.close()


class _NodeHost(Processes):
    where = "on a node of the cluster"
    cure = "What it imports must be installed on every node, or be sent along: call ray.init(address=..., " \
           "runtime_env={\"working_dir\": \".\"}) yourself, and give workers=\"ray\""
