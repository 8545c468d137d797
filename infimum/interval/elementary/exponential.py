"""exp, exp2, expm1, sinh, cosh, tanh.

The argument is k*ln 2 + r + low with an integer k, |r| <= 0.34658 and a tail |low| <= ulp(r); with z = r*r

    sinh r = r + r*z*SINH(z),    cosh r = 1 + z/2 + z*z*COSH(z),    exp r = their sum,

and the powers of two are exact. SINH and COSH are off by at most SINH_ERROR and COSH_ERROR for z <= 0.12012 (proved in Arb).
Every function ends as 2**k * (head + tail +- error): the head is rounded once, outward. The factors below are what the rounding
errors of the tail need; tests/interval/proof_exponential.py counts them by running this code on cells of r.
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import ends, fast_two_sum, horner, two_prod, two_sum

SINH = (0.16666666666666669, 0.008333333333330065, 0.00019841269863040545, 2.755726848030982e-06, 2.510037583265786e-08)
COSH = (0.041666666666666664, 0.0013888888888886554, 2.4801587317135164e-05, 2.755728298405573e-07, 2.0911229729827565e-09)
SINH_ERROR, COSH_ERROR = 2.0**-55.5, 2.0**-58.0
RADIUS = 0.34658                                         # ln(2)/2, and room for a product rounded the other way
LN2 = (0.6931471805599453, 2.3190468138462996e-17, 5.707708438416212e-34)
LOG2E = 1.4426950408889634

QUADRATIC_EPS = 2.75 * 2.0**-52                          # exp, exp2: the error of the tail in units of z
CUBIC_EPS = 2.0**-51                                     # expm1, tanh: in units of |r|*z
HYPERBOLIC_EPS = 2.0**-51                                # sinh, cosh: in units of |r|*z
REDUCTION_EPS = 2.0**-90                                 # the tail low is off by at most 2**-97 where k is not 0
BASE_TWO_EPS = 2.0**-98                                  # base 2: low is off by at most 2**-102 |r|

MAGIC = 1.5 * 2.0**52                                    # bits(k + MAGIC) holds the integer k in its low bits
ONE_BITS = 1023 << 52
TINY = 2.0**-27                                          # below: f(x) = x up to x**3/3, less than 2**-55 of x


# ---- pieces
def reduce(b, x):
    """(k, r, low): x = k*ln 2 + r + low for |x| <= 1100.

    k*LN2[0] and x are multiples of 2**-54 and their difference is below 2**-1, so the first step is exact. `lost` is exact if
    |r| >= 2**-45; below that it is off by at most 2**-97 (for k = 0 it is 0).
    """
    k = b.roundeven(b.mul(x, LOG2E))
    n = b.neg(k)
    first = b.fma(n, LN2[0], x)
    r = b.fma(n, LN2[1], first)
    lost = b.sub(first, r)
    return k, r, b.fma(n, LN2[2], b.fma(n, LN2[1], lost))


def reduce_base_two(b, x, low=None):
    """(k, r, low): (x + low)*ln 2 = k*ln 2 + r + low' for |x| <= 1100, x = 0 or |x| >= 2**-160, |low| <= ulp(x)."""
    k = b.roundeven(x)
    f = b.sub(x, k)
    f, rest = (f, None) if low is None else fast_two_sum(b, f, low)
    r = b.mul(f, LN2[0])
    tail = b.fma(f, LN2[1], b.fma(f, LN2[0], b.neg(r)))
    return k, r, tail if rest is None else b.fma(rest, LN2[0], tail)


def _halves(b, k):
    """Two integers whose sum is k, each moved into the exponent field."""
    first = b.bits(b.fma(k, 0.5, MAGIC))
    second = b.isub(b.bits(b.add(k, MAGIC)), first)
    return b.ishl(first, 52), b.ishl(second, 52)


def scale(b, value, k):
    """value * 2**k rounded up, |value| in [2**-500, 2**500] or 0; the only rounding is that of a subnormal result or overflow."""
    first, second = _halves(b, k)
    return b.mul(b.mul(value, b.float(b.iadd(first, ONE_BITS))), b.float(b.iadd(second, ONE_BITS)))


def inverse_power(b, k):
    """2**-k for an integer -1000 < k < 1000."""
    return b.float(b.isub(ONE_BITS, b.ishl(b.bits(b.add(k, MAGIC)), 52)))


def clamp(b, x, least, most):
    return b.min(b.max(x, least), most)


