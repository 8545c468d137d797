"""Two trees of the package on the same models: verdicts, bounds, counts and times of first calls, interleaved.

    python bench/before_after.py --before TREE --models FOLDER [--limit 5] [--repeats 2] [--only TEXT ...] [--json FILE]

TREE is a checkout of another version (`git worktree add TREE COMMIT`), FOLDER holds `.nl` files. Each call is made in a new
process with the cache off, one tree after the other; the time of a model is the least of its repeats, in processor seconds after
`import numpy, infimum`. Exit status 1: a model is solved no more, or the mean time has grown.
"""

import argparse
import compileall
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402

HUNG = 60.0                           # seconds after the limit after which a call is given up
SOLVED = ("PROVED", "INFEASIBLE")
MOST_MEAN, MOST_SINGLE = 1.03, 1.15   # ratios of times that are reported as kept
SHORT = 0.05                          # seconds: differences below are those of the machine
CALL = """
import importlib, importlib.util, json, sys, time
import numpy, infimum
begun = time.process_time()
row = {"lower": None, "upper": None, "boxes": None, "steps": None}
try:
    from infimum.ampl import read
    home = next(name for name in ("model_run", "solving") if importlib.util.find_spec("infimum.ampl." + name))  # of each version
    settings = {"time_limit": float(sys.argv[2]), "device": "cpu", "progress": False}
    r = importlib.import_module("infimum.ampl." + home).solve(read(sys.argv[1]), settings=settings)[0]
    row |= {"verdict": r.verdict.name, "lower": float(r.lower), "upper": float(r.upper), "boxes": r.nfev, "steps": r.nit}
except infimum.InfimumError as error:
    row["verdict"] = type(error).__name__
print(json.dumps(row | {"seconds": time.process_time() - begun}))
"""


def called(tree: Path, model: Path, limit: float) -> dict[str, Any]:
    """What one call in a new process gives."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "INFIMUM_CACHE": "off"}
    command = [sys.executable, "-c", CALL, str(model), str(limit)]
    try:
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=limit + HUNG, cwd=tree)
        return json.loads(done.stdout.splitlines()[-1])
    except subprocess.TimeoutExpired:
        return {"verdict": "HUNG", "seconds": limit + HUNG}
    except (IndexError, json.JSONDecodeError):
        return {"verdict": "CRASHED", "seconds": limit, "output": done.stderr[-300:]}


def measured(trees: dict[str, Path], model: Path, limit: float, repeats: int) -> dict[str, dict[str, Any]]:
    """Both versions on one model; calls that end at the limit are not repeated."""
    found: dict[str, dict[str, Any]] = {}
    for _ in range(repeats):
        for name, tree in trees.items():
            before = found.get(name)
            if before is None or before["verdict"] in SOLVED:
                row = called(tree, model, limit)
                found[name] = row if before is None or row["seconds"] < before["seconds"] else before
    return found


def work(row: dict[str, Any]) -> tuple[Any, ...]:
    """What is to be equal in both versions."""
    return tuple(row.get(name) for name in ("verdict", "lower", "upper", "boxes", "steps"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", metavar="TREE", type=Path, required=True)
    parser.add_argument("--models", metavar="FOLDER", type=Path, required=True)
    parser.add_argument("--limit", type=float, default=5.0)
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--only", nargs="+", default=[""])
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    trees = {"before": asked.before.resolve(), "after": ROOT}
    for tree in trees.values():
        compileall.compile_dir(tree / "infimum", quiet=1)  # as where it is installed
    models = [path for path in sorted(asked.models.glob("*.nl")) if any(text in path.stem for text in asked.only)]
    head(f"{this_machine()}; {len(models)} models, {asked.limit:g} s each: time after / time before")
    rows, ratios = {}, {}
    for model in models:
        rows[model.stem] = row = measured(trees, model, asked.limit, asked.repeats)
        before, after = row["before"], row["after"]
        solved = [name for name in trees if row[name]["verdict"] in SOLVED]
        note = "the same work" if work(before) == work(after) else f"before {work(before)}, after {work(after)}"
        if len(solved) < 2:
            report(model.stem, math.nan, "", "", False if solved == ["before"] else None, note if solved else "open in both")
            continue
        ratio = ratios[model.stem] = after["seconds"] / before["seconds"]
        slower = ratio > MOST_SINGLE and after["seconds"] - before["seconds"] > SHORT
        report(model.stem, ratio, "", "", None, f"{after['seconds']:.2f} s{', slower' if slower else ''}; {note}")
    head("together")
    equal = sum(work(row["before"]) == work(row["after"]) for row in rows.values())
    report("models solved before", sum(row["before"]["verdict"] in SOLVED for row in rows.values()), "models")
    report("models solved after", sum(row["after"]["verdict"] in SOLVED for row in rows.values()), "models")
    report("the same verdict, bounds and counts", equal, "models")
    if ratios:
        mean = math.exp(math.fsum(map(math.log, ratios.values())) / len(ratios))
        report("geometric mean of the times", mean, "of the time", f"<= {MOST_MEAN:g}", mean <= MOST_MEAN, "solved by both")
    write_json(asked.json, this_machine(), models=rows)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
