"""Figures of one GPU: streaming, arithmetic, the complete search in the paper's form, proofs with very many variables,
branching, and the swarm.

    python bench/gpu.py [--json FILE] [--only PART ...] [--sizes N ...] [--device cuda]

Parts, all of them by default:
  stream    boxes read from memory, beside a copy in the same run
  lanes     boxes that lanes derive from their numbers: FP64 instructions a second, beside what the chip can issue
  blocks    one box with long loops: a block of threads beside one thread and beside a core
  complete  the paper's table at 50, 100, 500 and 1,000 variables, and its seconds on a GH200
  auto      the default engine: the ten functions at 1,000 variables, Levy at 10,000, four of them at 1,000,000
  branch    a proof that takes 10**8 boxes, beside two CPU threads
  swarm     as many lanes as ZEUS has, and its seconds

What compiles is run before it counts, and the seconds of that stand beside: the second run counts, of the swarm the median of
five, of blocks the fastest of five. Exit status 1: something does not hold.
"""

import argparse
import os
import re
import sys
import time
from typing import Any

import numpy as np

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
sys.path.insert(0, ROOT)
import infimum  # noqa: E402
from bench.complete import PAPER, search  # noqa: E402
from bench.gpu_branch import N as ROTATED  # noqa: E402
from bench.gpu_branch import branching  # noqa: E402
from bench.gpu_swarm import swarm  # noqa: E402
from bench.prove import TEN, XTOL, moved, wrong  # noqa: E402
from bench.table import exit_code, head, report, write_json  # noqa: E402
from infimum.backend import ptx  # noqa: E402
from infimum.backend.arrays import HostArrays  # noqa: E402
from infimum.backend.cpu import CpuBackend  # noqa: E402
from infimum.backend.cuda.cuda_backend import CudaBackend  # noqa: E402
from infimum.errors import DeviceError  # noqa: E402
from infimum.evaluation import programs  # noqa: E402
from infimum.expr.node import var  # noqa: E402
from infimum.interval.pair import Pair  # noqa: E402
from infimum.kernel.constant_data import Data  # noqa: E402
from infimum.kernel.ir import Builder, Kernel  # noqa: E402
from infimum.kernel.lowering import Lowering  # noqa: E402
from infimum.kernel.meaning import Enclosures  # noqa: E402
from infimum.problems import get  # noqa: E402
from infimum.trace.trace import trace  # noqa: E402

PARTS = ("stream", "lanes", "blocks", "complete", "auto", "branch", "swarm")
SIZES = (50, 100, 500, 1000)
GH200 = {"ackley": 2288, "belegundu": 1896, "breiman": 1218, "fu": 3538, "griewank": 2523, "levy": 3582, "rastrigin": 1727,
         "salomon": 1435, "styblinski": 1791, "zabinsky": 2635}  # the paper's seconds at n = 1,000
FASTER = 100
AUTO = [(name, 1_000, 0.2) for name in TEN] + [("levy", 10_000, 0.5)] + \
    [(name, 1_000_000, 5.0) for name in ("rastrigin", "levy", "ackley", "griewank")]
N, BOXES, LANES = 6, 1 << 24, 1 << 26
_FP64 = re.compile(r"^\s*(?:add|sub|mul|div|fma|sqrt)\.rp\.f64|^\s*setp\.\w+\.f64", re.MULTILINE)


def styblinski_tang(x: Any) -> Any:
    return np.sum(x**4 - 16 * x**2 + 5 * x)


def seconds(backend: CudaBackend, call: Any, times: int = 20) -> float:
    """Of one call, by events on the GPU, after two to warm up."""
    cuda = backend.gpu.cupy.cuda
    for _ in range(2):
        call()
    begin, end = cuda.Event(), cuda.Event()
    begin.record()
    for _ in range(times):
        call()
    end.record()
    end.synchronize()
    return cuda.get_elapsed_time(begin, end) / 1e3 / times


def copy_bandwidth(backend: CudaBackend) -> float:
    """Bytes a second, those read and those written."""
    a, b = (backend.gpu.cupy.empty(1 << 28) for _ in range(2))
    return 2 * a.nbytes / seconds(backend, lambda: b.data.copy_from_device_async(a.data, a.nbytes))


