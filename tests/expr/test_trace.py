"""What was traced must be the function that the user wrote."""

import copy
import warnings

import hypothesis.extra.numpy as arrays
import hypothesis.strategies as st
import numpy as np
import pytest
from evaluate_with_numpy import ROWS, SHAPED_ROWS, evaluate
from hypothesis import given, settings
from user_benchmarks import USER_BENCHMARKS
from user_functions import DATA_T, DATA_Y, USER_FUNCTIONS, ackley, griewank, levy, rastrigin, rosenbrock, sum_of_powers
from user_idioms import USER_IDIOMS

from infimum.expr.build import build
from infimum.expr.node import Index, const, topological, var
from infimum.ops.vocabulary import OPS, Kind
from infimum.trace.trace import trace


def assert_same(fun, n, low, high, args=()):
    expr = trace(fun, n, args)
    assert expr.shape == ()
    random = np.random.default_rng(7)
    for _ in range(12):
        x = random.uniform(low, high, n)
        expected = float(np.asarray(fun(x.copy(), *args)).reshape(()))
        assert np.isfinite(expected)
        np.testing.assert_allclose(float(evaluate(expr, x)), expected, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("name", USER_FUNCTIONS)
def test_the_traced_function_is_the_users(name):
    fun, n, low, high = USER_FUNCTIONS[name]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace(fun, n)
    assert_same(fun, n, low, high)


@pytest.mark.parametrize("fun", [*USER_IDIOMS.values(), *USER_BENCHMARKS.values()], ids=[*USER_IDIOMS, *USER_BENCHMARKS])
def test_the_traced_idiom_is_the_users(fun):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        trace(fun, 4)
    assert_same(fun, 4, -1.0, 1.0)


def test_further_arguments_are_constants():
    def residuals(x, t, y, scale=1.0):
        return scale * np.sum((y - x[0] * np.exp(-x[1] * t)) ** 2)

    assert_same(residuals, 2, -1.0, 1.0, (DATA_T, DATA_Y))
    assert_same(residuals, 2, -1.0, 1.0, (DATA_T, DATA_Y, 3))
    assert trace(lambda x, c: c * x[0], 1, 5) is trace(lambda x, c: c * x[0], 1, [5])
    assert_same(lambda x, c: np.sum(c * x), 2, -1.0, 1.0, (np.array([1.5, 2.5], dtype=np.float32),))


@pytest.mark.parametrize("fun", [
    rastrigin, ackley, levy, griewank, rosenbrock, sum_of_powers,
    lambda x: np.sum(np.where(x > 0, x, x**2)) + np.linalg.norm(x) + np.dot(x, x),
    lambda x: np.sum(np.cumsum(x)) + np.sum(np.diff(x) ** 2) + np.sum(np.roll(x, 1) * x) + np.max(x[::-1]),
    lambda x: np.sum(np.clip(x, -1, np.linspace(0, 1, len(x)))) + np.var(x),
])
def test_the_graph_does_not_grow_with_n(fun):
    count = [sum(1 for _ in topological([trace(fun, n)])) for n in (100, 10_000)]
    assert count[0] == count[1] < 60


def test_equal_operands_become_squares():
    x = var("x", (3,))
    assert trace(lambda x: np.dot(x, x), 3).args[0] is trace(lambda x: np.sum(x**2), 3).args[0]
    assert trace(lambda x: np.sqrt(np.sum(x * x)), 3) is trace(lambda x: np.linalg.norm(x), 3)
    assert trace(lambda x: x @ x, 3).args[0].args == (x,)


def test_the_unselected_branch_of_a_known_condition_leaves_no_trace():
    expr = trace(lambda x: np.sum(np.where(np.array([True, True]), x, np.log(x))), 2)
    assert expr.op == "sum" and expr.args[0] is var("x", (2,))


def test_views_of_conditions_are_conditions_on_views():
    expr = trace(lambda x: np.sum(np.where((x[0] > 0) & (x > -1).reshape(2, 2), x[:2], 1.0)), 4)
    assert all(arg.kind is not Kind.TEST for node in topological([expr]) if node.kind is Kind.VIEW for arg in node.args)


def test_lines_are_recorded():
    def fun(x):
        y = np.sin(x)
        return np.sum(y * x) + np.mean(x)

    first = fun.__code__.co_firstlineno
    nodes = list(topological([trace(fun, 17)]))
    lines = {node.op: node.line for node in nodes}
    assert lines["sin"] == f"{__file__}:{first + 1}"
    assert {lines[op] for op in ("mul", "sum", "add", "div")} == {f"{__file__}:{first + 2}"}


def test_a_long_loop_is_no_deep_recursion():
    def fun(x):
        s = 0.0
        for xi in x:
            s = s + xi * xi
        return np.sqrt(s)

    expr = trace(fun, 3000)
    assert float(evaluate(expr, np.ones(3000))) == pytest.approx(np.sqrt(3000.0), rel=1e-12)


def test_numpy_functions_and_scipys_can_be_traced_themselves():
    optimize = pytest.importorskip("scipy.optimize")
    assert trace(np.sum, 3) is trace(lambda x: np.sum(x), 3)
    assert_same(optimize.rosen, 5, -2.0, 2.0)


def test_constants_of_unknown_digits_pass_through():
    third = const(0.333, 0.334)
    expr = trace(lambda x: x[0] * third, 1)
    assert any(node is third for node in topological([expr]))


def test_copies_and_protocols_of_a_traced_value():
    def fun(x):
        assert copy.copy(x) is not x and copy.deepcopy([x])[0].expr is x.expr
        assert len(x) == x.size == 2 and x.shape == (2,) and x.ndim == 1 and x.dtype == np.float64
        assert x is not None and (x == None) is False and x != "x"  # noqa: E711
        assert len(list(reversed(x))) == 2
        with pytest.raises(TypeError):
            len(x[0])
        with pytest.raises(TypeError):
            iter(x[0])
        with pytest.raises(AttributeError):
            _ = x.no_such_name
        assert not hasattr(x, "__array_interface__")
        return x[0]

    trace(fun, 2)


def test_the_reference_evaluator_knows_every_operation():
    assert {"var", "const"} | set(ROWS) | set(SHAPED_ROWS) == set(OPS)


def test_the_reference_evaluator_on_adjoints_and_recurrences():
    x = var("x", (3,))
    point = np.array([2.0, 3.0, 5.0])
    recur = build("recur", x, const([7.0, 0.5, 2.0]), reverse=False)
    assert evaluate(recur, point).tolist() == [2.0, 4.0, 13.0]
    assert evaluate(build("recur", x, const([0.5, 2.0, 7.0]), reverse=True), point).tolist() == [8.5, 13.0, 5.0]
    assert evaluate(build("embed", x, shape=(6,), starts=(5,), steps=(-2,)), point).tolist() == [0, 5, 0, 3, 0, 2]
    assert evaluate(build("scatter", x, index=Index(np.array([1, 0, 1])), size=2), point).tolist() == [3, 7]
    assert evaluate(build("cumsum", x, reverse=True, exclusive=True), point).tolist() == [8, 5, 0]
    assert evaluate(build("step", x, 3.0), point).tolist() == [0, 0.5, 1]
    assert evaluate(build("ratio", const([0.0, 1.0, -3.0]), const([0.0, 2.0, 3.0])), point).tolist() == [0, 0.5, -1]


def keys_for(shape):
    index = arrays.basic_indices(shape, allow_newaxis=True, allow_ellipsis=True)
    if not shape:
        return index
    return st.one_of(index, arrays.integer_array_indices(shape), arrays.arrays(bool, shape))


@settings(deadline=None, max_examples=300)
@given(st.data())
def test_indexing_is_numpys(data):
    shape = data.draw(arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=4))
    key = data.draw(keys_for(shape))
    values = np.arange(1.0, np.prod(shape) + 1)
    expected = values.reshape(shape)[key]
    seen = {}

    def fun(x):
        part = x.reshape(shape)[key]
        seen["shape"] = part.shape
        return np.sum(part * np.sqrt(np.arange(1, part.size + 1)).reshape(part.shape)) + x[0]

    expr = trace(fun, values.size)
    assert seen["shape"] == np.shape(expected)
    weights = np.sqrt(np.arange(1, np.size(expected) + 1)).reshape(np.shape(expected))
    np.testing.assert_allclose(evaluate(expr, values), np.sum(expected * weights) + 1, rtol=1e-13)


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_slices_of_slices_are_numpys(data):
    n = data.draw(st.integers(1, 9))
    first = data.draw(arrays.basic_indices((n,), min_dims=1, allow_ellipsis=False))
    values = np.arange(1.0, n + 1)
    second = data.draw(st.slices(len(values[first])))
    expected = values[first][second]
    expr = trace(lambda x: np.sum(x[first][second] * np.arange(1, expected.size + 1)), n)
    np.testing.assert_allclose(evaluate(expr, values), np.sum(expected * np.arange(1, expected.size + 1)))


