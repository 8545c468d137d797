"""The journal of a run: a file to which every trial is added before it counts.

The first line says which problem it is of, each other line is a trial. A line is written by one call of the system, so that a
kill leaves whole lines, and at most the last one torn. What a process has written survives its end without further ado; only a
failure of the machine can take it. Against that the file is forced to the disk, at most once a second (`SYNC`): a trial that took
longer than that is on the disk before it counts, and a thousand quick ones a second do not wait for it; their last lines are
written by the system itself within its usual half minute.

A full disk does not end a run: what a trial gave is known, and a result never depends on writing a file. Lines that cannot be
written are kept in memory, with one warning, and written before the next one as soon as there is room. Only these are lost if
the process ends before that.
"""

import errno
import os
from collections import deque
from contextlib import suppress
from dataclasses import asdict
from time import monotonic
from typing import Any

import infimum
from infimum.blackbox.file_lock import Locked, lock
from infimum.blackbox.journal_lines import VERSION, DamagedLine, Trial, content_of_trial, line_of, stored_check
from infimum.blackbox.journal_reading import (
    MAGIC,
    JournalContent,
    StartCommand,
    header_of,
    parsed,
    read_bytes,
    read_journal,
    read_path,
    started_of,
    torn_header,
    trial_of,
)
from infimum.blackbox.problem_comparison import refuse_other_problem
from infimum.blackbox.variables import Variables
from infimum.errors import JournalError
from infimum.problem.text import counted
from infimum.support.output_files import sync_folder, warn

SYNC = 1.0   # seconds between two times that the file is forced to the disk
_NAMED = 20  # lines that a message names


class Journal:
    """A journal that is open for writing, by this run alone. `trials` are those that it held when it was opened."""

    def __init__(self, path: str, handle: int, read: JournalContent):
        self.path, self.problem, self.settings, self.trials, self.form = path, read.problem, read.settings, read.trials, read.form
        self._handle: int | None = handle
        self._check, self._size = read.check, read.size
        self._synced, self._dirty = monotonic(), False
        self._unwritten: deque[bytes] = deque()  # lines that the file does not hold yet
        self._why: OSError | None = None         # why the last attempt to write failed

    @classmethod
    def create(cls, path: Any, problem: dict[str, Any], settings: dict[str, Any] | None = None,
               started: StartCommand | None = None) -> "Journal":
        """A new journal; an error if there is one already that holds anything."""
        path = read_path(path)
        handle = _open(path, os.O_CREAT)
        try:
            _lock(path, handle)
            data = _whole(handle)
            if data and not torn_header(data):
                raise JournalError(f"{path} exists: continue it with resume, or delete it" if data.startswith(MAGIC) else
                                   f"{path} exists, and is no journal of infimum: give another name")
            header = {"infimum journal": VERSION, "version": infimum.__version__, "problem": problem, "settings": settings or {},
                      **({} if started is None else {"started": asdict(started)})}
            line, check = line_of(header, 0)
            os.ftruncate(handle, 0)
            journal = cls(path, handle, JournalContent(problem, settings or {}, [], 0, check, started=started))
            journal._unwritten.append(line)
            if not journal._write():
                raise JournalError(f"the journal {path} cannot be written: {_reason(journal._why)}")
            journal.sync()
            sync_folder(path)
        except BaseException:
            os.close(handle)
            raise
        return journal

    @classmethod
    def resume(cls, path: Any, problem: dict[str, Any]) -> "Journal":
        """Opens a journal of the same problem, with its trials; what was torn off at its end is removed."""
        path = read_path(path)
        handle = _open(path, 0)
        try:
            _lock(path, handle)
            data = _whole(handle)
            found = parsed(path, data)
            refuse_other_problem(path, found.problem, problem)
            os.ftruncate(handle, found.size)
            journal = cls(path, handle, found)
            if data[found.size - 1:found.size] != b"\n":  # a whole line that lacks its end only
                journal._unwritten.append(b"\n")
                journal._write_or_warn()
        except BaseException:
            os.close(handle)
            raise
        return journal

    def append(self, trial: Trial) -> None:
        """Writes a trial; when this returns, the end of this process cannot take it any more, unless the user was warned."""
        if self._handle is None:
            raise JournalError(f"the journal {self.path} is closed")
        line, self._check = line_of(content_of_trial(trial), self._check)
        self._unwritten.append(line)
        self._write_or_warn()
        if trial.outcome.seconds >= SYNC or monotonic() - self._synced >= SYNC:
            self.sync()

    @property
    def unwritten(self) -> int:
        """How many trials could not be written yet."""
        return len(self._unwritten)

    def _write_or_warn(self) -> None:
        warned = self._why is not None
        if not self._write() and not warned:
            warn(f"the journal {self.path} cannot be written ({_reason(self._why)}). The run continues: its trials are kept in "
                 "memory and will be written when there is room; if the process is killed before that, they are lost")

    def _write(self) -> bool:
        """Writes what is not in the file yet, line by line, and leaves whole lines; False if not all of it can be written."""
        while self._unwritten:
            line, written = self._unwritten[0], 0
            try:
                if self._why is not None:
                    os.ftruncate(self._handle, self._size)  # what the last attempt may have left
                while written < len(line):
                    written += os.write(self._handle, line[written:])
            except OSError as error:
                self._why = error
                with suppress(OSError):  # then it is removed before the next attempt, or as a torn line when it is read
                    os.ftruncate(self._handle, self._size)
                return False
            self._size += len(line)
            self._dirty, self._why = True, None
            self._unwritten.popleft()
        return True

    def sync(self) -> None:
        """Forces it to the disk."""
        try:
            os.fsync(self._handle)
        except OSError as error:
            warn(f"the journal {self.path} cannot be forced to the disk ({_reason(error)}): a failure of the machine may take "
                 "the last trials")
        self._synced, self._dirty = monotonic(), False

    def close(self) -> None:
        """Forces it to the disk, and lets others have it."""
        if self._handle is None:
            return
        try:
            if self._unwritten and not self._write():
                warn(f"{counted(len(self._unwritten), 'trial')} could not be written to the journal {self.path} "
                     f"({_reason(self._why)}). The result has them; a run that continues from the journal makes them again")
            if self._dirty:
                self.sync()
        finally:
            handle, self._handle = self._handle, None
            os.close(handle)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def warm_start(path: Any, variables: Variables, constraints: int) -> list[Trial]:
    """The trials of another run that are of use here: those within these bounds. Names and sources of functions may differ."""
    found = read_journal(path)
    n, m = len(found.problem.get("bounds", ())), found.problem.get("constraints", 0)
    if (n, m) != (len(variables), constraints):
        raise JournalError(f"no warm start from {path}: it has {counted(n, 'variable')} and {counted(m, 'constraint')}, this "
                           f"problem has {counted(len(variables), 'variable')} and {counted(constraints, 'constraint')}")
    if found.problem.get("choices") != variables.describe()["choices"]:
        raise JournalError(f"no warm start from {path}: its variables have other choices")
    return [trial for trial in found.trials if variables.allowed(trial.x)]


