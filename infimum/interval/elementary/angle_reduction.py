"""Arguments of sin, cos and tan: the number k of quarter turns in x, and the rest r + low = x - k*pi/2.

Up to LIMIT by three parts of pi/2. Beyond, for any double (after Payne and Hanek), by a function that is called only where a lane
has such an argument: x * 2/pi is wanted without its multiples of 4. The bits of 2/pi lie in words of 53; x is scaled to
s = x * 2**(-53 t) in [2, 2**54), so that the words before number t contribute multiples of 4, and the terms
s * WORDS[t + i] * 2**(-53 i) of the next ones are exact as sums of two doubles. The whole quarters of each are split off,
exactly; what is left is added up.
"""

from functools import partial

from infimum.interval.elementary.doubledouble import dd_mul, two_prod, two_sum

LIMIT = 2.0**30
INTEGER = 1.5 * 2.0**52  # added to a double, leaves its integer in the low bits, rounded up
REDUCTION = 2.0**-64     # up to LIMIT r + low is off by at most this part of r, with room for errors of low order behind it
HALF_PI = tuple(map(float.fromhex, ("0x1.921fb54442d18p+0", "0x1.1a62633145c07p-54", "-0x1.f1976b7ed8fbcp-110")))
_TWO_OVER_PI = float.fromhex("0x1.45f306dc9c883p-1")
WORDS = tuple(map(float, (  # a zero, and 2/pi in words of 53 bits
    0, 0x145f306dc9c882, 0x14a7f09d5f47d4, 0x1a6ee06db14acc, 0x13c439041fe516, 0x0757bd778ac36e, 0x091b8e909374b8,
    0x00324977504e8c, 0x121cfe1deb1cb1, 0x0534e7dd1046be, 0x14baed1213a671, 0x18135a2fbf209c, 0x191d639835339f,
    0x093908bf177bf2, 0x0a0ec7fe25fff7, 0x102cc07f79788c, 0x0b5a0a6d1f6d36, 0x0fd9e4f96136e9, 0x1d18fd9a797fa8,
    0x16ba93dd63f5f2, 0x1f17b3d0739f78, 0x14a525d4d7f6bf, 0x0c47e357421580)))
_TERMS = 4               # the words that are used
LOST = 2.0**-96          # beyond LIMIT r + low is off by at most this
_NARROW = 3.0            # less than half a turn: quarters modulo 4 tell how many of them lie in an interval


def reduce(b, x, shift=0):
    """(w, r, low) of |x| <= LIMIT: x = k*pi/2 + r + low, off by at most 2**-74 |r|; k + shift in the low bits of w.

    x - k*H0 is a multiple of 2**-53 below 1, so exact; k*H1 rounds to v; r = x - k*H0 - v is rounded and the difference
    `gone` is exact again (where r is much smaller than v, the subtraction was exact). What r misses is found by fma.
    """
    w = b.add(b.fma(x, _TWO_OVER_PI, -0.5), INTEGER + shift)
    k = b.sub(w, INTEGER + shift)
    less = b.neg(k)
    first = b.fma(less, HALF_PI[0], x)
    r = b.sub(first, b.mul(k, HALF_PI[1]))
    gone = b.sub(first, r)
    return w, r, b.fma(less, HALF_PI[2], b.fma(less, HALF_PI[1], gone))


def reduce_any(b, x, shift=0):
    """(w, r, low) of any double; beyond LIMIT k modulo 4."""
    return b.outline_where("reduce_large", reduce_large, b.mnot(b.ole(b.abs(x), LIMIT)), reduce(b, x, shift), x, float(shift))


