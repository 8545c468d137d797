"""Gradients and products with the Hessian must be those of the function: compared with differences in 100 digits."""

import doctest
import math
from fractions import Fraction

import hypothesis.strategies as st
import numpy as np
import pytest
from differences import directional, gradient_by_differences, value
from evaluate_with_numpy import evaluate
from flint import arb, ctx
from hypothesis import given, settings
from user_functions import USER_FUNCTIONS, ackley, griewank, levy, rastrigin, rosenbrock

from infimum.errors import ShapeError
from infimum.expr import build as b
from infimum.expr import differentiate
from infimum.expr.array_derivative_rules import ARRAY_RULES
from infimum.expr.build import build, index, reduce
from infimum.expr.derivative_rules import LN2, LN10
from infimum.expr.differentiate import depends_on, gradient, hessian_vector
from infimum.expr.node import Expr, Index, const, topological, var
from infimum.ops.vocabulary import OPS
from infimum.trace.trace import trace
from tests.operations import ROWS
from tests.oracle.tables import TABLES

WEIGHTS = np.array([0.7, -1.3, 2.1, 0.4, -0.9, 1.7, 0.2, -0.6])


def assert_derivatives(f: Expr, x: np.ndarray, seed: int = 0) -> None:
    """Gradient and Hessian times a vector at x, to 1e-12 of the largest component.

    The derivatives are computed in many digits as well, so that what is measured is the formula and not the rounding.
    """
    variable, direction = var("x", x.shape), var("v", x.shape)
    slopes = gradient(f, variable)
    assert slopes.shape == x.shape
    _close(value(slopes, {"x": x}), gradient_by_differences(f, x))
    v = np.random.default_rng(seed).normal(size=x.shape)
    product = hessian_vector(f, variable, direction)
    _close(value(product, {"x": x, "v": v}), directional(slopes, {"x": x}, "x", v))


def _close(found: np.ndarray, expected: np.ndarray) -> None:
    assert np.isfinite(expected).all()
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12 * (1 + np.abs(expected).max()))


def weighted(y: Expr) -> Expr:
    """A scalar in which every element of y has its own, nonlinear part."""
    flat = b.reshape(y, (y.size,))
    return reduce("sum", build("sin", build("mul", np.resize(WEIGHTS, y.size), flat)))


# ---- every operation by itself: name -> (function of a vector of 8, lowest, highest coordinate)

def one(op, low, high):
    return (lambda x: build(op, x)), low, high


def two(op, low, high):
    return (lambda x: build(op, index(x, slice(0, 4)), index(x, slice(4, 8)))), low, high


def grid(function, low=-2.0, high=2.0):
    """A function of the vector as a 2 x 2 x 2 array."""
    return (lambda x: function(b.reshape(x, (2, 2, 2)))), low, high


def scans(op):
    """All four kinds of a scan, on rows."""
    def function(x):
        rows = [build(op, b.reshape(x, (2, 4)), reverse=r, exclusive=e) for r in (False, True) for e in (False, True)]
        # extrema of nothing are infinite
        return b.concat([b.reshape(build("min", build("max", row, -99.0), 99.0), (8,)) for row in rows])
    return grid(function)


def reductions(op):
    """Over everything, over one axis, over two that are not neighbours, over a single element."""
    return grid(lambda x: b.concat([b.reshape(y, (y.size,)) for y in (
        reduce(op, x), reduce(op, x, [1]), reduce(op, x, [0, 2]), reduce(op, b.reshape(x, (8, 1)), [1]))]))


def _recur(x, y, reverse):
    return b.reshape(build("recur", b.reshape(x, (2, 4)), b.reshape(y, (2, 4)), reverse=reverse), (8,))


def with_test(op):
    return lambda x: build("where", build(op, build("mul", 2.0, x), 0.5), build("exp", x), build("sin", x))


def logic(op):
    above, below = (lambda x: build("lt", -0.5, x)), (lambda x: build("lt", x, 0.5))
    return lambda x: build("where", build(op, above(x), below(x)), build("powi", x, k=3), build("cos", x))


