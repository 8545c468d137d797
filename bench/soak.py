#!/usr/bin/env python3
"""The oracle at scale: random expressions on random and adversarial boxes, every claim held against Arb, for so many minutes.

    python bench/soak.py --minutes 10
    python bench/soak.py --minutes 600 --workers 8 --seed 1000000
    python bench/soak.py --repeat 20133          # one round again, after a violation named its seed
    python bench/soak.py --linear --points 1e8 --processes 16

Each round draws an expression (of generated ones and of functions as users write them), compiles its kernels, encloses it and
its derivatives on boxes, and compares with Arb at points of the boxes. The first violation ends the run with exit status 1 and a
description that repeats it. Ctrl-C prints what was held so far. Rounds are counted from --seed, so that two runs with different
seeds (further apart than their rounds) check different things, and the same seed checks the same things again.

`--linear` holds linear bounds against enclosures of points, so many of them, and against Arb at a few of each function, if
python-flint is there. It goes on after a violation, prints how many there are, and how far bounds are from the least value seen.
"""

import argparse
import signal
import sys
import time
import traceback
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests.oracle.linear_claims import HAS_ARB, LinearTally, LinearViolation  # noqa: E402 (the path comes first)
from tests.oracle.linear_claims import one_round as linear_round  # noqa: E402
from tests.oracle.linear_functions import KINDS  # noqa: E402
from tests.oracle.tally import Tally, Violation  # noqa: E402

_BATCH = 8  # rounds in one errand of a worker
_SHOWN = 5  # violations that are described in full


def rounds(first: int, count: int) -> tuple[Tally, str | None]:
    """Some rounds, and the description of the violation that ended them early."""
    from tests.oracle.campaign import one_round  # needs Arb

    total = Tally()
    for seed in range(first, first + count):
        try:
            total.add(one_round(seed))
        except Violation as violation:
            return total, f"VIOLATION in round {seed}\n{violation}"
        except Exception:
            return total, f"CRASH in round {seed}\n{traceback.format_exc()}"
    return total, None


def _ignore_interrupts() -> None:
    """Ctrl-C is for the parent, which then stops handing out work."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def soak(minutes: float, seed: int, workers: int) -> int:
    """Runs rounds until the time is over; returns the exit status."""
    start, total, failure, following, said = time.monotonic(), Tally(), None, seed, 0.0
    context = get_context("spawn")
    with ProcessPoolExecutor(workers, context, initializer=_ignore_interrupts) as pool:
        running: set[Future] = set()
        try:
            while failure is None and (running or time.monotonic() - start < 60 * minutes):
                while len(running) < workers and time.monotonic() - start < 60 * minutes:
                    running.add(pool.submit(rounds, following, _BATCH))
                    following += _BATCH
                done, running = wait(running, timeout=10, return_when=FIRST_COMPLETED)
                for future in done:
                    tally, failure = future.result()[0], failure or future.result()[1]
                    total.add(tally)
                said = _progress(total, time.monotonic() - start, said)
        except KeyboardInterrupt:
            print("\nstopped", end="")
        pool.shutdown(wait=failure is None, cancel_futures=True)
    print(f"\n\nseeds {seed} to {following - 1}, {time.monotonic() - start:.0f} s, {workers} workers\n{total.table()}")
    print(f"\n{failure}" if failure else "\nno violation")
    return 1 if failure else 0


def _progress(total: Tally, seconds: float, said: float) -> float:
    """One line that is written over on a terminal, a new line every half minute elsewhere. Returns when it last spoke."""
    terminal = sys.stdout.isatty()
    if not terminal and seconds < said + 30:
        return said
    line = (f"{seconds:6.0f} s  {total.expressions:,} expressions  {total.boxes:,} boxes  {total.values:,} values  "
            f"{total.derivatives + total.second:,} derivatives  {total.undecided:,} undecided")
    print(f"\r{line}  " if terminal else line, end="" if terminal else "\n", flush=True)
    return seconds


# ---- linear bounds
def linear_rounds(first: int, count: int) -> tuple[dict[str, LinearTally], list[str]]:
    """What some rounds held, by the kind of function, and the violations."""
    totals: dict[str, LinearTally] = {kind.__name__: LinearTally() for kind in KINDS}
    wrong = []
    for seed in range(first, first + count):
        try:
            totals[KINDS[seed % len(KINDS)].__name__].add(linear_round(seed))
        except LinearViolation as violation:
            wrong.append(f"VIOLATION in round {seed}\n{violation}")
        except Exception:
            wrong.append(f"CRASH in round {seed}\n{traceback.format_exc()}")
    return totals, wrong


def linear_soak(points: float, seed: int, workers: int) -> int:
    """Rounds until so many points were compared; returns the exit status."""
    start, following, said, wrong = time.monotonic(), seed, 0.0, []
    totals: dict[str, LinearTally] = {kind.__name__: LinearTally() for kind in KINDS}
    with ProcessPoolExecutor(workers, get_context("spawn"), initializer=_ignore_interrupts) as pool:
        running: set[Future] = set()
        try:
            while (done := sum(t.points for t in totals.values())) < points:
                while len(running) < 2 * workers:
                    running.add(pool.submit(linear_rounds, following, _BATCH))
                    following += _BATCH
                finished, running = wait(running, timeout=10, return_when=FIRST_COMPLETED)
                for future in finished:
                    found, failures = future.result()
                    wrong += failures
                    for kind, tally in found.items():
                        totals[kind].add(tally)
                if time.monotonic() - start > said + 30:
                    said = time.monotonic() - start
                    print(f"{said:6.0f} s  {done:,} points  {len(wrong)} violations", flush=True)
        except KeyboardInterrupt:
            print("stopped")
        pool.shutdown(wait=True, cancel_futures=True)
    for kind, tally in totals.items():
        print(f"\n{kind}\n{tally.table()}")
    total = LinearTally()
    for tally in totals.values():
        total.add(tally)
    by = "point enclosures and Arb" if HAS_ARB else "point enclosures (python-flint is missing: nothing by Arb)"
    print(f"\nall, by {by}\n{total.table()}\n\nrounds from {seed} on, {time.monotonic() - start:.0f} s, {workers} processes")
    print("\n".join(["", *wrong[:_SHOWN], f"{len(wrong)} violations in {total.points:,} points"]))
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long to run (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="the first round (default: 0)")
    parser.add_argument("--workers", "--processes", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--linear", action="store_true", help="linear bounds, at points")
    parser.add_argument("--points", type=float, default=1e6, help="how many of these (default: 1e6)")
    parser.add_argument("--repeat", type=int, metavar="ROUND", help="run this one round and stop")
    options = parser.parse_args()
    if options.linear:
        if options.repeat is None:
            return linear_soak(options.points, options.seed, options.workers)
        totals, wrong = linear_rounds(options.repeat, 1)
        print("\n".join(wrong) or totals[KINDS[options.repeat % len(KINDS)].__name__].table())
        return 1 if wrong else 0
    if options.repeat is not None:
        total, failure = rounds(options.repeat, 1)
        print(total.table() if failure is None else failure)
        return 0 if failure is None else 1
    return soak(options.minutes, options.seed, options.workers)


if __name__ == "__main__":
    sys.exit(main())
