"""arctan, arcsin, arccos, arctan2: all are the angle of a vector (x, y), found by one core.

With n <= m the smaller and the larger of |x| and |y|, the angle is a multiple of pi/4 plus or minus arctan q, where q = n/m, or
q = (m - n)/(m + n) if n/m > tan(pi/8); so 0 <= q <= tan(pi/8). q is a double-double, and with z = q*q,

    arctan(q + low) = q + (q*z*P(z) + low*(1 - z)).

The vector may be given in double-double: arcsin x is the angle of (sqrt(1 - x*x), x), arccos x that of (x, sqrt(1 - x*x)).
"""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import dd_div, dd_sqrt, ends, fast_two_sum, horner, two_square

_INFINITY = float("inf")
_EIGHTH = float.fromhex("0x1.a827999fcef32p-2")  # near tan(pi/8)
REACH = 0.41422  # q, whatever the comparison with _EIGHTH rounds to
_PI = float.fromhex("0x1.921fb54442d18p+1"), float.fromhex("0x1.1a62633145c07p-53")
_QUARTERS = tuple(tuple(part * scale for part in _PI) for scale in (0.25, 0.5, 1.0))  # pi/4, pi/2, pi
_THREE_QUARTERS = float.fromhex("0x1.2d97c7f3321d2p+1"), float.fromhex("0x1.a79394c9e8a0ap-54")
_PI_UP, _HALF_PI_UP = float.fromhex("0x1.921fb54442d19p+1"), float.fromhex("0x1.921fb54442d19p+0")

# Polynomial in z on [0, REACH**2]; its error is proved in tests/interval/proof_inverse_trigonometric.py
ARCTAN = tuple(map(float.fromhex, (
    "-0x1.5555555555555p-2", "0x1.9999999999953p-3", "-0x1.249249248d7e8p-3", "0x1.c71c71c304728p-4", "-0x1.745d165de6c19p-4",
    "0x1.3b1392d8695c8p-4", "-0x1.110e87efaa766p-4", "0x1.e19a11516d8ebp-5", "-0x1.ac7a81ce7905cp-5", "0x1.74dd831f5c013p-5",
    "-0x1.1b32e90dc1b73p-5", "0x1.0ad19d106080cp-6")))
# head + tail is off by at most q (ERROR z + QUOTIENT) + BASE * (the multiple of pi/4)
ERROR = 2.5 * 2.0**-52
QUOTIENT = 2.0**-64
BASE = 2.0**-90
SMALL = 2.0**-33  # n/m below this: arctan(n/m) is between (1 - 2**-67) n/m and n/m


def tail(b, q, low, z):
    """arctan(q + low) - q."""
    return b.fma(b.mul(z, q), horner(b, z, ARCTAN), b.fma(b.neg(z), low, low))


def _pick(b, mask, yes, no):
    return tuple(b.select(mask, s, t) for s, t in zip(yes, no, strict=True))


