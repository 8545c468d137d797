"""What cannot be traced must say where in the user's code, on what expression, and what to write instead."""

import cmath
import inspect
import math
from decimal import Decimal
from fractions import Fraction
from math import atan2

import numpy as np
import pytest

from infimum.errors import TraceError, UserFunctionError
from infimum.expr.trace import trace

CASES = []


def case(fragment, *cures, n=3):
    """Registers a function that must fail at the line that holds `fragment`, naming it and the cures."""
    def register(fun):
        CASES.append(pytest.param(fun, fragment, cures, n, id=fun.__name__))
        return fun
    return register


@case("math.sin(x[0])", "np.sin instead of math.sin")
def math_function(x):
    return 1 + math.sin(x[0])


@case("atan2(x[0], x[1])", "np.arctan2")
def math_function_by_its_own_name(x):
    return atan2(x[0], x[1])


@case("list(map(math.exp, x))", "np.exp")
def math_function_in_map(x):
    return sum(list(map(math.exp, x)))


@case("math.isnan(x[0])", "drop the test")
def math_isnan(x):
    return 0.0 if math.isnan(x[0]) else 1.0


@case("math.gamma(x[0])", "math.gamma has no counterpart")
def math_without_counterpart(x):
    return math.gamma(x[0])


@case("cmath.sin(x[0])", "np.sin")
def complex_math(x):
    return cmath.sin(x[0])


@case("x[0] > 0", "np.where(condition, a, b)")
def if_statement(x):
    if x[0] > 0:
        return x[0]
    return -x[0]


@case("x[0]", "np.where")
def truth_of_a_number(x):
    return 1.0 if x[0] else 2.0


@case("x[0] > 0 and x[1] > 0", "np.logical_and")
def conjunction(x):
    return np.where(x[0] > 0 and x[1] > 0, x[0], x[1])


@case("0 < x[0] < 1", "np.where")
def chained_comparison(x):
    return np.where(0 < x[0] < 1, x[0], x[1])


@case("t > 1", "known number of steps")
def while_loop(x):
    t = x[0]
    while t > 1:
        t = t / 2
    return t


@case("max(x[0], 0)", "np.maximum(a, b)")
def builtin_max(x):
    return max(x[0], 0)


@case("min(x)", "np.minimum(a, b)", "np.min(np.stack")
def builtin_min(x):
    return min(x)


@case("sorted(x)", "order of traced values")
def builtin_sorted(x):
    return sorted(x)[0]


@case("any(x > 0)", "np.logical_or")
def builtin_any(x):
    return any(x > 0)


@case("float(x[0])", "Drop the conversion `float(...)`")
def float_of(x):
    return float(x[0]) ** 2


@case("int(x[0])", "np.trunc(...)")
def int_of(x):
    return int(x[0])


@case("np.float64(x[0])", "np.stack")
def numpy_float_of(x):
    return np.float64(x[0])


@case("round(x[0])", "np.floor(x + 0.5)")
def builtin_round(x):
    return round(x[0])


@case("range(x[0])", "known integer")
def range_of(x):
    return sum(range(x[0]))


@case("[1, 2, 3][x[0]]", "np.where")
def list_index(x):
    return [1, 2, 3][x[0]]


@case("np.arange(3.0)[x[0]]", "known integer")
def constant_array_index(x):
    return np.arange(3.0)[x[0]]


@case("x[x[0]]", "known integer")
def traced_index(x):
    return x[x[0]]


@case("x[x > 0]", "np.where(condition, x, 0.0)")
def traced_mask(x):
    return np.sum(x[x > 0])


@case("x[0] = 1.0", "np.where", "np.stack(list)")
def assignment_to_the_input(x):
    x[0] = 1.0
    return x[0]


@case("x[1:] += 1", "v = v + ...")
def in_place_on_a_part(x):
    x[1:] += 1
    return x[0]


@case("v *= 2", "v.copy()")
def in_place_on_a_view(x):
    v = x[1:]
    v *= 2
    return np.sum(x)


@case("np.sum(v)", "take the view again")
def view_of_a_changed_array(x):
    v = x[1:]
    x *= 2
    return np.sum(v)


