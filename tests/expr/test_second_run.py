"""The second run of a function, component by component: what it reaches, what it leaves alone, and what it must not change."""

import builtins
import threading

import numpy as np
import pytest
from evaluate_with_numpy import evaluate

import infimum
from infimum.errors import TraceError
from infimum.expr.node import topological, var
from infimum.expr.real import pi
from infimum.trace.component_arrays import Components, components_of, plain
from infimum.trace.trace import trace
from infimum.trace.tracer import Tracer

SCALE = 2.0
POINT = np.array([0.5, -0.25, 2.0])


def filled(x):
    y = np.zeros(3)
    y[0] = SCALE * x[0]
    y[1:] = x[1:] ** 2
    return np.sum(y * x)


def same(fun, n=3):
    value = float(evaluate(trace(fun, n), POINT[:n]))
    assert value == pytest.approx(float(fun(POINT[:n].copy())), rel=1e-14)


def test_nothing_outside_is_changed():
    before = np.zeros, np.array, builtins.max, dict(globals()), filled.__globals__
    trace(filled, 3)
    assert before == (np.zeros, np.array, builtins.max, dict(globals()), filled.__globals__)
    assert type(np.zeros(2)) is np.ndarray


def test_other_threads_see_plain_arrays():
    seen, entered, leave = [], threading.Event(), threading.Event()

    def slow(x):
        y = np.zeros(3)
        y[0] = x[0]
        entered.set()
        leave.wait(10)
        return y[0]

    def watch():
        entered.wait(10)
        seen.append(type(np.zeros(3)))
        leave.set()
    other = threading.Thread(target=watch)
    other.start()
    trace(slow, 3)
    other.join()
    assert seen == [np.ndarray]


def test_names_are_looked_up_when_they_are_used():
    global SCALE
    try:
        SCALE = 4.0
        assert evaluate(trace(filled, 3), np.array([1.0, 0.0, 0.0])) == 4.0
    finally:
        SCALE = 2.0


def test_a_function_that_sets_global_names_is_not_copied():
    def counting(x):
        global SCALE
        SCALE = 2.0
        return filled(x) + max(x[0], 0)
    with pytest.raises(TraceError, match="np.maximum|An array of numbers"):
        trace(counting, 3)


def test_a_function_that_sets_names_around_it_is_not_copied():
    calls = 0

    def counting(x):
        nonlocal calls
        calls += 1
        return max(x[0], 0)
    with pytest.raises(TraceError, match="np.maximum"):
        trace(counting, 3)
    assert calls == 1


def test_a_function_may_set_its_own_variables_from_inside():
    def fun(x):
        total = 0.0

        def add(value):
            nonlocal total
            total = total + value
        for xi in x:
            add(max(xi, 0))
        return total + np.ndim([x[0], x[1]]) + np.size([x[0], 1.0])
    same(fun)


def test_variables_around_a_function_are_shared():
    log = []

    def helper(x):
        log.append(len(x))
        y = np.ones(2)
        y[1] = x[2]
        return y

    def outer(x):
        return helper(x) @ [1.0, 2.0] + len(log)
    assert evaluate(trace(outer, 3), POINT) == 7.0 and log == [3, 3]


def test_whole_arrays_stay_whole():
    """The input is seen as the vector it is wherever nothing was assigned to it: the graph does not grow with n."""
    def fun(x):
        y = np.zeros(2)
        y[0] = x[0]
        return np.sum(np.exp(x)) + y.sum()
    assert len(list(topological([trace(fun, 500)]))) == len(list(topological([trace(fun, 20)])))


def test_beyond_the_limit_small_arrays_can_still_be_filled():
    def fun(x):
        y = np.zeros(2)
        y[0] = np.sum(x)
        return max(y[0], x[0])
    assert evaluate(trace(fun, 2000), np.ones(2000)) == 2000.0


def test_arrays_without_symbols_are_computed_by_numpy():
    def fun(x):
        a = np.ones(3) / 3
        a[0] = 0.1
        b = np.array([0.1, 0.2, 0.3]) + a
        if b[1] > 0.5 and a.sum() < 1 and np.argmax(b) == 2 and (b > 0).all() and isinstance(b[0], np.float64):
            y = np.zeros(3)
            y[:] = x
            return np.sum(y * b)
        return x[0]
    constants = [n.lo.tolist() for n in topological([trace(fun, 3)]) if n.op == "const"]
    assert [0.1 + 0.1, 1 / 3 + 0.2, 1 / 3 + 0.3] in constants


