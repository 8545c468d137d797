"""Reading a journal: which problem it is of, its trials, and what is wrong with it if anything is."""

import os
from collections.abc import Callable
from typing import Any

import infimum
from infimum.blackbox.journal_lines import READABLE, DamagedLine, Trial, content_of, trial_of_content
from infimum.errors import JournalError, OptionError
from infimum.problem.text import counted
from infimum.support.lazy import dataclass

MAGIC = b'{"infimum journal": '
MOST_WAITING = 100_000  # trials that were asked for and have not ended, at any time of a run


@dataclass(frozen=True, slots=True)
class StartCommand:
    """The command line that began a journal: its words, and the folder it was given in."""

    words: tuple[str, ...]
    folder: str


@dataclass(frozen=True, slots=True)
class JournalFile(os.PathLike):
    """The name of a journal, with the command line that begins it."""

    path: str
    started: StartCommand

    def __fspath__(self) -> str:
        return self.path


@dataclass(frozen=True, slots=True)
class JournalContent:
    """What a journal holds. problem: as `describe` of a black box gives it. settings: of the search that wrote it. trials: in the
    order in which they ended. size: the bytes of whole lines; what follows was cut off. check: the last checksum. form: the
    number of the format. started: from which command line, if from one."""

    problem: dict[str, Any]
    settings: dict[str, Any]
    trials: list[Trial]
    size: int
    check: int
    form: int = READABLE[-1]
    started: StartCommand | None = None


def read_path(journal: Any) -> str:
    """The name of the file, from a string or a path."""
    if not isinstance(journal, (str, os.PathLike)):
        raise OptionError(f"journal must be the name of a file, not {journal!r}")
    return os.fsdecode(journal)


def read_bytes(path: str) -> bytes:
    """All of a file; an error is one of ours."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise JournalError(f"the journal {path} cannot be read: {getattr(error, 'strerror', None) or error}") from None


def read_journal(path: Any) -> JournalContent:
    """What a journal holds, which another run may be writing; a torn end is left alone."""
    path = read_path(path)
    return parsed(path, read_bytes(path))


def parsed(path: str, data: bytes) -> JournalContent:
    *lines, tail = data.split(b"\n")
    if not lines:
        if torn_header(data):
            raise JournalError(f"{path} is empty: its run ended before the first trial; begin anew")
        raise JournalError(f"{path} is no journal of infimum")
    header, check = header_of(path, lines[0])
    problem, trials, size, seen = header["problem"], [], len(lines[0]) + 1, {}
    for number, line in enumerate([*lines[1:], tail], start=2):
        last = number == len(lines) + 1
        if last and not line:
            break
        try:
            trial, after = trial_of(line, check, problem)
            if trial.ticket in seen:
                raise DamagedLine(f"it is trial {trial.ticket} again, which is in line {seen[trial.ticket]}")
            if trial.asked > len(trials) + MOST_WAITING:
                raise DamagedLine(f"it says that {trial.asked:,} trials had been asked for when it ended")
        except DamagedLine as error:
            if last:  # the line that was being written when the process was killed
                break
            raise JournalError(f"the journal {path} is damaged: line {number:,} of {len(lines):,} was changed ({error}); what is "
                               f"before it ({counted(len(trials), 'trial')}) is whole. Put the file back from a copy, or write "
                               "the lines that are whole into a new one: "
                               f"infimum.blackbox.journal.salvage({path!r}, 'new.jsonl')") from None
        seen[trial.ticket] = number
        trials.append(trial)
        size, check = size + len(line) + (not last), after
    return JournalContent(problem, header["settings"], trials, size, check, header["infimum journal"], started_of(header))


def trial_of(line: bytes, before: int, problem: dict[str, Any]) -> tuple[Trial, int]:
    """The trial of a line, and its checksum, which continues `before`; raises Damaged."""
    content, check = content_of(line, before)
    variables = len(problem["bounds"]) if "bounds" in problem else None
    return trial_of_content(content, variables, problem.get("constraints")), check


def header_of(path: str, line: bytes) -> tuple[dict[str, Any], int]:
    if not line.startswith(MAGIC):
        raise JournalError(f"{path} is no journal of infimum")
    try:
        header, check = content_of(line, 0)
        form = header["infimum journal"]
        if form in READABLE:
            _check_header(header)
    except DamagedLine as error:
        raise JournalError(f"the journal {path} is damaged: line 1, which says what problem it is of, was changed ({error}). Put "
                           "the file back from a copy") from None
    if form not in READABLE:
        raise JournalError(f"the journal {path} has the format {form!r}, written by infimum {header.get('version')}; this is "
                           f"infimum {infimum.__version__}, which reads the formats {READABLE[0]} to {READABLE[-1]}")
    return header, check


def started_of(header: dict[str, Any]) -> StartCommand | None:
    found = header.get("started")
    return None if found is None else StartCommand(tuple(found["words"]), found["folder"])


# ---- what the first line may hold: of each name, whether a value is one of it
def _list(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(each, value))


def _dict(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(each, value.values()))


def _record(names: dict[str, Callable[[Any], bool]], needed: tuple[str, ...] = ()) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and set(needed) <= set(value) and \
        all(names[name](one) for name, one in value.items() if name in names)


def _text(value: Any) -> bool:
    return isinstance(value, str)


def _count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 31


def _truth(value: Any) -> bool:
    return isinstance(value, bool)


def _pair(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) == 2 and all(map(each, value))


def _real(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < float("inf")


_FUNCTION = _record({"name": _text, "source": lambda value: value is None or _text(value), "identity": _dict(_text),
                     "ends": _pair(_list(_text)), "maximise": _truth}, ("name", "source"))
_INNER = _record({"bounds": _list(_pair(_text)), "integers": _list(_count), "constraints": _list(_FUNCTION),
                  "simulate": lambda value: value is None or _FUNCTION(value), "options": _dict(lambda value: True)},
                 ("bounds", "integers", "constraints", "simulate"))
_PROBLEM = {"bounds": _list(_pair(_real)), "integers": _list(_count), "choices": _dict(_list(_text)), "constraints": _count,
            "functions": _list(_FUNCTION), "command": _list(_text), "args": _list(_text), "study": _truth, "maximise": _truth,
            "inner": _INNER, "choice_values": _dict(_list(_text)), "program": _text}
_SETTINGS = {"batch": lambda value: _count(value) and 0 < value <= MOST_WAITING, "study": _text}
_STARTED = _record({"words": _list(_text), "folder": _text}, ("words", "folder"))


def _check_header(header: dict[str, Any]) -> None:
    for name, known in (("problem", _PROBLEM), ("settings", _SETTINGS)):
        if not isinstance(header.get(name), dict):
            raise DamagedLine(f"it has no {name!r}")
        for key, valid in known.items():
            if key in header[name] and not valid(header[name][key]):
                raise DamagedLine(f"what it says of {key!r} makes no sense")
    if header.get("started") is not None and not _STARTED(header["started"]):
        raise DamagedLine("the command line in it makes no sense")


def torn_header(data: bytes) -> bool:
    """Is it what a run leaves that is killed before its first line is whole?"""
    return b"\n" not in data and (data.startswith(MAGIC) or MAGIC.startswith(data))


def maximises(problem: dict[str, Any]) -> bool:
    """Is it of a maximum?"""
    return bool(problem.get("maximise")) or any(part.get("maximise") for part in problem.get("functions", ()))