CASES = {
    **{op: one(op, row.low, row.high) for op, row in ROWS.items() if OPS[op].arity == 1},
    **{op: two(op, row.low, row.high) for op, row in ROWS.items() if OPS[op].arity == 2},
    **{op: (lambda x, op=op: build("mul", x, build(op, build("mul", 3.0, x))), -2.0, 2.0)
       for op in ("sign", "floor", "ceil", "rint", "slope")},
    "powi": (lambda x: b.concat([build("powi", x, k=k) for k in (-3, -1, 0, 2, 3, 7)]), 0.3, 2.0),
    "polygamma": (lambda x: b.concat([build("polygamma", x, m=m) for m in range(4)]), 0.3, 5.0),
    "sinc": (lambda x: b.concat([build("sinc", x, m=m) for m in range(4)]), -6.0, 6.0),
    "spline": (lambda x: b.concat([build("spline", x, table=table) for table in TABLES]), -2.0, 2.0),
    "step": (lambda x: build("mul", x, build("step", x, 0.25)), -2.0, 2.0),
    "ratio": (lambda x: build("ratio", x, build("hypot", x, index(x, slice(None, None, -1)))), -2.0, 2.0),
    "where": (with_test("lt"), -2.0, 2.0), "lt": (with_test("lt"), -2.0, 2.0), "le": (with_test("le"), -2.0, 2.0),
    "eq": (with_test("eq"), -2.0, 2.0), "and": (logic("and"), -2.0, 2.0), "or": (logic("or"), -2.0, 2.0),
    "not": (lambda x: build("where", build("not", build("lt", x, 0.0)), build("exp", x), x), -2.0, 2.0),
    "reshape": grid(lambda x: build("mul", x, np.arange(8.0).reshape(2, 2, 2))),
    "transpose": grid(lambda x: build("mul", b.transpose(x, (1, 2, 0)), np.arange(8.0).reshape(2, 2, 2))),
    "broadcast": grid(lambda x: build("mul", b.broadcast(index(x, (slice(None), slice(0, 1))), (3, 2, 4, 2)),
                                      np.cos(np.arange(48.0)).reshape(3, 2, 4, 2))),
    "slice": grid(lambda x: index(x, (slice(None, None, -1), slice(1, 2), 0))),
    "embed": grid(lambda x: build("embed", x, starts=(1, 5, 0), steps=(1, -2, 3), shape=(4, 7, 5))),
    "gather": (lambda x: b.concat([build("gather", x, index=Index([3, 3, 0, 7, 3])),
                                   build("gather", x, index=Index([2, 0, 1, 7, 6, 5, 3, 4]))]), -2.0, 2.0),
    "scatter": (lambda x: build("scatter", x, index=Index([4, 0, 0, 2, 4, 4, 1, 0]), size=6), -2.0, 2.0),
    "concat": (lambda x: build("concat", index(x, slice(2, 5)), x, index(x, slice(0, 2))), -2.0, 2.0),
    **{op: reductions(op) for op in ("sum", "prod", "amin", "amax", "norm")},
    "cumsum": scans("cumsum"), "cumprod": scans("cumprod"), "cummin": scans("cummin"), "cummax": scans("cummax"),
    "recur": (lambda x: b.concat([_recur(x, index(x, slice(None, None, -1)), reverse) for reverse in (False, True)]), -1.5, 1.5),
}


def test_no_operation_is_forgotten():
    assert set(ARRAY_RULES) | {name for name, row in OPS.items() if row.derivative} == set(OPS) - {"var", "const"}
    assert not [name for name in ARRAY_RULES if OPS[name].derivative]
    assert set(CASES) == set(OPS) - {"var", "const"}


@pytest.mark.parametrize("op", CASES)
def test_operation(op):
    function, low, high = CASES[op]
    f = weighted(function(var("x", (8,))))
    assert op in {node.op for node in topological([f])}
    for seed in range(3):
        assert_derivatives(f, np.random.default_rng(seed).uniform(low, high, 8), seed)


# ---- functions as users write them

