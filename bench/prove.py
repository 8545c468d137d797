"""Speed of the proofs, and whether they hold: the ten functions of the complete search, the gallery, and other solvers.

    python bench/prove.py [--quick] [--json FILE] [--only PART ...] [--problems TEXT ...] [--peer-limit SECONDS]

Parts, all of them by default:
  ten      the complete-search functions with 1,000 to 1,000,000 variables, as published and moved by a random vector, each in a
           fresh process: tracing and compiling count, the import does not
  linear   the exponent of the time in the number of variables, kernels compiled
  gallery  every gallery problem of 1 to 5 variables, to 1e-6 in 10 s
  peers    beside MAiNGO, SCIP and Gurobi (bench/provers.py), to 1e-4: ours cold (a fresh process, as in `ten`) and warm (again in
           that process), with the usual threads and with one; the peers with one thread, imported and used before

An answer that contradicts what is known of a problem is printed as WRONG. Exit status 1: something was wrong, or does not hold.
"""

import argparse
import math
import os
import resource
import signal
import sys
import time
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.process import child  # noqa: E402
from bench.provers import CONTESTS, PEERS, TOLERANCE, WAYS  # noqa: E402
from bench.table import exit_code, head, report, this_machine, write_json  # noqa: E402
from infimum import problems  # noqa: E402
from infimum.backend.cpu import CpuBackend  # noqa: E402
from infimum.kernel.region_cut import rows_of  # noqa: E402
from infimum.problems import GalleryProblem  # noqa: E402

PARTS = ("ten", "linear", "gallery", "peers")
TEN = ("ackley", "belegundu", "breiman", "fu", "griewank", "levy", "rastrigin", "salomon", "styblinski", "zabinsky")
THREE = ("rastrigin", "levy", "ackley")  # with a million variables too
MILLION = 1_000_000
SIZES = {1_000: (2.0, TEN), 10_000: (15.0, TEN[:-1]), MILLION: (120.0, THREE)}  # seconds wanted at most, and for which
MEMORY = 8.0  # GiB at most, for a million variables
XTOL = 1e-4
TABLES: dict[str, list[dict]] = {}


# ten and linear

def moved(name: str, n: int, shift: bool) -> tuple[Any, GalleryProblem, np.ndarray]:
    """The function, the problem of the gallery, and how far its minimiser is moved: up to 10 % of the width in each variable."""
    p = problems.get(f"complete_search_{name}", n)
    if not shift:
        return p.fun, p, np.zeros(n)
    lo, hi = p.lo, p.hi
    d = np.random.default_rng(7).uniform(-0.1, 0.1, n) * (hi - lo)
    d = np.clip(d, lo - p.minimisers[0][0], hi - p.minimisers[0][1])  # the minimiser's box stays within the bounds
    return (lambda x: p.fun(x - d)), p, d


def meets(box: tuple[np.ndarray, np.ndarray], boxes: list[tuple[np.ndarray, np.ndarray]]) -> bool:
    """Does the box have a point in common with one of the boxes, of which there may be very many?"""
    lows, highs = (np.array([b[side] for b in boxes]).reshape(len(boxes), len(box[0])) for side in (0, 1))
    return bool(((lows <= box[1]) & (box[0] <= highs)).all(axis=1).any())


def wrong(r: Any, p: GalleryProblem, d: Any = 0.0) -> str:
    """How the result contradicts what is known of the problem; empty where it does not."""
    faults = []
    if r.lower > p.minimum.hi:
        faults.append(f"lower {r.lower!r} is above the minimum {p.minimum!r}")
    if r.upper < p.minimum.lo:
        faults.append(f"upper {r.upper!r} is below the minimum {p.minimum!r}")
    if r.boxes is not None:
        lost = sum(not meets((lo + d, hi + d), r.boxes) for lo, hi in p.minimisers)
        if lost:
            faults.append(f"{lost} of {len(p.minimisers)} known minimisers in none of the {len(r.boxes)} boxes")
    return "; ".join(faults)


