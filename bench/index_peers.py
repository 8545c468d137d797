"""The index method beside other searches of black boxes, in one run: trials until one is near the known minimiser.

    python -m bench.index_peers --vectors FOLDER [--iopt PYTHON] [--classes CLASS ...] [--peers NAME ...] [--sample COUNT]
                                [--json FILE]

A trial within 0.01 of the width in every coordinate solves a function. Means count functions that were not solved with the whole
budget. Seconds are of the processor, those of the function included. Peers that are slow run on fewer functions, the first of
the class, and with a smaller budget, so each row has our search on the same functions with the same budget beside it. Two rows
are of what can be traced: the swarm's evaluations, and the proof, of which the table has whole runs.

Peers are in the extra `bench`; Optuna's GP needs PyTorch too, and is quicker with greenlet. iOpt pins NumPy 1.26 and lives in an
environment of its own (`python -m venv E; E/bin/pip install iOpt`): give its interpreter, `--iopt E/bin/python`. Peers that are
not there are named.
"""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):   # before NumPy: every search has one thread
    os.environ.setdefault(_name, "1")
ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import numpy as np  # noqa: E402

import infimum  # noqa: E402
from bench import gkls, search_peers  # noqa: E402
from bench.black_boxes import WITHIN  # noqa: E402
from bench.search_peers import PEERS, QUICK, TUNED, Done, Watched  # noqa: E402
from bench.table import write_json  # noqa: E402

OURS, UNPOLISHED, SWARM, PROOF = "infimum index", "infimum index, no polish", "infimum swarm, traced", "infimum proof, traced"
SWARM_MOST, LIMIT = 1_000_000, 60.0
HEAD = f"{'':<26} {'solved':>10} {'budget':>9} {'mean':>9} {'last':>9} {'s each':>9}   {'infimum on the same, same budget':<32}"
TABLE: list[dict[str, Any]] = []


def ours(f: Watched, **options: Any) -> None:
    """The whole call, as a user writes it."""
    infimum.minimize(f, list(zip(f.lo, f.hi, strict=True)), engine="index", max_trials=f.most, options=options, progress=False)


def own(search: Callable[[Watched], None], folder: str, kind: str, number: int, most: int) -> dict[str, Any]:
    """As `search_peers.one`, of a search of our own."""
    f, start = Watched(search_peers.functions(folder, kind)[number], most), time.process_time()
    with suppress(Done):  # solved, or the budget is used up: what it has counted says which
        search(f)
    return {"trials": f.trials, "solved": f.solved, "seconds": time.process_time() - start}


def traced(folder: str, kind: str, count: int) -> list[Any]:
    """The functions of a class as NumPy functions that can be traced."""
    if kind == "grishagin":
        return [gkls.grishagin(p) for p in json.loads((Path(folder) / "grishagin.json").read_text())[:count]]
    every = json.loads((Path(folder) / "gkls_classes.json").read_text())
    return [gkls.gkls(p, "nested") for p in every if p["class"] == kind][:count]


def swarm(p: Any) -> dict[str, Any]:
    """Evaluations until the best point is near the minimiser, at the end of one of the swarm's steps; compiling included."""
    start, near, found = time.process_time(), np.mean(p.minimisers[0], axis=0), {}

    def look(snapshot: Any) -> bool:
        width = p.bounds[0][1] - p.bounds[0][0]
        found.update(trials=min(snapshot.nfev, SWARM_MOST),
                     solved=bool(np.abs(snapshot.x - near).max() <= WITHIN * width) and snapshot.nfev <= SWARM_MOST)
        return found["solved"] or snapshot.nfev >= SWARM_MOST
    infimum.minimize(p.fun, p.bounds, engine="swarm", callback=look, options={"confidence": 1.0}, device="cpu", threads=1,
                     progress=False)
    return {**found, "seconds": time.process_time() - start}


def prove(p: Any) -> dict[str, Any]:
    """The whole call, tracing and compiling included."""
    start = time.process_time()
    r = infimum.minimize(p.fun, p.bounds, time_limit=LIMIT, device="cpu", threads=1, progress=False)
    return {"proved": r.verdict.name == "PROVED", "evaluations": r.nfev, "seconds": time.process_time() - start,
            "wrong": gkls.wrong(r, p)}


def row(kind: str, name: str, runs: list[dict[str, Any]], most: int) -> None:
    """Keeps and prints a row; the first of a class is ours, with which the others are compared."""
    mine = next((r["runs"] for r in TABLE if r["class"] == kind and r["search"] == OURS), runs)[:len(runs)]

    def solved_and_mean(of: list[dict[str, Any]]) -> tuple[int, float]:
        done = [r["trials"] for r in of if r["solved"] and r["trials"] <= most]
        return len(done), (sum(done) + most * (len(of) - len(done))) / len(of)
    (solved, mean), (we, our_mean) = solved_and_mean(runs), solved_and_mean(mine)
    last = max(r["trials"] for r in runs) if solved == len(runs) else None
    seconds = float(np.mean([r["seconds"] for r in runs]))
    TABLE.append({"class": kind, "search": name, "budget": most, "solved": solved, "of": len(runs), "mean": mean, "last": last,
                  "seconds": seconds, "ours_solved": we, "ours_mean": our_mean, "runs": runs})
    share, most_said = f"{solved} of {len(runs)}", "-" if last is None else last
    beside = "" if name.startswith(OURS) or name == SWARM else f"{we} of {len(runs)}, mean {our_mean:.1f}"
    print(f"{name:<26} {share:>10} {most:>9,} {mean:>9.1f} {most_said:>9} {seconds:>9.3g}   {beside}".rstrip(), flush=True)


