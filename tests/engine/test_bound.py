"""The kernel of branch and bound against Arb: nothing below LOWER or above UPPER, no lost minimiser, the definition's bits."""

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
from infimum.bounds.function_bounds.first_order_kernel import AXIS, DISCARD, FACTS, LEVEL, LO, LOWER, UPPER
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import BOUND
from infimum.interval.pair import DEFINED, LIPSCHITZ, SMOOTH, UNDEFINED
from infimum.ops.vocabulary import OPS
from tests.oracle import walk
from tests.oracle.arb_series import along
from tests.oracle.arb_values import PRECISIONS, precision, value
from tests.oracle.boxes import MAX, coordinates, points_of, random_boxes
from tests.oracle.campaign import generated
from tests.oracle.check import Checker, position
from tests.oracle.generate import NO_DERIVATIVE, NO_STATUS, operations
from tests.oracle.walk import UNDECIDED, Special

NEVER = NO_DERIVATIVE | NO_STATUS
INF = np.inf


class Bounds:
    """What the kernel says of the boxes [lo, hi] (n, N) within the user's bounds [low, high] (n,)."""

    def __init__(self, f: Evaluator, lo: Any, hi: Any, low: Any, high: Any, kind: str = BOUND):
        self.lo, self.hi = (np.ascontiguousarray(np.array(a, dtype=float).reshape(f.n, -1)) for a in (lo, hi))
        self.low, self.high = (np.array(a, dtype=float).reshape(f.n) for a in (low, high))
        self.out = f.run(kind, [self.lo, self.hi], parameters=np.concatenate([self.low, self.high, np.arange(f.n, dtype=float)]))
        self.kind = kind
        self.lower, (self.new_lo, self.new_hi, self.point) = self.out[LOWER][0], self.out[LO:FACTS]
        facts = self.out[FACTS]
        self.discard, self.axis, self.upper, self.level = (facts[k] for k in (DISCARD, AXIS, UPPER, LEVEL))


def bound(f: "Callable | Evaluator", bounds: Any, box: Any = None) -> Bounds:
    """The kernel on one box (the whole of the bounds if none is given), each a list of pairs."""
    low, high = np.array(bounds, dtype=float).T
    lo, hi = (low, high) if box is None else np.array(box, dtype=float).T
    return Bounds(f if isinstance(f, Evaluator) else infimum.compile(f, len(low)), lo, hi, low, high)


def reduced(b: Bounds, k: int = 0) -> list[tuple[float, float]]:
    return list(zip(b.new_lo[:, k].tolist(), b.new_hi[:, k].tolist(), strict=True))


