"""The places where interval libraries have lost values, named one by one."""

from math import nextafter

import numpy as np
import pytest
from flint import arb

from infimum.errors import TraceError
from infimum.evaluation.compile import compile
from infimum.evaluation.evaluator import Evaluator
from infimum.expr.build import build, index
from infimum.expr.node import Expr, var
from infimum.ops.vocabulary import OPS, Kind
from tests.operations import ROWS
from tests.oracle.arb_values import precision
from tests.oracle.boxes import MAX, STYLES, TINY
from tests.oracle.check import check, position
from tests.oracle.generate import DERIVATIVE_ONLY
from tests.oracle.tables import TABLES

INF = np.inf
WITH_PARAMETER = DERIVATIVE_ONLY | {"powi", "polygamma", "sinc", "spline"}
UNARY = [name for name, row in OPS.items() if row.kind is Kind.MAP and row.arity == 1 and name not in WITH_PARAMETER]
BINARY = [name for name, row in OPS.items() if row.kind is Kind.MAP and row.arity == 2 and name not in DERIVATIVE_ONLY]
POWERS = (-7, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 13, 64, 1001)

# ends that operations choose cases by, and their neighbours
_PLACES = (0.0, 1.0, -1.0, 0.5, 2.0, np.pi / 2, -np.pi, 709.78, -745.13, 1e5, 1e9, 1e15, 1e22, 1e300, MAX, 2.0**-1022, 1e-154)
_CORNERS = [v for c in _PLACES for v in (nextafter(c, -INF), c, nextafter(c, INF))] + [-0.0, TINY, -TINY, -INF, INF, -1e300, -MAX]


def _sides(rng: np.random.Generator, count: int) -> list[tuple[float, float]]:
    """Intervals between corners, and `count` of every style."""
    found = [style(rng) for _, style in STYLES.values() for _ in range(count)]
    pairs = rng.choice(_CORNERS, size=(8 * count, 2))
    return found + [(min(p), max(p)) for p in pairs.tolist() if min(p) < INF and max(p) > -INF]


def one(op: str, **params) -> Expr:
    return build(op, index(var("x", (1,)), 0), **params)


def two(op: str) -> Expr:
    x = var("x", (2,))
    return build(op, index(x, 0), index(x, 1))


def _hard_sides(op: str) -> list[tuple[float, float]]:
    """Intervals between the hard places of an operation, their neighbours, and places far away and near."""
    ends = sorted({v for c in ROWS[op].hard for v in (nextafter(c, -INF), c, nextafter(c, INF), c - 0.25, c + 0.25)})
    return [(a, b) for a in ends for b in ends if a <= b]


@pytest.mark.parametrize("op", UNARY)
def test_functions_of_one_number_on_every_kind_of_interval(op):
    lo, hi = np.array(_sides(np.random.default_rng(1), 12) + _hard_sides(op)).T
    assert check(one(op), 1, (lo[None], hi[None]), per_box=5, share=0.3).values > 300


@pytest.mark.parametrize("k", POWERS)
def test_integer_powers_on_every_kind_of_interval(k):
    lo, hi = np.array(_sides(np.random.default_rng(2), 8)).T
    assert check(one("powi", k=k), 1, (lo[None], hi[None]), per_box=5, share=0.3).values > 200


@pytest.mark.parametrize("m", range(4))
def test_derivatives_of_lgamma_on_every_kind_of_interval(m):
    lo, hi = np.array(_sides(np.random.default_rng(4), 10)).T
    assert check(one("polygamma", m=m), 1, (lo[None], hi[None]), per_box=5, share=0.3).values > 150


@pytest.mark.allowance(4)  # an operation with a proof of its own: two of the cases in the default run
@pytest.mark.parametrize("m", range(4))
def test_derivatives_of_the_cardinal_sine_on_every_kind_of_interval(m):
    lo, hi = np.array(_sides(np.random.default_rng(6), 12) + _hard_sides("sinc")).T
    assert check(one("sinc", m=m), 1, (lo[None], hi[None]), per_box=5, share=0.3).values > 300


@pytest.mark.parametrize("table", TABLES, ids=repr)
def test_splines_on_every_kind_of_interval(table):
    rng = np.random.default_rng(5)
    near = [tuple(sorted(rng.choice([*table.points, *rng.uniform(-4, 4, 4)], 2))) for _ in range(60)]
    lo, hi = np.array([*_sides(rng, 8), *near]).T
    assert check(one("spline", table=table), 1, (lo[None], hi[None]), per_box=5, share=0.5).values > 100


@pytest.mark.parametrize("op", BINARY)
def test_functions_of_two_numbers_on_every_kind_of_box(op):
    rng = np.random.default_rng(3)
    sides = np.array(_sides(rng, 16))
    boxes = sides[rng.integers(len(sides), size=(2, 400))]
    assert check(two(op), 2, (boxes[..., 0], boxes[..., 1]), per_box=5, share=0.15).values > 300