LAYER, BIAS, OUT = np.sin(np.arange(24.0)).reshape(6, 4), np.cos(np.arange(6.0)), np.sin(2 * np.arange(6.0))
MORE = {
    "styblinski-tang": (lambda x: 0.5 * np.sum(x**4 - 16 * x**2 + 5 * x), 6, -5.0, 5.0),
    "product of sines": (lambda x: -2.5 * np.prod(np.sin(x - 0.5)) - np.prod(np.sin(5 * (x - 0.5))), 6, 0.1, 3.0),
    "network": (lambda x: OUT @ np.tanh(LAYER @ x + BIAS), 4, -2.0, 2.0),
    "norms": (lambda x: np.linalg.norm(x - 1) * np.sqrt(x[0] ** 2 + x[1] ** 2) + np.sum(np.abs(x)), 5, -2.0, 2.0),
    "running product": (lambda x: np.sum(np.cumprod(x) * np.arange(1, 7)), 6, -2.0, 2.0),
    "roll": (lambda x: np.sum((np.roll(x, 1) - x**2) ** 2 * np.roll(x, -2)), 5, -2.0, 2.0),
    "repeated positions": (lambda x: np.sum(np.sin(x[[0, 2, 2, 1, 2]]) * x[[3, 3, 0, 0, 1]]), 4, -2.0, 2.0),
    "contraction": (lambda x: np.einsum("i,ij,jk,k", OUT, LAYER, x.reshape(4, 2) ** 2, np.sin(x[:2])), 8, -2.0, 2.0),
    "distances": (lambda x: np.sum(1 / (0.5 + (x[:, None] - x[None, :]) ** 2)), 5, -2.0, 2.0),
    "centred": (lambda x: np.sum((x - np.mean(x)) ** 4) + np.var(np.exp(x)), 5, -1.0, 1.0),
    "extremes": (lambda x: np.max(x * WEIGHTS[:6]) * np.min(np.sin(x)) + np.max(np.abs(x.reshape(2, 3)), axis=1).prod(),
                 6, -2.0, 2.0),
    "constant powers": (lambda x: np.sum(x**1.5 + x**-0.1) + np.sum(x ** np.array([2.5, 0.1, 1 / 3])), 3, 0.2, 2.0),
    "loop over elements": (lambda x: sum(x[i] * np.sin(x[i + 1]) for i in range(5)), 6, -2.0, 2.0),
    "loop over windows": (lambda x: sum(np.sum(x[i:i + 3]) ** 2 * x[i] for i in range(6)), 8, -2.0, 2.0),
    "corners of a table": (lambda x: (t := x.reshape(3, 4))[0, 0] * t[2, 3] + t[1, 1:].sum() ** 2 * t[1, 0], 12, -2.0, 2.0),
}


@pytest.mark.parametrize("name", [*MORE, *USER_FUNCTIONS])
def test_composite_function(name):
    function, n, low, high = MORE[name] if name in MORE else USER_FUNCTIONS[name]
    assert_derivatives(trace(function, n), np.random.default_rng(5).uniform(low, high, n))


@pytest.mark.parametrize("zeros", [0, 1, 2, 3])
def test_product_with_zero_factors(zeros):
    """No division by an element: one zero factor leaves one derivative, two leave second derivatives only."""
    x = np.array([1.5, -0.5, 2.0, 0.75, -3.0])
    x[:zeros] = 0.0
    assert_derivatives(trace(lambda x: np.prod(x) + np.sum(np.cumprod(x[::-1])), 5), x)


# ---- random compositions

SHIFT = np.array([0.31, -0.77, 1.23, 0.05])


def _bounded(x: Expr) -> Expr:
    return build("tanh", x)


def _apart(x: Expr) -> Expr:
    """Elements that do not tie, for operations with a kink."""
    return build("add", x, SHIFT)


def _all_pairs(x: Expr, y: Expr) -> Expr:
    return reduce("sum", build("mul", b.reshape(x, (4, 1)), build("cos", b.reshape(y, (1, 4)))), [0])


