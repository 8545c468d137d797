"""Random small MINLPs of forty families: which are solved by infimum, by SCIP, by both, and who contradicts whom.

    python bench/minlp_families.py [--draws 5] [--seed 0] [--families NAME ...] [--limit 20] [--feasibility 0] [--no-scip]

A model (`bench/small_minlps.py`, `bench/more_small_minlps.py`) is written once, as functions of variables that both solvers
call. Each is solved once in a new process, which may use `--limit` seconds of processor time. Solved means that upper - lower is
at most `--gap` times max(1, |upper|), or that there is no feasible point. Exit status 1: claims that contradict each other by
more than the tolerances of SCIP.
"""

import argparse
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
os.environ["INFIMUM_CACHE"] = "off"
from bench import more_small_minlps, small_minlps  # noqa: E402
from bench.process import answer  # noqa: E402
from bench.small_minlps import Function, Model  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402

INF = math.inf
FAMILIES = {f.__name__: f for f in (*small_minlps.FAMILIES, *more_small_minlps.FAMILIES)}
PATIENCE = 6.0     # times the limit: on a busy machine a process has a part of a core
TOLERANCE = 1e-5   # of claims that are compared, relative to max(1, |value|)


def drawn(family: str, number: int, seed: int) -> Model:
    """The same model for the same numbers."""
    return FAMILIES[family](np.random.default_rng([seed, number, list(FAMILIES).index(family)]))


def by_infimum(model: Model, limit: float, gap: float, feasibility: float, there: Any) -> None:
    """In this process."""
    import infimum

    def holds(row: Function, low: float, high: float) -> Callable:
        if low == high:
            return lambda v: row(v, np) == low
        return (lambda v: row(v, np) >= low) if low > -INF else (lambda v: row(v, np) <= high)
    begin = time.process_time()
    r = infimum.minimize(lambda v: model.objective(v, np), list(zip(model.low, model.high, strict=True)), atol=gap, rtol=gap,
                         constraints=[holds(*row) for row in model.rows], integrality=model.whole, feasibility=feasibility,
                         time_limit=PATIENCE * limit, threads=1, progress=False, device="cpu",
                         callback=lambda at: time.process_time() - begin > limit)
    there.send({"verdict": r.verdict.name, "lower": float(r.lower), "upper": float(r.upper), "boxes": r.nfev, "lp": r.lp,
                "seconds": time.process_time() - begin})


def by_scip(model: Model, limit: float, gap: float, feasibility: float, there: Any) -> None:
    """In this process; its tolerances of feasibility are its own."""
    import pyscipopt

    begin = time.process_time()
    m = pyscipopt.Model()
    m.hideOutput()
    v = [m.addVar(lb=low, ub=high, vtype="I" if whole else "C")
         for low, high, whole in zip(model.low, model.high, model.whole, strict=True)]
    for row, low, high in model.rows:
        body = row(v, pyscipopt)
        m.addCons(body == low if low == high else body >= low if low > -INF else body <= high)
    value = m.addVar(lb=None, ub=None)
    m.addCons(model.objective(v, pyscipopt) <= value)
    m.setObjective(value)
    m.setParams({"limits/time": limit, "timing/clocktype": 1, "limits/gap": gap})
    m.optimize()
    status, infinite = m.getStatus(), m.infinity()
    lower, upper = m.getDualbound(), m.getPrimalbound()
    there.send({"verdict": "INFEASIBLE" if status == "infeasible" else status, "lower": -INF if lower <= -infinite else lower,
                "upper": INF if upper >= infinite else upper, "boxes": m.getNTotalNodes(),
                "seconds": time.process_time() - begin})


def solved_in_child(call: Callable, model: Model, asked: Any) -> dict[str, Any]:
    here, there = multiprocessing.get_context("fork").Pipe(duplex=False)
    child = multiprocessing.get_context("fork").Process(target=call,
                                                        args=(model, asked.limit, asked.gap, asked.feasibility, there))
    child.start()
    there.close()
    nothing = {"verdict": "HUNG", "lower": -INF, "upper": INF, "boxes": 0, "seconds": asked.limit}
    row = answer(child, here, 2 * PATIENCE * asked.limit, nothing)
    row["solved"] = row["verdict"] == "INFEASIBLE" or (
        row["upper"] < INF and row["upper"] - row["lower"] <= asked.gap * max(1.0, abs(row["upper"])))
    return row


def contradiction(ours: dict[str, Any], theirs: dict[str, Any]) -> str | None:
    """Intervals that have no number in common, or a point where the other says that there is none."""
    for one, other in ((ours, theirs), (theirs, ours)):
        if one["verdict"] == "INFEASIBLE" and other["upper"] < INF:
            return "infeasible, but a point was found"
        if one["lower"] > other["upper"] + TOLERANCE * max(1.0, abs(other["upper"])):
            return f"{one['lower']:.9g} > {other['upper']:.9g}"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=5, help="models of each family")
    parser.add_argument("--first", type=int, default=0, help="the number of the first of them")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--families", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--limit", type=float, default=20.0, help="seconds of processor time for each model")
    parser.add_argument("--gap", type=float, default=1e-3)
    parser.add_argument("--feasibility", type=float, default=0.0, help="as the argument of minimize; SCIP keeps its own")
    parser.add_argument("--no-scip", action="store_true", help="infimum alone")
    parser.add_argument("--json", metavar="FILE")
    asked = parser.parse_args()
    rows: list[dict[str, Any]] = []
    for family in asked.families:
        for number in range(asked.first, asked.first + asked.draws):
            model = drawn(family, number, asked.seed)
            found = {"infimum": solved_in_child(by_infimum, model, asked)}
            if not asked.no_scip:
                found["scip"] = solved_in_child(by_scip, model, asked)
            against = contradiction(*found.values()) if len(found) > 1 else None
            rows.append({"family": family, "number": number, "variables": len(model.low), "contradiction": against, **found})
            print(f"  {family:<10} {number:3} n={len(model.low):3} rows={len(model.rows):3} " + "  ".join(
                f"{name} {'solved' if r['solved'] else 'open':<6} {r['seconds']:6.2f} s [{r['lower']:.7g}, {r['upper']:.7g}]"
                for name, r in found.items()) + (f"  CONTRADICTION {against}" if against else ""), flush=True)
    tell(rows)
    write_json(asked.json, this_machine(), models=rows)
    return exit_code()


def tell(rows: list[dict[str, Any]]) -> None:
    """The table."""
    head(f"{len(rows)} models")
    for family in dict.fromkeys(row["family"] for row in rows):
        mine = [row for row in rows if row["family"] == family]
        report(f"{family}: solved by infimum", sum(row["infimum"]["solved"] for row in mine), "models", note=f"of {len(mine)}" + (
            "" if "scip" not in mine[0] else f"; SCIP {sum(row['scip']['solved'] for row in mine)}, both "
            f"{sum(row['scip']['solved'] and row['infimum']['solved'] for row in mine)}"))
    wrong = sum(row["contradiction"] is not None for row in rows)
    report("claims that contradict each other", wrong, "models", "0", wrong == 0)


if __name__ == "__main__":
    sys.exit(main())
