"""Double-double numbers in upward arithmetic: a value is the unevaluated sum (h, l) of two doubles.

The published algorithms are proved for rounding to nearest and do not carry over as they are. What holds when every
operation rounds upward, with u = 2**-52 (a rounding moves v by less than u*|v|), barring overflow and underflow:

* s = up(a + c) with |a| >= |c| or a = 0: s - a is exact, so the lost part c - (s - a) is rounded once, by at most u of itself.
* p = up(x*y) with |x*y| >= 2**-968: the lost part x*y - p is a double, and fma finds it.

"Normal" below means |l| <= 4u*|h|. Bounds are relative to the exact result of the operation unless stated otherwise, and are
rounded up to a power of two: each leaves a factor of two or more over the sum of the roundings listed beside it. A result
whose low part vanishes by itself is exact: products and quotients of numbers that fit are not blurred.
"""


def two_prod(b, x, y):
    """(p, e) with p + e = x*y exactly if |x*y| >= 2**-968 or x*y = 0, p rounded up, e <= 0."""
    p = b.mul(x, y)
    return p, b.fma(x, y, b.neg(p))


def two_square(b, x):
    """(p, e) with p + e = x*x exactly if |x| >= 2**-484 or x = 0."""
    return two_prod(b, x, x)


def fast_two_sum(b, a, c):
    """(s, t) with |a + c - s - t| <= 2**-104 |a + c|, for |a| >= |c| or a = 0. |t| <= u*|a + c|."""
    s = b.add(a, c)
    return s, b.sub(c, b.sub(s, a))


def two_sum(b, a, c):
    """fast_two_sum for operands of unknown order."""
    swap = b.olt(b.abs(a), b.abs(c))
    return fast_two_sum(b, b.select(swap, c, a), b.select(swap, a, c))


def dd_neg(b, x):
    """-x, exact."""
    return b.neg(x[0]), b.neg(x[1])


def dd_scale(b, x, power):
    """x times a power of two, exact barring overflow and underflow."""
    return b.mul(x[0], power), b.mul(x[1], power)


def dd_add(b, x, y):
    """x + y with error <= 2**-99 (|xh| + |yh|), for |xh| >= |yh| or xh = 0, and |xh + yh| >= 2**-40 |xh| or xh + yh = 0.

    Roundings: the sum of the heads 1u^2, of the tails 8u^2, of tail and lost part 9u^2, at the end 1u^2: 19 of 2**-104.
    """
    s, t = fast_two_sum(b, x[0], y[0])
    return fast_two_sum(b, s, b.add(t, b.add(x[1], y[1])))


def dd_add_d(b, x, y):
    """x + y for a double y, |xh| >= |y| or xh = 0; conditions and error as dd_add."""
    s, t = fast_two_sum(b, x[0], y)
    return fast_two_sum(b, s, b.add(t, x[1]))


def d_add_dd(b, x, y):
    """x + y for a double x and a double-double y, |x| >= |yh| or x = 0; conditions and error as dd_add."""
    s, t = fast_two_sum(b, x, y[0])
    return fast_two_sum(b, s, b.add(t, y[1]))


def dd_mul(b, x, y):
    """x*y with relative error <= 2**-98. Roundings: 5u^2 and 9u^2 in the tail, 16u^2 for the product of the tails, 1u^2."""
    p, e = two_prod(b, x[0], y[0])
    return fast_two_sum(b, p, b.fma(x[0], y[1], b.fma(x[1], y[0], e)))


def dd_mul_d(b, x, y):
    """x*y for a double y, relative error <= 2**-100. Roundings: 5u^2 in the tail, 1u^2 at the end."""
    p, e = two_prod(b, x[0], y)
    return fast_two_sum(b, p, b.fma(x[1], y, e))


def dd_square(b, x):
    """x*x, as dd_mul."""
    p, e = two_square(b, x[0])
    return fast_two_sum(b, p, b.fma(b.add(x[0], x[0]), x[1], e))


def dd_div(b, x, y):
    """x/y with relative error <= 2**-97, one division.

    The quotient q of the heads is off by 3u at most (reciprocal, product, their product). The remainder x - q*y is at most 12u
    of x and is rounded three times (3, 7 and 12 u^2), then multiplied by a reciprocal of yh with error 2u and not of y (12*6u^2).
    """
    inverse = b.div(1.0, y[0])
    q = b.mul(x[0], inverse)
    rest = b.fma(b.neg(q), y[1], b.add(b.fma(b.neg(q), y[0], x[0]), x[1]))
    return fast_two_sum(b, q, b.mul(rest, inverse))


def dd_sqrt(b, x):
    """The square root of x > 0 with relative error <= 2**-97.

    The root s of the head is off by u; the remainder (at most 2u, and 4u from xl) is rounded twice (2 and 6 u^2), divided by 2s
    with errors u and u (12u^2 with the division's own), and the square of the correction is left out (5u^2).
    """
    s = b.sqrt(x[0])
    rest = b.add(b.fma(b.neg(s), s, x[0]), x[1])
    return fast_two_sum(b, s, b.div(rest, b.add(s, s)))


def ends(b, head, tail, error):
    """The pair (-lo, hi) of head + tail +- error: one rounding of the head, whose own error is nothing but widening."""
    return b.sub(b.sub(error, tail), head), b.add(head, b.add(tail, error))


def horner(b, x, coefficients):
    """c0 + c1*x + c2*x*x + …"""
    value = coefficients[-1]
    for c in reversed(coefficients[:-1]):
        value = b.fma(value, x, c)
    return value
