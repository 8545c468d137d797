"""The derivatives s⁽ᵐ⁾, m = 0, 1, …, of s(t) = sin(t)/t, s(0) = 1, which is smooth everywhere. The proof: docs/proofs/sinc.md.

s(t) is the integral of cos(t u) over u from 0 to 1. Four facts follow:

1. |s⁽ᵐ⁾(t)| <= 1/(m + 1), and s⁽ᵐ⁾(-t) = (-1)**m s⁽ᵐ⁾(t).
2. s⁽ᵐ⁾(t) is the sum of (-1)**((n+m)/2) t**n / (n! (n + m + 1)) over the n >= 0 for which n + m is even. What the first terms
   leave lies between 0 and the first term left out.
3. t s⁽ᵐ⁾(t) = sin⁽ᵐ⁾(t) - m s⁽ᵐ⁻¹⁾(t).
4. |s⁽ᵐ⁾| <= L(m) at all arguments of size t or more, where L(0) = min(1, 1/t) and L(m) = min(1/(m + 1), (1 + m L(m - 1))/t).

At a point, 2 is used up to NEAR and 3 beyond it, for m = 0 sin(t)/t itself, all in interval arithmetic. On an interval, the
derivative is enclosed by its value in the middle and 4. Where it has one sign, the ends have the extreme values; elsewhere its
size bounds how far s⁽ᵐ⁾ is from the mean of its values at both ends.
"""

from collections.abc import Callable
from fractions import Fraction
from math import factorial, inf, nextafter
from typing import Any

from infimum.interval.arithmetic import add, div, mul, neg, square, sub
from infimum.interval.elementary.gamma import rational
from infimum.interval.elementary.logarithm import LARGEST
from infimum.interval.elementary.trigonometric import enclose_sincos
from infimum.interval.pair import Pair, exact

NEAR = 3.0                       # up to here the series cancels little; from here on step m of 3 multiplies errors by m/3 at most
TERMS = 16                       # of the series; the first one left out is below 2**-66
TINY = 2.0**-27
SIXTH = 0.16666666666666669      # above 1/6
FALLING = 4.493                  # below the first positive solution of tan t = t
LEAST = -0.21723362821122166     # below the least value of s, and the next double is above it


def size_limit(m: int) -> float:
    """A double that is 1/(m + 1) or above it."""
    near = 1.0 / (m + 1)
    return near if Fraction(near) >= Fraction(1, m + 1) else nextafter(near, inf)


def weight(n: int, m: int) -> Fraction:
    """The factor of t**n in the series."""
    return Fraction((-1) ** ((n + m) // 2), factorial(n) * (n + m + 1))


# ---- at a point
def _within(b, value: Pair, m: int) -> Pair:
    """What of an enclosure of s⁽ᵐ⁾ is possible."""
    return Pair(b.min(value.nlo, size_limit(m)), b.min(value.hi, size_limit(m)), unit=True)


def _series(b, t: Any, m: int) -> Pair:
    """Fact 2, 0 <= t <= NEAR."""
    argument, behind = Pair(b.neg(t), t, least=0), m % 2 + 2 * TERMS
    left = rational(b, weight(behind, m))
    value = left.but(nlo=b.const(0.0), least=0) if left.least > 0 else left.but(hi=b.const(0.0), most=0)
    power = square(b, argument)
    for n in range(behind - 2, -1, -2):
        value = add(b, rational(b, weight(n, m)), mul(b, value, power))
    return mul(b, value, argument) if m % 2 else value


def _recurrence(b, t: Any, m: int) -> Pair:
    """Fact 3, t > 0."""
    ends = b.outline("enclose_sincos", enclose_sincos, b.neg(t), t)
    sine, cosine, argument = Pair(*ends[:2], unit=True), Pair(*ends[2:], unit=True), Pair(b.neg(t), t, least=1)
    derivatives = sine, cosine, neg(b, sine), neg(b, cosine)
    value = div(b, sine, argument)
    for k in range(1, m + 1):
        before = mul(b, exact(b, float(k)), _within(b, value, k - 1))
        value = div(b, sub(b, derivatives[k % 4], before), argument)
    return value


def _point(m: int) -> Callable:
    def code(b, x):
        """(-lower, upper) of s⁽ᵐ⁾ at a finite x."""
        t = b.abs(x)
        if m == 0:
            edge, near = TINY, Pair(b.fma(b.mul(t, SIXTH), t, -1.0), b.const(1.0))
        else:
            edge, near = NEAR, _series(b, b.min(t, NEAR), m)
        far, inside = _recurrence(b, b.max(t, edge), m), b.ole(t, edge)
        found = _within(b, Pair(b.select(inside, near.nlo, far.nlo), b.select(inside, near.hi, far.hi)), m)
        if m % 2 == 0:
            return found.nlo, found.hi
        mirrored = b.olt(x, 0.0)
        return b.select(mirrored, found.hi, found.nlo), b.select(mirrored, found.nlo, found.hi)
    return code


def _at(b, x: Any, m: int) -> Pair:
    return Pair(*b.outline(f"sinc_{m}_point", _point(m), x))


# ---- on an interval
def _largest(b, t: Any, m: int) -> list[Any]:
    """L(0), …, L(m) of fact 4 for t >= 0, which must not be -0."""
    found = [b.min(b.div(1.0, t), 1.0)]
    for k in range(1, m + 1):
        found.append(b.min(b.div(b.fma(found[-1], float(k), 1.0), t), size_limit(k)))
    return found


def enclose_sinc(m: int) -> Callable:
    """The code of the enclosure of s⁽ᵐ⁾ over [-nlo, hi], which may be unbounded: then only L(m) is left."""
    def code(b, nlo, hi):
        lo = b.neg(nlo)
        nearest = b.abs(b.max(b.max(lo, b.neg(hi)), 0.0))
        if m % 2 == 0:
            lo, hi = nearest, b.max(nlo, hi)
        *_, limit, slope_limit, bend_limit = _largest(b, nearest, m + 2)
        left, right = b.max(lo, -LARGEST), b.min(hi, LARGEST)
        middle = b.min(b.max(b.fma(left, 0.5, b.mul(right, 0.5)), left), right)
        spread = b.mul(b.max(b.sub(hi, middle), b.sub(middle, lo)), bend_limit)
        slope = _at(b, middle, m + 1)
        down, up = (b.min(b.add(end, spread), slope_limit) for end in (slope.nlo, slope.hi))
        if m == 0:
            up = b.select(b.ole(hi, FALLING), b.min(up, 0.0), up)
        rises, falls = b.ole(down, 0.0), b.ole(up, 0.0)
        excess = b.mul(b.max(down, up), b.sub(hi, lo))
        first, last = _at(b, left, m), _at(b, right, m)

        def end(at_left: Any, at_right: Any, from_left: Any, from_right: Any, most: Any) -> Any:
            between = b.mul(b.add(b.add(at_left, at_right), excess), 0.5)
            return b.min(b.select(from_left, at_left, b.select(from_right, at_right, between)), most)
        least = b.min(limit, -LEAST) if m == 0 else limit
        return end(first.nlo, last.nlo, rises, falls, least), end(first.hi, last.hi, falls, rises, limit)
    return code


def estimate_sinc(b, x: Any, m: int) -> Any:
    """s⁽ᵐ⁾(x), near it; any number for NaN."""
    value = _at(b, b.min(b.max(x, -LARGEST), LARGEST), m)
    return b.mul(b.sub(value.hi, value.nlo), 0.5)
