"""Writes .sol files, from which AMPL and others read the solution."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from infimum.ampl.header import Header
from infimum.errors import ModelFileError


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What AMPL learns of a run. code: AMPL's solve_result_num, of which the hundreds mean 0 solved, 1 solved?, 2 infeasible,
    3 unbounded, 4 a limit, 5 failure. message: lines for people. x: the point, None if there is none."""

    code: int
    message: str
    x: np.ndarray | None
    objective: int = 1


def write_solution(path: Path, header: Header, solution: Solution) -> None:
    """Writes the file, as text; no dual values are known."""
    try:
        path.write_text("\n".join(_lines(header, solution)) + "\n", "utf-8")
    except OSError as error:
        raise ModelFileError(f"{path} cannot be written: {error.strerror}") from error


def _lines(header: Header, solution: Solution) -> list[str]:
    x: Sequence[float] = () if solution.x is None else solution.x.tolist()
    message = [line or " " for line in solution.message.split("\n")]  # an empty line ends the message
    more = 0 if header.tolerance is None else 2                       # so the number of options says that a tolerance follows
    return [*message, "", "Options", str(len(header.options) + more), *map(str, header.options),
            str(header.constraints), "0", str(header.variables), str(len(x)), *([header.tolerance] if more else []),
            *map(repr, x), f"objno {max(solution.objective - 1, 0)} {solution.code}"]
