"""What each operation sends back to its arguments: one row an operation, `rule(node, adjoint, i)` for argument number i.

Every row is written in operations that have rows themselves, so reverse mode can be applied to its own result. Parts of the value
are reused (exp' is the node itself), which saves work and keeps enclosures tight.
"""

from collections.abc import Callable

import numpy as np

from infimum.expr import array_derivative_rules
from infimum.expr.array_derivative_rules import Rule, chosen, negative, over, times
from infimum.expr.build import build
from infimum.expr.node import Expr, const

# the natural logarithms of 2 and 10, and 2/sqrt(pi), lie between these neighbouring doubles
LN2 = const(0.6931471805599453, 0.6931471805599454)
LN10 = const(2.3025850929940455, 2.302585092994046)
TWO_OVER_ROOT_PI = const(1.1283791670955126, 1.1283791670955128)

# operations that are constant wherever they have a derivative
FLAT = frozenset({"sign", "floor", "ceil", "rint", "slope", "step"})


def _square(x: Expr) -> Expr:
    return build("powi", x, k=2)


def _one_plus(x: Expr) -> Expr:
    return build("add", 1.0, x)


def _one_minus(x: Expr) -> Expr:
    return build("sub", 1.0, x)


def _minus_one(x: Expr) -> Expr:
    return build("sub", x, 1.0)


def _factor(derivative: Callable[[Expr, Expr], Expr]) -> Rule:
    """y = f(x) sends back a * f'(x), for f' given as a function of x and y."""
    return lambda node, a, i: times(a, derivative(node.args[0], node))


def _divisor(reciprocal: Callable[[Expr, Expr], Expr]) -> Rule:
    """y = f(x) sends back a / (1/f'(x)), for 1/f' given as a function of x and y: one division instead of two operations."""
    return lambda node, a, i: over(a, reciprocal(node.args[0], node))


def _powi(node: Expr, a: Expr, i: int) -> Expr | None:
    k = node["k"]
    return None if k == 0 else times(a, build("mul", float(k), build("powi", node.args[0], k=k - 1)))


def _pow(node: Expr, a: Expr, i: int) -> Expr:
    x, y = node.args
    if i == 1:
        return times(a, build("mul", node, build("log", x)))
    return times(a, build("mul", y, build("pow", x, _exponent_less_one(y))))


def _exponent_less_one(y: Expr) -> Expr:
    """y - 1; for constants the double itself where it is one, else the neighbours around it."""
    views = []
    while y.op in ("broadcast", "reshape"):
        views.append(y)
        y = y.args[0]
    less = _minus_one(y) if y.lo is None or y.hi is None else _constant_less_one(y)
    for view in reversed(views):
        less = build(view.op, less, shape=view.shape)
    return less


def _constant_less_one(y: Expr) -> Expr:
    low, low_error = _less_one(y.lo)
    high, high_error = _less_one(y.hi)
    return const(np.where(low_error < 0, np.nextafter(low, -np.inf), low),
                 np.where(high_error > 0, np.nextafter(high, np.inf), high))


