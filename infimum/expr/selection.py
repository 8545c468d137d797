"""Choosing between values: np.where, np.select, np.clip, and the selection by a known condition."""

from typing import Any

import numpy as np

from infimum.expr import build as b
from infimum.expr.conditions import either, is_boolean, traced
from infimum.expr.constants import constant, exact_ends
from infimum.expr.node import const
from infimum.expr.source import fail, user_line
from infimum.expr.tracer import FUNCTIONS, Tracer, call_function, has_tracer, lift, truth


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


FUNCTIONS.update({np.where: _where, np.select: _select, np.clip: _clip, np.polyval: _polyval})
Tracer.clip = _method_clip
