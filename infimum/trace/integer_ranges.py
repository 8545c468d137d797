"""Integers that NumPy would let wrap around, found in the steps of a recording.

`np.where(x[0] > 1, 2, 1) ** 64` is computed in integers of 64 bits, of which 2**64 is 0; the trace means real numbers. Integers
come from conditions and constants alone, since conversions are refused. So their sizes are bounded whatever x is: each step of
the recording is repeated with the largest absolute values instead of those at a point. What the type of a step is, a point shows.
"""

import math
import operator
from typing import Any

import numpy as np

from infimum.trace.recording import RecordedArray, RecordedCall

# one of the arguments, or elements of them, or less
_CHOOSING = frozenset((np.where, np.select, np.choose, np.clip, np.minimum, np.maximum, np.min, np.max, np.floor_divide,
                       np.remainder, operator.getitem, operator.floordiv, operator.mod, np.take, np.sort, np.concatenate,
                       np.stack, np.reshape, np.ravel, np.transpose, np.negative, operator.neg, np.absolute, operator.abs))
_ADDED = {np.subtract: np.add, operator.sub: operator.add}
# larger where their arguments are
_GROWING = frozenset(("add", "multiply", "power", "square", "mul", "pow", "sum", "prod", "cumsum", "cumprod", "dot", "inner",
                      "outer", "matmul", "vdot", "tensordot", "einsum", "kron", "trace", "convolve", "polyval", "vander",
                      "nanprod", "nancumprod", "matrix_power", "multi_dot"))
_SUBTRACTING = (np.subtract, operator.sub, np.negative, operator.neg)


def _named(function: Any) -> tuple[Any, np.ufunc | None]:
    """A function that does the same with absolute values: differences become sums. And the ufunc whose method it is."""
    owner = getattr(function, "__self__", None)
    if not isinstance(owner, np.ufunc):
        return _ADDED.get(function, function), None
    owner = _ADDED.get(owner, owner)
    return (owner, None) if function.__name__ == "__call__" else (getattr(owner, function.__name__), owner)


class IntegerRanges:
    """To be called with each step of a replay; `wrapping`: the first one whose integers may leave the range of their type."""

    def __init__(self) -> None:
        self.sizes: dict[int, float] = {}  # the largest absolute value of each integer step
        self.wrapping: tuple[RecordedCall, np.dtype] | None = None

    def __call__(self, step: RecordedCall, value: Any, args: list, kwargs: dict[str, Any]) -> Any:
        dtype = getattr(value, "dtype", None)
        if dtype is not None and dtype.kind in "iu":
            size = self.sizes[id(step)] = self._size(step, args, kwargs)
            below = dtype.kind == "u" and step.function in _SUBTRACTING  # below 0
            if self.wrapping is None and (below or not size <= np.iinfo(dtype).max):
                self.wrapping = step, dtype
        return value

    def _size(self, step: RecordedCall, args: list, kwargs: dict[str, Any]) -> float:
        """The largest absolute value that a step may have."""
        largest = [self._largest(frozen, given) for frozen, given in zip(step.args, args, strict=True)]
        function, owner = _named(step.function)
        if function in _CHOOSING or owner in _CHOOSING:
            return max(largest, default=0.0)
        plain = isinstance(function, np.ufunc) or getattr(function, "__module__", "") in ("operator", "_operator")
        if function.__name__ in _GROWING or owner in (np.add, np.multiply):
            try:
                absolute = [self._absolute(f, a, plain) for f, a in zip(step.args, args, strict=True)]
                found = function(*absolute, **{name: a for name, a in kwargs.items() if name != "dtype"})  # in doubles
                return float(np.max(np.abs(found), initial=0.0))
            except (TypeError, ValueError, OverflowError):
                return math.inf  # nothing is known of its size
        terms = max((np.size(a) for a in args), default=1)
        return terms * math.prod(1.0 + size for size in largest)  # a sum of products

    def _largest(self, frozen: Any, given: Any) -> float:
        """The largest absolute value of an argument."""
        if isinstance(frozen, RecordedCall):
            return self.sizes.get(id(frozen), 1.0)  # otherwise a condition
        if isinstance(frozen, RecordedArray):
            return max((self._largest(f, g) for f, g in zip(frozen.elements, np.ravel(given), strict=True)), default=0.0)
        if isinstance(frozen, (list, tuple)):
            return max(map(self._largest, frozen, given), default=0.0)
        array = np.asarray(given) if isinstance(given, (int, float, np.ndarray, np.generic)) else np.zeros(0)
        return float(np.max(np.abs(array.astype(np.float64)), initial=0.0)) if array.dtype.kind in "biuf" else 0.0

    def _absolute(self, frozen: Any, given: Any, plain: bool) -> Any:
        """An argument with the largest absolute values, as doubles; `plain`: also where it is a number, which is no axis then."""
        if isinstance(frozen, (list, tuple)):
            return type(frozen)(self._absolute(f, g, plain) for f, g in zip(frozen, given, strict=True))
        if isinstance(frozen, (RecordedCall, RecordedArray)) or (isinstance(given, (np.ndarray, np.generic)) or plain):
            return np.full(np.shape(given), self._largest(frozen, given))
        return given
