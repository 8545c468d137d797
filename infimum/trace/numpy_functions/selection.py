"""Choosing between values: np.where, np.select, np.clip, and the selection by a known condition."""

from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import const, topological, var
from infimum.expr.simplify import scalar_of
from infimum.ops.vocabulary import Kind
from infimum.trace.conditions import either, is_boolean, traced
from infimum.trace.integer_arrays import may_be_integers
from infimum.trace.number_constants import constant, exact_ends
from infimum.trace.tracer import FUNCTIONS, Tracer, call_function, has_tracer, lift, truth
from infimum.trace.user_source import fail, user_line


def select(known: Any, a: Any, c: Any) -> Tracer:
    """a where the known condition holds, else c. Elements not chosen leave no trace: their domain must not matter."""
    line = user_line()
    shape = np.broadcast_shapes(np.shape(known), np.shape(a), np.shape(c))
    condition = np.broadcast_to(np.asarray(known, dtype=bool), shape)
    if condition.all() or not condition.any():
        return Tracer(b.broadcast(lift(a if condition.all() else c), shape, line))
    parts = []
    for value, chosen in ((a, condition), (c, ~condition)):
        if not has_tracer(value):
            lo, hi = exact_ends(value)
            kept = np.where(chosen, lo, 0.0)
            value = constant(kept, kept if hi is lo else np.where(chosen, hi, 0.0))
        parts.append(b.reshape(b.broadcast(lift(value), shape, line), (condition.size,), line))
    positions = np.arange(condition.size).reshape(shape)
    return Tracer(b.take(b.concat(parts, line), np.where(condition, positions, positions + condition.size), line))


def _where(condition: Any, x: Any = None, y: Any = None) -> Tracer:
    if x is None or y is None:
        fail("np.where with a traced condition alone asks for positions that are not known.",
             "Use the form np.where(condition, a, b).")
    if not has_tracer(condition):
        return either(x, y, lambda: select(condition, x, y))
    return either(x, y, lambda: Tracer(b.build("where", truth(condition), lift(x), lift(y), line=user_line())))


def _select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """np.select: the first condition that holds wins."""
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = _where(condition, choice, result)
    return result


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Tracer:
    """np.piecewise: zeros, then every piece in turn where its condition holds; one function more is for where none holds."""
    if may_be_integers(lift(x)):
        fail("np.piecewise gives integers or truth values for an argument that holds such.", "Write 1.0 * (x > 0) to count.")
    x, functions = Tracer(lift(x)), list(funclist)
    listed = isinstance(condlist, (list, tuple))
    if not listed and condlist.ndim == 0 or (x.ndim > 0 and _is_number(condlist[0])):
        conditions = [np.stack(condlist) if listed else condlist]  # a single condition, not a list of them
    else:
        conditions = list(condlist)
    if len(functions) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"{len(conditions)} condition(s) and {len(functions)} function(s) do not fit")
    pieces = [_piece(f, x, args, kw) for f in functions]
    result = pieces.pop() if len(pieces) > len(conditions) else 0.0
    for condition, piece in zip(conditions, pieces, strict=True):
        result = _where(condition, piece, result)
    return Tracer(b.broadcast(lift(result), x.shape, user_line()))


def _is_number(value: Any) -> bool:
    return not isinstance(value, (list, tuple)) and not value.ndim if hasattr(value, "ndim") else np.isscalar(value)


def _piece(function: Any, x: Tracer, args: tuple, kw: dict[str, Any]) -> Any:
    """What a piece says at every element. NumPy hands it those where it applies, so it must treat them one by one."""
    if not callable(function):
        return function
    formulas = []
    for size in (x.size, x.size + 1):
        probe = var("element", (size,))
        nodes = list(topological([lift(function(Tracer(probe), *args, **kw))]))
        read = {probe}
        for node in nodes:
            if any(arg in read for arg in node.args):
                read.add(node)
        number = {node: at for at, node in enumerate(nodes)}
        formulas.append([(node.op, scalar_of(node), dict(node.params).get("k"), *(number[arg] for arg in node.args))
                         for node in nodes])
        if any(node is not probe and node.kind not in (Kind.MAP, Kind.TEST) for node in read) or formulas[0] != formulas[-1]:
            fail("A function of np.piecewise combines, moves or counts the elements it is given; which these are is not known.",
                 "Write it element by element, or use np.where(condition, a, b).")
    piece = Tracer(lift(function(x.ravel(), *args, **kw)))
    return piece.reshape(x.shape) if piece.size == x.size else piece


def _clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Any:
    """Between two ends, either of which may be None or infinite."""
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    a = traced(a)
    a = a if low is None else np.maximum(a, low)
    return Tracer(lift(a if high is None else np.minimum(a, high)))


def _method_clip(a: Any, min: Any = None, max: Any = None) -> Any:
    return call_function(np.clip, a, min, max)


def _polyval(p: Any, x: Any) -> Any:
    """Horner's rule, as NumPy evaluates it."""
    if is_boolean(p) and is_boolean(x):
        fail("np.polyval of truth values alone is no polynomial.", "Write 1.0 * (x > 0) to count.")
    result = Tracer(const(np.zeros(np.shape(x))))
    for coefficient in p:
        result = result * x + coefficient
    return result


FUNCTIONS.update({np.where: _where, np.select: _select, np.piecewise: _piecewise, np.clip: _clip, np.polyval: _polyval})
Tracer.clip = _method_clip
