"""lgamma, the logarithm of the gamma function, and its derivatives: polygamma of order m = 0 (digamma), 1, …; all for x > 0.

x is moved up by n steps of 1 to y = x + n, where n = 0 or y is near 10 (for polygamma 10 + m), and there Stirling's series holds:

    lgamma x = (y - 1/2) log y - y + log(2 pi)/2 + sum of B(2k) / (2k (2k-1) y**(2k-1)) - log(x (x + 1) … (x + n - 1)),
    (-1)**(m+1) polygamma(m, x) = (m-1)!/y**m + m!/(2 y**(m+1)) + sum of B(2k) (2k+m-1)! / ((2k)! y**(2k+m))
                                  + sum of m!/(x + j)**(m+1) for j = 0, …, n - 1,

for m = 0 with -log y instead of the first term. What a series leaves is less than the first term left out and has its sign, for
1/t is completely monotone (DLMF 5.11(ii), 2.10(i)). lgamma is computed in double-double and ends as head + tail +- error;
polygamma is computed in interval arithmetic itself and needs no other proof.
"""

from fractions import Fraction
from math import factorial, inf, nextafter

from infimum.interval.arithmetic import add, div, mul, powi, sub
from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import (
    dd_add,
    dd_add_d,
    dd_div,
    dd_mul,
    dd_neg,
    dd_scale,
    ends,
    fast_two_sum,
    horner,
    two_sum,
)
from infimum.interval.elementary.logarithm import FUNCTIONS as LOGARITHM
from infimum.interval.elementary.logarithm import LARGEST
from infimum.interval.elementary.power import two_part_log2
from infimum.interval.pair import Pair, exact

# B(2), B(4), …; the last one bounds what the series leaves
BERNOULLI = tuple(Fraction(*f) for f in ((1, 6), (-1, 30), (1, 42), (-1, 30), (5, 66), (-691, 2730), (7, 6), (-3617, 510),
                                         (43867, 798), (-174611, 330), (854513, 138)))
START = 10
LN2 = (0.6931471805599453, 2.3190468138462996e-17)
HALF_LOG_2PI = (0.9189385332046728, -3.878294158067242e-17)
TWELFTH = (0.08333333333333333, 4.625929269271485e-18)
STIRLING = tuple(float(c / ((2 * k) * (2 * k - 1))) for k, c in enumerate(BERNOULLI[:-1], 1))
STIRLING_ERROR = 2.0**-64                                # roundings of the series, and what it leaves
SLACK = 2.0**-88                                         # of the sizes that are added: double-double arithmetic
LOWEST = (1.4616321449683622, 1.4616321449683625)        # the doubles around the place of the least value,
LEAST = -0.12148629053584962                             # and a double below that value


# ---- lgamma
def _log(b, v):
    """((h, l), error): the natural logarithm of a double-double v > 0, but for what double-double arithmetic loses."""
    h, low, error = b.outline("pow_log2", two_part_log2, v[0])
    return dd_add_d(b, dd_mul(b, (h, low), LN2), b.div(v[1], v[0])), b.mul(error, 0.75)


def _steps(b, x, start):
    """How many steps of 1 lead from x to `start` or beyond it: the last one may fall short by a rounding."""
    return b.max(b.neg(b.floor(b.sub(x, float(start)))), 0.0)


def _product(b, x, n):
    """(v, shift): log(x (x + 1) … (x + n - 1)) = log(v) + shift*log(2); v = 1 for n = 0."""
    small = b.olt(x, 2.0**-400)
    first = b.mul(x, b.select(small, 2.0**600, 1.0))
    moves = b.ogt(n, 0.0)
    v = b.select(moves, first, 1.0), b.const(0.0)
    for j in range(1, START):
        there = b.ogt(n, float(j))
        high, low = two_sum(b, x, float(j))
        v = dd_mul(b, v, (b.select(there, high, 1.0), b.select(there, low, 0.0)))
    return v, b.select(small, -600.0, 0.0)


