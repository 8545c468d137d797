"""The operators of .nl files: one row for each."""

import operator
from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from infimum.support.lazy import dataclass

PLUS, MINUS, TIMES, POWER, NEGATIVE, NOT_EQUAL, IF, SUM, PIECEWISE_LINEAR = 0, 1, 2, 5, 16, 30, 35, 54, 64


@dataclass(frozen=True, slots=True)
class Operator:
    """takes: its operands, n for a number and c for a condition; after a star, as many more as the file says. gives: n or c.
    compute: what it does with values, which are numbers, arrays or traced."""

    name: str
    takes: str
    gives: str
    compute: Callable[..., Any]


def _power(base: Any, exponent: Any) -> Any:
    whole = type(exponent) is float and exponent.is_integer() and abs(exponent) < 2**31
    return base ** (int(exponent) if whole else exponent)


def _ten(digits: float) -> float:
    return 10.0 ** int(digits)


def _scaled(function: Callable) -> Callable:
    """The function at the given number of decimal places. Powers of ten are exact only if they are not negative."""
    def compute(x: Any, digits: float) -> Any:
        return function(x * _ten(digits)) / _ten(digits) if digits >= 0 else function(x / _ten(-digits)) * _ten(-digits)
    return compute


def _precision(x: Any, digits: float) -> Any:
    """x with the given number of significant digits."""
    unit = 10.0 ** (np.floor(np.log10(np.abs(x))) - (digits - 1.0))
    return np.where(x == 0, 0.0, np.rint(x / unit) * unit)


def _count(*conditions: Any) -> Any:
    return reduce(operator.add, (np.where(condition, 1.0, 0.0) for condition in conditions))


def _not(condition: Any) -> Any:
    return np.logical_not(condition)


def _piecewise_linear(x: Any, slopes_and_breaks: tuple[float, ...]) -> Any:
    """The continuous function with these slopes between these breaks that is 0 at 0, as a sum over its segments."""
    slopes, breaks = slopes_and_breaks[::2], slopes_and_breaks[1::2]
    total: Any = 0.0
    for slope, low, high in zip(slopes, (None, *breaks), (*breaks, None), strict=True):
        part, zero = x, 0.0
        if low is not None:
            part, zero = np.maximum(part, low), max(zero, low)
        if high is not None:
            part, zero = np.minimum(part, high), min(zero, high)
        total = total + slope * (part - zero)
    return total


def _compared(test: Callable) -> Callable:
    """A condition about a count and a number, which comes first."""
    return lambda number, count: test(count, number)


def _negated(test: Callable) -> Callable:
    return lambda number, count: _not(test(count, number))


def _unary(*names: str) -> list[Operator]:
    """NumPy's functions, whose names are AMPL's but for the prefix arc."""
    return [Operator(name.replace("arc", "a"), "n", "n", getattr(np, name)) for name in names]


_RELATIONS = {22: ("<", operator.lt), 23: ("<=", operator.le), 24: ("=", operator.eq), 28: (">=", operator.ge),
              29: (">", operator.gt), NOT_EQUAL: ("!=", operator.ne)}

OPERATORS: dict[int, Operator] = {
    PLUS: Operator("+", "nn", "n", operator.add),
    MINUS: Operator("-", "nn", "n", operator.sub),
    TIMES: Operator("*", "nn", "n", operator.mul),
    3: Operator("/", "nn", "n", operator.truediv),
    4: Operator("mod", "nn", "n", lambda x, y: x - y * np.trunc(x / y)),  # the sign of x, as in C
    POWER: Operator("^", "nn", "n", _power),
    6: Operator("less", "nn", "n", lambda x, y: np.maximum(x - y, 0.0)),
    11: Operator("min", "n*n", "n", lambda *values: reduce(np.minimum, values)),
    12: Operator("max", "n*n", "n", lambda *values: reduce(np.maximum, values)),
    NEGATIVE: Operator("unary -", "n", "n", operator.neg),
    20: Operator("or", "cc", "c", np.logical_or),
    21: Operator("and", "cc", "c", np.logical_and),
    34: Operator("not", "c", "c", _not),
    IF: Operator("if", "cnn", "n", np.where),
    48: Operator("atan2", "nn", "n", np.arctan2),
    SUM: Operator("sum", "*n", "n", lambda *values: reduce(operator.add, values, 0.0)),
    55: Operator("div", "nn", "n", lambda x, y: np.trunc(x / y)),
    56: Operator("precision", "nn", "n", _precision),
    57: Operator("round", "nn", "n", _scaled(np.rint)),
    58: Operator("trunc", "nn", "n", _scaled(np.trunc)),
    59: Operator("count", "c*c", "n", _count),
    60: Operator("numberof", "n*n", "n", lambda value, *values: _count(*(value == other for other in values)) if values else 0.0),
    62: Operator("atleast", "nn", "c", _compared(operator.ge)),
    63: Operator("atmost", "nn", "c", _compared(operator.le)),
    PIECEWISE_LINEAR: Operator("piecewise-linear term", "n", "n", _piecewise_linear),
    66: Operator("exactly", "nn", "c", _compared(operator.eq)),
    67: Operator("!atleast", "nn", "c", _negated(operator.ge)),
    68: Operator("!atmost", "nn", "c", _negated(operator.le)),
    69: Operator("!exactly", "nn", "c", _negated(operator.eq)),
    70: Operator("forall", "c*c", "c", lambda *all_: reduce(np.logical_and, all_)),
    71: Operator("exists", "c*c", "c", lambda *all_: reduce(np.logical_or, all_)),
    72: Operator("==> else", "ccc", "c", lambda test, yes, no: (test & yes) | (_not(test) & no)),
    73: Operator("<==>", "cc", "c", lambda one, other: _not(np.logical_xor(one, other))),
    76: Operator("^ constant", "nn", "n", _power),
    77: Operator("^ 2", "n", "n", lambda x: x ** 2),
    78: Operator("constant ^", "nn", "n", _power),
    **dict(zip((13, 14, 15), _unary("floor", "ceil", "abs"), strict=True)),
    **dict(zip(range(37, 48), _unary("tanh", "tan", "sqrt", "sinh", "sin", "log10", "log", "exp", "cosh", "cos", "arctanh"),
               strict=True)),
    **dict(zip(range(49, 54), _unary("arctan", "arcsinh", "arcsin", "arccosh", "arccos"), strict=True)),
    **{code: Operator(name, "nn", "c", test) for code, (name, test) in _RELATIONS.items()},
}

UNSUPPORTED = {61: "numberof with strings", 65: "if with strings", 74: "alldiff", 75: "!alldiff"}
DIGITS = (56, 57, 58)              # these need a constant as their second operand
LITERAL = (POWER, 76, *DIGITS)     # the second operand, where it is a constant, belongs to the formula
