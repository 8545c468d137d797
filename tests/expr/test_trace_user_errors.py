"""Exceptions of the user's own function, and what is returned from it and passed in."""


import math
from decimal import Decimal

import numpy as np
import pytest

from infimum.errors import InfimumError, TraceError, UserFunctionError
from infimum.trace.trace import trace

# ---- exceptions of the user's own

def out_of_range(x):
    return x[7]


def key_error(x):
    return {}["missing"] * x[0]


def shapes_do_not_fit(x):
    return np.sum(x + np.ones(4))


def matrices_do_not_fit(x):
    return np.sum(np.ones((2, 5)) @ x)


def bad_axis(x):
    return np.sum(x, axis=1)


@pytest.mark.parametrize(("fun", "cause", "words"), [
    (out_of_range, IndexError, "index 7 is out of bounds"),
    (key_error, KeyError, "missing"),
    (shapes_do_not_fit, ValueError, "broadcast"),
    (matrices_do_not_fit, ValueError, "(2, 5)"),
    (bad_axis, ValueError, "axis 1"),
])
def test_users_exceptions_are_chained(fun, cause, words):
    with pytest.raises(UserFunctionError) as caught:
        trace(fun, 3)
    assert isinstance(caught.value.__cause__, cause)
    assert f"{__file__}:{fun.__code__.co_firstlineno + 1}" in str(caught.value)
    assert words in str(caught.value) and type(caught.value.__cause__).__name__ in str(caught.value)


def test_wrong_number_of_arguments():
    with pytest.raises(UserFunctionError, match=r"missing 1 required positional argument.*`args`") as caught:
        trace(lambda x, y: x[0], 3)
    assert __file__ in str(caught.value)


def test_keyboard_interrupt_is_not_swallowed():
    def interrupted(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trace(interrupted, 1)


# ---- what is returned and what is passed in

@pytest.mark.parametrize(("result", "words"), [
    (None, "None.*`return` missing"),
    ("text", "the string 'text'"),
    (True, "truth value"),
    (1j, "complex"),
    (np.array([1.0, 2.0]), r"shape \(2,\).*np.sum"),
    ([1.0], "list of length 1"),
    (math.nan, "nan.*finite"),
    (np.float64(np.inf), "inf.*finite"),
    (2**53 + 1, "not exactly a double"),
    (Decimal(1), "Decimal"),
    ({}, "dict"),
])
def test_constant_results_that_are_no_number(result, words):
    with pytest.raises(TraceError, match=words):
        trace(lambda x: result, 2)


@pytest.mark.parametrize(("fun", "words"), [
    (lambda x: x * 2, r"an array of shape \(3,\).*np.sum"),
    (lambda x: x[0] > 1, "truth value"),
    (lambda x: (x[0], x[1]), "tuple of length 2"),
    (lambda x: np.array([x[0], x[1]]), r"shape \(2,\)"),
])
def test_traced_results_that_are_no_number(fun, words):
    with pytest.raises(TraceError, match=words) as caught:
        trace(fun, 3)
    assert f"{__file__}:{fun.__code__.co_firstlineno}" in str(caught.value)


@pytest.mark.parametrize(("n", "words"), [(0, "empty vector"), (-1, "positive integer"), (2.5, "positive integer"),
                                          (True, "positive integer"), (None, "positive integer"), ("2", "positive integer")])
def test_number_of_variables(n, words):
    with pytest.raises(InfimumError, match=words):
        trace(lambda x: x[0], n)


def test_function_that_cannot_be_called():
    with pytest.raises(TraceError, match="cannot be called"):
        trace(3.0, 2)


def test_numpy_integers_count_variables():
    assert trace(lambda x: x[0], np.int64(2)) is trace(lambda x: x[0], 2)


def test_errors_without_a_line_of_user_code():
    with pytest.raises(TraceError, match="np.sort has no rule"):
        trace(np.sort, 2)
