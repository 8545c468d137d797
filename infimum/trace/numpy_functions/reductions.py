"""What NumPy's reductions and running combinations mean."""

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr, const
from infimum.trace.integer_arrays import may_be_integers
from infimum.trace.number_constants import exact_ends
from infimum.trace.tracer import FUNCTIONS, UFUNC_METHODS, UFUNCS, Tracer, has_tracer, lift, truth
from infimum.trace.tracer_operators import add_methods
from infimum.trace.user_source import fail, user_line

_NEUTRAL = {"sum": 0.0, "prod": 1.0, "norm": 0.0}
_COMBINE: dict[str, np.ufunc] = {"sum": np.add, "prod": np.multiply, "amin": np.minimum, "amax": np.maximum}


def _axes(axis: Any, ndim: int) -> tuple[int, ...]:
    """An axis argument as sorted numbers >= 0."""
    if axis is None:
        return tuple(range(ndim))
    wanted = axis if isinstance(axis, (tuple, list)) else (axis,)
    for a in wanted:
        if not -ndim <= a < ndim:
            raise np.exceptions.AxisError(a, ndim)
    found = sorted({int(a) % ndim for a in wanted})
    if len(found) != len(wanted):
        raise ValueError("duplicate value in 'axis'")
    return tuple(found)


def _no_elements(op: str) -> None:
    name = {"amin": "minimum", "amax": "maximum", "mean": "mean"}[op]
    fail(f"The {name} of an array without elements does not exist.", "Check the slice or the number of variables.")


def reduction(op: str, a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None) -> Tracer:
    """sum, prod, amin, amax or norm over some axes."""
    x, line = lift(a), user_line()
    axes = _axes(axis, len(x.shape))
    kept = tuple(d for i, d in enumerate(x.shape) if i not in axes)
    if x.size:
        result = b.reduce(op, x, axes, line)
    elif op in _NEUTRAL:
        result = b.broadcast(const(_NEUTRAL[op]), kept, line)
    else:
        _no_elements(op)
    if initial is not None:
        if may_be_integers(x) and not isinstance(initial, (int, np.integer)):
            fail("NumPy cuts `initial` down to an integer where integers are combined, and these may be integers.",
                 "Combine the result with the initial value yourself, for instance np.sum(a) + initial.")
        result = lift(UFUNCS[_COMBINE[op]](initial, Tracer(result)))
    if keepdims:
        result = b.reshape(result, tuple(1 if i in axes else d for i, d in enumerate(x.shape)), line)
    return Tracer(result)


def _reduction_rule(op: str) -> Callable[..., Tracer]:
    def record(a, axis=None, dtype=None, out=None, keepdims=False, initial=None):
        return reduction(op, a, axis, keepdims, initial)
    return record


def _extremum_rule(op: str) -> Callable[..., Tracer]:
    def record(a, axis=None, out=None, keepdims=False, initial=None):
        return reduction(op, a, axis, keepdims, initial)
    return record


def _ufunc_reduce(op: str) -> Callable[..., Tracer]:
    def record(a, axis=0, dtype=None, out=None, keepdims=False, initial=None):
        return reduction(op, a, axis, keepdims, initial)
    return record


def _count(a: Any, axis: Any) -> int:
    shape = np.shape(a)
    return prod(shape[i] for i in _axes(axis, len(shape)))


def _mean(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False) -> Tracer:
    if not _count(a, axis):
        _no_elements("mean")
    return reduction("sum", a, axis, keepdims) / _count(a, axis)


def _var(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
         mean: Any = None, correction: float | None = None) -> Tracer:
    """Mean square of the deviations from the mean."""
    lost = ddof if correction is None else correction
    if has_tracer(lost) or np.shape(lost):
        fail("The argument ddof of np.var and np.std is no known number.", "Divide the sum of squares yourself.")
    if exact_ends(lost)[1] >= _count(a, axis):
        fail("The variance needs more elements than ddof.", "Check the slice, the number of variables, or ddof.")
    freedom = np.subtract(Tracer(const(_count(a, axis))), lost)  # the true difference: a rounded one is another function
    centre = _mean(a, axis, keepdims=True) if mean is None else mean
    return reduction("sum", np.square(Tracer(lift(a)) - centre), axis, keepdims) / freedom


def _std(a: Any, axis: Any = None, dtype: Any = None, out: Any = None, ddof: float = 0, keepdims: bool = False, *,
         mean: Any = None, correction: float | None = None) -> Tracer:
    return np.sqrt(_var(a, axis, None, None, ddof, keepdims, mean=mean, correction=correction))


def _ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Tracer:
    return reduction("amax", a, axis, keepdims) - reduction("amin", a, axis, keepdims)


def _average(a: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False) -> Tracer:
    if weights is None:
        return _mean(a, axis, keepdims=keepdims)
    if np.shape(weights) != np.shape(a):
        if not isinstance(axis, (int, np.integer)):
            raise TypeError("axis must be given when the shapes of a and weights differ")
        spread = [1] * len(np.shape(a))
        spread[axis] = len(weights)
        weights = FUNCTIONS[np.broadcast_to](FUNCTIONS[np.reshape](Tracer(lift(weights)), spread), np.shape(a))
    total = reduction("sum", Tracer(lift(weights)), axis, keepdims)  # the true sum: a rounded one would be another function
    return reduction("sum", np.multiply(Tracer(lift(a)), weights), axis, keepdims) / total


