"""Runs an elementary function on arrays of intervals and compares it with Arb, and with the vectors of ITF1788."""

import csv
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from flint import arb, ctx

from infimum.backend.cpu import CpuBackend, host
from infimum.interval.elementary import Elementary, row
from infimum.kernel.ir import Builder
from infimum.ops.vocabulary import OPS

LARGEST = 1.7976931348623157e308
EVERYWHERE = -math.inf, math.inf
EDGES = np.array([0.0, 5e-324, 1e-310, 2.0**-1022, 1e-300, 1e-160, 2.0**-33, 2.0**-27, 0.5, 1 - 2.0**-53, 1.0, 1 + 2.0**-52, 2.0,
                  8.0, 1e16, 1e300, LARGEST])
EDGES = np.concatenate([EDGES, -EDGES])
_NOTHING = np.zeros(1), np.zeros(1, np.int64)


def _run(kernel, inputs: tuple, outputs: int) -> list[np.ndarray]:
    arrays = [np.ascontiguousarray(np.asarray(a, float).reshape(1, -1)) for a in inputs]
    results = [np.empty_like(arrays[0]) for _ in range(outputs)]
    kernel.run(arrays, results, *_NOTHING)
    return [r[0] for r in results]


def compiled(name: str, code: Callable, arity: int, outputs: int = 2, lanes: int | None = None) -> Callable:
    """`code` over pairs, as a function of arrays lo, hi, … that returns lo, hi, …"""
    b = Builder()
    ops = [v for i in range(arity) for v in (b.neg(b.input(2 * i, 0)), b.input(2 * i + 1, 0))]
    for i, v in enumerate(b.outline(f"enclose_{name}", code, *ops)):
        b.output(i, 0, v if i % 2 else b.neg(v))
    kernel = CpuBackend(lanes=lanes).compile(b.kernel(f"test_{name}", 2 * arity, outputs))
    return lambda *inputs: _run(kernel, inputs, outputs)


def enclosure(name: str, lanes: int | None = None) -> Callable:
    return compiled(name, row(name).enclose, OPS[name].arity, lanes=lanes)


def estimate(name: str) -> Callable:
    b, f, arity = Builder(), row(name), OPS[name].arity
    b.output(0, 0, b.outline(f"estimate_{name}", lambda b, *x: f.estimate(b, *x), *(b.input(i, 0) for i in range(arity)))[0])
    kernel = CpuBackend().compile(b.kernel(f"test_estimate_{name}", arity, 1))
    return lambda *inputs: _run(kernel, inputs, 1)[0]


def holds(function: Callable, x: tuple[float, ...], lo: float, hi: float) -> tuple[bool, arb]:
    """Whether f(x) is certainly in [lo, hi], with as many bits as that needs (tan(5e-324) needs 3300), and f(x)."""
    for precision in (160, 8000):
        ctx.prec = precision
        value = function(*map(arb, x))
        if (lo == -math.inf or arb(lo) <= value) and (hi == math.inf or value <= arb(hi)):
            return True, value
    return False, value


def width(lo: float, hi: float, value: arb) -> float:
    """The width in ulps of the value; an overflowed end counts as the largest double."""
    size = min(abs(float(value)), LARGEST)
    return (min(hi, LARGEST) - max(lo, -LARGEST)) / math.ulp(size)


def check_points(name: str, function: Callable, *points: np.ndarray) -> float:
    """Every point's enclosure holds the value and is not too wide, and the estimate is near; returns the largest width."""
    f: Elementary = row(name)
    doubled = [a for p in points for a in (p, p)]
    lows, highs = enclosure(name)(*doubled)
    near, most = estimate(name)(*points), 0.0
    for at in zip(*points, lows, highs, near, strict=True):
        *x, lo, hi, guess = (float(v) for v in at)
        inside, value = holds(function, x, lo, hi)
        assert inside, (name, x, lo, hi, value)
        most = max(most, width(lo, hi, value))
        assert most <= f.ulps, (name, x, lo, hi, value)
        assert math.isinf(guess) or width(min(guess, float(value)), max(guess, float(value)), value) <= 2, (name, x, guess)
    return most


