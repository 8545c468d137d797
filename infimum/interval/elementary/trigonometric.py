"""sin, cos, tan, and sin and cos together.

Reduction (`angle_reduction.py`): k = the integer near x/(pi/2), x - k*pi/2 = r + low. Then, with z = r*r,

    sin(r + low) = r + (r*z*P(z) + low),  cos(r + low) = h + (e + z*z*Q(z) - r*low),  h + e = 1 - z/2,

a head and a tail, and the tail of either is off by at most ERROR*z + d*|r|, where d is that of the reduction. The quarter k
chooses between them and the sign. Whether an extremum lies in the interval is decided by the numbers of quarters below its ends,
exactly: r is accurate, so its sign is right.

For the tangent, u = 2 tan(r/2) = r + (r*z*T(z) + low*(1 + z/4)) and tan r = u / (1 - u*u/4), as double-double; odd quarters
take -1/tan. A pole lies between two arguments if and only if their quarters say so: r is accurate, so its sign is right.
"""

from functools import partial

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.angle_reduction import INTEGER, quarters_below, reduce_any, reduce_ends
from infimum.interval.elementary.doubledouble import dd_div, ends, fast_two_sum, horner, two_square

# Polynomials in z on [0, R*R]; approximation errors proved in tests/interval/proof_trigonometric.py
REACH = 0.7854  # |r| <= pi/4 + pi/2 * (2**-23 + 2**-24) for |x| <= LIMIT
SIN = tuple(map(float.fromhex, (
    "-0x1.5555555555555p-3", "0x1.1111111110bb2p-7", "-0x1.a01a019e83a8fp-13", "0x1.71de3796878b1p-19",
    "-0x1.ae600b00160cap-26", "0x1.5e0b190695154p-33")))
COS = tuple(map(float.fromhex, (
    "0x1.5555555555555p-5", "-0x1.6c16c16c16967p-10", "0x1.a01a019f4eaf1p-16", "-0x1.27e4fa17d8c71p-22",
    "0x1.1eeb68e7eb073p-29", "-0x1.907da2754caa9p-37")))
TAN = tuple(map(float.fromhex, (
    "0x1.5555555555556p-4", "0x1.11111111109e0p-7", "0x1.ba1ba1bb51d8cp-11", "0x1.664f47e202bc4p-14", "0x1.226e5efee79ddp-17",
    "0x1.d6c7bf071b9b9p-21", "0x1.7ea90ab1a6a43p-24", "0x1.2892ae27407ccp-27", "0x1.4e75debe491f2p-30")))

# The tails of sin and cos are off by at most ERROR z + d |r|, the tangent by (TAN_ERROR z + d) of itself.
ERROR = 57 * 2.0**-58
TAN_ERROR = 0.625 * 2.0**-52


def head_of_cos(b, z):
    """(h, e): h + e = 1 - z/2; e, the part that h lost, is found with one rounding more, of 2**-52 |e|."""
    h = b.fma(z, -0.5, 1.0)
    return h, b.fma(z, -0.5, b.sub(1.0, h))


def sin_tail(b, r, low, z):
    """sin(r + low) - r."""
    return b.fma(b.mul(z, r), horner(b, z, SIN), low)


def cos_tail(b, r, low, z, e):
    """cos(r + low) - h."""
    return b.fma(b.mul(z, z), horner(b, z, COS), b.fma(b.neg(r), low, e))


def _both(b, w, r, low, d=0.0):
    """(w, sine, cosine, error) of the rest r + low; sine and cosine are (head, tail).

    Where products underflow, r = x and low = 0; the tails are off by three times 2**-1074 at most, and by 2**-1074 where
    |r| < 2**-1000: z is 2**-1074 there and e is 0. The error, a sum of two positive numbers rounded up, is 2**-1073 or more,
    unless x = 0, where everything is exact.
    """
    z = b.mul(r, r)
    h, e = head_of_cos(b, z)
    error = b.fma(z, ERROR, b.mul(b.abs(r), d))
    return w, (r, sin_tail(b, r, low, z)), (h, cos_tail(b, r, low, z, e)), error


def _turned(b, w, sine, cosine):
    """sin of the quarter in w's low bits: (head, tail), and whether they change their signs."""
    quarter = b.bits(w)
    odd, flip = (b.ine(b.iand(quarter, bit), 0) for bit in (1, 2))
    return *(b.select(odd, c, s) for s, c in zip(sine, cosine, strict=True)), flip


def _turned_ends(b, w, sine, cosine, error):
    """The pair of that sine: a change of sign makes its ends change places."""
    head, tail, flip = _turned(b, w, sine, cosine)
    nlo, hi = ends(b, head, tail, error)
    return b.select(flip, hi, nlo), b.select(flip, nlo, hi)


def _sin_ends(b, reduced):
    """(the ends of the sine, the quarters below the angle)."""
    w, *parts = _both(b, *reduced)
    return _turned_ends(b, w, *parts), quarters_below(b, w, parts[0][0])


def _sincos_ends(b, reduced):
    """(the ends of the sine, those of the cosine, the quarters below the angle)."""
    w, *parts = _both(b, *reduced)
    return _turned_ends(b, w, *parts), _turned_ends(b, b.add(w, 1.0), *parts), quarters_below(b, w, parts[0][0])


