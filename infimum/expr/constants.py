"""Numbers of the user's code: each must be exactly a double, or tracing would prove something about another function."""

import math
import sys
from typing import Any

import numpy as np

from infimum.expr.source import fail

_NOT_A_NUMBER = "Convert it to float before the function uses it."
_TOO_LONG = "Write it as a float (for instance 1e30) if the rounded value is meant."


def exact_doubles(value: Any, finite: bool = True) -> np.ndarray:
    """The numbers of `value` as a float64 array, or a TraceError where they are not real, not doubles, or not finite."""
    kind = type(value)
    if kind is float:
        array = np.float64(value)
    elif kind is int:
        array = np.float64(_exact_integer(value))
    else:
        array = _from_array(value)
    if finite and not (math.isfinite(array) if array.ndim == 0 else np.isfinite(array).all()):
        _refuse_infinite(array)
    return array


def _from_array(value: Any) -> np.ndarray:
    if isinstance(value, int) and not isinstance(value, bool):  # a subclass of int
        return np.float64(_exact_integer(int(value)))
    if not isinstance(value, (np.ndarray, np.generic, list, tuple, bool, float)) or is_masked(value):
        _refuse_kind(value)
    array = np.asarray(value)
    if array.dtype.kind == "O":
        return np.array([exact_doubles(v, finite=False) for v in array.flat]).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        _refuse_kind(value)
    if array.dtype == np.float64:
        return array
    with np.errstate(all="ignore"):
        doubles = array.astype(np.float64)
        if array.dtype.itemsize < 8 or array.dtype.kind == "b":
            return doubles
        back = doubles.astype(array.dtype)
    if array.dtype.kind in "iu":
        long = np.abs(doubles) >= 2.0**53
        same = all(int(d) == int(v) for d, v in zip(doubles[long], array[long], strict=True))
    else:
        same = bool(((back == array) | (array != array)).all())
    if not same:
        fail(f"A constant of type {array.dtype} holds a number that is not exactly a double.", _TOO_LONG)
    return doubles


def is_masked(value: Any) -> bool:
    """Is it a masked array? Asked without importing numpy.ma, which takes longer than tracing."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(value, masked.MaskedArray)


def _exact_integer(value: int) -> float:
    try:
        double = float(value)
    except OverflowError:
        double = math.inf
    if double != value:
        fail(f"The integer {_short(value)} is not exactly a double.", _TOO_LONG)
    return double


def _short(value: int) -> str:
    return str(value) if abs(value) < 10**30 else f"of {value.bit_length()} bits"


def _refuse_kind(value: Any) -> None:
    if value is None:
        fail("None was used as a number.", "Check whether a function called here lacks its `return`.")
    dtype = getattr(value, "dtype", None)
    if isinstance(value, complex) or (dtype is not None and np.dtype(dtype).kind == "c"):
        fail("A complex number was used together with a traced value.",
             "Use real numbers: split the formula into its real parts.")
    what = f"An array of type {dtype}" if dtype is not None else f"A value of type {type(value).__name__}"
    fail(f"{what} was used as a number together with a traced value.", _NOT_A_NUMBER)


def _refuse_infinite(array: np.ndarray) -> None:
    name = "NaN" if np.isnan(array).any() else "An infinite constant"
    fail(f"{name} was combined with a traced value.",
         "The function must be a formula in finite numbers: use a large finite number, or leave the bad region to the bounds "
         "(points where the function is undefined are no candidates anyway).")