def margin(name: str, code: Callable, function: Callable, *points: np.ndarray) -> float:
    """The largest |f(x) - head - tail| / error, where code(b, x, …) writes head, tail, error: seen before rounding hides it."""
    b = Builder()
    for i, v in enumerate(b.outline(f"parts_{name}", code, *(b.input(i, 0) for i in range(len(points))))):
        b.output(i, 0, v)
    heads, tails, errors = _run(CpuBackend().compile(b.kernel(f"test_parts_{name}", len(points), 3)), points, 3)
    ctx.prec, worst = 400, 0.0
    for at in zip(*points, heads, tails, errors, strict=True):
        *x, head, tail, error = (float(v) for v in at)
        worst = max(worst, float((abs(function(*map(arb, x)) - head - tail) / error).upper()))
    return worst


def check_lanes(name: str, *ends: np.ndarray) -> None:
    """Every number of lanes gives the same bits."""
    first, *others = ([r.view(np.int64) for r in enclosure(name, lanes=w)(*ends)] for w in host().widths())
    for other in others:
        assert all(np.array_equal(a, b) for a, b in zip(first, other, strict=True))


def logarithmic(rng: np.random.Generator, count: int, least: float = -1074, most: float = 1024) -> np.ndarray:
    """Numbers of both signs with evenly distributed exponents."""
    return np.ldexp(rng.uniform(1, 2, count), rng.integers(int(least), int(most), count)) * rng.choice([-1.0, 1.0], count)


def beside(points: np.ndarray, ulps: int = 2) -> np.ndarray:
    """The points and their neighbours."""
    found = [points]
    for direction in (-math.inf, math.inf):
        moved = points
        for _ in range(ulps):
            moved = np.nextafter(moved, direction)
            found.append(moved)
    return np.concatenate(found)


def vectors(operation: str, domain: tuple[float, float]) -> list[tuple[list[float], tuple[float, float]]]:
    """The ITF1788 rows of an operation: (lo, hi, … of the arguments cut to the domain, the tightest result), if not empty."""
    table = Path(__file__).parents[1] / "vectors" / "itf1788.csv"
    rows = csv.DictReader(line for line in table.read_text().splitlines() if not line.startswith("#"))
    found = []
    for r in rows:
        box, (lo, hi) = list(map(float, r["box"].split())), map(float, r["result"].split())
        ends = [max(v, domain[0]) if i % 2 == 0 else min(v, domain[1]) for i, v in enumerate(box)]
        if r["operation"] == operation and lo <= hi and all(a <= b for a, b in zip(ends[::2], ends[1::2], strict=True)):
            found.append((ends, (lo, hi)))
    return found


def check_vectors(name: str, operation: str, domain: tuple[float, float] = EVERYWHERE, reach: float = math.inf,
                  alike: Callable[..., bool] = lambda *ends: True) -> None:
    """The enclosure holds the tightest one; if all ends are within `reach`, each end is at most `ulps` away. `alike` tells for
    the ends of the arguments whether the function is that of the standard there."""
    cases = [case for case in vectors(operation, domain) if alike(*case[0])]
    assert cases
    lows, highs = enclosure(name)(*np.array([ends for ends, _ in cases]).T)
    for (ends, (lo, hi)), low, high in zip(cases, lows.tolist(), highs.tolist(), strict=True):
        assert low <= lo and hi <= high, (name, ends, (low, high), (lo, hi))
        if max(map(abs, ends)) <= reach:
            for ours, best in ((low, lo), (high, hi)):
                assert ours == best or abs(ours - best) <= row(name).ulps * math.ulp(best), (name, ends, (low, high), (lo, hi))
