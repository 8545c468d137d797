"""Poles, edges of the domain and 0 / 0: enclosures of pieces against Arb, where they are finite and where they must not be."""

import zlib
from collections.abc import Callable

import numpy as np
import pytest

import infimum
from infimum.backend.cpu import CpuBackend
from infimum.backend.processor import host
from infimum.backend.python import PythonBackend
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import Expr, var
from infimum.interval.pair import Pair
from infimum.kernel.box_conclusions import whole_if_unsound
from infimum.kernel.constant_data import Data
from infimum.kernel.forms.sliced_pieces import by_slices
from infimum.kernel.ir import Builder
from infimum.kernel.lowering import Lowering
from infimum.kernel.meaning import Enclosures
from infimum.structure.gather_terms import gathered
from tests.engine.test_bound import within
from tests.oracle.boxes import TINY, points_of
from tests.oracle.check import Checker, position
from tests.oracle.walk import Special
from tests.random_kernels import same_bits

INF = np.inf


class ByPieces:
    """The enclosure of an expression by 8 slices of its pieces; an empty one is the whole line."""

    def __init__(self, f: Expr | Callable, n: int, backend: CpuBackend | PythonBackend | None = None):
        self.f = f if isinstance(f, Expr) else infimum.compile(f, n).f
        b, data, out, f = Builder(), Data(), {}, gathered(self.f)
        self.tighter = by_slices(b, f, data, 8, unbounded=True)
        Lowering(b, Enclosures(), {"x": lambda i: Pair(b.neg(b.input(0, i)), b.input(1, i))}, data, self.tighter).run(
            [(f, lambda at, v: out.setdefault("f", v))], straight=False)
        whole = whole_if_unsound(b, out["f"])
        for slot, end in enumerate((b.neg(whole.nlo), whole.hi)):
            b.output(slot, 0, end)
        self.compiled, self.data = (backend or CpuBackend(threads=1)).compile(b.kernel("by_pieces", 2, 2)), data

    def __call__(self, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """For boxes (n, N) the lower ends and the upper ends."""
        boxes = [np.ascontiguousarray(np.array(a, dtype=float)) for a in (lo, hi)]
        found = [np.empty((1, boxes[0].shape[1])) for _ in range(2)]
        self.compiled.run(boxes, found, self.data.doubles(), self.data.positions(), threads=1)
        return np.concatenate(found)

    def over(self, *sides: tuple[float, float]) -> tuple[float, float]:
        """The ends over one box."""
        lo, hi = np.array(sides, dtype=float).T
        return tuple(self(lo[:, None], hi[:, None])[:, 0].tolist())


def judged(f: ByPieces, n: int, bounds: list, rng: np.random.Generator, boxes: int = 6, per_box: int = 4) -> int:
    """Holds enclosures of boxes within bounds against Arb at points; returns how many values were compared."""
    checker, values = Checker(f.f, n, derivatives=False), 0
    for sides in bounds:
        low, high = np.array(sides, dtype=float).T
        lo, hi = within(rng, low, high, boxes)
        lo[:, 0], hi[:, 0] = low, high
        for k, (least, most) in enumerate(f(lo, hi).T.tolist()):
            for p in points_of(rng, lo[:, k], hi[:, k], per_box):
                v = checker._settled(p, least, most)
                if not isinstance(v, Special):
                    values += 1
                    if position(v, least, most) < 0:
                        checker.fail(f"the value {v.str(30)} is not in [{least!r}, {most!r}]", lo[:, k], hi[:, k], p)
    return values


SIDES = ((0, 1), (0, 5), (0, INF), (0, TINY), (1e-9, 3), (-1, 1), (-3, 5), (-INF, INF))
SINGULAR = {  # functions of one variable
    "x log x": lambda x: x * np.log(x),
    "x squared log x": lambda x: x**2 * np.log2(x) - x,
    "entropy": lambda x: x * np.log(x) + (1 - x) * np.log(1 - x),
    "root of x log x": lambda x: np.sqrt(x) * np.log(x) ** 2 - np.log(x),
    "log": lambda x: np.log10(x) ** 2 + np.log10(x),
    "Lennard-Jones": lambda x: 4 * (x**-12 - x**-6),
    "of squares": lambda x: x**-6 - x**-3,
    "of inverses": lambda x: (1 / x) ** 6 - 2 * (1 / x) ** 3,
    "Buckingham": lambda x: 50 * np.exp(-3 * x) - 5 / x**6,
    "Morse": lambda x: np.exp(-4 * (x - 1)) - 2 * np.exp(-2 * (x - 1)),
    "x to the x": lambda x: x**x,
    "fractional powers": lambda x: x**-1.3 - x**-0.7,
    "x to the x over x": lambda x: (x**x - 1) / np.sqrt(x),
    "root and pole": lambda x: 1 / np.sqrt(x) + np.log(x) - 1 / x,
    "away from 0": lambda x: (x - 1) ** -4 - (x - 1) ** -2,
    "a pole on each side": lambda x: 1 / x - 1 / (1 - x) + x,
    "a quotient of polynomials": lambda x: x**2 / (x + x**3),
    "logarithms below": lambda x: x / np.log(x) - x**2,
    "a logarithm inside": lambda x: np.exp(x * np.log(x)) - np.sin(np.log(x) * x),
    "powers of a sum": lambda x: (1 / x - 1) ** 3 - 1 / x**2,
    "sine": lambda x: np.sin(x) / x,
    "sine beside it": lambda x: np.sin(x - 1) / (x - 1) + x,
    "cosine": lambda x: (1 - np.cos(x)) / x**2,
    "sine of third order": lambda x: (x - np.sin(x)) / x**3,
    "exponential": lambda x: (np.exp(x) - 1) / x,
    "exponential of second order": lambda x: (np.exp(x) - 1 - x) / x**2,
    "logarithm": lambda x: np.log(1 + x) / x,
    "root": lambda x: (np.sqrt(1 + x) - 1) / x,
    "two functions": lambda x: np.sin(x) / np.sinh(x) - np.tanh(x) / x,
    "arc functions": lambda x: np.arcsin(x) / x + np.arctan(x) / x - np.arctanh(x) / x,
    "products": lambda x: np.sin(x) * np.sinh(x) / x**2,
    "of a function": lambda x: np.exp(np.sin(x) / x) + np.log1p(x) / np.expm1(x),
    "tangent": lambda x: np.tan(x) / x,
    "not quite": lambda x: np.sin(x) / (x - 1e-17),
    "a hole": lambda x: np.sqrt(x**2 - 1) / x + 1 / x,
    "a pole": lambda x: 1 / x + x,
    "Mie": lambda x: np.abs(x) ** -9 - 2 * np.abs(x) ** -6,
    "a well": lambda x: 3 / np.sqrt(x) + 2 * x**1.5 - 7,
    "a cutoff": lambda x: np.where(x < 2.5, 4 * (x**-12 - x**-6), 0.0),
    "a limit put in": lambda x: np.where(x == 0, 1.0, np.sin(x) / x) + np.where(x > 0, x * np.log(x), 0.0),
    "odd powers": lambda x: x**-3 - x**-2 + 1,
    "exponential of a pole": lambda x: np.exp(1 / x) - 1 / x,
    "inverse gamma": lambda x: -np.exp(-1 / x) / x**3,
    "log-normal": lambda x: -np.exp(-(np.log(x) ** 2) / 2) / x,
    "Planck, frequency": lambda x: -(x**3) / np.expm1(x),
    "Planck, wavelength": lambda x: -1 / (x**5 * (np.exp(1 / x) - 1)),
    "Planck, wavelength by expm1": lambda x: -(x**-5) / np.expm1(1 / x),
    "Bose and Einstein": lambda x: -x / np.expm1(x) - 0.1 * x,
    "Langevin": lambda x: 1 / np.tanh(x) - 1 / x - 0.2 * x,
    "hyperbolic": lambda x: np.cosh(1 / x) - np.sinh(1 / x) / x,
    "screened Coulomb": lambda x: 2 * np.exp(-3 * x) / x - np.exp(-x) / x,
    "Yukawa and repulsion": lambda x: x**-12 - x**-6 + 0.1 * np.exp(-x) / x,
    "divergence": lambda x: x * np.log(x / 0.3) + (1 - x) * np.log((1 - x) / 0.7),
    "logit": lambda x: x * np.log(x / (1 - x)) + 1 / x,
    "logarithm of an exponential": lambda x: np.log(np.expm1(x)) ** 2 - np.log(1 - np.exp(-x)) / x,
    "barrier": lambda x: np.exp(x) - np.log(2 - x) / x - np.log(x) * np.exp(1 / (2 - x)),
    "smooth cutoff": lambda x: (0.6 * x**-4 - 1) * np.exp(1 / (x - 1.8)),
    "tangents": lambda x: np.tan(x) ** 2 - np.tan(x) + 1 / np.tan(x),
    "reciprocals": lambda x: 1 / (x + x**2) - 1 / np.sin(x) + 1 / (np.exp(x) - 1) ** 2,
    "two bases": lambda x: 1 / (x**2 - 4) + np.log((x**2 - 4) / x**2) - 1e-3 / (x - 2) ** 3,
    "far polynomial": lambda x: x**4 - 3 * x**3 + x,
    "far quotient": lambda x: (x**2 - 3 * x) / (x**2 + 1) + x * np.exp(-(x**2)),
    "far roots": lambda x: np.sqrt(x**2 + 1) - x + np.log1p(np.exp(x)) - 0.3 * x,
    "exponentials of both signs": lambda x: np.exp(1 / x - 1 / x**2) / x**2 - np.exp(-1 / x**2) * np.log(x) ** 2,
}


def of(name: str, backend: CpuBackend | PythonBackend | None = None) -> ByPieces:
    return ByPieces(lambda x: SINGULAR[name](x[0]), 1, backend)


@pytest.mark.parametrize("name", SINGULAR)
def test_no_value_is_lost(name):
    f, rng = of(name), np.random.default_rng(zlib.crc32(name.encode()))
    assert f.tighter and judged(f, 1, [[side] for side in SIDES], rng, boxes=5) > 30


# random expressions that vanish, have poles and logarithms at 0 and at 1
_ONE = ("sin", "cos", "tan", "exp", "exp", "log", "sqrt", "powi", "neg", "expm1", "log1p", "arctan", "sinh", "cosh", "xlogx",
        "abs")
_TWO = ("add", "sub", "mul", "div", "mul", "div", "sub", "pow")


def random_expression(rng: np.random.Generator, depth: int) -> Expr:
    x = index(var("x", (1,)), 0)
    if depth == 0 or rng.random() < 0.1:
        return (x, x, x, build("sub", x, 1.0), build("sub", 1.0, x), build("mul", x, 2.0))[rng.integers(6)]
    if rng.random() < 0.45:
        op, inner = str(rng.choice(_ONE)), random_expression(rng, depth - 1)
        return build(op, inner, **({"k": int(rng.choice((-6, -3, -2, -1, 2, 3)))} if op == "powi" else {}))
    op, left = str(rng.choice(_TWO)), random_expression(rng, depth - 1)
    if op == "pow" and rng.random() < 0.7:
        return build(op, left, float(rng.choice((-1.5, -0.7, 0.5, 1.3))))
    right = float(rng.choice((1.0, 2.0, -0.5))) if op != "pow" and rng.random() < 0.2 else random_expression(rng, depth - 1)
    return build(op, left, right)


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_random_expressions_with_poles(first):
    values = others = 0
    for seed in range(first, first + 20):
        rng = np.random.default_rng(seed)
        f = ByPieces(random_expression(rng, 4), 1)
        others += any(getattr(t, "others", None) for t in f.tighter.values())
        values += judged(f, 1, [[(0, 1)], [(0, 0.1)], [(0, 9)], [(-1, 2)], [(0, INF)]], rng, boxes=4)
    assert values > 300 and others > 3


@pytest.mark.parametrize("name", ("x log x", "fractional powers", "two functions"))
def test_the_bits_are_the_definitions(name):
    lo, hi = np.array([[0.0, -1.0]]), np.array([[27.0, 2.0]])
    wanted = of(name, PythonBackend())(lo, hi)
    for lanes in host().widths():
        assert same_bits(of(name, CpuBackend(lanes=lanes, threads=1))(lo, hi), wanted).all()


FINITE = {  # over [low, high]: an enclosure of no more than these ends
    "x log x": (0, 1, -0.3679, 1e-12), "x squared log x": (0, 3, -4, 14), "Lennard-Jones": (0, 1, -1e-9, INF),
    "of squares": (0, 27, -0.2500001, INF), "of inverses": (0, 0.5, 47.9, INF), "Buckingham": (0, 0.5, -INF, -250),
    "x to the x": (0, 2, 0.69, 4.01), "fractional powers": (0, 0.5, 0.8, INF), "sine": (-1, 1, 0.7, 1),
    "cosine": (-1, 1, 0.2, 0.51), "sine of third order": (-1, 1, 0.08, 0.17), "exponential": (-1, 1, 0.3, 2.8),
    "away from 0": (1, 1.5, 11.9, INF), "root of x log x": (0, 0.1, 0, INF), "a quotient of polynomials": (0, 1, 0, 1),
    "of a function": (-0.5, 0.5, 2.5, 5.1), "a hole": (-2, 2, -2.2, 2.2), "powers of a sum": (0, 0.1, 500, INF),
    "a cutoff": (0, 100, -1.0001, INF), "a limit put in": (-1, 1, 0, 2.1),
    "exponential of a pole": (0, 0.5, 5, INF), "inverse gamma": (0, 2, -2.5, 1e-9), "log-normal": (0, 5, -4, 1e-9),
    "Planck, frequency": (0, INF, -3, 1e-9), "Planck, wavelength": (0, 0.05, -1, 1e-9), "screened Coulomb": (0, 0.2, 0, INF),
    "Planck, wavelength by expm1": (0, 0.05, -1, 1e-9), "Bose and Einstein": (-1, 1, -2, -0.4), "Langevin": (-1, 1, -2, 2),
    "divergence": (0, 1, -1.5, 1.6), "logit": (0, 0.25, 3, INF), "tangents": (0, 0.3, 3, INF), "tangent": (0, 0.5, 0.8, 1.4),
    "two bases": (2, 2.001, -INF, -1e4), "far polynomial": (10, INF, 6999, INF), "far quotient": (10, INF, 0, 2),
    "far roots": (20, INF, 13, INF), "Mie": (-5, 3, -1.2, INF), "a well": (0, INF, -2.3, INF), "odd powers": (0, INF, 0, INF),
}


@pytest.mark.parametrize("name", FINITE)
def test_enclosures_reach(name):
    low, high, least, most = FINITE[name]
    found = of(name).over((low, high))
    assert least <= found[0] and found[1] <= most


@pytest.mark.parametrize("name, low, high, ends", [
    ("a pole", -1, 1, (-INF, INF)), ("not quite", -1, 1, (-INF, INF)), ("away from 0", 0, 2, (None, INF)),
    ("Buckingham", 0, 5, (-INF, None)), ("odd powers", -1, 1, (-INF, INF)),
    ("exponential of a pole", -1, 1, (None, INF)), ("inverse gamma", -1, 1, (None, INF)), ("inverse gamma", -1, 0, (None, INF)),
    ("barrier", 0, 1, (-INF, None)), ("two bases", 1, 3, (-INF, INF)), ("tangents", -1, 1, (-INF, INF)),
    ("far polynomial", -INF, INF, (None, INF)),
    ("log", 0, 1, (None, INF)), ("Lennard-Jones", 0, 1, (None, INF)), ("tangent", 1, 2, (-INF, INF))])
def test_a_pole_stays_one(name, low, high, ends):
    """Unbounded functions: 1 / x on [-1, 1], where the derivative has one sign but the domain is no interval, and others."""
    for found, wanted in zip(of(name).over((low, high)), ends, strict=True):
        assert wanted is None or found == wanted


def test_a_pole_beside_the_zero_of_the_numerator():
    """sin(x) / (x - 1e-17) is below -1e15 just left of its pole."""
    x = np.nextafter(1e-17, 0)
    assert np.sin(x) / (x - 1e-17) < -1e15 and of("not quite").over((0, 1))[0] == -INF


def test_the_status_stays():
    """sin(x) / x is bounded near 0, and undefined there all the same."""
    f = Evaluator(build("add", build("div", build("sin", index(var("x", (1,)), 0)), index(var("x", (1,)), 0)), 1.0), 1)
    assert f.value([[-1.0]], [[1.0]]).level.tolist() == [0]


def test_a_table_of_distances():
    """Arrays of two dimensions have pieces too."""
    def f(x):
        r2 = (x[:, None] - x[None]) ** 2 + np.eye(3)
        return np.sum((r2**-6 - r2**-3) * (1 - np.eye(3)))
    by_pieces, rng = ByPieces(f, 3), np.random.default_rng(5)
    assert judged(by_pieces, 3, [[(0, 1)] * 3, [(-2, 3)] * 3, [(0, 0.3), (1, 1.5), (2, 9)]], rng) > 30
    assert by_pieces.over((0, 3), (0, 3), (0, 3))[0] > -INF


# ---- quotients by norms
QUOTIENTS = {
    "Keane": lambda x: -(np.sin(x[0] - x[1]) ** 2) * np.sin(x[0] + x[1]) ** 2 / np.sqrt(x[0] ** 2 + x[1] ** 2),
    "of sums": lambda x: np.sin(np.sum(x)) / np.sqrt(np.sum(x**2)),
    "a kink": lambda x: np.abs(x[0]) / np.hypot(x[0], x[1]),
    "other parts": lambda x: (x[0] - x[1]) * np.cos(x[0] + x[1]) / np.hypot(x[0] - x[1], x[0] + x[1]),
    "exponentials": lambda x: (np.exp(x[0]) - np.exp(x[1])) / np.linalg.norm(x),
    "a square": lambda x: np.sin(x[0] - x[1]) * np.sin(x[0] + x[1]) / (x[0] ** 2 + x[1] ** 2),
    "powers": lambda x: x[0] ** 2 * np.sin(x[1]) / np.linalg.norm(x) ** 3,
    "absolute values": lambda x: x[0] * np.sin(x[1]) / (np.abs(x[0]) + np.abs(x[1])),
    "a sum of them": lambda x: x[0] * np.sin(x[1]) / np.sum(np.abs(x)) ** 2,
    "the largest": lambda x: -np.sin(x[0]) * x[1] / np.max(np.abs(x)),
    "other factors": lambda x: np.sin(x[0]) * np.log(x[0] + 4) / (np.hypot(x[0], x[1]) * (2 + np.cos(x[1]))),
}


@pytest.mark.parametrize("name", QUOTIENTS)
def test_quotients_by_norms_lose_no_value(name):
    f, rng = ByPieces(QUOTIENTS[name], 2), np.random.default_rng(zlib.crc32(name.encode()))
    bounds = [(0, 1), (0, 1)], [(-1, 2), (-3, 1)], [(0, 1e-9), (-1e-9, 0)], [(-INF, INF), (0, 5)]
    assert f.tighter and judged(f, 2, bounds, rng) > 40
    assert max(map(abs, f.over((0, 0.5), (0, 0.5)))) <= 4


@pytest.mark.parametrize("f", [
    lambda x: np.cos(x[0]) / np.hypot(x[0], x[1]), lambda x: np.sin(x[0] - 1e-300) / np.hypot(x[0], x[1]),
    lambda x: np.sin(x[2]) / np.hypot(x[0], x[1]), lambda x: np.cbrt(x[0]) / np.hypot(x[0], x[1]),
    lambda x: x[0] * np.log(x[0] + 1) / np.hypot(x[0], x[1]), lambda x: np.log(x[0] + 2) / np.hypot(x[0], x[1]),
    lambda x: x[0] / (x[0] ** 2 + x[1] ** 2), lambda x: x[0] * x[2] / (np.hypot(x[0], x[1]) * np.abs(x[1])),
    lambda x: x[0] * x[1] / (x[0] ** 2 - x[1] ** 2), lambda x: x[0] / (np.abs(x[0]) + x[1])])
def test_what_does_not_vanish_with_the_norm_has_no_bound(f):
    assert INF in map(abs, ByPieces(f, 3).over((-1, 1), (-1, 1), (-1, 1)))
