"""Real: a number that is no double, known between two; which number it is, by its name. `pi` and `e` are such numbers."""

import math
import os
from collections.abc import Callable, Hashable
from fractions import Fraction
from numbers import Rational
from typing import Any, NamedTuple, NoReturn

import numpy as np

from infimum.support import environment
from infimum.support.digests import blake2b
from infimum.support.given_numbers import round_down, round_up
from infimum.trace.refusals import refuse_rounding
from infimum.trace.user_source import fail

TRANSCENDENTAL = ("pi", "e")
_LONGEST = 4096  # bits of an exact factor; a loop would make them longer and longer


class ExactName(NamedTuple):
    """factor · Π symbol**power + shift: pi + pi, 2 * pi and 4 * pi / 2 have one name."""

    powers: tuple[tuple[str, int], ...]
    factor: Fraction = Fraction(1)
    shift: Fraction = Fraction(0)

    @property
    def is_transcendental(self) -> bool:
        """Is it certainly? A power of pi alone is, or of e, whatever rational it is multiplied with or added to."""
        powers = [(symbol, power) for symbol, power in self.powers if power]
        return self.factor != 0 and len(powers) == 1 and powers[0][0] in TRANSCENDENTAL

    def __neg__(self) -> "ExactName":
        return ExactName(self.powers, -self.factor, -self.shift)

    def plus(self, other: "ExactName | Fraction") -> "ExactName":
        if isinstance(other, Fraction):
            return self._short(self._replace(shift=self.shift + other))
        if self.powers == other.powers:
            return self._short(ExactName(self.powers, self.factor + other.factor, self.shift + other.shift))
        return _new("+", self, other)

    def times(self, other: "ExactName | Fraction") -> "ExactName":
        if isinstance(other, Fraction):
            return self._short(ExactName(self.powers, self.factor * other, self.shift * other))
        if self.shift or other.shift:
            return _new("*", self, other)
        powers = dict(self.powers)
        for symbol, power in other.powers:
            powers[symbol] = powers.get(symbol, 0) + power
        return self._short(ExactName(tuple(sorted(powers.items())), self.factor * other.factor))

    def to_the(self, k: int) -> "ExactName":
        if self.shift or abs(k) * _bits(self.factor) > _LONGEST or not self.factor:
            return _new(f"**{k}", self)
        return ExactName(tuple((symbol, k * power) for symbol, power in self.powers), self.factor**k)

    def _short(self, made: "ExactName") -> "ExactName":
        return made if _bits(made.factor) + _bits(made.shift) <= _LONGEST else _new("long", made)


def _bits(number: Fraction) -> int:
    return max(number.numerator.bit_length(), number.denominator.bit_length())


def _new(operation: str, *operands: ExactName) -> ExactName:
    """What comes of an operation is one number each time."""
    text = repr((operation, *operands))
    return ExactName(((blake2b(text.encode(), digest_size=16).hexdigest(), 1),))


_taken: dict[tuple[float, float], Hashable] = {}  # which number an enclosure belongs to


def told_apart(number: Hashable, lo: float, hi: float) -> tuple[float, float]:
    """Doubles around a number that is none: lo and hi, or others further away if another number has these already.

    Constants are compared by their ends. With the same ends, pi x - q x would be taken for 0 although q is another number.
    """
    while _taken.setdefault((lo, hi), number) != number:
        lo, hi = (lo, math.nextafter(hi, math.inf)) if hi < math.inf else (math.nextafter(lo, -math.inf), hi)
    return lo, hi


def exact_constant(lo: float, hi: float) -> Fraction | None:
    """The rational number that a constant with these ends is, if that is known. Negative numbers have the ends of their
    negatives, so that each is told apart by the positive one.

    >>> exact_constant(*doubles_around(Fraction(-1, 10))), exact_constant(pi.lo, pi.hi)
    (Fraction(-1, 10), None)
    """
    if lo == hi:
        return Fraction(lo) if math.isfinite(lo) else None
    if hi <= 0:
        opposite = exact_constant(-hi, -lo)
        return None if opposite is None else -opposite
    number = _taken.get((lo, hi))
    return number if isinstance(number, Fraction) else None


def doubles_around(value: Fraction) -> tuple[float, float]:
    """The ends of a constant: the double that the rational is, or doubles around it that no other number has."""
    if value < 0:
        lo, hi = doubles_around(-value)
        return -hi, -lo
    lo, hi = round_down(value), round_up(value)
    return (lo, hi) if lo == hi else told_apart(value, lo, hi)


