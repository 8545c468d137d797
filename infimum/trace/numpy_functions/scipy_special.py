"""What the ufuncs of scipy.special mean. SciPy is not imported here: a ufunc that reaches the tracer is found by its name."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr, const
from infimum.expr.real import pi
from infimum.ops.vocabulary import OPS
from infimum.trace.number_constants import exact_ends
from infimum.trace.numpy_functions.selection import select
from infimum.trace.tracer import SPECIAL, Tracer, has_tracer, lift
from infimum.trace.user_source import fail, user_line

# sqrt(1/2), pi and log(pi) lie between these neighbouring doubles
ROOT_HALF = const(0.7071067811865475, 0.7071067811865476)
PI = const(pi.lo, pi.hi)
LOG_PI = const(1.1447298858494002, 1.1447298858494004)


def _build(op: str, *args: Any, **params: Any) -> Expr:
    return b.build(op, *args, line=user_line(), **params)


def _rule(formula: Callable[..., Expr]) -> Callable[..., Tracer]:
    """A formula in expressions as a rule on operands."""
    return lambda *operands: Tracer(formula(*map(lift, operands)))


def _logit(x: Expr) -> Expr:
    """log(x / (1 - x)): both logarithms rise with x, so that nothing is lost by writing x twice."""
    return _build("sub", _build("log", x), _build("log1p", _build("neg", x)))


def _unless_both_vanish(x: Expr, y: Expr, edge: float, value: Expr) -> Expr:
    """The value, but 0 where x = 0 and y is no larger than the edge of the logarithm."""
    return _build("where", _build("and", _build("eq", x, 0.0), _build("le", y, edge)), 0.0, value)


def _times_log(log: str, edge: float) -> Callable[[Any, Any], Tracer]:
    """x log(y), or x log(1 + y): 0 for x = 0, whatever y."""
    def rule(x: Any, y: Any) -> Tracer:
        factor, argument = lift(x), lift(y)
        if factor is argument and log == "log":
            return Tracer(_build("xlogx", factor))
        value = _build("mul", factor, _build(log, argument))
        if has_tracer(x):
            return Tracer(_unless_both_vanish(factor, argument, edge, value))
        lo, hi = exact_ends(x)
        return select((lo == 0) & (hi == 0), 0.0 * Tracer(argument), Tracer(value))  # undefined where y is
    return rule


def _infinite_where(test: Expr, x: Expr, value: Expr) -> Expr:
    """The value, but infinite, as SciPy has it, where the test holds: undefined like any pole. With NaN in its place comparisons
    with it would be taken to be false."""
    return _build("where", test, _build("div", 1.0, _build("mul", 0.0, x)), value)


def _entropy(x: Expr) -> Expr:
    """-x log(x), 0 for x = 0, minus infinity for x < 0."""
    return _infinite_where(_build("lt", x, 0.0), x, _build("neg", _build("xlogx", x)))


def _relative_entropy(x: Expr, y: Expr) -> Expr:
    """x log(x / y) for x, y > 0, 0 for x = 0, y >= 0, and infinite elsewhere."""
    value = _build("sub", _build("xlogx", x), _build("mul", x, _build("log", y)))
    both = _build("and", _build("eq", x, 0.0), _build("eq", y, 0.0))
    outside = _build("or", _build("lt", x, 0.0), _build("lt", y, 0.0))
    return _infinite_where(outside, x, _build("where", both, 0.0, value))


def _reflected(at_positive: Callable[[Expr], Expr], elsewhere: Callable[[Expr, Expr], Expr]) -> Callable[[Expr], Expr]:
    """A function of the gamma function's family: for x <= 0 by its value at 1 - x and the angle pi x."""
    def formula(x: Expr) -> Expr:
        other = elsewhere(at_positive(_build("sub", 1.0, x)), _build("mul", PI, x))
        return _build("where", _build("lt", 0.0, x), at_positive(x), other)
    return formula


def _lgamma(x: Expr) -> Expr:
    return _build("lgamma", x)


def _log_gamma_elsewhere(value: Expr, angle: Expr) -> Expr:
    """log|gamma(x)| = log(pi) - log|sin(pi x)| - lgamma(1 - x)."""
    return _build("sub", _build("sub", LOG_PI, _build("log", _build("abs", _build("sin", angle)))), value)


_FORMULAS: dict[str, Callable[..., Expr]] = {
    **{name: partial(_build, row.name) for row in OPS.values() for name in row.scipy.split()},
    "ndtr": lambda x: _build("mul", 0.5, _build("erfc", _build("neg", _build("mul", ROOT_HALF, x)))),
    "gammaln": _reflected(_lgamma, _log_gamma_elsewhere),
    "loggamma": _lgamma,  # real for x > 0 only
    "gamma": _reflected(lambda x: _build("exp", _lgamma(x)),
                        lambda value, angle: _build("div", PI, _build("mul", _build("sin", angle), value))),
    "psi": _reflected(lambda x: _build("polygamma", x, m=0),
                      lambda value, angle: _build("sub", value, _build("div", _build("mul", PI, _build("cos", angle)),
                                                                       _build("sin", angle)))),
    "exp10": lambda x: _build("pow", 10.0, x),
    "logit": _logit,
    "log_expit": lambda x: _build("neg", _build("logaddexp", 0.0, _build("neg", x))),
    "entr": _entropy,
    "rel_entr": _relative_entropy,
    "kl_div": lambda x, y: _build("add", _build("sub", _relative_entropy(x, y), x), y),
}

# ---- functions that SciPy has in Python: names of the user's stand for these in a second run

def _logsumexp(a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False) -> Tracer:
    if return_sign:
        fail("logsumexp with return_sign=True has no rule for traced values.", "Use positive weights, and leave it out.")
    return np.logaddexp.reduce(a if b is None else a + np.log(b), axis=axis, keepdims=keepdims)


def _log_softmax(x: Any, axis: Any = None) -> Tracer:
    return x - _logsumexp(x, axis, keepdims=True)


PYTHON_FUNCTIONS: dict[str, Callable[..., Tracer]] = {
    "logsumexp": _logsumexp, "log_softmax": _log_softmax,
    "softmax": lambda x, axis=None: np.exp(_log_softmax(x, axis)),
    "softplus": lambda x: np.logaddexp(0.0, x),
}


SPECIAL.update({name: _rule(formula) for name, formula in _FORMULAS.items()})
SPECIAL.update(xlogy=_times_log("log", 0.0), xlog1py=_times_log("log1p", -1.0))
