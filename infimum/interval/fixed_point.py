"""Fixed: an enclosure of one real number in fixed-point arithmetic on Python's integers, for single points whose value must be
known to the last bit. Slow, and the same on every machine.

The ends are integers in units of 2**-PLACES. Sums are exact, everything else is rounded outward. Elementary functions are
computed with GUARD more places. Their series are cut where a term is 0. Each of the few hundred steps is off by two units of the
last place at most, and so is the reduced argument, whose error grows by a factor below 4: `_SLACK` units, hundreds of times the
sum of all that, widen the result.

Proof: docs/proofs/jumps.md.
"""

from collections.abc import Callable
from functools import cache
from math import isqrt

PLACES, GUARD = 640, 64
_ONE, _WORK = 1 << PLACES, PLACES + GUARD
_UNIT = 1 << _WORK      # 1 with all places
_SLACK = 1 << 20
_LARGEST = 1 << 11      # arguments of the exponential function
_MOST_BITS = 1 << 12    # of a number
_LARGEST_EXPONENT = 1 << 31  # of powers by repeated squaring


class Unknown(ArithmeticError):
    """Not certainly defined, not decided, or too large: the ordinary enclosure has to do."""


class FixedPointInterval:
    """lo <= x <= hi, both in units of 2**-PLACES."""

    __slots__ = ("lo", "hi")

    def __init__(self, lo: int, hi: int):
        if max(lo.bit_length(), hi.bit_length()) > _MOST_BITS:
            raise Unknown
        self.lo, self.hi = lo, hi

    @classmethod
    def between(cls, lo: float, hi: float) -> "FixedPointInterval":
        """The numbers between two doubles, which are exact unless they are tiny."""
        if not -float("inf") < lo <= hi < float("inf"):
            raise Unknown
        (p, q), (r, s) = lo.as_integer_ratio(), hi.as_integer_ratio()
        return cls((p << PLACES) // q, -((-r << PLACES) // s))

    def ends(self) -> tuple[float, float]:
        """The tightest doubles around it."""
        return -_at_least(-self.lo), _at_least(self.hi)

    def __add__(self, y: "FixedPointInterval") -> "FixedPointInterval":
        return FixedPointInterval(self.lo + y.lo, self.hi + y.hi)

    def __neg__(self) -> "FixedPointInterval":
        return FixedPointInterval(-self.hi, -self.lo)

    def __sub__(self, y: "FixedPointInterval") -> "FixedPointInterval":
        return FixedPointInterval(self.lo - y.hi, self.hi - y.lo)

    def __mul__(self, y: "FixedPointInterval") -> "FixedPointInterval":
        products = (self.lo * y.lo, self.lo * y.hi, self.hi * y.lo, self.hi * y.hi)
        return FixedPointInterval(min(products) >> PLACES, -(-max(products) >> PLACES))

    def __truediv__(self, y: "FixedPointInterval") -> "FixedPointInterval":
        if y.lo <= 0 <= y.hi:
            raise Unknown
        pairs = [(a << PLACES, b) for a in (self.lo, self.hi) for b in (y.lo, y.hi)]
        return FixedPointInterval(min(a // b for a, b in pairs), max(-(-a // b) for a, b in pairs))

    def __abs__(self) -> "FixedPointInterval":
        return self if self.lo >= 0 else -self if self.hi <= 0 else FixedPointInterval(0, max(-self.lo, self.hi))

    def __pow__(self, k: int) -> "FixedPointInterval":
        """For an integer k: even powers are those of |x|."""
        if k < 0:
            return whole(1) / self ** -k
        if k % 2 and self.lo < 0:  # odd powers rise
            if self.hi <= 0:
                return -((-self) ** k)
            return FixedPointInterval((-(FixedPointInterval(0, -self.lo) ** k)).lo, (FixedPointInterval(0, self.hi) ** k).hi)
        result, base = whole(1), abs(self)
        while k:
            result, base, k = result * base if k & 1 else result, base * base, k >> 1
        return result

    def below(self, y: "FixedPointInterval") -> bool:
        """x < y, if that is decided."""
        if self.hi < y.lo or self.lo >= y.hi:
            return self.hi < y.lo
        raise Unknown

    def same(self, y: "FixedPointInterval") -> bool:
        """x == y, if that is decided."""
        if self.hi < y.lo or self.lo > y.hi:
            return False
        if self.lo == self.hi == y.lo == y.hi:
            return True
        raise Unknown


def whole(k: int) -> FixedPointInterval:
    return FixedPointInterval(k * _ONE, k * _ONE)


def _at_least(m: int) -> float:
    """The least double that is not below m * 2**-PLACES."""
    shift = max(m.bit_length() - 53, 0)
    if shift > PLACES + 971:
        raise Unknown
    return float(-(-m >> shift)) * 2.0 ** (shift - PLACES)  # exact: at most 53 bits, and no unit is as small as that of doubles


def least(x: FixedPointInterval, y: FixedPointInterval) -> FixedPointInterval:
    return FixedPointInterval(min(x.lo, y.lo), min(x.hi, y.hi))


def root(x: FixedPointInterval) -> FixedPointInterval:
    if x.lo < 0:
        raise Unknown
    low, high = isqrt(x.lo << PLACES), isqrt(x.hi << PLACES)
    return FixedPointInterval(low, high + (high * high < x.hi << PLACES))


def integer(x: FixedPointInterval, choose: Callable[[int], int]) -> FixedPointInterval:
    """floor, rint, … : choose(m) of m * 2**-PLACES, if both ends have the same."""
    low, high = choose(x.lo), choose(x.hi)
    if low != high:
        raise Unknown
    return whole(low)


def floor(m: int) -> int:
    return m >> PLACES


def sign(m: int) -> int:
    return (m > 0) - (m < 0)


def rint(m: int) -> int:
    """Of two equally near integers the even one."""
    k, rest = divmod(m, _ONE)
    return k + (2 * rest > _ONE or (2 * rest == _ONE and k & 1))


# ---- elementary functions: v * 2**(k - _WORK), with v off by at most _SLACK
def _outward(low: tuple[int, int], high: tuple[int, int]) -> FixedPointInterval:
    def scaled(v: int, k: int) -> int:
        return v << k - GUARD if k >= GUARD else v >> GUARD - k
    return FixedPointInterval(scaled(low[0] - _SLACK, low[1]), -scaled(-high[0] - _SLACK, high[1]))


def _inverse_tangent(q: int, sign: int, unit: int) -> int:
    """arctan(1/q) for sign = -1, artanh(1/q) for sign = 1, in units of 1/unit, off by a unit for each term."""
    power, total, k = unit // q, 0, 0
    while power:
        total += (sign**k if sign < 0 else 1) * (power // (2 * k + 1))
        power, k = power // (q * q), k + 1
    return total


@cache
def half_pi(bits: int) -> int:
    """pi/2 in units of 2**-bits, by Machin's formula, off by less than 1."""
    unit = 1 << bits + GUARD
    return 2 * (4 * _inverse_tangent(5, -1, unit) - _inverse_tangent(239, -1, unit)) >> GUARD


@cache
def _log_2() -> int:
    """In units of 2**-(_WORK + GUARD), off by less than 2**11."""
    return 2 * _inverse_tangent(3, 1, _UNIT << GUARD)


def _exp(m: int) -> tuple[int, int]:
    """e**x for x = m * 2**-PLACES: x = k log 2 + r."""
    if abs(m) > _LARGEST << PLACES:
        raise Unknown
    x = m << 2 * GUARD
    k = x // _log_2()
    r = x - k * _log_2() >> GUARD
    term = total = _UNIT
    n = 1
    while term:
        term = (term * r >> _WORK) // n
        total, n = total + term, n + 1
    return total, k


def exp(x: FixedPointInterval) -> FixedPointInterval:
    return _outward(_exp(x.lo), _exp(x.hi))


def _log(m: int) -> tuple[int, int]:
    """The logarithm of m * 2**-PLACES: m = 2**j (1 + t) / (1 - t), log((1 + t) / (1 - t)) = 2 artanh t, |t| <= 1/3."""
    j = m.bit_length() - 1
    t = ((m - (1 << j)) << _WORK) // (m + (1 << j))
    square, power, total, n = t * t >> _WORK, t, 0, 1
    while power:
        total, power, n = total + power // n, power * square >> _WORK, n + 2
    return 2 * total + ((j - PLACES) * _log_2() >> GUARD), 0


def log(x: FixedPointInterval) -> FixedPointInterval:
    if x.lo <= 0:
        raise Unknown
    return _outward(_log(x.lo), _log(x.hi))


def _wave(x: FixedPointInterval, shift: int) -> FixedPointInterval:
    """sin(x + shift*pi/2): at the lower end, widened by the width of x."""
    m = x.lo << GUARD
    bits = max(m.bit_length() - _WORK, 0) + GUARD
    quarter = half_pi(_WORK + bits)
    k = (2 * (m << bits) + quarter) // (2 * quarter)
    r, k = (m << bits) - k * quarter >> bits, k + shift
    square, term, total, n = r * r >> _WORK, _UNIT if k & 1 else r, 0, 0 if k & 1 else 1
    while term not in (0, -1):  # a negative number shifted right ends at -1
        total, n = total + term, n + 2
        term = -(term * square >> _WORK) // (n * (n - 1))
    total = -total if k & 2 else total
    width = x.hi - x.lo << GUARD
    found = _outward((total - width, 0), (total + width, 0))
    return FixedPointInterval(max(found.lo, -_ONE), min(found.hi, _ONE))


def sin(x: FixedPointInterval) -> FixedPointInterval:
    return _wave(x, 0)


def cos(x: FixedPointInterval) -> FixedPointInterval:
    return _wave(x, 1)


def power(x: FixedPointInterval, y: FixedPointInterval) -> FixedPointInterval:
    """x**y for x > 0, 0**y = 0 for y > 0, and x**k for the whole number k that y is known to be."""
    k, rest = divmod(y.lo, _ONE)
    if y.lo == y.hi and not rest and abs(k) <= _LARGEST_EXPONENT:
        return x**k
    if x.lo == x.hi == 0 and y.lo > 0:
        return x
    return exp(y * log(x))
