"""Constrained problems: how many are proved in which time, and whether that is true; beside MAiNGO, SCIP and Gurobi.

    python bench/constraints.py [--only PART ...] [--problems TEXT ...] [--limit S] [--lp] [--peers] [--device cuda] [--json FILE]

Parts, all of them by default:
  gallery  the constrained problems of infimum.problems, equations exact, to relative gaps of 1e-3 and 1e-6
  cec      those of the CEC 2006 competition, the circles and Haverly's, to 1e-4, warm: the best of 12 calls after the first
  pooling  pools and separations, to 1e-3, with linear programs, warm, processor time: within 10 times Gurobi's (with --peers)
  chain    1,000 variables and 999 equations, each of two neighbours, contracted to a point
  random   random problems with a planted optimum, and infeasible ones: no wrong verdict

An answer that contradicts what is known of a problem is printed as WRONG. Exit status 1: something was wrong, or does not hold.
"""

import argparse
import fileinput
import json
import math
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.constrained_provers import SOLVERS as PEERS  # noqa: E402
from bench.constraint_random import answer, judged, planted  # noqa: E402
from bench.process import child  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402
from infimum.problems import constrained  # noqa: E402

ATOL = 1e-7          # beside the relative gap, as ibex has it
GAPS = (1e-3, 1e-6)
TIMES = (1.0, 10.0, 20.0)
CEC, CEC_GAP, QUICK, CALLS = ("g0", "g1", "g2", "circle", "haverly"), 1e-4, 0.1, 12
POOLS = ("haverly", "bental", "foulds", "adhya", "ex5_3_2", "g23")


def contradiction(p: Any, r: Any) -> str:
    """How a result contradicts what is known of the problem; empty where it does not."""
    if p.infeasible:
        return "a feasible point of an infeasible problem" if r.upper < math.inf else ""
    if p.minimum is None:
        return ""
    faults = []
    if r.verdict.name == "INFEASIBLE":
        faults.append("INFEASIBLE")
    if r.lower > p.minimum.hi:
        faults.append(f"lower {r.lower!r} is above the minimum {p.minimum!r}")
    if r.upper < p.minimum.lo:
        faults.append(f"upper {r.upper!r} is below the minimum {p.minimum!r}")
    return "; ".join(faults)


def solved(p: Any, r: Any) -> bool:
    return r.verdict.name == ("INFEASIBLE" if p.infeasible else "PROVED")


def ours(p: Any, rtol: float, options: argparse.Namespace) -> tuple[float, Any]:
    """The seconds and the result of one call."""
    start = time.perf_counter()
    r = infimum.minimize(p.fun, p.bounds, constraints=p.constraints, integrality=p.integrality, atol=ATOL, rtol=rtol, seed=0,
                         time_limit=options.limit, device=options.device, progress=False,
                         options={"lp": True} if options.lp else None)
    return time.perf_counter() - start, r


def row_of(p: Any, rtol: float, options: argparse.Namespace, calls: int = 1) -> dict[str, Any]:
    """The first call; where it is quick, the best time of so many more: what is called again and again is compiled in the end."""
    first, r = ours(p, rtol, options)
    warm = min(ours(p, rtol, options)[0] for _ in range(calls)) if first < 10.0 and solved(p, r) else first
    wrong = contradiction(p, r)
    row = {"problem": p.name, "n": p.n, "rtol": rtol, "first": first, "seconds": warm, "verdict": r.verdict.name,
           "lower": r.lower, "upper": r.upper, "boxes": r.nfev, "solved": solved(p, r), "wrong": wrong}
    if options.peers:
        row["peers"] = {name: child("constrained_provers", "peer", 2 * options.limit + 30, alone=True, name=name, problem=p.name,
                                    limit=options.limit, rtol=rtol) for name in PEERS}
    return row