def one_of_ten(name: str, n: int, shift: bool, limit: float) -> dict[str, Any]:
    """In a child: the whole call."""
    f, p, d = moved(name, n, shift)
    start = time.perf_counter()
    r = infimum.minimize(f, p.bounds[0], n=n, xtol=XTOL, time_limit=limit)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # GiB
    inside = r.boxes is not None and all(meets((lo + d, hi + d), r.boxes) for lo, hi in p.minimisers)
    return {"seconds": seconds, "memory": memory, "verdict": r.verdict.name, "regions": len(r.regions), "inside": inside,
            "lower": r.lower, "upper": r.upper, "own_seconds": r.seconds, "wrong": wrong(r, p, d)}


def ten(options: argparse.Namespace) -> None:
    """The children's peak memory counts this process's own: this part comes first, while that is little."""
    head("The ten functions of the complete search, xtol = 1e-4, a fresh process each: the whole call")
    table = TABLES["ten"] = []
    for n, (limit, names) in list(SIZES.items())[:1 if options.quick else None]:
        for name in filter(options.chosen, names):
            for shift in (False, True):
                what = f"{name}{', moved' if shift else ''}, n = {n:,}"
                r = child("prove", "one_of_ten", 6 * limit + 30, name=name, n=n, shift=shift, limit=3 * limit)
                table.append({"problem": name, "n": n, "moved": shift, "limit": limit, **r})
                most = f"<= {limit:.0f}, 1 region" + (f", {MEMORY:.0f} GiB" if n == MILLION else "")
                if "failure" in r:
                    report(what, math.inf, "s", most, False, r["failure"])
                    continue
                holds = (r["verdict"] == "PROVED" and r["regions"] == 1 and r["inside"] and r["seconds"] <= limit
                         and not r["wrong"] and (n < MILLION or r["memory"] <= MEMORY))
                report(what, r["seconds"], "s", most, holds,
                       f"{r['verdict']}, {r['regions']} region{'s' if r['regions'] != 1 else ''}, minimiser "
                       f"{'inside' if r['inside'] else 'NOT INSIDE'}, {r['memory']:.2f} GiB"
                       + (f"  WRONG: {r['wrong']}" if r["wrong"] else ""))


def compiled_time(name: str, n: int, limit: float) -> dict[str, Any]:
    """In a child: the shortest call but the first, which compiles. What proves nothing in time is not run again."""
    f, p, _ = moved(name, n, False)
    evaluator = infimum.compile(f, n)
    times: list[float] = []
    while len(times) < 2 or (len(times) < 5 and sum(times) < 10):
        start = time.perf_counter()
        r = infimum.minimize(evaluator, p.bounds[0], n=n, xtol=XTOL, time_limit=limit)
        times.append(time.perf_counter() - start)
        if r.verdict.name != "PROVED":
            return {"seconds": times[-1], "first": times[0], "verdict": r.verdict.name, "gap": r.upper - r.lower}
    return {"seconds": min(times[1:]), "first": times[0], "verdict": r.verdict.name, "gap": r.upper - r.lower}


def linear(options: argparse.Namespace) -> None:
    head("Time without tracing and compiling, the second call in a process: its exponent in n")
    sizes = {10_000: 15.0, 100_000: 60.0} | ({} if options.quick else {MILLION: 300.0})  # and the seconds they may take
    table = TABLES["linear"] = []
    for name in filter(options.chosen, THREE):
        runs = [child("prove", "compiled_time", 3 * limit + 30, name=name, n=n, limit=limit) for n, limit in sizes.items()]
        table += [{"problem": name, "n": n, **r} for n, r in zip(sizes, runs, strict=True)]
        times = [r.get("seconds", math.nan) for r in runs]
        proved = all(r.get("verdict") == "PROVED" for r in runs)
        exponent = float(np.polyfit(np.log(list(sizes)), np.log(times), 1)[0]) if proved else math.nan
        shown = [f"n = {n:,}: {r['seconds']:.3g} s" + (f" {r['verdict']}, gap {r['gap']:.2g}" if r["verdict"] != "PROVED" else "")
                 if "failure" not in r else f"n = {n:,}: {r['failure']}" for n, r in zip(sizes, runs, strict=True)]
        report(f"{name}: exponent of n", exponent, "", "<= 1.15", proved and exponent <= 1.15, ", ".join(shown))


