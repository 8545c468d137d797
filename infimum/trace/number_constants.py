"""Numbers of the user's code: each must be exactly a double, or tracing would prove something about another function."""

import math
import sys
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.expr.node import Expr, const
from infimum.expr.real import Real, doubles_around
from infimum.trace.refusals import CHOOSING
from infimum.trace.user_source import fail

_NOT_A_NUMBER = "Convert it to float before the function uses it."
_TOO_LONG = "Write it as a float (for instance 1e30) if the rounded value is meant."


def exact_doubles(value: Any) -> np.ndarray:
    """The numbers of `value` as a float64 array, or a TraceError where they are not real, not doubles, or not finite."""
    kind = type(value)
    if kind is float:
        array = np.float64(value)
    elif kind is int:
        array = np.float64(_exact_integer(value))
    else:
        array = _from_array(value)
    _require_finite(array)
    return array


def exact_ends(value: Any) -> tuple[np.ndarray, np.ndarray]:
    """Two float64 arrays around the numbers of `value`: one and the same array unless a number that is no double is among
    them: a Real or a Fraction.

    Sequences are read element by element: NumPy would round the integers among floats, and a Real to a double. Infinities
    and NaN may be among them; `constant` refuses those.
    """
    if isinstance(value, Real):
        lo, hi = value.ends
        return np.float64(lo), np.float64(hi)
    if isinstance(value, Fraction):
        lo, hi = doubles_around(value)
        return _twice(np.float64(lo), None if lo == hi else np.float64(hi))
    if isinstance(value, (list, tuple)):
        return _from_sequence(value)
    if isinstance(value, np.ndarray) and value.dtype == object and not is_masked(value):
        lo, hi = _from_sequence(list(value.flat))
        return _twice(lo.reshape(value.shape), None if hi is lo else hi.reshape(value.shape))
    return _twice(np.float64(_exact_integer(value)) if type(value) is int else _from_array(value))


def constant(lo: np.ndarray, hi: np.ndarray) -> Expr:
    """The finite constant between two arrays of `exact_ends`."""
    _require_finite(lo)
    if hi is lo:
        return const(lo)
    _require_finite(hi)
    return const(lo, hi)


def _twice(lo: np.ndarray, hi: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    return lo, lo if hi is None else hi


def _from_sequence(values: Any) -> tuple[np.ndarray, np.ndarray]:
    kinds = set(map(type, values))
    if kinds <= {float}:  # also for none at all, as np.asarray([]) holds floats
        return _twice(np.array(values, dtype=np.float64))
    if kinds <= {float, int}:
        return _twice(np.array([_exact_integer(v) if type(v) is int else v for v in values]))
    ends = [exact_ends(v) for v in values]
    if len({lo.shape for lo, _ in ends}) > 1:
        raise ValueError("the parts of a nested sequence have different shapes")
    lower = np.array([lo for lo, _ in ends])
    return _twice(lower, None if all(lo is hi for lo, hi in ends) else np.array([hi for _, hi in ends]))


def _require_finite(array: np.ndarray) -> None:
    if not (math.isfinite(array) if array.ndim == 0 else np.isfinite(array).all()):
        _refuse_infinite(array)


def _from_array(value: Any) -> np.ndarray:
    if isinstance(value, int) and not isinstance(value, bool):  # a subclass of int
        return np.float64(_exact_integer(int(value)))
    if not isinstance(value, (np.ndarray, np.generic, bool, float)):
        _refuse_kind(value)
    if is_masked(value):
        if np.any(value.mask):
            fail("A masked array that hides some of its elements was combined with a traced value.",
                 "Say what the hidden elements mean: use a.compressed() without them, or a.filled(0.0).")
        value = value.data
    if isinstance(value, np.matrix):
        fail("An np.matrix was combined with a traced value; its `*` is a product of matrices and its parts stay matrices.",
             "Use np.asarray(matrix), and @ for products.")
    array = np.asarray(value)
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
    if hasattr(value, "to_numpy"):  # pandas, polars and others: they match elements by label, and their std is another
        fail(f"A {type(value).__name__} of {type(value).__module__.partition('.')[0]} was combined with a traced value.",
             "Use its values as a NumPy array: data.to_numpy().")
    dtype = getattr(value, "dtype", None)
    if isinstance(value, complex) or (dtype is not None and np.dtype(dtype).kind == "c"):
        fail("A complex number was used together with a traced value.",
             "Use real numbers: split the formula into its real parts.")
    what = f"An array of type {dtype}" if dtype is not None else f"A value of type {type(value).__name__}"
    fail(f"{what} was used as a number together with a traced value.", _NOT_A_NUMBER)


def _refuse_infinite(array: np.ndarray) -> None:
    name = "NaN" if np.isnan(array).any() else "An infinite constant"
    if name != "NaN" and not CHOOSING.get():
        fail(f"{name} was combined with a traced value.", "Leave out comparisons with infinity, or give the ends, which may be "
             "infinite, beside the function: infimum.Constraint(fun, lb, ub).")
    fail(f"{name} was combined with a traced value.",
         "The function must be a formula in finite numbers: use a large finite number, or leave the bad region to the bounds "
         "(points where the function is undefined are no candidates anyway).")
