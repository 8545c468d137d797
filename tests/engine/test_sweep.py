"""Sweeps against Arb: no cut without a reason, no minimiser lost, no lower bound above a value, the definition's bits."""

import math
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb

import infimum
from infimum import problems
from infimum.bounds.sweeps.sweep_kernel import ALIVE, LEAST, NEW_HI, NEW_LO
from infimum.bounds.sweeps.sweeps import Sweeper
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CONTEXT, SWEEP
from tests.expr.test_hoist import HIDDEN, LOCAL, traced
from tests.oracle.arb_series import along
from tests.oracle.arb_values import PRECISIONS, value
from tests.oracle.boxes import MAX, TINY, coordinates, points_of
from tests.oracle.walk import UNDECIDED, Special
from tests.random_kernels import same_bits

INF = np.inf


class Recorded:
    """An Evaluator that remembers what each kernel gave back."""

    def __init__(self, evaluator: Evaluator):
        self.evaluator, self.out = evaluator, {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self.evaluator, name)

    def run(self, kind: str, *args: Any, **named: Any) -> list[np.ndarray]:
        self.out[kind] = self.evaluator.run(kind, *args, **named)
        return self.out[kind]


class Swept:
    """One sweep of boxes (n, N) within the user's bounds (n,): what is left, and what the kernel says of each variable alone."""

    def __init__(self, f: Evaluator, lo: Any, hi: Any, low: Any, high: Any, upper: float = INF, slices: int = 0):
        self.f, self.upper = f, upper
        self.lo, self.hi = (np.ascontiguousarray(np.array(a, dtype=float).reshape(f.n, -1)) for a in (lo, hi))
        self.low, self.high = (np.array(a, dtype=float).reshape(f.n) for a in (low, high))
        recorded = Recorded(f)
        self.new_lo, self.new_hi, self.lower = Sweeper(recorded, self.low, self.high, slices).sweep(self.lo, self.hi, upper)
        self.out = recorded.out[SWEEP][0].reshape(4, f.n, -1)
        self.context = recorded.out.get(CONTEXT, [])
        self.gone = ~(self.new_lo <= self.new_hi).all(axis=0)


def swept(f: "Callable | Evaluator", bounds: Any, box: Any = None, upper: float = INF) -> Swept:
    """One box (the whole of the bounds if none is given), each a list of pairs."""
    low, high = np.array(bounds, dtype=float).T
    lo, hi = (low, high) if box is None else np.array(box, dtype=float).T
    return Swept(f if isinstance(f, Evaluator) else infimum.compile(f, len(low)), lo, hi, low, high, upper)


def left(s: Swept, k: int = 0) -> list[tuple[float, float]]:
    return list(zip(s.new_lo[:, k].tolist(), s.new_hi[:, k].tolist(), strict=True))


@cache
def compiled(name: str, n: int) -> Evaluator:
    return infimum.compile(LOCAL[name][0] if name in LOCAL else EDGES[name], n)


# ---- claims held against Arb
def settled(f: Evaluator, p: np.ndarray) -> Any:
    """The value at the point, at one of two precisions."""
    found: Any = UNDECIDED
    for bits in PRECISIONS[:2]:
        found = value(f.f, p, bits)
        if found is not UNDECIDED:
            break
    return found


def does_not_fall(f: Evaluator, p: np.ndarray, j: int, side: float) -> bool:
    """Certainly, f does not fall from p along side * e_j."""
    direction = np.zeros(f.n)
    direction[j] = side
    for bits in PRECISIONS[:2]:
        jet = along(f.f, p, direction, bits)
        if not isinstance(jet, Special) and jet.s.prec >= 2 and (jet.s[1] < 0 or jet.s[1] >= 0):
            return bool(jet.s[1] >= 0)
    return False


