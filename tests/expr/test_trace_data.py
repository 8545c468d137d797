"""Data that is no plain array of doubles: it means what it holds, or is refused with the cure, at the user's line."""

import inspect

import numpy as np
import pytest
from evaluate_with_numpy import evaluate

from infimum.errors import TraceError, UserFunctionError
from infimum.trace.trace import trace

POINT = np.array([0.5, -0.25, 2.0])
SINGLE = np.array([0.1, 0.2, 0.3], dtype=np.float32)
HALF = np.array([0.1, 0.2, 0.3], dtype=np.float16)
INTEGERS = np.array([1, -2, 3], dtype=np.int8)
UNMASKED = np.ma.masked_array([1.0, 2.0, 3.0])
MASKED = np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False])


@pytest.mark.parametrize("fun", [
    lambda x: np.sum(SINGLE * x), lambda x: np.sum(x * SINGLE), lambda x: np.dot(HALF, x), lambda x: np.sum(INTEGERS * x),
    lambda x: np.sum(x ** np.abs(INTEGERS)), lambda x: np.sum(np.where(SINGLE > 0.15, x, SINGLE)), lambda x: np.sum(x * UNMASKED),
    lambda x: np.sum(np.concatenate([x, UNMASKED])), lambda x: x @ SINGLE, lambda x: np.interp(x[0], SINGLE, HALF),
])
def test_other_types_are_the_numbers_they_hold(fun):
    assert float(evaluate(trace(fun, 3), POINT)) == pytest.approx(float(fun(POINT)), rel=1e-14)


@pytest.mark.parametrize("fun", [
    lambda x: np.sum(x * MASKED), lambda x: np.sum(np.concatenate([x, MASKED])), lambda x: np.dot(x, MASKED),
    lambda x: np.sum(np.where((x > 0) & (MASKED > 1), x, 0.0)), lambda x: np.sum(np.maximum(x, MASKED)),
])
def test_a_mask_is_not_ignored(fun):
    with pytest.raises(TraceError, match=r"hides some.*compressed\(\)"):
        trace(fun, 3)


def test_masked_arrays_on_the_left_leave_out_what_they_hide():
    assert float(evaluate(trace(lambda x: np.sum(MASKED * x), 3), POINT)) == np.sum(MASKED * POINT) == 6.5


# ---- pandas

pandas = pytest.importorskip("pandas")
SERIES = pandas.Series([1.0, 2.0, 3.0], index=[2, 1, 0])
FRAME = pandas.DataFrame({"t": [1.0, 2.0, 3.0], "y": [2.0, 3.0, 5.0]})


def left(x):
    return np.sum(SERIES * x[0])


def right(x):
    return np.sum(x * SERIES)


def least_squares(x):
    return ((FRAME["y"] - x[0] * np.exp(-x[1] * FRAME["t"])) ** 2).sum()


def by_a_ufunc(x):
    return np.sum(np.add(SERIES, x))


def spread(x):
    return (SERIES + x[0]).std()


def compared(x):
    return np.sum(SERIES > x[0])


def frame(x):
    return np.sum(FRAME * x[0])


def joined(x):
    return np.concatenate([x, SERIES])[4]


def product(x):
    return np.dot(SERIES, x)


@pytest.mark.parametrize("fun", [left, right, least_squares, by_a_ufunc, spread, compared, frame, joined, product])
def test_pandas_says_to_numpy_at_the_users_line(fun):
    """Series match their elements by label, and their std is another than NumPy's: taken for arrays they would mislead."""
    with pytest.raises(TraceError, match=r"pandas.*\.to_numpy\(\)") as caught:
        trace(fun, 3)
    assert not isinstance(caught.value, UserFunctionError)
    assert str(caught.value).startswith(f"{__file__}:{inspect.getsourcelines(fun)[1] + 1}, in `")


@pytest.mark.parametrize("fun", [
    lambda x: np.sum((FRAME["y"].to_numpy() - x[0] * FRAME["t"].values) ** 2),
    lambda x: sum(r.y - x[0] * r.t for r in FRAME.itertuples()),
    lambda x: sum(SERIES.iloc[i] * x[i] for i in range(3)), lambda x: np.sum(FRAME.to_numpy() @ x[:2]),
])
def test_values_of_pandas_are_data(fun):
    assert float(evaluate(trace(fun, 3), POINT)) == pytest.approx(float(fun(POINT)), rel=1e-14)


# ---- compiled functions

def test_functions_compiled_by_numba_name_their_python_function():
    """A stand-in of Numba's dispatcher: it cannot take a traced value and says so by an error of its own module."""
    class TypingError(Exception):
        __module__ = "numba.core.errors"

    class Dispatcher:
        def py_func(self, x):
            return x[0]

        def __call__(self, x):
            raise TypingError("cannot determine Numba type of <class 'Tracer'>")

    for fun in (Dispatcher(), lambda x: 2.0 * Dispatcher()(x)):
        with pytest.raises(TraceError, match="given to numba.*py_func") as caught:
            trace(fun, 2)
        assert not isinstance(caught.value, UserFunctionError) and __file__ in str(caught.value)
