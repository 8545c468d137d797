"""What a function may do that would silently make it another function when traced."""

import contextlib
import copy
import math
import random

import numpy as np
import pytest

from infimum import TraceError
from infimum.trace.trace import trace
from tests.expr.evaluate_with_numpy import evaluate


def broad_except(x):
    try:
        if x[0] <= 0:
            raise ValueError
        return np.log(x[0]) ** 2
    except Exception:
        return 1e10


def suppressed(x):
    with contextlib.suppress(Exception):
        return float(x[0])
    return 7.0


def bare_except(x):
    try:
        return np.sum(np.sort(x))
    except:  # noqa: E722
        return 0.0


@pytest.mark.parametrize("fun", [broad_except, suppressed, bare_except])
def test_our_errors_cannot_be_swallowed(fun):
    with pytest.raises(TraceError, match="caught this error") as caught:
        trace(fun, 2)
    assert __file__ in str(caught.value)


def test_exceptions_of_the_users_own_may_be_caught():
    def f(x):
        try:
            return np.sum(x) * (1 / len([]))
        except ZeroDivisionError:
            return np.sum(x)
    assert evaluate(trace(f, 2), np.array([1.0, 2.0])) == 3.0


@pytest.mark.parametrize("fun", [lambda x: x[0] + np.random.rand(), lambda x: x[0] * random.random(),
                                 lambda x: np.sum(x + np.random.normal(size=2))])
def test_random_numbers_are_refused(fun):
    with pytest.raises(TraceError, match="random numbers"):
        trace(fun, 2)


def test_copies_are_copies():
    def f(x):
        y, z = copy.copy(x), copy.deepcopy(x)
        y += 1
        z *= 2
        return np.sum(x) + 10 * np.sum(y) + 100 * np.sum(z)
    x = np.array([0.5, 1.5])
    assert evaluate(trace(f, 2), x) == f(x.copy())


def test_arrays_that_share_memory_with_the_input_are_not_left_behind():
    def f(x):
        a = np.asarray(x)
        x += 1
        return np.sum(a)
    x = np.array([0.5, 1.5])
    assert evaluate(trace(f, 2), x) == f(x.copy()) == 4.0

    def beyond_the_second_run(x):
        global CALLS
        CALLS = 1
        return f(x)
    with pytest.raises(TraceError, match="shares its memory"):
        trace(beyond_the_second_run, 2)


@pytest.mark.parametrize("fun", [lambda x: np.ravel(x.reshape(2, 3), "F")[1], lambda x: x.reshape(2, 3).ravel("F")[1],
                                 lambda x: np.reshape(x, (2, 3), "F")[0, 1], lambda x: x.reshape((3, 2), order="F")[2, 0]])
def test_columns_first_is_honoured_by_position_too(fun):
    x = np.arange(6.0) + 0.5
    assert evaluate(trace(fun, 6), x) == fun(x)


@pytest.mark.parametrize("order", ["A", "K"])
def test_orders_that_depend_on_memory_are_refused(order):
    with pytest.raises(TraceError, match="lies nowhere"):
        trace(lambda x: x.reshape(2, 3).T.ravel(order)[1], 6)


@pytest.mark.parametrize(("fun", "cure"), [
    (lambda x: int(x[0]), "np.trunc"), (lambda x: np.fmod(x[0], 2.0), "np.trunc"),
    (lambda x: math.log(x[0], 2), "np.log2"), (lambda x: math.copysign(1.0, x[0]), "np.where"),
])
def test_cures_that_mean_the_same_function(fun, cure):
    with pytest.raises(TraceError, match=cure):
        trace(fun, 2)


@pytest.mark.parametrize(("divisor", "low", "high"), [(1.0, 0.0, 1.0), (-2.5, -2.5, 0.0)])
def test_remainders_stay_between_0_and_the_divisor(divisor, low, high):
    import infimum

    wide = infimum.enclose(lambda x: x[0] % divisor, [(0.2, 1e20)])
    assert (wide.lo, wide.hi) == (low, high)
    f = infimum.compile(lambda x: x[0] % divisor, 1)
    narrow = f.value([0.25], [0.5])
    assert narrow.smooth and abs(narrow.lo - 0.25 % divisor) < 1e-15 and abs(narrow.hi - 0.5 % divisor) < 1e-15
    for x in (-7.3, -1.0, 0.0, 0.4, 12.75):
        r = f.value([x], [x])
        assert r.lo <= x % divisor <= r.hi


def test_an_import_inside_the_function_may_draw_random_numbers(tmp_path, monkeypatch):
    """Only the first call imports; the function itself draws none."""
    (tmp_path / "draws_when_imported.py").write_text("import random\nimport numpy as np\nrandom.random()\nnp.random.rand()\n")
    monkeypatch.syspath_prepend(tmp_path)

    def fun(x):
        import draws_when_imported  # noqa: F401
        return x[0] ** 2

    def drawing(x):
        import draws_when_imported  # noqa: F401
        return x[0] * np.random.rand()
    assert trace(fun, 1) is trace(lambda x: x[0] ** 2, 1)
    with pytest.raises(TraceError, match="draws random numbers"):
        trace(drawing, 1)