class Real:
    """A real number between the doubles `lo` and `hi`.

    Sums, differences, products, quotients and integer powers with other numbers are Reals. Whatever else NumPy does with one, and
    whatever it does with an array of doubles, is recorded as an exact constant: in a traced function that is the true number.
    It is no float and never becomes one: NumPy would round it where nobody sees it.

    >>> pi
    Real(3.141592653589793, 3.1415926535897936)
    >>> 2 * pi, pi > 3
    (Real(6.283185307179586, 6.283185307179587), True)
    >>> np.sqrt(pi)
    <traced []: sqrt([3.141592653589793, 3.1415926535897936])>
    """

    __slots__ = ("lo", "hi", "name")

    lo: float
    hi: float
    name: ExactName
    _traced: Callable[["Real"], Any]  # the number as a constant expression; the tracer adds this

    def __init__(self, lo: float, hi: float, name: ExactName | None = None):
        if math.isinf(lo) or math.isinf(hi):
            fail("A number made of infimum.pi or infimum.e is too large for a double.", "Rescale the formula.")
        self.lo, self.hi, self.name = lo, hi, ExactName(((os.urandom(16).hex(), 1),)) if name is None else name

    @property
    @environment.ours
    def ends(self) -> tuple[float, float]:
        """Those of the constant that it is in a formula."""
        if self.hi <= 0:
            lo, hi = (-self).ends if self.lo < 0 else (0.0, 0.0)
            return -hi, -lo
        return (self.lo, self.hi) if self.lo == self.hi else told_apart(self.name, self.lo, self.hi)

    @property
    @environment.ours
    def is_irrational(self) -> bool:
        """Is it certainly no rational, and so neither `lo` nor `hi`? Known of pi and e: they are transcendental."""
        return self.name.is_transcendental

    def __reduce__(self) -> tuple:
        return Real, (self.lo, self.hi, self.name)

    def __repr__(self) -> str:
        return f"Real({self.lo!r}, {self.hi!r})"

    def __format__(self, spec: str) -> str:
        return format(self.lo, spec) if spec else repr(self)

    def __float__(self) -> NoReturn:
        refuse_rounding()

    # ---- arithmetic
    @environment.ours
    def _combine(self, other: Any, corner: Any, named: Callable[[ExactName, Any], ExactName]) -> Any:
        ends = _ends(other)
        if ends is None:
            return NotImplemented
        corners = [corner(Fraction(a), b) for a in (self.lo, self.hi) for b in set(ends)]
        name = named(self.name, other.name if isinstance(other, Real) else ends[0])
        return Real(round_down(min(corners)), round_up(max(corners)), name)

    def __add__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a + b, ExactName.plus)

    def __sub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a - b, lambda a, b: a.plus(-b))

    def __rsub__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: b - a, lambda a, b: (-a).plus(b))

    def __mul__(self, other: Any) -> Any:
        return self._combine(other, lambda a, b: a * b, ExactName.times)

    @environment.ours
    def __truediv__(self, other: Any) -> Any:
        ends = _ends(other)
        if ends is not None and ends[0] <= 0 <= ends[1]:
            raise ZeroDivisionError("division of a Real by zero")
        return self._combine(other, lambda a, b: a / b, lambda a, b: a.times(b.to_the(-1) if isinstance(b, ExactName) else 1 / b))

    @environment.ours
    def __rtruediv__(self, other: Any) -> Any:
        if self.lo <= 0 <= self.hi:
            raise ZeroDivisionError("division by a Real that may be zero")
        return self._combine(other, lambda a, b: b / a, lambda a, b: a.to_the(-1).times(b))

    @environment.ours
    def __pow__(self, exponent: Any) -> Any:
        ends = _ends(exponent)
        if ends is None or ends[0] != ends[1] or ends[0].denominator != 1 or abs(ends[0]) > _LARGEST_POWER:
            return _recorded(np.power, "__call__", self, exponent)
        k = int(ends[0])
        if k < 0 and self.lo <= 0 <= self.hi:
            raise ZeroDivisionError("a negative power of a Real that may be zero")
        corners = [Fraction(end) ** k for end in (self.lo, self.hi)]
        if k > 0 and k % 2 == 0 and self.lo < 0 < self.hi:
            corners.append(Fraction(0))
        return Real(round_down(min(corners)), round_up(max(corners)), self.name.to_the(k))

    def __rpow__(self, base: Any) -> Any:
        return _recorded(np.power, "__call__", base, self)

    def __neg__(self) -> "Real":
        return Real(-self.hi, -self.lo, -self.name)

    def __pos__(self) -> "Real":
        return self

    def __abs__(self) -> "Real":
        if self.lo < 0 < self.hi:
            return Real(0.0, max(-self.lo, self.hi))  # a number of its own: the sign is not known
        return self if self.lo >= 0 else -self

    __radd__, __rmul__ = __add__, __mul__

    # ---- comparisons: an answer where it is certain

    def _compare(self, other: Any, below: bool, equal: bool, above: bool) -> Any:
        """The answer of the three for a number below, equal to or above the other that is certain."""
        ends = _ends(other)
        if ends is None:
            return NotImplemented
        if self is other or (self.lo == self.hi == ends[0] == ends[1]):
            return equal
        answers = {answer for answer, possible in ((below, self.lo < ends[1]), (above, self.hi > ends[0]),
                                                   (equal, self.lo <= ends[1] and ends[0] <= self.hi)) if possible}
        if len(answers) > 1:
            fail(f"Whether {self!r} is less than, equal to or greater than {other!r} is not known.",
                 "Compare with a number that is further away.")
        return answers.pop()

    def __lt__(self, other: Any) -> Any:
        return self._compare(other, True, False, False)

    def __le__(self, other: Any) -> Any:
        return self._compare(other, True, True, False)

    def __gt__(self, other: Any) -> Any:
        return self._compare(other, False, False, True)

    def __ge__(self, other: Any) -> Any:
        return self._compare(other, False, True, True)

    def __eq__(self, other: Any) -> Any:
        return self._compare(other, False, True, False)

    def __hash__(self) -> int:
        return hash(self.lo if self.lo == self.hi else (self.lo, self.hi))

    def __bool__(self) -> bool:
        return self != 0

    # ---- NumPy

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        """Of numbers a Real where there is an operator for it; else the operation is recorded as an exact constant."""
        if any(hasattr(v, "__array_ufunc__") and not isinstance(v, (Real, np.ndarray, np.generic)) for v in inputs):
            return NotImplemented
        names = _OPERATORS.get(ufunc) if method == "__call__" and not kwargs else None
        if names is not None and all(np.ndim(v) == 0 for v in inputs):
            first, *rest = (v[()] if isinstance(v, np.ndarray) else v for v in inputs)
            result = getattr(first, names[0])(*rest) if isinstance(first, Real) else getattr(rest[0], names[1])(first)
            if result is not NotImplemented:
                return result
        return _recorded(ufunc, method, *inputs, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """np.sin of an array of objects asks each for its method `sin`."""
        ufunc = None if name.startswith("_") else getattr(np, name, None)
        if not isinstance(ufunc, np.ufunc):
            raise AttributeError(f"a Real has no attribute {name!r}")
        return lambda *others: ufunc(self, *others)


_LARGEST_POWER = 1000  # beyond, the exact fractions grow long
# ufunc -> the methods of a Real on its left, and on its right
_OPERATORS = {
    np.add: ("__add__", "__radd__"), np.subtract: ("__sub__", "__rsub__"), np.multiply: ("__mul__", "__rmul__"),
    np.divide: ("__truediv__", "__rtruediv__"), np.power: ("__pow__", "__rpow__"),
    np.negative: ("__neg__", ""), np.positive: ("__pos__", ""), np.absolute: ("__abs__", ""),
    np.less: ("__lt__", "__gt__"), np.less_equal: ("__le__", "__ge__"), np.greater: ("__gt__", "__lt__"),
    np.greater_equal: ("__ge__", "__le__"), np.equal: ("__eq__", "__eq__"), np.not_equal: ("__ne__", "__ne__"),
}


def _recorded(ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
    """The operation as a constant expression, which has an enclosure as narrow as that of any other."""
    return getattr(ufunc, method)(*(v._traced() if isinstance(v, Real) else v for v in inputs), **kwargs)


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
pi = Real(math.pi, math.nextafter(math.pi, 4.0), ExactName((("pi", 1),)))
e = Real(math.e, math.nextafter(math.e, 3.0), ExactName((("e", 1),)))