# ---- boxes that hold no point, or are none
@pytest.mark.parametrize("op", [*UNARY, *BINARY])
def test_empty_boxes_are_empty_and_what_is_no_box_says_nothing(op):
    n = OPS[op].arity
    f = Evaluator(one(op) if n == 1 else two(op), n)
    nan = float("nan")
    columns = [(1.0, 0.0), (INF, -INF), (0.5, -INF), (INF, 0.5), (nan, 1.0), (0.0, nan), (nan, nan), (INF, INF), (-INF, -INF)]
    lo, hi = (np.array([[c[side] for c in columns]] * n) for side in (0, 1))
    for e in (f.value(lo, hi), f.mean_value(lo, hi).best, f.gradient(lo, hi).value, f.hessian(lo, hi).value):
        assert (e.level == 0).all()
        assert (e.lo[:4] == INF).all() and (e.hi[:4] == -INF).all()
        assert (e.lo[4:] == -INF).all() and (e.hi[4:] == INF).all()
    for d in (f.gradient(lo, hi), f.hessian(lo, hi)):
        assert not np.isnan(d.lo).any() and not np.isnan(d.hi).any()


def test_one_empty_side_among_many_empties_the_box():
    f = compile(lambda x: np.sum(np.exp(x)) * 0 + x[0], 40)
    lo, hi = np.zeros(40), np.ones(40)
    lo[33], hi[33] = 2.0, -INF
    assert f.value(lo, hi).empty and f.mean_value(lo, hi).best.empty and f.value(lo, hi).level == 0


# ---- zeros and infinities
def test_zero_has_no_sign():
    def angle(x):
        return np.arctan2(x[0], x[1])
    for f, box in ((lambda x: 1 / x[0], [(0.0, 1.0)]), (lambda x: x[0] ** -3, [(0.0, 2.0)]),
                   (lambda x: np.sqrt(x[0]), [(0.0, 0.0)]), (angle, [(0.0, 1.0), (-1.0, -1.0)]),
                   (angle, [(-1.0, 0.0), (-1.0, -1.0)]), (angle, [(0.0, 0.0), (-2.0, -1.0)])):
        n = len(box)
        plain, signed = ([[-0.0 if v == 0 and s else v for v in side] for side in zip(*box, strict=True)] for s in (0, 1))
        a, b = (compile(f, n).value(*ends) for ends in (plain, signed))
        assert (a.lo, a.hi, a.level) == (b.lo, b.hi, b.level)
    assert compile(lambda x: 1 / x[0], 1).value([-0.0], [0.0]).empty
    half_turn = compile(angle, 2).value([-1.0, -1.0], [-0.0, -1.0])
    assert half_turn.hi >= np.pi, "at y = 0, x < 0 the angle is pi, also from below"


def test_zero_times_infinity_is_zero():
    product = compile(lambda x: x[0] * x[1], 2)
    r = product.value([[0.0, 0.0, -1.0, 0.0], [-INF, 0.0, 0.0, -INF]], [[0.0, 0.0, INF, INF], [INF, INF, 0.0, INF]])
    assert r.lo.tolist() == [0.0, 0.0, 0.0, -INF] and r.hi.tolist() == [0.0, 0.0, 0.0, INF]
    grid = np.array([-INF, -1.0, -0.0, 0.0, TINY, 2.0, INF])
    sides = [(a, b) for a in grid for b in grid if a <= b and a < INF and b > -INF]
    boxes = np.array([[s, t] for s in sides for t in sides])
    for op in ("mul", "div", "pow", "arctan2", "hypot", "max", "sub"):
        check(two(op), 2, (boxes[..., 0].T, boxes[..., 1].T), per_box=4, share=0.05)