# gallery

def small() -> list[GalleryProblem]:
    """The problems of 1 to 5 variables, the scalable ones with 2 and with 5 where they exist so."""
    found = []
    for p in problems.all_problems():
        if not p.scalable:
            found += [p] if p.n <= 5 else []
            continue
        least, most = problems.sizes(p.name)
        found += [problems.get(p.name, n) for n in (2, 5) if least <= n <= most]
    return found


REASONS = {  # why the proof of some problems is out of reach, where it is
    "perm_d": "a long flat valley: first derivatives leave a cluster of boxes, and the swarm needs several waves to find its end",
    "keane": "0/0 at a corner of the bounds: the enclosure near it is unbounded",
}


class Overdue(BaseException):
    """Ends a run that does not end by itself; no Exception, so that nothing on its way handles it as one."""


def overdue(*_: Any) -> None:
    raise Overdue


def gallery(options: argparse.Namespace) -> None:
    limit = 2.0 if options.quick else 10.0
    chosen = [p for p in small() if options.chosen(p.name)]
    head(f"The gallery, 1 to 5 variables, atol = rtol = 1e-6, {limit:.0f} s each; not proved:")
    table = TABLES["gallery"] = []
    begin = time.perf_counter()
    signal.signal(signal.SIGALRM, overdue)
    for p in chosen:
        row = {"problem": p.name, "n": p.n}
        start = time.perf_counter()
        signal.setitimer(signal.ITIMER_REAL, 3 * limit + 10)
        try:
            r = infimum.minimize(p.fun, p.bounds, atol=1e-6, rtol=1e-6, time_limit=limit)
            row["seconds"] = time.perf_counter() - start
            row |= {"verdict": r.verdict.name, "lower": r.lower, "upper": r.upper, "gap": r.upper - r.lower, "nit": r.nit,
                    "nfev": r.nfev, "boxes": None if r.boxes is None else len(r.boxes), "wrong": wrong(r, p)}
        except Exception as error:  # whatever it is, the other problems are still worth a run
            row |= {"verdict": type(error).__name__, "gap": math.nan, "wrong": "", "failure": str(error),
                    "seconds": time.perf_counter() - start}
        except Overdue:
            row |= {"verdict": "OVERDUE", "gap": math.nan, "wrong": "", "failure": f"did not end at its limit of {limit:.0f} s",
                    "seconds": time.perf_counter() - start}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
        table.append(row)
        if row["verdict"] != "PROVED" or row["wrong"]:
            note = row["failure"][:120] if "failure" in row else f"lower {row['lower']:.10g}, minimum {p.minimum.lo:.10g}"
            note += f"  WRONG: {row['wrong']}" if row["wrong"] else ""
            note += f": {REASONS[p.name]}" if p.name in REASONS and row["verdict"] == "STOPPED" else ""
            what, verdict = f"  {p.name}, n = {p.n}", f"{row['verdict']},"
            print(f"{what:<58} {row['gap']:>10.4g} {'gap':<12} {verdict:<16} {row['seconds']:.2f} s, {note}", flush=True)
    proved, faults = sum(row["verdict"] == "PROVED" for row in table), sum(bool(row["wrong"]) for row in table)
    slowest = max(table, key=lambda row: row["seconds"], default={"problem": "none", "n": 0, "seconds": 0.0})
    report("gallery: proved", proved, f"of {len(table)}", f"= {len(table)}", proved == len(table),
           f"{time.perf_counter() - begin:.0f} s in all; the slowest {slowest['problem']}, n = {slowest['n']}, "
           f"{slowest['seconds']:.2f} s")
    report("gallery: WRONG", faults, f"of {len(table)}", "= 0", faults == 0)
    for n in (2, 5, 50):
        report(f"a region in the pool of branch and bound, n = {n}", 8 * rows_of(n), "bytes")


# peers

