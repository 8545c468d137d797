"""Trials of a Python function in other processes, which live on from trial to trial and are replaced when they die.

A worker that dies, whatever killed it, costs its own trial, whose outcome is a crash; one that takes longer than the timeout is
killed together with all that it has started. One that is frozen, stopped or waiting for a disk that does not answer, neither
reads nor writes nor ends: nothing here ever waits for a worker, but for a moment after it was killed.
"""

import atexit
import multiprocessing
import pickle
import selectors
import sys
from time import monotonic
from typing import Any

from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.trial_workers import CLOCK_PERIOD, BlackBox, FinishedTrial, Workers
from infimum.errors import TrialError
from infimum.parallel import channel, worker_process
from infimum.support.held_interrupts import interrupts_held_back
from infimum.support.process_groups import ended, kill_group, status_text

_UNGUARDED = 77             # exit status of a worker that was about to start workers while it was starting itself
_MOST_FAILED_STARTS = 3     # how often in a row workers may die while they start
_START_SECONDS = 300.0      # seconds in which a worker must be ready
_END_SECONDS = 1.0          # seconds for a worker to end by itself, or by a kill
_LIFE_SIGNS = 0.5           # seconds between two looks at whether workers live: their children may hold a channel open
_LIFE_SIGNS_A_SILENCE = 10  # signs of life that a worker gives in the time after which it is given up
_NEVER = float("inf")
_READ, _WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
_GUARD = "a worker imports the script that started it, and this script starts workers again while it is imported. Put what is " \
         "to run once under `if __name__ == \"__main__\":`, and leave the functions outside"


class _Worker:
    """A process, the channel to it, and what it is doing."""

    __slots__ = ("process", "mailbox", "ready", "gone", "ticket", "values", "started", "deadline", "silent", "events")

    def __init__(self, process: Any, mailbox: channel.Mailbox):
        self.process, self.mailbox, self.ready, self.gone = process, mailbox, False, False
        self.ticket: int | None = None
        self.values: list[float] = []
        self.started, self.silent, self.events = monotonic(), 0.0, 0
        self.deadline = self.started + _START_SECONDS


