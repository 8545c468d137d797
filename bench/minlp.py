"""Models with whole numbers and constraints: how many are solved in 1 s and in 20 s, beside SCIP and Gurobi.

    python bench/minlp.py --models FOLDER [--limit 20] [--feasibility 0] [--only TEXT ...] [--scip] [--jobs 1] [--json FILE]

FOLDER holds `index.json` with the files `NAME.nl` in it or in its archive `nl.tar.gz`. Each model is solved once on one core, in
a new process that has imported NumPy and `infimum` and nothing else, with the cache off. Solved means that upper - lower is at
most `--gap` times max(1, |upper|), or that there is no feasible point. The index says what the peers solved in 20 s on one core.
With `--scip`, SCIP solves the same files in the same run; its claims that our enclosures refute are printed.
Exit status 1: a claim contradicts a published optimum or a call ended without an answer.
"""

import argparse
import json
import multiprocessing
import multiprocessing.connection
import os
import statistics
import sys
import tarfile
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
os.environ["INFIMUM_CACHE"] = "off"
import numpy  # noqa: E402 - every user's function needs it

import infimum  # noqa: E402 - the clock starts after it
from bench.process import answer as process_answer  # noqa: E402
from bench.table import exit_code, head, report, write_json  # noqa: E402

HUNG = 60.0         # seconds after the limit after which a call is given up
QUICK = 1.0         # seconds of the first column
PUBLISHED = 1e-4    # published values are rounded, and found with tolerances of feasibility; relative to max(1, |value|)
ROUNDED = 1e-6      # a claim that is refuted by less is an effect of tolerances; relative likewise
WIDE = 1e10         # bounds beyond this are as none


def measured(path: Path, settings: dict[str, Any], gap: float, answer: Any) -> None:
    """One model in this process, which has loaded nothing but the package's outermost module."""
    start = time.perf_counter()
    row: dict[str, Any] = {"verdict": "", "message": "", "lower": -float("inf"), "upper": float("inf"), "solved": False}
    try:
        from infimum.ampl import read
        from infimum.ampl.model_run import solve
        result = solve(read(str(path)), settings=settings)[0]
        lower, upper = float(result.lower), float(result.upper)
        infeasible = result.verdict.name == "INFEASIBLE"
        row |= {"verdict": result.verdict.name, "message": result.message, "lower": lower, "upper": upper, "boxes": result.nfev,
                "solved": infeasible or (upper < numpy.inf and upper - lower <= gap * max(1.0, abs(upper)))}
    except infimum.InfimumError as error:
        row |= {"verdict": type(error).__name__, "message": str(error)}
    answer.send(row | {"seconds": time.perf_counter() - start})


def measured_by_scip(path: Path, settings: dict[str, Any], gap: float, answer: Any) -> None:
    """The same model by SCIP, with its own tolerances of feasibility."""
    from pyscipopt import Model  # of the extra `bench`

    start = time.perf_counter()
    model = Model()
    model.hideOutput()
    model.readProblem(str(path))
    model.setParams({"limits/time": settings["time_limit"], "limits/gap": gap})
    model.optimize()
    lower, upper = sorted((model.getDualbound(), model.getPrimalbound()))
    infinite = model.infinity()
    lower, upper = (float("-inf") if lower <= -infinite else lower), (float("inf") if upper >= infinite else upper)
    status = model.getStatus()
    solved = status == "infeasible" or (upper < numpy.inf and upper - lower <= gap * max(1.0, abs(upper)))
    answer.send({"verdict": status, "lower": lower, "upper": upper, "solved": solved, "seconds": time.perf_counter() - start})


def started(call: Callable, path: Path, settings: dict[str, Any], gap: float) -> tuple[Any, Any, Path]:
    """A process forked from this one, and where its answer comes."""
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    process = multiprocessing.get_context("fork").Process(target=call, args=(path, settings, gap, there))
    process.start()
    there.close()
    return process, here, path


def collected(process: Any, here: Any, path: Path, limit: float) -> dict[str, Any]:
    """The answer of a child, or what became of it."""
    found: dict[str, Any] = {"name": path.stem, "verdict": "HUNG", "message": "", "solved": False, "seconds": limit + HUNG,
                             "lower": -float("inf"), "upper": float("inf")}
    return process_answer(process, here, limit + HUNG, found)


def run(call: Callable, paths: list[Path], settings: dict[str, Any], gap: float, jobs: int) -> dict[str, dict[str, Any]]:
    """All models, `jobs` at a time."""
    rows: dict[str, dict[str, Any]] = {}
    left, running = list(paths), []
    while left or running:
        while left and len(running) < jobs:
            running.append(started(call, left.pop(0), settings, gap))
        ready = multiprocessing.connection.wait([here for _, here, _ in running], timeout=settings["time_limit"] + HUNG)
        for child in [child for child in running if child[1] in ready] or running[:1]:
            running.remove(child)
            row = collected(*child, settings["time_limit"] if ready else -HUNG)
            rows[row["name"]] = row
            print(f"  {row['name']:<34} {row['verdict']:<10} {'solved' if row['solved'] else 'open':<7} {row['seconds']:6.2f} s  "
                  f"[{row['lower']:.9g}, {row['upper']:.9g}]", flush=True)
    return rows


def contradicts(row: dict[str, Any], known: dict[str, Any]) -> str | None:
    """What a claim says against the published value, if there is one and it is said to be optimal."""
    value = known["published"]
    if known["published_kind"] != "opt" or value is None:
        return None
    near = PUBLISHED * max(1.0, abs(value))
    if row["verdict"] == "INFEASIBLE":
        return f"infeasible, published {value:.9g}"
    if row["lower"] > value + near or row["upper"] < value - near:
        return f"[{row['lower']:.9g}, {row['upper']:.9g}], published {value:.9g}"
    return None