def reduce_ends(b, nlo, hi, shift=0):
    """((w, r, low, d), (w, r, low, d)) of both ends of an interval, r + low off by at most d |r|.

    Beyond LIMIT k is right modulo 4. Yet the quarters below both ends differ by as many as there are in an interval narrower than
    _NARROW, and by very many in any other.
    """
    low, high = ((*reduce(b, end, shift), REDUCTION) for end in (b.neg(nlo), hi))
    far = b.mnot(b.ole(b.max(nlo, hi), LIMIT))
    found = b.outline_where("reduce_large_ends", _reduce_large_ends, far, (*low, *high), nlo, hi, float(shift))
    return found[:4], found[4:]


def quarters_below(b, w, r):
    """The number of whole quarters below the angle in w, plus a multiple of 4: one less where r < 0. The sign of r is right."""
    return b.isub(b.bits(w), b.ilshr(b.bits(r), 63))


def _reduce_large_ends(b, nlo, hi, shift):
    """An interval that is narrow and has an end beyond LIMIT has both ends beyond 2."""
    (w, r, low), (v, s, slow) = (b.outline("reduce_large", reduce_large, end, shift) for end in (b.neg(nlo), hi))
    first, last = quarters_below(b, w, r), quarters_below(b, v, s)
    v = b.float(b.iadd(b.bits(v), b.iand(b.iadd(b.isub(first, last), 3), -4)))  # the least last >= first
    narrow = b.olt(b.add(nlo, hi), _NARROW)
    w, v = b.select(narrow, w, INTEGER), b.select(narrow, v, INTEGER + 1024)
    return w, r, low, _relative(b, r), v, s, slow, _relative(b, s)


def _relative(b, r):
    """LOST as a part of r, twice, since the tangent is off by up to 1.6 times that part of it."""
    return b.add(b.div(2 * LOST, b.abs(r)), REDUCTION)


def reduce_large(b, x, shift):
    """(w, r, low) of |x| >= 2: x = k*pi/2 + r + low with |r| < 0.7854, off by at most LOST; k + shift modulo 4 in w.

    In quarters, with |s| < 2**54: what the fourth term loses by rounding, and all the terms after it, 2 * 2**-104. The lost parts
    of the three sums are at most 2**-51 and are rounded by 2**-103 each; they, the second half of the third term and the fourth
    term are below 2**-49 together, four roundings of 2**-102. All this is below 2**-99; times pi/2, and with the 2**-98 of the
    product, it is below 2**-97.
    """
    s, words = _window(b, x)
    scaled = [s, *(b.mul(s, 2.0 ** (-53 * i)) for i in range(1, _TERMS))]
    (first, more), (second, rest), (third, little) = map(partial(two_prod, b), scaled[:3], words[:3])
    quarters, parts = zip(*(_whole(b, term) for term in (first, more, second, rest, third)), strict=True)
    total, tail = b.add(parts[0], parts[1]), b.fma(scaled[3], words[3], little)  # multiples of 2**-51: this sum is exact
    for part in parts[2:]:
        total, lost = two_sum(b, total, part)
        tail = b.add(tail, lost)
    last = b.roundeven(total)
    turns = two_sum(b, b.sub(total, last), tail)
    count = b.add(last, shift)
    for q in quarters:
        count = b.add(count, q)
    return b.add(count, INTEGER), *dd_mul(b, turns, HALF_PI[:2])


def _window(b, x):
    """(s, the words from number t on)."""
    s, words = x, WORDS
    for step in (16, 8, 4, 2, 1):
        large = b.oge(b.abs(s), 2.0 ** (53 * step + 1))
        s = b.select(large, b.mul(s, 2.0 ** (-53 * step)), s)
        later = words[step:] + words[len(words) - step:]  # beyond the last: no double is so large
        words = tuple(b.select(large, new, old) for new, old in zip(later, words[:step - 1 + _TERMS], strict=False))
    return s, words


def _whole(b, x):
    """(the nearest integer modulo 4, what x is beside it), exact."""
    k = b.roundeven(x)
    return b.fma(b.roundeven(b.mul(k, 0.25)), -4.0, k), b.sub(x, k)