class Processes(Workers):
    """`count` spawned processes. With a timeout, each trial may take that number of seconds; with `silence`, a worker that for as
    many seconds of a trial has given no sign of life is taken for lost. A black box may be pickled already."""

    has_processes, where = True, "in a worker process"
    cure = "Define it at the top of a module, a .py file, and import it from there: what was typed into a notebook or a " \
           "console cannot be imported. Or give a command"

    def __init__(self, box: BlackBox | bytes, count: int, timeout: float | None = None, silence: float | None = None):
        super().__init__(count)
        self._pickled, self._timeout, self._silence = box if isinstance(box, bytes) else _pickled(box), timeout, silence
        self._failed_starts, self._any_ready = 0, False
        self._looked = self._listened = monotonic()
        self._workers: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
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
        mailbox, theirs = channel.pair()
        beat = None if self._silence is None else self._silence / _LIFE_SIGNS_A_SILENCE
        process = context.Process(target=worker_process.main, args=(theirs, beat), name="infimum trials")
        try:
            with interrupts_held_back(starting=True):
                process.start()
        except RuntimeError:
            mailbox.close()
            if not _importing_the_script():
                raise
            raise SystemExit(_UNGUARDED) from None  # quietly: the process that started this one explains it
        except OSError as error:
            mailbox.close()
            raise TrialError(f"a worker process cannot be started: {error.strerror or error}") from error
        finally:
            theirs.close()
        one = _Worker(process, mailbox)
        self._post(one, self._pickled)  # not as an argument: it may be large, and a start waits until its arguments are read
        return one

    def _post(self, one: _Worker, message: Any) -> bool:
        """Sends a worker something, as much as it takes now and the rest when it takes more; False if it has ended."""
        try:
            one.mailbox.post(message)
        except OSError:
            return False
        finally:
            self._listen(one)
        return True

    def _listen(self, one: _Worker) -> None:
        """To what it says, and to whether it takes more where something is unsent."""
        events = _READ | (_WRITE if one.mailbox.unsent else 0)
        if events != one.events:
            (self._selector.modify if one.events else self._selector.register)(one.mailbox, events, one)
            one.events = events

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
                one.ticket, one.values, one.started, one.silent = ticket, [], monotonic(), 0.0
                one.deadline = _NEVER if self._timeout is None else one.started + self._timeout
                if not self._post(one, x):  # it died without a trial, which another gets
                    one.ticket = None
                    self._waiting.appendleft((ticket, x))
                    self._replace(one)

    def _await(self, seconds: float) -> None:
        first = min(one.deadline for one in self._workers)
        for key, events in self._selector.select(max(0.0, min(seconds, first - monotonic()))):
            key.data.silent = 0.0
            self._serve(key.data, events)
        now = monotonic()
        passed, self._listened = min(now - self._listened, 2 * CLOCK_PERIOD), now  # while nobody listened, nobody was silent
        for one in list(self._workers):
            one.silent += passed
            if now >= one.deadline:
                self._serve(one, _READ)  # it may have spoken in time
                if now >= one.deadline and not one.gone:
                    self._expire(one, now)
            elif one.ticket is not None and self._silence is not None and one.silent >= self._silence:
                said = f"the worker process was killed: it gave no sign of life for {self._silence:g} s"
                self._finish(one, Outcome.failed(OutcomeKind.CRASH, said, one.values, now - one.started))
                self._replace(one)
        if now - self._looked >= _LIFE_SIGNS:
            self._looked = now
            for one in list(self._workers):
                if ended(one.process):
                    self._serve(one, _READ)
                    if not one.gone:
                        self._drop_worker(one)
        self._deal()

    def _expire(self, one: _Worker, now: float) -> None:
        """Its trial has taken too long, or its start."""
        if one.ready:
            self._finish(one,
                         Outcome.failed(OutcomeKind.TIMEOUT, f"killed after {self._timeout:g} s", one.values, now - one.started))
        else:
            self._no_start(one, f"killed, since it was not ready after {_START_SECONDS:g} s")
        self._replace(one)

    def _serve(self, one: _Worker, events: int) -> None:
        """Sends a worker more of what is for it, and takes its messages, and its end."""
        if one.gone:
            return
        try:
            if events & _WRITE:
                one.mailbox.send_on()
            messages, closed = one.mailbox.read() if events & _READ else ((), False)
        except Exception:  # nobody takes it any more, or what has come is no message: it died while it wrote
            messages, closed = (), True
        for message in messages:
            self._hear(one, *message)
        if closed:
            self._drop_worker(one)
        else:
            self._listen(one)

    def _hear(self, one: _Worker, what: int, content: Any) -> None:
        if what == worker_process.READY:
            one.ready, one.deadline, self._failed_starts, self._any_ready = True, _NEVER, 0, True
        elif what == worker_process.UNUSABLE:
            raise TrialError(f"the function cannot be used {self.where}: {content}. {self.cure}")
        elif what == worker_process.PART:
            one.values.append(content)
        elif what == worker_process.OUTCOME:
            self._finish(one, content)

    def _finish(self, one: _Worker, outcome: Outcome) -> None:
        self._done.append(FinishedTrial(one.ticket, outcome))
        one.ticket, one.deadline = None, _NEVER

    def _drop_worker(self, one: _Worker) -> None:
        """What a worker that has died was doing is a crash; another takes its place."""
        seen = ended(one.process, _END_SECONDS)
        said = status_text(self._kill(one)) if seen else "the worker closed its channel"
        if not one.ready:
            self._no_start(one, said)
        if one.ticket is not None:
            self._finish(one, Outcome.failed(OutcomeKind.CRASH, f"the worker process ended: {said}", one.values,
                                             monotonic() - one.started))
        self._replace(one)

    def _no_start(self, one: _Worker, said: str) -> None:
        self._failed_starts += 1
        if one.process.exitcode == _UNGUARDED:
            raise TrialError(_GUARD)
        killed = (one.process.exitcode or 0) < 0  # by a signal, which says nothing about the next one
        if self._failed_starts >= _MOST_FAILED_STARTS or not (self._any_ready or killed):
            raise TrialError(f"worker processes end before they are ready ({said}). A worker imports the script that started it, "
                             "and what it printed to the standard error says where it failed")

    def _replace(self, one: _Worker) -> None:
        self._kill(one)
        self._workers[self._workers.index(one)] = self._start()

    def _kill(self, one: _Worker) -> int | None:
        """Ends a worker and all that it has started; returns its exit status, if it is gone."""
        self._signal(one)
        return self._taken_off(one, monotonic() + _END_SECONDS)

    def _signal(self, one: _Worker) -> None:
        self._disconnect(one)
        if not one.gone:
            one.gone = True
            kill_group(one.process.pid)
            one.process.kill()  # it may not lead its group yet

    def _disconnect(self, one: _Worker) -> None:
        if one.events:
            self._selector.unregister(one.mailbox)
            one.events = 0
        one.mailbox.close()

    def _taken_off(self, one: _Worker, end: float) -> int | None:
        """Where the system itself waits, such as for a disk, even a killed process stays: it is left behind."""
        if ended(one.process, max(0.0, end - monotonic())):
            one.process.join()
        return one.process.exitcode

    def _end(self) -> None:
        """Idle workers end by themselves, with all that they do at their end; busy ones are killed."""
        idle = [one for one in self._workers if one.ready and one.ticket is None]
        for one in self._workers:
            (self._disconnect if one in idle else self._signal)(one)
        end = monotonic() + _END_SECONDS
        for one in idle:
            ended(one.process, max(0.0, end - monotonic()))
            self._signal(one)
        end = monotonic() + _END_SECONDS
        for one in self._workers:
            self._taken_off(one, end)
        self._workers = []
        self._selector.close()
        atexit.unregister(self.close)


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
