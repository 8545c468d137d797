"""The lines of a journal: JSON objects that people and programs can read.

Each has a checksum that continues that of the line before, so that a line that was changed, removed or moved is
noticed. Doubles are written with the digits that give the same bits again.
"""

import json
import math
import zlib
from dataclasses import dataclass
from typing import Any

from infimum.trials.outcome import Inner, Kind, Outcome

VERSION = 1
_NAMES = {kind: kind.name.lower() for kind in Kind}
_KINDS = {name: kind for kind, name in _NAMES.items()}
_FIELDS = {"trial", "asked", "x", "kind", "index", "values", "text", "seconds", "inner"}


class Damaged(Exception):
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
        raise Damaged("its checksum is wrong" if mark else "it has no checksum")
    return json.loads(text + b"}"), check


def content_of_trial(trial: Trial) -> dict[str, Any]:
    outcome = trial.outcome
    inner = {} if outcome.inner is None else {"inner": _content_of_inner(outcome.inner)}
    return {"trial": trial.ticket, "asked": trial.asked, "x": list(trial.x), "kind": _NAMES[outcome.kind], "index": outcome.index,
            "values": list(outcome.values), **({"text": outcome.text} if outcome.text else {}),
            "seconds": round(outcome.seconds, 6), **inner}


def _content_of_inner(inner: Inner) -> dict[str, Any]:
    """JSON has no infinite numbers: without a lower bound there is none."""
    lower = {"lower": inner.lower} if math.isfinite(inner.lower) else {}
    return {"z": list(inner.z), **lower, "verdict": inner.verdict, "evaluations": inner.evaluations}


def trial_of_content(content: dict[str, Any]) -> Trial:
    """The trial; raises Damaged where somebody has written a line by hand that is none."""
    try:
        if not set(content) <= _FIELDS:
            raise Damaged(f"it has the unknown field {min(set(content) - _FIELDS)!r}")
        x, values = (tuple(float(v) for v in content[name]) for name in ("x", "values"))
        inner = content.get("inner")
        outcome = Outcome(_KINDS[content["kind"]], values, content["index"], content.get("text", ""), content["seconds"],
                          None if inner is None else _inner_of(inner))
        trial = Trial(content["trial"], content["asked"], x, outcome)
        whole = all(type(v) is int for v in (trial.ticket, trial.asked, outcome.index)) and 0 <= trial.ticket < trial.asked
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"it is no trial ({error!r})") from None
    valid = range(1, len(values) + 1) if outcome.kind is Kind.VALUE else (len(values) + 1,)
    if not whole or outcome.index not in valid or not all(map(math.isfinite, (*x, *values))):
        raise Damaged("it is no trial: its numbers do not fit together")
    return trial


def _inner_of(content: dict[str, Any]) -> Inner:
    lower = float(content.get("lower", -math.inf))
    return Inner(tuple(map(float, content["z"])), lower, str(content["verdict"]), int(content["evaluations"]))