# ---- claims held against Arb
class Judge:
    """Holds everything the kernel claims against Arb at points of the boxes; a claim fails only by a certain contradiction."""

    def __init__(self, checker: Checker):
        self.c, self.values, self.discards, self.faces, self.uppers = checker, 0, 0, 0, 0

    def judge(self, b: Bounds, points: list[np.ndarray]) -> None:
        self.well_formed(b)
        for k in range(b.lo.shape[1]):
            lo, hi = b.lo[:, k], b.hi[:, k]
            balls = [self.c._settled(p, float(b.lower[k]), INF) for p in points[k]]
            if b.level[k] >= DEFINED and any(v is walk.UNDEFINED for v in balls):
                self.c.fail("said to be defined, but it is not", lo, hi, points[k][balls.index(walk.UNDEFINED)])
            known = [(p, v) for p, v in zip(points[k], balls, strict=True) if not isinstance(v, Special)]
            self.values += len(known)
            for p, v in known:
                if position(v, float(b.lower[k]), INF) < 0:
                    self.c.fail(f"LOWER {b.lower[k]!r} is above the value {v.str(30)}", lo, hi, p)
            self.upper(b, k)
            if b.discard[k]:
                self.discards += 1
                self.discarded(b, k, [p for p, _ in known])
            for i in np.flatnonzero((b.new_lo[:, k] != lo) | (b.new_hi[:, k] != hi)):
                self.faces += 1
                self.face(b, k, int(i), [p for p, _ in known])

    def well_formed(self, b: Bounds) -> None:
        """What needs no oracle."""
        natural = self.c.evaluator.gradient(b.lo, b.hi).value
        assert not any(np.isnan(a).any() for a in b.out)
        assert np.isin(b.discard, (0.0, 1.0)).all() and (b.level >= natural.level).all()
        assert (b.discard[natural.empty] == 1).all() and (b.lower >= natural.lo)[~natural.empty].all() and (b.lower < INF).all()
        assert (b.lo <= b.new_lo).all() and (b.new_lo <= b.new_hi).all() and (b.new_hi <= b.hi).all()
        assert (b.lo <= b.point).all() and (b.point <= b.hi).all() and np.isfinite(b.point).all()
        moved = (b.new_lo != b.lo) | (b.new_hi != b.hi)
        face = np.where(b.new_lo != b.lo, b.new_lo, b.new_hi)[moved]
        edge = np.where(b.new_lo != b.lo, b.high[:, None], b.low[:, None])[moved]
        assert (face == edge).all() and np.isfinite(face).all() and (b.new_lo == b.new_hi)[moved].all()
        assert not (moved.any(axis=0) & (b.level < LIPSCHITZ)).any()
        if b.kind == BOUND:  # by pieces more may be seen to be defined, or to be defined nowhere
            assert (b.level == natural.level).all()
            assert not ((b.discard > 0) & ~natural.empty & (b.level < LIPSCHITZ)).any()
        unbounded = ~(np.isfinite(b.lo) & np.isfinite(b.hi)).all(axis=0)
        assert not ((b.discard > 0) & ~natural.empty & unbounded & (b.level >= DEFINED)).any()
        wide = b.new_lo < b.new_hi
        axis = b.axis.astype(int)
        assert (axis == b.axis).all() and (axis >= 0).all() and (axis < len(b.lo)).all()
        assert wide[axis, np.arange(len(axis))][wide.any(axis=0)].all()

    def upper(self, b: Bounds, k: int) -> None:
        if b.upper[k] == INF:
            return
        self.uppers += 1
        v = self.c._settled(b.point[:, k], -INF, float(b.upper[k]))
        if v is walk.UNDEFINED or (v is not UNDECIDED and position(v, -INF, float(b.upper[k])) < 0):
            self.c.fail(f"UPPER {b.upper[k]!r} is below the value {v} at POINT", b.lo[:, k], b.hi[:, k], b.point[:, k])

    def discarded(self, b: Bounds, k: int, points: list[np.ndarray]) -> None:
        """Some variable leads downhill, out of the box and not out of the bounds, from every point."""
        lo, hi = b.lo[:, k], b.hi[:, k]
        if b.level[k] < LIPSCHITZ:
            if points:
                self.c.fail("discarded as empty, but the function has a value", lo, hi, points[0])
            return
        if not np.isfinite([lo, hi]).all():
            self.c.fail("an unbounded box was discarded by its derivatives", lo, hi)
        ways = [(i, -1.0) for i in range(self.c.n) if lo[i] > b.low[i]] + [(i, 1.0) for i in range(self.c.n) if hi[i] < b.high[i]]
        for p in points:
            ways = [(i, side) for i, side in ways if self.falls(p, i, side)]
        if not ways:
            self.c.fail("discarded, but no variable leads downhill", lo, hi, details=f"bounds {b.low} {b.high}")

    def falls(self, p: np.ndarray, i: int, side: float) -> bool:
        """Not certainly refuted: f falls from p along side * e_i."""
        direction = np.zeros(self.c.n)
        direction[i] = side
        for bits in PRECISIONS[:2]:
            jet = along(self.c.meant, p, direction, bits, self.c.fraction)
            if isinstance(jet, Special) or jet.s.prec < 2:
                continue
            if jet.s[1] < 0:
                return True
            if jet.s[1] >= 0:
                return False
        return True

    def face(self, b: Bounds, k: int, i: int, points: list[np.ndarray]) -> None:
        """Every point of the box has a lower one straight across, on the face."""
        lo, hi, at = b.lo[:, k], b.hi[:, k], b.new_lo[i, k]
        if at != (b.low[i] if at == lo[i] else b.high[i]):
            self.c.fail(f"reduced x[{i}] to {at!r}, which is no bound", lo, hi)
        for p in points:
            q = p.copy()
            q[i] = at
            if q[i] != p[i] and self.order(q, p) >= 0:
                self.c.fail(f"reduced x[{i}] to {at!r}, but the value there is not below", lo, hi, p)

    def order(self, q: np.ndarray, p: np.ndarray) -> int:
        """The sign of f(q) - f(p), as far as it is certain: -1 where nothing is."""
        for bits in PRECISIONS:
            one, two = (value(self.c.meant, x, bits, self.c.fraction) for x in (q, p))
            if not isinstance(one, Special) and not isinstance(two, Special):
                with precision(bits):
                    if one - two < 0 or one - two >= 0:
                        return -1 if one - two < 0 else 1
        return -1


