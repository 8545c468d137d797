"""Recomputes the optima of the constrained gallery and writes infimum/problems/constrained/optima.py.

    python -m bench.constrained_optima search [NAME ...]     # many local searches, the best made precise
    python -m bench.constrained_optima confirm [NAME ...]    # Gurobi, SCIP and MAiNGO, until one agrees

`search` keeps the better of what it finds and what is recorded. `confirm` notes the solvers that claim the recorded value as the
global minimum, prints where one claims less, and gives their points to the local search.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np

from bench.constrained_points import Sides, precise, search
from infimum.problems import constrained
from infimum.problems.constrained import optima

FILE = Path(optima.__file__)
SECONDS = 10.0  # for each global solver
HEAD = '''"""The optima of the constrained problems: value, a minimiser, and the global solvers that claim the same value.

Written by `python -m bench.constrained_optima`: local searches from many points, the best made precise over its active
constraints in arithmetic of 600 bits, equalities exact. Change the problem, not this file.
"""

OPTIMA: dict[str, tuple[float, tuple[float, ...], tuple[str, ...]]] = {
'''


def lines(name: str, value: float, point: tuple[float, ...], confirmed: tuple[str, ...]) -> str:
    """A row of the table, wrapped."""
    words = [f"{name!r}:", f"({value!r},", *(f"{number!r}," for number in point), f"{confirmed!r}),"]
    words[2], words[-2] = f"({words[2]}", f"{words[-2]})," if len(point) == 1 else f"{words[-2][:-1]}),"
    text, row = [], "   "
    for word in words:
        if len(row) + len(word) + 1 > 130:
            text.append(row)
            row = "       "
        row += f" {word}"
    return "\n".join([*text, row]).replace("'", '"') + "\n"


def record(name: str, row: tuple) -> None:
    """One more row in the file, as it is by now, in the order of the gallery."""
    space: dict = {}
    exec(FILE.read_text(), space)
    rows = space["OPTIMA"] | {name: row}
    FILE.write_text(HEAD + "".join(lines(name, *rows[name]) for name in constrained.names() if name in rows) + "}\n")


def best(p: constrained.Constrained, count: int, extra: list) -> tuple[float, tuple[float, ...]] | None:
    """The optimum that many local searches agree on, precise; prints what happened."""
    began = time.monotonic()
    known = [] if p.minimiser is None else [p.minimiser]
    ends = search(p, count, [*extra, *known])
    if not ends:
        print(f"{p.name}: no feasible point", flush=True)
        return None
    found = next((polished for value, x in ends[:3] if (polished := precise(p, x, value))), None)
    hits = sum(value <= ends[0][0] + 1e-6 * max(1.0, abs(ends[0][0])) for value, _ in ends)
    said = f"{p.name}: n = {p.n}, {len(ends)} feasible ends, {hits} at {ends[0][0]:.12g}"
    if found is None:
        print(f"{said}, NOT PRECISE, {time.monotonic() - began:.1f} s", flush=True)
        return None
    value, point = float(found[0]), tuple(float(v) + 0.0 for v in found[1])
    value, point = (0.0 if abs(value) < 1e-30 else value), tuple(0.0 if abs(v) < 1e-30 else v for v in point)
    over = Sides.of(p).violation(np.array(point))
    print(f"{said}, precisely {value!r}, violation {over:.1e}, {time.monotonic() - began:.1f} s", flush=True)
    return value, point


def confirm(p: constrained.Constrained, before: tuple | None) -> tuple | None:
    """The row of the table after the global solvers have spoken: a better optimum if one has found it, and who agrees."""
    from bench.constrained_provers import SOLVERS
    claims = {}
    for name, solver in SOLVERS.items():
        try:
            claims[name] = claim = solver(p, SECONDS)
        except Exception as error:  # a formula that the solver does not know, or more than its licence allows
            print(f"{p.name}: {name} {type(error).__name__}: {str(error)[-90:]}", flush=True)
            continue
        known = math.inf if before is None else before[0]
        if claim.x and (before is None or claim.upper < known - 1e-5 * max(1.0, abs(known))):
            found = best(p, 0, [claim.x])
            before = (*found, ()) if found is not None and found[0] < known else before
        if before is not None and claim.solved and abs(claim.lower - before[0]) <= max(1e-6, 1e-4 * abs(before[0])):
            break
    if before is None:
        return None
    value, agreed = before[0], []
    slack = max(1e-6, 1e-4 * abs(value))
    for name, claim in claims.items():
        verdict = "undecided"
        if claim.solved:
            verdict = "agrees" if abs(claim.lower - value) <= slack and abs(claim.upper - value) <= slack else "DISAGREES"
        if claim.upper < value - slack:
            verdict += " FOUND LESS"
        agreed += [name] * (verdict == "agrees")
        said = f"{claim.lower:.9g} to {claim.upper:.9g}, here {value:.9g} ({claim.status})"
        print(f"{p.name}: {name} {verdict}: {said}", flush=True)
    return (*before[:2], tuple(agreed))


def main(task: str, *names: str) -> None:
    """One of the two tasks for the problems named, or for all."""
    for name in names or constrained.names():
        p, before = constrained.get(name), optima.OPTIMA.get(name)
        if p.infeasible:
            continue
        if before is not None and (p.n != len(before[1]) or Sides.of(p).violation(np.array(before[1])) > 1e-6):
            before = None  # the problem has changed
        if task == "search":
            found = best(p, 30, [])
            if found is not None and (before is None or found[0] <= before[0] + 1e-9 * max(1.0, abs(before[0]))):
                record(name, (*found, before[2] if before else ()))
        elif (row := confirm(p, before)) is not None:
            record(name, row)


if __name__ == "__main__":
    main(*sys.argv[1:])