def salvage(path: Any, to: Any) -> int:
    """Writes a new journal with all trials of a damaged one whose lines are as they were written; returns how many lines are not
    in it, and warns which. A line is taken if its checksum continues the one that the line before it ends with, so a line that
    was changed is never taken, and neither is the one behind a line whose own checksum is gone."""
    path = read_path(path)
    lines = read_bytes(path).split(b"\n")
    header, before = header_of(path, lines[0])
    kept, lost, seen = [], [], set()
    for number, line in enumerate(lines[1:], start=2):
        if not line:
            continue
        try:
            if before is None:
                raise DamagedLine(f"line {number - 1:,} has no checksum, so this one cannot be checked")
            trial, _ = trial_of(line, before, header["problem"])
            if trial.ticket in seen:
                raise DamagedLine(f"it is trial {trial.ticket} again")
            seen.add(trial.ticket)
            kept.append(trial)
        except DamagedLine as error:
            lost.append(f"line {number:,} ({error})")
        before = stored_check(line)
    with Journal.create(to, header["problem"], header["settings"], started_of(header)) as journal:
        for trial in kept:
            journal.append(trial)
    if lost:
        shown = "; ".join(lost[:_NAMED]) + (f"; and {len(lost) - _NAMED:,} more" if len(lost) > _NAMED else "")
        warn(f"{counted(len(lost), 'line')} of {path} not taken: {shown}")
    return len(lost)


def _reason(error: OSError) -> str:
    return error.strerror or str(error)


def _open(path: str, how: int) -> int:
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        raise JournalError(f"the journal {path} is no ordinary file but a device or a pipe, which keeps nothing: give another")
    try:
        return os.open(path, os.O_RDWR | os.O_APPEND | how | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0), 0o666)
    except OSError as error:
        why = "it is a folder: give the name of a file" if error.errno == errno.EISDIR else error.strerror or error
        raise JournalError(f"the journal {path} cannot be opened: {why}") from None


def _lock(path: str, handle: int) -> None:
    try:
        lock(handle)
    except Locked:
        raise JournalError(f"the journal {path} is in use by another run: two runs on one journal would mix their trials. Wait "
                           "for its end, or give another file") from None
    except OSError as error:
        raise JournalError(f"the journal {path} cannot be locked on this file system ({error.strerror or error}), so two runs "
                           "could mix their trials: give a file on another one") from None


def _whole(handle: int) -> bytes:
    with os.fdopen(os.dup(handle), "rb") as file:
        file.seek(0)
        return file.read()
