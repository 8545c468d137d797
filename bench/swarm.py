"""Speed of the swarm beside its peers: time until a value within 1e-6 of the minimum, in one run, printed as a table.

    python bench/swarm.py [--quick] [--json FILE] [--only PART ...] [--problems NAME ...]

Every method gets the same function and bounds, starts again (another seed) until it succeeds or its limit is over, and its time
is the median over its seeds, a seed without success counting as infinite. Ours runs as it does by default, tracing and compiling
not counted but printed beside; a success is confirmed by a verified upper bound. The peers run on one thread, with default
settings where nothing else is said. Where the minimiser is the middle of the usual bounds, which some methods look at first (ours
and shgo do), the problem is run a second time with the upper bounds moved out by 15 % of the width: `name+`. Parts: `ours` and
`peers` (the table), `ackley`, `large`, `cold`; all of them by default.
"""

import argparse
import math
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import partial
from statistics import median
from typing import Any

THREADS = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
os.environ.update(THREADS)  # before NumPy is imported; bench/peers.py says why

import numpy as np  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.peers import CLOSE, PEERS, peer_median, peer_time  # noqa: E402
from bench.table import exit_code, report, this_machine, write_json  # noqa: E402
from infimum import problems  # noqa: E402
from infimum.problems import GalleryProblem  # noqa: E402

LIMIT = 5.0   # seconds a seed of ours may take
WARM = 10**6  # the seed of the runs that compile, none of the measured ones
PARTS = ("ours", "peers", "ackley", "large", "cold")
NAMES = ("rosenbrock-2", "rosenbrock-5", "rosenbrock-10", "rastrigin-2", "rastrigin-5", "rastrigin-10", "ackley-2", "ackley-5",
         "ackley-10", "goldstein_price", "griewank-5", "griewank-10", "levy-10", "styblinski_tang-10", "schwefel_2_26-5",
         "hartmann_6", "shekel_5", "shekel_7", "shekel_10", "michalewicz-5", "complete_search_zabinsky-10")
CENTRED = ("rastrigin", "ackley", "griewank")  # the middle of the usual bounds is the minimiser
OFF_CENTRE = tuple(f"{n}+" if n.startswith(CENTRED) else n for n in NAMES)
TABLE: list[dict] = []


def problem(name: str) -> GalleryProblem:
    """The problem of the gallery, its size after a dash where it has many; with a plus at the end, its bounds are off centre."""
    title, _, n = name.rstrip("+").partition("-")
    p = problems.get(title, int(n) if n else None)
    if not name.endswith("+"):
        return p
    return replace(p, bounds=tuple((low, high + 0.15 * (high - low)) for low, high in p.bounds))


# Ours

def reach(f: Any, bounds: Any, target: float, limit: float, seed: int, **more: Any) -> tuple[float, Any]:
    """Seconds until the swarm saw a value not above the target, infinite where the result does not confirm it; the result."""
    seen = math.inf

    def callback(snapshot: Any) -> bool:
        nonlocal seen
        if snapshot.fun <= target:
            seen = min(seen, time.perf_counter() - start)
        return seen < math.inf
    start = time.perf_counter()
    result = infimum.minimize(f, bounds, engine="swarm", seed=seed, time_limit=limit, callback=callback, **more)
    seen = min(seen, time.perf_counter() - start)  # the last values may come without a callback
    return (seen if result.upper <= target and seen <= limit else math.inf), result


def ours(p: GalleryProblem, seeds: int) -> tuple[list[float], float]:
    """The time of each seed, and the time to trace and compile: what a first run takes longer than its repetition."""
    target = p.minimum.hi + CLOSE
    start = time.perf_counter()
    evaluator = infimum.compile(p.fun, p.n)
    traced = time.perf_counter() - start
    run = partial(reach, evaluator, p.bounds, target, LIMIT, options={"enough": None})
    first, again = run(seed=WARM)[0], run(seed=WARM)[0]
    cold = traced + max(first - again, 0.0) if max(first, again) < math.inf else math.nan
    return [run(seed=s)[0] for s in range(seeds)], cold


# The table

def ms(seconds: float) -> str:
    return f"{1e3 * seconds:.4g}" if math.isfinite(seconds) else "-"


def line(name: str, success: str, holds: str, cells: list[str], fastest: str, ratio: str) -> None:
    print(f"{name:<28} {success:>8} {holds:<5}", *(f"{c:>9}" for c in cells), f" {fastest:<10} {ratio:>6}", flush=True)


def compare(names: list[str], parts: list[str], seeds: int, peer_seeds: int, peer_limit: float) -> None:
    line("median ms until success", "success", "holds", ["ours", "compile", *PEERS], "fastest", "ratio")
    both, peers = {"ours", "peers"} <= set(parts), PEERS if "peers" in parts else {}
    for variants in peers.values():  # imports, and what a library does once
        for peer in variants:
            peer_time(peer, problem("rosenbrock-2"), 0, 0.5)
    for name in names:
        p = problem(name)
        times, cold = ours(p, seeds) if "ours" in parts else ([math.inf] * seeds, math.nan)
        successes = seeds - times.count(math.inf)
        medians = {"ours": median(times)} | {k: peer_median(v, p, peer_seeds, peer_limit) for k, v in peers.items()}
        fastest = min(medians, key=medians.__getitem__)
        least = medians[fastest]
        ratio = medians["ours"] / least if both and least < math.inf else math.nan
        holds = successes >= 0.99 * seeds if "ours" in parts else None
        TABLE.append({"problem": name, "seeds": seeds, "successes": successes if "ours" in parts else None, "holds": holds,
                      "compile": cold, **medians, "fastest": fastest, "ratio": ratio})
        line(name, f"{successes}/{seeds}" if "ours" in parts else "-", {True: "yes", False: "NO", None: ""}[holds],
             [ms(medians["ours"]), ms(cold), *(ms(medians.get(k, math.inf)) for k in PEERS)],
             fastest if least < math.inf else "-", f"{ratio:.2f}" if both else "-")
    print()
    for title, wanted in (("the usual bounds", NAMES), ("off centre", OFF_CENTRE)):
        rows = [row for row in TABLE if row["problem"] in wanted]
        if rows and "ours" in parts:
            summarise(title, rows, both)


