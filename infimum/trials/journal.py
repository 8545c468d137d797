"""The journal of a run: a file to which every trial is added before it counts.

The first line says which problem it is of, each other line is a trial. A line is written by one call of the system, so that a
kill leaves whole lines, and at most the last one torn. What a process has written survives its end without further ado; only a
failure of the machine can take it. Against that the file is forced to the disk, at most once a second (`SYNC`): a trial that took
longer than that is on the disk before it counts, and a thousand quick ones a second do not wait for it; their last lines are
written by the system itself within its usual half minute.
"""

import errno
import json
import os
from time import monotonic
from typing import Any

import infimum
from infimum.errors import JournalError
from infimum.text import counted
from infimum.trials.locking import Locked, lock
from infimum.trials.reading import MAGIC, Read, header_of, parsed, read_journal, read_path, refuse_other_problem, torn_header
from infimum.trials.records import VERSION, Damaged, Trial, content_of_trial, line_of, trial_of_content
from infimum.trials.variables import Variables

SYNC = 1.0  # seconds between two times that the file is forced to the disk


class Journal:
    """A journal that is open for writing, by this run alone. `trials` are those that it held when it was opened."""

    def __init__(self, path: str, handle: int, read: Read):
        self.path, self.settings, self.trials = path, read.settings, read.trials
        self._handle, self._check, self._size = handle, read.check, read.size
        self._synced, self._dirty = monotonic(), False

    @classmethod
    def create(cls, path: Any, problem: dict[str, Any], settings: dict[str, Any] | None = None) -> "Journal":
        """A new journal; an error if there is one already that holds anything."""
        path = read_path(path)
        handle = _open(path, os.O_CREAT)
        try:
            _lock(path, handle)
            data = _whole(handle)
            if data and not torn_header(data):
                raise JournalError(f"{path} exists: continue it with resume, or delete it" if data.startswith(MAGIC) else
                                   f"{path} exists, and is no journal of infimum: give another name")
            header = {"infimum journal": VERSION, "version": infimum.__version__, "problem": problem, "settings": settings or {}}
            line, check = line_of(header, 0)
            os.ftruncate(handle, 0)
            journal = cls(path, handle, Read(problem, settings or {}, [], 0, 0))
            journal._write(line)
            journal._check = check
            journal.sync()
            _sync_folder(path)
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
                journal._write(b"\n")
        except BaseException:
            os.close(handle)
            raise
        return journal

    def append(self, trial: Trial) -> None:
        """Writes a trial; when this returns, the end of this process cannot take it any more."""
        line, check = line_of(content_of_trial(trial), self._check)
        self._write(line)
        self._check = check
        if trial.outcome.seconds >= SYNC or monotonic() - self._synced >= SYNC:
            self.sync()

    def _write(self, line: bytes) -> None:
        if self._handle is None:
            raise JournalError(f"the journal {self.path} is closed")
        try:
            written = 0
            while written < len(line):
                written += os.write(self._handle, line[written:])
        except OSError as error:
            try:
                os.ftruncate(self._handle, self._size)
            except OSError as again:
                error.add_note(f"and the line that was begun could not be removed: {again}")
            raise JournalError(f"the journal {self.path} cannot be written: {error.strerror or error}. All trials before are in "
                               "it: make room, and continue it") from error
        self._size += len(line)
        self._dirty = True

    def sync(self) -> None:
        """Forces it to the disk."""
        os.fsync(self._handle)
        self._synced, self._dirty = monotonic(), False

    def close(self) -> None:
        """Forces it to the disk, and lets others have it."""
        if self._handle is not None:
            handle, self._handle = self._handle, None
            try:
                if self._dirty:
                    os.fsync(handle)
            finally:
                os.close(handle)

    def __enter__(self) -> "Journal":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def warm_start(path: Any, variables: Variables, constraints: int) -> list[Trial]:
    """The trials of another run that are of use here: those within these bounds. Names and sources of functions may differ."""
    found = read_journal(path)
    n, m = len(found.problem.get("bounds", ())), found.problem.get("constraints")
    if (n, m) != (len(variables), constraints):
        raise JournalError(f"no warm start from {path}: it has {counted(n, 'variable')} and {counted(m, 'constraint')}, this "
                           f"problem has {counted(len(variables), 'variable')} and {counted(constraints, 'constraint')}")
    if found.problem.get("choices") != variables.describe()["choices"]:
        raise JournalError(f"no warm start from {path}: its variables have other choices")
    return [trial for trial in found.trials if variables.allowed(trial.x)]


def salvage(path: Any, to: Any) -> int:
    """Writes a new journal with all trials of a damaged one whose lines are whole; returns how many lines were lost."""
    path = read_path(path)
    with open(path, "rb") as file:
        lines = file.read().split(b"\n")
    header, _ = header_of(path, lines[0])
    kept, lost, seen = [], 0, set()
    for line in lines[1:]:
        trial = _salvaged(line)
        if trial is not None and trial.ticket not in seen:
            seen.add(trial.ticket)
            kept.append(trial)
        else:
            lost += bool(line)
    with Journal.create(to, header["problem"], header["settings"]) as journal:
        for trial in kept:
            journal.append(trial)
    return lost


def _salvaged(line: bytes) -> Trial | None:
    """The trial of a line, whose checksum cannot be known where the line before it is lost."""
    text, mark, _ = line.rpartition(b', "check": ')
    try:
        return trial_of_content(json.loads(text + b"}")) if mark else None
    except (Damaged, ValueError):
        return None


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


def _sync_folder(path: str) -> None:
    """Makes a new name durable; not every system lets a folder be opened."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(os.path.dirname(os.path.abspath(path)), os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