def stream(backend: CudaBackend) -> None:
    head(f"Boxes read from memory: Styblinski-Tang with {N} variables, {BOXES:,} boxes")
    arrays, copy = backend.arrays, copy_bandwidth(backend)
    report("copy from device to device, read and written", copy / 1e12, "TB/s")
    lo = np.random.default_rng(0).uniform(-5, 5, (N, BOXES))
    inputs = [arrays.send(lo), arrays.send(lo + 0.25)]
    program = programs.PROGRAMS[programs.VALUE](trace(styblinski_tang, N, ()), var("x", (N,)))
    outputs = [arrays.empty(rows, BOXES) for rows in program.rows]
    run, data = backend.compile(program.kernel).run, (program.data.doubles(), program.data.positions())
    each = seconds(backend, lambda: run(inputs, outputs, *data))
    moved_bytes = 8 * BOXES * (2 * N + len(program.rows)) / each
    report("boxes enclosed", BOXES / each, "boxes/s")
    report("bytes moved, of the copy's", 100 * moved_bytes / copy, "%", ">= 85", moved_bytes >= 0.85 * copy,
           f"{moved_bytes / 1e12:.2f} TB/s")


def derived(n: int) -> tuple[Kernel, Data]:
    """Styblinski-Tang on a box of a grid of 16 pieces a variable: the lane's number says which. Nothing else is read."""
    b, data = Builder(), Data()
    number, width = b.bits(b.input(0, 0)), 10.0 / 16

    def box(i: int) -> Pair:
        piece = b.float(b.ior(b.iand(b.ilshr(number, 4 * i), 15), 0x4330000000000000))  # 2**52 + digit, as bits
        lo = b.fma(b.sub(piece, 2.0**52), width, -5.0)
        return Pair(b.neg(lo), b.add(lo, width))
    value, = Lowering(b, Enclosures(), {"x": box}, data).values([trace(styblinski_tang, n, ())], straight=True)
    b.output(0, 0, b.neg(value.nlo))
    return b.kernel("derived", 1, 1), data


def lanes(backend: CudaBackend) -> None:
    head(f"Boxes that lanes derive from their numbers: the same function, {LANES:,} lanes")
    kernel, data = derived(N)
    arrays = backend.arrays
    number = arrays.send(np.arange(LANES, dtype=np.int64).view(np.float64)[None])
    out = arrays.empty(1, LANES)
    run, constants = backend.compile(kernel).run, (data.doubles(), data.positions())
    each = seconds(backend, lambda: run([number], [out], *constants))
    text = ptx.ptx(kernel)
    instructions = len(_FP64.findall(text))
    with backend.gpu.use() as device:
        clock = 1e3 * device.attributes["ClockRate"]
    rate, most = LANES * instructions / each, 64 * backend.gpu.multiprocessors * clock
    report("boxes enclosed", LANES / each, "boxes/s", note=f"{instructions} FP64 instructions each, counted in the PTX")
    report("FP64 instructions, of what the chip can issue", 100 * rate / most, "%", ">= 65", rate >= 0.65 * most,
           f"{rate / 1e12:.2f} of {most / 1e12:.2f} T/s at {clock / 1e9:.2f} GHz")


def least_squares(x: Any) -> Any:
    rng = np.random.default_rng(0)
    return np.sum((np.tanh(rng.normal(size=(100_000, 10)) @ x) - rng.normal(size=100_000)) ** 2)


def blocks(backend: CudaBackend) -> None:
    head("One box with long loops, arrays on the GPU: a block of threads, one thread, a core of the host")
    cases = [(name, get(name, 1_000_000).fun, 1_000_000) for name in ("rastrigin", "ackley")]
    for name, f, n in [*cases, ("least squares, 100,000 points", least_squares, 10)]:
        lo = np.random.default_rng(0).uniform(-2, 2, (n, 1))
        inputs = [lo, lo + 2.0**-10]
        for kind in (programs.VALUE, programs.GRADIENT):
            program = programs.PROGRAMS[kind](trace(f, n, ()), var("x", (n,)))
            data = program.data.doubles(), program.data.positions()
            found, times = [], []
            for way in ("block", "thread", "core", "copied"):
                compiled = (CpuBackend() if way == "core" else backend).compile(program.kernel)
                if way == "thread":
                    compiled._blocks.launch = lambda count, share: None
                arrays = backend.arrays if way in ("block", "thread") else HostArrays()
                ins, outs = [arrays.send(a) for a in inputs], [arrays.empty(rows, 1) for rows in program.rows]

                def call(run: Any = compiled.run, arguments: tuple = (ins, outs, *data)) -> None:
                    run(*arguments)
                    backend.gpu.cupy.cuda.get_current_stream().synchronize()
                times.append(fastest(call, 1 if way == "thread" else 5))
                found.append([arrays.fetch(a) for a in outs])
            same = all((a.view(np.int64) == b.view(np.int64)).all() for other in found[1:]
                       for a, b in zip(found[0], other, strict=True))
            block, thread, core, copied = (1e3 * t for t in times)
            report(f"{name}, {kind}", block, "ms", "< both", same and block < min(thread, core),
                   f"a thread {thread:.0f} ms, a core {core:.1f} ms, a block with copies {copied:.1f} ms; "
                   + ("the same bits" if same else "OTHER BITS"))


