"""What is printed, and the exit code a verdict gives."""

import json
import math
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from infimum.cli.main import INTERRUPTED
from infimum.cli.spoken import spoken
from infimum.result import Result, Verdict

OK, OPEN, USAGE, INFEASIBLE = 0, 1, 2, 3
CODES = {Verdict.PROVED: OK, Verdict.STOPPED: OPEN, Verdict.UNDECIDED: OPEN, Verdict.INFEASIBLE: INFEASIBLE,
         Verdict.CANDIDATE: OK}
CODES_HELP = f"""exit codes:
  {OK}    proved, or a search that reached its own goal
  {OPEN}    stopped by a limit, undecided, or a search that has not converged
  {USAGE}    wrong usage, or an error in the file or its function
  {INFEASIBLE}    proved: the function is defined nowhere within the bounds
  {INTERRUPTED}  Ctrl-C before there was a result; later, Ctrl-C stops the run and the enclosure reached is printed"""


def code_of(result: Result) -> int:
    """The exit code."""
    code = CODES[result.verdict]
    return OPEN if code == OK and not result.success else code


def row(name: str, text: str) -> str:
    """A line that stands in one table with those of a printed Result."""
    return f"{name:<12} {text}"


def plain(value: Any) -> Any:
    """The value in the terms of JSON: arrays as lists, enums as their names, infinities and NaN as strings.

    >>> plain({"x": np.array([1.0, -np.inf]), "verdict": Verdict.PROVED})
    {'x': [1.0, '-inf'], 'verdict': 'PROVED'}
    """
    if is_dataclass(value):
        return {f.name: plain(getattr(value, f.name)) for f in fields(value)}
    if isinstance(value, dict):
        return {str(name): plain(entry) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, (np.ndarray, np.generic)):
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


def print_json(value: Any) -> None:
    """One JSON object on one line."""
    print(json.dumps(plain(value), allow_nan=False))


def show(result: Result, as_json: bool, function: str) -> int:
    """Prints the answer, as one JSON object or as a table headed by the function; returns the exit code."""
    if as_json:
        print_json(result)
    else:
        print(row("function", function))
        print(spoken(str(result)))
    return code_of(result)