class Judge:
    """Holds what a sweep did against Arb at points; a claim fails only by a certain contradiction."""

    def __init__(self, rng: np.random.Generator):
        self.rng, self.cut_points, self.values = rng, 0, 0

    def judge(self, s: Swept) -> None:
        self.well_formed(s)
        for k in range(s.lo.shape[1]):
            for j in range(s.f.n):
                for a, b in self.cut_parts(s, k, j):
                    self.cut(s, k, j, a, b)
            if not s.gone[k]:
                self.lower(s, s.new_lo[:, k], s.new_hi[:, k], float(s.lower[k]))
            if (s.lo[:, k] == s.low).all() and (s.hi[:, k] == s.high).all():
                self.lower(s, s.lo[:, k], s.hi[:, k], min(float(s.lower[k]), s.upper))

    def well_formed(self, s: Swept) -> None:
        """What needs no oracle."""
        assert not np.isnan(s.out).any()
        alive, new_lo, new_hi = s.out[ALIVE], s.out[NEW_LO], s.out[NEW_HI]
        kept = alive > 0
        assert (alive == np.floor(alive)).all() and (alive >= 0).all() and (alive <= 64).all()
        assert (s.lo <= new_lo)[kept].all() and (new_lo <= new_hi)[kept].all() and (new_hi <= s.hi)[kept].all()
        assert (s.gone == ~kept.all(axis=0)).all()
        assert same_bits(s.new_lo, np.where(s.gone, INF, new_lo)).all()
        assert same_bits(s.new_hi, np.where(s.gone, -INF, new_hi)).all()
        assert (s.lower == s.out[LEAST].max(axis=0)).all()
        assert (s.lower <= s.upper)[~s.gone].all()

    def cut_parts(self, s: Swept, k: int, j: int) -> list[tuple[float, float]]:
        """What the variable alone lost, as far as there are doubles."""
        lo, hi, a, b = max(s.lo[j, k], -MAX), min(s.hi[j, k], MAX), s.out[NEW_LO, j, k], s.out[NEW_HI, j, k]
        if s.out[ALIVE, j, k] == 0:
            return [(lo, hi)]
        return [part for part in ((lo, math.nextafter(a, -INF)), (math.nextafter(b, INF), hi)) if part[0] <= part[1]]

    def cut(self, s: Swept, k: int, j: int, a: float, b: float) -> None:
        """A point that was cut away is undefined, above the upper bound, or f falls along x_j from there within the bounds."""
        lo, hi = s.lo[:, k].copy(), s.hi[:, k].copy()
        lo[j], hi[j] = a, b
        for p in self.points(lo, hi, 3):
            self.cut_points += 1
            v = settled(s.f, p)
            if isinstance(v, Special) or (s.upper < INF and not v <= arb(s.upper)):
                continue
            ways = [side for side in (-1.0, 1.0) if (p[j] > s.low[j] if side < 0 else p[j] < s.high[j])]
            assert not all(does_not_fall(s.f, p, j, side) for side in ways), (
                f"variable {j} was cut without a reason at {p.tolist()}, f = {v.str(20)}, upper {s.upper!r}, box {lo} {hi}")

    def lower(self, s: Swept, lo: np.ndarray, hi: np.ndarray, lower: float) -> None:
        if lower == -INF:
            return
        for p in self.points(lo, hi, 4):
            v = settled(s.f, p)
            self.values += not isinstance(v, Special)
            assert isinstance(v, Special) or not v < arb(lower), (p.tolist(), v, lower)

    def points(self, lo: np.ndarray, hi: np.ndarray, count: int) -> np.ndarray:
        return points_of(self.rng, lo, hi, count)