def fastest(call: Any, times: int) -> float:
    """Seconds of the fastest call, after one to warm up."""
    found = []
    for _ in range(times + 1):
        start = time.perf_counter()
        call()
        found.append(time.perf_counter() - start)
    return min(found[1:])


def complete(sizes: list[int], device: str) -> None:
    head("The complete search in the paper's form, 4**10 subregions an iteration")
    for n in sizes:
        for name in PAPER:
            wanted = PAPER[name][50] * n // 50
            r = search(name, n, 2 * wanted, device)
            holds = r["iterations"] == wanted and r["regions"] == 1 and r["verdict"] == "PROVED" and not r["wrong"]
            fate = f"{r['regions']:,} regions, {r['wrong'] or 'minimiser inside'}"
            report(f"{name}, n = {n:,}", r["iterations"], "iterations", f"= {wanted}, 1 region", holds,
                   f"{r['verdict']}, {fate}, {r['seconds']:.2f} s, {1e3 * r['seconds an iteration']:.2f} ms each")
            if n == 1000:
                faster = GH200[name] / r["seconds"]
                report(f"{name}, n = {n:,}: the paper's {GH200[name]:,} s, over ours", faster, "times", f">= {FASTER}",
                       faster >= FASTER)


def auto(device: str) -> None:
    head(f"The default engine, xtol = {XTOL:g}: the second call")
    for name, n, most in AUTO:
        f, p, _ = moved(name, n, False)
        times = []
        for _ in range(2):
            start = time.perf_counter()
            r = infimum.minimize(f, p.bounds[0], n=n, xtol=XTOL, device=device, time_limit=20 * most)
            times.append(time.perf_counter() - start)
        faults = wrong(r, p)
        holds = r.verdict.name == "PROVED" and len(r.regions) == 1 and not faults and times[1] <= most
        report(f"{name}, n = {n:,}", times[1], "s", f"<= {most:g}, 1 region", holds,
               f"{r.verdict.name}, {len(r.regions)} region, {faults or 'minimiser inside'}; the first call {times[0]:.2f} s")


def branch(device: str) -> None:
    head(f"Branching: Schwefel's function of {ROTATED} rotated variables, proved to the default gap")
    branching(device)


def against_zeus(device: str) -> None:
    head("The swarm, against ZEUS on the same kind of machine")
    swarm(device)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the tables to this file, again after each part")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS, help="the parts to run")
    parser.add_argument("--sizes", nargs="+", type=int, choices=SIZES, default=SIZES, help="of the complete search")
    parser.add_argument("--device", default="cuda", help="cuda (the default), or cuda:1, …")
    options = parser.parse_args()
    try:
        backend = CudaBackend(int(options.device.partition(":")[2] or 0))
    except DeviceError as error:
        sys.exit(str(error))
    machine = f"{backend.gpu.name}, {backend.gpu.versions}, Python {sys.version.split()[0]}, NumPy {np.__version__}"
    print(machine, flush=True)
    parts = {"stream": lambda: stream(backend), "lanes": lambda: lanes(backend), "blocks": lambda: blocks(backend),
             "complete": lambda: complete(options.sizes, options.device), "auto": lambda: auto(options.device),
             "branch": lambda: branch(options.device), "swarm": lambda: against_zeus(options.device)}
    for name, part in parts.items():
        if name in options.only:
            part()
            write_json(options.json, machine)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
