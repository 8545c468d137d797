"""Arithmetic of arrays of integers, which give shapes and positions: as ONNX defines it, and refused where it may overflow."""

import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np

from infimum.networks.values import broadcast, refuse


def is_integer(x: Any) -> bool:
    """Is it an array of integers? Traced values are none."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "i"


def _ends(x: np.ndarray) -> tuple[int, int]:
    return (int(x.min()), int(x.max())) if x.size else (0, 0)


def _check_range(kind: np.dtype, *values: int) -> None:
    limits = np.iinfo(kind)
    if min(values) < limits.min or max(values) > limits.max:
        refuse(f"its integers may overflow the type {kind.name}")


def _multilinear(ufunc: np.ufunc, exact: Callable[..., int]) -> Callable[..., np.ndarray]:
    """`exact` is the same function of Python's integers, whose absolute value is largest at ends of its arguments."""
    def run(*x: np.ndarray) -> np.ndarray:
        broadcast(*x)
        _check_range(x[0].dtype, *(exact(*corner) for corner in product(*map(_ends, x))))
        return ufunc(*x)
    return run


def _divide(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Rounded toward zero."""
    _check_division(a, b)
    quotient, rest = np.divmod(a, b)
    return quotient + ((rest != 0) & ((a < 0) != (b < 0))).astype(quotient.dtype)


def remainder(a: np.ndarray, b: np.ndarray, sign_of_dividend: bool) -> np.ndarray:
    """With the sign of the divisor, or of the dividend."""
    _check_division(a, b)
    return np.fmod(a, b) if sign_of_dividend else np.mod(a, b)


def _check_division(a: np.ndarray, b: np.ndarray) -> None:
    broadcast(a, b)
    if (b == 0).any():
        refuse("it divides an integer by 0")
    if (b == -1).any():
        _check_range(a.dtype, *map(operator.neg, _ends(a)))


def power(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    broadcast(a, b)
    base, (least, most) = max(map(abs, _ends(a))), _ends(b)
    if least < 0:
        refuse("it raises an integer to a negative power")
    if base > 1:
        _check_range(a.dtype, base ** min(most, np.iinfo(a.dtype).bits))
    return np.power(a, b).astype(a.dtype)


def reduced_sum(x: np.ndarray, axes: tuple[int, ...], keep: bool) -> np.ndarray:
    _check_range(x.dtype, *(end * x.size for end in _ends(x)))
    return np.sum(x, axis=axes, keepdims=keep, dtype=x.dtype)


INTEGER: dict[str, Callable[..., np.ndarray]] = {
    "Add": _multilinear(np.add, operator.add), "Sub": _multilinear(np.subtract, operator.sub),
    "Mul": _multilinear(np.multiply, operator.mul), "Neg": _multilinear(np.negative, operator.neg),
    "Abs": _multilinear(np.absolute, abs), "Div": _divide,
}
