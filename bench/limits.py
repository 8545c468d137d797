"""Are time limits kept? Every problem of the gallery, every constrained one, and the models of a folder, each stopped early.

    python bench/limits.py [--limits 0.2 1 5] [--models FOLDER] [--only TEXT ...] [--jobs 1] [--json FILE]

Each call is the first of its problem, in a process of its own that was forked after everything is imported, with the kernel
cache off, so that tracing and compiling count. A limit is kept if the call returns within 0.5 s + 5 % of it. Two more figures:
how long `str(result)` takes, and whether a bound that the callback saw is missing in the result. FOLDER holds `.nl` files.
Exit status 1: a limit was not kept, or something was lost.
"""

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
os.environ["INFIMUM_CACHE"] = "off"
import infimum  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402
from infimum.ampl import read  # noqa: E402
from infimum.ampl.model_run import solve  # noqa: E402
from infimum.errors import InfimumError  # noqa: E402
from infimum.problems import constrained, get, names  # noqa: E402

LIMITS = (0.2, 1.0, 5.0)
ALLOWED, PART = 0.5, 0.05   # seconds beyond a limit, and the part of it
PRINTED = 0.5               # seconds that printing may take
NEAR = 1e-6                 # a value that the callback sees may be an estimate, which is verified later to be so much higher
SHOWN = 5                   # of the worst, by name
HUNG = 120.0                # seconds after which a call is given up
Solve = Callable[..., Any]


def problems(folder: str | None) -> dict[str, Solve]:
    """All problems, by name: what calls the solver with further settings."""
    found: dict[str, Solve] = {}
    for name in names():
        found[name] = lambda name=name, **settings: infimum.minimize(get(name).fun, get(name).bounds, **settings)
    for name in constrained.names():
        found[f"constrained {name}"] = lambda name=name, **settings: _constrained(constrained.get(name), settings)
    for path in sorted(Path(folder).glob("*.nl")) if folder is not None else ():
        found[path.stem] = lambda path=path, **settings: _model(path, settings)
    return found


def _model(path: Path, settings: dict[str, Any]) -> Any:
    """As the command line solves it: reading the file counts."""
    start = time.perf_counter()
    model = read(str(path))
    return solve(model, settings=settings, spent=time.perf_counter() - start)[0]


def _constrained(problem: Any, settings: dict[str, Any]) -> Any:
    return infimum.minimize(problem.fun, problem.bounds, constraints=problem.constraints, integrality=problem.integrality,
                            **settings)


def measured(call: Solve, limit: float, answer: Any) -> None:
    """One call: seconds, what is lost, how long printing takes."""
    seen = [-float("inf"), float("inf")]

    def watch(snapshot: Any) -> None:
        seen[:] = max(seen[0], snapshot.lower), min(seen[1], snapshot.upper)
    start = time.perf_counter()
    try:
        result = call(time_limit=limit, threads=1, device="cpu", callback=watch, progress=False)
        seconds = time.perf_counter() - start
        start = time.perf_counter()
        str(result)
        printed = time.perf_counter() - start
        lost = result.lower < seen[0] or result.upper > seen[1] + NEAR * (1 + abs(seen[1]))
        answer.send({"seconds": seconds, "printed": printed, "lost": lost, "verdict": result.verdict.name})
    except InfimumError as error:
        answer.send({"seconds": time.perf_counter() - start, "printed": 0.0, "lost": False, "verdict": type(error).__name__})


def in_a_child(name: str, call: Solve, limit: float) -> tuple[Any, Any, str]:
    """The process, and where its answer comes."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=measured, args=(call, limit, there))
    process.start()
    there.close()
    return process, here, name


def collected(process: Any, here: Any, limit: float) -> dict[str, Any]:
    """The answer of a child, or what became of it."""
    try:
        hung = {"seconds": limit + HUNG, "printed": 0.0, "lost": False, "verdict": "HUNG"}
        return here.recv() if here.poll(limit + HUNG) else hung
    except EOFError:
        return {"seconds": 0.0, "printed": 0.0, "lost": True, "verdict": "CRASHED"}
    finally:
        process.kill()
        process.join()


def run(found: dict[str, Solve], limit: float, jobs: int) -> list[dict[str, Any]]:
    """All problems with one limit."""
    rows, names_left, running = [], list(found), []
    while names_left or running:
        while names_left and len(running) < jobs:
            name = names_left.pop(0)
            running.append(in_a_child(name, found[name], limit))
        process, here, name = running.pop(0)
        rows.append({"problem": name, "limit": limit, **collected(process, here, limit)})
        over = rows[-1]["seconds"] - limit
        if over > ALLOWED + PART * limit or rows[-1]["lost"] or rows[-1]["printed"] > PRINTED:
            print(f"  {name:<40} {limit:g} s: {over:+.2f} s, printed in {rows[-1]['printed']:.2f} s, {rows[-1]['verdict']}"
                  f"{', LOST' if rows[-1]['lost'] else ''}", flush=True)
    return rows


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--limits", type=float, nargs="+", default=LIMITS)
    parser.add_argument("--models", metavar="FOLDER")
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    found = {name: call for name, call in problems(asked.models).items() if any(text in name for text in asked.only)}
    infimum.minimize(lambda x: x[0] ** 2, [(-1, 2)])  # imports, and the first kernel of the process
    machine = this_machine()
    print(machine)
    everything: list[dict[str, Any]] = []
    for limit in asked.limits:
        rows = run(found, limit, asked.jobs)
        everything += rows
        head(f"{len(rows)} problems, limit {limit:g} s")
        over = sorted(((row["seconds"] - limit, row["problem"]) for row in rows), reverse=True)
        worst, allowed = over[0][0], ALLOWED + PART * limit
        report("the largest excess", worst, "s", f"<= {allowed:g}", worst <= allowed,
               ", ".join(f"{name} {excess:.2f}" for excess, name in over[:SHOWN]))
        report("limits not kept", sum(excess > allowed for excess, _ in over), "problems", "0", worst <= allowed)
        lost = [row["problem"] for row in rows if row["lost"]]
        report("bounds or points lost", len(lost), "problems", "0", not lost, ", ".join(lost[:SHOWN]))
        slow = max(rows, key=lambda row: row["printed"])
        report("printing the result takes at most", slow["printed"], "s", f"<= {PRINTED:g}", slow["printed"] <= PRINTED,
               slow["problem"])
    write_json(asked.json, machine, calls=everything)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