# ---- exp and exp2
def quadratic_tail(b, r, low, half, negative=False):
    """exp(r + low) - 1 - r = this +- QUADRATIC_EPS*r*r if half = 0.5; half = 0.5 +- QUADRATIC_EPS makes it a bound. Or negated.

    The last operation rounds towards the bound, which matters where z underflows: there it is off by less than 2**-1074.
    """
    z = b.mul(r, r)
    q = b.fma(r, horner(b, z, SINH), b.fma(z, horner(b, z, COSH), half))
    rest = b.fma(low, r, low)
    return b.fma(b.neg(z), q, b.neg(rest)) if negative else b.fma(z, q, rest)


def power_upper(b, k, r, low, extra=None):
    """An upper bound of 2**k * (exp(r + low) + extra)."""
    tail = quadratic_tail(b, r, low, 0.5 + QUADRATIC_EPS)
    return scale(b, b.add(b.add(r, tail if extra is None else b.add(tail, extra)), 1.0), k)


def power_lower(b, k, r, low, extra=None):
    """A lower bound of 2**k * (exp(r + low) - extra), negated."""
    tail = quadratic_tail(b, r, low, 0.5 - QUADRATIC_EPS, True)
    return scale(b, b.sub(b.sub(tail if extra is None else b.add(tail, extra), r), 1.0), k)


def _exp_enclose(b, nlo, hi):
    """Beyond -746 and 710 nothing changes: the bounds are 0 and 2**-1074, the largest double and infinity."""
    lower = power_lower(b, *reduce(b, clamp(b, b.neg(nlo), -746.0, 710.0)))
    return lower, power_upper(b, *reduce(b, clamp(b, hi, -746.0, 710.0)))


def _power_estimate(b, k, r, low):
    return scale(b, b.add(b.add(r, quadratic_tail(b, r, low, 0.5)), 1.0), k)


def _exp_estimate(b, x):
    return _power_estimate(b, *reduce(b, clamp(b, x, -746.0, 710.0)))


def _exp2_parts(b, x):
    """(k, r, low, extra) for 2**x. A tiny x is moved away from 0: its power is within 2**-99 of 1, on the same side of it."""
    x = clamp(b, x, -1076.0, 1025.0)
    tiny = b.mand(b.olt(b.abs(x), 2.0**-100), b.mnot(b.oeq(x, 0.0)))
    x = b.select(tiny, b.select(b.olt(x, 0.0), -(2.0**-100), 2.0**-100), x)
    k, r, low = reduce_base_two(b, x)
    return k, r, low, b.mul(b.abs(r), BASE_TWO_EPS)


def _exp2_enclose(b, nlo, hi):
    return power_lower(b, *_exp2_parts(b, b.neg(nlo))), power_upper(b, *_exp2_parts(b, hi))


def _exp2_estimate(b, x):
    return _power_estimate(b, *reduce_base_two(b, clamp(b, x, -1076.0, 1025.0)))


# ---- expm1 and tanh
def cubic_tail(b, r, low):
    """(c, t, z): exp(r + low) - 1 = r + c + t +- CUBIC_EPS*|r|*z, with c = z/2 below 0.0601 and t below 0.0073.

    The square is carried with its own rounding error, so that only the cubic term is rough: expm1 and tanh of |x| < 0.35 are
    as sharp as exp.
    """
    z = b.mul(r, r)
    slip = b.fma(r, r, b.neg(z))
    rest = b.fma(slip, 0.5, b.fma(low, r, low))
    return b.mul(z, 0.5), b.fma(z, b.fma(r, horner(b, z, SINH), b.mul(z, horner(b, z, COSH))), rest), z


def three(b, first, second, third):
    """(s, t): the sum of three numbers of falling size, the first possibly 0."""
    s, t = fast_two_sum(b, first, second)
    s, u = fast_two_sum(b, s, third)
    return s, b.add(t, u)


def _expm1_parts(b, x):
    """(k, head, tail, error): expm1(x) = 2**k * (head + tail +- error) for -44 <= x <= 711.

    exp(x) - 1 = 2**k * ((1 - w) + r + c + t) with w = 2**-k. For k > 100, w is replaced by 2**-100.
    """
    k, r, low = reduce(b, x)
    c, t, z = cubic_tail(b, r, low)
    w = inverse_power(b, b.min(k, 100.0))
    below = b.olt(k, 0.0)
    one, gone = fast_two_sum(b, b.select(below, b.neg(w), 1.0), b.select(below, 1.0, b.neg(w)))
    head, lost = three(b, one, r, c)
    error = b.fma(b.abs(k), REDUCTION_EPS, b.mul(b.mul(z, b.abs(r)), CUBIC_EPS))
    return k, head, b.add(b.add(gone, lost), t), b.fma(b.abs(head), REDUCTION_EPS, error)


