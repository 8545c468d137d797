"""log, log2, log10, log1p, arcsinh, arccosh, arctanh.

A positive number is 2**k * (1 + f) with sqrt(1/2) <= 1 + f <= sqrt(2), roughly. With s = f/(2 + f), z = s*s, h = f*f/2

    log(1 + f) = f - h + s*(h + z*LOG(z)),

where LOG is off by at most LOG_ERROR for z <= 0.02945 (proved in Arb). f - h is carried with its rounding errors, so only the
cubic remainder s*(…), below 0.029, is rough: its error is at most CUBIC_EPS*|s|*h (tests/interval/proof_logarithm.py counts it).
Every function ends as head + tail +- error; what the other low parts lose is far below RELATIVE_EPS of the head.
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import (
    d_add_dd,
    dd_div,
    dd_sqrt,
    ends,
    fast_two_sum,
    horner,
    two_prod,
    two_sum,
)
from infimum.interval.elementary.exponential import odd_ends, odd_estimate

LOG = (0.666666666666667, 0.39999999999899505, 0.28571428625975487, 0.2222221113479499, 0.18182889125268328, 0.15331721600336407,
       0.14616449687758187)
LOG_ERROR = 2.0**-51.4
CUBIC_EPS = 9 * 2.0**-52
RELATIVE_EPS = 2.0**-64

LN2 = (0.6931471805598903, 5.497923018708371e-14)        # the first has 42 bits: its products with an exponent are exact
LOG10_2 = (0.30102999566395283, 2.8363394551044964e-14)
LOG2E = (1.4426950408889634, 2.0355273740931033e-17)
LOG10E = (0.4342944819032518, 1.098319650216765e-17)
SQRT_HALF_BITS = 0x3FE6A09E667F3BCD
ONE_BITS = 1023 << 52
MANTISSA = (1 << 52) - 1
LARGEST = 1.7976931348623157e308
INFINITY = float("inf")
TINY = 2.0**-27                                          # below: an odd f(x) = x up to x**3/3, less than 2**-55 of x
HUGE = 2.0**33                                           # above: arcsinh x and arccosh x are log(2x) up to 2**-68


# ---- pieces
def split(b, x):
    """(k, f): x = 2**k * (1 + f) exactly for finite x > 0."""
    small = b.olt(x, 2.0**-1022)
    i = b.bits(b.select(small, b.mul(x, 2.0**54), x))
    j = b.iadd(i, ONE_BITS - SQRT_HALF_BITS)
    exponent = b.float(b.ior(b.ilshr(j, 52), (1023 + 52) << 52))
    k = b.sub(exponent, b.select(small, 2.0**52 + 1023.0 + 54.0, 2.0**52 + 1023.0))
    return k, b.sub(b.float(b.iadd(b.iand(j, MANTISSA), SQRT_HALF_BITS)), 1.0)


def cubic_remainder(b, f):
    """(h, slip, s, g, error): log(1 + f) = f - h + slip + s*g +- error, |f| >= 2**-480 or f = 0."""
    square = b.mul(f, f)
    h = b.mul(square, 0.5)
    slip = b.mul(b.fma(b.neg(f), f, square), 0.5)
    s = b.div(f, b.add(f, 2.0))
    z = b.mul(s, s)
    return h, slip, s, b.fma(z, horner(b, z, LOG), h), b.mul(b.mul(b.abs(s), h), CUBIC_EPS)


def log_parts(b, k, f, correction=0.0):
    """(head, tail, error) of k*ln 2 + log(1 + f) + correction; the correction is below 2**-37 of the head."""
    h, slip, s, g, error = cubic_remainder(b, f)
    head, lost = fast_two_sum(b, b.mul(k, LN2[0]), f)
    head, gone = fast_two_sum(b, head, b.neg(h))
    low = b.fma(k, LN2[1], b.add(b.add(lost, gone), b.add(slip, correction)))
    return head, b.fma(s, g, low), b.fma(b.abs(head), RELATIVE_EPS, error)


def _scaled_log_parts(b, x, unit, factor):
    """(head, tail, error) of k*unit + log(1 + f)*factor: unit and factor are double-doubles, unit[0]*k is exact.

    An integer unit has no tail, and then powers of two have no error.
    """
    k, f = split(b, x)
    h, slip, s, g, error = cubic_remainder(b, f)
    mantissa, lost = fast_two_sum(b, f, b.neg(h))
    tail = b.fma(s, g, b.add(lost, slip))
    p, e = two_prod(b, mantissa, factor[0])
    head, gone = fast_two_sum(b, b.mul(k, unit[0]), p)
    low = b.fma(mantissa, factor[1], b.add(gone, e))
    low = b.fma(k, unit[1], low) if unit[1] else low
    size = b.abs(head if unit[1] else p)
    return head, b.fma(tail, factor[0], low), b.fma(size, RELATIVE_EPS, b.mul(error, factor[0] * 1.1875))


def _at_edges(b, lower_x, upper_x, pair):
    """The limits: -infinity at 0 below it (and the most negative double above it), infinity at infinity."""
    nlo, hi = pair
    hi = b.select(b.ole(upper_x, 0.0), -LARGEST, b.select(b.olt(upper_x, INFINITY), hi, INFINITY))
    return b.select(b.ole(lower_x, 0.0), INFINITY, nlo), hi


# ---- log, log2, log10
def _log_enclose(b, nlo, hi):
    lo = b.neg(nlo)
    head, tail, error = log_parts(b, *split(b, lo))
    lower = b.sub(b.sub(error, tail), head)
    head, tail, error = log_parts(b, *split(b, hi))
    return _at_edges(b, lo, hi, (lower, b.add(head, b.add(tail, error))))


def _log_estimate(b, x):
    head, tail, _ = log_parts(b, *split(b, x))
    return _at_edges(b, x, x, (0.0, b.add(head, tail)))[1]


def _scaled_point(name, unit, factor):
    """The code of log2 or log10 at a point, and the rows made of it."""
    def point(b, x):
        return _at_edges(b, x, x, ends(b, *_scaled_log_parts(b, x, unit, factor)))

    def enclose(b, nlo, hi):
        return b.outline(name, point, b.neg(nlo))[0], b.outline(name, point, hi)[1]

    def estimate(b, x):
        head, tail, _ = _scaled_log_parts(b, x, unit, factor)
        return _at_edges(b, x, x, (0.0, b.add(head, tail)))[1]
    return enclose, estimate


# ---- functions of log(1 + h + low)
def _log1p_parts(b, h, low, shift):
    """(head, tail, error) of log(1 + h + low) + shift*ln 2 for -1 < h, |low| <= 2**-50 |h| or low = -1 and h > HUGE.

    Near 0, h itself is f. Elsewhere 1 + h + low = u + rest, and log u is corrected by rest/u; what that leaves out is
    (rest/u)**2/2, below 2**-98 (with low = -1 below 2**-67, where the head is above 22).
    """
    u = b.select(b.olt(h, 2.0**60), b.add(h, 1.0), h)
    swap = b.ogt(h, 1.0)
    rest = b.sub(b.select(swap, 1.0, h), b.sub(u, b.select(swap, h, 1.0)))
    k, f = split(b, u)
    near = b.mand(b.ogt(h, -0.29), b.olt(h, 0.41))
    f = b.select(near, h, f)
    k = b.select(near, 0.0, b.add(k, shift))
    return log_parts(b, k, f, b.div(b.add(b.select(near, 0.0, rest), low), u))


def _log1p_outline(b, h, low, shift):
    return b.outline("log1p_core", _log1p_parts, h, low, shift)


def _log1p_point(b, x):
    """(-lower, upper). For |x| < 2**-60 the value is between x - x*x and x, where squares may underflow."""
    nlo, hi = ends(b, *_log1p_parts(b, x, b.const(0.0), b.const(0.0)))
    small = b.olt(b.abs(x), 2.0**-60)
    nlo = b.select(small, b.sub(b.mul(b.abs(x), 2.0**-60), x), nlo)
    nlo, hi = b.select(b.ole(x, -1.0), INFINITY, nlo), b.select(small, x, hi)
    return nlo, b.select(b.ole(x, -1.0), -LARGEST, b.select(b.olt(x, INFINITY), hi, INFINITY))


def _log1p_enclose(b, nlo, hi):
    return b.outline("log1p_point", _log1p_point, b.neg(nlo))[0], b.outline("log1p_point", _log1p_point, hi)[1]


def _log1p_estimate(b, x):
    head, tail, _ = _log1p_parts(b, x, b.const(0.0), b.const(0.0))
    return b.select(b.olt(b.abs(x), 2.0**-60), x, b.select(b.olt(x, INFINITY), b.add(head, tail), x))


def _arcsinh_argument(b, a):
    """(h, low, shift): arcsinh a = log(1 + h + low) + shift*ln 2 for 2**-28 < a, by a*a/(1 + sqrt(1 + a*a)) + a = h + low."""
    huge = b.ogt(a, HUGE)
    a = b.min(a, LARGEST)
    c = b.select(huge, 1.0, a)
    square, slip = two_prod(b, c, c)
    s, t = two_sum(b, square, 1.0)
    root = dd_sqrt(b, (s, b.add(t, slip)))
    more = fast_two_sum(b, root[0], 1.0)
    quotient = dd_div(b, (square, slip), (more[0], b.add(more[1], root[1])))
    h, low = d_add_dd(b, c, quotient)
    return b.select(huge, a, h), b.select(huge, -1.0, low), b.select(huge, 1.0, 0.0)


def _arccosh_argument(b, x):
    """(h, low, shift): arccosh x = log(1 + h + low) + shift*ln 2 for x > 1, by (x - 1) + sqrt(x*x - 1) = h + low."""
    huge = b.ogt(x, HUGE)
    a = b.min(x, LARGEST)
    c = b.select(huge, 2.0, a)
    square, slip = two_prod(b, c, c)
    s, t = fast_two_sum(b, square, -1.0)
    s, t = fast_two_sum(b, s, b.add(t, slip))
    root = dd_sqrt(b, (s, t))
    h, low = fast_two_sum(b, root[0], b.sub(c, 1.0))
    return b.select(huge, a, h), b.select(huge, -1.0, b.add(low, root[1])), b.select(huge, 1.0, 0.0)


def _arctanh_argument(b, a):
    """(h, low, shift): 2 arctanh a = log(1 + h + low) for 2**-28 < a < 1, by 2a/(1 - a) = h + low."""
    h, low = dd_div(b, (b.add(a, a), 0.0), fast_two_sum(b, 1.0, b.neg(a)))
    return h, low, b.const(0.0)


def _arcsinh_point(b, a):
    """(-lower, upper) for a >= 0. Below TINY the value is between a - a**3/6 and a."""
    nlo, hi = ends(b, *_log1p_outline(b, *_arcsinh_argument(b, a)))
    small = b.olt(a, TINY)
    nlo, hi = b.select(small, b.sub(b.mul(a, 2.0**-54), a), nlo), b.select(small, a, hi)
    return nlo, b.select(b.olt(a, INFINITY), hi, INFINITY)


def _arcsinh_enclose(b, nlo, hi):
    return odd_ends(b, nlo, hi, "arcsinh_point", _arcsinh_point)


def _arcsinh_estimate(b, x):
    def value(b, a):
        head, tail, _ = _log1p_outline(b, *_arcsinh_argument(b, a))
        return b.select(b.olt(a, TINY), a, b.select(b.olt(a, INFINITY), b.add(head, tail), a))
    return odd_estimate(b, x, value)


def _arccosh_point(b, x):
    """(-lower, upper) for x >= 1."""
    nlo, hi = ends(b, *_log1p_outline(b, *_arccosh_argument(b, x)))
    one = b.ole(x, 1.0)
    return b.select(one, 0.0, b.min(nlo, 0.0)), b.select(one, 0.0, b.select(b.olt(x, INFINITY), hi, INFINITY))


def _arccosh_enclose(b, nlo, hi):
    return b.outline("arccosh_point", _arccosh_point, b.neg(nlo))[0], b.outline("arccosh_point", _arccosh_point, hi)[1]


def _arccosh_estimate(b, x):
    head, tail, _ = _log1p_outline(b, *_arccosh_argument(b, x))
    return b.select(b.ole(x, 1.0), 0.0, b.select(b.olt(x, INFINITY), b.add(head, tail), x))


def _arctanh_point(b, a):
    """(-lower, upper) for 0 <= a <= 1. Below TINY the value is between a and a + a**3/2."""
    head, tail, error = _log1p_outline(b, *_arctanh_argument(b, a))
    nlo, hi = ends(b, b.mul(head, 0.5), b.mul(tail, 0.5), b.mul(error, 0.5))
    small, one = b.olt(a, TINY), b.oge(a, 1.0)
    nlo, hi = b.select(small, b.neg(a), nlo), b.select(small, b.add(a, b.mul(a, 2.0**-54)), hi)
    return b.select(one, -LARGEST, nlo), b.select(one, INFINITY, hi)


def _arctanh_enclose(b, nlo, hi):
    return odd_ends(b, nlo, hi, "arctanh_point", _arctanh_point)


def _arctanh_estimate(b, x):
    def value(b, a):
        head, tail, _ = _log1p_outline(b, *_arctanh_argument(b, a))
        return b.select(b.olt(a, TINY), a, b.select(b.oge(a, 1.0), INFINITY, b.mul(b.add(head, tail), 0.5)))
    return odd_estimate(b, x, value)


_PROOF = ("approximation proved in Arb, roundings of the cubic remainder counted by running this code on cells of f, the "
          "double-double parts bounded in their docstrings with slack: tests/interval/proof_logarithm.py")
FUNCTIONS = {
    "log": Elementary(_log_enclose, _log_estimate, 3, _PROOF),
    "log2": Elementary(*_scaled_point("log2_point", (1.0, 0.0), LOG2E), 3, _PROOF),
    "log10": Elementary(*_scaled_point("log10_point", LOG10_2, LOG10E), 3, _PROOF),
    "log1p": Elementary(_log1p_enclose, _log1p_estimate, 3, _PROOF),
    "arcsinh": Elementary(_arcsinh_enclose, _arcsinh_estimate, 3, _PROOF, short=True),
    "arccosh": Elementary(_arccosh_enclose, _arccosh_estimate, 3, _PROOF),
    "arctanh": Elementary(_arctanh_enclose, _arctanh_estimate, 3, _PROOF),
}
