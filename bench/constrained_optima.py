"""Recomputes the optima of the constrained gallery and writes infimum/problems/constrained/optima.py.

    python -m bench.constrained_optima search [NAME ...]     # many local searches, the best made precise
    python -m bench.constrained_optima confirm [NAME ...]    # what Gurobi, SCIP and MAiNGO say, 20 s each

`search` keeps the better of what it finds and what is recorded. `confirm` notes the solvers that claim the recorded value as the
global minimum, prints where one claims less, and gives their points to the local search.
"""

import sys
import time
from pathlib import Path

import numpy as np

from bench.constrained_points import Sides, precise, search
from infimum.problems import constrained
from infimum.problems.constrained import optima

FILE = Path(optima.__file__)
HEAD = '''"""The optima of the constrained problems: value, a minimiser, and the global solvers that claim the same value.

Written by `python -m bench.constrained_optima`: local searches from many points, the best made precise over its active
constraints in arithmetic of 600 bits, equalities exact. Change the problem, not this file.
"""

OPTIMA: dict[str, tuple[float, tuple[float, ...], tuple[str, ...]]] = {
'''


def lines(name: str, value: float, point: tuple[float, ...], confirmed: tuple[str, ...]) -> str:
    """A row of the table, wrapped."""
    text, row = [f"    {name!r}: ({value!r}, ("], "       "
    for number in point:
        if len(row) + len(repr(number)) > 126:
            text.append(row)
            row = "       "
        row += f" {number!r},"
    return "\n".join([*text, row, f"    ), {confirmed!r}),"]).replace("'", '"') + "\n"


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


def confirm(p: constrained.Constrained) -> tuple[str, ...]:
    """The solvers that claim the recorded minimum."""
    from bench.constrained_provers import SOLVERS
    value, agreed = p.minimum.lo, []
    slack = 1e-4 * max(1.0, abs(value))
    for name, solver in SOLVERS.items():
        try:
            claim = solver(p, 20.0)
        except Exception as error:  # a formula that the solver does not know
            print(f"{p.name}: {name} {type(error).__name__}: {str(error)[:90]}", flush=True)
            continue
        verdict = "undecided"
        if claim.solved:
            verdict = "agrees" if abs(claim.lower - value) <= slack and abs(claim.upper - value) <= slack else "DISAGREES"
        if claim.upper < value - slack:
            verdict += " FOUND LESS"
        agreed += [name] * (verdict == "agrees")
        said = f"{claim.lower:.9g} to {claim.upper:.9g}, here {value:.9g} ({claim.status})"
        print(f"{p.name}: {name} {verdict}: {said}", flush=True)
    return tuple(agreed)


def main(task: str, *names: str) -> None:
    """One of the two tasks for the problems named, or for all."""
    for name in names or constrained.names():
        p, before = constrained.get(name), optima.OPTIMA.get(name)
        if p.infeasible:
            continue
        if task == "search":
            found = best(p, 30, [])
            if found is not None and (before is None or found[0] <= before[0] + 1e-9 * max(1.0, abs(before[0]))):
                record(name, (*found, before[2] if before else ()))
        elif before is not None:
            record(name, (*before[:2], confirm(p)))


if __name__ == "__main__":
    main(*sys.argv[1:])
