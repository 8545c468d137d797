"""A command as what is tried: a program of any language that is run anew for each trial.

It gives its result as the last line of its output, or of the file that it was told to write: the numbers g1, g2, …, f,
separated by blanks or commas. It may stop at the first constraint that is violated, and then give no more numbers. A point is
feasible where all g are <= 0.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from time import perf_counter
from typing import Any, BinaryIO

from infimum.blackbox.command_template import Template
from infimum.blackbox.outcome import Outcome, OutcomeKind
from infimum.blackbox.variables import Variables
from infimum.errors import OptionError
from infimum.problem.text import counted
from infimum.support.process_groups import kill_group, status_text

_TAIL = 65536  # bytes at the end of an output that are looked at
_SHOWN = 200   # characters of it that a message shows
_SCRIPTS = (".py", ".sh", ".jl", ".r", ".m", ".pl", ".rb", ".js", ".lua", ".jar")


class Command:
    """A command line with places for the variables, see `Template`, and the number of constraints that it gives beside f. With
    `maximise` the values are those of -f."""

    def __init__(self, command: str | Sequence[Any], variables: Variables, constraints: int = 0, maximise: bool = False):
        if isinstance(constraints, bool) or not isinstance(constraints, int) or constraints < 0:
            raise OptionError("with a command, constraints is how many numbers it gives before that of the function, "
                              f"not {constraints!r}")
        self.template = Template(command, variables)
        self.variables, self.constraints, self.maximise = variables, constraints, maximise

    def describe(self) -> dict[str, Any]:
        """What tells this problem from others, in the terms of JSON."""
        program = _program(self.template.parts)
        return {**self.variables.describe(), "constraints": self.constraints, "command": self.template.parts,
                **({"maximise": True} if self.maximise else {}), **({} if program is None else {"program": program})}

    def evaluate(self, x: Sequence[float], timeout: float | None = None, programs: "Programs | None" = None) -> Outcome:
        """Runs a trial; after `timeout` seconds the program and all that it has started are killed. Who holds `programs` may kill
        them at any time."""
        start, programs, folder = perf_counter(), programs or Programs(), ""
        try:
            folder = tempfile.mkdtemp(prefix="infimum-") if self.template.needs_folder else ""
            with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
                words = self.template.words(x, folder)
                outcome = programs.run(words, output, errors, timeout) or self._read(folder, output, errors)
        except OSError as error:  # a full disk, no more files: this trial has no outcome, and those before keep theirs
            outcome = Outcome.failed(OutcomeKind.CRASH, f"its output could not be kept: {error.strerror or error}")
        finally:
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
        return outcome.after(perf_counter() - start)

    def _read(self, folder: str, output: BinaryIO, errors: BinaryIO) -> Outcome:
        where = "the last line of its output"
        if self.template.writes_file:
            where, path = "the file {out}", os.path.join(folder, "out")
            if not os.path.isfile(path):
                return Outcome.failed(OutcomeKind.NO_NUMBER, f"The command {self.template} wrote no {where}")
            with open(path, "rb") as file:
                line = _last_line(file)
        else:
            line = _last_line(output)
        numbers = read_numbers(line)
        wanted = counted(self.constraints + 1, "number")
        if numbers is None or len(numbers) > self.constraints + 1:
            shown = f"it is {line[:_SHOWN]!r}" if line else "there is none"
            said = _last_line(errors)
            return Outcome.failed(OutcomeKind.NO_NUMBER,
                                  f"The command {self.template} must give {wanted} and nothing else as {where}; "
                                                  f"{shown}{f', and its errors end with {said[:_SHOWN]!r}' if said else ''}")
        if len(numbers) == self.constraints + 1 and self.maximise:
            numbers[-1] = -numbers[-1]
        outcome = Outcome.of(numbers, self.constraints)
        if not outcome.failure and outcome.index == len(numbers) <= self.constraints and not outcome.value > 0:
            said = f"The command {self.template} gave {counted(len(numbers), 'number')} as {where}, {line[:_SHOWN]!r}: with " \
                   f"{counted(self.constraints, 'constraint')} it must give {wanted}, unless the last is of a violated constraint"
            return Outcome.failed(OutcomeKind.NO_NUMBER, said, numbers)
        return outcome


class Programs:
    """The programs that are running, so that they can be killed."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen] = set()
        self._lock, self._stopped = threading.Lock(), False

    def run(self, words: list[str], output: BinaryIO, errors: BinaryIO, timeout: float | None) -> Outcome | None:
        """Runs a program to its end; None if that was a good one. Its output goes to files: a program that leaves others behind
        would keep a pipe open, and nobody would see its end."""
        try:
            with self._lock:
                if self._stopped:
                    return Outcome.failed(OutcomeKind.CRASH, "the run was ended")
                process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=output, stderr=errors, start_new_session=True)
                self._running.add(process)
        except (OSError, ValueError) as error:
            why = getattr(error, "strerror", None) or error
            return Outcome.failed(OutcomeKind.NO_NUMBER,
                                  f"The program {words[0]!r} cannot be started: {why}. Give its path, such as "
                                                  "./sim, and make it executable")
        expired = threading.Event()
        clock = None if timeout is None else threading.Timer(timeout, self._expire, (process, expired))
        try:
            if clock is not None:
                clock.start()
            process.wait()
        except BaseException:  # Ctrl-C, where a trial is run without threads
            kill_group(process.pid)
            raise
        finally:
            with self._lock:  # afterwards nobody kills a number that may be another process's
                self._running.discard(process)
            if clock is not None:
                clock.cancel()
        if expired.is_set():
            return Outcome.failed(OutcomeKind.TIMEOUT, f"killed after {timeout:g} s")
        if process.returncode:
            said = _last_line(errors)
            return Outcome.failed(OutcomeKind.CRASH, status_text(process.returncode) + (f": {said[:_SHOWN]}" if said else ""))
        return None

    def _expire(self, process: subprocess.Popen, expired: threading.Event) -> None:
        with self._lock:
            if process in self._running and process.returncode is None:
                expired.set()
                kill_group(process.pid)

    def stop(self) -> None:
        """Kills what is running, and starts no more."""
        with self._lock:
            self._stopped = True
            for process in self._running:
                if process.returncode is None:
                    kill_group(process.pid)