def _angle(b, y, yl, x, xl):
    """(head, tail, error, small, n, m): the angle of (x + xl, y + yl), y >= 0, in [0, pi]; if `small`, it is that of n/m.

    At most one of x and y is infinite: then the angle is that of its axis. The vector is not zero. Where m - n cancels, q has an
    absolute error of 2**-96 and may fall below 0; BASE covers that, since a multiple of pi/4 is added.
    """
    behind = b.olt(x, 0.0)
    xl, x = b.select(behind, b.neg(xl), xl), b.abs(x)
    swap = b.ogt(y, x)
    (m, ml), (n, nl) = _pick(b, swap, (y, yl), (x, xl)), _pick(b, swap, (x, xl), (y, yl))
    endless = b.oeq(m, _INFINITY)
    m, n = b.select(endless, 1.0, m), b.select(endless, 0.0, n)
    # scaled so that neither 1/m nor what a product loses can overflow or underflow; n may, if n/m is tiny
    scale = b.select(b.ogt(m, 2.0**500), 2.0**-600, b.select(b.olt(m, 2.0**-500), 2.0**600, 1.0))
    whole, part = m, n
    m, n, ml, nl = (b.mul(v, scale) for v in (m, n, ml, nl))
    middle = b.ogt(n, b.mul(m, _EIGHTH))
    over, lost = fast_two_sum(b, b.select(middle, m, n), b.select(middle, b.neg(n), 0.0))
    over_low = b.add(lost, b.select(middle, b.sub(ml, nl), nl))
    under, lost = fast_two_sum(b, m, b.select(middle, n, 0.0))
    under_low = b.add(lost, b.select(middle, b.add(ml, nl), ml))
    q, low = dd_div(b, (over, over_low), (under, under_low))
    z = b.mul(q, q)
    rest = tail(b, q, low, z)
    flip = b.mand(b.mor(swap, behind), b.mnot(b.mand(swap, behind)))
    flip = b.mand(b.mor(flip, middle), b.mnot(b.mand(flip, middle)))
    base = _pick(b, middle, _pick(b, behind, _THREE_QUARTERS, _QUARTERS[0]),
                 _pick(b, swap, _QUARTERS[1], _pick(b, behind, _QUARTERS[2], (0.0, 0.0))))
    head, lost = fast_two_sum(b, base[0], b.select(flip, b.neg(q), q))
    low = b.add(b.add(lost, base[1]), b.select(flip, b.neg(rest), rest))
    error = b.fma(base[0], BASE, b.mul(q, b.fma(z, ERROR, QUOTIENT)))
    small = b.mand(b.oeq(base[0], 0.0), b.olt(n, b.mul(m, SMALL)))
    return head, low, error, small, part, whole


def _angle_ends(b, y, yl, x, xl):
    """The pair of the angle; a tiny one is between the quotient, rounded up, and the second double below that."""
    head, low, error, small, n, m = _angle(b, y, yl, x, xl)
    nlo, hi = ends(b, head, low, error)
    quotient = b.div(n, m)
    count = b.bits(quotient)  # counted in integers: a product with a subnormal number would be slow
    least = b.select(b.islt(1, count), b.float(b.isub(count, 2)), 0.0)
    return b.select(small, b.neg(least), nlo), b.select(small, quotient, hi)


def _angle_value(b, y, yl, x, xl):
    head, low, _, small, n, m = _angle(b, y, yl, x, xl)
    return b.select(small, b.div(n, m), b.add(head, low))


def _enclosed(b, y, yl, x, xl):
    return b.outline("angle_ends", _angle_ends, y, yl, x, xl)


def _estimated(b, y, yl, x, xl):
    return b.outline("angle_value", _angle_value, y, yl, x, xl)[0]


def _odd(b, nlo, hi, at, bound):
    """The pair of an increasing odd function from its pairs at |lo| and |hi|, cut at +-bound."""
    low, high = at(b.abs(nlo)), at(b.abs(hi))
    bottom = b.select(b.ogt(nlo, 0.0), low[1], low[0])
    top = b.select(b.olt(hi, 0.0), high[0], high[1])
    return b.min(bottom, bound), b.min(top, bound)


def _signed(b, x, value):
    return b.select(b.olt(x, 0.0), b.neg(value), value)


# ---- arctan
def enclose_arctan(b, nlo, hi):
    return _odd(b, nlo, hi, lambda a: _enclosed(b, a, 0.0, 1.0, 0.0), _HALF_PI_UP)


def estimate_arctan(b, x):
    return _signed(b, x, _estimated(b, b.abs(x), 0.0, 1.0, 0.0))


# ---- arcsin, arccos
def _other_leg(b, x):
    """sqrt(1 - x*x) as double-double for |x| <= 1, relative error <= 2**-95; (0, 0) at |x| = 1.

    x*x = p + lost exactly (or lost is off by 2**-1074), and `missed` is exact. If p <= 1/2, rounding missed - lost costs 2**-104.
    If p > 1/2, 1 - p is exact, missed = 0, and nothing rounds; 1 - p >= 2**-53 >= |lost|, so the last sum is in order.
    """
    p, lost = two_square(b, x)
    below, missed = fast_two_sum(b, 1.0, b.neg(p))
    head, low = fast_two_sum(b, below, b.sub(missed, lost))
    edge = b.ole(head, 0.0)
    root, rest = dd_sqrt(b, (b.select(edge, 1.0, head), b.select(edge, 0.0, low)))
    return b.select(edge, 0.0, root), b.select(edge, 0.0, rest)


