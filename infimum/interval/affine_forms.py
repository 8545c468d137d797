"""Affine forms: a number as a linear function of the variables and an error, in upward arithmetic.

On a box with the middle m and the half widths w let x_j = m_j + w_j t_j. The form (c, s, e) of a number y says that at every
point x of the box where y is defined

    |y(x) - c - Σ s_j t_j| <= e,    t in [-1, 1]**n.

Sums of forms cancel what their numbers share, which sums of intervals do not; so does every number of a long recurrence keep its
dependence on the variables. A product adds the product of the two linear parts to the error, whose squares t_j² lie in [0, 1]:

    (Σ a_i t_i)(Σ b_j t_j) in ½ Σ a_j b_j ± (Σ |a_i| Σ |b_j| - ½ Σ |a_j b_j|).

**Rounding.** A sum or product v, rounded up, is off by at most 2**-51 |v| + 2**-1074, unless it overflows; so forms of sizes
beyond 2**1000 have an infinite error. Forms of which the error is infinite, or something NaN, say nothing.

Beside its form a number has its enclosure, which is met with the range of the form. Where the form is no better than the
enclosure alone, its slopes are dropped: errors never outgrow what intervals know.

All functions take and return doubles, so that they can be written out of line; a form is (c, *s, e).

Proof: docs/proofs/affine_bounds.md.
"""

from collections.abc import Sequence
from typing import Any

from infimum.interval.pair import INF

_UNIT, _TINY, _LARGE = 2.0**-51, 2.0**-1060, 2.0**1000  # TINY is many times 2**-1074


def variable(b, j: Any, n: int, lo: Any, hi: Any) -> tuple[Any, ...]:
    """The form of x_j in [lo, hi], and its middle and half width: any double is a middle that lies inside, and the half width is
    rounded up. In a loop j is the turn's."""
    middle = b.min(b.max(b.add(b.mul(lo, 0.5), b.mul(hi, 0.5)), lo), hi)
    half = b.max(b.sub(hi, middle), b.sub(middle, lo))
    zero = b.const(0.0)
    usable = b.olt(b.abs(middle), _LARGE)
    error = b.select(b.mand(usable, b.olt(half, _LARGE)), 0.0, INF)
    if isinstance(j, int):
        return (middle, *(half if i == j else zero for i in range(n)), error)
    return (middle, *(b.select(b.ueq(j, i), half, zero) for i in range(n)), error)


def constant(b, n: int, nlo: Any, hi: Any) -> tuple[Any, ...]:
    """The form without slopes of what lies in [-nlo, hi]."""
    middle = b.sub(b.mul(0.5, hi), b.mul(0.5, nlo))
    return (middle, *(b.const(0.0),) * n, _error(b, b.abs(middle), b.max(b.sub(hi, middle), b.add(middle, nlo))))


def total(b, values: Sequence[Any]) -> Any:
    """The sum of their sizes, rounded up."""
    found = b.abs(values[0])
    for v in values[1:]:
        found = b.add(found, b.abs(v))
    return found


def _error(b, size: Any, error: Any) -> Any:
    """The error with what rounding adds to it, where the computed numbers have this size in all."""
    return b.select(b.olt(size, _LARGE), b.add(b.fma(_UNIT, size, error), _TINY), INF)


def sum_of(b, *given: Any) -> tuple[Any, ...]:
    """The enclosure of x + y as it is known, and the forms of x and y: the enclosure and the form of the sum."""
    one, other = _halves(given[2:])
    found = [b.add(p, q) for p, q in zip(one[:-1], other[:-1], strict=True)]
    return _met(b, *given[:2], (*found, _error(b, total(b, found), b.add(one[-1], other[-1]))))


def difference_of(b, *given: Any) -> tuple[Any, ...]:
    """The same for x - y."""
    one, other = _halves(given[2:])
    return sum_of(b, *given[:2], *one, *(b.neg(v) for v in other[:-1]), other[-1])


