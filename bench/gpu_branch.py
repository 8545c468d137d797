"""Branch and bound with its regions on a GPU: boxes a second over a whole run, against the same engine on two CPU threads.

    python bench/gpu_branch.py --boxes 2e8 --batch 524288
"""

import argparse
import sys
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import infimum  # noqa: E402
from infimum.engine.branch import Branch, Goal  # noqa: E402
from infimum.engine.incumbent import Incumbent  # noqa: E402
from infimum.target.cpu import CpuTarget  # noqa: E402
from infimum.target.cuda import Gpu  # noqa: E402


def network(inputs: int = 5, hidden: int = 60) -> tuple[Any, list[tuple[float, float]]]:
    """A network of tanh with fixed weights."""
    rng = np.random.default_rng(7)
    first, shift, last = rng.normal(size=(hidden, inputs)), rng.normal(size=hidden), rng.normal(size=hidden)
    return (lambda x: last @ np.tanh(first @ x + shift)), [(-3.0, 3.0)] * inputs


PROBLEMS = {"network 8-60-1": lambda: network(8), "schwefel rotated, n = 8": lambda: rotated(8),
            "schwefel rotated, n = 10": lambda: rotated(10)}


def rotated(n: int) -> tuple[Any, list[tuple[float, float]]]:
    """Schwefel's function of rotated variables: nothing separates."""
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(n, n)))[0]

    def fun(x):
        y = q @ x
        return -np.sum(y * np.sin(np.sqrt(np.abs(y))))
    return fun, [(-500.0, 500.0)] * n


class Timed:
    """A function of a GPU whose time is measured between two events."""

    def __init__(self, function: Any, name: str, cupy: Any, spans: dict):
        self._function, self._name, self._cupy, self._spans = function, name, cupy, spans
        self.ptr = function.ptr

    def __call__(self, *launch: Any) -> None:
        begin, end = self._cupy.cuda.Event(), self._cupy.cuda.Event()
        begin.record()
        self._function(*launch)
        end.record()
        self._spans[self._name].append((begin, end))


def watched(spans: dict) -> None:
    """From now on every launch is timed."""
    usual = Gpu.load

    def load(self: Gpu, text: str) -> Timed:
        from infimum.target.ptx_columns import KERNELS

        name = next((name for name, known in KERNELS.items() if known == text), f"a kernel of {len(text):,} characters")
        return Timed(usual(self, text), name, self.cupy, spans)
    Gpu.load = load


def search(fun: Any, bounds: list, evaluator: Any, batch: int, boxes: float, seconds: float,
           spans: dict | None = None) -> float:
    """Boxes a second of a search with a point from a swarm, after some steps that compile everything."""
    lo, hi = np.array(bounds, dtype=float).T
    incumbent = Incumbent(evaluator, lo, hi)
    incumbent.offer(infimum.minimize(fun, bounds, engine="swarm", device="cpu").x[:, None])
    branch = Branch(evaluator, lo, hi, Goal(1e-6, 1e-6), incumbent, batch)
    branch.begin(lo[:, None], hi[:, None])
    for _ in range(10):
        branch.step()
    if spans is not None:
        spans.clear()
    start, before, end = time.perf_counter(), branch.boxes, "stopped"
    try:
        while not branch.done and branch.boxes < boxes and time.perf_counter() - start < seconds:
            branch.step()
        end = "done" if branch.done else end
    except MemoryError:
        end = "out of memory"
    spent, count = time.perf_counter() - start, branch.boxes - before
    print(f"    {count:,} boxes, {branch.steps} steps, {spent:.2f} s, {count / spent:.3e} a second; pool {len(branch.pool):,}, "
          f"[{branch.lower():.6g}, {branch.incumbent.upper:.6g}], {end}", flush=True)
    if spans is not None:
        table = {what: (len(s), sum(_span(evaluator, b, e) for b, e in s)) for what, s in spans.items()}
        inside = sum(t for _, t in table.values())
        print(f"    of {spent:.2f} s {inside:.2f} s in kernels, {inside / spent:.0%}")
        for what, (launches, t) in sorted(table.items(), key=lambda row: -row[1][1]):
            print(f"      {what:<28} {launches:>7,} launches {1e3 * t:>10.1f} ms")
    return count / spent


def _span(evaluator: Any, begin: Any, end: Any) -> float:
    end.synchronize()
    return evaluator.target.cuda.gpu.cupy.cuda.get_elapsed_time(begin, end) / 1e3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--boxes", type=float, default=2e8)
    parser.add_argument("--batch", type=int, nargs="+", default=[1 << 18])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cpu-seconds", type=float, default=10.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    chosen = {name: make() for name, make in PROBLEMS.items() if options.only in name}
    for name, (fun, bounds) in chosen.items():
        n = len(bounds)
        print(name, "\n  two threads of the CPU", flush=True)
        cpu = search(fun, bounds, infimum.compile(fun, n, target=CpuTarget(threads=2)), 1 << 13, 1e18, options.cpu_seconds)
        for batch in options.batch if options.device != "cpu" else ():
            print(f"  GPU, batch {batch:,}", flush=True)
            gpu = search(fun, bounds, infimum.compile(fun, n, device=options.device), batch, options.boxes, options.seconds)
            print(f"    {gpu / cpu:.1f} times the CPU", flush=True)
    if options.device != "cpu":
        spans: dict[str, list] = defaultdict(list)
        watched(spans)
        for name, (fun, bounds) in chosen.items():
            print(f"{name}, every launch between two events", flush=True)
            evaluator = infimum.compile(fun, len(bounds), device=options.device)
            evaluator.target.name += ", timed"
            search(fun, bounds, evaluator, options.batch[0], options.boxes, options.seconds, spans)


if __name__ == "__main__":
    main()