def boxes(rng: np.random.Generator, low: np.ndarray, high: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The whole of the bounds first, then boxes within: parts, faces, points, one ulp."""
    lo, hi = (np.repeat(a[:, None], count, axis=1) for a in (low, high))
    for k in range(1, count):
        for i in range(len(low)):
            if rng.random() < 0.6:
                lo[i, k], hi[i, k] = sorted(rng.choice(coordinates(rng, float(low[i]), float(high[i])), 2))
    return lo, hi


def best_value(f: Evaluator, points: np.ndarray) -> float:
    """A verified upper bound of the infimum: the least of the values at some points (rows)."""
    if not len(points):
        return INF
    found = f.value(np.ascontiguousarray(points.T), np.ascontiguousarray(points.T))
    return float(np.where(found.defined & ~found.empty, found.hi, INF).min())


# ---- points: L is f, for every variable
def steady(f: Evaluator, x: np.ndarray) -> Swept:
    """A point within bounds that are this point: nothing can be cut."""
    return Swept(f, x, x, x, x)


@pytest.mark.parametrize("name", [name for k, name in enumerate(LOCAL) if k % 2 == 0 or k % 5 == 0])
def test_every_variable_sees_the_value_at_a_point(name):
    f = compiled(name, 6)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    seen = 0
    for x in [*rng.uniform(0.1, 0.9, (3, 6)), *rng.normal(size=(3, 6)), rng.choice((0.0, 0.5, -1.0, 2.0), 6)]:
        v, natural, s = settled(f, x), f.value(x, x), steady(f, x)
        if isinstance(v, Special):
            continue
        seen += 1
        assert (s.out[ALIVE] == 64).all() and (s.new_lo[:, 0] == x).all() and (s.new_hi[:, 0] == x).all()
        slack = 64 * (float(natural.hi - natural.lo) + abs(float(natural.lo)) * 2.0**-50 + 1e-300)
        for j in range(6):
            least = float(s.out[LEAST, j, 0])
            assert not v < arb(least) and least >= natural.lo - slack, (j, x, least, natural)
    assert seen >= 3


@pytest.mark.parametrize("n", (1, 2, 3, 4, 9))
@pytest.mark.parametrize("name", ("three neighbours", "norm of differences", "extremes of slices", "shifted weights"))
def test_the_ends_are_aligned_for_every_size(name, n):
    if (expr := traced(LOCAL[name][0], n)) is None:
        return
    f = Evaluator(expr, n)
    for x in np.random.default_rng(n).normal(size=(4, n)) if f.facts.local is not None else ():
        v, natural, s = settled(f, x), f.value(x, x), steady(f, x)
        assert not any(v < arb(float(least)) for least in s.out[LEAST, :, 0])
        assert (s.out[LEAST, :, 0] >= natural.lo - 64 * (natural.hi - natural.lo + abs(natural.lo) * 2.0**-50)).all()


def test_a_point_beside_the_value_would_be_seen():
    """The comparison above is sharp: with one number moved to the next variable the bound is off."""
    f = compiled("shifted weights", 6)
    x = np.random.default_rng(5).normal(size=6)
    s, natural = steady(f, x), f.value(x, x)
    moved = np.roll(x, 1)
    assert abs(float(settled(f, moved)) - natural.lo) > 1e-3 and (np.abs(s.out[LEAST] - natural.lo) < 1e-12).all()


# ---- boxes: no cut without a reason
EDGES: dict[str, Callable] = {
    "flat root": lambda x: np.sum(x) + x[1] * np.sqrt(x[0]), "power 1.5": lambda x: np.sum(x**1.5 + x),
    "root and line": lambda x: np.sum(np.sqrt(x) + x), "x log x": lambda x: np.sum(x * np.log(x)),
    "log not chosen": lambda x: np.sum(np.where(x > 0, x + 1, np.log(x + 2)) + 0.5 * x),
    "log at the end": lambda x: np.sum(x) + np.log(x[0] + 1) ** 2, "poles": lambda x: np.sum(1 / x + x),
    "squared poles": lambda x: np.sum(1 / x**2) + x[-1], "tangent": lambda x: np.sum(np.tan(x * 3) + x),
    "arcsine": lambda x: np.sum(np.arcsin(x) - 3 * x), "arccosine": lambda x: np.sum(np.arccos(x) + 0.5 * x) * 0.1 + np.sum(x**2),
    "arccosh": lambda x: np.sum(np.arccosh(x + 1) + x), "circle": lambda x: np.sum((1 - x**2) ** 1.5 + 2 * x),
    "floor": lambda x: np.sum(np.floor(2 * x) + x), "ceil": lambda x: np.sum(np.ceil(x) - x),
    "sign": lambda x: np.sum(np.sign(x) + x**2), "undecided": lambda x: np.where(np.sum(x) < 0.5, np.sum(x) + 3, np.sum(x)),
    "jump up": lambda x: np.sum(np.where(x < 0, x + 5, x)), "jump down": lambda x: np.sum(np.where(x <= 0, x - 5, x)),
    "kinks": lambda x: np.sum(np.abs(x)) + np.max(x - 0.25), "norm at 0": lambda x: np.linalg.norm(x) - 0.3 * x[0],
    "hypot": lambda x: np.hypot(x[0], x[-1]) + np.sum(np.abs(x - 0.5)), "cube root": lambda x: np.sum(np.cbrt(x) + 0.1 * x),
    "cusps": lambda x: np.sum(np.sqrt(np.abs(x))) + 0.1 * np.sum(x), "variance": lambda x: np.var(x) - 0.1 * x[0],
    "over the mean": lambda x: np.sum(x / np.mean(x)) + np.sum(x**2), "saddle": lambda x: x[0] * x[-1],
    "through one": lambda x: np.sum((x[1:] * x[0] - 0.5) ** 2) + x[0], "cubes": lambda x: np.sum(x**3),
    "product of signs": lambda x: np.prod(x) + 0.01 * np.sum(x), "angle": lambda x: np.arctan2(x[0], x[-1]) + np.sum(x),
    "flat": lambda x: np.sum(np.maximum(x, 0)), "zero to the zero": lambda x: np.sum(x**0) + np.sum(np.abs(x) ** 0.5),
}
BOUNDS = [  # per variable; cuts of 64 slices fall on 0, on 1/4, 1/2 and on the ends of domains
    [(-1, 1)] * 3, [(0, 1)] * 3, [(0, 1), (0, 0), (-1, 1)], [(-2, 0), (0, 2), (0.25, 0.25)], [(0.1, 0.9), (-0.3, 0.7), (0.5, 4)],
    [(0, TINY), (-TINY, TINY), (1, np.nextafter(1.0, 2.0))], [(-1e-9, 1), (-1, 1e-9), (0, 1e-3)],
    [(-1e200, 1e300), (0, 1), (-MAX, 1)],
]


@pytest.mark.parametrize("name", [*EDGES, *HIDDEN, *list(LOCAL)[::5]])
def test_nothing_is_cut_without_a_reason(name):
    n = 3 if name in EDGES else 6
    f = infimum.compile(HIDDEN[name], n) if name in HIDDEN else compiled(name, n)
    if f.facts.local is None:
        return
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    judge = Judge(rng)
    for bounds in BOUNDS:
        low, high = np.array((bounds * 2)[:n], dtype=float).T
        lo, hi = boxes(rng, low, high, 4 if n == 3 else 2)
        for upper in (INF, best_value(f, points_of(rng, low, high, 30))):
            judge.judge(Swept(f, lo, hi, low, high, upper))
    assert judge.cut_points + judge.values > 100


def test_the_judge_is_sharp():
    """It finds out a cut that belongs to another function, to other bounds, and a lower bound that is too high."""
    s = swept(lambda x: np.sum(x), [(0, 1)], [(0.5, 1)])
    Judge(np.random.default_rng(1)).judge(s)
    assert s.gone[0]
    s.f = infimum.compile(lambda x: np.sum(np.abs(x - 0.75)), 1)
    with pytest.raises(AssertionError, match="without a reason"):
        Judge(np.random.default_rng(1)).cut(s, 0, 0, 0.75, 0.75)
    s = swept(lambda x: np.sum(x), [(0, 1)], [(0.5, 1)])
    s.low = np.array([0.5])
    with pytest.raises(AssertionError, match="without a reason"):
        Judge(np.random.default_rng(1)).judge(s)
    s = swept(lambda x: np.sum(np.floor(x)), [(0, 1)])
    s.lower = s.out[LEAST, 0] = np.array([0.5])
    with pytest.raises(AssertionError):
        Judge(np.random.default_rng(1)).judge(s)


# ---- minimisers that are known exactly: c, in any bounds around it
EXACT: dict[str, tuple[Callable, float | None]] = {  # a function of x - c with the least value at 0, and that value
    "squares": (lambda d: np.sum(d**2), 0.0), "absolute values": (lambda d: np.sum(np.abs(d)), 0.0),
    "norm": (lambda d: np.linalg.norm(d), 0.0), "largest": (lambda d: np.max(np.abs(d)), 0.0),
    "skew": (lambda d: np.sum(np.maximum(-d, 3 * d)), 0.0), "roots": (lambda d: np.sum(np.sqrt(np.abs(d))), 0.0),
    "branches": (lambda d: np.sum(np.where(d < 0, -d, 2 * d)), 0.0), "step": (lambda d: np.sum(np.sign(d) ** 2 + d**2), 0.0),
    "holes": (lambda d: np.sum(np.where(d == 0, -1.0, d**2)), None),
    "chain": (lambda d: np.sum((d[1:] - d[:-1]) ** 2) + d[0] ** 2, 0.0),
    "well": (lambda d: -1 / (1 + np.sum(d**2)), -1.0), "variance": (lambda d: np.var(d) + np.mean(d) ** 2, 0.0),
    "product": (lambda d: -np.prod(np.cos(d)) + np.sum(d**2), -1.0), "half a root": (lambda d: np.sum(d + np.sqrt(d)), 0.0),
    "salomon": (lambda d: 1 - np.cos(6 * np.linalg.norm(d)) + 0.1 * np.linalg.norm(d), 0.0),
    "ackley": (lambda d: -20 * np.exp(-0.2 * np.sqrt(np.mean(d**2))) - np.exp(np.mean(np.cos(6 * d))), None),
}


@pytest.mark.parametrize("n", (1, 2, 9))
@pytest.mark.parametrize("name", EXACT)
def test_a_known_minimiser_is_never_lost(name, n):
    f, least = EXACT[name]
    rng = np.random.default_rng(n + zlib.crc32(name.encode()) % 1000)
    pool = np.array([0.0, 1.0, -1.0, 0.1, 1 / 3, -7.25, 1e-300, 5e-324, -1e-160])
    c = np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.normal(size=n))
    e = infimum.compile(lambda x: f(x - c), n)
    if e.facts.local is None:
        assert n == 1
        return
    least = value(infimum.compile(f, n).f, np.zeros(n), 200) if least is None else arb(least)
    upper = best_value(e, c[None])  # inf where rounding leaves open whether f is defined
    for widths in rng.choice((0.0, 1e-3, 1.0, 50.0), (2, 2, n)):
        low, high = c - widths[0], c + widths[1]
        gap = rng.choice((0.0, 0.0, 5e-324, 1e-16, 1e-9, 1e-3, 0.4, 100.0), (2, n, 30))
        lo, hi = np.maximum(c[:, None] - gap[0], low[:, None]), np.minimum(c[:, None] + gap[1], high[:, None])
        lo[:, 0], hi[:, 0] = low, high
        for _ in range(3):
            s = Swept(e, lo, hi, low, high, upper)
            assert not s.gone.any() and (s.new_lo <= c[:, None]).all() and (c[:, None] <= s.new_hi).all()
            assert not any(least < arb(float(v)) for v in s.lower if v > -INF)
            lo, hi = s.new_lo, s.new_hi


@pytest.mark.parametrize("name", ("squares", "absolute values", "norm", "largest", "skew", "product", "salomon", "ackley"))
def test_sweeps_shrink_the_box_around_it(name):
    """They do something: what is left of a wide box is small."""
    f = infimum.compile(lambda x: EXACT[name][0](x - 0.3), 8)
    lo, hi = np.full((8, 1), -2.0), np.full((8, 1), 3.0)
    upper = best_value(f, np.full((1, 8), 0.3))
    for _ in range(6):
        s = Swept(f, lo, hi, np.full(8, -2.0), np.full(8, 3.0), upper)
        lo, hi = s.new_lo, s.new_hi
    assert (hi - lo).max() < 0.2 and s.lower[0] > upper - 0.7


GALLERY = [(p.name, n) for p in problems.all_problems() if p.scalable for n in (3, 11)][::4] + \
    [(p.name, p.n) for p in problems.all_problems() if not p.scalable][::7]


@pytest.mark.parametrize(("name", "n"), GALLERY)
def test_no_minimiser_of_the_gallery_is_lost(name, n):
    p = problems.get(name, n)
    f = infimum.compile(p.fun, n)
    if f.facts.local is None:
        return
    rng = np.random.default_rng(n)
    upper = min(best_value(f, np.stack(p.points)), INF)
    for small in p.minimisers[:3]:
        gap = rng.choice((0.0, 1e-9, 1e-4, 0.05, 1.0), (2, n, 12)) * (p.hi - p.lo)[:, None]
        lo, hi = np.maximum(small[0][:, None] - gap[0], p.lo[:, None]), np.minimum(small[1][:, None] + gap[1], p.hi[:, None])
        lo[:, 0], hi[:, 0] = p.lo, p.hi
        for _ in range(4):
            s = Swept(f, lo, hi, p.lo, p.hi, upper)
            assert not s.gone.any() and (s.new_lo <= small[1][:, None]).all() and (s.new_hi >= small[0][:, None]).all()
            assert (s.lower <= p.minimum.hi).all()
            lo, hi = s.new_lo, s.new_hi


# ---- the user's bounds and the region's
def test_a_rising_function_is_discarded_inside_and_kept_at_the_users_bound():
    f = infimum.compile(lambda x: 3 * x[0] + np.exp(-x[1]) + np.sum(x[2:]), 4)
    bounds = [(-1, 2), (0, 4), (-2, -1), (0, 0)]
    assert left(swept(f, bounds)) == [(-1, -1), (4, 4), (-2, -2), (0, 0)]
    assert left(swept(f, bounds, [(-1, 0), (3, 4), (-2, -1.5), (0, 0)])) == [(-1, -1), (4, 4), (-2, -2), (0, 0)]
    above = np.nextafter(-1.0, 2), np.nextafter(4.0, 0), np.nextafter(-2.0, 0)  # one ulp off is not on the bound
    for box in ([(above[0], 0), (3, 4), (-2, -1), (0, 0)], [(-1, 0), (3, above[1]), (-2, -1), (0, 0)],
                [(-1, 0), (3, 4), (above[2], -1), (0, 0)]):
        s = swept(f, bounds, box)
        assert s.gone[0] and s.lower[0] == INF
    assert left(swept(f, bounds, [(-1, -1), (4, 4), (-2, -2), (0, 0)])) == [(-1, -1), (4, 4), (-2, -2), (0, 0)]


def test_bounds_and_upper_of_one_run_do_not_reach_the_next():
    f = infimum.compile(lambda x: x[0] + 0 * x[1], 2)
    box = [(1, 2), (0, 1)]
    assert swept(f, [(0, 2), (0, 1)], box).gone[0]
    assert left(swept(f, [(1, 2), (0, 1)], box)) == [(1, 1), (0, 1)]
    assert swept(f, [(1, 2), (0, 1)], box, upper=0.5).gone[0] and left(swept(f, [(1, 2), (0, 1)], box)) == [(1, 1), (0, 1)]


def test_only_a_strict_sign_counts():
    for f in (lambda x: x[0] ** 2, lambda x: -(x[0] ** 2), lambda x: 0 * x[0], lambda x: x[0] ** 3):
        assert not swept(f, [(-1, 2)], [(0, 0)]).gone[0]
    assert left(swept(lambda x: x[0] ** 3, [(-1, 2)]))[0][1] >= 0.0
    assert swept(lambda x: x[0] ** 2, [(-1, 2)], [(5e-324, 1)]).gone[0]
    assert left(swept(lambda x: np.sum(np.maximum(x, 0)), [(-1, 1)] * 2)) == [(-1, 0.03125)] * 2


@pytest.mark.parametrize(("f", "bounds", "minimiser"), [
    (lambda x: x[0] + x[1] * np.sqrt(x[0]), [(0, 1), (0, 0)], (0, 0)),
    (lambda x: x[0] + x[1] * np.sqrt(x[0]), [(-1, 1), (0, 0)], (0, 0)),
    (lambda x: np.sum(x**1.5 + x), [(-1, 1)], (0,)), (lambda x: np.sum(x**1.5 + x), [(-1, 1)] * 2, (0, 0)),
    (lambda x: np.sum(np.where(x > 0, np.log(x + 1), x**2)), [(-1, 1)], (0,)),
    (lambda x: np.sum(np.where(x > -2, x**2, np.log(x))), [(-1, 1)] * 2, (0, 0)),
    (lambda x: np.sum(x + 0 * np.sqrt(x - 0.25)), [(0, 1)] * 2, (0.25, 0.25)),
    (lambda x: np.sum(np.arccos(x) * 0 - x), [(-2, 2)] * 2, (1, 1)),
    (lambda x: np.sum(np.where(x < 0, x + 5, x)), [(-1, 1)] * 2, (0, 0)),
    (lambda x: np.sum(np.floor(x) - x), [(-1, 1)], None), (lambda x: np.sum(np.sign(x) + 2 * x**2), [(-1, 1)], None),
    (lambda x: np.sum(x * np.log(x)), [(0, 1)], (0.36787944117144233,)), (lambda x: np.linalg.norm(x), [(-1, 3)] * 2, (0, 0)),
    (lambda x: np.sum(np.abs(x)), [(-1, 1)] * 3, (0, 0, 0)),
    (lambda x: np.sqrt(np.sum(x**2)) + x[0] * 0.5, [(-1, 1)] * 2, (0, 0))])
def test_edges_kinks_and_jumps_keep_their_minimiser(f, bounds, minimiser):
    """Cuts fall exactly on the edge, the kink or the jump."""
    e = infimum.compile(f, len(bounds))
    lo, hi = np.array(bounds, dtype=float).T[..., None]
    for _ in range(4):
        s = Swept(e, lo, hi, *np.array(bounds).T)
        assert not s.gone[0]
        lo, hi = s.new_lo, s.new_hi
        if minimiser is not None:
            assert (lo[:, 0] <= minimiser).all() and (hi[:, 0] >= minimiser).all()


def test_what_is_empty_is_discarded_and_only_that():
    f = infimum.compile(lambda x: np.sum(np.log(x)), 2)
    bounds = [(-3, 2), (-3, 1)]
    assert swept(f, bounds, [(-3, -1), (0, 1)]).gone[0] and swept(f, bounds, [(-3, 0), (0, 1)]).gone[0], "log(0) is no value"
    assert not swept(f, bounds, [(-3, 5e-324), (0, 1)]).gone[0]
    assert not swept(lambda x: np.sum(np.sqrt(x)), [(-3, 2)] * 2, [(-3, 0), (-1, 0)]).gone[0]
    assert left(swept(lambda x: np.sum(np.sqrt(x) + 0 * x), [(-1, 1)] * 2)) == [(-0.03125, 1)] * 2


def test_an_upper_bound_cuts_and_infinity_does_not():
    f = infimum.compile(lambda x: np.sum(np.floor(x * 8)), 2)  # no derivative to cut with
    assert left(swept(f, [(-1, 1)] * 2)) == [(-1, 1)] * 2
    assert left(swept(f, [(-1, 1)] * 2, upper=-14.0)) == [(-1, -0.625)] * 2
    assert left(swept(f, [(-1, 1)] * 2, upper=-16.0)) == [(-1, -0.875)] * 2, "a slice that only reaches the upper bound stays"
    assert swept(f, [(-1, 1)] * 2, upper=np.nextafter(-16.0, -INF)).gone[0]


# ---- a derivative by y that is not the whole one
@pytest.mark.parametrize("f", [
    lambda x: np.sum(x**2) - 4 * (np.sum(x) * np.arange(1.0, len(x) + 1))[0],
    lambda x: np.sum(x**2) - 2 * (np.sum(x) * np.array([2.0]))[0],
    lambda x: np.sum(x**2) - 4 * np.mean(x) * len(x), lambda x: np.sum((x - 4 * np.mean(x) / np.mean(x)) * x),
    lambda x: np.sum(x**2) - np.sum(np.sum(x) * np.full(len(x), 4.0 / len(x))),
    lambda x: np.sum(x**2) - 4 * np.sum(np.mean(x) + 0 * x),
    lambda x: np.sum(x**2 - 4 * np.sum(x) / len(x)), lambda x: np.var(x) + (np.mean(x) - 2) ** 2])
def test_what_a_scalar_hides_is_part_of_the_derivative(f):
    """The minimum lies at 2 in every variable, also where x reaches a term only through a sum or a mean."""
    n = 6
    e = infimum.compile(f, n)
    if e.facts.local is None:
        return
    for bounds in ((-20.0, 20.0), (-1.0, 3.0), (1.0, 7.0)):
        low, high = np.full(n, bounds[0]), np.full(n, bounds[1])
        lo, hi = low[:, None], high[:, None]
        for _ in range(4):
            s = Swept(e, lo, hi, low, high, best_value(e, np.full((1, n), 2.0)))
            assert not s.gone[0] and (s.new_lo <= 2).all() and (s.new_hi >= 2).all()
            lo, hi = s.new_lo, s.new_hi
