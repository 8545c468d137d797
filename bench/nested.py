"""The nested scheme on the published class of problems in five variables: trials until one is near the constrained minimiser.

    python -m bench.nested [--ways WAY ...] [--kinds KIND ...] [--sample COUNT] [--first NUMBER] [--processes COUNT]
                           [--device NAME] [--json FILE]

Ways, all on the same problems, which `nested_boxes.py` draws with --seed:
  nested  infimum.nested: two variables by trials, three proved; the proof at the end is compared with the known minimum
  index   the default of engine="index" in all five variables
  proof   infimum.minimize in all five variables, with a proof, for at most --seconds
A problem is solved by a feasible point within 0.01 of the width of the minimiser in every coordinate. Exit status 1: something is
wrong, or a problem was not solved by the nested scheme.
"""

import argparse
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "INFIMUM_THREADS"):  # every process has one thread
    os.environ.setdefault(_name, "1")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import numpy as np  # noqa: E402

import infimum  # noqa: E402
from bench.nested_boxes import KINDS, NestedBox, nested_box  # noqa: E402
from bench.table import exit_code, head, report, this_machine, timed, write_json  # noqa: E402

MOST = {"nested": 2_000, "index": 20_000}   # trials after which a problem is given up
TABLE: list[dict[str, Any]] = []


def by_nested(problem: NestedBox, options: argparse.Namespace) -> dict[str, Any]:
    r = infimum.nested(
        problem.inner, problem.bounds[:2], problem.bounds[2:], simulate=problem.simulate,
        constraints=problem.outer_constraints,
        inner_constraints=[infimum.Constraint(g, ub=0.0) for g in problem.inner_constraints],
        max_trials=options.most or MOST["nested"], callback=lambda found: problem.solved(found.x), device=options.device)
    inner, at = r.trials.inner, problem.objective(r.x)
    enclosed = inner.lower <= inner.upper and -1e-6 <= at <= inner.upper + 1e-9
    wrong = not enclosed or any(g(r.x) > 1e-12 for g in problem.constraints)
    return {"trials": r.trials.count, "solved": problem.solved(r.x), "evaluations": list(r.trials.evaluations),
            "inner evaluations": inner.evaluations, "verdicts": inner.verdicts, "lower": inner.lower, "upper": inner.upper,
            "wrong": wrong}


def by_index(problem: NestedBox, options: argparse.Namespace) -> dict[str, Any]:
    def numbers(g: Any) -> Any:
        return lambda x: float(g(x))
    r = infimum.minimize(lambda x: float(problem.objective(x)), problem.bounds, engine="index",
                         constraints=[numbers(g) for g in problem.constraints], max_trials=options.most or MOST["index"],
                         callback=lambda found: problem.solved(found.x))
    return {"trials": r.trials.count, "solved": problem.solved(r.x), "evaluations": list(r.trials.evaluations), "wrong": False}


def by_proof(problem: NestedBox, options: argparse.Namespace) -> dict[str, Any]:
    r = infimum.minimize(problem.objective, problem.bounds, time_limit=options.seconds, device=options.device,
                         constraints=[infimum.Constraint(g, ub=0.0) for g in problem.constraints])
    return {"trials": r.nfev, "solved": r.verdict.name == "PROVED", "near": problem.solved(r.x), "lower": r.lower,
            "upper": r.upper, "verdict": r.verdict.name, "wrong": r.lower > 1e-6 or r.upper < -1e-6}


WAYS = {"nested": by_nested, "index": by_index, "proof": by_proof}


def one(job: tuple) -> dict[str, Any]:
    """One problem by one way, in a process that draws it again."""
    way, kind, number, options = job
    problem = nested_box(kind, number, options.seed)
    clock = time.process_time()
    seconds, found = timed(lambda: WAYS[way](problem, options))
    return {"way": way, "kind": kind, "number": number, "seconds": seconds, "processor": time.process_time() - clock, **found}


def several(way: str, kind: str, options: argparse.Namespace) -> None:
    jobs = [(way, kind, k, options) for k in range(options.first, options.first + options.sample)]
    if options.processes == 1:
        rows = list(map(one, jobs))
    else:
        with ProcessPoolExecutor(options.processes) as pool:
            rows = list(pool.map(one, jobs, chunksize=1))
    TABLE.extend(rows)
    trials, solved = [row["trials"] for row in rows], sum(row["solved"] for row in rows)
    faults, seconds = sum(row["wrong"] for row in rows), [row["processor"] for row in rows]
    counts = "" if way == "proof" else ", evaluations " + ", ".join(
        f"{e:.0f}" for e in np.mean([row["evaluations"] for row in rows], axis=0))
    inner = "" if way != "nested" else f", inner {np.mean([row['inner evaluations'] for row in rows]):.3g}"
    if way == "nested":
        verdicts = sum((Counter(row["verdicts"]) for row in rows), Counter())
        inner += f" ({', '.join(f'{count:,} {name.lower()}' for name, count in verdicts.items())})"
    report(f"{kind}, {way}, {'evaluations' if way == 'proof' else 'trials'}, mean", float(np.mean(trials)), "", "", None,
           f"median {np.median(trials):g}, last {max(trials)}{counts}{inner}, {np.mean(seconds):.2f} s, most {max(seconds):.2f}")
    wanted = "all" if way == "nested" else ""
    report(f"{kind}, {way}, {'proved' if way == 'proof' else 'solved'}", solved, f"of {len(rows)}", wanted,
           faults == 0 and (solved == len(rows) or way != "nested"), f"{faults} WRONG" if faults else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="only these")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS), help="only these")
    parser.add_argument("--sample", type=int, default=100, help="how many problems of each kind, 100")
    parser.add_argument("--first", type=int, default=0, help="the number of the first")
    parser.add_argument("--most", type=int, help="give up after so many trials; 2,000 nested, 20,000 in all variables")
    parser.add_argument("--seconds", type=float, default=60.0, help="of a proof in all variables")
    parser.add_argument("--seed", type=int, default=1, help="of the problems")
    parser.add_argument("--device", default="cpu", help="where proofs run")
    parser.add_argument("--processes", type=int, default=1, help="how many problems at once")
    parser.add_argument("--json", help="write the table to this file, again after each row")
    options = parser.parse_args()
    machine = this_machine()
    print(machine)
    head(f"p (f + g) in five variables with constraints, seed {options.seed}")
    for kind in options.kinds:
        for way in options.ways:
            several(way, kind, options)
            write_json(options.json, machine, table=TABLE)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
