"""What NumPy's ufuncs mean: a table from ufunc to operation, and the few that are formulas of others."""

from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.build import ends_of
from infimum.expr.node import Expr, const, is_const
from infimum.expr.real import pi
from infimum.expr.simplify import LARGEST_EXPONENT, is_exponent, scalar_of
from infimum.ops.vocabulary import OPS
from infimum.trace.conditions import is_boolean
from infimum.trace.integer_arrays import may_be_integers
from infimum.trace.number_constants import constant, exact_ends
from infimum.trace.numpy_functions.selection import select
from infimum.trace.tracer import FUNCTIONS, UFUNCS, Tracer, has_tracer, lift, truth
from infimum.trace.tracer_operators import add_methods
from infimum.trace.user_source import fail, user_line

# ufunc, or another function of NumPy, -> operation of the same arity and meaning
_DIRECT: dict[Callable, str] = {getattr(np, name): row.name for row in OPS.values() for name in row.numpy.split()}

_FEW_EXPONENTS, _MOST_EXPONENTS = 64, 1000  # different integers worth a power each: of a base that is never negative, of any base


def _direct(op: str) -> Callable[..., Tracer]:
    def record(*operands: Any) -> Tracer:
        return Tracer(b.build(op, *map(lift, operands), line=user_line()))
    return record


def _traced(value: Any) -> Tracer:
    return value if isinstance(value, Tracer) and not value.is_truth else Tracer(lift(value))


def _power(base: Any, exponent: Any) -> Tracer:
    """One meaning, `pow` of `ops/powers.py`; constant exponents that are whole numbers are written as integer powers, which
    are tighter."""
    if type(exponent) in (int, float) and is_exponent(exponent):
        return Tracer(b.build("powi", lift(base), k=int(exponent), line=user_line()))
    if isinstance(exponent, Tracer) and exponent.is_truth:
        return _where(exponent, base, 1.0)
    x, y = lift(base), _without_views(lift(exponent))
    if is_const(y) and (large := y.lo[(y.lo == np.floor(y.lo)) & (y.lo == y.hi) & (np.abs(y.lo) > LARGEST_EXPONENT)]).size:
        fail(f"The integer exponent {large[0]:g} is too large.", "Integer exponents may reach 2**31: check the formula.")
    if is_const(y) and y.size > 1 and scalar_of(y) is None:
        shape = np.broadcast_shapes(x.shape, y.shape)
        return Tracer(_powers(b.broadcast(x, shape, user_line()), np.broadcast_to(y.lo, shape), np.broadcast_to(y.hi, shape)))
    if not is_const(x) and not is_const(y) and may_be_integers(x) and may_be_integers(y):
        fail("Integers were raised to integers: NumPy computes that in integers, which wrap around and have no negative powers.",
             "Write (1.0 * base) ** exponent.")
    return Tracer(b.build("pow", x, y, line=user_line()))


def _never_negative(x: Expr) -> bool:
    return OPS[x.op].least >= 0 or (x.op == "powi" and x["k"] % 2 == 0) or (is_const(x) and bool((x.lo > 0).all()))


def _without_views(y: Expr) -> Expr:
    """The constant that an exponent is, if it is a view of one."""
    known = ends_of(y)
    return y if known is None else const(*known)


def _powers(x: Expr, exponents: np.ndarray, upper: np.ndarray) -> Expr:
    """x ** exponents where the constant exponents differ: elements of equal integer exponent share one integer power, unless
    there are too many of these."""
    line = user_line()
    flat, ends = exponents.reshape(-1), upper.reshape(-1)
    whole = (flat == np.floor(flat)) & (flat == ends)
    integers = np.unique(flat[whole])
    if len(integers) > (_FEW_EXPONENTS if _never_negative(x) else _MOST_EXPONENTS):
        integers = integers[integers == 0]  # x**0 is smooth at x = 0
    groups = [(int(k), np.flatnonzero(whole & (flat == k))) for k in integers]
    parts = [b.build("powi", b.take(x, at, line), k=k, line=line) for k, at in groups]
    order, rest = [at for _, at in groups], ~np.isin(flat, integers) | ~whole
    for at in map(np.flatnonzero, (rest & whole, rest & ~whole)):
        if at.size:
            order.append(at)
            parts.append(b.build("pow", b.take(x, at, line), const(flat[at], ends[at]), line=line))
    return b.take(b.concat(parts, line), np.argsort(np.concatenate(order)).reshape(exponents.shape), line)


def _extremum(op: str, harmless: float) -> Callable[..., Tracer]:
    """min and max, where the infinite constant that never wins is dropped."""
    def record(first: Any, second: Any) -> Tracer:
        for value, other in ((first, second), (second, first)):
            if not has_tracer(value) and not isinstance(value, Expr):
                lo, hi = exact_ends(value)
                idle = lo == harmless
                if idle.any():
                    kept = np.where(idle, 0.0, lo)
                    return select(idle, other, record(constant(kept, kept if hi is lo else np.where(idle, 0.0, hi)), other))
        return Tracer(b.build(op, lift(first), lift(second), line=user_line()))
    return record