@settings(deadline=None, max_examples=200)
@given(st.data())
def test_reductions_and_broadcasting_are_numpys(data):
    shapes = data.draw(arrays.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3, min_dims=0))
    a, b = shapes.input_shapes
    ndim = len(shapes.result_shape)
    axis = data.draw(st.one_of(st.none(), arrays.valid_tuple_axes(ndim))) if ndim else None
    keep = data.draw(st.booleans())
    reduce = data.draw(st.sampled_from([np.sum, np.prod, np.max, np.min, np.mean, np.var]))
    size = int(np.prod(a)) + int(np.prod(b))
    weights = {}

    def fun(x):
        left, right = x[:int(np.prod(a))].reshape(a), x[int(np.prod(a)):].reshape(b)
        reduced = reduce(left * right + right, axis=axis, keepdims=keep)
        shape = np.shape(reduced)
        weights.setdefault("shape", shape)
        assert shape == weights["shape"]
        return np.sum(reduced * np.cos(np.arange(np.prod(shape, dtype=int))).reshape(shape))

    x = np.linspace(0.3, 1.7, size)
    expected = fun(x)
    np.testing.assert_allclose(evaluate(trace(fun, size), x), expected, rtol=1e-11, atol=1e-13)


def test_a_node_has_the_line_of_the_function_that_was_traced_last():
    """Equal nodes are one; an earlier function that is still alive does not lend its lines to a later one."""
    def first(x):
        return np.exp(x[0] + 0.123)

    def second(x):
        return np.exp(x[0] + 0.123)
    kept = trace(first, 1)
    before = kept.line
    assert trace(second, 1) is kept and kept.line != before and kept.line.text == "np.exp(x[0] + 0.123)"
