"""erf and erfc.

Below 1/2, with z = a*a: erf a = 2/sqrt(pi)*a + a*z*NEAR(z). From 1/2 on, with q = (a - 4)/(a + 3) in [-1, 1],

    erfc a = exp(-a*a) * FAR(q) / (1 + 2a),

where a*a is exact in two parts and FAR lies between 1.1 and 1.3. NEAR and FAR are off by at most NEAR_ERROR and FAR_ERROR (proved
in Arb). The products and quotients are double-double, so that only a*z*NEAR, the polynomial beside the constant term of FAR, and
the cubic tail of the exponential are rough: tests/interval/proof_error_function.py counts their roundings.
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import dd_div, dd_mul, ends, fast_two_sum, horner, two_prod, two_square
from infimum.interval.elementary.exponential import inverse_power, odd_ends, odd_estimate, scale
from infimum.interval.elementary.logistic import SLACK, two_part_exp

BREAK = 0.5
TWO_OVER_ROOT_PI = (1.1283791670955126, 1.533545961316588e-17)
NEAR = (-0.37612638903183754, 0.112837916709551, -0.026866170645104177, 0.00522397762432812, -0.0008548326793669716,
        0.0001205530633158855, -1.4923831370430717e-05, 1.6389489594213215e-06, -1.4787817807432762e-07)
FAR_MIDDLE = (1.2329951186255526, -4.536228890747863e-17)
FAR = (-0.12216847723549216, -0.003496013513368307, 0.04665458534673942, -0.04180651066501206, 0.022801799598951192,
       -0.008073603938415275, 0.0013920612482762244, 0.0002474037667962374, -0.00019788758774368442, 1.7479093456120592e-05,
       1.8863176334576534e-05, -4.577221716433358e-06, -1.91349979221878e-06, 7.23761458407821e-07, 2.407551509427643e-07,
       -1.0493633580911821e-07, -3.8240659543339904e-08, 1.4295999799846825e-08, 6.7390541236444035e-09, -1.643119085550757e-09,
       -1.0399737796333346e-09, 1.1538605803611994e-10, 9.398532376264554e-11)
FAR_SLOPE = (-0.1219, 0.007218, 0.1358, -0.225, 0.1259)  # of FAR, within 2**-8: for the low part of q
NEAR_ERROR, FAR_ERROR = 2.0**-55.5, 2.0**-57.4

NEAR_EPS = 1.5 * 2.0**-52                                # below BREAK: the error of the tail in units of a*z
FAR_EPS = 0.28 * 2.0**-52                                # from BREAK on: the error of FAR
SMALL = 2.0**-30                                         # below: erf a is 2/sqrt(pi)*a, less at most a*a/3 <= 2**-61 of it
LAST = 28.0                                              # erfc of this is less than the smallest double


def near_tail(b, a, z, lost):
    """erf a - head, where the head is a*TWO_OVER_ROOT_PI[0] without `lost`."""
    return b.fma(b.mul(a, z), horner(b, z, NEAR), b.fma(a, TWO_OVER_ROOT_PI[1], lost))


def _near(b, a):
    """(head, tail, error) of erf a for 2**-900 <= a <= BREAK; the head is rounded once, and the rounding error known."""
    head, lost = two_prod(b, a, TWO_OVER_ROOT_PI[0])
    z = b.mul(a, a)
    return head, near_tail(b, a, z, lost), b.fma(b.mul(a, z), NEAR_EPS, b.mul(a, SLACK))


def far_tail(b, q, low):
    """FAR(q + low) - FAR_MIDDLE[0]."""
    return b.fma(q, horner(b, q, FAR), b.fma(low, horner(b, q, FAR_SLOPE), FAR_MIDDLE[1]))


def _far(b, a):
    """(k, head, tail, error): erfc a = 2**k * (head + tail +- error) for BREAK <= a <= LAST.

    The exponential's part is in [0.7, 1.42], FAR in [1.1, 1.3]; the error of one is multiplied by the other and divided
    by 1 + 2a. a - 4 and a + 3 are sums in two parts; what double-double arithmetic loses, less than 2**-94, SLACK covers.
    """
    square, lost = two_square(b, a)
    k, grown, error = two_part_exp(b, b.neg(square), b.neg(lost))
    over, under = fast_two_sum(b, b.max(a, 4.0), b.neg(b.min(a, 4.0))), fast_two_sum(b, b.max(a, 3.0), b.min(a, 3.0))
    over = tuple(b.select(b.olt(a, 4.0), b.neg(v), v) for v in over)
    far = fast_two_sum(b, FAR_MIDDLE[0], far_tail(b, *dd_div(b, over, under)))
    below = fast_two_sum(b, b.add(a, a), 1.0)
    head, tail = dd_div(b, dd_mul(b, grown, far), below)
    error = b.fma(error, far[0], b.fma(grown[0], FAR_EPS, SLACK))
    return k, head, tail, b.div(error, below[0])


# ---- erf
def _erf_parts(b, a):
    """(head, tail, error) of erf a for 2**-900 <= a <= 6; from BREAK on it is 1 - erfc a."""
    near = b.olt(a, BREAK)
    head, tail, error = _near(b, a)
    k, far_head, far_tail, far_error = _far(b, b.max(a, BREAK))
    power = inverse_power(b, b.neg(k))
    rest, lost = fast_two_sum(b, 1.0, b.neg(b.mul(far_head, power)))
    far = rest, b.sub(lost, b.mul(far_tail, power)), b.fma(far_error, power, SLACK)
    return tuple(b.select(near, u, v) for u, v in zip((head, tail, error), far, strict=True))


def _erf_point(b, a):
    """(-lower, upper) for a >= 0; above 6 the value is between 1 - 2**-53 and 1, and so are the bounds for 6."""
    small = b.olt(a, SMALL)
    nlo, hi = ends(b, *_erf_parts(b, b.min(b.max(a, SMALL), 6.0)))
    low, high = (b.mul(a, v) for v in (-TWO_OVER_ROOT_PI[0], ABOVE))
    return b.select(small, low, nlo), b.select(small, high, b.min(hi, 1.0))


ABOVE = 1.1283791670955128                               # the double above 2/sqrt(pi)


def _erf_enclose(b, nlo, hi):
    return odd_ends(b, nlo, hi, "erf_point", _erf_point)


def _erf_estimate(b, x):
    def value(b, a):
        head, tail, _ = _erf_parts(b, b.min(b.max(a, SMALL), 6.0))
        return b.select(b.olt(a, SMALL), b.mul(a, TWO_OVER_ROOT_PI[0]), b.add(head, tail))
    return odd_estimate(b, x, value)


# ---- erfc
def _erfc_parts(b, x):
    """(k, head, tail, error): erfc x = 2**k * (head + tail +- error).

    1 - erf x between -BREAK and BREAK, erfc x above it, 2 - erfc(-x) below. Where |x| is small, its products may underflow:
    by less than SLACK.
    """
    a = b.abs(x)
    near, below = b.olt(a, BREAK), b.olt(x, 0.0)
    k, *far = _far(b, b.min(b.max(a, BREAK), LAST))
    power = b.select(below, inverse_power(b, b.neg(b.max(k, -200.0))), 1.0)
    head, tail, error = (b.select(near, u, b.mul(v, power)) for u, v in zip(_near(b, a), far, strict=True))
    less = b.mor(b.mand(near, b.mnot(below)), b.mand(below, b.mnot(near)))
    head, tail = (b.select(less, b.neg(v), v) for v in (head, tail))
    head, lost = fast_two_sum(b, b.select(near, 1.0, b.select(below, 2.0, 0.0)), head)
    alone = b.mnot(b.mor(near, below))
    error = b.add(error, b.select(b.mor(alone, b.oeq(x, 0.0)), 0.0, SLACK))
    return b.select(alone, k, 0.0), head, b.add(lost, tail), error


def _erfc_point(b, x):
    """(-lower, upper), at most 2."""
    k, head, tail, error = _erfc_parts(b, x)
    nlo, hi = ends(b, head, tail, error)
    return scale(b, nlo, k), b.min(scale(b, hi, k), 2.0)


def _erfc_enclose(b, nlo, hi):
    return b.outline("erfc_point", _erfc_point, hi)[0], b.outline("erfc_point", _erfc_point, b.neg(nlo))[1]


def _erfc_estimate(b, x):
    k, head, tail, _ = _erfc_parts(b, x)
    return scale(b, b.add(head, tail), k)


_PROOF = ("approximations proved in Arb, roundings counted by running this code on cells of its argument, the double-double "
          "parts bounded in their docstrings with slack: tests/interval/proof_error_function.py")
FUNCTIONS = {
    "erf": Elementary(_erf_enclose, _erf_estimate, 4, _PROOF, short=True),
    "erfc": Elementary(_erfc_enclose, _erfc_estimate, 4, _PROOF),
}
