"""Speed of the kernels: ratios within one run, printed as a table.

    python bench/kernels.py [--spike FILE] [--json FILE] [--quick]

`--spike FILE` names a hand-written Styblinski-Tang kernel to compare with (a module with `Cpu` and `styblinski_tang(target, n)`);
without it, a kernel written by hand with the Builder takes its place.
"""

import argparse
import importlib.util
import itertools
import os
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import infimum  # noqa: E402
from bench.functions import BY_NAME, FIVE, NUMPY_INTERVAL, styblinski_tang  # noqa: E402
from bench.table import HEAD, exit_code, report, this_machine, write_json  # noqa: E402
from infimum.backend.cpu import CpuBackend, host  # noqa: E402
from infimum.kernel.ir import Builder  # noqa: E402


def fastest(call, seconds: float = 0.4, least: int = 5) -> float:
    """The shortest of many runs: the machine is noisy, and noise only adds."""
    best, start, runs = float("inf"), time.perf_counter(), 0
    while runs < least or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        call()
        best, runs = min(best, time.perf_counter() - begin), runs + 1
    return best


def in_turn(*calls, rounds: int = 6) -> list[float]:
    """The shortest times of several calls, measured in turns so that all see the same machine."""
    best = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            best[i] = min(best[i], fastest(call, 0.1, 2))
    return best


