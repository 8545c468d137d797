"""The kernel of the complete search against Arb: LOWER and UPPER are bounds, and no lane is dead without a reason.

And exactly: a lane says of its subregion what the local form says of the box that is rebuilt from the lane's number, bit for bit.
"""

import zlib
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest
from flint import arb

import infimum
from infimum import problems
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.engines.complete_kernel import LEFT, LOWER, SAMPLE, UPPER
from infimum.engines.complete_options import CompleteOptions
from infimum.engines.complete_search import CompleteSearch
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BLOCK_CONTEXT, ProgramKind
from infimum.expr.build import build, index
from infimum.expr.node import Expr, topological, var
from infimum.interval.pair import LIPSCHITZ, SMOOTH
from infimum.problem.problem import Problem
from infimum.problem.settings import Goal
from infimum.structure.local_form import block_variables
from tests.all_threads import all_threads_work  # noqa: F401
from tests.engine.test_sweep import EXACT, Recorded, settled
from tests.expr.test_hoist import HIDDEN, LOCAL
from tests.oracle.arb_values import value
from tests.oracle.boxes import points_of
from tests.oracle.walk import UNDEFINED, Special
from tests.random_kernels import same_bits

INF = np.inf


def up(exact: Fraction) -> float:
    """The least double that is not below."""
    nearest = float(exact)
    return nearest if Fraction(nearest) >= exact else float(np.nextafter(nearest, INF))


@cache
def between(left: float, right: float, part: float) -> float:
    """The double at this part of the way, in the kernel's arithmetic: the width and the place are rounded upward."""
    width = up(Fraction(right) - Fraction(left))
    return min(max(up(Fraction(width) * Fraction(part) + Fraction(left)), left), right)


class Lanes:
    """One iteration: the block from variable `start` on of the region [lo, hi] is cut, within the user's bounds [low, high]."""

    def __init__(self, f: Evaluator, low: Any, high: Any, lo: Any, hi: Any, start: int, numbers: Any = None, **options: Any):
        self.f, self.start = f, start
        self.low, self.high, self.lo, self.hi = (np.array(a, dtype=float) for a in (low, high, lo, hi))
        recorded = Recorded(f)
        s = self.search = CompleteSearch(Problem(None, self.low, self.high), recorded, CompleteOptions(**options), Goal(), 0)
        self.block = slice(start, start + s.block)
        self.numbers = np.arange(s.pieces**s.block) if numbers is None else np.array(numbers)
        self.ends = s._ends(self.lo, self.hi, start)
        self.least = 0.125  # what is known of the region's lower end
        self.parameters = s.lanes.parameters(self.lo, self.hi, start, self.ends, self.least, (self.low, self.high), INF)
        self.context = recorded.out.get(ProgramKind.of(BLOCK_CONTEXT, block=s.block), [])
        numbers, (plain, sampled) = self.numbers.astype(np.int64).view(np.float64)[None], s.lanes.kinds
        self.out, = f.run(sampled, [numbers], parameters=self.parameters)
        plain, = f.run(plain, [numbers], parameters=self.parameters[:s.lanes.plain])
        assert same_bits(plain[[LOWER, LEFT]], self.out[[LOWER, LEFT]]).all(), "the same with and without samples"
        self.dead = np.isnan(self.out[LEFT]).astype(float)
        left = np.where(self.dead == 1.0, self.out[LEFT], np.maximum(self.out[LOWER], self.least))
        assert same_bits(self.out[LEFT], left).all()
        self.lower, self.upper, self.sample = (self.out[row] for row in (LOWER, UPPER, SAMPLE))
        s.taken = [(self.lo, self.hi, start)]
        self.box_lo, self.box_hi = s.boxes_of(np.zeros(len(self.numbers), int), self.numbers)  # (n, lanes)

    def point(self, lane: int, sample: int) -> np.ndarray:
        """A sample point: the block in the kernel's arithmetic, the others in the engine's, which is NumPy's."""
        parts = self.search.parts[sample]
        point = np.minimum(np.maximum(self.lo + (self.hi - self.lo) * parts, self.lo), self.hi)
        for i in range(self.block.start, self.block.stop):
            point[i] = between(float(self.box_lo[i, lane]), float(self.box_hi[i, lane]), float(parts[i]))
        return point

    def ways(self, lane: int) -> list[tuple[int, float]]:
        """Variables of the block, and where to: out of the subregion and not out of the bounds."""
        block = range(self.block.start, self.block.stop)
        return [(i, -1.0) for i in block if self.box_lo[i, lane] > self.low[i]] + \
            [(i, 1.0) for i in block if self.box_hi[i, lane] < self.high[i]]


