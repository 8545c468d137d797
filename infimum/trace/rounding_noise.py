"""Rounding errors that a plain call may make and a replay of its steps does not: sums in another order, elementary functions."""

import dis
import operator
from collections import OrderedDict
from random import Random
from typing import Any

import numpy as np

from infimum.trace.recording import RecordedCall

_ULP = 2.0**-52
_KEPT_CODES = 64  # codes whose instructions are known
_SUMMING = frozenset(f for f in (
    np.sum, np.prod, np.mean, np.var, np.std, np.average, np.dot, np.inner, np.vdot, np.tensordot, np.einsum, np.matmul,
    np.cumsum, np.cumprod, np.trace, np.convolve, np.interp, np.polyval, np.linalg.norm, np.linalg.det, np.linalg.inv,
    np.linalg.solve, getattr(np, "trapezoid", None), getattr(np, "trapz", None), operator.matmul) if f is not None)
_EXACT = frozenset((
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.absolute, np.fabs, np.sqrt, np.square,
    np.reciprocal, np.minimum, np.maximum, np.floor, np.ceil, np.rint, np.trunc, np.sign, np.conjugate, np.heaviside,
    np.remainder, np.floor_divide, np.divmod))  # rounded correctly, or not at all
_ADDING = (operator.add, operator.sub)
_SINGLE = ("+", "-", "*", "/", "**", "+=", "-=", "*=", "/=", "**=")


class RoundingNoise:
    """Adds rounding errors to the values of steps, in directions that depend on the number."""

    def __init__(self, number: int):
        self._random, self._sign = np.random.default_rng(number), Random(number).getrandbits

    def __call__(self, step: RecordedCall, value: Any, args: list, kwargs: dict[str, Any]) -> Any:
        kind = type(value)
        if kind is not float and kind is not np.float64 and not (
                isinstance(value, (np.floating, np.ndarray)) and value.dtype.kind == "f"):
            return value
        size = self._size(step, value, args, kwargs)
        if size is None:
            return value
        if np.ndim(size) == 0 and np.ndim(value) == 0:
            return value + _ULP * size if self._sign(1) else value - _ULP * size
        return value + _ULP * size * self._random.choice((-1.0, 1.0), np.shape(value))

    def _size(self, step: RecordedCall, value: Any, args: list, kwargs: dict[str, Any]) -> Any:
        """The size of what is rounded, in the worst order; None where nothing is."""
        function = step.function
        if function in _SUMMING or getattr(function, "__name__", None) in ("reduce", "accumulate"):
            terms = max((np.size(a) for a in args), default=1)
            try:
                return np.abs(function(*map(_absolute, args), **kwargs)) * (4 + np.sqrt(terms))
            except (TypeError, ValueError, np.linalg.LinAlgError):
                return np.abs(value) * (4 + terms)
        if step.place is not None:
            if _applied_alone(*step.place):
                return None if function is not operator.pow else 4 * np.abs(value)
            return 4 * (np.abs(args[0]) + np.abs(args[1]) if function in _ADDING else np.abs(value))
        if isinstance(function, np.ufunc) and function not in _EXACT:
            return 4 * np.abs(value)
        return None


def _absolute(value: Any) -> Any:
    return np.abs(value) if isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f" else value


_codes: OrderedDict[int, tuple[Any, dict[int, bool]]] = OrderedDict()  # by identity, which is kept by the code itself


def _applied_alone(code: Any, offset: int) -> bool:
    """Did the code itself apply the operator, and not a function that it called, which may add in any order?"""
    known = _codes.get(id(code))
    if known is None:
        known = _codes[id(code)] = code, {i.offset: _applies(i) for i in dis.get_instructions(code)}
        if len(_codes) > _KEPT_CODES:
            _codes.popitem(last=False)
    return known[1].get(offset, False)


def _applies(found: dis.Instruction) -> bool:
    return found.argrepr in _SINGLE if found.opname == "BINARY_OP" else "CALL" not in found.opname
