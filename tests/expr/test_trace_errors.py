"""What cannot be traced must say where in the user's code, on what expression, and what to write instead."""

import cmath
import inspect
import math
from decimal import Decimal
from fractions import Fraction
from math import atan2

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from infimum.errors import TraceError, UserFunctionError
from infimum.trace.trace import trace

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


@case("math.isnan(x[0])", "Drop the test only if")
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


@case("0 < x[0] < 1", "(0 < x[0]) & (x[0] < 1)", "np.where")
def chained_comparison(x):
    return np.where(0 < x[0] < 1, x[0], x[1])


@case("np.abs(x[0]) < 1", "Use np.where(condition, a, b)")
def condition_that_begins_with_a_call(x):
    return 1.0 if np.abs(x[0]) < 1 else x[0]


@case("np.sum(x) < 1", "Use np.where(condition, a, b)")
def statement_that_begins_with_a_call(x):
    if not np.sum(x) < 1:
        return x[0]
    return 1.0


@case("np.any(x < 0)", "np.where(condition, a, b)")
def penalty(x):
    if np.any(x < 0):
        return 1e10
    return np.sum(x)


@case("bool(x[0] > 1)", "np.where")
def builtin_bool(x):
    return 1.0 * bool(x[0] > 1)


@case("t > 1", "known number of steps")
def while_loop(x):
    t = x[0]
    while t > 1:
        t = t / 2
    return t


@case("max(x[0], 0)", "np.maximum(a, b)")
def builtin_max_beside_a_global(x):
    global CALLS
    CALLS = 1
    return max(x[0], 0)


@case("min(x)", "np.minimum(a, b)", "np.min(np.stack")
def builtin_min_beside_a_global(x):
    global CALLS
    CALLS = 1
    return min(x)


@case("max(x, key=abs)", "`key`", "np.where")
def builtin_max_with_a_key(x):
    return max(x, key=abs)


@case("max(x, 2 * x)", "np.maximum(a, b)")
def builtin_max_of_arrays(x):
    return max(x, 2 * x)[0]


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


@case("np.round(x, 30)", "22 decimals")
def too_many_decimals(x):
    return np.round(x, 30)[0]


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


@case("x[0] = 1.0", "np.where", "np.stack(list)", n=1001)
def assignment_to_the_input(x):
    x[0] = 1.0
    return x[0]


@case("x[1:] += 1", "v = v + ...", n=1001)
def in_place_on_a_part(x):
    x[1:] += 1
    return x[0]


@case("v *= 2", "v.copy()", n=1001)
def in_place_on_a_view(x):
    v = x[1:]
    v *= 2
    return np.sum(x)


@case("np.sum(v)", "take the view again", n=1001)
def view_of_a_changed_array(x):
    v = x[1:]
    x *= 2
    return np.sum(v)


@case("y[0] = x[0]", "np.stack(list)", "dtype=object", n=1001)
def assignment_into_floats(x):
    y = np.zeros_like(x)
    y[0] = x[0]
    return y[0]


@case("y[:] = x", "np.stack(list)", "dtype=object", n=1001)
def slice_assignment_into_floats(x):
    y = np.empty(len(x))
    y[:] = x
    return y[0]


@case("y[x > 0] = x", "y = np.where(condition, a, y)")
def array_assigned_by_a_condition(x):
    y = np.zeros(3)
    y[x > 0] = x
    return np.sum(y)


@case("y[x[0]] = 1.0", "known integer")
def assignment_at_a_traced_index(x):
    y = np.zeros(3)
    y[x[0]] = 1.0
    return np.sum(y)


@case("y[0] > 0", "np.where")
def obstacle_behind_an_assignment(x):
    y = np.zeros(3)
    y[0] = x[0]
    return 1.0 if y[0] > 0 else 0.0


@case("total += x", "a = a + x", n=1001)
def in_place_on_floats(x):
    total = np.zeros(len(x))
    total += x
    return total[0]


@case("np.add(x, 1, out=np.zeros(1001))", "out=", n=1001)
def output_argument(x):
    return np.add(x, 1, out=np.zeros(1001))


@case("np.sum(x, where=[True, False, True])", "`where`", "np.where")
def where_argument(x):
    return np.sum(x, where=[True, False, True])


@case("np.sum(x, dtype=np.float32)", "float32")
def type_argument(x):
    return np.sum(x, dtype=np.float32)


@case("x.astype(int)", "np.floor")
def astype_integer(x):
    return x.astype(int)[0]


@case("np.asarray(x, dtype=np.float32)", "float32", "Drop the conversion")
def asarray_of_float32(x):
    return np.asarray(x, dtype=np.float32)[0]