def summarise(title: str, rows: list[dict], both: bool) -> None:
    """The figures asked for, over one choice of bounds."""
    count, good = len(rows), sum(row["holds"] for row in rows)
    report(f"{title}: success in 99 of 100 seeds", good, f"of {count}", f"= {count}", good == count)
    if both:
        wanted = math.ceil(count * 15 / 21)
        first = sum(row["fastest"] == "ours" for row in rows if row["ours"] < math.inf)
        beaten = [f"{row['problem']} ({row['fastest']})" for row in rows if row["fastest"] != "ours"]
        report(f"{title}: ours is the fastest", first, f"of {count}", f">= {wanted}", first >= wanted,
               "faster: " + ", ".join(beaten) if beaten else "")
        worst = max(rows, key=lambda row: row["ratio"] if row["ratio"] == row["ratio"] else math.inf)
        report(f"{title}: largest ratio ours / fastest", worst["ratio"], "ratio", "<= 3", worst["ratio"] <= 3,
               f"{worst['problem']}, {worst['fastest']}")


# What is asked beyond the table

def ackley() -> None:
    """The minimum is a kink, where a gradient never vanishes: the default run knows it as what it is."""
    for n in (2, 5, 10):
        p = problem(f"ackley-{n}")
        evaluator = infimum.compile(p.fun, n)
        start = time.perf_counter()
        r = infimum.minimize(evaluator, p.bounds, engine="swarm", seed=0)
        seconds = time.perf_counter() - start
        status = r.minima[0].status.name if r.minima else "none"
        above = r.fun - p.minimum.lo
        report(f"ackley n={n}, a default run: value above the minimum", above, "", "<= 1e-6, KINK",
               bool(above <= CLOSE and status == "KINK"), f"success {r.success}, {status}, {seconds:.2f} s")


SHIFT = np.random.default_rng(2024).uniform(-2, 2, 1000)


def shifted_rastrigin(x: Any) -> Any:
    """Rastrigin's function with the minimum, 0, at SHIFT."""
    y = x - SHIFT
    return 10 * len(SHIFT) + np.sum(y**2 - 10 * np.cos(2 * np.pi * y))


def large() -> None:
    """Compiling counts: the function is given as it is."""
    seconds, r = reach(shifted_rastrigin, [(-5.12, 5.12)] * len(SHIFT), CLOSE, 30.0, seed=0)
    report("shifted rastrigin n=1000, compiled and within 1e-6", seconds, "s", "<= 30", seconds <= 30,
           f"value {r.fun:.3g}, upper bound {r.upper:.3g}, {r.nfev} evaluations")


_COLD = """
import sys
sys.path.insert(0, {root!r})
import numpy as np
import infimum
def rosen(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
r = infimum.minimize(rosen, [(-5, 10)] * 2, engine="swarm")
print(r.upper)
"""


def cold(rounds: int = 5) -> None:
    """A process as a user's: with Python's cache of compiled modules, and without our settings of threads."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE" and k not in THREADS}
    times, values = [], []
    for _ in range(rounds):
        start = time.perf_counter()
        run = subprocess.run([sys.executable, "-c", _COLD.format(root=ROOT)], capture_output=True, text=True, check=True,
                             env=environment)
        times.append(time.perf_counter() - start)
        values.append(float(run.stdout))
    report("rosenbrock n=2 in a cold process", min(times), "s", "<= 0.8", min(times) <= 0.8 and max(values) <= CLOSE,
           f"upper bound {max(values):.3g}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the tables to this file")
    parser.add_argument("--quick", action="store_true", help="10 seeds, 2 for the peers")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--problems", nargs="+", metavar="NAME",
                        help="rosenbrock-2, rosenbrock (all sizes of the table), any of the gallery")
    parser.add_argument("--seeds", type=int, help="seeds of ours, 100")
    parser.add_argument("--peer-seeds", type=int, help="seeds of each peer, 5")
    parser.add_argument("--peer-limit", type=float, default=2.0, help="seconds a seed of a peer may take, 2")
    options = parser.parse_args()
    seeds, peer_seeds = options.seeds or (10 if options.quick else 100), options.peer_seeds or (2 if options.quick else 5)
    every = [*NAMES, *(n for n in OFF_CENTRE if n not in NAMES)]
    chosen = [n for n in every if not options.problems or {n, n.partition("-")[0]} & set(options.problems)]
    chosen += [n for n in options.problems or () if not any(n in (m, m.partition("-")[0]) for m in chosen)]
    machine = this_machine()
    print(machine)
    if {"ours", "peers"} & set(options.only):
        compare(chosen, options.only, seeds, peer_seeds, options.peer_limit)
    for part in (ackley, large, cold):
        if part.__name__ in options.only:
            part()
    write_json(options.json, machine, table=TABLE)
    return exit_code(TABLE)


if __name__ == "__main__":
    sys.exit(main())
