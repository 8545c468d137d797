"""Trained networks, errors of surrogates, fits of differential equations: how long proofs take, beside MAiNGO and Gurobi.

    python bench/networks.py [--only TEXT ...] [--skip PART ...] [--limit S] [--device cuda] [--peers] [--vectors FOLDER]
                             [--json FILE] > FILE

Parts, all of them by default:
  figures  each problem of `bench/network_problems.py` twice: a first call, which traces and compiles, and a second one
  counts   the networks of Alpine02: regions that branch and bound tests with linear bounds, and with the mean value form alone,
           and the time of the tests for each, of all processors together

Weights are those in bench/network_weights, the error of each fit is printed. With a folder of vectors, the network of peaks is
the one that MAiNGO ships. Peers, MAiNGO and Gurobi (the extra `bench` has them), solve the same problems in processes of their
own, one thread each. Boxes are the regions that branch and bound tests; evaluations count points and what else is enclosed too.
Exit status 1: something that was wanted does not hold.
"""

import argparse
import os
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench import region_test_counts  # noqa: E402
from bench.network_peers import SOLVERS as PEERS  # noqa: E402
from bench.network_problems import Case, all_cases, alpine_cases  # noqa: E402
from bench.process import child  # noqa: E402
from bench.table import exit_code, head, report, this_machine, timed, write_json  # noqa: E402

LIMIT, PATIENCE = 60.0, 1.25  # seconds at least; times what is wanted
AGAIN, SHORT = 8, 2.0         # calls more of what takes fewer seconds than that, where parts of a proof are timed
MEAN_VALUE, LINEAR = "first_order", "linear"  # the parts of a proof that are compared: their names in bounds/
FEWER, SLOWER = 5.0, 3.0  # wanted of linear bounds: so many times fewer regions, at most so many times the time for each,
JUDGED_FROM = 3           # with so many variables or more


def solved(case: Case, limit: float, device: str) -> Any:
    solve = infimum.maximize if case.maximise else infimum.minimize
    return solve(case.fun, case.bounds, constraints=case.constraints, atol=case.atol, rtol=case.rtol, time_limit=limit, seed=0,
                 device=device, progress=False)


def twice(call: Callable[[], Any]) -> tuple[float, float, Any, region_test_counts.Count]:
    """The seconds of a first and a second call, and what came of the second. What is not proved is not called again."""
    (first, r, count), *later = calls(call, 2)
    return first, *(later[0] if later else (first, r, count))


def calls(call: Callable[[], Any], most: int) -> list[tuple[float, Any, region_test_counts.Count]]:
    """The seconds, the result and the counts of so many calls; the first alone where it has proved nothing."""
    found = []
    while len(found) < most and all(r.verdict.name == "PROVED" for _, r, _ in found):
        with region_test_counts.counting() as count:
            seconds, r = timed(call)
        found.append((seconds, r, count))
    return found


def figures(cases: list[Case], options: argparse.Namespace) -> None:
    print()
    for line in dict.fromkeys(line for case in cases for line in case.networks):
        print(line)
    head(f"Seconds of a second call, {options.device}")
    table = options.tables.setdefault("figures", [])
    for case in cases:
        wanted = case.wanted.get(options.device)
        limit = options.limit or max(LIMIT, PATIENCE * (wanted or 0.0))
        first, warm, r, count = twice(partial(solved, case, limit, options.device))
        row = {"problem": case.name, "first": first, "seconds": warm, "verdict": r.verdict.name, "lower": r.lower,
               "upper": r.upper, "evaluations": r.nfev, "regions": count.regions, "discarded": dict(count.discarded),
               "wanted": wanted, "device": options.device}
        if options.peers:
            row["peers"] = {name: child("network_peers", "peer", 2 * limit + 30, alone=True, name=name, problem=case.name,
                                        limit=limit, vectors=options.vectors and str(options.vectors)) for name in PEERS}
        table.append(row)
        note = (f"{r.verdict.name}, {count.regions:,} boxes, {r.nfev:,} evaluations, [{r.lower:.7g}, {r.upper:.7g}], "
                f"first call {first:.2f} s")
        report(case.name, warm, "s", "" if wanted is None else f"<= {wanted:g}",
               None if wanted is None else r.verdict.name == "PROVED" and warm <= wanted,
               note + "".join(f", {name} {_claim(said)}" for name, said in row.get("peers", {}).items()))
        options.keep()


