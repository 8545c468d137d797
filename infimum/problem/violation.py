"""By how much a point violates constraints, as an expression."""

from functools import reduce

import numpy as np

from infimum.expr import build as b
from infimum.expr.node import Expr, const
from infimum.problem.system import System


def violation(system: System) -> Expr:
    """How far the constraint that is violated most is beyond its ends: positive where one is violated, at most 0 elsewhere."""
    parts, begin = [], 0
    for body in system.bodies:
        flat, at = b.reshape(body, (body.size,)), slice(begin, begin + body.size)
        parts += [_greatest(flat, system.upper[at], 1), _greatest(flat, system.lower[at], -1)]
        begin += body.size
    return reduce(lambda one, other: b.build("max", one, other), [part for part in parts if part is not None])


def _greatest(body: Expr, ends: np.ndarray, side: int) -> Expr | None:
    """How far elements are above ends, or below them, at most; None if no end is finite."""
    finite = np.flatnonzero(np.isfinite(ends))
    if not len(finite):
        return None
    pair = b.take(body, finite), const(ends[finite])
    return b.reduce("amax", b.build("sub", *pair[::side]), (0,))