@pytest.mark.parametrize("n", (3, 17, 40, 300))
def test_long_reductions_and_scans_with_zeros_and_infinities(n):
    """In loops signs, emptiness and status are carried from turn to turn."""
    rng = np.random.default_rng(n)
    functions = (lambda x: np.prod(x), lambda x: np.prod(-np.abs(x)), lambda x: np.prod(-np.exp(x / 9)),
                 lambda x: np.sum(np.cumprod(x)),
                 lambda x: np.cumsum(x)[-1] * np.cumprod(-np.cosh(x / 50))[-2],
                 lambda x: np.linalg.norm(x) - np.max(x) * np.min(x),
                 lambda x: np.sum(np.sqrt(x)) + np.prod(x[::-1]), lambda x: np.max(np.log(x)) + np.sum(np.cumsum(x**2)[::2]))
    count = 10 if n < 100 else 3
    lo = rng.uniform(-1.3, 1.3, size=(n, count))
    hi = lo + rng.choice((0.0, 0.1, 1.0), size=(n, count))
    lo[:, 1], hi[:, 1] = 0.0, rng.choice((0.0, 1.0, INF), size=n)
    lo[n // 2, 2], hi[n // 2, 2] = -INF, INF
    for f in functions:
        traced = compile(f, n).f
        check(traced, n, (lo, hi), per_box=3, share=0.3, derivatives=n < 100)


# ---- extrema and poles far out
def _multiple_of_quarter_turns(k: int) -> arb:
    return arb.pi() * k / 2


@pytest.mark.parametrize("size", (1.0, 100.0, 1e5, 1e9, 1e15))
def test_boxes_beside_and_around_extrema_of_sin_and_cos(size):
    """The extremum itself is no double: where it lies between the ends of a box, the enclosure must reach 1 or -1."""
    f = {name: Evaluator(one(name), 1) for name in ("sin", "cos", "tan")}
    rng = np.random.default_rng(int(np.log2(size)))
    with precision(400):
        for k in (int(size / (np.pi / 2)) + rng.integers(0, 1000, size=60)).tolist():
            extremum = _multiple_of_quarter_turns(k)
            near = float(extremum.mid())
            ends = [near]
            for _ in range(3):
                ends = [nextafter(ends[0], -INF), *ends, nextafter(ends[-1], INF)]
            pairs = [(a, b) for a in ends for b in ends if a <= b] + [(near - 1e-3 * abs(near), near), (near, near * (1 + 1e-9))]
            for sign in (1, -1):
                boxes = np.array([(a, b) if sign > 0 else (-b, -a) for a, b in pairs])
                enclosures = {name: e.value(boxes[None, :, 0], boxes[None, :, 1]) for name, e in f.items()}
                for i, (a, b) in enumerate(boxes.tolist()):
                    inside = arb(a) < extremum * sign < arb(b)
                    for name in ("sin", "cos"):
                        e, values = enclosures[name], [getattr(arb(p), name)() for p in (a, b, a / 2 + b / 2)]
                        if inside:  # 1, -1 or 0, exactly
                            values.append(arb(getattr(extremum * sign, name)().unique_fmpz()))
                        for v in values:
                            assert position(v, e.lo[i], e.hi[i]) >= 0, (name, a, b, v, e.lo[i], e.hi[i])
                    t = enclosures["tan"]
                    if inside and k % 2:
                        assert t.level[i] == 0 and t.lo[i] == -INF and t.hi[i] == INF, ("a pole of tan inside", a, b)
                    elif size < 1e9:
                        assert position(arb(a).tan(), t.lo[i], t.hi[i]) >= 0


def test_sin_where_reduction_gives_up_is_the_whole_range_or_right():
    lo = np.array([[1e18, 1e20, 1e22, 1e300, -1e100, MAX]])
    check(one("sin"), 1, (lo, lo))
    check(one("cos"), 1, (lo, lo))
    check(one("tan"), 1, (lo, lo))


# ---- edges of domains
@pytest.mark.parametrize(("op", "edge", "inward", "closed"), [
    ("sqrt", 0.0, 1, True), ("log", 0.0, 1, False), ("log2", 0.0, 1, False), ("log10", 0.0, 1, False), ("log1p", -1.0, 1, False),
    ("arcsin", -1.0, 1, True), ("arcsin", 1.0, -1, True), ("arccos", 1.0, -1, True), ("arccos", -1.0, 1, True),
    ("arccosh", 1.0, 1, True), ("arctanh", 1.0, -1, False), ("arctanh", -1.0, 1, False)])
def test_edges_of_domains(op, edge, inward, closed):
    f, far = Evaluator(one(op), 1), edge + inward * 0.25
    inside, outside = float(nextafter(edge, inward * INF)), float(nextafter(edge, -inward * INF))
    box = {name: tuple(sorted(ends)) for name, ends in {
        "wholly outside": (outside, outside - inward * 0.5), "touching": (edge, far), "on the edge": (edge, edge),
        "across": (outside, far), "inside": (inside, far)}.items()}
    e = {name: f.value([a], [b]) for name, (a, b) in box.items()}
    assert e["wholly outside"].empty
    assert bool(e["on the edge"].empty) is not closed
    assert e["on the edge"].level == e["touching"].level == (1 if closed else 0), "a derivative-based test must not use the edge"
    assert e["across"].level == 0 and not e["across"].empty
    assert e["inside"].level == 3
    lo, hi = np.array(list(box.values())).T
    check(one(op), 1, (lo[None], hi[None]), per_box=8, share=1.0)


def test_powers_at_zero():
    power = compile(lambda x: x[0] ** x[1], 2)
    at = power.value([[0.0, 0.0, 0.0, 0.0, -1.0, 0.0], [0.5, 0.0, -1.0, -1.0, 0.5, 0.5]],
                     [[0.0, 0.0, 0.0, 1.0, -0.5, 2.0], [0.5, 0.0, -1.0, 1.0, 2.0, 3.0]])
    assert (at.lo[0], at.hi[0], at.level[0]) == (0.0, 0.0, 1)
    assert at.empty.tolist() == [False, False, True, False, False, False]
    assert (at.lo[1], at.hi[1], at.level[1]) == (1.0, 1.0, 1), "0**0"
    assert at.hi[3] == INF and at.level[3] == 0
    assert at.lo[4] <= -1.0 and at.hi[4] >= 1.0 and at.level[4] == 0, "(-1)**1 and (-1)**2"
    assert at.lo[5] == 0.0 and at.hi[5] >= 8.0 and at.level[5] == 1
    always_one = compile(lambda x: x[0] ** 0, 1).value([-2.0], [3.0])
    assert (always_one.lo, always_one.hi, always_one.level) == (1.0, 1.0, 3)


@pytest.mark.parametrize("exponent", (0.1, 1e-3, 1 / 3, 1.0000000000000002, 0.9999999999999999, 1e-20, TINY, -0.1, -1e-3, 7.3))
def test_derivatives_of_powers_whose_exponent_less_one_is_no_double(exponent):
    """x**(c - 1) with c - 1 rounded is wrong by far more than an ulp where x is large or small."""
    points = 10.0 ** np.random.default_rng(9).uniform(-300, 300, size=(1, 60))
    check(build("pow", index(var("x", (1,)), 0), exponent), 1, (points, points), share=1.0)


def test_powers_of_powers_whose_exponent_is_no_double():
    k = 2**31 - 1
    gradient = compile(lambda x: (x[0] ** k) ** k, 1).gradient([1.0], [1.0])
    assert int(gradient.lo[0]) <= k * k <= int(gradient.hi[0])


def squared(x, times):
    for _ in range(times):
        x = x * x
    return x


@pytest.mark.parametrize(("f", "exponent"), [
    (lambda x: squared(x, 54) * x * x * x, 2**54 + 3), (lambda x: x * squared(x, 53) * x**2, 2**53 + 3),
    (lambda x: squared(x ** (2**31 - 1), 22), (2**31 - 1) * 2**22), (lambda x: (x * x ** (2**31)) ** 3 * x, 3 * 2**31 + 4),
    (lambda x: -(squared(x, 31) * squared(x, 31) * -x), 2**32 + 1), (lambda x: np.sqrt(squared(x, 54)) * x, 2**53 + 1)])
def test_products_whose_exponent_would_be_no_double(f, exponent):
    """A power whose exponent is rounded is another function, and a small one of numbers next to 1 shows it."""
    compiled = compile(lambda x: f(x[0]), 1)
    with precision(400):
        for x in (1 + 2.0**-45, 1 - 2.0**-46, -1 - 2.0**-47):
            e, g = compiled.value([x], [x]), compiled.gradient([x], [x])
            value = arb(x) ** exponent
            assert position(value, e.lo, e.hi) >= 0 and e.hi - e.lo <= 1e-6 * abs(e.lo)
            assert position(value * exponent / x, g.lo[0], g.hi[0]) >= 0


def test_very_many_squarings_are_traced_and_enclosed():
    compiled = compile(lambda x: squared(x[0], 1100), 1)
    assert (compiled.value([1.0], [1.0]).lo, compiled.value([-1.0], [1.0]).hi) == (1.0, 1.0)
    assert compiled.value([-0.5], [0.5]).lo >= 0


@pytest.mark.parametrize("exponent", (2**31 + 1, 2**60, 2**60 + 1, 10**400, 1e300, -1e300, -(2.0**40), np.int64(2**40),
                                      np.uint64(2**63), np.array([2.0, 2.0**40])))
def test_integer_exponents_beyond_the_limit_are_refused(exponent):
    for power in (lambda x: np.sum(x**exponent), lambda x: np.sum(np.float_power(x, exponent))):
        with pytest.raises(TraceError, match="exponent|not exactly a double"):
            compile(power, 2)


def test_values_next_to_one_are_not_lost():
    """cos of the smallest double is not 1, nor exp: an end of 1 on the wrong side would lose them."""
    points = np.array([[TINY, 1e-300, 1e-200, 2.0**-600, 1e-17, 1e-9]])
    for op in ("cos", "exp", "cosh", "expm1", "sin", "tan", "sinh", "tanh", "log1p", "arcsin", "arctan", "arcsinh", "arctanh",
               "exp2"):
        check(one(op), 1, (points, points))
        check(one(op), 1, (-points, -points))