def show(row: dict[str, Any]) -> None:
    gap = row["upper"] - row["lower"]
    peers = "".join(f"  {name} {r['failure'][:40] if 'failure' in r else _said(r)}" for name, r in row.get("peers", {}).items())
    print(f"{row['problem']:<24} n={row['n']:<3} {row['seconds']:8.3f} s (first {row['first']:7.3f}) {row['verdict']:<10} "
          f"gap {gap:<9.2g} [{row['lower']:.7g}, {row['upper']:.7g}] {row['boxes']:,} boxes"
          + (f"  WRONG: {row['wrong']}" if row["wrong"] else "") + peers, flush=True)


def _said(r: dict[str, Any]) -> str:
    return f"{r['seconds']:.3f} s" + ("" if r["solved"] else " open") + (" WRONG" if r["wrong"] else "")


def chosen(options: argparse.Namespace) -> list[Any]:
    return [p for p in constrained.all_problems() if not options.problems or any(text in p.name for text in options.problems)]


def gallery(options: argparse.Namespace) -> None:
    for rtol in GAPS:
        print(f"\nThe constrained gallery, to a relative gap of {rtol:g}, {options.limit:g} s each, equations exact")
        table = options.tables.setdefault(f"gallery {rtol:g}", [])
        for p in chosen(options):
            table.append(row_of(p, rtol, options))
            show(table[-1])
            options.keep()
        head(f"Problems proved, of {len(table)}, to {rtol:g}")
        for limit in TIMES:
            count = sum(row["solved"] and row["seconds"] <= limit for row in table)
            more = {name: sum("failure" not in (r := row["peers"][name]) and r["solved"] and not r["wrong"]
                              and r["seconds"] <= limit for row in table) for name in (PEERS if options.peers else ())}
            cold = sum(row["solved"] and row["first"] <= limit for row in table)
            report(f"within {limit:g} s", count, f"of {len(table)}",
                   note=f"first calls {cold}" + "".join(f", {name} {n}" for name, n in more.items()))
        report("contradictions", sum(bool(row["wrong"]) for row in table), "", "0", not any(row["wrong"] for row in table))


def cec(options: argparse.Namespace) -> None:
    head(f"CEC 2006, circles, Haverly: to {CEC_GAP:g}, warm: the best of {CALLS} calls after the first")
    table = options.tables.setdefault("cec", [])
    for p in chosen(options):
        if not p.name.startswith(CEC):
            continue
        row = row_of(p, CEC_GAP, options, calls=CALLS)
        table.append(row)
        peer = row.get("peers", {}).get("MAiNGO", {})
        wanted = max(QUICK, peer["seconds"]) if peer.get("solved") else math.inf
        report(f"{p.name}, {p.n} variables", row["seconds"], "s", f"<= {wanted:.3g}" if wanted < math.inf else "",
               row["solved"] and not row["wrong"] and row["seconds"] <= wanted, f"{row['verdict']}, {row['boxes']:,} boxes"
               + (f", MAiNGO {_said(peer)}" if "seconds" in peer else "") + (f"  WRONG: {row['wrong']}" if row["wrong"] else ""))
        options.keep()


def pooling(options: argparse.Namespace) -> None:
    head("Pools and separations: to 1e-3, warm, with linear programs: processor time, that of compiling not counted")
    table = options.tables.setdefault("pooling", [])
    for p in chosen(options):
        if not p.name.startswith(POOLS):
            continue
        ours(p, GAPS[0], lp := argparse.Namespace(**{**vars(options), "lp": True}))
        seconds, r = min((_processor_time(lambda p=p: ours(p, GAPS[0], lp)[1]) for _ in range(3)), key=lambda pair: pair[0])
        row = {"problem": p.name, "n": p.n, "seconds": seconds, "verdict": r.verdict.name, "wrong": contradiction(p, r),
               "programs": r.lp["solved"]}
        if options.peers:
            row["Gurobi"] = child("constrained_provers", "processor_time", 2 * options.limit + 30, alone=True, name="Gurobi",
                                  problem=p.name, limit=options.limit, rtol=GAPS[0])
        table.append(row)
        peer = row.get("Gurobi", {}).get("seconds", math.inf)
        report(f"{p.name}, {p.n} variables", seconds, "s", f"<= {10 * peer:.3g}" if peer < math.inf else "",
               solved(p, r) and not row["wrong"] and seconds <= 10 * peer, f"{r.verdict.name}, {r.lp['solved']:,} linear programs"
               + (f", Gurobi {peer:.4f} s" if peer < math.inf else "") + (f"  WRONG: {row['wrong']}" if row["wrong"] else ""))
        options.keep()