def product_of(b, *given: Any) -> tuple[Any, ...]:
    """The same for x y; behind its enclosure is that of y."""
    (c, *s, e), (k, *r, g) = _halves(given[4:])
    reach, other = total(b, s), total(b, r)
    size_y = b.add(b.add(b.abs(k), other), g)
    known = b.max(b.abs(given[2]), b.abs(given[3]))  # the size of y by its enclosure
    size_y = b.select(b.mand(b.olt(known, size_y), b.mnot(b.uno(given[2], given[3]))), known, size_y)
    squares = [b.mul(p, q) for p, q in zip(s, r, strict=True)]
    least = [b.mul(b.neg(b.abs(p)), b.abs(q)) for p, q in zip(s, r, strict=True)]  # minus |a_j b_j|, rounded up
    shift, spread = squares[0], least[0]
    for p, q in zip(squares[1:], least[1:], strict=True):
        shift, spread = b.add(shift, p), b.add(spread, q)
    flat = b.mul(c, k)
    centre = b.fma(0.5, shift, flat)
    slopes = [b.fma(c, q, b.mul(k, p)) for p, q in zip(s, r, strict=True)]
    size = b.add(b.add(total(b, [centre, *slopes]), b.add(b.abs(flat), b.mul(b.abs(k), reach))),
                 b.mul(float(len(s)), total(b, squares)))  # each of these is rounded once, partial sums of squares n times
    error = b.fma(0.5, spread, b.mul(reach, other))
    error = b.add(b.max(error, 0.0), b.fma(b.add(b.abs(c), reach), g, b.mul(size_y, e)))
    return _met(b, *given[:2], (centre, *slopes, _error(b, size, error)))


def multiple_of(b, factor: Any, form: Sequence[Any], size: Any) -> tuple[tuple[Any, ...], Any]:
    """The form of a double times x, which says as much of it as the form of x does of x, and the size of its numbers; from the
    size of those of x."""
    scale = b.abs(factor)
    size = b.mul(scale, size)
    return (*(b.mul(factor, v) for v in form[:-1]), _error(b, size, b.mul(scale, form[-1]))), size


def add_to(b, one: Sequence[Any], size: Any, other: Sequence[Any], more: Any) -> tuple[tuple[Any, ...], Any]:
    """Two forms and the sizes of their numbers: those of the sum, to be added to further ones.

    Sums of doubles are off by at most 2**-52 of their size, and do not underflow. What is added up here has no larger size than
    that of all addends together, but for what rounding adds, which is far less than as much again. Whether this is too
    large is only asked at the end."""
    size = b.add(size, more)
    found = tuple(b.add(p, q) for p, q in zip(one[:-1], other[:-1], strict=True))
    return (*found, b.fma(_UNIT, size, b.add(one[-1], other[-1]))), size


def added_up(b, nlo: Any, hi: Any, size: Any, *form: Any) -> tuple[Any, ...]:
    """The enclosure and the form of what was added up."""
    return _met(b, nlo, hi, (*form[:-1], b.select(b.olt(size, _LARGE), form[-1], INF)))


def along_line(b, *given: Any) -> tuple[Any, ...]:
    """The enclosure and the form of y, where the form of x and that of y - s x as a constant are known: the enclosure of y, s,
    minus the lower end and the upper end of y - s x, the form of x."""
    nlo, hi, slope, below, above, c, *s, e = given
    middle = b.sub(b.mul(0.5, above), b.mul(0.5, below))
    flat, slopes = b.mul(slope, c), [b.mul(slope, v) for v in s]
    centre = b.add(flat, middle)
    spread = b.max(b.sub(above, middle), b.add(middle, below))
    size = b.add(total(b, [centre, *slopes]), b.add(b.abs(flat), b.abs(middle)))
    return _met(b, nlo, hi, (centre, *slopes, _error(b, size, b.fma(b.abs(slope), e, spread))))


def ends(b, form: Sequence[Any]) -> tuple[Any, Any]:
    """Minus the lower end and the upper end of what a form says; NaN or infinite where that is nothing."""
    c, *s, e = form
    reach = b.add(total(b, s), e)
    return b.sub(reach, c), b.add(c, reach)


def _met(b, nlo: Any, hi: Any, form: tuple[Any, ...]) -> tuple[Any, ...]:
    """The enclosure met with the range of the form; and the form, without slopes where those are of no use. The centre stays:
    it is about the number in the middle of the box, which the middle of a wide enclosure is not."""
    low, high = ends(b, form)
    low, high = b.min(low, nlo), b.min(high, hi)
    c, *s, e = form
    c = b.select(b.olt(b.abs(c), _LARGE), c, b.sub(b.mul(0.5, high), b.mul(0.5, low)))
    far = b.max(b.sub(high, c), b.add(low, c))
    flat = b.mnot(b.ogt(far, e))
    return (low, high, c, *(b.select(flat, 0.0, v) for v in s), b.select(flat, far, e))


def _halves(given: Sequence[Any]) -> tuple[Sequence[Any], Sequence[Any]]:
    return given[:len(given) // 2], given[len(given) // 2:]