def ours(problem: str, threads: int | None, limit: float) -> dict[str, Any]:
    """In a child: the first call, and the shortest of those after it."""
    p = CONTESTS[problem]

    def call() -> tuple[float, Any]:
        start = time.perf_counter()
        f = p.fun if threads is None else infimum.compile(p.fun, len(p.bounds), backend=CpuBackend(threads=threads))
        r = infimum.minimize(f, p.bounds, atol=TOLERANCE, rtol=TOLERANCE, time_limit=limit)
        return time.perf_counter() - start, r
    cold, r = call()
    warm = [call()[0]]
    while sum(warm) < 1.0:
        warm.append(call()[0])
    return {"cold": cold, "warm": min(warm), "second": warm[0], "solved": r.verdict.name == "PROVED", "lower": r.lower,
            "upper": r.upper, "value": r.upper, "status": r.verdict.name}


def truth(problem: str, limit: float) -> dict[str, Any]:
    """In a child: the narrowest enclosure of the minimum that we can prove."""
    p = CONTESTS[problem]
    r = infimum.minimize(p.fun, p.bounds, atol=1e-9, rtol=1e-9, time_limit=limit)
    return {"lower": r.lower, "upper": r.upper}


def best_way(name: str, problem: str, limit: float, known: dict[str, Any]) -> dict[str, Any]:
    """The better of the ways to put the problem to the peer, the others under "others".

    A way gets little more time than a better one took. A claim that is proved wrong, not only by a rounding, is no solution.
    """
    runs: list[dict] = []
    for split in WAYS[name]:
        allowed = min([limit] + [max(1.0, 2 * r["seconds"]) for r in runs if seconds(r) < math.inf])
        r = child("provers", "peer", 4 * allowed + 30, alone=True, name=name, problem=problem, limit=allowed, split=split)
        if "failure" not in r | known:
            r["contradiction"], r["wrong"] = contradiction(r, known)
        runs.append(r)
    runs.sort(key=lambda r: ("failure" in r, r.get("wrong", False), seconds(r), r.get("upper", 0.0) - r.get("lower", 0.0)))
    return runs[0] | {"others": runs[1:]}


def seconds(r: dict[str, Any], key: str = "seconds") -> float:
    """Infinite where nothing was proved in time, or something wrong."""
    return r[key] if r.get("solved") and not r.get("wrong") else math.inf


def cell(r: dict[str, Any], key: str = "seconds", notes: list[str] | None = None) -> str:
    if "failure" in r:
        if r["failure"] not in notes:
            notes.append(r["failure"])
        return f"- [{notes.index(r['failure']) + 1}]"
    if r.get("wrong"):
        return "wrong"
    return f"{r[key]:.4f}" if r["solved"] else f"> {r[key]:.1f}"


def contradiction(r: dict[str, Any], known: dict[str, Any]) -> tuple[str, bool]:
    """How the claim contradicts the enclosure that was proved, and whether by more than the tolerance.

    Solvers that satisfy constraints up to a tolerance may report a value that the function has nowhere, nor at their point.
    """
    below, above = known["lower"] - r["upper"], r["lower"] - known["upper"]
    much = max(below, above) > max(TOLERANCE, TOLERANCE * abs(known["upper"]))
    said = f"BELOW OUR LOWER BOUND by {below:.2g}" if below > 0 else \
        f"ITS LOWER BOUND IS ABOVE OUR UPPER BOUND by {above:.2g}" if above > 0 else ""
    return said + (": WRONG" if much else ""), much


def line(name: str, cells: list[str], fastest: list[str]) -> None:
    print(f"{name:<20}", *(f"{c:>9}" for c in cells), " ", *(f"{f:<10}" for f in fastest), flush=True)