def beyond_twelfth(b, y):
    """y times the sum of B(2k)/(2k (2k-1) y**(2k-1)), without its first term 1/12."""
    inverse = b.div(1.0, y)
    w = b.mul(inverse, inverse)
    return b.mul(w, horner(b, w, STIRLING[1:]))


def _series(b, y):
    """The sum of B(2k)/(2k (2k-1) y**(2k-1)), y >= 9.99: off by at most STIRLING_ERROR."""
    high, low = fast_two_sum(b, TWELFTH[0], beyond_twelfth(b, y[0]))
    return dd_div(b, (high, b.add(low, TWELFTH[1])), y)


def _lgamma_parts(b, x):
    """(head, tail, error, unscale): lgamma x = (head + tail +- error) * unscale for 0 < x < infinity.

    A huge x is scaled down, together with all that is added to x log x, so that no product overflows. In the last sum the
    two logarithms may cancel, near 1 and 2: the error is relative to them, not to the result.
    """
    huge = b.ogt(x, 2.0**500)
    unit = b.select(huge, 2.0**-100, 1.0)
    n = _steps(b, x, START)
    y = two_sum(b, x, n)
    log_y, error = _log(b, y)
    scaled = dd_scale(b, y, unit)
    factor = dd_add_d(b, scaled, b.mul(unit, -0.5))
    main = dd_mul(b, factor, log_y)
    rest = dd_add(b, HALF_LOG_2PI, _series(b, y))
    value = dd_add(b, dd_add(b, main, dd_neg(b, scaled)), dd_scale(b, rest, unit))
    v, shift = _product(b, x, n)
    log_v, error_v = _log(b, v)
    log_v = dd_add(b, *_larger_first(b, log_v, dd_mul(b, (shift, 0.0), LN2)))
    head, tail = two_sum(b, value[0], b.neg(log_v[0]))
    tail = b.add(tail, b.sub(value[1], log_v[1]))
    error = b.add(b.fma(factor[0], error, error_v), b.fma(b.add(main[0], b.abs(log_v[0])), SLACK, STIRLING_ERROR))
    return head, tail, error, b.select(huge, 2.0**100, 1.0)


def _larger_first(b, x, y):
    swap = b.olt(b.abs(x[0]), b.abs(y[0]))
    return tuple(b.select(swap, u, v) for u, v in zip(y, x, strict=True)), tuple(
        b.select(swap, u, v) for u, v in zip(x, y, strict=True))


def _lgamma_point(b, x):
    """(-lower, upper) for x >= 0: infinity at 0 and at infinity; 0 at 1 and at 2."""
    head, tail, error, unscale = _lgamma_parts(b, x)
    nlo, hi = (b.mul(v, unscale) for v in ends(b, head, tail, error))
    inside = b.mand(b.ogt(x, 0.0), b.olt(x, inf))
    nlo, hi = b.select(inside, nlo, -LARGEST), b.select(inside, hi, inf)
    zero = b.mor(b.oeq(x, 1.0), b.oeq(x, 2.0))
    return b.select(zero, 0.0, nlo), b.select(zero, 0.0, hi)


def _lgamma_enclose(b, nlo, hi):
    """Convex: falls up to its lowest place and rises from there."""
    lo = b.neg(nlo)
    left, right = b.outline("lgamma_point", _lgamma_point, lo), b.outline("lgamma_point", _lgamma_point, hi)
    falls, rises = b.ole(hi, LOWEST[0]), b.oge(lo, LOWEST[1])
    return b.select(falls, right[0], b.select(rises, left[0], -LEAST)), b.max(left[1], right[1])


def _lgamma_estimate(b, x):
    """0 at 1 and at 2, as the enclosure is: comparisons with 0 come out alike."""
    head, tail, _, unscale = _lgamma_parts(b, x)
    inside = b.mand(b.ogt(x, 0.0), b.olt(x, inf))
    zero = b.mor(b.oeq(x, 1.0), b.oeq(x, 2.0))
    return b.select(zero, 0.0, b.select(inside, b.mul(b.add(head, tail), unscale), inf))