def _arcsin_ends(b, a):
    """The pair of arcsin a for a >= 0; a tiny one is between a and a (1 + 2**-52)."""
    nlo, hi = _enclosed(b, a, 0.0, *_other_leg(b, a))
    tiny = b.olt(a, 2.0**-30)
    return b.select(tiny, b.neg(a), nlo), b.select(tiny, b.fma(a, 2.0**-60, a), hi)


def enclose_arcsin(b, nlo, hi):
    return _odd(b, nlo, hi, lambda a: _arcsin_ends(b, a), _HALF_PI_UP)


def estimate_arcsin(b, x):
    return _signed(b, x, _estimated(b, b.abs(x), 0.0, *_other_leg(b, b.abs(x))))


def _arccos_ends(b, x):
    y, yl = _other_leg(b, x)
    return _enclosed(b, y, yl, x, 0.0)


def enclose_arccos(b, nlo, hi):
    bottom = _arccos_ends(b, hi)[0]
    top = _arccos_ends(b, b.neg(nlo))[1]
    return bottom, b.min(top, _PI_UP)


def estimate_arccos(b, x):
    y, yl = _other_leg(b, x)
    return _estimated(b, y, yl, x, 0.0)


# ---- arctan2
def _extreme(b, ylo, yhi, xlo, xhi, below):
    """The largest angle over the box as (mask, pair): the pair is that of the angle, or where `mask`, of minus the angle.

    In the upper half-plane the largest angle is at (xlo, ylo) or (xlo, yhi), the smallest at (xhi, ylo) or (xhi, yhi); where
    the box lies `below` the axis, the largest is minus the smallest of its mirror image. If that corner is the origin, the box
    is a part of an axis whose points have one angle, and any of them serves.
    """
    left, right = b.olt(xlo, 0.0), b.ogt(xhi, 0.0)
    y = b.select(below, b.neg(b.select(right, yhi, ylo)), b.select(left, ylo, yhi))
    x = b.select(below, xhi, xlo)
    x = b.select(b.mand(b.oeq(x, 0.0), b.oeq(y, 0.0)), b.select(below, -1.0, 1.0), x)
    return below, _enclosed(b, y, 0.0, x, 0.0)


def enclose_arctan2(b, ynlo, yhi, xnlo, xhi):
    ylo, xlo = b.neg(ynlo), b.neg(xnlo)
    above = b.oge(ylo, 0.0)
    under = b.mand(b.ole(yhi, 0.0), b.mnot(above))
    mirrored, pair = _extreme(b, ylo, yhi, xlo, xhi, under)
    top = b.select(mirrored, pair[0], pair[1])
    mirrored, pair = _extreme(b, b.neg(yhi), ynlo, xlo, xhi, above)  # the lower end is minus the largest of the mirror image
    bottom = b.select(mirrored, pair[0], pair[1])
    cut = b.mand(b.mand(b.olt(ylo, 0.0), b.oge(yhi, 0.0)), b.olt(xlo, 0.0))
    return b.select(cut, _PI_UP, b.min(bottom, _PI_UP)), b.select(cut, _PI_UP, b.min(top, _PI_UP))


def estimate_arctan2(b, y, x):
    return _signed(b, y, _estimated(b, b.abs(y), 0.0, x, 0.0))


_PROOF = ("Approximation error in Arb, rounding errors by running the tail on cells of q with an analysing builder; the quotient "
          "is double-double, below 2**-90: tests/interval/proof_inverse_trigonometric.py.")
FUNCTIONS = {
    "arctan": Elementary(enclose_arctan, estimate_arctan, 4, _PROOF),
    "arcsin": Elementary(enclose_arcsin, estimate_arcsin, 4, _PROOF),
    "arccos": Elementary(enclose_arccos, estimate_arccos, 4, _PROOF),
    "arctan2": Elementary(enclose_arctan2, estimate_arctan2, 4, _PROOF),
}
