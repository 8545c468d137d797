"""Real: a number that is no double, known between two. `pi` and `e` are such numbers."""

import math
import sys
from fractions import Fraction
from numbers import Rational
from typing import Any

import numpy as np

from infimum import environment


def _down(value: Fraction) -> float:
    try:
        double = float(value)
    except OverflowError:
        return -math.inf if value < 0 else sys.float_info.max
    return double if Fraction(double) <= value else math.nextafter(double, -math.inf)


def _up(value: Fraction) -> float:
    return -_down(-value)


class Real(float):
    """A real number between the doubles `lo` and `hi`; as a float it is `lo`.

    Sums, differences, products, quotients and integer powers with other numbers stay Real, and a traced function takes it for
    the true number. Any other function of it alone (np.sqrt(infimum.pi)) sees the float, and so does a Fraction on its left.

    >>> pi
    Real(3.141592653589793, 3.1415926535897936)
    >>> 2 * pi
    Real(6.283185307179586, 6.283185307179587)
    """

    lo: float
    hi: float

    def __new__(cls, lo: float, hi: float) -> "Real":
        self = super().__new__(cls, lo)
        self.lo, self.hi = lo, hi
        return self

    def __reduce__(self) -> tuple:
        return Real, (self.lo, self.hi)

    def __repr__(self) -> str:
        return f"Real({self.lo!r}, {self.hi!r})"

    @environment.ours
    def _combine(self, other: Any, corner: Any) -> Any:
        ends = _ends(other)
        if ends is None:
            return NotImplemented
        corners = [corner(Fraction(a), b) for a in (self.lo, self.hi) for b in ends]
        return Real(_down(min(corners)), _up(max(corners)))

    def __add__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a + b)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a - b)

    def __rsub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b - a)

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a * b)

    @environment.ours
    def __truediv__(self, other: Any) -> Any:
        ends = _ends(other)
        if ends is not None and ends[0] <= 0 <= ends[1]:
            raise ZeroDivisionError("division of a Real by zero")
        return self._combine(other, lambda a, b: a / b)

    @environment.ours
    def __rtruediv__(self, other: Any) -> Any:
        if self.lo <= 0 <= self.hi:
            raise ZeroDivisionError("division by a Real that may be zero")
        return self._combine(other, lambda a, b: b / a)

    @environment.ours
    def __pow__(self, exponent: Any, modulus: Any = None) -> Any:
        if isinstance(exponent, float) and not isinstance(exponent, Real) and exponent.is_integer():
            exponent = int(exponent)
        if modulus is not None or not isinstance(exponent, (int, np.integer)):
            return NotImplemented if not isinstance(exponent, (int, float)) else float(self) ** exponent
        if exponent < 0 and self.lo <= 0 <= self.hi:
            raise ZeroDivisionError("a negative power of a Real that may be zero")
        corners = [Fraction(end) ** int(exponent) for end in (self.lo, self.hi)]
        if exponent > 0 and exponent % 2 == 0 and self.lo < 0 < self.hi:
            corners.append(Fraction(0))
        return Real(_down(min(corners)), _up(max(corners)))

    def __neg__(self) -> "Real":
        return Real(-self.hi, -self.lo)

    def __pos__(self) -> "Real":
        return self

    __radd__, __rmul__ = __add__, __mul__

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Traced values record the true number; NumPy's own arrays and functions take the float."""
        if any(hasattr(v, "__array_ufunc__") and not isinstance(v, (Real, np.ndarray, np.generic)) for v in inputs):
            return NotImplemented
        keeps = _UFUNCS.get(ufunc) if method == "__call__" and not kwargs else None
        if keeps is not None and all(np.ndim(v) == 0 for v in inputs):
            left, right = (v[()] if isinstance(v, np.ndarray) else v for v in inputs)
            return keeps(left, right)
        return getattr(ufunc, method)(*(float(v) if isinstance(v, Real) else v for v in inputs), **kwargs)


def _either(forward: str, backward: str) -> Any:
    """The operation of whichever operand is the Real; NumPy's own scalars would take it for a float."""
    def operation(a: Any, b: Any) -> Any:
        return getattr(a, forward)(b) if isinstance(a, Real) else getattr(b, backward)(a)
    return operation


_UFUNCS = {np.add: _either("__add__", "__radd__"), np.subtract: _either("__sub__", "__rsub__"),
           np.multiply: _either("__mul__", "__rmul__"), np.divide: _either("__truediv__", "__rtruediv__")}


def _ends(number: Any) -> tuple[Fraction, Fraction] | None:
    if isinstance(number, Real):
        return Fraction(number.lo), Fraction(number.hi)
    if isinstance(number, (Rational, np.integer)):
        exact = Fraction(int(number)) if isinstance(number, np.integer) else Fraction(number)
        return exact, exact
    if isinstance(number, (float, np.floating)) and math.isfinite(number):
        exact = Fraction(*number.as_integer_ratio())
        return exact, exact
    return None


# the neighbouring doubles around the true constants; checked against Arb in the tests
pi = Real(math.pi, math.nextafter(math.pi, 4.0))
e = Real(math.e, math.nextafter(math.e, 3.0))
