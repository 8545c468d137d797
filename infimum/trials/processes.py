"""Trials of a Python function in other processes, which live on from trial to trial and are replaced when they die.

A worker that dies, whatever killed it, costs its own trial, whose outcome is a crash; one that takes longer than the timeout is
killed together with all that it has started.
"""

import atexit
import multiprocessing
import pickle
import sys
from multiprocessing.connection import Connection, wait
from time import monotonic
from typing import Any

from infimum.errors import TrialError
from infimum.trials import worker
from infimum.trials.interrupts import interrupts_held_back
from infimum.trials.killing import ended, kill_group, status_text
from infimum.trials.outcome import Kind, Outcome
from infimum.trials.workers import BlackBox, Finished, Workers

_UNGUARDED = 77      # exit status of a worker that was about to start workers while it was starting itself
_STARTS = 3          # how often in a row workers may die while they start
_PATIENCE = 1.0      # seconds for a worker to end by itself
_LIFE_SIGNS = 0.5    # seconds between two looks at whether workers live: their children may hold a pipe open
_GUARD = "a worker imports the script that started it, and this script starts workers again while it is imported. Put what is " \
         "to run once under `if __name__ == \"__main__\":`, and leave the functions outside"


class _Worker:
    """A process, the pipe to it, and what it is doing."""

    __slots__ = ("process", "connection", "ready", "gone", "ticket", "values", "started", "deadline")

    def __init__(self, process: Any, connection: Connection):
        self.process, self.connection, self.ready, self.gone = process, connection, False, False
        self.ticket: int | None = None
        self.values: list[float] = []
        self.started = self.deadline = 0.0