def searches(options: argparse.Namespace, kind: str, there: dict[str, str | None], known: list[dict[str, Any]]) -> None:
    """One class: our own, then every peer that is there; of these, what is known from an earlier run is not run again."""
    folder, column = str(options.vectors), int(kind[0] == "3")
    count, most = min(QUICK[0][column], options.sample), QUICK[1][column]
    print(f"\n{kind}: trials until one is near the minimiser\n{HEAD}", flush=True)
    for name, search in ((OURS, ours), (UNPOLISHED, lambda f: ours(f, polish=False))):
        row(kind, name, [own(search, folder, kind, k, most) for k in range(count)], most)
    for name, interpreter in there.items():
        most, numbers = PEERS[name].most[column], list(range(min(PEERS[name].sample[column], options.sample)))
        kept = next((r["runs"] for r in known if (r["class"], r["search"], r.get("budget")) == (kind, name, most)), [])
        row(kind, name, kept[:len(numbers)] if len(kept) >= len(numbers) else
            [search_peers.one(name, folder, kind, k, most) for k in numbers] if interpreter is None else
            search_peers.elsewhere(interpreter, name, folder, kind, numbers, most), most)
    row(kind, SWARM, [swarm(p) for p in traced(folder, kind, count)], SWARM_MOST)


def proofs(options: argparse.Namespace) -> None:
    """What a proof of the traced function costs: not until a point is near, but until it is known that none is lower."""
    print(f"\nProofs of the traced functions, gap 1e-6, {LIMIT:g} s at most", flush=True)
    print(f"{'':<26} {'proved':>10} {'evaluations, mean':>18} {'s each':>9} {'slowest':>9}", flush=True)
    for kind in options.classes:
        runs = [prove(p) for p in traced(str(options.vectors), kind, min(options.proofs, options.sample))]
        proved, wrong = sum(r["proved"] for r in runs), sum(bool(r["wrong"]) for r in runs)
        seconds, evaluations = [r["seconds"] for r in runs], float(np.mean([r["evaluations"] for r in runs]))
        TABLE.append({"class": kind, "search": PROOF, "proved": proved, "of": len(runs), "wrong": wrong, "runs": runs})
        share, said = f"{proved} of {len(runs)}", f"  {wrong} WRONG" if wrong else ""
        print(f"{kind:<26} {share:>10} {evaluations:>18,.0f} {np.mean(seconds):>9.3g} {max(seconds):>9.3g}{said}", flush=True)


def present(options: argparse.Namespace) -> dict[str, str | None]:
    """Peers that can run, and the interpreter of those that need another; the others are named, with what is missing."""
    found: dict[str, str | None] = {}
    for name in options.peers:
        lacking = PEERS[name].missing()
        if "iOpt" in PEERS[name].modules and options.iopt is not None:
            found[name] = options.iopt
        elif lacking is None:
            found[name] = None
        else:
            print(f"missing: {name}, without {lacking}" + (" (--iopt)" if lacking == "iOpt" else ""))
    return found


def known_rows(path: str | None, machine: str, versions: dict[str, Any]) -> list[dict[str, Any]]:
    """The peers' rows of an earlier run on this machine with the same versions: they take an hour, and their searches are the
    same each time."""
    if path is None or not os.path.exists(path):
        return []
    before = json.loads(Path(path).read_text())
    return [r for r in before["table"] if before["machine"] == machine and before["versions"].get(r["search"]) ==
            versions.get(r["search"]) is not None]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vectors", type=Path, required=True, help="the folder of the parameters")
    parser.add_argument("--iopt", metavar="PYTHON", help="the interpreter of an environment with iOpt, which pins NumPy 1.26")
    parser.add_argument("--classes", nargs="+", choices=TUNED, default=list(TUNED), help="only these classes")
    parser.add_argument("--peers", nargs="*", choices=PEERS, default=list(PEERS), help="only these peers")
    parser.add_argument("--sample", type=int, default=100, help="how many functions of each class at most; without it 100 in 2 "
                                                                "variables, and 30 in 3")
    parser.add_argument("--proofs", type=int, default=20, help="of how many functions of each class the proof is run, 20")
    parser.add_argument("--json", help="write the table to this file, again after each class; runs of peers that it holds, of "
                                       "this machine and the same versions, are not run again")
    options = parser.parse_args()
    options.vectors = options.vectors.resolve()
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, NumPy {np.__version__}"
    print(machine)
    there = present(options)
    versions = {name: search_peers.versions(name, interpreter) for name, interpreter in there.items()}
    print("; ".join(dict.fromkeys(f"{package} {number}" for of in versions.values() for package, number in of.items())))
    known = known_rows(options.json, machine, versions)
    for kind in options.classes:
        searches(options, kind, there, known)
        to_come = [r for r in known if r["class"] not in {done["class"] for done in TABLE}]
        write_json(options.json, machine, versions=versions, table=[*TABLE, *to_come])
    proofs(options)
    write_json(options.json, machine, versions=versions, table=TABLE)
    return int(any(r.get("wrong") or r["search"].startswith(OURS) and r["solved"] < r["of"] for r in TABLE))


if __name__ == "__main__":
    sys.exit(main())
