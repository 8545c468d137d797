"""The kernels of dynamic programming: what they say of terms on cells, held against Arb; and the definition's bits."""

import zlib
from collections import Counter

import numpy as np
import pytest
from flint import arb

from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.chains.cell_kernels import AT_CENTRE, FACTS, FROM, NATURAL, TO, UNSHIFTED, steep_terms
from infimum.chains.grid import Slices
from infimum.evaluation.evaluator import Evaluator
from infimum.evaluation.programs import CELLS, SECOND_ORDER_BOUND, SHIFTED_BOUND, STEEP_TERMS, ProgramKind
from infimum.expr.build import build, index
from infimum.expr.node import Expr, const, var
from infimum.problem.unions import widths
from infimum.structure.term_sums import C, X, substituted
from infimum.trace.trace import trace
from tests.oracle.arb_values import PRECISIONS, precision, settled_value
from tests.oracle.boxes import points_of, random_boxes
from tests.oracle.generate import NO_DERIVATIVE, Generator, operations
from tests.oracle.walk import Special
from tests.random_kernels import same_bits

INF = np.inf


class Cells:
    """What the kernels say of a term on cells [lo, hi] (k, N), with slopes chosen at random."""

    def __init__(self, f: Expr, lo: np.ndarray, hi: np.ndarray, rng: np.random.Generator, constants: np.ndarray | None = None,
                 backend: object = None):
        k = len(lo)
        self.lo, self.hi, e = lo, hi, Evaluator(f, k, backend)
        more = [] if constants is None else [constants]
        slices = Slices(lo.reshape(-1), hi.reshape(-1), np.array([0, lo.size]))
        self.centre, self.rad = (a.reshape(lo.shape) for a in (slices.centre, slices.rad))
        m = 0 if constants is None else len(constants) // 2
        self.found = e.run(ProgramKind.of(CELLS, constants=m), [lo, hi, self.centre, *more])
        with np.errstate(invalid="ignore"):
            middle = self.found[FROM] * 0.5 + self.found[TO] * 0.5
        scale = rng.choice((0.0, 1e-3, 1.0, 1e10), size=lo.shape)
        self.slopes = np.where(np.isfinite(middle) & (rng.random(lo.shape) < 0.7), middle, rng.normal(size=lo.shape) * scale)
        self.shifted = e.run(SHIFTED_BOUND, [*self.found, np.concatenate([self.rad, self.slopes])])[0][0]
        self.bent = e.run(ProgramKind.of(SECOND_ORDER_BOUND, constants=m), [lo, hi, self.centre, self.slopes, *more])[0][0]
        self.steep = e.run(ProgramKind.of(STEEP_TERMS, constants=m), [lo, hi, *more])[0][0] if steep_terms(f) else None

    def hold(self, u: int, p: np.ndarray, v: arb, counts: Counter) -> None:
        """At a point p of cell u the term has the value v."""
        facts = self.found[FACTS][:, u]
        assert not np.isnan(facts).any() and not np.isnan(self.found[FROM][:, u]).any()
        assert not_below(v, facts[NATURAL]), "the natural bound"
        assert not_below(v, -facts[UNSHIFTED]), "the bound without slopes"
        if self.steep is not None and not np.isnan(self.steep[u]):
            assert not_below(v, -self.steep[u]), "the bound by slices of roots"
            counts["steep"] += bool(-self.steep[u] > facts[NATURAL])
        with precision(PRECISIONS[1]):
            linear = sum((arb(float(s)) * (arb(float(x)) - arb(float(c))) for s, x, c in
                          zip(self.slopes[:, u], p, self.centre[:, u], strict=True)), arb(0))
            if not np.isnan(self.shifted[u]):
                assert not_below(v - linear, -self.shifted[u]), "the bound with slopes"
            assert not_below(v - linear, -self.bent[u]), "the bound by second derivatives"
        if (p == self.centre[:, u]).all():
            assert not_below(v, facts[AT_CENTRE]), "the value at the centre"
        counts["values"] += 1
        counts["mean value"] += bool(-facts[UNSHIFTED] > facts[NATURAL])
        counts["shifted"] += bool(self.slopes[:, u].any())
        counts["bent"] += bool(self.bent[u] < self.shifted[u])


