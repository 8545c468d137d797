"""Reading a journal: which problem it is of, its trials, and what is wrong with it if anything is."""

import json
import os
from dataclasses import dataclass
from typing import Any

import infimum
from infimum.errors import JournalError, OptionError
from infimum.text import counted
from infimum.trials.records import VERSION, Damaged, Trial, content_of, trial_of_content

MAGIC = b'{"infimum journal": '


@dataclass(frozen=True, slots=True)
class Read:
    """What a journal holds. problem: as `describe` of a black box gives it. settings: of the search that wrote it. trials: in the
    order in which they ended. size: the bytes of whole lines; what follows was cut off. check: the last checksum."""

    problem: dict[str, Any]
    settings: dict[str, Any]
    trials: list[Trial]
    size: int
    check: int


def read_path(journal: Any) -> str:
    """The name of the file, from a string or a path."""
    if not isinstance(journal, (str, os.PathLike)):
        raise OptionError(f"journal must be the name of a file, not {journal!r}")
    return os.fsdecode(journal)


def read_journal(path: Any) -> Read:
    """What a journal holds, which another run may be writing; a torn end is left alone."""
    path = read_path(path)
    try:
        with open(path, "rb") as file:
            return parsed(path, file.read())
    except OSError as error:
        raise JournalError(f"the journal {path} cannot be read: {error.strerror or error}") from None


def parsed(path: str, data: bytes) -> Read:
    *lines, tail = data.split(b"\n")
    if not lines:
        if torn_header(data):
            raise JournalError(f"{path} is empty: its run ended before the first trial; begin anew")
        raise JournalError(f"{path} is no journal of infimum")
    header, check = header_of(path, lines[0])
    trials, size, seen = [], len(lines[0]) + 1, {}
    for number, line in enumerate([*lines[1:], tail], start=2):
        last = number == len(lines) + 1
        if last and not line:
            break
        try:
            content, after = content_of(line, check)
            trial = trial_of_content(content)
            if trial.ticket in seen:
                raise Damaged(f"it is trial {trial.ticket} again, which is in line {seen[trial.ticket]}")
        except (Damaged, ValueError) as error:
            if last:  # the line that was being written when the process was killed
                break
            raise JournalError(f"the journal {path} is damaged: line {number:,} of {len(lines):,} was changed ({error}); what is "
                               f"before it ({counted(len(trials), 'trial')}) is whole. Put the file back from a copy, or write "
                               "what can be read into a new one: "
                               f"infimum.trials.journal.salvage({path!r}, 'new.jsonl')") from None
        seen[trial.ticket] = number
        trials.append(trial)
        size, check = size + len(line) + (not last), after
    return Read(header["problem"], header["settings"], trials, size, check)


def header_of(path: str, line: bytes) -> tuple[dict[str, Any], int]:
    if not line.startswith(MAGIC):
        raise JournalError(f"{path} is no journal of infimum")
    try:
        header, check = content_of(line, 0)
    except Damaged as error:
        raise JournalError(f"the journal {path} is damaged: line 1, which says what problem it is of, was changed ({error}). Put "
                           "the file back from a copy") from None
    if header["infimum journal"] != VERSION:
        raise JournalError(f"the journal {path} has the format {header['infimum journal']}, written by infimum "
                           f"{header['version']}; this is infimum {infimum.__version__}, which reads the format {VERSION}")
    return header, check


def torn_header(data: bytes) -> bool:
    """Is it what a run leaves that is killed before its first line is whole?"""
    return b"\n" not in data and (data.startswith(MAGIC) or MAGIC.startswith(data))


def maximises(problem: dict[str, Any]) -> bool:
    """Is it of a maximum?"""
    return bool(problem.get("maximise")) or any(part.get("maximise") for part in problem.get("functions", ()))


def refuse_other_problem(path: str, theirs: dict[str, Any], ours: dict[str, Any]) -> None:
    """Raises if two descriptions differ, and says in what."""
    ours = json.loads(json.dumps(ours))
    names = [name for name in {**theirs, **ours} if theirs.get(name) != ours.get(name)]
    if names:
        said = "; ".join(_difference(name, theirs.get(name), ours.get(name)) for name in names)
        raise JournalError(f"the journal {path} is of another problem: {said}. Give another file; its trials can be used for a "
                           "warm start")


def _difference(name: str, theirs: Any, ours: Any) -> str:
    if name == "functions" and theirs and ours:
        if len(theirs) != len(ours):
            return "the functions were {}, and are {}".format(*(", ".join(f"`{part['name']}`" for part in parts)
                                                                for parts in (theirs, ours)))
        return "; ".join(_change(a, b) for a, b in zip(theirs, ours, strict=True) if a != b)
    if isinstance(theirs, list) and isinstance(ours, list) and len(theirs) == len(ours):
        i = next(k for k, (a, b) in enumerate(zip(theirs, ours, strict=True)) if a != b)
        return f"{name}[{i}] was {theirs[i]!r}, and is {ours[i]!r}"
    return f"{name} was {theirs!r}, and is {ours!r}"


def _change(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """What is another of a function."""
    name, was, now = ours["name"], *("maximum" if part.get("maximise") else "minimum" for part in (theirs, ours))
    if theirs["name"] != name:
        return f"the function was `{theirs['name']}`, and is `{name}`"
    if theirs["source"] != ours["source"]:
        return f"the source of `{name}` has changed"
    if was != now:
        return f"the {was} of `{name}` was searched for, and now it is the {now}"
    return f"the ends of `{name}` have changed"
