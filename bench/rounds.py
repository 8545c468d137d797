"""Proofs by workers: how efficient two of them are, what a portion costs, and a model of what limits a thousand.

    python bench/rounds.py efficiency [--workers here processes ray] [--threads 2] [--proofs NAMES] [--json FILE]
    python bench/rounds.py measure [--workers processes ray] [--threads 2] [--proofs NAMES] > FILE
    python bench/rounds.py simulate FILE

`efficiency` proves each problem in a process of its own: with threads alone, in rounds within one process, and with each kind of
workers, which have a thread each. It compares the seconds and the processor seconds (of all processes together; those of Ray are
not ours to count). `measure` notes how long each portion took, how many bytes went to and fro, and what the coordinator did
meanwhile; `simulate` deals such portions to up to a thousand workers.
"""

import argparse
import heapq
import importlib
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

import numpy as np  # noqa: E402

import infimum  # noqa: E402
from bench import table  # noqa: E402
from infimum.blackbox.trial_workers import Workers  # noqa: E402
from infimum.parallel.proofs.portion_runner import WorkerPortionRunner  # noqa: E402
from infimum.problems import constrained  # noqa: E402
from infimum.search.rounds import StepRounds  # noqa: E402

WANTED = 0.8  # of the speed of as many threads
PROOFS = ["schwefel", "waves", "newton", "ex8_4_1"]  # the last is one of the constrained gallery
SAID = {"here": "rounds in one process, {} threads", "processes": "{} worker processes", "ray": "{} workers of Ray"}
WORKERS = 1, 2, 4, 8, 16, 64, 256, 1000
SIZES = 64, 1024, 4096, 16384  # portions of a round
SEED = 18


def rotated(n: int, seed: int) -> np.ndarray:
    """A rotation, to three digits."""
    return np.round(np.linalg.qr(np.random.default_rng(seed).normal(size=(n, n)))[0], 3)


def schwefel(x):
    y = rotated(len(x), 5) @ x
    return -np.sum(y * np.sin(np.sqrt(np.abs(y))))


def waves(x):
    return np.sum(x**2) / 20 - np.prod(np.cos(2 * x)) + np.sum(np.sin(x[:-1] * x[1:])) + np.cos(np.sum(x))


def proof(name: str) -> tuple:
    """The function, its bounds, and other arguments."""
    if name in constrained.names():
        known = constrained.get(name)
        return known.fun, known.bounds, {"constraints": known.constraints}
    return {"schwefel": (schwefel, [(-500, 500)] * 8, {}), "waves": (waves, [(-5, 6)] * 7, {"rtol": 5e-3}),
            "newton": (waves, [(-5, 6)] * 6, {"rtol": 1e-3, "engine": "newton"})}[name]


def processor_seconds() -> float:
    """Of this process and of those that it has started and that have ended."""
    both = map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


class Notes:
    """What the coordinator does in rounds, in seconds, noted around the methods that do it."""

    def __init__(self):
        self.rounds, self.sent, self.heard, self.dealing, self.busy = [], 0.0, 0.0, 0.0, 0.0
        self.runner: WorkerPortionRunner | None = None
        for owner, name, note in ((StepRounds, "_chosen", self._chosen), (StepRounds, "_merge", self._merged),
                                  (WorkerPortionRunner, "_left", self._answered)):
            setattr(owner, name, self._around(getattr(owner, name), note))
        for owner in (Workers, *Workers.__subclasses__()):
            for name, total in (("submit", "sent"), ("_hear", "heard")):
                if name in vars(owner):
                    setattr(owner, name, self._adding(vars(owner)[name], total))
        usual = WorkerPortionRunner.run_portions

        def deal(dealer, count, portion):
            self.runner, self.rounds[-1]["count"], begin = dealer, count, time.perf_counter()
            yield from usual(dealer, count, portion)
            self.rounds[-1]["seconds"] = time.perf_counter() - begin
            self.dealing += self.rounds[-1]["seconds"]
        WorkerPortionRunner.run_portions = deal

    def _around(self, usual, note):
        def timed(*given):
            begin = time.perf_counter()
            found = usual(*given)
            note(time.perf_counter() - begin, given, found)
            return found
        return timed

    def _adding(self, usual, total):
        def timed(*given):
            begin = time.perf_counter()
            found = usual(*given)
            setattr(self, total, getattr(self, total) + time.perf_counter() - begin)
            return found
        return timed

    def _chosen(self, seconds, given, found):
        self.rounds.append({"choosing": seconds, "dealt": found.columns.shape[1], "portions": [], "left": 0})

    def _answered(self, seconds, given, found):
        self.rounds[-1]["portions"].append(given[1].seconds)
        self.rounds[-1]["left"] += found.arrays["pool.front"].shape[1] + found.arrays["pool.waiting"].shape[1]

    def _merged(self, seconds, given, found):
        self.rounds[-1]["merging"] = seconds

    def summary(self) -> dict:
        """Sums, and what a portion costs."""
        whole = [r for r in self.rounds if "merging" in r]
        portions = [seconds for r in whole for seconds in r["portions"]]
        count = max(1, len(portions))
        moved = max(1, sum(r["dealt"] + r["left"] for r in whole))
        return {"rounds": len(whole), "portions": len(portions), "dealing": self.dealing, "busy": sum(portions),
                "send": self.sent / count, "hear": self.heard / count, "bytes": self.runner.bytes / count if self.runner else 0,
                "choose and merge, a region": sum(r["choosing"] + r["merging"] for r in whole) / moved,
                "regions, a portion": moved / count, "each": portions}