STEPS = {
    "sin": lambda x, y: build("sin", x),
    "exp": lambda x, y: build("exp", _bounded(x)),
    "log": lambda x, y: build("log", build("add", 1.5, build("powi", x, k=2))),
    "arctan": lambda x, y: build("arctan", x),
    "sqrt": lambda x, y: build("sqrt", build("add", 1.1, _bounded(x))),
    "cube": lambda x, y: build("powi", _bounded(x), k=3),
    "add": lambda x, y: build("add", x, y),
    "sub": lambda x, y: build("sub", x, build("neg", y)),
    "mul": lambda x, y: build("mul", _bounded(x), y),
    "square": lambda x, y: build("mul", build("mul", y, _bounded(x)), build("mul", -3.0, y)),
    "div": lambda x, y: build("div", x, build("cosh", _bounded(y))),
    "pow": lambda x, y: build("pow", build("cosh", _bounded(x)), y),
    "hypot": lambda x, y: build("hypot", _apart(x), y),
    "max": lambda x, y: build("max", _apart(x), y),
    "min": lambda x, y: build("min", _apart(x), y),
    "abs": lambda x, y: build("abs", _apart(x)),
    "where": lambda x, y: build("where", build("lt", _apart(x), y), build("mul", x, y), build("sin", y)),
    "sum": lambda x, y: build("mul", reduce("sum", x), y),
    "norm": lambda x, y: build("sub", y, reduce("norm", _apart(x))),
    "prod": lambda x, y: build("add", reduce("prod", _bounded(x)), y),
    "amax": lambda x, y: build("mul", reduce("amax", _apart(x)), y),
    "pairs": _all_pairs,
    "turn": lambda x, y: b.reshape(b.transpose(b.reshape(x, (2, 2)), (1, 0)), (4,)),
    "reverse": lambda x, y: index(x, slice(None, None, -1)),
    "roll": lambda x, y: b.concat([index(x, slice(1, 4)), index(y, slice(0, 1))]),
    "embed": lambda x, y: build("embed", index(x, slice(0, 2)), starts=(0,), steps=(2,), shape=(4,)),
    "gather": lambda x, y: build("gather", x, index=Index([1, 3, 3, 0])),
    "scatter": lambda x, y: build("scatter", x, index=Index([2, 2, 0, 3]), size=4),
    "cumsum": lambda x, y: build("cumsum", x, reverse=True, exclusive=True),
    "cumprod": lambda x, y: build("cumprod", _bounded(x), reverse=False, exclusive=True),
    "cummin": lambda x, y: build("cummin", _apart(x), reverse=True, exclusive=False),
    "recur": lambda x, y: build("recur", x, _bounded(y), reverse=True),
    "element": lambda x, y: build("mul", index(x, 0), build("sub", y, 0.5)),
}


@settings(max_examples=120, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(sorted(STEPS)), st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=7),
       st.integers(0, 2**32 - 1))
def test_random_composition(program, seed):
    made = [var("x", (4,))]
    for name, i, j in program:
        made.append(STEPS[name](made[-1 - i % len(made)], made[-1 - j % len(made)]))
    assert_derivatives(weighted(made[-1]), np.random.default_rng(seed).uniform(-1.5, 1.5, 4), seed)


# ---- size and form of what is built

def count(*roots: Expr) -> int:
    return sum(1 for _ in topological(list(roots)))


@pytest.mark.parametrize("fun", [rastrigin, ackley, griewank, levy, rosenbrock])
def test_the_gradient_is_small_and_does_not_grow_with_n(fun):
    sizes = []
    for n in (100, 10_000):
        f, x, v = trace(fun, n), var("x", (n,)), var("v", (n,))
        sizes.append((count(gradient(f, x)), count(hessian_vector(f, x, v))))
        assert count(gradient(f, x)) <= 2 * count(f) and count(hessian_vector(f, x, v)) <= 4 * count(f)
    assert sizes[0] == sizes[1]


def test_elements_taken_one_by_one_cost_no_more_than_linear_work():
    def work(n):
        single = trace(lambda x: sum(x[i] ** 2 * x[i + 1] for i in range(n - 1)), n)
        windows = trace(lambda x: sum(np.sum(x[i:i + 3]) ** 2 for i in range(n - 3)), n)
        return [sum(node.size for node in topological([gradient(f, var("x", (n,)))])) for f in (single, windows)]
    assert all(large < 2.2 * small for large, small in zip(work(80), work(40), strict=True))


def test_what_does_not_depend_on_x_gets_no_adjoint():
    x, v = var("x", (3,)), var("v", (3,))
    f = reduce("sum", build("mul", build("exp", build("sin", v)), x))
    assert gradient(f, x) is build("exp", build("sin", v))
    assert b.is_zero(gradient(f, var("y", (5,)))) and gradient(f, var("y", (5,))).shape == (5,)
    assert b.is_zero(hessian_vector(f, x, v))
    assert b.is_zero(gradient(reduce("sum", build("floor", x)), x))
    assert depends_on([f], x) == {id(x), id(f.args[0]), id(f)}