def _less_one(y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """y - 1 rounded to nearest, and what the rounding left over (Knuth's error-free sum)."""
    difference = y - 1.0
    kept = difference - y
    return difference, (y - (difference - kept)) + (-1.0 - kept)


def _mul(node: Expr, a: Expr, i: int) -> Expr:
    return times(a, node.args[1 - i])


def _quotient(node: Expr, a: Expr, i: int) -> Expr:
    """For x / y and for ratio(x, y) alike (the latter where it is smooth)."""
    y = node.args[1]
    return over(a, y) if i == 0 else negative(times(a, build("div", node, y)))


def _arctan2(node: Expr, a: Expr, i: int) -> Expr:
    y, x = node.args
    square = _square(build("hypot", x, y))
    return times(a, build("div", x, square)) if i == 0 else negative(times(a, build("div", y, square)))


def _hypot(node: Expr, a: Expr, i: int) -> Expr:
    return times(a, build("ratio", node.args[i], node))


def _max(node: Expr, a: Expr, i: int) -> Expr:
    return times(a, build("step", node.args[i], node.args[1 - i]))


def _min(node: Expr, a: Expr, i: int) -> Expr:
    return times(a, build("step", node.args[1 - i], node.args[i]))


def _where(node: Expr, a: Expr, i: int) -> Expr | None:
    """A `where` with zeros in the other branch: `times` and `over` keep it outermost, see there."""
    return None if i == 0 else chosen(node.args[0], a, i)


def _spline(node: Expr, a: Expr, i: int) -> Expr | None:
    table = node["table"].derivative
    return None if table is None else times(a, build("spline", node.args[0], table=table))


def _nothing(node: Expr, a: Expr, i: int) -> None:
    return None


def _arcsine_root(x: Expr, y: Expr) -> Expr:
    """sqrt(1 - x^2), as a product that does not cancel near 1."""
    return build("sqrt", build("mul", _one_minus(x), _one_plus(x)))


def _bell(x: Expr) -> Expr:
    """2/sqrt(pi) exp(-x*x)."""
    return build("mul", TWO_OVER_ROOT_PI, build("exp", build("neg", _square(x))))


def _logistic_slope(x: Expr) -> Expr:
    """expit(x) * expit(-x), with one occurrence of x: 1 / (4 cosh(x/2)**2)."""
    return build("mul", 0.25, build("powi", build("cosh", build("mul", 0.5, x)), k=-2))


VJP: dict[str, Rule] = {
    "neg": lambda node, a, i: negative(a),
    "abs": _factor(lambda x, y: build("slope", x)),
    "sqrt": _divisor(lambda x, y: build("mul", 2.0, y)),
    "cbrt": _divisor(lambda x, y: build("mul", 3.0, _square(y))),
    "powi": _powi,
    "exp": _factor(lambda x, y: y),
    "exp2": _factor(lambda x, y: build("mul", LN2, y)),
    "expm1": _factor(lambda x, y: build("exp", x)),
    "log": _divisor(lambda x, y: x),
    "log2": _divisor(lambda x, y: build("mul", LN2, x)),
    "log10": _divisor(lambda x, y: build("mul", LN10, x)),
    "log1p": _divisor(lambda x, y: _one_plus(x)),
    "sin": _factor(lambda x, y: build("cos", x)),
    "cos": lambda node, a, i: negative(times(a, build("sin", node.args[0]))),
    "tan": _factor(lambda x, y: _one_plus(_square(y))),
    "arcsin": _divisor(_arcsine_root),
    "arccos": lambda node, a, i: negative(over(a, _arcsine_root(node.args[0], node))),
    "arctan": _divisor(lambda x, y: _one_plus(_square(x))),
    "sinh": _factor(lambda x, y: build("cosh", x)),
    "cosh": _factor(lambda x, y: build("sinh", x)),
    "tanh": _factor(lambda x, y: _one_minus(_square(y))),
    "arcsinh": _divisor(lambda x, y: build("hypot", x, 1.0)),
    "arccosh": _divisor(lambda x, y: build("sqrt", build("mul", _minus_one(x), _one_plus(x)))),
    "arctanh": _divisor(lambda x, y: build("mul", _one_minus(x), _one_plus(x))),
    "erf": _factor(lambda x, y: _bell(x)),
    "erfc": lambda node, a, i: negative(times(a, _bell(node.args[0]))),
    "lgamma": _factor(lambda x, y: build("polygamma", x, m=0)),
    "polygamma": lambda node, a, i: times(a, build("polygamma", node.args[0], m=node["m"] + 1)),
    "spline": _spline,
    "expit": _factor(lambda x, y: _logistic_slope(x)),
    "xlogx": _factor(lambda x, y: _one_plus(build("log", x))),
    "logaddexp": lambda node, a, i: times(a, build("expit", build("sub", node.args[i], node.args[1 - i]))),
    "add": lambda node, a, i: a,
    "sub": lambda node, a, i: a if i == 0 else negative(a),
    "mul": _mul, "div": _quotient, "ratio": _quotient, "pow": _pow, "arctan2": _arctan2, "hypot": _hypot,
    "min": _min, "max": _max, "where": _where,
    **dict.fromkeys((*FLAT, "lt", "le", "eq", "and", "or", "not"), _nothing),
    **array_derivative_rules.ROWS,
}
