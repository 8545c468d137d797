"""Long-lived threads that run native code beside the calling thread, and how many of them a run uses."""

import os
import queue
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.errors import OptionError

_queue: "queue.SimpleQueue[_Job]" = queue.SimpleQueue()
_started = 0
_lock = threading.Lock()


class _Job:
    """A call that another thread makes, unless it is cancelled first. Waiting and cancelling may be repeated after a Ctrl-C."""

    def __init__(self, entry: Callable, arguments: tuple):
        self.entry, self.arguments = entry, arguments
        self.claimed, self.finished = threading.Lock(), threading.Event()

    def work(self) -> None:
        if self.claimed.acquire(blocking=False):
            try:
                self.entry(*self.arguments)
            finally:
                self.finished.set()

    def cancel(self) -> None:
        if self.claimed.acquire(blocking=False):
            self.finished.set()


def _serve(jobs: "queue.SimpleQueue[_Job]") -> None:
    while True:
        jobs.get().work()


def _ensure(count: int) -> None:
    global _started
    with _lock:
        while _started < count:
            threading.Thread(target=_serve, args=(_queue,), daemon=True, name=f"infimum-{_started}").start()
            _started += 1


def run(entry: Callable, jobs: list[tuple], shared: bool = False) -> float:
    """Calls entry(*job) for every job, each in a thread of its own, the first in this one; returns the seconds taken. Where jobs
    have `shared` what there is to do, one that no thread has begun when the first returns is not needed any more.

    The jobs hold addresses of the caller's arrays, so even an interrupt leaves only when no thread uses them any more.
    """
    start = time.perf_counter()
    if len(jobs) == 1:
        entry(*jobs[0])
        return time.perf_counter() - start
    _ensure(len(jobs) - 1)
    others = [_Job(entry, job) for job in jobs[1:]]
    interrupt: BaseException | None = None
    try:
        for job in others:
            _queue.put(job)
        entry(*jobs[0])
        for job in others if shared else ():
            job.cancel()
    except BaseException as caught:
        interrupt = caught
    while interrupt or not all(job.finished.is_set() for job in others):
        try:
            for job in others:
                if interrupt:
                    job.cancel()
                job.finished.wait()
            break
        except BaseException as caught:
            interrupt = caught
    if interrupt:
        raise interrupt
    return time.perf_counter() - start


def _after_fork() -> None:
    """Threads do not survive a fork: the child starts its own."""
    global _queue, _started, _lock
    _queue, _started, _lock = queue.SimpleQueue(), 0, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


VARIABLE = "INFIMUM_THREADS"
MOST_THREADS = 1024


def thread_count(threads: Any = None) -> int:
    """The number asked for; without one, that of the environment variable; without that, the cores this process may use."""
    if threads is not None:
        return _checked("threads", threads)
    asked = os.environ.get(VARIABLE, "").strip()
    if asked:
        return _checked(VARIABLE, int(asked) if asked.isascii() and asked.isdigit() else asked)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _checked(name: str, count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or not 1 <= count <= MOST_THREADS:
        raise OptionError(f"{name} must be a whole number from 1 to {MOST_THREADS}, not {count!r}")
    return int(count)
