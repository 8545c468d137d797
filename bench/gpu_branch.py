"""Branch and bound with its regions on a GPU, a part of `bench/gpu.py`: boxes a second over a whole proof, against the same
engine on two CPU threads, and how much of the time the GPU works."""

import gc
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import infimum
from bench.table import report
from infimum.backend.cpu import CpuBackend
from infimum.backend.cuda.gpu import Gpu
from infimum.backend.cuda.ptx_columns import KERNELS

N, BOXES, FASTER, INSIDE = 9, 1e8, 50, 0.6
CPU_SECONDS = 20.0
EVENTS = 60_000


def rotated(n: int) -> tuple[Any, list[tuple[float, float]]]:
    """Schwefel's function of rotated variables: nothing separates."""
    q = np.linalg.qr(np.random.default_rng(3).normal(size=(n, n)))[0]

    def fun(x):
        y = q @ x
        return -np.sum(y * np.sin(np.sqrt(np.abs(y))))
    return fun, [(-500.0, 500.0)] * n


@contextmanager
def watched(spans: dict) -> Iterator[None]:
    """Every launch is timed between two events. These are made before, which takes longer than many a launch, and Python's
    collector, which would go through all of them again and again, rests."""
    from cupy.cuda import Event, get_current_stream

    usual, names, events = Gpu.queue, {}, [Event() for _ in range(EVENTS)]

    def queue(self: Gpu, function: Any, *launch: Any, **more: Any) -> None:
        if not names:
            names.update({self.load(text).ptr: name for name, text in KERNELS.items()})
        begin, end, stream = (*(events.pop() if events else Event() for _ in range(2)), get_current_stream())
        begin.record(stream)
        usual(self, function, *launch, **more)
        end.record(stream)
        spans[names.get(function.ptr, f"the kernel at {function.ptr:x}")].append((begin, end))
    Gpu.queue = queue
    gc.disable()
    try:
        yield
    finally:
        Gpu.queue = usual
        gc.enable()


def proof(evaluator: Any, bounds: list, **limits: Any) -> tuple[infimum.Result, float]:
    """A run and its boxes a second."""
    start = time.perf_counter()
    r = infimum.minimize(evaluator, bounds, **limits)
    return r, r.nfev / (time.perf_counter() - start)


def branching(device: str) -> None:
    """Prints the rows."""
    fun, bounds = rotated(N)
    on_cpu, cpu = proof(infimum.compile(fun, N, backend=CpuBackend(threads=2)), bounds, time_limit=CPU_SECONDS)
    report(f"two threads of the CPU, the first {CPU_SECONDS:g} s", cpu, "boxes/s", note=on_cpu.verdict.name)
    first, _ = proof(infimum.compile(fun, N, device=device), bounds)
    r, gpu = proof(infimum.compile(fun, N, device=device), bounds)
    report("boxes of the whole proof", r.nfev, "boxes", f">= {BOXES:.0e}", r.nfev >= BOXES and r.verdict.name == "PROVED",
           f"{r.verdict.name}, {r.seconds:.2f} s; the first time, which compiles, {first.seconds:.2f} s")
    report("GPU, the whole proof", gpu, "boxes/s")
    report("times the two threads", gpu / cpu, "times", f">= {FASTER}", gpu >= FASTER * cpu)
    alone, boxes = proof(infimum.compile(fun, N, device="auto"), bounds)
    report("device='auto', which goes there when the search is long", boxes, "boxes/s",
           note=f"{alone.verdict.name}, {alone.seconds:.2f} s, {alone.nfev:,} boxes")
    spans: dict[str, list] = defaultdict(list)
    evaluator = infimum.compile(fun, N, device=device)
    with watched(spans):
        slower, _ = proof(evaluator, bounds)
    kernels = inside(evaluator, spans)
    share = kernels / slower.seconds
    report("the same with every launch between two events: in kernels", 100 * share, "%", f">= {100 * INSIDE:g}", share >= INSIDE,
           f"{kernels:.2f} of {slower.seconds:.2f} s; of the {r.seconds:.2f} s without events {100 * kernels / r.seconds:.0f} %")


def inside(evaluator: Any, spans: dict) -> float:
    """The seconds in kernels, after a list of those that took most."""
    elapsed, table = evaluator.backend.cuda.gpu.cupy.cuda.get_elapsed_time, {}
    for what, pairs in spans.items():
        for _, end in pairs:
            end.synchronize()
        table[what] = len(pairs), sum(elapsed(begin, end) for begin, end in pairs) / 1e3
    for what, (launches, seconds) in sorted(table.items(), key=lambda row: -row[1][1])[:8]:
        report(f"  {what}", 1e3 * seconds, "ms", note=f"{launches:,} launches")
    return sum(seconds for _, seconds in table.values())