def not_below(v: arb, bound: float) -> bool:
    """Not certainly so."""
    return bool(bound == -INF or (bound < INF and not v < arb(float(bound))))


def held(f: Expr, meant: Expr, cells: Cells, rng: np.random.Generator, per_cell: int = 5) -> Counter:
    counts: Counter = Counter()
    for u in range(cells.lo.shape[1]):
        points = np.concatenate([points_of(rng, cells.lo[:, u], cells.hi[:, u], per_cell), cells.centre[:, u][None]])
        for p in points:
            v = settled_value(meant, p)
            if not isinstance(v, Special):
                cells.hold(u, p, v, counts)
    return counts


def random_cells(rng: np.random.Generator, k: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Bounded ones, some of which are points in some variables."""
    lo, hi = random_boxes(rng, k, count)
    wild = ~(np.isfinite(widths(lo, hi)).all(axis=0) & (lo <= hi).all(axis=0)) | (rng.random(count) < 0.6)
    lo[:, wild] = rng.integers(-16, 17, (k, wild.sum())) / 8
    hi[:, wild] = lo[:, wild] + rng.choice((0.0, 1e-9, 2.0**-10, 0.125, 1.0, 4.0), size=(k, wild.sum()))
    return lo, hi


def test_random_terms():
    counts: Counter = Counter()
    for seed in range(40):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, 4))
        twin = Generator(rng, k).scalar(int(rng.integers(1, 4)))
        if (set(operations(twin.built)) | set(operations(twin.meant))) & NO_DERIVATIVE:
            continue
        cells = Cells(twin.built, *random_cells(rng, k, 12), rng)
        try:
            counts += held(twin.built, twin.meant, cells, rng)
        except AssertionError as error:
            raise AssertionError(f"seed {seed}: {error}") from error
    assert counts["values"] > 500 and counts["mean value"] > 50 and counts["shifted"] > 300, counts
    assert counts["bent"] > 50, counts


# the term, and cells that are hard for it
WRITTEN = {
    "a kink": (lambda x: np.abs(x[0] - 0.25) + np.maximum(x[1], -x[0]), [(0.25, 0.5), (0, 0.5)]),
    "a pole": (lambda x: 1 / x[0] + x[1], [(0, 1), (0, 1)]),
    "a pole inside": (lambda x: x[1] / x[0] ** 2, [(-1, 1), (0, 1)]),
    "an edge": (lambda x: np.sqrt(x[0]) - x[1], [(0, 1), (0, 1)]),
    "partly undefined": (lambda x: np.sqrt(x[0] - x[1]) * x[1], [(-1, 1), (-1, 0.5)]),
    "undefined": (lambda x: np.log(x[0]) + x[1], [(-1, -0.5), (0, 1)]),
    "undefined at all points but one": (lambda x: np.sqrt(-((x[0] - x[1]) ** 2)), [(0, 1), (0, 1)]),
    "a jump": (lambda x: np.floor(x[0]) + np.where(x[1] < 0.5, x[0], -3.0), [(0, 1), (0, 1)]),
    "a condition on an undefined part": (lambda x: np.where(np.log(x[0]) < 1, x[1] - 5, x[0]), [(-1, 1), (0, 1)]),
    "a condition on a pole": (lambda x: np.where(1 / x[0] < 2, x[1] - 5, x[0]), [(-1, 1), (0, 1)]),
    "a root inside": (lambda x: x[1] * np.sin(np.sqrt(np.abs(x[1] + x[0] / 2 + 47))), [(-512, 512), (-512, 512)]),
    "a root at a kink": (lambda x: -np.sin(np.sqrt(np.abs(x[0] - x[1]))) * x[0], [(0, 1), (0, 1)]),
    "two roots": (lambda x: np.sqrt(x[0]) * np.cos(np.cbrt(x[1])) - np.sqrt(x[0] + 1), [(-1, 1), (-1, 2)]),
    "a power": (lambda x: np.abs(x[0]) ** 0.3 * x[1] - x[1] ** 1.5, [(-1, 1), (-1, 1)]),
    "a root of a root": (lambda x: np.cos(3 * np.sqrt(np.sqrt(x[0]) + x[1])), [(0, 4), (-1, 3)]),
    "a steep infinite root": (lambda x: np.exp(-np.sqrt(1 / x[0])) * x[1], [(0, 1), (-1, 1)]),
    "huge": (lambda x: x[0] * x[1] + np.abs(x[0]), [(-1e300, 1e300), (-1e300, 1e300)]),
    "tiny": (lambda x: x[0] * x[1] + np.abs(x[0]), [(-5e-324, 1e-323), (-1e-310, 1e-310)]),
    "a point": (lambda x: np.exp(x[0]) * x[1], [(0.3, 0.3), (0.7, 0.7)]),
    "a segment": (lambda x: np.exp(x[0]) * x[1], [(0.3, 0.3), (0.5, 0.7)]),
    "one ulp": (lambda x: np.sin(x[0]) * x[1], [(1, 1 + 2.0**-52), (0, 5e-324)]),
}


def parts_of(rng: np.random.Generator, bounds: list[tuple[float, float]], count: int) -> tuple[np.ndarray, np.ndarray]:
    """The whole and cells inside it, at dyadic places."""
    low, high = np.array(bounds, dtype=float).T
    a, b = (low[:, None] + (high - low)[:, None] * (rng.integers(0, 17, (len(low), count)) / 16) for _ in range(2))
    return np.column_stack([low, np.minimum(a, b)]), np.column_stack([high, np.maximum(a, b)])


@pytest.mark.parametrize("name", WRITTEN)
def test_terms_that_are_hard(name):
    f, bounds = WRITTEN[name]
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    expr = trace(f, len(bounds))
    counts = held(expr, expr, Cells(expr, *parts_of(rng, bounds, 25), rng), rng)
    assert counts["values"] > 20 or name.startswith("undefined")


def test_roots_are_worth_their_slices():
    expr = trace(lambda x: np.sqrt(x[0]) - np.sin(np.sqrt(x[0])) + x[1], 2)
    cells = Cells(expr, np.zeros((2, 1)), np.ones((2, 1)), np.random.default_rng(1))
    assert cells.found[FROM][0, 0] == -INF and cells.found[FACTS][NATURAL, 0] < -cells.steep[0]


def test_no_slices_of_roots_where_there_are_conditions():
    """An undefined root decides a condition; in slices of what is defined of it that would be forgotten."""
    assert not steep_terms(trace(lambda x: np.where(np.sqrt(x[0]) < 2, 1.0, np.sqrt(x[0]) - 7), 1))


def test_constants_are_enclosed():
    """A term with constants from a table has the bounds of all numbers between their ends."""
    x, c = var(X, (2,)), var(C, (2,))
    f = build("add", build("mul", index(c, 0), index(x, 0)),
                                 build("sin", build("mul", index(c, 1), index(x, 1))))
    rng = np.random.default_rng(3)
    lo, hi = random_cells(rng, 2, 30)
    lower = rng.normal(size=(2, 30))
    upper = lower + rng.choice((0.0, 1e-15, 0.1), size=(2, 30))
    cells = Cells(f, lo, hi, rng, np.concatenate([lower, upper]))
    counts: Counter = Counter()
    for u in range(30):
        for share in (0.0, 0.5, 1.0):
            values = np.clip(lower[:, u] + (upper[:, u] - lower[:, u]) * share, lower[:, u], upper[:, u]).tolist()
            meant = substituted(f, {index(c, i): const(v) for i, v in enumerate(values)})
            for p in points_of(rng, lo[:, u], hi[:, u], 4):
                cells.hold(u, p, settled_value(meant, p), counts)
    assert counts["values"] > 200


@pytest.mark.parametrize("name", WRITTEN)
def test_the_bits_are_the_definitions(name):
    f, bounds = WRITTEN[name]
    expr = trace(f, len(bounds))
    lo, hi = parts_of(np.random.default_rng(1), bounds, 6)
    wanted = Cells(expr, lo, hi, np.random.default_rng(2), backend=PythonBackend())
    for lanes in host().widths():
        found = Cells(expr, lo, hi, np.random.default_rng(2), backend=CpuBackend(lanes=lanes))
        for mine, its in zip((*found.found, found.shifted), (*wanted.found, wanted.shifted), strict=True):
            assert same_bits(mine, its).all()
        assert wanted.steep is None or same_bits(found.steep, wanted.steep).all()


@pytest.mark.parametrize("f", [lambda x: np.where(x[0] < 0.5, -x[0], 5 - x[0]) + x[1], lambda x: x[1] - np.floor(2 * x[0]),
                               lambda x: np.where(x[1] < 0.5, x[0], x[0] - 5), lambda x: x[0] + np.sqrt(x[1] - 0.5)])
def test_without_a_lipschitz_constant_there_are_no_derivatives(f):
    """Across a jump a derivative of one sign says nothing."""
    cells = Cells(trace(f, 2), np.zeros((2, 1)), np.ones((2, 1)), np.random.default_rng(1))
    assert (cells.found[FROM] == -INF).all() and (cells.found[TO] == INF).all()


# ---- second derivatives
def bent(f, lo: list[float], hi: list[float], slopes: list[float]) -> float:
    """The lower bound by second derivatives of f(x) - s·(x - c) on one cell."""
    k, column = len(lo), [np.array([row], dtype=float).T for row in (lo, hi, slopes)]
    e = Evaluator(trace(f, k), k)
    program, centre = ProgramKind.of(SECOND_ORDER_BOUND, constants=0), column[0] * 0.5 + column[1] * 0.5
    return -float(e.run(program, [column[0], column[1], centre, column[2]])[0][0, 0])


def test_second_derivatives_lose_nothing_where_a_term_is_convex():
    def f(x):
        return 48.5 * (x[0] - x[1]) ** 2 + 0.19 * (x[0] + x[1] / 2) ** 2
    assert -1e-12 < bent(f, [-1, -1], [1, 1], [0, 0]) <= 0
    assert -1e-12 < bent(lambda x: f(x) + 3 * x[0] - x[1], [-1, -1], [1, 1], [3, -1]) <= 0
    assert bent(lambda x: f(x) - x[0] ** 2 * 200, [-1, -1], [1, 1], [0, 0]) <= -103.4, "and what is not convex is not"


@pytest.mark.parametrize("f", [lambda x: np.abs(x[0]) * x[0] * 5 + x[1], lambda x: np.maximum(x[0], 0) ** 2 * -3 + x[1],
                               lambda x: x[0] ** 2.5 + x[1], lambda x: np.sqrt(x[0]) + x[1], lambda x: 1 / x[0] + x[1],
                               lambda x: np.where(x[0] < 0.5, 0.0, -x[0]) + x[1]])
def test_without_second_derivatives_there_is_no_such_bound(f):
    assert bent(f, [-1, 0], [1, 1], [0, 0]) == -INF


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_weights_whose_inverse_overflows(order):
    """One variable is so much wider than the other that the ratio of their widths has no inverse among the doubles."""
    def f(x):
        wide, narrow = x[order[0]], x[order[1]]
        return wide * 1e-300 - 1e300 * narrow**2
    width = [(1e155, 1e-155)[place] for place in order]
    lowest = f(np.array([(-1e155, 1e-155)[place] for place in order]))
    assert lowest < -9e-11 and bent(f, [-w for w in width], width, [0, 0]) <= lowest