def boxes(n: int, count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    middle, radius = rng.uniform(-5, 5, (n, count)), np.exp2(rng.uniform(-20, -1, (n, count)))
    return middle - radius, middle + radius


def single(name_or_function, n: int) -> infimum.Evaluator:
    f = BY_NAME[name_or_function] if isinstance(name_or_function, str) else name_or_function
    return infimum.compile(f, n, backend=CpuBackend(threads=1))


def well(evaluator: infimum.Evaluator, kind: str) -> tuple:
    """A program that is neither interpreted nor compiled plainly any more, as it is once it has run for long."""
    compiled, *rest = evaluator.prepare(kind)
    while compiled._better is not None:
        compiled._improve()
    return compiled, *rest


def raw(evaluator: infimum.Evaluator, kind: str, lo: np.ndarray, hi: np.ndarray):
    """The kernel alone, on arrays that are there already."""
    compiled, doubles, positions, rows = well(evaluator, kind)
    out = [np.empty((r, lo.shape[1])) for r in rows]
    return lambda: compiled.run([lo, hi], out, doubles, positions, threads=1)


def by_hand(n: int):
    """Styblinski-Tang without guard, status or generality."""
    b = Builder()
    total = None
    for i in range(n):
        nlo, hi = b.neg(b.input(0, i)), b.input(1, i)
        far, near = b.max(nlo, hi), b.max(b.max(b.neg(nlo), b.neg(hi)), 0.0)
        square = b.mul(b.neg(near), near), b.mul(far, far)
        fourth = b.mul(square[0], b.neg(square[0])), b.mul(square[1], square[1])
        term = [b.add(b.add(fourth[k], b.mul(square[1 - k], 16.0)), b.mul((nlo, hi)[k], 5.0)) for k in (0, 1)]
        total = term if total is None else [b.add(total[k], term[k]) for k in (0, 1)]
    b.output(0, 0, b.neg(total[0]))
    b.output(1, 0, total[1])
    return CpuBackend(threads=1).compile(b.kernel("by_hand", 2, 2))


def styblinski(spike: str | None) -> None:
    n, count = 6, 1 << 16
    lo, hi = boxes(n, count)
    ours = raw(single(styblinski_tang, n), "value", lo, hi)
    out = [np.empty((1, count)), np.empty((1, count))]
    if spike:
        spec = importlib.util.spec_from_file_location("spike", spike)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        f = module.Cpu().compile(module.styblinski_tang(module.Cpu(), n))
        pointers = [a.ctypes.data for a in (lo, hi, *out)]
        other, name = (lambda: f(*pointers, count)), "the experiment's kernel"
    else:
        kernel, none = by_hand(n), (np.zeros(1), np.zeros(1, np.int64))
        other, name = (lambda: kernel.run([lo, hi], out, *none)), "a kernel written by hand"
    a, b = in_turn(ours, other, rounds=12)
    report(f"Styblinski-Tang n=6, boxes/s, one core: ours / {name}", b / a, "ratio", ">= 0.8", b / a >= 0.8,
           f"{count / a:.3g} and {count / b:.3g} boxes/s")


def against_numpy() -> None:
    """At several batch sizes: NumPy's temporaries fit the caches at the small ones, and no size is the right one."""
    for name, count in itertools.product(FIVE, (4_096, 20_000, 60_000)):
        n = 10
        lo, hi = boxes(n, count)
        evaluator = single(name, n)
        ours = raw(evaluator, "value", lo, hi)
        baseline = NUMPY_INTERVAL[name]

        def theirs(baseline=baseline, lo=lo, hi=hi, kind=sys.modules["bench.functions"].NumpyInterval):
            return baseline(kind(lo, hi))
        a, b = in_turn(ours, theirs)
        own, other = evaluator.value(lo, hi), theirs()
        assert (own.lo <= other.hi).all() and (other.lo <= own.hi).all(), "the baseline computes another function"
        report(f"{name} n=10, {count:,} boxes a call: NumPy intervals / ours", b / a, "ratio", ">= 30", b / a >= 30,
               f"{1e9 * a / count:.1f} ns a box")
        if name == "rastrigin" and host().lanes == 8:
            report("rastrigin n=10, one core, AVX-512", 1e9 * a / count, "ns a box", "<= 60", 1e9 * a / count <= 60)


def gradients() -> None:
    for name in ("rastrigin", "rosenbrock"):
        for n, count in ((10, 1 << 12), (1000, 1 << 9)):
            lo, hi = boxes(n, count)
            evaluator = single(name, n)
            a, b = in_turn(raw(evaluator, "value", lo, hi), raw(evaluator, "gradient", lo, hi))
            report(f"{name} n={n}: gradient / value", b / a, "ratio", "<= 5", b / a <= 5,
                   f"{1e9 * a / count:.0f} and {1e9 * b / count:.0f} ns a box")


_COLD = """
import sys, time
sys.path.insert(0, {root!r})
import numpy, infimum
infimum.compile  # names are imported when first asked for; that is not what is measured
from bench.functions import BY_NAME
start = time.perf_counter()
e = infimum.compile(BY_NAME[{name!r}], {n})
traced = time.perf_counter()
e.prepare("value")
value = time.perf_counter()
e.prepare("gradient")
end = time.perf_counter()
print(1e3 * (end - start), 1e3 * (traced - start), 1e3 * (value - traced), 1e3 * (end - value))
"""


def child(code: str) -> str:
    """What a fresh process prints: one that may use Python's cache of compiled modules, as a user's does."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment).stdout


def compile_times(rounds: int) -> None:
    """Each in a process of its own, nothing cached, until it can run: tracing, derivatives, lowering, bytecode, interpreter."""
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    for name in FIVE:
        for n, limit in ((10, 60), (10_000, 100)):
            runs = [[float(v) for v in child(_COLD.format(root=root, name=name, n=n)).split()] for _ in range(rounds)]
            best = min(runs)
            report(f"{name} n={n}: trace + compile value and gradient", best[0], "ms", f"<= {limit}", best[0] <= limit,
                   "trace {:.1f}, value {:.1f}, gradient {:.1f}".format(*best[1:]))
        sizes = []
        for n in (1000, 10_000):
            evaluator = single(name, n)
            sizes.append([len(well(evaluator, kind)[0].assembly().splitlines()) for kind in ("value", "gradient")])
        report(f"{name}: code size at n=10,000 / n=1,000", sum(sizes[1]) / sum(sizes[0]), "ratio", "= 1", sizes[1] == sizes[0],
               f"{sizes[0]} and {sizes[1]} lines of assembly")


_ALONE = """
import sys, time
sys.path.insert(0, {root!r})
from bench.kernels import boxes, raw, single
lo, hi = boxes(10, {count}, seed={seed})
run = raw(single("rastrigin", 10), "value", lo, hi)
run()
print("ready", flush=True)
for line in sys.stdin:
    start = time.perf_counter()
    run()
    print(time.perf_counter() - start, flush=True)
"""


def threads(rounds: int, count: int = 1_000_000) -> None:
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    lo, hi = boxes(10, count)
    evaluator = infimum.compile(BY_NAME["rastrigin"], 10, backend=CpuBackend(threads=2))
    compiled, doubles, positions, rows = well(evaluator, "value")
    out = [np.empty((r, count)) for r in rows]
    compiled.run([lo, hi], out, doubles, positions, threads=2)
    others = [subprocess.Popen([sys.executable, "-c", _ALONE.format(root=root, count=count, seed=s)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True) for s in (1, 2)]
    for p in others:
        p.stdout.readline()
    together, apart = float("inf"), float("inf")
    for _ in range(rounds):
        start = time.perf_counter()
        compiled.run([lo, hi], out, doubles, positions, threads=2)
        together = min(together, time.perf_counter() - start)
        for p in others:
            p.stdin.write("go\n")
            p.stdin.flush()
        apart = min(apart, max(float(p.stdout.readline()) for p in others))
    for p in others:
        p.stdin.close()
        p.wait()
    ratio = (count / together) / (2 * count / apart)
    report("two threads in one call / two processes, 1,000,000 boxes", ratio, "ratio", ">= 0.85", ratio >= 0.85,
           f"{count / together:.3g} and {2 * count / apart:.3g} boxes/s")


def import_time(rounds: int) -> None:
    code = "import time; import numpy; start = time.perf_counter(); import infimum; print(time.perf_counter() - start)"
    root = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
    best = min(float(child(f"import sys; sys.path.insert(0, {root!r}); {code}")) for _ in range(rounds))
    report("import infimum beyond NumPy", best, "s", "<= 0.15", best <= 0.15)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spike", help="a hand-written kernel to compare with")
    parser.add_argument("--json", help="write the table to this file")
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    options = parser.parse_args()
    rounds = 3 if options.quick else 8
    machine = this_machine()
    print(f"{machine}\n{HEAD}")
    styblinski(options.spike)
    against_numpy()
    gradients()
    compile_times(rounds + 4)
    threads(rounds)
    import_time(rounds)
    write_json(options.json, machine)
    return exit_code()


if __name__ == "__main__":
    sys.exit(main())
