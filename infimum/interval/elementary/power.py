"""x**y for x >= 0, with 0**0 = 1, and x**k for integers k.

x**y = 2**(y * log2 x). The logarithm is a double-double with error below 2**-66 of its part beyond the exponent of x, so that
the exponent of the power, at most 1100, is off by less than 2**-55. Where x is a power of two it has no error at all, and where
the product is then an integer the power is exact. With s = f/(2 + f), z = s*s

    log(1 + f) = 2s * (1 + z/3 + z*z/5 + z**3 * FINE(z)),

FINE off by at most FINE_ERROR for z <= 0.02945 (proved in Arb).
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import (
    d_add_dd,
    dd_add,
    dd_div,
    dd_mul,
    dd_mul_d,
    dd_square,
    ends,
    fast_two_sum,
    horner,
    two_prod,
)
from infimum.interval.elementary.exponential import BASE_TWO_EPS, clamp, power_lower, power_upper, reduce_base_two, scale
from infimum.interval.elementary.logarithm import split

FINE = (0.14285714285714285, 0.11111111111111474, 0.09090909090650492, 0.07692307762438362, 0.06666657340114948,
        0.058830249342610955, 0.05236453282740898, 0.05308513864213727)
FINE_ERROR = 2.0**-56.7
THIRD = (0.3333333333333333, 1.850371707708594e-17)
FIFTH = (0.2, -1.1102230246251566e-17)
TWICE_LOG2E = (2.8853900817779268, 4.0710547481862066e-17)
LOG_EPS = 2.0**-66
LARGEST = 1.7976931348623157e308
INFINITY = float("inf")
SMALL_POWERS = 33                                        # 3**34 has more than 53 bits: beyond, only powers of two are exact


# ---- x**y
def two_part_log2(b, x):
    """(h, low, error): log2 x = h + low +- error; exact for powers of two, infinite at 0 and infinity.

    f and 2 + f are exact (the latter in two parts) and s is a double-double quotient. In the bracket 1 + z/3 + … the product
    z*FINE, below 0.0044, is in double: off by 2**-58.4 (rounding 2**-60, argument 2**-60, FINE 2**-54 of it and its
    rounding 2**-55 of 1/7), times z*z < 2**-10.1. All else is off by less than 2**-95. So the bracket is off by 2**-68.5.
    """
    k, f = split(b, x)
    s = dd_div(b, (f, 0.0), fast_two_sum(b, 2.0, f))
    z = dd_square(b, s)
    fifth, lost = fast_two_sum(b, FIFTH[0], b.mul(z[0], horner(b, z[0], FINE)))
    third = dd_add(b, THIRD, dd_mul(b, z, (fifth, b.add(lost, FIFTH[1]))))
    bracket = d_add_dd(b, 1.0, dd_mul(b, z, third))
    part = dd_mul(b, dd_mul(b, s, TWICE_LOG2E), bracket)
    h, low = d_add_dd(b, k, part)
    zero, end = b.ole(x, 0.0), b.oge(x, INFINITY)
    h = b.select(zero, -INFINITY, b.select(end, INFINITY, h))
    return h, b.select(b.mor(zero, end), 0.0, low), b.mul(b.abs(part[0]), LOG_EPS)


def _exponent(b, y, h, low, error):
    """(e, tail, error) of y*(h + low +- error), with 0*infinity = 0, and +-1100 where it is more.

    A y below 2**-100 is replaced by 2**-100 with its sign: either way the power is within 2**-89 of 1 and on the same side of it,
    so that its bounds are 1 and a neighbour of 1; and the product of y and h (at least 2**-53) does not underflow.
    """
    tiny = b.mand(b.olt(b.abs(y), 2.0**-100), b.mnot(b.oeq(y, 0.0)))
    y = b.select(tiny, b.select(b.olt(y, 0.0), -(2.0**-100), 2.0**-100), y)
    zero = b.mor(b.oeq(y, 0.0), b.oeq(h, 0.0))
    p, slip = two_prod(b, y, h)
    e, tail = fast_two_sum(b, p, b.fma(y, low, slip))
    inside = b.mand(b.olt(b.abs(p), 1100.0), b.mnot(zero))
    wide = b.fma(b.abs(tail), 2.0**-50, b.mul(b.abs(y), error))
    e = b.select(zero, 0.0, clamp(b, b.select(inside, e, p), -1100.0, 1100.0))
    return e, b.select(inside, tail, 0.0), b.select(inside, wide, 0.0)


def _raise(b, e, tail, error):
    """(-lower, upper) of 2**(e + tail +- error)."""
    k, r, low = reduce_base_two(b, e, tail)
    extra = b.fma(b.abs(r), BASE_TWO_EPS, error)
    return power_lower(b, k, r, low, extra), power_upper(b, k, r, low, extra)


def _larger(b, x, y):
    """The larger of two exponents; its error covers that of both."""
    take = b.mor(b.ogt(x[0], y[0]), b.mand(b.oeq(x[0], y[0]), b.ogt(x[1], y[1])))
    return b.select(take, x[0], y[0]), b.select(take, x[1], y[1]), b.max(x[2], y[2])


def _pow_enclose(b, xnlo, xhi, ynlo, yhi):
    """The exponent y*log2 x is monotone in each: for each end of y take the end of the logarithm that the sign of y wants."""
    xlo, ylo = b.neg(xnlo), b.neg(ynlo)
    least, most = b.outline("pow_log2", two_part_log2, xlo), b.outline("pow_log2", two_part_log2, xhi)

    def product(y, low, high):
        below = b.olt(y, 0.0)
        return b.outline("pow_exponent", _exponent, y, *(b.select(below, u, v) for u, v in zip(low, high, strict=True)))

    def negated(e):
        return b.neg(e[0]), b.neg(e[1]), e[2]
    top = _larger(b, product(ylo, least, most), product(yhi, least, most))
    bottom = negated(_larger(b, negated(product(ylo, most, least)), negated(product(yhi, most, least))))
    lower, upper = b.outline("pow_raise", _raise, *bottom)[0], b.outline("pow_raise", _raise, *top)[1]
    at_zero = b.select(b.ogt(ylo, 0.0), 0.0, 1.0)  # of x = [0, 0] the powers are 0 for y > 0 and 1 for y = 0
    return lower, b.select(b.mand(b.ole(xhi, 0.0), b.oge(yhi, 0.0)), at_zero, upper)


def _pow_estimate(b, x, y):
    return b.outline("pow_raise", _raise, *b.outline("pow_exponent", _exponent, y, *b.outline("pow_log2", two_part_log2, x)))[1]


# ---- x**k
def _binary_power(b, x, k):
    """(power, inexact) of a double x in double-double, k >= 1, |log2 x| <= 1/2, k <= SMALL_POWERS: relative error below 2**-92.

    Each product has relative error 2**-98 and the factors' own errors add up: at most k + (number of products) of them. The
    first product that is not exact leaves a low part; products of exact numbers stay exact.
    """
    power, inexact = (x, 0.0), None
    for digit in bin(k)[3:]:
        steps = (lambda v: dd_square(b, v),) + ((lambda v: dd_mul_d(b, v, x),) if digit == "1" else ())
        for step in steps:
            power = step(power)
            blurred = b.mnot(b.oeq(power[1], 0.0))
            inexact = blurred if inexact is None else b.mor(inexact, blurred)
    return power, inexact


def _scaled_power(b, a, k):
    """(-lower, upper) of a**k for a > 0, 2 <= |k| <= SMALL_POWERS, exact where the power is a double."""
    exponent, f = split(b, a)
    m = b.add(f, 1.0)
    power, inexact = _binary_power(b, m, abs(k))
    if k < 0:
        power, inexact = dd_div(b, (1.0, 0.0), power), b.mnot(b.oeq(f, 0.0))
    nlo, hi = ends(b, *power, b.select(inexact, b.mul(b.abs(power[0]), 2.0**-88), 0.0))
    e = clamp(b, b.mul(exponent, float(k)), -1130.0, 1060.0)
    return scale(b, nlo, e), scale(b, hi, e)


def _magnitude(k):
    """The code for (-lower, upper) of a**k, a >= 0."""
    def point(b, a):
        if k in PLAIN:
            return PLAIN[k](b, b.neg(a), a)
        if abs(k) <= SMALL_POWERS:
            nlo, hi = _scaled_power(b, a, k)
        else:
            logarithm = b.outline("pow_log2", two_part_log2, a)
            nlo, hi = b.outline("pow_raise", _raise, *b.outline("pow_exponent", _exponent, float(k), *logarithm))
        at_zero, at_end = ((0.0, 0.0), (-LARGEST, INFINITY)) if k > 0 else ((-LARGEST, INFINITY), (0.0, 0.0))
        zero, end = b.ole(a, 0.0), b.oge(a, INFINITY)
        return tuple(b.select(zero, u, b.select(end, v, w)) for u, v, w in zip(at_zero, at_end, (nlo, hi), strict=True))
    return point


PLAIN = {                                                # from -a and a: one rounding a multiplication, upward at either end
    -1: lambda b, n, a: (b.div(-1.0, a), b.div(1.0, a)),
    2: lambda b, n, a: (b.mul(n, a), b.mul(a, a)),
    3: lambda b, n, a: (b.mul(b.mul(n, a), a), b.mul(b.mul(a, a), a)),
    4: lambda b, n, a: (b.mul(b.mul(n, a), b.neg(b.mul(n, a))), b.mul(b.mul(a, a), b.mul(a, a))),
}


def enclose_integer_power(b, nlo, hi, k):
    """The enclosure of x**k over [-nlo, hi] for an integer k; for k < 0 the interval is not the single point 0."""
    if k == 0:
        return b.const(-1.0), b.const(1.0)
    if k == 1:
        return nlo, hi
    name, point = f"power_{'n' if k < 0 else ''}{abs(k)}", _magnitude(k)

    def bounds(a):
        return point(b, a) if k in PLAIN else b.outline(name, point, a)
    if k % 2 == 0:
        far, near = b.max(nlo, hi), b.max(b.max(b.neg(nlo), b.neg(hi)), 0.0)
        far, near = (far, near) if k > 0 else (near, far)
        return bounds(near)[0], bounds(far)[1]
    left, right = bounds(b.abs(nlo)), bounds(b.abs(hi))
    if k > 0:
        return b.select(b.ole(nlo, 0.0), left[0], left[1]), b.select(b.oge(hi, 0.0), right[1], right[0])
    upper = b.select(b.olt(nlo, 0.0), left[1], b.select(b.ole(hi, 0.0), left[0], INFINITY))
    return b.select(b.olt(hi, 0.0), right[1], b.select(b.ole(nlo, 0.0), right[0], INFINITY)), upper


def estimate_integer_power(b, x, k):
    """x**k, near it."""
    if k == 0:
        return b.const(1.0)
    if k == 1:
        return x
    value = b.outline(f"power_{'n' if k < 0 else ''}{abs(k)}", _magnitude(k), b.abs(x))[1]
    return b.select(b.olt(x, 0.0), b.neg(value), value) if k % 2 else value


FUNCTIONS = {
    "pow": Elementary(_pow_enclose, _pow_estimate, 4,
                      "logarithm and its product with y in double-double, errors counted in the docstrings with slack; the "
                      "exponential is that of exp2: tests/interval/proof_power.py"),
}
