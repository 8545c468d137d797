"""Random constrained problems whose optimum is known, and infeasible ones: every word of an answer is judged, in ball arithmetic.

Let x* be a point of whole quarters (whole numbers where a variable is an integer), p a sum of squares that vanishes at x*, g_k
and h_k any functions that vanish there, and λ_k >= 0. At every point with g_k >= 0 and h_k = 0,

    f = p + Σ λ_k g_k + Σ μ_k h_k + c

is at least c, which it is at x*: the least value is c, however wild g_k and h_k are. Constraints that x* meets strictly are
added, and for an infeasible problem one that contradicts another by a little.

    python -m bench.constraint_random FIRST COUNT SECONDS    # solves them and prints an answer a line, to be judged elsewhere
"""

import json
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np

import infimum

NUMPY = SimpleNamespace(sin=np.sin, cos=np.cos, exp=np.exp)


@dataclass(frozen=True)
class Planted:
    """f and constraints (function, lower, upper) as functions of x and of what sine, cosine and exponential are."""

    f: Callable[[Any, Any], Any]
    constraints: list[tuple[Callable[[Any, Any], Any], float, float]]
    bounds: list[tuple[float, float]]
    integers: list[int]
    best: list[float]
    least: float
    infeasible: bool


def planted(seed: int) -> Planted:
    """The problem with this number."""
    rng = np.random.default_rng([seed, 2026])
    n = int(rng.integers(1, 5))
    integers = rng.integers(0, 2, n).tolist() if rng.random() < 0.3 else [0] * n
    best = [float(v) if w else float(v) / 4 for v, w in zip(rng.integers(-6, 7, n), integers, strict=True)]
    f, constraints, infeasible = _squares(rng, n, best), [], bool(rng.random() < 0.2)
    terms = [f]
    for _ in range(int(rng.integers(0, 4))):
        g, weight = _vanishing(rng, n, best), float(rng.integers(0, 3))
        constraints.append((g, 0.0, math.inf))
        terms.append(lambda x, m, g=g, w=weight: w * g(x, m))
    for _ in range(int(rng.integers(0, min(n, 3)))):
        h, weight = _vanishing(rng, n, best), float(rng.integers(-2, 3))
        constraints.append((h, 0.0, 0.0))
        terms.append(lambda x, m, h=h, w=weight: w * h(x, m))
    for _ in range(int(rng.integers(0, 3))):  # met strictly
        g, room = _vanishing(rng, n, best), float(rng.integers(1, 9)) / 4
        constraints.append((g, -room, math.inf) if rng.random() < 0.5 else (g, -math.inf, room))
    least = float(rng.integers(-8, 9)) / 2
    if infeasible:
        g, gap = _vanishing(rng, n, best), 2.0 ** -float(rng.integers(0, 8))
        constraints += [(g, gap, math.inf), (g, -math.inf, 0.0)]
    bounds = [(v - float(rng.integers(0, 5)), v + float(rng.integers(1, 5))) for v in best]
    return Planted(lambda x, m: sum(t(x, m) for t in terms) + least, constraints, bounds, integers, best, least, infeasible)


def _vanishing(rng: np.random.Generator, n: int, best: list[float]) -> Callable:
    """A function that is 0 at x*."""
    rows, kinds = rng.integers(-3, 4, (4, n)).tolist(), rng.integers(0, 5, 2).tolist()

    def along(row: list[int], x: Any) -> Any:
        return sum(a * (x[i] - best[i]) for i, a in enumerate(row) if a)

    def g(x: Any, m: Any) -> Any:
        total = along(rows[0], x)
        for kind, row in zip(kinds, rows[1:], strict=False):
            u = along(row, x)
            if isinstance(u, int):
                continue
            total = total + (u * u, -1 * u * u, 2 * m.sin(u), m.exp(u / 4) - 1, u * along(rows[3], x))[kind]
        return total + 0 * x[0]
    return g