def test_parts_of_the_value_are_reused():
    x = var("x", (3,))
    for op in ("exp", "tanh", "sqrt", "tan", "cbrt"):
        node = build(op, x)
        assert id(node) in {id(n) for n in topological([gradient(reduce("sum", node), x)])}
    assert gradient(reduce("sum", build("powi", x, k=3)), x) is build("mul", 3.0, build("powi", x, k=2))


def test_a_variable_that_meets_itself_becomes_a_power():
    """x * cos(x^2) * 2x must enclose a square, which is not negative, not the product of x with itself."""
    x = var("x", (3,))
    slopes = gradient(trace(lambda x: np.sum(x * np.sin(x**2)), 3), x)
    assert sum(node.op == "mul" and x in node.args for node in topological([slopes])) == 0


def test_kinks_have_generalised_derivatives():
    x = var("x", (2,))
    first, second = index(x, 0), index(x, 1)
    kinds = {
        "slope": trace(lambda x: np.sum(np.abs(x)), 2), "step": build("max", first, second), "ratio": reduce("norm", x),
    }
    for op, f in kinds.items():
        assert op in {node.op for node in topological([gradient(f, x)])}
    for op, tie in (("max", 0.5), ("min", 0.5)):
        np.testing.assert_array_equal(evaluate(gradient(build(op, first, second), x), [1.0, 1.0]), [tie, tie])
    np.testing.assert_array_equal(evaluate(gradient(reduce("amax", x), x), [3.0, 3.0]), [0.5, 0.5])
    np.testing.assert_array_equal(evaluate(gradient(reduce("amin", x), x), [1.0, 3.0]), [1.0, 0.0])


@pytest.mark.parametrize("fun", [
    lambda x: x[0] + np.where(x[1] > 0, np.sqrt(x[0]), x[0] ** 2),
    lambda x: x[0] + np.where(x[1] > 0, np.exp(np.log(x[0]) / np.sqrt(x[0])), x[0] ** 2),
    lambda x: x[0] + np.where(x[1] <= 0, x[0] ** 2, np.arcsin(4 * x[0])),
    lambda x: x[0] + np.where(x[1] > 0, np.sum(np.sqrt(x)), x[0] ** 2),
    lambda x: x[0] + np.where(x[1] > 0, np.where(x[0] > 1, np.log(x[0]), 3.0), x[0] ** 2),
])
def test_a_branch_not_taken_spoils_nothing(fun):
    """Where the other branch is undefined, its derivative is undefined too and must be left out, not multiplied by 0."""
    f, x = trace(fun, 2), var("x", (2,))
    np.testing.assert_allclose(evaluate(gradient(f, x), [-2.0, -1.0]), [-3.0, 0.0])
    np.testing.assert_allclose(evaluate(hessian_vector(f, x, var("v", (2,))), {"x": [-2.0, -1.0], "v": [1.0, 1.0]}), [2.0, 0.0])


# ---- constants and errors

def test_logarithms_lie_between_neighbouring_doubles():
    ctx.prec = 200
    for c, n in ((LN2, 2), (LN10, 10)):
        assert arb(float(c.lo)) < arb(n).log() < arb(float(c.hi)) and math.nextafter(float(c.lo), 9.0) == float(c.hi)


@pytest.mark.parametrize("y", [2.5, 0.1, -0.1, 1 / 3, 1e-20, -1e-20, 1e17 + 0.5, 5e-324])
def test_an_exponent_less_one_is_enclosed(y):
    x = var("x", (1,))
    slopes = gradient(reduce("sum", build("pow", x, const(y))), x)
    found = next(node.args[1] for node in topological([slopes]) if node.op == "pow").args[0]
    lo, hi, exact = float(found.lo), float(found.hi), Fraction(y) - 1
    assert Fraction(lo) <= exact <= Fraction(hi)
    assert lo == hi if Fraction(lo) == exact else math.nextafter(lo, math.inf) == hi


def test_what_cannot_be_differentiated_says_so():
    x = var("x", (3,))
    with pytest.raises(ShapeError, match="scalar"):
        gradient(x, x)
    with pytest.raises(ShapeError, match="variable"):
        gradient(reduce("sum", x), build("sin", x))
    with pytest.raises(ShapeError, match="shape"):
        hessian_vector(reduce("sum", x), x, var("v", (2,)))


def test_the_example_in_the_documentation():
    assert doctest.testmod(differentiate).failed == 0 and doctest.testmod(differentiate).attempted > 0
