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

        name = next((name for name, known in KERNELS.items() if known == text), "a kernel of the function")
        return Timed(usual(self, text), name, self.cupy, spans)
    Gpu.load = load


def search(fun: Any, bounds: list, evaluator: Any, batch: int, boxes: float, seconds: float) -> tuple[Branch, float]:
    """A search with a point from a swarm, after one step that compiles everything."""
    lo, hi = np.array(bounds, dtype=float).T
    incumbent = Incumbent(evaluator, lo, hi)
    found = infimum.minimize(fun, bounds, engine="swarm", device="cpu")
    incumbent.offer(found.x[:, None])
    branch = Branch(evaluator, lo, hi, Goal(1e-6, 1e-6), incumbent, batch)
    branch.begin(lo[:, None], hi[:, None])
    for _ in range(10):
        branch.step()
    start, before = time.perf_counter(), branch.boxes
    while not branch.done and branch.boxes < boxes and time.perf_counter() - start < seconds:
        branch.step()
    spent = time.perf_counter() - start
    print(f"    {branch.boxes - before:,} boxes, {branch.steps} steps, {spent:.2f} s, {(branch.boxes - before) / spent:.3e} a second; "
          f"pool {len(branch.pool):,}, [{branch.lower():.6g}, {branch.incumbent.upper:.6g}], {'done' if branch.done else 'stopped'}",
          flush=True)
    return branch, (branch.boxes - before) / spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--boxes", type=float, default=2e8)
    parser.add_argument("--batch", type=int, nargs="+", default=[1 << 19])
    parser.add_argument("--seconds", type=float, default=30.0)
    parser.add_argument("--cpu-seconds", type=float, default=10.0)
    parser.add_argument("--only", default="")
    parser.add_argument("--device", default="cuda")
    options = parser.parse_args()
    for name, make in PROBLEMS.items():
        if options.only not in name:
            continue
        fun, bounds = make()
        n = len(bounds)
        print(name, "\n  two threads of the CPU", flush=True)
        _, cpu = search(fun, bounds, infimum.compile(fun, n, target=CpuTarget(threads=2)), 1 << 13, 1e18, options.cpu_seconds)
        if options.device == "cpu":
            continue
        for batch in options.batch:
            print(f"  GPU, batch {batch:,}", flush=True)
            _, gpu = search(fun, bounds, infimum.compile(fun, n, device=options.device), batch, options.boxes, options.seconds)
            print(f"    {gpu / cpu:.1f} times the CPU", flush=True)
    if options.device != "cpu":
        spans: dict[str, list] = defaultdict(list)
        watched(spans)
        for name, make in PROBLEMS.items():
            if options.only not in name:
                continue
            fun, bounds = make()
            evaluator = infimum.compile(fun, len(bounds), device=options.device)
            evaluator.target.name += ", timed"
            spans.clear()
            start = time.perf_counter()
            search(fun, bounds, evaluator, options.batch[-1], options.boxes / 10, options.seconds)
            whole = time.perf_counter() - start
            table = {what: (len(s), sum(_span(evaluator, b, e) for b, e in s))
                     for what, s in spans.items()}
            inside = sum(t for _, t in table.values())
            print(f"{name}: of {whole:.2f} s, with compiling, {inside:.2f} s in kernels")
            for what, (count, t) in sorted(table.items(), key=lambda row: -row[1][1]):
                print(f"    {what:<28} {count:>7,} launches {1e3 * t:>10.1f} ms")


def _span(evaluator: Any, begin: Any, end: Any) -> float:
    end.synchronize()
    return evaluator.target.cuda.gpu.cupy.cuda.get_elapsed_time(begin, end) / 1e3


if __name__ == "__main__":
    main()