def _expm1_point(b, x):
    """(-lower, upper). Below -44 the value is between -1 and -1 + 2**-63, and so are the bounds for -44.

    For |x| < 2**-60 it is between x and x + x*x, where squares may underflow.
    """
    k, head, tail, error = _expm1_parts(b, clamp(b, x, -44.0, 711.0))
    nlo, hi = ends(b, head, tail, error)
    small = b.olt(b.abs(x), 2.0**-60)
    upper = b.add(x, b.mul(b.abs(x), 2.0**-60))
    return b.select(small, b.neg(x), b.min(scale(b, nlo, k), 1.0)), b.select(small, upper, scale(b, hi, k))


def _expm1_enclose(b, nlo, hi):
    return b.outline("expm1_point", _expm1_point, b.neg(nlo))[0], b.outline("expm1_point", _expm1_point, hi)[1]


def _expm1_estimate(b, x):
    k, head, tail, _ = _expm1_parts(b, clamp(b, x, -44.0, 711.0))
    return scale(b, b.add(head, tail), k)


def odd_ends(b, nlo, hi, name, point):
    """The enclosure of an odd increasing function from bounds `point(b, a) -> (-lower, upper)` at a >= 0, kept out of line."""
    left, right = b.outline(name, point, b.abs(nlo)), b.outline(name, point, b.abs(hi))
    return b.select(b.ole(nlo, 0.0), left[0], left[1]), b.select(b.oge(hi, 0.0), right[1], right[0])


def odd_estimate(b, x, value):
    """value(b, |x|) with the sign of x."""
    v = value(b, b.abs(x))
    return b.select(b.olt(x, 0.0), b.neg(v), v)


def _tanh_parts(b, a):
    """(head, tail, error): tanh a = head + tail +- error for 2**-28 < a.

    With 2a = k*ln 2 + r + low and w = 2**-k: tanh a = top/(top + 2w), top = (1 - w) + r + c + t. An error e of t moves the
    quotient by e*(1 - tanh a)/denominator. The quotient of the heads is corrected by its remainder; what that leaves
    out is below 2**-96 of it.
    """
    k, r, low = reduce(b, b.add(a, a))
    c, t, z = cubic_tail(b, r, low)
    w = inverse_power(b, k)
    less, gone = fast_two_sum(b, 1.0, b.neg(w))
    top, lost = three(b, less, r, c)
    top, top_low = fast_two_sum(b, top, b.add(b.add(gone, lost), t))
    bottom, lost = two_sum(b, b.add(w, w), top)
    bottom_low = b.add(lost, top_low)
    inverse = b.div(1.0, bottom)
    head = b.mul(top, inverse)
    nhead = b.neg(head)
    rest = b.fma(nhead, bottom_low, b.add(b.fma(nhead, bottom, top), top_low))
    error = b.fma(k, REDUCTION_EPS, b.mul(b.mul(z, b.abs(r)), CUBIC_EPS))
    return head, b.mul(rest, inverse), b.fma(head, REDUCTION_EPS, b.mul(error, inverse))


def _tanh_point(b, a):
    """From 20 on the value is between 1 - 2**-56 and 1; below TINY it is between a - a**3/3 and a."""
    head, tail, error = _tanh_parts(b, b.min(a, 20.0))
    nlo, hi = ends(b, head, tail, error)
    small = b.olt(a, TINY)
    return b.select(small, b.sub(b.mul(a, 2.0**-54), a), nlo), b.select(small, a, b.min(hi, 1.0))


def _tanh_enclose(b, nlo, hi):
    return odd_ends(b, nlo, hi, "tanh_point", _tanh_point)


def _tanh_estimate(b, x):
    def value(b, a):
        head, tail, _ = _tanh_parts(b, b.min(a, 20.0))
        return b.select(b.olt(a, TINY), a, b.add(head, tail))
    return odd_estimate(b, x, value)


# ---- sinh and cosh
def hyperbolic_tails(b, r, low):
    """(z, s, c): sinh(r + low) = r + s and cosh(r + low) = 1 + z/2 + c."""
    z = b.mul(r, r)
    s = b.fma(b.mul(z, r), horner(b, z, SINH), b.fma(b.mul(z, 0.5), low, low))
    return z, s, b.fma(b.mul(z, z), horner(b, z, COSH), b.fma(r, low, b.mul(b.fma(r, r, b.neg(z)), 0.5)))


