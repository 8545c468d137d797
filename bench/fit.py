"""The best fit, proved: NIST's regressions, a thesis's problems, many data points, and other programs on the same problems.

    python bench/fit.py [--only PART ...] [--problems TEXT ...] [--rules x10 hull] [--device cuda] [--time-limit S] [--peers]

Parts, all of them by default:
  nist     the 27 nonlinear regressions of NIST's Statistical Reference Datasets (bench/nist), models as users write them, to a
           relative gap of 1e-6. Bounds by two rules. "x10": nonlinear parameters from a tenth to ten times the hull of NIST's two
           starts and the certified value, linear ones 100 times the largest of these on both sides; "hull": that hull widened by
           its width at both ends, linear ones as before
  lanczos  Lanczos1, whose least sum of squares, 1.4e-25, doubles cannot resolve: the box around all parameters with a sum below
           1e-18 (they fill one of width 7.5e-6) and 1e-20 (7.5e-7), the three terms in ascending order of their rates
  thesis   the four problems of bench/newton.py, beside engine="newton": to a gap of 1e-3, regions no wider than 1e-3
  points   amplitude * exp(-decay * x) + offset with 100,000 and 1,000,000 data points
  sets     95 % confidence sets: volume of the boxes around that of Misra1a, by that of the boxes inside; interval of each
           parameter of two peaks that can be exchanged, by the interval that is attained

A row has the seconds of the second call in this process (the first one traces and compiles); what is not proved within the time
limit is not called again. The thesis's problems are solved several times, fit and engine newton in turn, and the least seconds
count. A result that contradicts a certified value is printed as WRONG. With --peers, and then nothing else
unless it is asked for: SciPy, lmfit, MAiNGO and Gurobi (bench/fit_peers.py), how long they take and how often they end in a wrong
fit. `--through minimize` gives the sum of squares to minimize, in place of fit. Exit status 1: something was wrong, or does not
hold.
"""

import argparse
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench import newton  # noqa: E402
from bench.fit_peers import CLOSE, ENDS, PEERS  # noqa: E402
from bench.fit_sets import lanczos, sets  # noqa: E402
from bench.nist.problems import RULES, Fit, digits, read  # noqa: E402
from bench.process import child  # noqa: E402
from bench.table import exit_code, head, report, this_machine, timed, write_json  # noqa: E402
from infimum.problem.text import counted  # noqa: E402

GAP = 1e-6
FAST = 0.1             # seconds, of the problems with one nonlinear parameter
RESOLVED = 1e-18       # a sum of squares of Lanczos1 that others are asked for: with doubles nobody finds 1.4e-25
HARD = {"cpu": {"x10": None, "hull": ("Lanczos1", "Hahn1")},  # what need not be proved; over x10 on a CPU any five
        "cuda": {"x10": ("Lanczos1", "Gauss1", "Gauss2", "Gauss3", "Hahn1"), "hull": ("Lanczos1",)}}
LEAST = 22             # over x10 on a CPU
REPEATED, LONG = 5, 2.0  # the thesis's problems are solved so often, unless that takes so many seconds
OFTEN, SHORT = 40, 0.1   # … and so often those that take less than so many seconds, on which other work of the machine shows