def _logic(op: str) -> Callable[..., Tracer]:
    def record(*operands: Any) -> Tracer:
        return Tracer(b.build(op, *map(truth, operands), line=user_line()))
    return record


def _bitwise(op: str) -> Callable[..., Tracer]:
    """& | ^ ~ are logic on conditions; on numbers NumPy refuses them too."""
    logic = _logic_xor if op == "xor" else _logic(op)

    def record(*operands: Any) -> Tracer:
        if not all(map(is_boolean, operands)):
            fail("The operators & | ^ ~ need conditions, not numbers.",
                 "Put parentheses around comparisons: (x[0] > 0) & (x[1] > 0); for powers write ** instead of ^.")
        return logic(*operands)
    return record


def _logic_xor(a: Any, c: Any) -> Tracer:
    either, both = _logic("or")(a, c), _logic("and")(a, c)
    return _logic("and")(either, _logic("not")(both))


def _where(condition: Tracer, a: Any, c: Any) -> Tracer:
    return Tracer(b.build("where", condition.expr, lift(a), lift(c), line=user_line()))


def _floor_divide(x: Any, y: Any) -> Tracer:
    dividend, divisor = lift(x), lift(y)
    known = is_const(divisor) and (divisor.lo != 0).all()
    if not known and may_be_integers(divisor) and may_be_integers(dividend):
        fail("Integers were divided by // or %, and NumPy gives 0 where an integer divisor is 0.", "Write np.floor(a / b).")
    return np.floor(Tracer(b.build("div", dividend, divisor, line=user_line())))


def _remainder(x: Any, y: Any) -> Tracer:
    """x - y floor(x / y): lies between 0 and y, as NumPy's. To say so changes no value and keeps the enclosure narrow."""
    rest = _traced(x) - _floor_divide(x, y) * y
    y = Tracer(lift(y))
    return np.maximum(np.minimum(rest, np.maximum(y, 0.0)), np.minimum(y, 0.0))


def _trunc(x: Any) -> Tracer:
    x = _traced(x)
    return _where(x < 0, np.ceil(x), np.floor(x))


def _reciprocal(x: Any) -> Tracer:
    """1 / x; of integers NumPy gives the integer part."""
    x = lift(x)
    if may_be_integers(x):
        fail("np.reciprocal of integers is their integer part in NumPy, and these may be integers.", "Write 1.0 / x.")
    return Tracer(b.build("div", 1.0, x, line=user_line()))


def _heaviside(x: Any, at_zero: Any) -> Tracer:
    """0, at_zero or 1; undefined where x is, where no comparison holds: the last branch reads x."""
    x = _traced(x)
    return _where(x < 0, 0.0, _where(x == 0, at_zero, 1.0 + 0.0 * x))


def _sinc(x: Any) -> Tracer:
    """sin(pi x) / (pi x), 1 at 0: NumPy has it as a function of arrays, not as a ufunc."""
    angle = b.build("mul", const(pi.lo, pi.hi), lift(x), line=user_line())
    return Tracer(b.build("sinc", angle, m=0, line=user_line()))


_FORMULAS: dict[np.ufunc, Callable[..., Any]] = {
    np.power: _power, np.float_power: _power,
    np.square: lambda x: _power(x, 2), np.reciprocal: _reciprocal,
    np.positive: lambda x: Tracer(lift(x)), np.conjugate: lambda x: Tracer(lift(x)),
    np.minimum: _extremum("min", np.inf), np.maximum: _extremum("max", -np.inf),
    np.greater: lambda x, y: UFUNCS[np.less](y, x), np.greater_equal: lambda x, y: UFUNCS[np.less_equal](y, x),
    np.not_equal: lambda x, y: _logic("not")(UFUNCS[np.equal](x, y)),
    np.logical_and: _logic("and"), np.logical_or: _logic("or"), np.logical_not: _logic("not"), np.logical_xor: _logic_xor,
    np.bitwise_and: _bitwise("and"), np.bitwise_or: _bitwise("or"), np.bitwise_xor: _bitwise("xor"), np.invert: _bitwise("not"),
    np.floor_divide: _floor_divide, np.remainder: _remainder, np.trunc: _trunc,
    np.divmod: lambda x, y: (_floor_divide(x, y), _remainder(x, y)),
    np.heaviside: _heaviside,
}

for _function, _op in _DIRECT.items():
    (UFUNCS if isinstance(_function, np.ufunc) else FUNCTIONS)[_function] = _direct(_op)
UFUNCS.update(_FORMULAS)
FUNCTIONS[np.sinc] = _sinc
add_methods([ufunc for ufunc in (*_DIRECT, np.heaviside) if ufunc in UFUNCS and ufunc.__name__ not in ("add", "equal")], [])