def _hyperbolic_parts(b, a, odd):
    """(k, head, tail, error): sinh a (odd) or cosh a = 2**k * (head + tail +- error), for 0 <= a, in sinh 2**-28 < a.

    With a = n*ln 2 + r + low and w = 4**-n (2**-200 for large n), s = sinh(r + low) and c = cosh(r + low) - 1 in two parts each:
    sinh a = 2**(n-1) * ((1 - w)*(1 + c) + (1 + w)*s) and cosh a = 2**(n-1) * ((1 + w)*(1 + c) + (1 - w)*s).
    """
    n, r, low = reduce(b, b.min(a, 712.0))
    z, s, c = hyperbolic_tails(b, r, low)
    half = b.mul(z, 0.5)
    w = inverse_power(b, b.min(b.add(n, n), 200.0))
    less, more = fast_two_sum(b, 1.0, b.neg(w)), fast_two_sum(b, 1.0, w)
    even, uneven = (less, more) if odd else (more, less)
    p, slip = two_prod(b, uneven[0], r)
    q, slide = two_prod(b, even[0], half)
    head, lost = three(b, even[0], p, q)
    small = b.add(b.add(b.add(slip, slide), lost), b.fma(even[1], half, b.fma(uneven[1], r, even[1])))
    tail = b.fma(uneven[0], s, b.fma(even[0], c, small))
    error = b.fma(b.add(n, b.abs(head)), REDUCTION_EPS, b.mul(b.mul(z, b.abs(r)), HYPERBOLIC_EPS))
    return b.sub(n, 1.0), head, tail, error


def _sinh_point(b, a):
    """(-lower, upper) for a >= 0. Below TINY the value is between a and a + a**3/5."""
    k, head, tail, error = _hyperbolic_parts(b, a, True)
    nlo, hi = ends(b, head, tail, error)
    small = b.olt(a, TINY)
    upper = b.add(a, b.mul(a, 2.0**-54))
    return b.select(small, b.neg(a), scale(b, nlo, k)), b.select(small, upper, scale(b, hi, k))


def _sinh_enclose(b, nlo, hi):
    return odd_ends(b, nlo, hi, "sinh_point", _sinh_point)


def _sinh_estimate(b, x):
    def value(b, a):
        k, head, tail, _ = _hyperbolic_parts(b, a, True)
        return b.select(b.olt(a, TINY), a, scale(b, b.add(head, tail), k))
    return odd_estimate(b, x, value)


def _cosh_point(b, a):
    """(-lower, upper) for a >= 0. For a <= 2**-27 the value is at most 1 + a*2**-28, which serves where squares underflow."""
    k, head, tail, error = _hyperbolic_parts(b, a, False)
    nlo, hi = ends(b, head, tail, error)
    return b.min(scale(b, nlo, k), -1.0), b.select(b.olt(a, TINY), b.add(1.0, b.mul(a, 2.0**-28)), scale(b, hi, k))


def _cosh_enclose(b, nlo, hi):
    far, near = b.max(nlo, hi), b.max(b.max(b.neg(nlo), b.neg(hi)), 0.0)
    return b.outline("cosh_point", _cosh_point, near)[0], b.outline("cosh_point", _cosh_point, far)[1]


def _cosh_estimate(b, x):
    k, head, tail, _ = _hyperbolic_parts(b, b.abs(x), False)
    return scale(b, b.add(head, tail), k)


_PROOF = ("approximation proved in Arb, roundings counted by running this code on cells of the reduced argument, "
          "arguments within 2**-44 of a multiple of ln 2 checked one by one: tests/interval/proof_exponential.py")
FUNCTIONS = {
    "exp": Elementary(_exp_enclose, _exp_estimate, 4, _PROOF),
    "exp2": Elementary(_exp2_enclose, _exp2_estimate, 4, _PROOF),
    "expm1": Elementary(_expm1_enclose, _expm1_estimate, 3, _PROOF),
    "sinh": Elementary(_sinh_enclose, _sinh_estimate, 3, _PROOF),
    "cosh": Elementary(_cosh_enclose, _cosh_estimate, 3, _PROOF),
    "tanh": Elementary(_tanh_enclose, _tanh_estimate, 3, _PROOF, short=True),
}