@pytest.mark.parametrize("fun", [
    lambda x: max(x[0], 0, key=abs), lambda x: np.array([x[0], 1], dtype=np.float32)[0],
    lambda x: np.sort(np.array([x[0], 1.0]))[0],
])
def test_what_stays_refused(fun):
    with pytest.raises(TraceError) as caught:
        trace(fun, 3)
    assert __file__ in str(caught.value)


# ---- Components are NumPy's arrays in all that concerns memory

def test_views_share_and_copies_do_not():
    def fun(x):
        a = np.zeros((2, 3))
        row, column, picked, copied = a[0], a[:, 1], a[[0]], a.copy()
        a[0] = x
        row *= 2
        column += 1
        b = a.reshape(3, 2).T
        b[0, 0] = x[2]
        return np.sum(a * np.arange(6).reshape(2, 3)) + 10 * a[0, 0] + picked.sum() + copied.sum() + row[0] + column[1]
    same(fun)


def test_what_is_assigned_becomes_a_double():
    def fun(x):
        y = np.zeros(6)
        y[0], y[1], y[2], y[3] = True, 3, np.float32(0.1), x[0] > 0
        y[4] = x[0]
        assert type(y[0]) is np.float64 and type(y[1]) is np.float64
        return y[1] / 2 + y[2] + np.sum(y) + 1.0 * (y[3] + y[3])
    same(fun)


def test_the_true_pi_stays_true():
    def fun(x):
        y = np.zeros(2)
        y[0], y[1] = pi, x[0]
        return y.sum()
    assert any(n.op == "const" and n.lo < n.hi for n in topological([trace(fun, 1)]))


def test_components_of_a_vector_are_that_vector():
    x = var("x", (3,))
    whole = components_of(Tracer(x))
    assert isinstance(whole, Components) and plain(whole).expr is x and plain(whole + 0.0).expr is x
    assert plain(whole[::-1]).expr is not x and plain(whole.reshape(3, 1)).expr.args == (x,)


def test_uninitialised_numbers_are_not_relied_on():
    def fun(x):
        y = np.empty(3)
        for i in range(3):
            y[i] = x[i]
        return y.sum()
    same(fun)


def test_it_is_proved_like_any_other():
    def fun(x):
        residuals = np.zeros(2)
        residuals[0] = 10 * (x[1] - x[0] ** 2)
        residuals[1] = 1 - x[0]
        return np.sum(residuals**2)
    r = infimum.minimize(fun, [(-2, 2)] * 2)
    assert r.verdict.name == "PROVED" and r.upper < 1e-6 and np.allclose(r.x, 1, atol=1e-2)


def changed_through_functions(x):
    a = np.zeros((3, 3))
    flat, turned, diagonal, split, same_array = np.ravel(a), np.transpose(a), np.diag(a), np.split(a, 3)[1], np.atleast_1d(a)
    a[0] = x
    a[2, 2] = 4.0
    turned[1, 2] = 7.0
    flat[3] = x[0]
    np.fill_diagonal(a, 2.0)
    np.fill_diagonal(a[:, ::-1], x[1])
    np.put(a, [5], 9.0)
    np.copyto(a[1, :2], x[:2])
    np.add.at(flat, [0, 0, 8], [1.0, 2.0, 3.0])
    np.add.at(flat, [1, 1], x[:2])
    same_array[2, 0] += 1
    return np.sum(a * np.arange(9).reshape(3, 3)) + flat.sum() + turned[2, 1] + np.sum(diagonal) \
        + split[0, 2] + np.sum(same_array)


def plain_arrays_changed_through_functions(x):
    y = np.zeros(3)
    y[0] = max(x[0], 0)
    a, b = np.zeros((2, 3)), np.ones(3)
    np.fill_diagonal(a, 2.0)
    np.place(b, [True, False, True], [5.0])
    np.add.at(b, [0, 0], 1.0)
    np.multiply(b, 2.0, out=b)
    part = a.T
    part[2] = 3.0
    np.reshape(a, 6)[1] = 8.0
    b.sort()
    return y.sum() + np.sum(a * [1, 2, 3]) + b @ [1.0, 10.0, 100.0]


