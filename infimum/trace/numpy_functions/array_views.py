"""NumPy's functions that rearrange, join or describe arrays and compute nothing, and differences of neighbours."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr, Shape
from infimum.trace.conditions import is_boolean, traced
from infimum.trace.integer_arrays import may_be_integers
from infimum.trace.number_constants import constant, exact_ends
from infimum.trace.refusals import refuse_argument, refuse_dtype
from infimum.trace.tracer import FUNCTIONS, Tracer, has_tracer, lift, truth
from infimum.trace.tracer_operators import add_methods
from infimum.trace.user_source import fail, user_line

# NumPy itself says what these do: the first three tables apply the function to a stand-in of the same shape
_NEW_SHAPE = ("reshape", "ravel", "squeeze", "expand_dims", "atleast_1d", "atleast_2d", "atleast_3d")
_NEW_ORDER = ("transpose", "swapaxes", "moveaxis", "rollaxis", "permute_dims", "matrix_transpose")
_NEW_PLACES = ("roll", "tile", "repeat", "rot90", "take", "delete", "diagonal", "resize")


def _elements(a: Any) -> Expr:
    """The expression of an operand that is only rearranged: truth values stay truth values."""
    return a.expr if isinstance(a, Tracer) else lift(a)


def _view(a: Any, expr: Expr) -> Tracer:
    return a.sharing(expr) if isinstance(a, Tracer) else Tracer(expr)


def _refuse_traced(rest: tuple, options: dict[str, Any]) -> None:
    if has_tracer(rest) or has_tracer(list(options.values())):
        fail("A traced value was used as a shape, an index or an amount.", "These must be known integers.")


def _reshaping(function: Callable) -> Callable[..., Any]:
    def record(a: Any, *rest: Any, **options: Any) -> Any:
        if rest and function.__name__.startswith("atleast"):
            return tuple(record(v) for v in (a, *rest))
        _refuse_traced(rest, options)
        x, line = _elements(a), user_line()
        if function.__name__.startswith("atleast") and len(x.shape) >= int(function.__name__[-2]):
            return a  # NumPy gives the same array back, not a view
        if rest and isinstance(rest[-1], str):
            *rest, options["order"] = rest
        order = options.pop("order", "C")
        if order not in ("C", "F"):
            fail(f"The order {order!r} depends on how an array lies in memory, and a traced array lies nowhere.",
                 "Write order='C' or order='F'.")
        shape = function(np.broadcast_to(0.0, x.shape), *rest, **options).shape
        if order == "F":  # columns first: the reverse of everything
            turned = b.reshape(b.transpose(x, range(len(x.shape))[::-1], line), shape[::-1], line)
            return _view(a, b.transpose(turned, range(len(shape))[::-1], line))
        return _view(a, b.reshape(x, shape, line))
    return record


def _permuting(function: Callable) -> Callable[..., Tracer]:
    def record(a: Any, *rest: Any, **options: Any) -> Tracer:
        _refuse_traced(rest, options)
        x = _elements(a)
        marked = np.broadcast_to(0.0, tuple(range(2, 2 + len(x.shape))))  # the length of each axis tells which it is
        perm = [d - 2 for d in function(marked, *rest, **options).shape]
        return _view(a, b.transpose(x, perm, user_line()))
    return record


def _placing(function: Callable) -> Callable[..., Tracer]:
    def record(a: Any, *rest: Any, **options: Any) -> Tracer:
        _refuse_traced(rest, options)
        if function is np.take and len(rest) > 2 and rest[2] is not None:
            refuse_argument("np.take", "out")
        x = _elements(a)
        moved = b.take(x, function(np.arange(x.size).reshape(x.shape), *rest, **options), user_line())
        return _view(a, moved) if function in (np.diagonal, np.rot90) else Tracer(moved)
    return record


def _concatenate(arrays: Sequence[Any], axis: int | None = 0) -> Tracer:
    parts = [lift(a) for a in arrays]
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if axis is None:
        parts, axis = [b.reshape(p, (p.size,), user_line()) for p in parts], 0
    ndim = len(parts[0].shape)
    if not ndim:
        raise ValueError("zero-dimensional arrays cannot be concatenated; use np.stack")
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    axis %= ndim
    if len({(*p.shape[:axis], *p.shape[axis + 1:]) for p in parts}) > 1 or any(len(p.shape) != ndim for p in parts):
        raise ValueError(f"arrays of shapes {[p.shape for p in parts]} cannot be joined along axis {axis}")
    return Tracer(b.join(parts, axis, user_line()))


def _stack(arrays: Sequence[Any], axis: int = 0) -> Tracer:
    parts = [lift(a) for a in arrays]
    if len({p.shape for p in parts}) != 1:
        raise ValueError("all input arrays must have the same shape")
    ndim = len(parts[0].shape) + 1
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    axis %= ndim
    shape = parts[0].shape
    return Tracer(b.join([b.reshape(p, (*shape[:axis], 1, *shape[axis:]), user_line()) for p in parts], axis, user_line()))


def _all_as(function: Callable, arrays: Sequence[Any]) -> list[Tracer]:
    return [FUNCTIONS[function](Tracer(lift(a))) for a in arrays]


def _hstack(tup: Sequence[Any]) -> Tracer:
    parts = _all_as(np.atleast_1d, tup)
    return _concatenate(parts, 0 if parts[0].ndim == 1 else 1)


def _vstack(tup: Sequence[Any]) -> Tracer:
    return _concatenate(_all_as(np.atleast_2d, tup), 0)


def _column_stack(tup: Sequence[Any]) -> Tracer:
    parts = [Tracer(lift(a)) for a in tup]
    return _concatenate([p if p.ndim >= 2 else p.reshape(-1, 1) for p in parts], 1)


def _append(arr: Any, values: Any, axis: int | None = None) -> Tracer:
    return _concatenate([arr, values], axis)


def _split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    positions = np.arange(np.shape(ary)[axis])
    parts = np.array_split(positions, indices_or_sections)
    if isinstance(indices_or_sections, (int, np.integer)) and len({len(p) for p in parts}) > 1:
        raise ValueError("array split does not result in an equal division")
    return _slices(ary, parts, axis)


def _array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Tracer]:
    return _slices(ary, np.array_split(np.arange(np.shape(ary)[axis]), indices_or_sections), axis)


def _slices(ary: Any, parts: list[np.ndarray], axis: int) -> list[Tracer]:
    before = (slice(None),) * (axis % len(np.shape(ary)))
    return [ary[(*before, slice(int(p[0]), int(p[-1]) + 1) if len(p) else slice(0, 0))] for p in parts]


def _flip(m: Any, axis: Any = None) -> Tracer:
    ndim = len(np.shape(m))
    wanted = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    turned = {range(ndim)[a] for a in wanted}
    x = Tracer(_elements(m))
    return _view(m, x[tuple(slice(None, None, -1 if i in turned else 1) for i in range(ndim))].expr)


def _broadcast_to(array: Any, shape: Any) -> Tracer:
    x = _elements(array)
    return _view(array, b.broadcast(x, np.broadcast_to(np.broadcast_to(0.0, x.shape), shape).shape, user_line()))


def _broadcast_arrays(*args: Any) -> list[Tracer]:
    shape = np.broadcast_shapes(*map(np.shape, args))
    return [_broadcast_to(a, shape) for a in args]


def _diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Tracer:
    """Differences of neighbours, n times; truth values differ where they are not equal."""
    x = traced(a)
    axis = range(x.ndim)[axis]
    edge = (*x.shape[:axis], 1, *x.shape[axis + 1:])
    ends = [_broadcast_to(traced(e), edge) if e is not None and not np.shape(e) else e for e in (prepend, append)]
    parts = [p for p in (ends[0], x, ends[1]) if p is not None]
    joined = FUNCTIONS[np.concatenate](parts, axis) if len(parts) > 1 else x
    x = Tracer(truth(joined)) if all(map(is_boolean, parts)) else Tracer(lift(joined))
    before = (slice(None),) * axis
    difference = np.not_equal if x.is_truth else np.subtract
    for _ in range(n):
        x = difference(x[(*before, slice(1, None))], x[(*before, slice(None, -1))])
    return x


def _trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Tracer:
    """The integral of straight lines through the points."""
    y = traced(y)
    axis = range(y.ndim)[axis]
    before = (slice(None),) * axis
    steps = dx
    if x is not None:
        x = traced(x)  # so that differences of constants are exact too
        steps = _diff(x) if x.ndim == 1 else _diff(x, axis=axis)
        if x.ndim == 1:
            steps = steps.reshape((-1,) + (1,) * (y.ndim - axis - 1))
    return np.sum(steps * (y[(*before, slice(1, None))] + y[(*before, slice(None, -1))]) / 2.0, axis=axis)


def _trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tracer:
    return np.sum(FUNCTIONS[np.diagonal](a, offset, axis1, axis2), axis=-1)


def _laid_in_zeros(function: Callable) -> Callable[..., Tracer]:
    """np.diag, np.triu, np.tril: NumPy moves positions counted from 1, and what it fills with 0 points to a zero."""
    def record(v: Any, k: int = 0) -> Tracer:
        x, line = lift(v), user_line()
        positions = function(np.arange(1, x.size + 1).reshape(x.shape), k)
        padded = b.concat([b.build("broadcast", 0.0, shape=(1,), line=line), b.reshape(x, (x.size,), line)], line)
        return _view(v, b.take(padded, positions, line))
    return record


def _filled(make: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """np.zeros_like and relatives give plain arrays of numbers: there is nothing to trace in them."""
    def record(a, dtype=None, order="K", subok=True, shape=None, device=None):
        return make(np.shape(a) if shape is None else shape, dtype=_type_like(a) if dtype is None else dtype)
    return record


def _type_like(a: Any) -> type:
    """The type that NumPy gives an array like `a`."""
    if a.is_truth:
        return bool
    if may_be_integers(a.expr):
        fail("An array like one that may hold integers, made of conditions, would hold integers only.",
             "Name its type: dtype=float.")
    return float


def _full_like(a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True,
               shape: Shape | None = None) -> Any:
    shape = np.shape(a) if shape is None else shape
    wanted = dtype if dtype is not None else _type_like(a) if isinstance(a, Tracer) else np.asarray(a).dtype
    if has_tracer(fill_value):
        if np.dtype(wanted) == bool:
            return _broadcast_to(Tracer(truth(fill_value)), shape)
        refuse_dtype("np.full_like", wanted)
        return _broadcast_to(Tracer(lift(fill_value)), shape)
    if np.dtype(wanted) == np.float64:
        lo, hi = exact_ends(fill_value)
        if hi is not lo:
            return _broadcast_to(Tracer(constant(lo, hi)), shape)
        fill_value = lo
    return np.full(shape, fill_value, dtype=wanted)


_RULES: dict[str, Callable[..., Any]] = {
    **{name: _reshaping(getattr(np, name)) for name in _NEW_SHAPE},
    **{name: _permuting(getattr(np, name)) for name in _NEW_ORDER if hasattr(np, name)},
    **{name: _placing(getattr(np, name)) for name in _NEW_PLACES},
    **{name: _laid_in_zeros(getattr(np, name)) for name in ("diag", "triu", "tril")},
    "concatenate": _concatenate, "stack": _stack, "hstack": _hstack, "vstack": _vstack, "column_stack": _column_stack,
    "append": _append, "split": _split, "array_split": _array_split, "flip": _flip, "flipud": lambda m: _flip(m, 0),
    "fliplr": lambda m: _flip(m, 1), "broadcast_to": _broadcast_to, "broadcast_arrays": _broadcast_arrays,
    "diff": _diff, "trapezoid": _trapezoid, "trapz": _trapezoid, "trace": _trace,
    "zeros_like": _filled(np.zeros), "ones_like": _filled(np.ones), "empty_like": _filled(np.zeros), "full_like": _full_like,
    "copy": lambda a: Tracer(_elements(a)), "shape": lambda a: a.shape, "ndim": lambda a: a.ndim,
    "size": lambda a, axis=None: a.size if axis is None else a.shape[axis],
    "real": lambda val: val, "iscomplexobj": lambda x: False, "isrealobj": lambda x: True,
}
FUNCTIONS.update({getattr(np, name): rule for name, rule in _RULES.items() if hasattr(np, name)})
add_methods([], [np.ravel, np.squeeze, np.swapaxes, np.repeat, np.take, np.diagonal, np.trace])