@case("y[0] = x[0]", "np.stack(list)", "dtype=object")
def assignment_into_floats(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    return y[0]


@case("y[:] = x", "np.stack(list)", "dtype=object")
def slice_assignment_into_floats(x):
    y = np.empty(3)
    y[:] = x
    return y[0]


@case("a[0] = 0.0", "np.array(x), which copies")
def assignment_through_asarray(x):
    a = np.asarray(x)
    a[0] = 0.0
    return np.sum(x)


@case("total += x", "a = a + x")
def in_place_on_floats(x):
    total = np.zeros(3)
    total += x
    return total[0]


@case("np.add(x, 1, out=np.zeros(3))", "out=")
def output_argument(x):
    return np.add(x, 1, out=np.zeros(3))


@case("np.sum(x, where=[True, False, True])", "`where`", "np.where")
def where_argument(x):
    return np.sum(x, where=[True, False, True])


@case("np.sum(x, dtype=np.float32)", "float32")
def type_argument(x):
    return np.sum(x, dtype=np.float32)


@case("x.astype(int)", "np.floor")
def astype_integer(x):
    return x.astype(int)[0]


@case("np.asarray(x, dtype=float)", "Drop the conversion", "np.stack")
def asarray_of_float(x):
    return np.asarray(x, dtype=float)[0]


@case("np.array([x[0], 1.0], dtype=float)", "np.stack")
def array_of_float(x):
    return np.array([x[0], 1.0], dtype=float)[0]


@case("np.asarray(x)", "the limit is 1000", "Drop np.asarray", n=1001)
def asarray_of_many(x):
    return np.sum(np.asarray(x))


@case("np.sin(np.array([x[0], 1.0]))", "np.stack([...]) instead of np.array([...])")
def mixed_objects(x):
    return np.sum(np.sin(np.array([x[0], 1.0])))


@case("np.maximum(np.asarray(x), 0)", "without np.asarray")
def maximum_of_objects(x):
    return np.sum(np.maximum(np.asarray(x), 0))


@case("np.max([x[0], x[1]])", "np.stack")
def max_of_list(x):
    return np.max([x[0], x[1]])


@case("np.sort(x)", "np.sort has no rule", "np.min")
def unsupported_function(x):
    return np.sort(x)[0]


@case("np.convolve(x, x)", "np.convolve has no rule")
def unsupported_function_without_cure(x):
    return np.convolve(x, x)[0]


@case("np.linalg.det(np.outer(x, x))", "np.linalg.det", "Write the formula out")
def unsupported_algebra(x):
    return np.linalg.det(np.outer(x, x))


@case("np.rad2deg(x)", "np.rad2deg", "180 / np.pi")
def unsupported_ufunc(x):
    return np.sum(np.rad2deg(x))


@case("np.deg2rad(np.asarray(x))", "np.deg2rad", "np.pi / 180")
def unsupported_ufunc_of_objects(x):
    return np.sum(np.deg2rad(np.asarray(x)))


@case("np.isfinite(x)", "drop the test")
def isfinite(x):
    return np.sum(np.where(np.isfinite(x), x, 0))


@case("np.isnan(np.asarray(x))", "drop the test")
def isnan_of_objects(x):
    return np.sum(np.isnan(np.asarray(x)))


@case("(x > 0).any", ".any", "np.logical_or")
def any_of_conditions(x):
    return np.where((x > 0).any(), 1.0, 0.0)


@case("np.argmax(x)", "order of traced values")
def argmax(x):
    return x[np.argmax(x)]


@case("x.round", ".round", "np.floor(x + 0.5)")
def round_method(x):
    return x.round()[0]


@case("np.subtract.reduce(x)", "np.subtract.reduce")
def unsupported_ufunc_method(x):
    return np.subtract.reduce(x)


@case("np.linalg.norm(x, 3)", "np.sum(np.abs(x)**p)**(1/p)")
def unsupported_norm(x):
    return np.linalg.norm(x, 3)


@case("np.max(x[3:])", "without elements")
def maximum_of_nothing(x):
    return np.max(x[3:])


@case("x[0] * 1j", "complex", "real numbers")
def complex_constant(x):
    return x[0] * 1j


@case("np.array([1j]) * x[0]", "complex")
def complex_array(x):
    return np.array([1j]) * x[0]


@case("np.inf * x[0]", "infinite", "finite number")
def infinite_constant(x):
    return np.inf * x[0]


@case("np.where(x > 0, x, np.nan)", "NaN")
def nan_constant(x):
    return np.sum(np.where(x > 0, x, np.nan))


@case("np.minimum(x, -np.inf)", "infinite")
def infinite_constant_that_wins(x):
    return np.sum(np.minimum(x, -np.inf))


@case("x[0] + (2**53 + 1)", "not exactly a double", "float")
def long_integer(x):
    return x[0] + (2**53 + 1)


@case("np.array([2**53 + 1]) * x[0]", "not exactly a double")
def long_integer_array(x):
    return np.array([2**53 + 1]) * x[0]


@case("x[0] * Decimal('0.1')", "Decimal", "float")
def decimal(x):
    return x[0] * Decimal('0.1')


@case("Fraction(1, 3) + x[0]", "Fraction", "float")
def fraction(x):
    return Fraction(1, 3) + x[0]


@case("x[0] + 'a'", "str")
def string_operand(x):
    return x[0] + 'a'


@case("x[0] * helper()", "lacks its `return`")
def none_operand(x):
    def helper():
        pass
    return x[0] * helper()


@case("x[0] & x[1]", "parentheses")
def bits_of_numbers(x):
    return x[0] & x[1]


@case("x[0] ** 2.0**40", "exponent")
def huge_exponent(x):
    return x[0] ** 2.0**40


@case("np.where(x > 0)", "np.where(condition, a, b)")
def where_alone(x):
    return np.where(x > 0)[0]


def several_lines(x):
    return math.hypot(
        x[0],
        x[1],
    )


def test_expression_over_several_lines_is_shown_whole():
    first = several_lines.__code__.co_firstlineno
    with pytest.raises(TraceError) as caught:
        trace(several_lines, 3)
    assert f"{__file__}:{first + 1}, in `math.hypot( x[0], x[1], )`" in str(caught.value)
    assert "np.hypot instead of math.hypot" in str(caught.value)


@pytest.mark.parametrize(("fun", "fragment", "cures", "n"), CASES)
def test_message_names_place_and_cure(fun, fragment, cures, n):
    with pytest.raises(TraceError) as caught:
        trace(fun, n)
    assert not isinstance(caught.value, UserFunctionError)
    message = str(caught.value)
    rows, first = inspect.getsourcelines(fun)
    at = next(i for i, row in enumerate(rows) if fragment in row and not row.startswith(("@", "def")))
    assert message.startswith(f"{__file__}:{first + at}, in `"), message
    assert f"`{fragment}`" in message or fragment in message.partition(": ")[0], message
    for cure in cures:
        assert cure in message
    assert message.endswith(".")