def refuted(ours: dict[str, Any], claim: dict[str, Any]) -> str | None:
    """How an enclosure of ours contradicts the claim of another solver by more than rounding: the optimum lies beyond its best
    point or its bound, or there is a point where it says that there is none."""
    known = f"[{ours['lower']:.12g}, {ours['upper']:.12g}] is proved"
    if claim["verdict"] == "infeasible":
        return f"infeasible, but {known}" if ours["upper"] < numpy.inf and ours["lower"] > -numpy.inf else None
    lower, upper = (end + side * ROUNDED * max(1.0, abs(end)) for side, end in ((-1, ours["lower"]), (1, ours["upper"])))
    apart = claim["upper"] < lower or claim["lower"] > upper
    return f"[{claim['lower']:.12g}, {claim['upper']:.12g}], but {known}" if apart else None


def obstacle(row: dict[str, Any], maximised: bool) -> str:
    """Why a model is open, in a few words."""
    attained, proved = (row["lower"], row["upper"]) if maximised else (row["upper"], row["lower"])
    if row["verdict"] not in ("STOPPED", "UNDECIDED", "PROVED"):
        return row["verdict"]
    if abs(proved) > WIDE:
        return "no bound" if abs(attained) < WIDE else "no bound and no verified point"
    return "no verified point" if abs(attained) > WIDE else "a gap is left"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--models", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=20.0)
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--feasibility", type=float, default=0.0)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--scip", action="store_true")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    index = {row["name"]: row for row in json.loads((asked.models / "index.json").read_text(encoding="utf-8"))}
    settings = {"time_limit": asked.limit, "threads": 1, "device": "cpu", "progress": False, "atol": asked.gap, "rtol": asked.gap,
                "feasibility": asked.feasibility}
    with tempfile.TemporaryDirectory() as folder:
        if (asked.models / "nl.tar.gz").exists():
            with tarfile.open(asked.models / "nl.tar.gz") as archive:
                archive.extractall(folder, filter="data")
        files = {path.stem: path for place in (Path(folder), asked.models) for path in place.rglob("*.nl")}
        names = [name for name in index if any(text in name for text in asked.only)]
        paths = [files[name] for name in names]
        rows = run(measured, paths, settings, asked.gap, asked.jobs)
        scip = run(measured_by_scip, paths, settings, asked.gap, asked.jobs) if asked.scip else {}
    tell(rows, index, asked.limit)
    if scip:
        head("SCIP in this run")
        for bound in (QUICK, asked.limit):
            count = sum(row["solved"] and (row["seconds"] <= bound or bound == asked.limit) for row in scip.values())
            report(f"solved in {bound:g} s by SCIP", count, "models")
        claims = {name: text for name, row in scip.items() if (text := refuted(rows[name], row))}
        report("claims of SCIP that our enclosures refute", len(claims), "models")
        for name, text in claims.items():
            print(f"  {name}: {text}")
    from bench.table import this_machine
    write_json(asked.json, this_machine(), settings=settings, models=list(rows.values()), scip=list(scip.values()))
    return exit_code()


def tell(rows: dict[str, dict[str, Any]], index: dict[str, dict[str, Any]], limit: float) -> None:
    """The tables."""
    solved = {name for name, row in rows.items() if row["solved"]}
    peers = [key for key in next(iter(index.values())) if isinstance(next(iter(index.values()))[key], dict)]
    head(f"{len(rows)} models, one core each, limit {limit:g} s")
    for bound in sorted({min(QUICK, limit), limit}):
        others = ", ".join(f"{key} {sum(index[n][key]['solved'] and index[n][key]['seconds'] <= bound for n in rows)}"
                           for key in peers)
        count = sum(rows[name]["seconds"] <= bound or bound == limit for name in solved)
        report(f"solved in {bound:g} s", count, "models", note=others)
    whole = {name for name in rows if index[name]["integers"]}
    report("solved, with whole numbers", len(solved & whole), "models", note=f"of {len(whole)}")
    report("solved, all variables real", len(solved - whole), "models", note=f"of {len(rows) - len(whole)}")
    by_peers = [name for name in rows if any(index[name][key]["solved"] for key in peers if not key.startswith("infimum"))]
    report("solved by a peer and open here", len(set(by_peers) - solved), "models")
    easy = [rows[name]["seconds"] for name in solved if all(index[name][key]["solved"] for key in peers)]
    if easy:
        report("median first solve of those that all solve", statistics.median(easy), "s")
    wrong = {name: text for name, row in rows.items() if (text := contradicts(row, index[name]))}
    report("contradictions with published optima", len(wrong), "models", "0", not wrong)
    for name, text in wrong.items():
        print(f"  {name}: {text}")
    lost = [name for name, row in rows.items() if row["verdict"] in ("HUNG", "CRASHED")]
    report("calls without an answer", len(lost), "models", "0", not lost, ", ".join(lost))
    head("what is open, and why")
    reasons = Counter(obstacle(rows[name], index[name]["sense"] == "Max") for name in rows if name not in solved)
    for reason, count in reasons.most_common():
        names = [name for name in rows if name not in solved and obstacle(rows[name], index[name]["sense"] == "Max") == reason]
        report(reason, count, "models", note=", ".join(names))


if __name__ == "__main__":
    sys.exit(main())
