"""cbrt and hypot. Both end as a head and a tail whose error is far below an ulp of the tail."""

from infimum.interval.elementary import Elementary
from infimum.interval.elementary.doubledouble import ends, fast_two_sum, horner, two_prod, two_square

_INFINITY = float("inf")
_EXPONENT_HOLDER = 0x4330000000000000  # the bits of 2**52
_THIRD_UP = float.fromhex("0x1.5555555555556p-2")

# m**(-1/3) on [1, 2], relative error below 2**-16: the beginning of an iteration, so nothing but its size enters the proof
INVERSE = tuple(map(float.fromhex, (
    "0x1.c713e2847cbe6p+0", "-0x1.8dd4bd7d34771p+0", "0x1.3a267a3d49ad4p+0", "-0x1.2c4b958d54c08p-1", "0x1.37ce9e9ed0a1dp-3",
    "-0x1.0e87006cbe6bbp-6")))
_INVERSE_ROOTS = 1.0, float.fromhex("0x1.965fea53d6e3dp-1"), float.fromhex("0x1.428a2f98d728bp-1")  # near 2**(-j/3)
CBRT_ERROR = 2.0**-75  # of the head
HYPOT_ERROR = 2.0**-90  # of the head


# ---- cbrt
def _cube_root(b, a):
    """(head, tail, power): cbrt a = (head + tail) * power for a finite a > 0, head in [1, 2], off by CBRT_ERROR at most.

    a = v * 2**(3j) with 1 <= v < 8. s near v**(-1/3) has relative error 2**-16; with e = 1 - v*s**3, |e| <= 2**-14, the step
    s*(1 + e/3 + 2*e*e/9) leaves 14/81 e**3 and a few roundings, below 2**-43. So y = v*s*s has |delta| <= 2**-42, and
    y + (v - y**3)/(3*y*y) leaves delta**2 <= 2**-84. v - y**3 is below 2**-40 v; its roundings, and those of the factor
    s*s/3 for 1/(3*y*y) (2**-41 relative), are below 2**-80 of y.
    """
    tiny = b.olt(a, 2.0**-1022)
    bits = b.bits(b.select(tiny, b.mul(a, 2.0**54), a))
    exponent = b.sub(b.float(b.ior(b.ilshr(bits, 52), _EXPONENT_HOLDER)), 2.0**52)  # biased by 1023 = 3*341
    third = b.floor(b.mul(exponent, _THIRD_UP))
    left = b.fma(third, -3.0, exponent)
    one, two = b.oge(left, 1.0), b.oge(left, 2.0)
    m = b.float(b.ior(b.iand(bits, (1 << 52) - 1), 0x3FF0000000000000))
    v = b.mul(m, b.select(two, 4.0, b.select(one, 2.0, 1.0)))
    s = b.mul(horner(b, m, INVERSE), b.select(two, _INVERSE_ROOTS[2], b.select(one, _INVERSE_ROOTS[1], _INVERSE_ROOTS[0])))
    e = b.fma(b.neg(b.mul(v, s)), b.mul(s, s), 1.0)
    s = b.fma(b.mul(s, e), b.fma(e, 2.0 / 9.0, 1.0 / 3.0), s)
    inverse_square = b.mul(s, s)
    y = b.mul(v, inverse_square)
    p, p_lost = two_square(b, y)
    cube, lost = two_prod(b, p, y)
    rest = b.fma(b.neg(p_lost), y, b.sub(b.sub(v, cube), lost))
    tail = b.mul(rest, b.mul(inverse_square, 1.0 / 3.0))
    biased = b.add(third, b.select(tiny, 2.0**52 + (1023 - 341 - 18), 2.0**52 + (1023 - 341)))  # + 2**52: to read its bits
    return y, tail, b.float(b.ishl(b.bits(biased), 52))


def _cbrt_ends(b, a):
    """The pair of cbrt a for 0 <= a <= inf."""
    head, tail, power = _cube_root(b, a)
    nlo, hi = (b.mul(v, power) for v in ends(b, head, tail, b.mul(head, CBRT_ERROR)))
    itself = b.mor(b.oeq(a, 0.0), b.oeq(a, _INFINITY))
    return b.select(itself, b.neg(a), nlo), b.select(itself, a, hi)


