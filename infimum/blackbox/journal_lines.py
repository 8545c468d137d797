"""The lines of a journal: JSON objects that people and programs can read.

Each has a checksum that continues that of the line before, so that a line that was changed, removed or moved is
noticed. The checksum finds accidents; whoever means to forge a line can compute it. So a line that has the right one is read with
the same care: numbers of the wrong type or size are damage, and nothing that it says makes the reader work without end.
Doubles are written with the digits that give the same bits again.
"""

import json
import math
import re
import zlib
from typing import Any

from infimum.blackbox.outcome import InnerOutcome, Outcome, OutcomeKind
from infimum.support.lazy import dataclass

VERSION = 2              # 0.2 wrote the format 1, which says less about the functions
READABLE = (1, VERSION)
_NAMES = {kind: kind.name.lower() for kind in OutcomeKind}
_KINDS = {name: kind for kind, name in _NAMES.items()}
_ENDING = re.compile(rb', "check": "([0-9a-f]{8})"}$')
_FIELDS = {"trial", "asked", "x", "kind", "index", "values", "text", "seconds", "inner"}


class DamagedLine(Exception):
    """A line is not what was written; the message says how that is known."""


@dataclass(frozen=True, slots=True)
class Trial:
    """A trial that has ended. ticket: its number in the order in which trials were asked for, from 0. asked: how many had been
    asked for when it ended. With both, the order of all that happened is known."""

    ticket: int
    asked: int
    x: tuple[float, ...]
    outcome: Outcome


def line_of(content: dict[str, Any], before: int) -> tuple[bytes, int]:
    """The line, and its checksum; `before` is the checksum of the line before it.

    >>> line_of({"trial": 0}, 0)
    (b'{"trial": 0, "check": "afc8effa"}\\n', 2949181434)
    """
    text = json.dumps(content, allow_nan=False)[:-1].encode()
    check = zlib.crc32(text, before)
    return text + f', "check": "{check:08x}"}}\n'.encode(), check


def content_of(line: bytes, before: int) -> tuple[dict[str, Any], int]:
    """What a line says, without its end, and its checksum; raises Damaged."""
    text, mark, ending = line.rpartition(b', "check": ')
    check = zlib.crc32(text, before)
    if not mark or ending != f'"{check:08x}"}}'.encode():
        raise DamagedLine("its checksum is wrong" if mark else "it has no checksum")
    try:
        content = json.loads((text + b"}").decode())
    except (ValueError, RecursionError) as error:
        raise DamagedLine(f"it is no JSON ({error})") from None
    if not isinstance(content, dict):
        raise DamagedLine("it is no JSON object")
    return content, check


def stored_check(line: bytes) -> int | None:
    """The checksum that a line ends with, right or wrong; None if there is none."""
    found = _ENDING.search(line)
    return None if found is None else int(found[1], 16)


def content_of_trial(trial: Trial) -> dict[str, Any]:
    outcome = trial.outcome
    inner = {} if outcome.inner is None else {"inner": _content_of_inner(outcome.inner)}
    return {"trial": trial.ticket, "asked": trial.asked, "x": list(trial.x), "kind": _NAMES[outcome.kind], "index": outcome.index,
            "values": list(outcome.values), **({"text": outcome.text} if outcome.text else {}),
            "seconds": round(outcome.seconds, 6), **inner}


def _content_of_inner(inner: InnerOutcome) -> dict[str, Any]:
    """JSON has no infinite numbers: without a lower bound there is none."""
    lower = {"lower": inner.lower} if math.isfinite(inner.lower) else {}
    return {"z": list(inner.z), **lower, "verdict": inner.verdict, "evaluations": inner.evaluations}


def trial_of_content(content: dict[str, Any], variables: int | None = None, constraints: int | None = None) -> Trial:
    """The trial; raises Damaged where somebody has written a line by hand that is none. `variables` and `constraints`: how many
    the problem has, if that is known."""
    unknown = set(content) - _FIELDS
    if unknown:
        raise DamagedLine(f"it has the unknown field {min(unknown)!r}")
    x, values = _numbers(content, "x"), _numbers(content, "values")
    ticket, asked, index = (_whole(content, name) for name in ("trial", "asked", "index"))
    kind, text, inner = content.get("kind"), content.get("text", ""), content.get("inner")
    if kind not in _NAMES.values() or not isinstance(text, str):
        raise DamagedLine(f"it is no trial: its kind is {kind!r}")
    outcome = Outcome(_KINDS[kind], values, index, text, _number(content, "seconds"), None if inner is None else _inner_of(inner))
    valid = range(1, len(values) + 1) if outcome.kind is OutcomeKind.VALUE else (len(values) + 1,)
    if not 0 <= ticket < asked or index not in valid or variables not in (None, len(x)) or not _follows(outcome, constraints):
        raise DamagedLine("it is no trial: its numbers do not fit together")
    return Trial(ticket, asked, x, outcome)


def _follows(outcome: Outcome, constraints: int | None) -> bool:
    """Does the index follow from the values? That of f, where no constraint is violated, or that of the first that is."""
    if constraints is None:
        return True
    if outcome.failure:
        return outcome.index <= constraints + 1
    return len(outcome.values) <= constraints + 1 and outcome.index == next(
        (k for k, value in enumerate(outcome.values[:constraints], 1) if value > 0), constraints + 1)


def _numbers(content: dict[str, Any], name: str) -> tuple[float, ...]:
    given = content.get(name)
    if not isinstance(given, list):
        raise DamagedLine(f"it is no trial: its {name!r} is no list")
    return tuple(_double(value, name) for value in given)


def _number(content: dict[str, Any], name: str) -> float:
    return _double(content.get(name), name)


def _double(value: Any, name: str) -> float:
    try:
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
    except OverflowError:  # a whole number beyond the doubles
        pass
    raise DamagedLine(f"it is no trial: its {name!r} holds what is no finite number")


def _whole(content: dict[str, Any], name: str) -> int:
    value = content.get(name)
    if type(value) is not int or not 0 <= value < 1 << 53:
        raise DamagedLine(f"it is no trial: its {name!r} is no whole number")
    return value


def _inner_of(content: Any) -> InnerOutcome:
    if not isinstance(content, dict) or not isinstance(content.get("verdict"), str):
        raise DamagedLine("it is no trial: what it says of the inner problem has no verdict")
    lower = _number(content, "lower") if "lower" in content else -math.inf
    return InnerOutcome(_numbers(content, "z"), lower, content["verdict"], _whole(content, "evaluations"))