def _claim(said: dict[str, Any]) -> str:
    if "failure" in said:
        return said["failure"][:60]
    return f"{said['seconds']:.3g} s" + ("" if said["solved"] else f" open [{said['lower']:.6g}, {said['upper']:.6g}]")


def counts(cases: list[Case], options: argparse.Namespace) -> None:
    """Parts are chosen by name: see `bench/region_test_counts.py`."""
    head("Regions with linear bounds, beside the mean value form alone")
    known, table = region_test_counts.names(), options.tables.setdefault("counts", [])
    if LINEAR not in known:
        print(f"no region test is named {LINEAR!r} here (there are {', '.join(known)}): the mean value form is counted alone")
    ways = {"mean value form": (MEAN_VALUE,)} | ({"linear bounds": (MEAN_VALUE, LINEAR)} if LINEAR in known else {})
    for case in cases:
        rows = {}
        for way, parts in ways.items():
            with region_test_counts.only(parts):
                seconds, r, count = twice(call := partial(solved, case, options.limit or LIMIT, options.device))[1:]
                again = [c for *_, c in calls(call, AGAIN if seconds < SHORT else 0)]  # what is short is called until it is warm
            spent = min(c.cpu_seconds if options.device == "cpu" else c.seconds for c in (count, *again))
            rows[way] = {"problem": case.name, "way": way, "verdict": r.verdict.name, "regions": count.regions,
                         "seconds": spent, "lower": r.lower, "upper": r.upper}
            report(f"{case.name}, {way}", 1e6 * spent / max(1, count.regions), "us a box",
                   note=f"{r.verdict.name}, {count.regions:,} boxes, [{r.lower:.7g}, {r.upper:.7g}]")
        table += rows.values()
        if len(rows) == 2:
            _compare(case, *rows.values())
        options.keep()


def _compare(case: Case, mean: dict[str, Any], linear: dict[str, Any]) -> None:
    """A proof that was not finished needs more boxes than were counted: of the mean value form's that is said, linear bounds
    have spared nothing without one."""
    proved = {row["way"]: row["verdict"] == "PROVED" for row in (mean, linear)}
    fewer = mean["regions"] / max(1, linear["regions"])
    slower = (linear["seconds"] * mean["regions"]) / max(1e-9, mean["seconds"] * linear["regions"])
    judged = len(case.bounds) >= JUDGED_FROM
    report(f"{case.name}, boxes spared", fewer, "times", f">= {FEWER:g}" if judged else "",
           proved[linear["way"]] and fewer >= FEWER if judged else None,
           "" if all(proved.values()) else f"not proved: {', '.join(way for way, done in proved.items() if not done)}")
    report(f"{case.name}, time for each", slower, "times", f"<= {SLOWER:g}" if judged else "",
           slower <= SLOWER if judged else None)


PARTS = ("figures", "counts")


def chosen(cases: list[Case], options: argparse.Namespace) -> list[Case]:
    if options.only:
        return [case for case in cases if any(text in case.name for text in options.only)]
    return [case for case in cases if options.device != "cpu" or not case.only_gpu]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    parser.add_argument("--skip", nargs="+", choices=PARTS, default=(), help="parts not to run")
    parser.add_argument("--limit", type=float, metavar="S", help="seconds that a call may take (60, or more if more are wanted)")
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--peers", action="store_true", help="compare with MAiNGO and Gurobi")
    parser.add_argument("--vectors", type=Path, metavar="FOLDER", help="a folder with MAiNGO's network of peaks in ann/")
    parser.add_argument("--json", help="write the tables to this file, again after each row")
    options = parser.parse_args()
    options.tables = {}
    options.vectors = options.vectors and options.vectors.resolve()
    machine = this_machine(options.device)
    options.keep = lambda: write_json(options.json, machine, tables=options.tables)
    print(machine, flush=True)
    if "figures" not in options.skip:
        figures(chosen(all_cases(options.vectors), options), options)
    if "counts" not in options.skip:
        counts(chosen(alpine_cases(), options), options)
    options.keep()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