def _squares(rng: np.random.Generator, n: int, best: list[float]) -> Callable:
    parts = [_vanishing(rng, n, best) for _ in range(int(rng.integers(1, 4)))]
    sure = float(rng.integers(0, 2)) / 4

    def p(x: Any, m: Any) -> Any:
        total = sum(part(x, m) * part(x, m) for part in parts)
        return total + sure * sum((x[i] - best[i]) * (x[i] - best[i]) for i in range(n))
    return p


def answer(seed: int, **options: Any) -> dict[str, Any]:
    """What infimum says of the problem with this number: all that is judged, as JSON holds it."""
    r = solve(planted(seed), **options)
    feasible = r.feasible if isinstance(r.feasible, tuple) or r.feasible is None else (r.feasible, r.feasible)
    return {"seed": seed, "verdict": r.verdict.name, "lower": float(r.lower), "upper": float(r.upper),
            "boxes": None if r.boxes is None else [[lo.tolist(), hi.tolist()] for lo, hi in r.boxes],
            "feasible": None if feasible is None else [np.asarray(end).tolist() for end in feasible]}


def judged(said: dict[str, Any]) -> str:
    """What is wrong with an answer; empty if nothing is."""
    p, verdict, lower, upper = planted(said["seed"]), said["verdict"], said["lower"], said["upper"]
    if p.infeasible:
        return "a feasible point of an infeasible problem" if upper < math.inf or verdict == "PROVED" else ""
    if verdict == "INFEASIBLE":
        return "INFEASIBLE, and it is not"
    if lower > p.least:
        return f"lower {lower!r} is above the least value {p.least!r}"
    if upper < p.least:
        return f"upper {upper!r} is below the least value {p.least!r}"
    if verdict == "PROVED" and said["boxes"] is not None and not any(_within(p.best, *box) for box in said["boxes"]):
        return "x* is in no box"
    return "" if said["feasible"] is None else _infeasible(p, *said["feasible"])


def _within(x: list[float], lo: list[float], hi: list[float]) -> bool:
    return all(a <= v <= b for v, a, b in zip(x, lo, hi, strict=True))


def _infeasible(p: Planted, lo: list[float], hi: list[float]) -> str:
    """A constraint that certainly does not hold at the point (lo = hi), or anywhere in the box, that is said to be feasible."""
    from flint import arb
    m = SimpleNamespace(sin=lambda v: arb(v).sin(), cos=lambda v: arb(v).cos(), exp=lambda v: arb(v).exp())
    x = [arb(float(a)).union(arb(float(b))) for a, b in zip(lo, hi, strict=True)]
    for k, (a, b) in enumerate(zip(lo, hi, strict=True)):
        if not p.bounds[k][0] <= a <= b <= p.bounds[k][1] or (p.integers[k] and not (a == b == round(a))):
            return f"variable {k} is {a!r} to {b!r}"
    for k, (g, low, high) in enumerate(p.constraints):
        value = arb(g(x, m))
        if low == high:
            if not value.contains(arb(low)):
                return f"equation {k} cannot hold: {value}"
        elif not ((low == -math.inf or value >= arb(low)) and (high == math.inf or value <= arb(high))) and (
                value < arb(low) if low > -math.inf else value > arb(high)):
            return f"constraint {k} is violated: {value}"
    return ""


def solve(p: Planted, **options: Any) -> Any:
    constraints = [infimum.Constraint(lambda x, g=g: g(x, NUMPY), low, high) for g, low, high in p.constraints]
    return infimum.minimize(lambda x: p.f(x, NUMPY), p.bounds, constraints=constraints,
                            integrality=p.integers if any(p.integers) else None, seed=0, progress=False, **options)


if __name__ == "__main__":
    first, count, seconds = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    for number in range(first, first + count):
        print(json.dumps(answer(number, rtol=1e-3, atol=1e-3, time_limit=seconds)), flush=True)