def _range(b, low, high, quarters, shift=0):
    """The range of a sine from the pairs at both ends and the quarters below these, `shift` short: crests lie after 1, 5, …
    quarters, troughs after 3, 7, …

    Only 0 is a multiple of pi/2 among the doubles, and there the end itself has the extreme value.
    """
    top, bottom = b.min(b.max(low[1], high[1]), 1.0), b.min(b.max(low[0], high[0]), 1.0)

    def meets(first):
        """Whether `first` + 4m quarters of a turn lie between the ends for some m: after the whole turns before the low end."""
        after = shift + 4 - first
        turns = b.iand(b.iadd(quarters[0], after), -4)
        return b.islt(3 - after, b.isub(quarters[1], turns))
    return b.select(meets(3), 1.0, bottom), b.select(meets(1), 1.0, top)


def _enclose_turned(b, nlo, hi, shift):
    (low, p), (high, q) = (_sin_ends(b, end) for end in reduce_ends(b, nlo, hi, shift))
    return _range(b, low, high, (p, q))


def enclose_sin(b, nlo, hi):
    return _enclose_turned(b, nlo, hi, 0)


def enclose_cos(b, nlo, hi):
    return _enclose_turned(b, nlo, hi, 1)


def enclose_sincos(b, nlo, hi):
    """(-lo, hi) of sin and (-lo, hi) of cos, for less than the price of both."""
    (sin_low, cos_low, p), (sin_high, cos_high, q) = (_sincos_ends(b, end) for end in reduce_ends(b, nlo, hi))
    return *_range(b, sin_low, sin_high, (p, q), 0), *_range(b, cos_low, cos_high, (p, q), 1)


def _estimate_turned(b, x, shift):
    head, tail, flip = _turned(b, *_both(b, *reduce_any(b, x, shift))[:3])
    value = b.min(b.max(b.add(head, tail), -1.0), 1.0)
    return b.select(flip, b.neg(value), value)


def estimate_sin(b, x):
    return _estimate_turned(b, x, 0)


def estimate_cos(b, x):
    return _estimate_turned(b, x, 1)


# ---- tangent
def tan_tail(b, r, low, z):
    """2 tan((r + low)/2) - r."""
    return b.fma(b.mul(z, r), horner(b, z, TAN), b.fma(b.mul(z, 0.25), low, low))


def _tan_parts(b, x, w, r, low, d=0.0):
    """(head, tail, error, q): the tangent, and the number q of quarters below x."""
    z = b.mul(r, r)
    u = fast_two_sum(b, r, tan_tail(b, r, low, z))
    square, lost = two_square(b, u[0])
    below = b.fma(square, -0.25, 1.0)
    missed = b.fma(square, -0.25, b.sub(1.0, below))
    under = below, b.fma(b.mul(u[0], -0.5), u[1], b.fma(lost, -0.25, missed))  # 1 - u*u/4 without u1*u1/4
    odd = b.ine(b.iand(b.bits(w), 1), 0)
    head, tail = dd_div(b, tuple(b.select(odd, b.neg(c), s) for s, c in zip(u, under, strict=True)),
                        tuple(b.select(odd, s, c) for s, c in zip(u, under, strict=True)))
    small = b.olt(b.abs(x), 2.0**-33)  # tan x - x < |x| d, and nothing underflows unseen
    head, tail = b.select(small, x, head), b.select(small, 0.0, tail)
    error, k = b.mul(b.abs(head), b.fma(z, TAN_ERROR, d)), b.sub(w, INTEGER)
    return head, tail, error, b.select(b.olt(r, 0.0), b.sub(k, 1.0), k)


def _tan_ends(b, x, reduced):
    head, tail, error, quarters = _tan_parts(b, x, *reduced)
    return (*ends(b, head, tail, error), b.floor(b.mul(b.add(quarters, 1.0), 0.5)))


def enclose_tan(b, nlo, hi):
    low, high = map(partial(_tan_ends, b), (b.neg(nlo), hi), reduce_ends(b, nlo, hi))
    inside = b.oeq(low[2], high[2])
    return b.select(inside, low[0], float("inf")), b.select(inside, high[1], float("inf"))


def estimate_tan(b, x):
    head, tail, _, _ = _tan_parts(b, x, *reduce_any(b, x))
    return b.add(head, tail)


_PROOF = ("Approximation errors in Arb, rounding errors by running this code on cells of r with an analysing builder, "
          "the smallest |r| by continued fractions: tests/interval/proof_trigonometric.py. 4 ulp for |x| <= 2**20; ")
FUNCTIONS = {
    "sin": Elementary(enclose_sin, estimate_sin, 4, _PROOF + "beyond 2**30 intervals of 3 and more are [-1, 1]."),
    "cos": Elementary(enclose_cos, estimate_cos, 4, _PROOF + "beyond 2**30 intervals of 3 and more are [-1, 1]."),
    "tan": Elementary(enclose_tan, estimate_tan, 4, _PROOF + "beyond 2**30 those are the whole line."),
}