def _processor_time(call: Callable[[], Any]) -> tuple[float, Any]:
    start = time.process_time()
    found = call()
    return time.process_time() - start, found


def chain(options: argparse.Namespace) -> None:
    head("A chain of equations, x[0] fixed")
    for n in (100, 1000):
        bounds = [(0.25, 0.25), *[(-10.0, 10.0)] * (n - 1)]
        seconds, r = min((_timed_chain(n, bounds, options) for _ in range(2)), key=lambda pair: pair[0])
        width = 0.0 if not r.boxes else max(float((hi - lo).max()) for lo, hi in r.boxes)
        report(f"{n:,} variables, {n - 1:,} equations", seconds, "s", "<= 1" if n == 1000 else "",
               r.verdict.name == "PROVED" and width <= 1e-9 and (n < 1000 or seconds <= 1),
               f"{r.verdict.name}, the box is {width:.2g} wide")


def _timed_chain(n: int, bounds: list, options: argparse.Namespace) -> tuple[float, Any]:
    start = time.perf_counter()
    r = infimum.minimize(lambda x: np.sum(x), bounds, constraints=[lambda x: x[1:] == np.cos(x[:-1]) + 0.1 * x[:-1]], seed=0,
                         time_limit=options.limit, device=options.device, progress=False)
    return time.perf_counter() - start, r


def random(options: argparse.Namespace) -> None:
    head(f"Random problems with a planted optimum, to {GAPS[0]:g}, a fifth of them infeasible")
    verdicts, faults = Counter(), []
    for said in _answers(options):
        verdicts[("infeasible " if planted(said["seed"]).infeasible else "feasible ") + said["verdict"]] += 1
        wrong = judged(said)
        if wrong:
            faults.append({"seed": said["seed"], "wrong": wrong})
            print(f"WRONG: problem {said['seed']}: {wrong}", flush=True)
    options.tables["random"] = [dict(verdicts), faults]
    report("wrong answers", len(faults), f"of {sum(verdicts.values()):,}", "0", not faults,
           ", ".join(f"{count:,} {name}" for name, count in sorted(verdicts.items())))


def _answers(options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Those in the files that were given, or else of problems that are solved now."""
    if options.answers:
        yield from (json.loads(line) for line in fileinput.input(options.answers, encoding="utf-8"))
        return
    for seed in range(options.count):
        yield answer(seed, rtol=GAPS[0], atol=GAPS[0], time_limit=options.each, device=options.device)


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {"gallery": gallery, "cec": cec, "pooling": pooling, "chain": chain,
                                                          "random": random}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="the parts to run")
    parser.add_argument("--problems", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    parser.add_argument("--limit", type=float, default=20.0, metavar="S", help="seconds that a call may take (20)")
    parser.add_argument("--count", type=int, default=2000, metavar="N", help="random problems (2,000)")
    parser.add_argument("--each", type=float, default=2.0, metavar="S", help="seconds that each of them may take (2)")
    parser.add_argument("--answers", nargs="+", metavar="FILE", help="judge what bench.constraint_random printed elsewhere")
    parser.add_argument("--lp", action="store_true", help="with linear programs")
    parser.add_argument("--peers", action="store_true", help="compare with other programs")
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--json", help="write the tables to this file, again after each row")
    options = parser.parse_args()
    options.tables = {}
    machine = this_machine(options.device)
    options.keep = lambda: write_json(options.json, machine, tables=options.tables)
    print(machine, flush=True)
    for part in options.only or PARTS:
        PARTS[part](options)
    options.keep()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