# ---- polygamma
def rational(b, value: Fraction) -> Pair:
    """A rational number between doubles."""
    near = float(value)
    low, high = (near, near) if Fraction(near) == value else (nextafter(near, -inf), nextafter(near, inf))
    sign = (value > 0) - (value < 0)
    return Pair(b.const(-low), b.const(high), least=sign, most=sign)


def _above(b, y: Pair, m: int) -> Pair:
    """(-1)**(m+1) polygamma(m, y) by the series, y >= 9.99 + m."""
    inverse = div(b, exact(b, 1.0), y)
    square = mul(b, inverse, inverse)
    left = rational(b, _weight(len(BERNOULLI), m))
    value = left.but(nlo=b.const(0.0), least=0) if left.least > 0 else left.but(hi=b.const(0.0), most=0)
    for k in range(len(BERNOULLI) - 1, 0, -1):
        value = add(b, rational(b, _weight(k, m)), mul(b, value, square))
    value = add(b, rational(b, Fraction(factorial(m), 2)), mul(b, value, inverse))  # what is multiplied by inverse**(m+1)
    if m == 0:
        logarithm = Pair(*b.outline("enclose_log", LOGARITHM["log"].enclose, y.nlo, y.hi))
        return sub(b, mul(b, value, inverse), logarithm)
    return mul(b, add(b, mul(b, value, inverse), rational(b, Fraction(factorial(m - 1)))), powi(b, inverse, m))


def _weight(k: int, m: int) -> Fraction:
    """B(2k) (2k+m-1)! / (2k)!"""
    return BERNOULLI[k - 1] * Fraction(factorial(2 * k + m - 1), factorial(2 * k))


def _polygamma_point(m: int):
    def code(b, x):
        """(-lower, upper) of (-1)**(m+1) polygamma(m, x) for 0 < x <= LARGEST."""
        n = _steps(b, x, START + m)
        one = exact(b, 1.0)

        def moved(step) -> Pair:
            return Pair(b.sub(b.neg(x), step), b.add(x, step), least=1)
        total = _above(b, moved(n), m)
        for j in range(START + m):
            term = mul(b, rational(b, Fraction(factorial(m))), powi(b, div(b, one, moved(float(j))), m + 1))
            there = b.ogt(n, float(j))
            total = add(b, total, Pair(b.select(there, term.nlo, 0.0), b.select(there, term.hi, 0.0), least=0))
        return total.nlo, total.hi
    return code


def enclose_polygamma(b, nlo, hi, m):
    """The enclosure of polygamma(m, x) over [-nlo, hi], 0 <= x: for m > 0 its absolute value falls, for m = 0 it rises."""
    lo, high = b.neg(nlo), b.min(hi, LARGEST)
    name, code = f"polygamma_{m}_point", _polygamma_point(m)
    left, right = b.outline(name, code, b.max(lo, 5e-324)), b.outline(name, code, high)
    top, bottom = b.select(b.ogt(lo, 0.0), left[1], inf), b.select(b.olt(hi, inf), right[0], inf if m == 0 else 0.0)
    return (bottom, top) if m % 2 else (top, bottom)


def estimate_polygamma(b, x, m):
    """polygamma(m, x), near it; any number outside the domain."""
    value = b.outline(f"polygamma_{m}_point", _polygamma_point(m), b.min(b.max(x, 5e-324), LARGEST))[1]
    return value if m % 2 else b.neg(value)


FUNCTIONS = {
    "lgamma": Elementary(_lgamma_enclose, _lgamma_estimate, 4, "double-double, its errors counted in docstrings and in "
                         "tests/interval/test_proof_gamma.py; 4 ulp, or 2**-60 beside the zeros at 1 and 2"),
}