@case("np.array([x[0], 1.0], dtype=int)", "Drop the conversion")
def array_of_integers(x):
    return np.array([x[0], 1.0], dtype=int)[0]


@case("np.asarray(x)", "the limit is 1000", "Drop np.asarray", n=1001)
def asarray_of_many(x):
    return np.sum(np.asarray(x))


@case("np.sin(np.array([x[0], 1.0]))", "np.stack([...]) instead of np.array([...])")
def mixed_objects_beside_a_global(x):
    global CALLS
    CALLS = 1
    return np.sum(np.sin(np.array([x[0], 1.0])))


@case("np.max([x[0], x[1]])", "np.stack")
def max_of_list_beside_a_global(x):
    global CALLS
    CALLS = 1
    return np.max([x[0], x[1]])


@case("np.sort(x)", "np.sort has no rule", "np.min")
def unsupported_function(x):
    return np.sort(x)[0]


@case("np.ediff1d(x)", "np.ediff1d has no rule", "np.diff(x)")
def unsupported_function_with_cure(x):
    return np.ediff1d(x)[0]


@case("np.linalg.eigvalsh(np.outer(x, x))", "np.linalg.eigvalsh has no rule")
def unsupported_algebra(x):
    return np.linalg.eigvalsh(np.outer(x, x))[0]


@case("np.linalg.det(np.outer(x, x))", "11 x 11", "the limit is 10", n=11)
def large_determinant(x):
    return np.linalg.det(np.outer(x, x))


@case("np.linalg.solve(np.stack([np.outer(x, x)] * 2), x)", "one by one")
def stack_of_systems(x):
    return np.linalg.solve(np.stack([np.outer(x, x)] * 2), x)[0]


@case("np.interp(0.5, x, [1, 2, 3])", "`xp`", "known numbers")
def interpolation_at_traced_points(x):
    return np.interp(0.5, x, [1, 2, 3])


@case("np.interp(x[0], [0, 2, 1], [1, 2, 3])", "not increasing", "Sort")
def interpolation_out_of_order(x):
    return np.interp(x[0], [0, 2, 1], [1, 2, 3])


@case("np.piecewise(x, [x > 0], [lambda t: t * len(t)])", "np.where")
def piecewise_that_counts(x):
    return np.piecewise(x, [x > 0], [lambda t: t * len(t)])[0]


@case("np.piecewise(x, [x > 0], [lambda t: t - np.mean(t)])", "np.where")
def piecewise_of_a_mean(x):
    return np.piecewise(x, [x > 0], [lambda t: t - np.mean(t)])[0]


@case("np.rad2deg(x)", "np.rad2deg", "180 / np.pi")
def unsupported_ufunc(x):
    return np.sum(np.rad2deg(x))


@case("np.deg2rad(np.asarray(x))", "np.deg2rad", "np.pi / 180")
def unsupported_ufunc_of_objects(x):
    return np.sum(np.deg2rad(np.asarray(x)))


@case("np.isfinite(x)", "Drop the test only if")
def isfinite(x):
    return np.sum(np.where(np.isfinite(x), x, 0))


@case("np.isnan(np.asarray(x))", "Drop the test only if")
def isnan_of_objects(x):
    return np.sum(np.isnan(np.asarray(x)))


@case("np.argmax(x)", "order of traced values")
def argmax(x):
    return x[np.argmax(x)]


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


@case("Fraction(10**400) + x[0]", "An infinite constant")
def large_fraction(x):
    return Fraction(10**400) + x[0]


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


@case("x[0] in {0.0, 1.0}", "set or dictionary", "np.where(condition, a, b)")
def member_of_a_set(x):
    return -5.0 if x[0] in {0.0, 1.0} else x[0] ** 2


@case("{0.0: -5.0}.get(x[0], 1.0)", "set or dictionary")
def key_of_a_dictionary(x):
    return {0.0: -5.0}.get(x[0], 1.0)


@case("np.linalg.eigvals(np.array([[x[0], 1], [1, x[1]]]))", "np.linalg.eigvals has no rule", "components")
def eigenvalues_of_a_matrix_of_components(x):
    return np.linalg.eigvals(np.array([[x[0], 1], [1, x[1]]])).max()


@case("CubicSpline([0, 1, 2], [0, 1, 3])(x[0])", "SciPy's function CubicSpline has no rule", "s = infimum.spline(")
def called_object_of_scipy(x):
    return CubicSpline([0, 1, 2], [0, 1, 3])(x[0])


@case("np.where(x > 0)", "np.where(condition, a, b)")
def where_alone(x):
    return np.where(x > 0)[0]


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