class Processes(Workers):
    """`count` spawned processes. With a timeout, each trial may take so many seconds. A black box may be pickled already."""

    where = "in a worker process"
    cure = "Define it at the top of a module, a .py file, and import it from there: what was typed into a notebook or a " \
           "console cannot be imported. Or give a command"

    def __init__(self, box: BlackBox | bytes, count: int, timeout: float | None = None):
        super().__init__(count)
        self._pickled, self._timeout = box if isinstance(box, bytes) else _pickled(box), timeout
        self._failed_starts, self._looked, self._any_ready = 0, monotonic(), False
        self._workers: list[_Worker] = []
        atexit.register(self.close)  # before multiprocessing waits for workers that nobody has told to end
        try:
            for _ in range(count):
                self._workers.append(self._start())
        except BaseException:
            self.close()
            raise

    def _start(self) -> _Worker:
        if multiprocessing.current_process().daemon:
            raise TrialError("a worker process cannot be started: this process is itself a worker, of a multiprocessing.Pool or "
                             "another daemon, which Python lets start no others. Leave out workers= and timeout=, or use "
                             "concurrent.futures.ProcessPoolExecutor, whose processes may")
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=worker.main, args=(theirs, self._pickled), name="infimum trials")
        try:
            with interrupts_held_back():
                process.start()
        except RuntimeError:
            if not _importing_the_script():
                raise
            raise SystemExit(_UNGUARDED) from None  # quietly: the process that started this one explains it
        except OSError as error:
            ours.close()
            raise TrialError(f"a worker process cannot be started: {error.strerror or error}") from error
        finally:
            theirs.close()
        return _Worker(process, ours)

    def prepare(self, seconds: float) -> bool:
        if not all(one.ready for one in self._workers):
            self._await(seconds)
        return all(one.ready for one in self._workers)

    def _deal(self) -> None:
        for one in self._workers:
            if not self._waiting:
                return
            if one.ready and one.ticket is None:
                ticket, x = self._waiting.popleft()
                one.ticket, one.values, one.started = ticket, [], monotonic()
                one.deadline = float("inf") if self._timeout is None else one.started + self._timeout
                try:
                    one.connection.send(x)
                except OSError:  # it died without a trial, which another gets
                    one.ticket = None
                    self._waiting.appendleft((ticket, x))
                    self._replace(one)

    def _await(self, seconds: float) -> None:
        now = monotonic()
        first = min((one.deadline for one in self._workers if one.ticket is not None), default=float("inf"))
        for connection in wait([one.connection for one in self._workers], max(0.0, min(seconds, first - now))):
            self._hear(next(one for one in self._workers if one.connection is connection))
        now = monotonic()
        for one in list(self._workers):
            if one.ticket is not None and now >= one.deadline and not one.connection.poll():
                said = f"killed after {self._timeout:g} s"
                self._finish(one, Outcome.failed(Kind.TIMEOUT, said, one.values, now - one.started))
                self._replace(one)
        if now - self._looked >= _LIFE_SIGNS:
            self._looked = now
            for one in list(self._workers):
                if ended(one.process) and not one.connection.poll():
                    self._bury(one)
        self._deal()

    def _hear(self, one: _Worker) -> None:
        """Takes a message of a worker, or its end."""
        try:
            what, content = one.connection.recv()
        except Exception:  # the pipe is closed, or what is in it is no message: it died while it wrote
            what = None
        if what is None:
            self._bury(one)
        elif what == worker.READY:
            one.ready, self._failed_starts, self._any_ready = True, 0, True
        elif what == worker.UNUSABLE:
            raise TrialError(f"the function cannot be used {self.where}: {content}. {self.cure}")
        elif what == worker.PART:
            one.values.append(content)
        else:
            self._finish(one, content)

    def _finish(self, one: _Worker, outcome: Outcome) -> None:
        self._done.append(Finished(one.ticket, outcome))
        one.ticket = None

    def _bury(self, one: _Worker) -> None:
        """What a worker that has died was doing is a crash; another takes its place."""
        seen = ended(one.process, _PATIENCE)
        said = status_text(self._kill(one)) if seen else "the worker closed its pipe"
        if not one.ready:
            self._no_start(one, said)
        if one.ticket is not None:
            self._finish(one, Outcome.failed(Kind.CRASH, f"the worker process ended: {said}", one.values,
                                             monotonic() - one.started))
        self._replace(one)

    def _no_start(self, one: _Worker, said: str) -> None:
        self._failed_starts += 1
        if one.process.exitcode == _UNGUARDED:
            raise TrialError(_GUARD)
        if not self._any_ready or self._failed_starts >= _STARTS:
            raise TrialError(f"worker processes end before they are ready ({said}). A worker imports the script that started it, "
                             "and what it printed to the standard error says where it failed")

    def _replace(self, one: _Worker) -> None:
        self._kill(one)
        self._workers[self._workers.index(one)] = self._start()

    def _kill(self, one: _Worker) -> int:
        """Ends a worker and all that it has started; returns its exit status."""
        one.connection.close()
        if not one.gone:
            one.gone = True
            kill_group(one.process.pid)
            one.process.kill()  # it may not lead its group yet
            one.process.join()
        return one.process.exitcode

    def _end(self) -> None:
        """Idle workers end by themselves, with all that they do at their end; busy ones are killed. A second Ctrl-C waits: it
        would leave workers behind."""
        with interrupts_held_back():
            self._end_all()
        atexit.unregister(self.close)

    def _end_all(self) -> None:
        workers, self._workers = self._workers, []
        idle = [one for one in workers if one.ready and one.ticket is None]
        for one in idle:
            one.connection.close()
        for one in workers:
            if one not in idle:
                self._kill(one)
        end = monotonic() + _PATIENCE
        for one in idle:
            ended(one.process, max(0.0, end - monotonic()))
            self._kill(one)


def _importing_the_script() -> bool:
    """Is this a worker that is starting, and runs the script of its user under another name? multiprocessing refuses to start
    processes then."""
    return sys.modules.get("__mp_main__") is not sys.modules.get("__main__")


def _pickled(box: Any) -> bytes:
    try:
        return pickle.dumps(box)
    except Exception as error:
        for part in box.parts:
            try:
                pickle.dumps((part.fun, part.args))
            except Exception as own:
                raise TrialError(f"{part.title} cannot be sent to worker processes: {own}. Define it at the top of a module with "
                                 "`def`, not as a lambda or within a function, and pass what it needs as args; or give a "
                                 "command; or leave out workers and timeout") from None
        raise TrialError(f"the function cannot be sent to worker processes: {error}") from None
