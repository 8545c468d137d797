"""Writes .sol files, from which AMPL and others read the solution."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from infimum.ampl.header import Header
from infimum.errors import ModelFileError
from infimum.support.lazy import dataclass

_OF_OBJECTIVES, _REAL = 2, 4  # kinds of suffixes
_OPTIONS = 4  # if there are more, two of them stand for the tolerance


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What AMPL learns of a run. code: AMPL's solve_result_num, of which the hundreds mean 0 solved, 1 solved?, 2 infeasible,
    3 unbounded, 4 a limit, 5 failure. message: lines for people. x: the point, None if there is none. objective: its number, from
    1 on; suffixes: numbers that belong to it, by name."""

    code: int
    message: str
    x: np.ndarray | None
    objective: int = 1
    suffixes: Mapping[str, float] = field(default_factory=dict)


def write_solution(path: Path, header: Header, solution: Solution) -> None:
    """Writes the file, as text; no dual values are known. Pyomo and others read it in the encoding of the machine."""
    import locale

    try:
        path.write_text("\n".join(_lines(header, solution)) + "\n", locale.getencoding(), "backslashreplace")
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror}") from error


class SolutionSummary(NamedTuple):
    """What a .sol file of ours says, but for the point: how many constraints and variables the model has, solve_result_num, and
    the suffixes of the objective."""

    constraints: int
    variables: int
    code: int
    suffixes: dict[str, float]


def read_summary(path: Path) -> SolutionSummary:
    """Reads a file that `write_solution` has written."""
    import locale

    lines = path.read_text(locale.getencoding(), "replace").split("\n")
    begin = lines.index("Options") + 2
    begin += (count := int(lines[begin - 1])) - (2 if count > _OPTIONS else 0)
    end = next(at for at in range(len(lines) - 1, begin, -1) if lines[at].startswith("objno "))
    suffixes = {name: float(value.split()[1]) for name, value in zip(lines[end + 2::3], lines[end + 3::3], strict=False)}
    return SolutionSummary(int(lines[begin]), int(lines[begin + 2]), int(lines[end].split()[2]), suffixes)


def without_colons(text: str) -> str:
    """The text as Pyomo can print it, which writes \\x3a for a colon.

    >>> without_colons("No bound: flow[a:b] is infinite")
    'No bound, flow[a.b] is infinite'
    """
    return re.sub(r":(?=\s|$)", ",", text).replace(":", ".")


def _lines(header: Header, solution: Solution) -> list[str]:
    x: Sequence[float] = () if solution.x is None else solution.x.tolist()
    message = [line or " " for line in without_colons(solution.message).split("\n")]  # an empty line ends the message
    more = 0 if header.tolerance is None else 2  # so the number of options says that a tolerance follows
    number = max(solution.objective - 1, 0)
    suffixes = [line for name, value in solution.suffixes.items() for line in (
        f"suffix {_OF_OBJECTIVES | _REAL} 1 {len(name) + 1} 0 0", name, f"{number} {_number(value)}")]
    return [*message, "", "Options", str(len(header.options) + more), *map(str, header.options),
            str(header.constraints), "0", str(header.variables), str(len(x)), *([header.tolerance] if more else []),
            *map(repr, x), f"objno {number} {solution.code}", *suffixes]


def _number(value: float) -> str:
    """As C writes it, and everybody reads it."""
    return repr(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"