def within(rng: np.random.Generator, low: np.ndarray, high: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes inside the bounds: the whole, one side of a point, between points, a point, one ulp, a face."""
    lo, hi = np.empty((len(low), count)), np.empty((len(low), count))
    for k in range(count):
        usual = rng.integers(9)
        for i, (a, b) in enumerate(zip(low.tolist(), high.tolist(), strict=True)):
            some = coordinates(rng, a, b)
            m, other = (float(some[j]) for j in rng.integers(len(some), size=2))
            first, last = max(a, -MAX), min(b, MAX)
            lo[i, k], hi[i, k] = (
                (a, b), (a, m), (m, b), (min(m, other), max(m, other)), (m, m), (m, min(math.nextafter(m, INF), last)),
                (first, first), (last, last), (max(m - 1e-3, a), min(m + 1e-3, b)))[usual if k % 2 else rng.integers(9)]
    return lo, hi


def judge_one(seed: int, users: int, boxes: int, per_box: int, must: str | None = None, n: int | None = None,
              kind: str = BOUND) -> Judge | None:
    """One random expression, in several bounds; None if it has no derivative."""
    checker, rng = generated(seed, must, n)
    if set(operations(checker.expr)) & NEVER or set(operations(checker.meant)) & NEVER or checker.n > 8:
        return None
    judge = Judge(checker)
    low, high = random_boxes(rng, checker.n, users)
    gentle = rng.random(users) < 0.4  # where most functions are defined and have derivatives of one sign
    low[:, gentle] = rng.uniform(-2, 2, size=(checker.n, gentle.sum()))
    high[:, gentle] = low[:, gentle] + rng.choice((1e-9, 1e-3, 0.3, 1.0, 4.0), size=(checker.n, gentle.sum()))
    for u in np.flatnonzero((low <= high).all(axis=0) & (low < INF).all(axis=0) & (high > -INF).all(axis=0)):
        lo, hi = within(rng, low[:, u], high[:, u], boxes)
        points = [points_of(rng, lo[:, k], hi[:, k], per_box) for k in range(boxes)]
        judge.judge(Bounds(checker.evaluator, lo, hi, low[:, u], high[:, u], kind), points)
    return judge


def judge_some(seed: int, **how: Any) -> None:
    """The first expression with a derivative, of this seed and others: something is held against Arb."""
    found = next(judge for k in range(20) if (judge := judge_one(seed + 1000 * k, **how)) is not None)
    assert found.values or found.discards


@pytest.mark.parametrize("seed", range(40))
def test_random_expressions(seed):
    judge_some(seed, users=6, boxes=10, per_box=4)


OFTEN = ("abs", "max", "min", "norm", "hypot", "amax", "where", "le", "eq", "sign", "floor", "ceil", "sqrt", "cbrt", "log",
         "log1p", "pow", "powi", "div", "arctan2", "arcsin", "arccosh", "tan", "exp", "sinh", "prod", "gather")


@pytest.mark.parametrize("op", OFTEN)
def test_random_expressions_with_an_edge_or_a_kink(op):
    """Until values were compared and derivatives have discarded or reduced some boxes."""
    first, values, proofs = zlib.crc32(op.encode()) % 10**6, 0, 0
    for seed in range(first, first + 40):
        found = judge_one(seed, users=5, boxes=10, per_box=3, must=op)
        if found is not None and op in operations(found.c.expr):
            values, proofs = values + found.values, proofs + found.discards + found.faces
        if values >= 150 and proofs >= 5:
            return
    raise AssertionError(f"{op} hardly occurs: {values} values, {proofs} proofs")


def test_every_operation_named_here_exists():
    assert set(OFTEN) <= set(OPS)


# ---- the counter-examples of the design: [0, 1] within wider bounds, where the derivative alone would discard the minimiser
EDGES = {
    "a root times zero": (lambda x: x[0] + x[1] * np.sqrt(x[0]), [(-1, 1), (0, 0)], [(0, 1), (0, 0)], (0.0, 0.0)),
    "a root times a difference": (lambda x: x[0] + (x[1] - 3) * np.sqrt(x[0]), [(-1, 1), (3, 3)], [(0, 1), (3, 3)], (0.0, 3.0)),
    "x to 1.5": (lambda x: x[0] ** 1.5 + x[0], [(-1, 1)], [(0, 1)], (0.0,)),
    "x to 1.5, at a point": (lambda x: x[0] ** 1.5 + x[0], [(-1, 1)], [(0, 0)], (0.0,)),
    "x to 1.5, whole": (lambda x: x[0] ** 1.5 + x[0], [(-1, 1)], [(-1, 1)], (0.0,)),
    "a logarithm in the other branch": (lambda x: np.where(x[0] >= 1, x[0], np.log(x[0] - 5)), [(0, 3)], [(1, 2)], (1.0,)),
    "a jump on the face": (lambda x: np.where(x[0] < 0, 5.0, x[0]), [(-1, 1)], [(0, 1)], (0.0,)),
    "a step on the face": (lambda x: x[0] - 3 * np.floor(x[0]), [(0, 1.5)], [(1, 1.5)], (1.0,)),
    "a sign on the face": (lambda x: x[0] - 3 * np.sign(x[0]) ** 2 - np.sign(x[0]), [(-1, 1)], [(0, 0.5)], None),
    "defined at one point": (lambda x: x[0] + np.sqrt(-((x[0] - 1) ** 2)), [(0, 2)], [(1, 1)], (1.0,)),
    "a cancelled argument": (lambda x: x[0] + np.sqrt((1 - x[0]) - (1 - x[0]) ** 2 - 1 + x[0]), [(0, 2)], [(1, 1)], (1.0,)),
    "an arc sine at its edge": (lambda x: np.arcsin(x[0]) + x[0], [(-2, 2)], [(-1, 1)], (-1.0,)),
    "an area cosine at its edge": (lambda x: np.arccosh(x[0]) + x[0], [(0, 2)], [(1, 2)], (1.0,)),
    "an entropy": (lambda x: x[0] + 0 * np.log(x[0] - 1), [(0, 3)], [(1, 2)], None),
    "a quotient at its pole": (lambda x: x[0] + 0 / x[0], [(-1, 1)], [(0, 1)], None),
    "the angle at its cut": (lambda x: np.arctan2(-x[0], -1.0), [(-1, 1)], [(0, 1)], (5e-324,)),
    "a negative power": (lambda x: x[0] + 0 * x[0] ** -2, [(-1, 1)], [(0, 1)], None),
}


@pytest.mark.parametrize("name", EDGES)
def test_where_the_derivative_alone_would_lie(name):
    f, bounds, box, minimiser = EDGES[name]
    b = bound(f, bounds, box)
    assert b.discard[0] == 0 and b.level[0] <= DEFINED
    assert reduced(b) == [tuple(map(float, side)) for side in box], "no reduction without `lipschitz`"
    if minimiser is not None:
        v = value(infimum.compile(f, len(bounds)).f, minimiser, 200)
        assert position(v, float(b.lower[0]), INF) == 1


@pytest.mark.parametrize(("f", "box"), [
    (lambda x: np.abs(x[0]), [(0, 1)]), (lambda x: np.abs(x[0]), [(-1, 0)]), (lambda x: np.abs(x[0]), [(0, 0)]),
    (lambda x: np.abs(x[0]), [(-0.0, 5e-324)]), (lambda x: np.maximum(x[0], -x[0]), [(0, 1)]),
    (lambda x: np.maximum(x[0], 0 * x[0]), [(-1, 0)]), (lambda x: np.maximum(-x[0], 2 * x[0]), [(-1, 0)]),
    (lambda x: np.linalg.norm(x), [(0, 1), (0, 1)]), (lambda x: np.linalg.norm(x), [(0, 0), (-1, 0)]),
    (lambda x: np.hypot(x[0], x[1]), [(0, 1), (0, 0)]), (lambda x: np.max(np.abs(x)), [(0, 1), (-1, 0)]),
    (lambda x: np.sqrt(np.sum(x**2)), [(0, 1), (0, 1)]), (lambda x: np.sum(np.clip(x, 0, 1)), [(0, 1), (-1, 0)]),
    (lambda x: np.ptp(x), [(0, 1), (0, 1)])])
def test_kinks_hold_their_minimiser(f, box):
    """0 is a minimiser and the end of every side."""
    b = bound(f, [(-2, 3)] * len(box), box)
    assert b.level[0] == LIPSCHITZ and b.discard[0] == 0 and b.lower[0] <= 0
    assert all(lo <= 0 <= hi for lo, hi in reduced(b))


def test_a_kink_beside_the_box_does_not_hold_it():
    for f, gap in ((lambda x: np.abs(x[0]), 5e-324), (lambda x: np.maximum(-x[0], 2 * x[0]), 5e-324), (np.linalg.norm, 1e-160)):
        assert bound(f, [(-2, 3)], [(gap, 1)]).discard[0] == 1
        assert bound(f, [(-2, 3)], [(-1, -gap)]).discard[0] == 1


# ---- faces
def test_a_monotone_function_keeps_its_corner_only():
    f = infimum.compile(lambda x: 3 * x[0] + np.exp(-x[1]) + np.arctan(x[2]) * 0.5 + x[2], 3)
    bounds = [(-1, 2), (0, 4), (-2, -1)]
    whole = bound(f, bounds)
    assert reduced(whole) == [(-1, -1), (4, 4), (-2, -2)] and whole.discard[0] == 0
    at_corner = bound(f, bounds, [(-1, 0), (3, 4), (-2, -1.5)])
    assert reduced(at_corner) == [(-1, -1), (4, 4), (-2, -2)] and at_corner.discard[0] == 0
    above = np.nextafter(-1.0, 2), np.nextafter(4.0, 0), np.nextafter(-2.0, 0)  # one ulp off is not on the bound
    for box in ([(above[0], 0), (3, 4), (-2, -1)], [(-1, 0), (3, above[1]), (-2, -1)], [(-1, 0), (3, 4), (above[2], -1)]):
        assert bound(f, bounds, box).discard[0] == 1
    assert bound(f, bounds, [(-1, -1), (4, 4), (-2, -2)]).discard[0] == 0


def test_only_a_strict_sign_counts():
    assert bound(lambda x: x[0] ** 2, [(-1, 2)], [(0, 1)]).discard[0] == 0
    assert bound(lambda x: -(x[0] ** 2), [(-1, 2)], [(0, 1)]).discard[0] == 0
    assert bound(lambda x: 0 * x[0], [(-1, 2)], [(0, 1)]).discard[0] == 0
    assert bound(lambda x: x[0] ** 3, [(-1, 2)], [(0, 1)]).discard[0] == 0
    assert bound(lambda x: x[0] ** 2, [(-1, 2)], [(5e-324, 1)]).discard[0] == 1
    whole = bound(lambda x: np.maximum(x[0], 0), [(-1, 2)])
    assert reduced(whole) == [(-1, 2)] and whole.discard[0] == 0


def test_a_flat_variable_keeps_its_width():
    b = bound(lambda x: x[0] + 0 * x[1], [(0, 1), (0, 2)])
    assert reduced(b) == [(0, 0), (0, 2)] and b.axis[0] == 1


@pytest.mark.parametrize(("f", "bounds", "box"), [
    (lambda x: x[0], [(-INF, 5)], [(-INF, 5)]), (lambda x: -x[0], [(0, INF)], [(0, INF)]),
    (lambda x: np.arctan(x[0]), [(-INF, INF)], [(-INF, INF)]), (lambda x: np.exp(x[0]), [(-INF, 0)], [(-INF, -3)]),
    (lambda x: np.exp(-x[0]) + 0 * x[1], [(0, INF), (0, 1)], [(2, INF), (0, 1)]),
    (lambda x: x[0] + np.exp(-x[1]), [(0, 1), (0, INF)], [(0.5, 1), (3, INF)]),
    (lambda x: -x[0] + np.arctan(x[1]), [(0, 1), (-INF, 0)], [(0, 0.5), (-INF, -3)])])
def test_an_unbounded_box_is_neither_discarded_nor_reduced_to_infinity(f, bounds, box):
    b = bound(f, bounds, box)
    assert b.discard[0] == 0 and b.level[0] == SMOOTH
    for (lo, hi), (new_lo, new_hi) in zip(box, reduced(b), strict=True):
        assert new_lo < INF and new_hi > -INF and (new_lo, new_hi) == (lo, hi)


def test_an_unbounded_box_is_reduced_to_a_finite_face():
    b = bound(lambda x: np.exp(x[0]) + np.exp(-x[1]), [(0, INF), (0, INF)])
    assert reduced(b) == [(0, 0), (0, INF)] and b.discard[0] == 0 and b.lower[0] == 1
    assert bound(lambda x: np.exp(x[0]) + np.exp(-x[1]), [(0, INF), (0, INF)], [(1, 2), (1, 2)]).discard[0] == 1


def test_what_is_empty_is_discarded_and_only_that():
    f = infimum.compile(lambda x: np.log(x[0]) + x[1], 2)
    bounds = [(-3, 2), (0, 1)]
    assert bound(f, bounds, [(-3, -1), (0, 1)]).discard[0] == 1
    assert bound(f, bounds, [(-3, 0), (0, 1)]).discard[0] == 1, "log(0) is no value"
    assert bound(f, bounds, [(-3, 5e-324), (0, 1)]).discard[0] == 0
    assert bound(lambda x: np.sqrt(x[0]), [(-3, 2)], [(-3, 0)]).discard[0] == 0
    assert bound(lambda x: np.log(x[0]), [(-INF, 2)], [(-INF, -1)]).discard[0] == 1
    nothing = bound(f, bounds, [(-1, -1), (0, 1)])
    assert nothing.upper[0] == INF and nothing.level[0] == UNDEFINED


# ---- minimisers that are known exactly: c, in any bounds around it
def _centres(n: int, rng: np.random.Generator) -> np.ndarray:
    pool = np.array([0.0, -0.0, 1.0, -1.0, 0.1, 1 / 3, -7.25, 1e-300, 5e-324, -1e-160, 1e10])
    return np.where(rng.random(n) < 0.6, rng.choice(pool, n), rng.normal(size=n))


EXACT: dict[str, tuple[Callable, float]] = {  # a function of x - c with the least value at 0, and that value
    "squares": (lambda d: np.sum(d**2), 0.0), "absolute values": (lambda d: np.sum(np.abs(d)), 0.0),
    "norm": (lambda d: np.linalg.norm(d), 0.0), "largest": (lambda d: np.max(np.abs(d)), 0.0),
    "fourth powers": (lambda d: np.sum(d**4) + 3, 3.0), "root of squares": (lambda d: np.sqrt(np.sum(d**2)), 0.0),
    "exponential": (lambda d: np.exp(np.sum(d * d)), 1.0), "well": (lambda d: -1 / (1 + np.sum(d**2)), -1.0),
    "skew": (lambda d: np.sum(np.maximum(-d, 3 * d)), 0.0), "branches": (lambda d: np.sum(np.where(d < 0, -d, 2 * d)), 0.0),
    "roots": (lambda d: np.sum(np.sqrt(np.abs(d))), 0.0), "cosines": (lambda d: -np.sum(np.cos(d)) + 0.5 * np.sum(d * d), None),
    "cusps": (lambda d: np.sum(np.cbrt(np.abs(d)) + np.abs(d)), 0.0), "step": (lambda d: np.sum(np.sign(d) ** 2 + d**2), 0.0),
    "holes": (lambda d: np.sum(np.where(d == 0, -1.0, d**2)), None),
    "hypot": (lambda d: np.hypot(d[0], d[-1]) + np.sum(d**2), 0.0),
    "cosh": (lambda d: np.sum(np.cosh(d)), None), "bowl": (lambda d: np.log(1 + np.sum(np.abs(d) ** 1.5)), 0.0),
}


def around(rng: np.random.Generator, c: np.ndarray, low: np.ndarray, high: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """60 boxes within the bounds that hold c: in a corner, on a face, one ulp away, as a point, or inside."""
    shape = (len(c), 60)
    gap = rng.choice((0.0, 0.0, 5e-324, 1e-16, 1e-9, 1e-3, 0.4, 100.0), (2, *shape))
    lo, hi = c[:, None] - gap[0], c[:, None] + gap[1]
    lo = np.where(rng.random(shape) < 0.1, np.nextafter(c, -INF)[:, None], lo)
    hi = np.where(rng.random(shape) < 0.1, np.nextafter(c, INF)[:, None], hi)
    lo, hi = np.where(rng.random(shape) < 0.1, low[:, None], lo), np.where(rng.random(shape) < 0.1, high[:, None], hi)
    return np.maximum(lo, low[:, None]), np.minimum(hi, high[:, None])


@pytest.mark.parametrize("n", (1, 2, 3, 40))
@pytest.mark.parametrize("name", EXACT)
def test_a_known_minimiser_is_never_lost(name, n):
    f, least = EXACT[name]
    rng = np.random.default_rng(n + zlib.crc32(name.encode()) % 1000)
    c = _centres(n, rng)
    e = infimum.compile(lambda x: f(x - c), n)
    if least is None:
        at_zero = value(infimum.compile(f, n).f, np.zeros(n), 200)
    else:
        at_zero = arb(least)
    widths = rng.choice((0.0, 1e-3, 1.0, 50.0, INF), (2, 3, n))
    for low, high in zip(c - widths[0], c + widths[1], strict=True):
        lo, hi = around(rng, c, low, high)
        b = Bounds(e, lo, hi, low, high)
        assert not b.discard.any(), (low, high, lo[:, b.discard > 0][:, :1], hi[:, b.discard > 0][:, :1])
        assert (b.new_lo <= c[:, None]).all() and (c[:, None] <= b.new_hi).all()
        for k in range(b.lo.shape[1]):
            assert position(at_zero, float(b.lower[k]), INF) >= 0 and (b.upper[k] == INF or not at_zero > arb(b.upper[k]))


@pytest.mark.parametrize("name", EXACT)
def test_a_box_beside_a_known_minimiser_is_discarded(name):
    f = infimum.compile(EXACT[name][0], 1)
    assert bound(f, [(-4, 4)], [(1, 2)]).discard[0] == 1 and bound(f, [(-4, 4)], [(-2, -1)]).discard[0] == 1


@cache
def gallery_case(name: str) -> tuple[problems.GalleryProblem, Evaluator]:
    p = problems.get(name)
    return p, infimum.compile(p.fun, p.n)


GALLERY = [p.name for p in problems.all_problems() if not p.scalable and p.n <= 4][::3]


@pytest.mark.parametrize("name", GALLERY)
def test_no_minimiser_of_the_gallery_is_lost(name):
    """Boxes that hold the small box around a minimiser hold the minimiser."""
    p, f = gallery_case(name)
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    for small in p.minimisers[:4]:
        gap = rng.choice((0.0, 1e-9, 1e-4, 0.05, 1.0), (2, p.n, 60)) * (p.hi - p.lo)[:, None]
        lo = np.maximum(small[0][:, None] - gap[0], p.lo[:, None])
        hi = np.minimum(small[1][:, None] + gap[1], p.hi[:, None])
        b = Bounds(f, lo, hi, p.lo, p.hi)
        assert not b.discard.any()
        assert (b.new_lo <= small[1][:, None]).all() and (b.new_hi >= small[0][:, None]).all()
        assert (b.lower <= p.minimum.hi).all() and (b.upper >= p.minimum.lo).all()
