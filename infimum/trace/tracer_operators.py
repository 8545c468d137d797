"""The operators and methods of Tracer, one row each: every one records a NumPy function."""

import operator
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from infimum.trace.recording import recorded
from infimum.trace.tracer import Tracer, apply, call_function, records_itself
from infimum.trace.user_source import fail

_OPERATORS: dict[str, np.ufunc] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "truediv": np.true_divide, "floordiv": np.floor_divide,
    "mod": np.remainder, "pow": np.power, "matmul": np.matmul,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}
_COMPARISONS: dict[str, np.ufunc] = {
    "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal, "eq": np.equal, "ne": np.not_equal,
}
_UNARY: dict[str, np.ufunc] = {"neg": np.negative, "pos": np.positive, "abs": np.absolute, "invert": np.invert}


def _applied(ufunc: np.ufunc, symbol: Callable, *operands: Any) -> Any:
    """An operator of Python, applied by the code that called the function that calls this."""
    frame = sys._getframe(2)
    return recorded(lambda: apply(ufunc, *operands), symbol, operands, place=(frame.f_code, frame.f_lasti))


def _define_operators() -> None:
    def binary(ufunc, symbol):
        def forward(self, other):
            if isinstance(other, np.ndarray) and records_itself(other):
                return NotImplemented
            return _applied(ufunc, symbol, self, other)

        def reverse(self, other):
            return _applied(ufunc, symbol, other, self)

        def in_place(self, other):
            return _change(self, _applied(ufunc, symbol, self, other))
        return forward, reverse, in_place

    def comparison(ufunc, symbol):
        def compare(self, other):
            if other is None or isinstance(other, str):
                return NotImplemented
            return _applied(ufunc, symbol, self, other)
        return compare

    for name, ufunc in _OPERATORS.items():
        for prefix, function in zip(("__", "__r", "__i"), binary(ufunc, getattr(operator, f"__{name}__")), strict=True):
            setattr(Tracer, f"{prefix}{name}__", function)  # __add__, __radd__, __iadd__
    Tracer.__divmod__, Tracer.__rdivmod__, _ = binary(np.divmod, divmod)
    for name, ufunc in _COMPARISONS.items():
        setattr(Tracer, f"__{name}__", comparison(ufunc, getattr(operator, f"__{name}__")))
    for name, ufunc in _UNARY.items():
        symbol = getattr(operator, f"__{name}__")
        setattr(Tracer, f"__{name}__", lambda self, _ufunc=ufunc, _symbol=symbol: _applied(_ufunc, _symbol, self))


def _change(target: Tracer, result: Tracer) -> Tracer:
    """`target += other`: numbers are rebound, arrays change, and with them every name they go by."""
    if target._root is not None:
        fail("A view of a traced array was changed in place.", "Write `v = v + ...` instead of `v += ...`, or work on v.copy().",
             again=True)
    if not target.shape:
        return result
    if target._exported:
        fail("A traced array was changed in place after np.asarray made an array of it, which shares its memory in NumPy.",
             "Write `x = x + ...` instead of `x += ...`, or use np.array(x), which copies.", again=True)
    if target.is_truth and not result.is_truth:
        fail("NumPy cannot keep numbers in an array of truth values: this in-place operation is an error there.",
             "Write `c = c + ...` instead of `c += ...`.")
    if result.shape != target.shape:
        raise ValueError(f"an array of shape {target.shape} cannot hold the result of shape {result.shape} in place")
    target._expr, target.step = result.expr, result.step
    target._version += 1
    return target


def add_methods(ufuncs: list[np.ufunc], functions: list[Callable]) -> None:
    """Give Tracer methods named like ufuncs (object arrays call them: `np.sin(objects)` is `objects[i].sin()`) and like
    the functions that ndarray has as methods."""
    for ufunc in ufuncs:
        setattr(Tracer, ufunc.__name__, lambda self, *rest, _ufunc=ufunc:
                recorded(lambda: apply(_ufunc, self, *rest), _ufunc, (self, *rest)))
    for function in functions:
        setattr(Tracer, function.__name__, lambda self, *rest, _function=function, **options:
                call_function(_function, self, *rest, **options))


_define_operators()