# ---- claims held against Arb
class Judge:
    """Holds what lanes say against Arb; counts what there was to hold."""

    def __init__(self, rng: np.random.Generator):
        self.rng, self.values, self.dead, self.empty, self.uppers = rng, 0, 0, 0, 0

    def judge(self, s: Lanes, most: int = 5) -> None:
        assert not np.isnan(np.delete(s.out, LEFT, axis=0)).any() and np.isin(s.dead, (0.0, 1.0)).all() and (s.lower < INF).all()
        g = s.f.gradient(s.box_lo, s.box_hi)
        alive, dead = (self.rng.permutation(np.flatnonzero(s.dead == d)) for d in (0.0, 1.0))
        for lane in [*alive[:most], *dead[:most]]:
            points = self.points(s.box_lo[:, lane], s.box_hi[:, lane])
            values = [settled(s.f, p) for p in points]
            for p, v in zip(points, values, strict=True):
                self.values += not isinstance(v, Special)
                assert isinstance(v, Special) or s.lower[lane] == -INF or not v < arb(float(s.lower[lane])), (
                    f"LOWER {s.lower[lane]!r} of lane {lane} is above {v.str(20)} at {p.tolist()}")
            self.upper(s, lane)
            if s.dead[lane]:
                self.ruled_out(s, lane, g, list(zip(points, values, strict=True)))

    def points(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Two corners, a random point, and points near the faces."""
        t = np.vstack([self.rng.integers(0, 2, (2, len(lo))), self.rng.random((1, len(lo)))])
        return np.vstack([np.clip(np.where(t == 1, hi, lo + (hi - lo) * t), lo, hi), points_of(self.rng, lo, hi, 2)])

    def upper(self, s: Lanes, lane: int) -> None:
        """It is an upper end at the sample that is named, where the function is defined.

        Where a scalar hides a dependence on the block, that scalar is the one at the sample of the whole region, and UPPER only
        says what is worth a try: the engine encloses f at the point before it counts.
        """
        if not s.search.lanes.numbers.form.exact:
            return
        if s.upper[lane] == INF:
            assert s.sample[lane] == -1
            return
        self.uppers += 1
        v = settled(s.f, s.point(lane, int(s.sample[lane])))
        assert v is not UNDEFINED and (isinstance(v, Special) or not v > arb(float(s.upper[lane]))), (
            f"UPPER {s.upper[lane]!r} of lane {lane} is below {v} at its sample {s.sample[lane]}")

    def ruled_out(self, s: Lanes, lane: int, g: Any, known: list) -> None:
        """Nowhere defined; or the derivative leads out of the subregion within the bounds, and Arb finds a lower value there."""
        if g.value.empty[lane]:
            self.empty += 1
            assert all(v is UNDEFINED for _, v in known), f"lane {lane} is dead as empty, but the function has a value"
            return
        self.dead += 1
        assert g.value.level[lane] >= LIPSCHITZ
        ways = [(i, side) for i, side in s.ways(lane) if (g.lo[i, lane] > 0 if side < 0 else g.hi[i, lane] < 0)]
        assert ways, f"lane {lane} is dead without a reason: {s.box_lo[:, lane]} {s.box_hi[:, lane]}"
        for p, v in known:
            assert self.lower_beside(s, p, v, *ways[0]), f"lane {lane} is dead, but nothing is lower beside {p.tolist()}"

    def lower_beside(self, s: Lanes, p: np.ndarray, v: arb, i: int, side: float) -> bool:
        """Along x_i, within the user's bounds, there is a point where f is certainly less than v."""
        room = (p[i] - s.low[i]) if side < 0 else (s.high[i] - p[i])
        for shorter in range(0, 53, 4):
            q = p.copy()
            q[i] = min(max(p[i] + side * room * 2.0**-shorter, s.low[i]), s.high[i])
            if q[i] == p[i]:
                q[i] = np.nextafter(p[i], side * INF)
            w = settled(s.f, q)
            if not isinstance(w, Special) and w < v:
                return True
        return False


def kinks(x: Any) -> Any:
    return np.sum(np.abs(x - 0.25)) + np.max(x) - np.min(x[1:]) * np.linalg.norm(x)


def choices(x: Any) -> Any:
    return np.sum(np.where(x > 0.25, x + 3, x**2)) + np.sum(np.abs(x[1:] - x[:-1])) - x[2]


def partial(x: Any) -> Any:
    return np.sum(np.sqrt(x[:3])) - np.log(x[-1]) - 3 * np.sum(x[1:] * x[:-1])


def logarithm(x: Any) -> Any:
    """Undefined where the sum is not positive: what is left of the others decides too."""
    return np.log(np.sum(x)) + np.prod(x) + x[-1]


def steps(x: Any) -> Any:
    return np.sum(np.floor(2 * x) + x**2) + np.sign(x[0])


def variance(x: Any) -> Any:
    return np.var(x) - 0.1 * np.sum(x)


OWN: dict[str, tuple[Callable, float]] = {  # with the lower bound of each variable
    f.__name__: (f, low) for f, low in ((kinks, -1.0), (choices, -1.0), (partial, -0.4), (logarithm, -0.9), (steps, -1.0),
                                        (variance, -1.0))}
PAPER = ("levy", "rastrigin", "ackley", "griewank", "salomon", "zabinsky")
SCALARS = [name for name in HIDDEN if name != "in a choice"]  # which cannot be taken apart
PLANS: dict[str, dict[str, Any]] = {
    "3 into 4": {"partition": (3, 4), "points": 3}, "all into 2": {"partition": (7, 2), "samples": "centre"},
    "2 into 8": {"partition": (2, 8), "cuts": "golden", "samples": "latin", "points": 4}}


@cache
def compiled(name: str, n: int) -> tuple[Evaluator, np.ndarray, np.ndarray]:
    """The function with the user's bounds."""
    if name in PAPER:
        p = problems.get(f"complete_search_{name}", n)
        return infimum.compile(p.fun, n), p.lo, p.hi
    fun, low = OWN[name] if name in OWN else (HIDDEN[name] if name in HIDDEN else LOCAL[name][0], -1.0)
    return infimum.compile(fun, n), np.full(n, low), np.full(n, 1.5)


def iterations(name: str, plan: str) -> list[Lanes]:
    """Blocks at the first variable, at the last, and between: of the whole of the bounds, and of smaller and smaller regions that
    reach the bounds in some variables, with points and sides of one ulp."""
    n = 7
    f, low, high = compiled(name, n)
    rng = np.random.default_rng(zlib.crc32(f"{name}, {plan}".encode()))
    last, found = n - PLANS[plan]["partition"][0], []
    for size, start in ((1.0, 0), (0.3, last), (1e-2, last // 2), (1e-4, int(rng.integers(0, last + 1)))):
        width = (high - low) * size
        lo = low + (high - low - width) * rng.random(n)
        hi = np.minimum(lo + width, high)
        if size < 1:
            kind = rng.integers(0, 8, n)
            lo = np.where(kind == 0, low, np.where(kind == 1, high - width, lo))
            hi = np.where(kind == 0, low + width, np.where(kind == 1, high, hi))
            hi = np.where(kind == 2, lo, np.where(kind == 3, np.nextafter(lo, INF), hi))
        found.append(Lanes(f, low, high, lo, hi, start, **PLANS[plan]))
    return found


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", (*PAPER[:-1], *OWN))
def test_what_lanes_claim_is_true(name, plan):
    judge = Judge(np.random.default_rng(zlib.crc32(f"{name}, {plan}".encode())))
    for s in iterations(name, plan):
        judge.judge(s)
    assert judge.values > 20 and (judge.uppers >= 5) == (judge.dead > 0) == (name != "variance")
    assert (judge.empty > 0) == (name in ("partial", "logarithm")) or plan == "2 into 8"


@pytest.mark.parametrize("name", (*SCALARS, *list(LOCAL)[1::11]))
def test_a_hidden_dependence_kills_nothing(name):
    """Scalars that depend on the block by a way that the derivatives of the form do not see."""
    judge = Judge(np.random.default_rng(zlib.crc32(name.encode())))
    for s in iterations(name, "3 into 4"):
        judge.judge(s)
    assert judge.values > 40


@pytest.mark.parametrize("name", ("an element of a scaled constant", "its last element", "one of one"))
def test_no_lower_point_is_lost(name):
    """Where derivatives discard nothing: the upper bound is true, and a point below it lies in a region that is left."""
    f, low, high = compiled(name, 7)
    s = CompleteSearch(Problem(None, low, high), f, CompleteOptions(**PLANS["3 into 4"]), Goal(), 0)
    points = low[:, None] + (high - low)[:, None] * np.random.default_rng(1).random((7, 4000))
    at, seen = f.value(points, points), 0
    assert not s.lanes.numbers.form.exact
    for _ in range(8):
        s.step()
        assert not settled(f, s.incumbent.x) > arb(s.incumbent.upper)
        iterations, subregions, lower, _ = s.list.everything(s.incumbent.upper)
        lo, hi = s.boxes_of(iterations, subregions)
        for k in np.flatnonzero(at.defined & (at.hi < s.incumbent.upper)):
            inside = ((lo <= points[:, k, None]) & (points[:, k, None] <= hi)).all(axis=0)
            assert inside.any() and (lower[inside] <= at.hi[k]).all()
            seen += 1
    assert seen > 5


def test_the_judge_is_sharp():
    """It finds out every claim that is put in place of a true one."""
    def lanes(fun: Callable, box: tuple[float, float] = (0.5, 1.0)) -> Lanes:
        return Lanes(infimum.compile(fun, 3), [0.0] * 3, [1.0] * 3, [box[0]] * 3, [box[1]] * 3, 1, partition=(2, 2))

    def judged(s: Lanes, message: str) -> None:
        with pytest.raises(AssertionError, match=message):
            Judge(np.random.default_rng(1)).judge(s)
    rises = lanes(np.sum)
    Judge(np.random.default_rng(1)).judge(rises)
    assert rises.dead.all()
    rises.low = np.full(3, 0.5)
    judged(rises, "without a reason")
    s = lanes(lambda x: np.sum(np.abs(x - 0.6)))
    s.dead[:] = 1.0
    judged(s, "without a reason")
    s = lanes(lambda x: np.sum(x**2))
    s.lower[:] = s.lower + 0.1
    judged(s, "LOWER")
    s = lanes(lambda x: np.sum(x**2))
    s.upper[:] = np.nextafter(s.upper, -INF) - 1e-15
    judged(s, "UPPER")
    s = lanes(lambda x: np.sum(x**2))
    s.sample[:] += 1
    judged(s, "UPPER")
    s = lanes(lambda x: np.sum(np.log(x)), (-1.0, 1.0))
    s.upper[:], s.sample[:] = 10.0, 0.0
    judged(s, "UPPER")


# ---- exactly: a lane says of its subregion what the local form says of the box that is rebuilt
class Form:
    """The local form as a function of a vector: the variables of the block, then the numbers."""

    def __init__(self, s: Lanes):
        form, layout = s.search.lanes.numbers.form, s.search.lanes.layout
        self.m, self.size = layout.m, layout.m + len(form.numbers)
        x = var("x", (self.size,))
        new: dict[Expr, Expr] = {y: index(x, k) for k, y in enumerate(block_variables(self.m))}
        new |= {var(number.name, ()): index(x, self.m + k) for k, number in enumerate(form.numbers)}
        for node in topological([form.value]):
            if node not in new:
                new[node] = build(node.op, *(new[a] for a in node.args), **dict(node.params)) if node.args else node
        self.evaluator = Evaluator(new[form.value], self.size)
        given = np.concatenate([s.parameters[layout.region:layout.parts], s.parameters[layout.sampled:]])
        self.numbers = given.reshape(layout.samples + 1, len(form.numbers), 3)

    def boxes(self, of: int, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """With the numbers of the region (0) or of a sample (from 1 on)."""
        return tuple(np.vstack([side, np.repeat(self.numbers[of, :, end, None], side.shape[1], axis=1)])
                     for end, side in enumerate((lo, hi)))


@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("name", ("levy", "rastrigin", "griewank", "zabinsky", "choices"))
def test_lanes_are_the_form_on_the_boxes_that_are_rebuilt(name, plan):
    dead = 0
    for s in iterations(name, plan):
        form, block = Form(s), s.block
        g = form.evaluator.gradient(*form.boxes(0, s.box_lo[block], s.box_hi[block]))
        assert same_bits(s.lower, g.value.lo).all()
        if (form.numbers[0, :, 2] == SMOOTH).all():  # what the others lack in smoothness is not in the function above
            rises, falls = (g.lo[:form.m] > 0) & g.value.lipschitz, (g.hi[:form.m] < 0) & g.value.lipschitz
            out = (rises & (s.box_lo > s.low[:, None])[block]) | (falls & (s.box_hi < s.high[:, None])[block])
            assert (s.dead == out.any(axis=0)).all()
            dead += s.dead.sum()
        ends = []
        for k in range(len(s.search.parts)):
            x = np.stack([s.point(lane, k)[block] for lane in range(len(s.numbers))], axis=1)
            ends.append(form.evaluator.value(*form.boxes(1 + k, x, x)).hi)
        assert same_bits(s.upper, np.min(ends, axis=0)).all() and (s.sample == np.argmin(ends, axis=0)).all()
    assert dead > 20


def test_every_digit_of_a_lane_says_its_piece():
    """Weights and ends for which nothing is rounded: LOWER is the value at one corner, which no other lane has."""
    n, m, p = 8, 5, 4
    weights = np.array([3.0, -1.0, 4.0, 16.0, -64.0, 256.0, -1024.0, 5.0])
    low, high = np.arange(n) - 4.0, np.arange(n) + 4.0
    s = Lanes(infimum.compile(lambda x: np.sum(weights * x), n), low, high, low + 1, high - 3, 2, partition=(m, p))
    exact = np.where(weights[:, None] > 0, s.box_lo, s.box_hi) * weights[:, None]
    assert (s.lower == exact.sum(axis=0)).all() and len(np.unique(s.lower)) == p**m
    assert s.dead.all(), "no side of the region is at the bounds"


# ---- minimisers that are known exactly
@pytest.mark.parametrize("name", EXACT)
def test_a_known_minimiser_is_never_lost(name):
    """The least value is at c; a lane whose subregion holds c, be it in a corner, is not dead and not above it."""
    n, (fun, least) = 5, EXACT[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    c = rng.choice([0.0, 1.0, -1.0, 0.1, 1 / 3, -7.25, 1e-300, 5e-324], n)
    f, held = infimum.compile(lambda x: fun(x - c), n), 0
    least = value(infimum.compile(fun, n).f, np.zeros(n), 200) if least is None else arb(least)
    for k in range(12):
        widths = rng.choice((0.0, 1e-3, 1.0, 48.0), (2, n))
        gap = rng.choice((0.0, 0.0, 1e-16, 1e-9, 1e-3, 0.5, 2.0, 64.0), (2, n))
        low, high = c - widths[0], c + widths[1]
        lo, hi = np.maximum(c - gap[0], low), np.minimum(c + gap[1], high)
        s = Lanes(f, low, high, lo, hi, k % 3, partition=(3, 4), points=2)
        holds = ((s.box_lo <= c[:, None]) & (c[:, None] <= s.box_hi)).all(axis=0)
        assert holds.any() and not s.dead[holds].any(), (low, high, lo, hi)
        assert not any(least < arb(float(v)) for v in s.lower[holds] if v > -INF)
        assert not any(least > arb(float(v)) for v in s.upper if v < INF)
        held += holds.sum()
    assert held >= 12


def test_only_a_strict_sign_kills_and_only_inside_the_bounds():
    def dead(fun: Callable, bounds: tuple[float, float], box: tuple[float, float]) -> list[float]:
        f = infimum.compile(lambda x: fun(x[0]) + 0 * x[1], 2)
        return Lanes(f, [bounds[0], 0], [bounds[1], 1], [box[0], 0], [box[1], 1], 0, partition=(1, 4)).dead.tolist()
    above, below = float(np.nextafter(0.0, 1)), float(np.nextafter(4.0, 0))
    assert dead(lambda y: y, (0, 4), (0, 4)) == [0, 1, 1, 1] and dead(lambda y: -y, (0, 4), (0, 4)) == [1, 1, 1, 0]
    assert dead(lambda y: y, (0, 4), (above, 4)) == [1] * 4 and dead(lambda y: -y, (0, 4), (0, below)) == [1] * 4
    assert dead(lambda y: y, (0, 4), (0, 0)) == [0] * 4, "four times the same point, on the bound"
    assert dead(lambda y: y**2, (-4, 4), (0, 4)) == [0, 1, 1, 1] and dead(np.abs, (-4, 4), (-4, 4)) == [1, 0, 0, 1]
    assert dead(lambda y: 0 * y, (-4, 4), (0, 4)) == [0] * 4 and dead(lambda y: y**3, (-4, 4), (-2, 2)) == [1, 0, 0, 1]
    assert dead(lambda y: np.floor(y) + y, (-4, 4), (-1, 3)) == [0] * 4, "not Lipschitz"
    assert dead(np.log, (-4, 4), (-2, 2)) == [1, 1, 0, 1], "empty up to 0, where the logarithm is no value"
    assert dead(np.sqrt, (-4, 4), (-2, 2)) == [1, 0, 0, 1], "defined at 0 only, and there it is least"


# ---- bits
@pytest.mark.parametrize("name", ("levy", "kinks", "partial"))
def test_the_bits_are_the_definitions(name, all_threads_work):  # noqa: F811
    """The context and the lanes, for every number of lanes and threads."""
    n, plan = 5, {"partition": (3, 4), "points": 2}
    fun, low, high = compiled(name, n)
    lo, hi = low + (high - low) * 0.25, high - (high - low) * 0.125
    some = [0, 7, 22, 41, 63]

    def lanes(backend: Any, numbers: list[int]) -> Lanes:
        return Lanes(Evaluator(fun.f, n, backend), low, high, lo, hi, 1, numbers, **plan)
    wanted = lanes(PythonBackend(), some)
    assert wanted.context and len(np.unique(wanted.out)) > 8
    for width in host().widths():
        for threads in (1, 2):
            for numbers in (some, some[:1], some * 5):
                found = lanes(CpuBackend(lanes=width, threads=threads), numbers)
                expected = np.tile(wanted.out, 5)[:, :len(numbers)]
                assert same_bits(found.out, np.ascontiguousarray(expected)).all(), (width, threads)
                assert all(same_bits(a, b).all() for a, b in zip(found.context, wanted.context, strict=True))