def _count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Tracer:
    return reduction("sum", np.not_equal(Tracer(lift(a)), 0), axis, keepdims)


def _quantifier(function: Callable, op: str) -> Callable[..., Any]:
    """np.any and np.all: the largest or the smallest of 1 and 0 is 1."""
    def record(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
        test = truth(a)
        if not test.size:
            return function(np.zeros(test.shape), axis=axis, keepdims=keepdims)
        return reduction(op, b.build("where", test, 1.0, 0.0, line=user_line()), axis, keepdims) > 0.5
    return record


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Tracer:
    """Vector norms 1, 2 and infinity; of matrices the Frobenius norm and the largest column or row sum."""
    x = Tracer(lift(x))
    if axis is None and ord is None:
        return reduction("norm", x, axis, keepdims)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    if len(axes) == 1 and ord in (None, 2):
        return reduction("norm", x, axes, keepdims)
    if len(axes) == 1 and ord == 1:
        return reduction("sum", abs(x), axes, keepdims)
    if len(axes) == 1 and ord in (np.inf, -np.inf):
        return reduction("amax" if ord > 0 else "amin", abs(x), axes, keepdims)
    if len(axes) == 2 and ord in (1, np.inf):
        row, column = _axes(axes[0], x.ndim)[0], _axes(axes[1], x.ndim)[0]
        summed, left = (row, column) if ord == 1 else (column, row)
        return reduction("amax", reduction("sum", abs(x), summed, True), (summed, left), keepdims)
    if len(axes) == 2 and ord in (None, "fro"):
        return reduction("norm", x, axes, keepdims)
    fail(f"np.linalg.norm with ord={ord!r} over {len(axes)} axes has no rule.",
         "Vector norms 1, 2 and np.inf are known; write others out: np.sum(np.abs(x)**p)**(1/p).")


def scan(op: str, a: Any, axis: int | None) -> Tracer:
    """A running combination; NumPy's axis None means the flattened array."""
    x, line = lift(a), user_line()
    if axis is None:
        x, axis = b.reshape(x, (x.size,), line), 0
    at, = _axes(axis, len(x.shape))
    order = [i for i in range(len(x.shape)) if i != at] + [at]
    last: Expr = b.transpose(x, order, line)
    if last.size:
        last = b.build(op, last, reverse=False, exclusive=False, line=line)
    return Tracer(b.transpose(last, [order.index(i) for i in range(len(order))], line))


def _logaddexp_reduce(a: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False,
                      initial: Any = None) -> Tracer:
    """log of the sum of e**a, pair by pair: nothing overflows, every element occurs once, and all derivatives lie in [0, 1]."""
    x, line = lift(a), user_line()
    axes = _axes(axis, len(x.shape))
    order = [*axes, *(i for i in range(len(x.shape)) if i not in axes)]
    kept = tuple(x.shape[i] for i in order[len(axes):])
    rest = b.reshape(b.transpose(x, order, line), (prod(x.shape[i] for i in axes), *kept), line)
    if not rest.shape[0]:
        fail("The logarithm of a sum of no exponentials is -inf.", "Check the slice or the number of variables.")
    while (count := rest.shape[0]) > 1:
        half = count // 2
        pairs = b.build("logaddexp", b.index(rest, slice(0, half), line), b.index(rest, slice(half, 2 * half), line), line=line)
        rest = b.join([pairs, b.index(rest, slice(2 * half, None), line)], 0, line) if count % 2 else pairs
    result = b.reshape(rest, tuple(1 if i in axes else d for i, d in enumerate(x.shape)) if keepdims else kept, line)
    return Tracer(result) if initial is None else UFUNCS[np.logaddexp](initial, Tracer(result))


def _scan_rule(op: str) -> Callable[..., Tracer]:
    def record(a, axis=None, dtype=None, out=None):
        return scan(op, a, axis)
    return record


def _ufunc_accumulate(op: str) -> Callable[..., Tracer]:
    def record(a, axis=0, dtype=None, out=None):
        return scan(op, a, axis)
    return record


_RULES: dict[str, Callable[..., Any]] = {
    "sum": _reduction_rule("sum"), "prod": _reduction_rule("prod"),
    "min": _extremum_rule("amin"), "amin": _extremum_rule("amin"), "max": _extremum_rule("amax"), "amax": _extremum_rule("amax"),
    "mean": _mean, "var": _var, "std": _std, "ptp": _ptp, "average": _average, "count_nonzero": _count_nonzero,
    "cumsum": _scan_rule("cumsum"), "cumprod": _scan_rule("cumprod"),
    "any": _quantifier(np.any, "amax"), "all": _quantifier(np.all, "amin"),
}
FUNCTIONS.update({getattr(np, name): rule for name, rule in _RULES.items()})
FUNCTIONS[np.linalg.norm] = _norm
for _op, _scan, _ufunc in (("sum", "cumsum", np.add), ("prod", "cumprod", np.multiply),
                           ("amin", "cummin", np.minimum), ("amax", "cummax", np.maximum)):
    UFUNC_METHODS[_ufunc, "reduce"] = _ufunc_reduce(_op)
    UFUNC_METHODS[_ufunc, "accumulate"] = _ufunc_accumulate(_scan)
UFUNC_METHODS[np.logaddexp, "reduce"] = _logaddexp_reduce
add_methods([], [np.sum, np.prod, np.min, np.max, np.mean, np.var, np.std, np.cumsum, np.cumprod, np.any, np.all])