def enclose_cbrt(b, nlo, hi):
    low, high = (_cbrt_ends(b, b.abs(end)) for end in (nlo, hi))
    return b.select(b.ogt(nlo, 0.0), low[1], low[0]), b.select(b.olt(hi, 0.0), high[0], high[1])


def estimate_cbrt(b, x):
    a = b.abs(x)
    head, tail, power = _cube_root(b, a)
    root = b.mul(b.add(head, tail), power)
    root = b.select(b.mor(b.oeq(a, 0.0), b.oeq(a, _INFINITY)), a, root)
    return b.select(b.olt(x, 0.0), b.neg(root), root)


# ---- hypot
def _length(b, x, y):
    """(head, tail, scale, larger, smaller): hypot(x, y) = (head + tail) / scale, 0 <= x, y, off by HYPOT_ERROR at most.

    Scaled, the larger one is between 2**-474 and 2**500, so its square is exact as a double-double; that of the smaller one too,
    or off by less than 2**-1070, 2**-122 of the sum. Relative to the sum, whose lost parts are at most 3u with u = 2**-52: adding
    them rounds by u*u, 2u*u, 3u*u, 4u*u; half of it in the root. The remainder of the root is exact and at most 2u; the division
    by 2*head rounds by 3u*u, and the square of the correction, 4u*u, is left out. In all below 2**-99.
    """
    swap = b.olt(x, y)
    larger, smaller = b.select(swap, y, x), b.select(swap, x, y)
    big, tiny = b.ogt(larger, 2.0**500), b.olt(larger, 2.0**-400)
    scale = b.select(big, 2.0**-600, b.select(tiny, 2.0**600, 1.0))
    m, n = b.mul(larger, scale), b.mul(smaller, scale)
    p, p_lost = two_square(b, m)
    q, q_lost = two_square(b, n)
    total, lost = fast_two_sum(b, p, q)
    head = b.sqrt(total)
    rest = b.add(b.fma(b.neg(head), head, total), b.add(lost, b.add(p_lost, q_lost)))
    return head, b.div(rest, b.add(head, head)), b.select(big, 2.0**600, b.select(tiny, 2.0**-600, 1.0)), larger, smaller


def _hypot_ends(b, x, y):
    """The pair of hypot(x, y) for 0 <= x, y <= inf."""
    head, tail, scale, larger, smaller = _length(b, x, y)
    nlo, hi = (b.mul(v, scale) for v in ends(b, head, tail, b.mul(head, HYPOT_ERROR)))
    itself = b.mor(b.oeq(smaller, 0.0), b.oeq(larger, _INFINITY))
    return b.select(itself, b.neg(larger), nlo), b.select(itself, larger, hi)


def _near(b, nlo, hi):
    """The smallest absolute value of the interval."""
    return b.max(b.max(b.neg(nlo), b.neg(hi)), 0.0)


def enclose_hypot(b, xnlo, xhi, ynlo, yhi):
    bottom = _hypot_ends(b, _near(b, xnlo, xhi), _near(b, ynlo, yhi))[0]
    top = _hypot_ends(b, b.max(xnlo, xhi), b.max(ynlo, yhi))[1]
    return bottom, top


def estimate_hypot(b, x, y):
    head, tail, scale, larger, smaller = _length(b, b.abs(x), b.abs(y))
    itself = b.mor(b.oeq(smaller, 0.0), b.oeq(larger, _INFINITY))
    return b.select(itself, larger, b.mul(b.add(head, tail), scale))


_PROOF = "Error of the last correction counted beside the code, with the constants checked in tests/interval/proof_roots.py."
FUNCTIONS = {
    "cbrt": Elementary(enclose_cbrt, estimate_cbrt, 4, _PROOF),
    "hypot": Elementary(enclose_hypot, estimate_hypot, 4, _PROOF),
}