def results_are_arrays_of_their_own(x):
    y = x * 2
    z = y
    z += 1
    v = y[1:]
    v *= 3
    y[0] = 5.0
    w = np.where(x > 0, x, 0.0)
    w[1] = x[0]
    u = np.zeros(3) + 1
    u[2] = x[2]
    t = np.concatenate([y, w])
    t[0] = -1.0
    c = np.cumsum(np.exp(x))
    c[0] = 0.0
    return np.sum(y) + np.sum(x) + w.sum() + u @ y + np.sum(t * np.arange(6)) + c.sum() + np.sum(z)


@pytest.mark.parametrize("fun", [changed_through_functions, plain_arrays_changed_through_functions,
                                 results_are_arrays_of_their_own])
def test_changes_are_seen_through_every_name(fun):
    same(fun)


@pytest.mark.parametrize("write", [
    lambda a: np.sum(np.ones((3, 3)), 0, None, a), lambda a: np.cumsum(np.ones(3), out=a),
    lambda a: np.add(a, 1.0, out=a, where=[True, False, True]),
    lambda a: np.dot(np.ones((3, 3)), np.ones(3), out=a), lambda a: np.clip(np.ones(3), 0, 1, a),
])
def test_what_a_function_writes_is_not_lost(write):
    """An `out` of doubles is written, or refused."""
    def fun(x):
        y, a = np.zeros(3), np.zeros(3)
        y[0] = x[0]
        write(a)
        return y.sum() + a @ [1.0, 2.0, 3.0]
    try:
        value = evaluate(trace(fun, 3), POINT)
    except TraceError:
        return
    assert value == fun(POINT.copy())


@pytest.mark.parametrize("write", [
    lambda x: np.where(x > 0, 1, 0),
    lambda x: np.cumsum(x > 0),
    lambda x: np.select([x > 1, x > 0], [2, 1]),
    lambda x: np.multiply(x > 0, 1),
    lambda x: np.where(np.zeros(3) + x, 1, 0),
    lambda x: np.array([np.where(x[0] > 0, 1, 0), 2, 3]),
    lambda x: np.array(np.where(x > 0, 1, 0)),
])
def test_arrays_of_integers_take_no_assignments(write):
    """NumPy would cut to an integer what is assigned there."""
    def fun(x):
        y = write(x)
        y[0] = x[0]
        return np.sum(y)
    with pytest.raises(TraceError, match="cannot be assigned to"):
        trace(fun, 3)


def test_arrays_of_floats_made_of_conditions_do():
    def fun(x):
        y = np.zeros(3)
        y[x > 0] = 1.0
        z = np.array(y) + y
        z[0] += x[0]
        mask = np.where(x > 0, 1.0, 0)
        mask[2] = x[1]
        return np.sum(np.cumsum(z) * x * mask)
    same(fun)


def test_what_numpy_stores_elsewhere_is_read_as_a_double():
    def fun(x):
        y = np.zeros(3)
        y[1] = x[1]
        y.flat[0] = np.float32(0.1)
        return y[0] * y[0] + y[1]
    same(fun)


@pytest.mark.parametrize("fun", [
    lambda x: max(1.0, np.sqrt(x[1])) + x[0],
    lambda x: max(np.sqrt(x[0]), 1.0) + x[1],
    lambda x: min(x[0], np.log(x[1]), np.sqrt(-x[2]), x[2] - 3.0),
    lambda x: max([x[0], np.arccosh(x[0]), x[1]]),
])
def test_extrema_pass_over_nan_as_python_does(fun):
    """Python's max keeps what it has where the next value is NaN; a first value that is NaN stays."""
    with np.errstate(invalid="ignore"):
        expected = fun(POINT)
    found = infimum.enclose(fun, [(p, p) for p in POINT])
    assert found.defined and found.lo - 1e-14 <= expected <= found.hi + 1e-14
    assert infimum.enclose(lambda x: max(np.sqrt(x[1]), 1.0), [(p, p) for p in POINT]).empty


def test_a_minimum_where_the_other_value_is_nan_is_found():
    r = infimum.minimize(lambda x: max(1.0, np.sqrt(x[0])) + x[0], [(-1, 4)])
    assert r.verdict.name == "PROVED" and r.lower == r.upper == 0.0