def _program(words: list[str]) -> str | None:
    """The program with a digest: the first word that is the path of one, or a script, as in `./sim {x}` and `python train.py
    {x}`. What is found on the search path, or lies where the system and Python lie, changes with every update and is not read."""
    theirs = ("/usr/", "/bin/", sys.prefix + os.sep, sys.base_prefix + os.sep)
    for k, word in enumerate(words):
        path = os.path.abspath(word)
        named = os.sep in word if k == 0 else word.lower().endswith(_SCRIPTS)
        if named and os.path.isfile(path) and not path.startswith(theirs):
            try:
                with open(path, "rb") as file:
                    return f"{word} {hashlib.file_digest(file, 'sha256').hexdigest()[:16]}"
            except OSError:
                return None
    return None


def read_numbers(line: str) -> list[float] | None:
    """The numbers of a line; None if there is anything else in it, or nothing.

    >>> read_numbers("-0.5, 1e3 nan"), read_numbers("done in 3 s"), read_numbers("")
    ([-0.5, 1000.0, nan], None, None)
    """
    try:
        return [float(word) for word in re.split(r"[\s,;]+", line.strip()) if word] or None
    except ValueError:
        return None


def _last_line(file: BinaryIO) -> str:
    """The last line with something in it; empty if there is none."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - _TAIL))
    lines = [line.strip() for line in file.read().decode(errors="replace").splitlines()]
    return next((line for line in reversed(lines) if line), "")