def proved(name: str, workers: str) -> dict:
    """Runs a proof here, and notes all about it."""
    (fun, bounds, settings), (count, kind) = proof(name), workers.split(":")
    asked = {"threads": {"threads": int(count)}, "here": {"threads": int(count), "workers": 1}, "ray": {"workers": "ray"},
             "processes": {"workers": int(count)}}[kind]
    if kind == "ray":
        importlib.import_module("infimum.parallel.ray_workers")  # so that it is among those that are noted
    notes, begin = Notes(), time.perf_counter()
    result = infimum.minimize(fun, bounds, **asked, **settings)
    seconds, processor = time.perf_counter() - begin, processor_seconds()
    found = {"proof": name, "workers": workers, "seconds": seconds, "processor": processor, "verdict": result.verdict.name,
             "bits": [result.lower.hex(), result.upper.hex()], "boxes": result.nfev, "result": result.rounds}
    return found | (notes.summary() if notes.runner else {})


def in_a_process(name: str, workers: str) -> dict:
    done = subprocess.run([sys.executable, __file__, "prove", name, workers], stdout=subprocess.PIPE, check=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def efficiency(options: argparse.Namespace) -> int:
    table.head(f"{table.this_machine()}; {options.threads} threads, and as many workers with a thread each")
    for name in options.proofs:
        alone = in_a_process(name, f"{options.threads}:threads")
        table.report(f"{name}: {options.threads} threads", alone["seconds"], "s", note=f"{alone['processor']:.1f} processor "
                     f"seconds, {alone['boxes']:,} boxes, {alone['verdict']}")
        same = None
        for kind in options.workers:
            found = in_a_process(name, f"{options.threads}:{kind}")
            counts, what = found["result"], SAID[kind].format(options.threads)
            mine = "" if kind == "ray" else f", {found['processor']:.1f} processor seconds"
            table.report(f"{name}: {what}", found["seconds"], "s", note=f"{found['boxes']:,} boxes, {counts['rounds']} rounds of "
                         f"{counts['portions']} portions{mine}, {found['verdict']}")
            if kind == "here":
                same = found
            for base, other in (("threads", alone), ("rounds in one process", same if kind != "here" else None)):
                if other is not None:
                    speed = other["seconds"] / found["seconds"]
                    table.report(f"    speed, as part of that of {base}", speed, "", f">= {WANTED}", speed >= WANTED)
                    if kind != "ray":
                        used = other["processor"] / found["processor"]
                        table.report(f"    processor seconds of {base}, as part of those", used, "")
            if kind == "here":
                continue
            table.report("    workers busy while regions are dealt", found["busy"] / (counts["workers"] * found["dealing"]), "")
            told = found["send"] + found["hear"]
            portion = found["busy"] / found["portions"]
            table.report("    messages, as part of a portion's time", told / portion, "", note=f"{1e3 * portion:.0f} ms a "
                         f"portion, {1e3 * told:.2f} ms to send and hear it, {found['bytes'] / 1e6:.2f} MB to and fro")
    table.write_json(options.json, table.this_machine())
    return table.exit_code()


def measure(options: argparse.Namespace) -> int:
    print(json.dumps([in_a_process(name, f"{options.threads}:{kind}") for name in options.proofs for kind in options.workers],
                     indent=1))
    return 0


def round_seconds(times: list[float], workers: int, told: tuple[float, float], alone: float) -> float:
    """A round of portions that take these times: the coordinator sends and hears them one after the other, each to the first that
    is free, and does what it does alone."""
    send, hear = told
    free, coming, now, waiting = workers, [], 0.0, list(reversed(times))
    while waiting or coming:
        if waiting and free:
            now, free = now + send, free - 1
            heapq.heappush(coming, now + waiting.pop())
        else:
            now, free = max(now, heapq.heappop(coming)) + hear, free + 1
    return now + alone


def simulate(options: argparse.Namespace) -> int:
    draw = random.Random(SEED)
    for found in json.load(open(options.file)):
        seconds, region = found["each"], found["choose and merge, a region"] * found["regions, a portion"]
        told = found["send"], found["hear"]
        print(f"\n{found['proof']}, {found['workers']}: portions of {statistics.mean(seconds):.3f} s (deviation "
              f"{statistics.pstdev(seconds):.3f}), {1e3 * sum(told):.2f} ms to send and hear one, {1e3 * region:.2f} ms to "
              f"choose and merge its {found['regions, a portion']:.0f} regions")
        print(f"{'efficiency, by workers':<28}" + "".join(f"{w:>8,}" for w in WORKERS))
        for factor, what in ((1, ""), (4, ", four times as long")):
            for size in SIZES:
                times = [factor * draw.choice(seconds) for _ in range(size)]
                parts = [sum(times) / (w * round_seconds(times, w, told, size * region)) for w in WORKERS]
                print(f"{f'{size:,} portions{what}':<28}" + "".join(f"{part:>8.2f}" for part in parts))
    return 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    for name in ("efficiency", "measure"):
        one = commands.add_parser(name)
        one.add_argument("--workers", nargs="+", default=["here", "processes"], choices=list(SAID))
        one.add_argument("--threads", type=int, default=2, help="to compare with, and how many workers")
        one.add_argument("--proofs", nargs="+", default=PROOFS)
        one.add_argument("--json")
    commands.add_parser("simulate").add_argument("file")
    one = commands.add_parser("prove")
    one.add_argument("name")
    one.add_argument("workers")
    options = parser.parse_args()
    if options.command == "prove":
        print(json.dumps(proved(options.name, options.workers)))
        return 0
    return {"efficiency": efficiency, "measure": measure, "simulate": simulate}[options.command](options)


if __name__ == "__main__":
    sys.exit(main())