def twice(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """The seconds of the first call and of the second one, and the result; what was not proved is not called again."""
    cold, r = timed(call)
    warm, r = timed(call) if r.verdict.name == "PROVED" else (cold, r)
    return cold, warm, r


def solve(options: argparse.Namespace, model: Callable, x: np.ndarray, y: np.ndarray, bounds: list[tuple[float, float]],
          **given: Any) -> Any:
    """The Result of the fit, whose variables are the parameters; of repeated measurements the sum with all their squares."""
    given = {"atol": 0.0, "rtol": GAP, "time_limit": options.time_limit, "device": options.device} | given
    if options.through == "fit":
        r = infimum.fit(model, x, y, bounds=bounds, **given)
        return r.minimum if r.rest.hi == 0 else replace(r.minimum, lower=r.sse.lo, upper=r.sse.hi)
    return infimum.minimize(lambda p: np.sum((y - model(x, *p)) ** 2), bounds, **given)


# ---- NIST

def certified(p: Fit, r: Any) -> tuple[str, str | None]:
    """What the result says of the certified fit, in words; and what of that cannot be.

    The certified values are those of the data in decimals. Rounding the data to doubles, and taking the logarithm of Nelson's,
    moves the norm of the residuals by at most the norm of what is rounded.
    """
    low, high = digits(p.squares_text)
    rounding = 2.0**-51 * float(np.linalg.norm(p.y))
    low, high = max(math.sqrt(low) - rounding, 0.0) ** 2, (math.sqrt(high) + rounding) ** 2
    if r.upper < low:
        return f"a better fit than the certified one, {r.upper:.11g} < {p.squares_text}", None
    if r.lower > high:
        return "", f"the certified sum is {p.squares_text}"
    ends = np.array([digits(text) for text in p.certified_text])
    kept = r.regions is not None and r.regions.kept
    if kept and not ((r.regions.lo <= ends[:, 1]) & (ends[:, 0] <= r.regions.hi)).all(axis=1).any():
        return "", "the certified parameters are in no region"
    found = r.upper <= high * (1 + GAP)
    return "certified values inside" if found else f"the best fit was not found: {r.upper:.5g} > {p.squares_text}", None


def number(r: Any) -> str:
    """How many best fits there are, as far as that is proved."""
    found = r.minimisers
    if found is None or found.rest:
        return "not isolated"
    return "unique" if found.exactly_one else f"{len(found.may_be_global)} fits"


def nist_row(p: Fit, rule: str, options: argparse.Namespace) -> dict[str, Any]:
    cold, warm, r = twice(lambda: solve(options, p.model, p.x, p.y, p.bounds(rule)))
    proved, (said, wrong) = r.verdict.name == "PROVED", certified(p, r)
    gap = r.gap / r.upper if r.upper > 0 else math.inf
    fits, fast = number(r) if proved else "number not known", len(p.nonlinear) == 1
    note = f"{r.verdict.name}, gap {gap:.2g}, {counted(len(r.boxes or ()), 'box', 'es')}, {fits}, first call {cold:.2f} s, "
    report(f"{p.name}, {rule}, {len(p.certified)} parameters, {len(p.y)} points", warm, "s", f"<= {FAST:g}" if fast else "",
           proved and warm <= FAST and wrong is None if fast else None if wrong is None else False,
           note + (said if wrong is None else f"WRONG: {wrong}"))
    return {"problem": p.name, "rule": rule, "parameters": len(p.certified), "nonlinear": len(p.nonlinear), "points": len(p.y),
            "seconds": warm, "first": cold, "verdict": r.verdict.name, "lower": r.lower, "upper": r.upper, "gap": gap,
            "boxes": len(r.boxes or ()), "fits": fits, "nit": r.nit, "nfev": r.nfev,
            "certified": said, "wrong": wrong}


def nist(options: argparse.Namespace) -> None:
    table, every = options.tables.setdefault("nist", []), read()
    for rule in options.rules:
        head(f"NIST, bounds {rule}, to a relative gap of {GAP:g} in {options.time_limit:g} s, through {options.through}")
        rows = []
        for p in filter(lambda p: options.chosen(p.name), every.values()):
            rows.append(nist_row(p, rule, options))
            table.append(rows[-1])
            options.keep()
        open_ones = [row["problem"] for row in rows if row["verdict"] != "PROVED"]
        hard = HARD["cpu" if options.device == "cpu" else "cuda"][rule]
        least = LEAST if hard is None else len(every) - len(hard)
        holds = len(rows) - len(open_ones) >= least and (hard is None or set(open_ones) <= set(hard))
        report(f"NIST, {rule}: proved", len(rows) - len(open_ones), f"of {len(rows)}",
               f">= {least}" + (f", all but {', '.join(hard)}" if hard else ""), holds if len(rows) == len(every) else None,
               f"not proved: {', '.join(open_ones)}" if open_ones else "")


# ---- the thesis

def thesis(options: argparse.Namespace) -> None:
    head(f"The thesis's problems, to a gap of {newton.TOLERANCE:g}, beside engine='newton'")
    table = options.tables.setdefault("thesis", [])
    for row in (row for rows in (newton.fdehyde, newton.polycos, newton.poly, newton.sinusoidal) for row in rows()):
        if options.chosen(row.what):
            table.append(thesis_row(row, options))
            options.keep()


def fit_of_thesis(row: newton.Row, options: argparse.Namespace, goal: dict[str, float]) -> Any:
    """What can be exchanged has equal bounds here: the wider ones."""
    bounds = list(row.bounds)
    for members in zip(*row.groups, strict=True):
        lows, highs = zip(*(row.bounds[k] for k in members), strict=True)
        for k in members:
            bounds[k] = min(lows), max(highs)
    more = {"symmetric": [[f"p{k}" for k in group] for group in row.groups]} if row.groups else {}
    if options.through == "minimize":
        more = {"start_boxes": newton.ordered(bounds, [group[0] for group in row.groups])} if row.groups else {}
    return solve(options, lambda x, *p: row.model(p, *x), np.array(row.data), row.measurements(), bounds, **goal, **more)


def in_turn(calls: list[Callable[[], Any]]) -> list[tuple[float, float, float, Any]]:
    """Of each call the seconds of the first time and the least ones, on the clock and of the processor, and the result. They are
    called in turn, so that what else the machine does is shared; what takes long, or was not proved, is not called again."""
    found = []
    for call in calls:
        cold, r = timed(call)
        found.append([cold, cold if r.verdict.name != "PROVED" else math.inf, math.inf, r])
    for turn in range(OFTEN):
        if turn >= REPEATED and max(row[1] for row in found) > SHORT:
            break
        for call, row in zip(calls, found, strict=True):
            if row[1] == math.inf or (row[3].verdict.name == "PROVED" and row[1] < LONG):
                before = time.process_time()
                seconds, row[3] = timed(call)
                row[1], row[2] = min(row[1], seconds), min(row[2], time.process_time() - before)
    return [tuple(row) for row in found]


def thesis_row(row: newton.Row, options: argparse.Namespace) -> dict[str, Any]:
    goal = {"atol": newton.TOLERANCE, "rtol": 0.0, "xtol": newton.TOLERANCE}
    (cold, warm, cpu, r), (_, loop_warm, loop_cpu, loop) = in_turn([
        lambda: fit_of_thesis(row, options, goal),
        lambda: infimum.minimize(row.fun(), row.bounds, start_boxes=row.start, engine="newton", device=options.device,
                                 time_limit=options.time_limit, **goal)])
    wrong, proved = newton.contradiction(row, r), r.verdict.name == "PROVED"
    wanted = loop_warm if loop.verdict.name == "PROVED" else math.inf
    report(row.what, warm, "s", f"<= {wanted:.3g}", proved and wrong is None and warm <= wanted,
           f"{r.verdict.name}, {counted(len(r.boxes or ()), 'box', 'es')} ({row.minimisers} wanted), first call {cold:.2f} s; "
           f"newton {loop.verdict.name}, {loop_warm:.3g} s; of the processor {cpu:.3g} s, newton {loop_cpu:.3g} s"
           + ("" if wrong is None else f"  WRONG: {wrong}"))
    return {"problem": row.what, "seconds": warm, "first": cold, "verdict": r.verdict.name, "lower": r.lower, "upper": r.upper,
            "boxes": len(r.boxes or ()), "newton": loop_warm, "newton verdict": loop.verdict.name, "wrong": wrong,
            **{name: value for name, value in (("cpu", cpu), ("newton cpu", loop_cpu)) if math.isfinite(value)}}


# ---- many data points

def falling(x, amplitude, decay, offset):
    return amplitude * np.exp(-decay * x) + offset


def points(options: argparse.Namespace) -> None:
    head(f"Many data points, three parameters, to a relative gap of {GAP:g}")
    table, true, most = options.tables.setdefault("points", []), (50.0, 0.7, 2.0), 60.0 if options.device == "cpu" else 3.0
    for count in filter(lambda count: options.chosen(f"{count:,} points"), (100_000, 1_000_000)):
        x = np.linspace(0.0, 10.0, count)
        y = falling(x, *true) + 0.5 * np.random.default_rng(0).standard_normal(count)
        cold, warm, r = twice(partial(solve, options, falling, x, y, [(0.0, 100.0), (0.0, 10.0), (-5.0, 5.0)]))
        wrong = r.lower > float(np.sum((y - falling(x, *true)) ** 2))
        table.append({"points": count, "seconds": warm, "first": cold, "verdict": r.verdict.name, "lower": r.lower,
                      "upper": r.upper, "x": r.x.tolist(), "wrong": wrong})
        report(f"{count:,} points", warm, "s", f"<= {most:.0f}", r.verdict.name == "PROVED" and not wrong and warm <= most,
               f"{r.verdict.name}, sum in [{r.lower:.8g}, {r.upper:.8g}], first call {cold:.2f} s"
               + ("  WRONG: the true parameters are better" if wrong else ""))
        options.keep()


# ---- peers

def cell(r: dict[str, Any], notes: list[str]) -> str:
    """Seconds, and the runs that ended wrong, failed or late, of all: 0.31 w2/10 f1 l1."""
    if "failure" in r:
        if r["failure"] not in notes:
            notes.append(r["failure"])
        return f"- [{notes.index(r['failure']) + 1}]"
    marks = "".join(f" {key[0]}{r[key]}" for key in ENDS[1:] if r[key])
    return f"{r['seconds']:.3g} {r['right']}/{sum(r[key] for key in ENDS)}{marks}{' !' if r.get('false') else ''}"


def peers(options: argparse.Namespace) -> None:
    limit, table, notes = options.peer_limit, options.tables.setdefault("peers", []), []
    for rule in options.rules:
        print(f"\nBeside other programs, bounds {rule}, {limit:.0f} s each: median seconds of a run, right runs of all."
              f"\nw: ended in a wrong fit, its sum of squares more than {CLOSE:g} above the least one; f: said that it failed; "
              "l: did not end in time;\n!: claimed bounds that cannot be")
        print(*(f"{name:<22}" for name in ("", "ours", *PEERS)), flush=True)
        for p in filter(lambda p: options.chosen(p.name), read().values()):
            row = peers_row(p, rule, limit, options)
            table.append(row)
            print(f"{p.name:<22}", f"{row['ours']['seconds']:.3g} {row['ours']['verdict']}".ljust(22),
                  *(cell(row[name], notes).ljust(22) for name in PEERS), flush=True)
            options.keep()
    for i, note in enumerate(notes, 1):
        print(f"[{i}] {note}")
    head(f"How often they end in a wrong fit, of {len(table)} problems")
    for name in PEERS:
        ran = [row[name] for row in table if "failure" not in row[name]]
        right, wrong, failed, late = (sum(r[key] for r in ran) for key in ENDS)
        report(f"{name}: runs that end in a wrong fit", wrong, f"of {right + wrong}",
               note=f"{failed} more failed, {late} were late; no right run: {sum(not r['right'] for r in ran)} of {len(ran)} "
               f"problems; not run: {len(table) - len(ran)}; bounds that cannot be: {sum(r.get('false', False) for r in ran)}")


def peers_row(p: Fit, rule: str, limit: float, options: argparse.Namespace) -> dict[str, Any]:
    _, warm, r = twice(partial(solve, options, p.model, p.x, p.y, p.bounds(rule), time_limit=limit))
    best = RESOLVED if p.name == "Lanczos1" else min(r.upper, p.sum_of_squares(p.certified))
    asked = {"problem": p.name, "rule": rule, "limit": limit, "best": best}
    return {"problem": p.name, "rule": rule, "best": best,
            "ours": {"seconds": warm, "verdict": r.verdict.name, "lower": r.lower, "upper": r.upper},
            **{name: child("fit_peers", "peer", 4 * limit + 30, alone=True, name=name, **asked) for name in PEERS}}


PARTS: dict[str, Callable[[argparse.Namespace], None]] = {
    "nist": nist, "lanczos": lanczos, "thesis": thesis, "points": points, "sets": sets}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=PARTS, help="the parts to run")
    parser.add_argument("--problems", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    parser.add_argument("--rules", nargs="+", choices=RULES, default=RULES, help="of the bounds of NIST's problems: x10, hull")
    parser.add_argument("--device", default="cpu", help="cpu (the default) or cuda")
    parser.add_argument("--time-limit", type=float, default=60.0, metavar="S", help="seconds that a call may take (60)")
    parser.add_argument("--peers", action="store_true", help="compare with other programs")
    parser.add_argument("--peer-limit", type=float, default=10.0, metavar="S", help="seconds that each of them may take (10)")
    parser.add_argument("--through", choices=("fit", "minimize"), default="fit", help="what is called")
    parser.add_argument("--json", help="write the tables to this file, again after each row")
    options = parser.parse_args()
    options.chosen = lambda name: not options.problems or any(text in name for text in options.problems)
    options.tables = {}
    machine = this_machine(options.device)
    options.keep = lambda: write_json(options.json, machine, through=options.through, tables=options.tables)
    print(machine, flush=True)
    for part in options.only or ([] if options.peers else PARTS):
        PARTS[part](options)
    if options.peers:
        peers(options)
    options.keep()
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
