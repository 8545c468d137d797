"""expit, logaddexp, xlogx: functions of an exponential or a logarithm whose plain formulas would overflow or be wide.

expit and xlogx end as head + tail +- error, with the exponential and the logarithm of `exponential` and `logarithm` in two parts.
Their errors are those that were proved there; double-double arithmetic, off by less than 2**-95, has SLACK. logaddexp is made of
enclosures and needs no proof of its own.
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import d_add_dd, dd_div, dd_scale, ends, fast_two_sum, two_prod
from infimum.interval.elementary.exponential import FUNCTIONS as EXPONENTIAL
from infimum.interval.elementary.exponential import cubic_tail, inverse_power, reduce, scale, three
from infimum.interval.elementary.logarithm import FUNCTIONS as LOGARITHM
from infimum.interval.elementary.logarithm import LARGEST, RELATIVE_EPS, log_parts, split

INFINITY = float("inf")
SLACK = 2.0**-90
TWO_PART_EPS = 3 * 2.0**-52                              # the exponential in two parts: its error in units of |r|*z
INVERSE_E = (0.36787944117144228, 0.36787944117144233)   # the doubles around 1/e


# ---- expit
def two_part_exp(b, x, low=None):
    """(k, (h, l), error): exp(x + low) = 2**k * (h + l +- error) for |x| <= 1100, |low| <= ulp(x); exact at 0.

    The error is that of the cubic tail; with `low` the low part of the reduced argument is at most 3 ulps. SLACK covers the
    reduction (2**-97 beside multiples of ln 2), low parts that outlast a cancellation (2**-95) and the sum in two parts.
    """
    k, r, rest = reduce(b, x)
    if low is not None:
        swap = b.olt(b.abs(r), b.abs(low))
        r, lost = fast_two_sum(b, b.select(swap, low, r), b.select(swap, r, low))
        rest = b.add(rest, lost)
    c, t, z = cubic_tail(b, r, rest)
    h, lost = three(b, b.const(1.0), r, c)
    h, gone = fast_two_sum(b, h, t)
    return k, (h, b.add(lost, gone)), b.select(b.oeq(x, 0.0), 0.0, b.fma(b.mul(z, b.abs(r)), TWO_PART_EPS, SLACK))


def _expit_parts(b, x):
    """(k, head, tail, error): expit x = 2**k * (head + tail +- error).

    With w = exp(-|x|) = 2**n * m: m/(1 + w) * 2**n for x < 0, 1/(1 + w) for the others. In 1 + w, n is at least -200. An error e
    of m moves m/(1 + w) by e/(1 + w)**2 and 1/(1 + w) by 2**n * e/(1 + w)**2.
    """
    below, zero = b.olt(x, 0.0), b.oeq(x, 0.0)
    n, m, error = two_part_exp(b, b.max(b.neg(b.abs(x)), -746.0))
    power = inverse_power(b, b.neg(b.max(n, -200.0)))
    under = d_add_dd(b, 1.0, dd_scale(b, m, power))
    head, tail = dd_div(b, (b.select(below, m[0], 1.0), b.select(below, m[1], 0.0)), under)
    inverse = b.div(1.0, under[0])
    error = b.fma(b.mul(error, b.select(below, 1.0, power)), b.mul(inverse, inverse), b.select(zero, 0.0, SLACK))
    return b.select(below, n, 0.0), head, tail, error


def _expit_point(b, x):
    """(-lower, upper); at most 1, and below -746 between 0 and the smallest double, as at -746."""
    k, head, tail, error = _expit_parts(b, x)
    nlo, hi = ends(b, head, tail, error)
    return scale(b, nlo, k), b.min(scale(b, hi, k), 1.0)


def _expit_enclose(b, nlo, hi):
    return b.outline("expit_point", _expit_point, b.neg(nlo))[0], b.outline("expit_point", _expit_point, hi)[1]


def _expit_estimate(b, x):
    k, head, tail, _ = _expit_parts(b, x)
    return scale(b, b.add(head, tail), k)


# ---- logaddexp
def _logaddexp_enclose(b, xnlo, xhi, ynlo, yhi):
    """max + log(1 + e**-distance), increasing in both: the upper end from the upper ends, with the distance rounded down, the
    lower end from the lower ones. exp and log1p take each end by itself, so that one call of each serves both.
    """
    shorter = b.select(b.oeq(xhi, yhi), 0.0, b.sub(b.min(xhi, yhi), b.max(xhi, yhi)))  # minus the distance; inf - inf is 0
    longer = b.select(b.oeq(xnlo, ynlo), 0.0, b.sub(b.max(xnlo, ynlo), b.min(xnlo, ynlo)))  # the distance
    grown = b.outline("enclose_exp", EXPONENTIAL["exp"].enclose, longer, shorter)
    nlo, hi = b.outline("enclose_log1p", LOGARITHM["log1p"].enclose, *grown)
    return b.add(b.min(xnlo, ynlo), nlo), b.add(b.max(xhi, yhi), hi)


def _logaddexp_estimate(b, x, y):
    larger = b.max(x, y)
    gap = b.select(b.oeq(x, y), 0.0, b.sub(b.min(x, y), larger))
    grown = b.outline("estimate_exp", EXPONENTIAL["exp"].estimate, gap)[0]
    return b.add(larger, b.outline("estimate_log1p", LOGARITHM["log1p"].estimate, grown)[0])


# ---- xlogx
def _xlogx_parts(b, x):
    """(head, tail, error, unscale): x*log(x) = (head + tail +- error) * unscale for finite x > 0.

    The head of the logarithm is multiplied exactly, its tail is rounded once more. x is scaled so that no product under- or
    overflows: log(x) is 0 or at least 2**-53.
    """
    small, large = b.olt(x, 2.0**-500), b.ogt(x, 2.0**500)
    scaled = b.mul(x, b.select(small, 2.0**400, b.select(large, 2.0**-400, 1.0)))
    log_head, log_tail, log_error = log_parts(b, *split(b, x))
    head, lost = two_prod(b, scaled, log_head)
    tail = b.fma(scaled, log_tail, lost)
    error = b.fma(b.abs(tail), 2.0**-51, b.fma(b.abs(head), RELATIVE_EPS, b.mul(scaled, log_error)))
    return head, tail, error, b.select(small, 2.0**-400, b.select(large, 2.0**400, 1.0))


def _at_ends(b, x, value):
    """0 at 0, infinity at infinity, else the value."""
    return b.select(b.ole(x, 0.0), 0.0, b.select(b.olt(x, INFINITY), value, INFINITY))


def _xlogx_point(b, x):
    """(-lower, upper) for x >= 0."""
    head, tail, error, unscale = _xlogx_parts(b, x)
    nlo, hi = (b.mul(v, unscale) for v in ends(b, head, tail, error))
    return b.select(b.ole(x, 0.0), 0.0, b.select(b.olt(x, INFINITY), nlo, -LARGEST)), _at_ends(b, x, hi)


def _xlogx_enclose(b, nlo, hi):
    """Falls up to 1/e, where it is -1/e, and rises from there."""
    lo = b.neg(nlo)
    left, right = b.outline("xlogx_point", _xlogx_point, lo), b.outline("xlogx_point", _xlogx_point, hi)
    falls, rises = b.ole(hi, INVERSE_E[0]), b.oge(lo, INVERSE_E[1])
    return b.select(falls, right[0], b.select(rises, left[0], INVERSE_E[1])), b.max(left[1], right[1])


def _xlogx_estimate(b, x):
    head, tail, _, unscale = _xlogx_parts(b, x)
    return _at_ends(b, x, b.mul(b.add(head, tail), unscale))


_PROOF = "exponential and logarithm as proved there, combined in double-double: tests/interval/test_proof_logistic.py"
FUNCTIONS = {
    "expit": Elementary(_expit_enclose, _expit_estimate, 4, _PROOF, short=True),
    "logaddexp": Elementary(_logaddexp_enclose, _logaddexp_estimate, 4, "made of the enclosures of exp and log1p; 4 ulp of "
                            "the larger of 1 and max(|x|, |y|), since the sum may cancel"),
    "xlogx": Elementary(_xlogx_enclose, _xlogx_estimate, 4, _PROOF),
}