def peers(options: argparse.Namespace) -> None:
    limit, notes, table = options.peer_limit or (5.0 if options.quick else 60.0), [], TABLES.setdefault("peers", [])
    print(f"\nBeside other solvers: seconds to a proof within {TOLERANCE:g}, absolute or relative; {limit:.0f} s at most")
    line("", ["ours cold", "warm", "1 thread", "warm", *PEERS], ["fastest", "(ours cold)"])
    for problem in filter(options.chosen, CONTESTS):
        assert CONTESTS[problem].same(), f"{problem}: the peers' formula is another function"
        row: dict[str, Any] = {"problem": problem}
        for key, threads in (("ours", None), ("one thread", 1)):
            runs = [child("prove", "ours", 4 * limit + 30, problem=problem, threads=threads, limit=limit)
                    for _ in range(1 if options.quick else 3)]
            row[key] = runs[0] if any("failure" in r for r in runs) else runs[0] | {
                k: min(r[k] for r in runs) for k in ("cold", "warm")}
        known = row["truth"] = child("prove", "truth", 60, problem=problem, limit=10.0)
        row |= {name: best_way(name, problem, limit, known) for name in PEERS}
        times = {name: seconds(row[name]) for name in PEERS}
        for key in ("warm", "cold"):
            every = times | {"ours": seconds(row["ours"], key)}
            row[f"fastest ({key})"] = min(every, key=every.__getitem__) if min(every.values()) < math.inf else "-"
        table.append(row)
        line(problem, [cell(row[k], key, notes) for k in ("ours", "one thread") for key in ("cold", "warm")]
             + [cell(row[name], notes=notes) for name in PEERS], [row["fastest (warm)"], row["fastest (cold)"]])
    for i, note in enumerate(notes, 1):
        print(f"[{i}] {note}")
    claims(table)
    compare(table)


def claims(table: list[dict]) -> None:
    """What each says, and whether that can be: a value below our lower bound is none that the function has."""
    print(f"\nWhat they claim\n{'':<20} {'solver':<8} {'status':<18} {'value':>18} {'gap':>10}  {'function at its point':>21}")
    for row in table:
        for name in ("ours", *PEERS):
            for r in [row[name], *(o for o in row[name].get("others", []) if o.get("wrong"))]:
                if "failure" not in r:
                    figures = f"{r['upper']:>18.10g} {r['upper'] - r['lower']:>10.3g}  {r['value']:>21.10g}"
                    print(f"{row['problem']:<20} {name:<8} {r['status']:<18} {figures}  "
                          f"{'parts named  ' if r.get('split') else ''}{r.get('contradiction', '')}")
        known = row["truth"]
        what = known.get("failure") or f"[{known['lower']:.15g}, {known['upper']:.15g}]"
        print(f"{row['problem']:<20} proved: {what}", flush=True)


def compare(table: list[dict]) -> None:
    head("Ours beside MAiNGO and Gurobi")
    for key, least in (("cold", 0.4), ("warm", 0.1)):
        for row in table:
            own, failed = seconds(row["ours"], key), "failure" in row["MAiNGO"]
            most = max(seconds(row["MAiNGO"]), least)
            report(f"{row['problem']}: ours {key}, at most MAiNGO or {least} s", own, "s", "" if failed else f"<= {most:.3g}",
                   None if failed else own <= most and own < math.inf, "MAiNGO failed" if failed else "")
    if table and not all("failure" in row["Gurobi"] for row in table):
        ahead = [row["problem"] for row in table if seconds(row["ours"], "warm") < seconds(row["Gurobi"])]
        report("ours warm is faster than Gurobi", len(ahead), f"of {len(table)}", ">= 5",
               len(ahead) >= 5 if len(table) == len(CONTESTS) else None, ", ".join(ahead))
    for name in PEERS:
        faults = [f"{row['problem']}{', parts named' if r['split'] else ''} ({r['contradiction']})" for row in table
                  for r in (row[name], *row[name].get("others", [])) if r.get("contradiction")]
        report(f"{name}: claims that contradict what is proved", len(faults), "", note=", ".join(faults))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the tables to this file")
    parser.add_argument("--quick", action="store_true", help="1,000 variables only, shorter limits, one round")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--problems", nargs="+", metavar="TEXT", help="only problems whose name contains one of these")
    parser.add_argument("--peer-limit", type=float, help="seconds each solver may take, 60")
    options = parser.parse_args()
    options.chosen = lambda name: not options.problems or any(text in name for text in options.problems)
    machine = this_machine()
    print(machine)
    for part in (ten, linear, gallery, peers):
        if part.__name__ in options.only:
            part(options)
            write_json(options.json, machine, tables=TABLES)  # after each part: a run that is stopped leaves what it has
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
