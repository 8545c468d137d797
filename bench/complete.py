"""The complete-search paper's own table: iterations until one region of width 1e-4 is left, 4**10 subregions each.

    python bench/complete.py [--quick] [--json FILE] [--problems TEXT ...]

The ten functions with 50 and 100 variables (50 only with --quick), engine "complete" as it is by default: ten variables are cut
into four, ten samples lie on the diagonal. Like the paper's method it stops by the width of the regions alone (atol = inf). A row
has the iterations, which must be the paper's, and the regions that are left, of which there must be one with the minimiser in it;
beside them the seconds of the whole call (tracing and compiling included), the seconds of an iteration, and the longest list of
regions. A result that contradicts what is known of a problem is printed as WRONG and does not hold. Exit status 1: something does
not hold.
"""

import argparse
import math
import os
import sys
import time
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
from bench.prove import wrong  # noqa: E402
from bench.table import HEAD, exit_code, report, this_machine, write_json  # noqa: E402
from infimum import problems  # noqa: E402
from infimum.engines.complete_options import CompleteOptions  # noqa: E402
from infimum.engines.complete_run import CompleteRun  # noqa: E402
from infimum.engines.region_list import BYTES  # noqa: E402
from infimum.evaluation.compile import compile as compiled  # noqa: E402
from infimum.problem.problem import Problem  # noqa: E402
from infimum.problem.settings import Goal, Method  # noqa: E402

XTOL = 1e-4
MOST_BYTES = 32  # a region, at most
PAPER = {"ackley": {50: 50, 100: 100}, "belegundu": {50: 45, 100: 90}, "breiman": {50: 40, 100: 80}, "fu": {50: 45, 100: 90},
         "griewank": {50: 55, 100: 110}, "levy": {50: 45, 100: 90}, "rastrigin": {50: 45, 100: 90}, "salomon": {50: 55, 100: 110},
         "styblinski": {50: 45, 100: 90}, "zabinsky": {50: 40, 100: 80}}
SUBREGIONS = 4**10
PATIENCE = 3  # times the iterations of the paper, then a run is stopped
TABLE: list[dict[str, Any]] = []


def search(name: str, n: int, most: int, device: str = "cpu") -> dict[str, Any]:
    """The whole run, at most so many iterations."""
    p = problems.get(f"complete_search_{name}", n)
    start = time.perf_counter()
    f, goal = compiled(p.fun, n, device=device), Goal(atol=math.inf, xtol=XTOL)
    run = CompleteRun(Problem(p.fun, p.lo, p.hi), f, Method("complete", CompleteOptions(), goal))
    begun, largest = time.perf_counter(), 0
    for _ in run.steps():
        largest = max(largest, len(run.search.list))
        if run.evaluations >= most * SUBREGIONS:
            break
    iterating = time.perf_counter() - begun
    r = run.finish(None if run.search.done else f"{most} iterations", time.perf_counter() - start, [])
    faults = wrong(r, p)
    return {"problem": name, "n": n, "iterations": r.nit, "regions": len(r.regions), "verdict": r.verdict.name, "wrong": faults,
            "lower": r.lower, "upper": r.upper, "seconds": r.seconds, "seconds an iteration": iterating / r.nit,
            "largest list": largest}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the table to this file, again after each row")
    parser.add_argument("--quick", action="store_true", help="50 variables only")
    parser.add_argument("--problems", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    options = parser.parse_args()
    machine = this_machine()
    print(f"{machine}\n\nThe complete search, 4**10 subregions an iteration, xtol = {XTOL:g}\n{HEAD}", flush=True)
    report("a region in the list", BYTES, "bytes", f"<= {MOST_BYTES}", BYTES <= MOST_BYTES)
    for n in (50,) if options.quick else (50, 100):
        for name, counts in PAPER.items():
            if options.problems and not any(text in name for text in options.problems):
                continue
            r = search(name, n, PATIENCE * counts[n])
            TABLE.append(r)
            holds = r["iterations"] == counts[n] and r["regions"] == 1 and r["verdict"] == "PROVED" and not r["wrong"]
            regions = f"{r['regions']:,} region{'' if r['regions'] == 1 else 's'}"
            fate = f"WRONG: {r['wrong']}" if r["wrong"] else "minimiser inside"
            report(f"{name}, n = {n}", r["iterations"], "iterations", f"= {counts[n]}, 1 region", holds,
                   f"{r['verdict']}, {regions}, {fate}, {r['seconds']:.1f} s, {r['seconds an iteration']:.2f} s each, "
                   f"largest list {r['largest list']:,} ({r['largest list'] * BYTES / 2**20:.1f} MiB)")
            write_json(options.json, machine, table=TABLE)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
