"""What is kept of a run: a record with the fields that a person compares, and a digest of everything else that must not change.

Numbers are written as float.hex. Times, devices, files and versions are left out. Where a number comes from the platform's LAPACK
or libm (searches by trials, covariances), the record is coarse: four digits of it are kept, or three of estimates.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

import infimum

MOST = 8  # variables of a point that is kept as it is; longer ones are part of the digest
LEFT_OUT = {"seconds", "device", "view", "question", "inquiry", "journal", "solver", "version", "workers", "redone"}
FOLDER = re.compile(r"(?:/[\w.~-]+)+/(?=\w+\.(?:py|jsonl|inf|nl)\b)")  # of a file that a message names
ESTIMATES = {"multiplier", "stderr", "confidence"}  # by LAPACK or libm


BY_THE_CLOCK = ("Better points were still", "The first bounds were found", "The gap ")  # sentences of advice


def advice(text: str | None) -> str | None:
    """What of an advice does not depend on when the bounds of the run have moved."""
    if text is None:
        return None
    sentences = re.split(r"(?<=\.) (?=[A-Z])", text)
    return " ".join(sentence for sentence in sentences if not sentence.startswith(BY_THE_CLOCK))


def number(value: float, digits: int | None = None) -> str:
    """A double as text; the sign of NaN is the machine's own."""
    value = float(value)
    return "nan" if value != value else value.hex() if digits is None else f"{value:.{digits}g}"


def plain(value: Any, digits: int | None = None) -> Any:
    """Anything public as lists, dicts, strings, whole numbers and None, with every double as text."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return FOLDER.sub("", value)
    if isinstance(value, (float, np.floating)):
        return number(value, digits)
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (np.bool_, np.integer)):
        return value.item()
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, np.ndarray):
        return plain(value.tolist(), digits)
    if isinstance(value, infimum.Cover):
        return _cover(value, digits)
    if isinstance(value, infimum.Minimisers):
        return [plain(list(value), digits), value.rest, value.why]
    if isinstance(value, infimum.Interval):
        return [number(value.lo, digits), number(value.hi, digits)]
    if is_dataclass(value) and not isinstance(value, Mapping):
        value = {f.name: getattr(value, f.name) for f in fields(value)}
    if isinstance(value, Mapping):
        return {str(name): plain(entry, 3 if name in ESTIMATES else digits) for name, entry in value.items()
                if name not in LEFT_OUT}
    return [plain(entry, digits) for entry in value]


def _cover(cover: infimum.Cover, digits: int | None) -> Any:
    if cover.unions is not None:
        return [plain(cover.unions[i], digits) for i in range(len(cover.unions))]
    return plain([cover.lo, cover.hi, cover.lower, cover.upper], digits) if cover.kept else cover.count


def digest(value: Any, digits: int | None = None) -> str:
    """Of a value in its plain form."""
    return hashlib.sha256(json.dumps(plain(value, digits), sort_keys=True).encode()).hexdigest()[:20]


def of_result(r: infimum.Result, digits: int | None = None, discarded: dict[str, list[int]] | None = None) -> dict[str, Any]:
    """Of a Result."""
    short = r.x is None or len(r.x) <= MOST
    record = {"verdict": r.verdict.name, "lower": number(r.lower, digits), "upper": number(r.upper, digits),
              "x": plain(r.x, digits) if short else digest(r.x, digits), "nfev": r.nfev, "nit": r.nit,
              "regions": None if r.regions is None else r.regions.count, "message": plain(r.message),
              "obstacle": plain(r.obstacle), "advice": advice(r.advice)}
    if discarded:
        record["discarded"] = dict(sorted(discarded.items()))
    if r.minimisers is not None:
        record["minimisers"] = [len(r.minimisers), r.minimisers.rest, r.minimisers.why]
    if r.presolve:
        record["presolve"] = list(r.presolve)
    rest = {name: value for name, value in r.items() if name not in ("history", "trials", "advice", "presolve")}
    rest["history"] = [(h.nfev, h.fun, h.lower, h.upper) for h in r.history]
    if r.trials is not None:
        record["trials"] = plain(r.trials, digits)
    record["rest"] = digest(rest, digits)
    return record


def of_anything(value: Any, digits: int | None = None, discarded: dict[str, list[int]] | None = None) -> dict[str, Any]:
    """Of what a run returned: a Result, or a dict of public values that the run has chosen."""
    if isinstance(value, infimum.Result):
        return of_result(value, digits, discarded)
    return plain(value, digits)
