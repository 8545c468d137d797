"""np.round and its relatives: halves go to the even neighbour, decimals are a scale by a power of ten, as in NumPy."""

import operator
from typing import Any

import numpy as np

from infimum.trace.conditions import is_boolean
from infimum.trace.tracer import FUNCTIONS, UFUNCS, Tracer, call_function, has_tracer, lift
from infimum.trace.user_source import fail

_MOST_DECIMALS = 22  # 10**22 is the largest power of ten that is a double


def _round(a: Any, decimals: Any = 0, out: Any = None) -> Tracer:
    """rint(a * 10**decimals) / 10**decimals; for negative decimals rint(a / 10**-decimals) * 10**-decimals."""
    if has_tracer(decimals):
        fail("The number of decimals is a traced value.", "It must be a known integer.")
    if is_boolean(a):
        fail("NumPy rounds truth values in the narrow type float16.", "Write 1.0 * (x > 0) to count.")
    places = 0 if decimals is None else operator.index(decimals)
    if abs(places) > _MOST_DECIMALS:
        fail(f"Rounding to {places} decimals needs a power of ten that is no double.", f"Use up to {_MOST_DECIMALS} decimals.")
    x, scale = Tracer(lift(a)), 10.0 ** abs(places)
    if not places:
        return np.rint(x)
    return np.rint(x * scale) / scale if places > 0 else np.rint(x / scale) * scale


def _method_round(a: Tracer, decimals: Any = 0, out: Any = None) -> Tracer:
    return call_function(np.round, a, decimals, out)


FUNCTIONS.update({np.round: _round, np.around: _round})
if hasattr(np, "fix") and np.fix not in UFUNCS:  # deprecated since NumPy 2.5 (np.trunc is the same); a later one may lack it
    FUNCTIONS[np.fix] = lambda x, out=None: np.trunc(Tracer(lift(x)))
Tracer.round = Tracer.__round__ = _method_round
