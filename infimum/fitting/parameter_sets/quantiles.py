"""Quantiles of the distributions of sums of squares, enclosed: that of chi-square, and of F, a ratio of two of them.

Their distribution functions are series of positive terms, summed in fixed-point arithmetic on integers, rounded outward. What is
cut off is less than a geometric series, as the quotient of one term and the one before approaches its limit from one side.

Proof: docs/proofs/sublevel_sets.md.
"""

from collections.abc import Callable
from functools import cache
from math import prod

from infimum.interval.fixed_point import PLACES, FixedPointInterval, exp, half_pi, root, whole
from infimum.problem.problem import Interval

_TERM_BITS, _SUM_BITS = 256, 100  # of a term, behind the point; and of a sum
_QUANTILE_ERROR = 2.0**-44        # of a quantile, to each side
_STEPS = 100
_MOST_INTEGER_FACTORS = 1 << 8  # factors that are multiplied as integers


@cache
def chi_square(level: float, degrees: int) -> Interval:
    """The number that a sum of squares of `degrees` standard normal variables exceeds with probability 1 - level.

    >>> chi_square(0.95, 2)  # -2 log(0.05)
    [5.99146454710..., 5.99146454710...]
    """
    return _quantile(level, float(degrees), lambda q: _chi_square_below(q, degrees))


@cache
def f_ratio(level: float, degrees: int, others: int) -> Interval:
    """The same for the ratio of two such sums, each by its number of variables.

    >>> f_ratio(0.95, 2, 12)  # 6 (0.05**(-1/6) - 1)
    [3.88529383465..., 3.88529383465...]
    """
    return _quantile(level, 1.0, lambda q: _f_below(q, degrees, others))


def _quantile(level: float, near: float, below: Callable[[FixedPointInterval], FixedPointInterval]) -> Interval:
    """Where a rising function is the level, from a positive number not far from there. False position (Illinois) comes close;
    what counts is that the function is certainly not above the level at one end, and not below it at the other."""
    wanted = FixedPointInterval.between(level, level)

    def beyond(q: float) -> FixedPointInterval:
        return below(FixedPointInterval.between(q, q)) - wanted
    low = high = near
    while (under := beyond(low)).hi > 0:
        low /= 2
    while (over := beyond(high)).lo < 0:
        high *= 2
    (_, at_low), (at_high, _), place, last = under.ends(), over.ends(), low, 0
    for _ in range(_STEPS):
        before, place = place, low + (high - low) * (at_low / (at_low - at_high)) if at_low < at_high else low
        if not low < place < high or abs(place - before) <= _QUANTILE_ERROR * place:
            break
        at, side = sum(beyond(place).ends()) / 2, 1
        if at < 0:
            low, at_low, at_high = place, at, at_high / 2 if last == side else at_high
        else:
            side, high, at_high, at_low = -1, place, at, at_low / 2 if last == -1 else at_low
        last = side
    low, high = place * (1 - _QUANTILE_ERROR), place * (1 + _QUANTILE_ERROR)
    while beyond(low).hi > 0:
        low *= 1 - _QUANTILE_ERROR
    while beyond(high).lo < 0:
        high *= 1 + _QUANTILE_ERROR
    return Interval(low, high)


def _f_below(q: FixedPointInterval, degrees: int, others: int) -> FixedPointInterval:
    """The probability that the ratio is below q: the regularised incomplete beta function at x, of half the degrees."""
    scaled = q * whole(degrees)
    total = scaled + whole(others)
    x, rest = scaled / total, whole(others) / total
    if x.hi <= rest.lo:
        return _beta(x, rest, degrees, others)
    return whole(1) - _beta(rest, x, others, degrees)


def _beta(x: FixedPointInterval, rest: FixedPointInterval, m: int, n: int) -> FixedPointInterval:
    """I_x(m/2, n/2) = x^a (1-x)^b / (a B(a, b)) · (1 + Σ Π x (a+b+k) / (a+1+k)), for x at most about 1/2; rest is 1 - x."""
    factor = _half_power(x, m) * _half_power(rest, n) * _inverse_beta(m, n) * (whole(2) / whole(m))
    return factor * _series(x, (m + n, 2), m + 2)


def _chi_square_below(q: FixedPointInterval, degrees: int) -> FixedPointInterval:
    """P(a, x) = x^a e^-x / Γ(a+1) · (1 + Σ Π x / (a+1+k)) with a half the degrees and x = q/2."""
    x = q / whole(2)
    return _half_power(x, degrees) * exp(-x) * _series(x, (2, 0), degrees + 2) / _gamma(degrees + 2)


def _series(x: FixedPointInterval, above: tuple[int, int], below: int) -> FixedPointInterval:
    """1 + Σ_j Π_{k<j} q_k with q_k = x (a + s k) / (b + 2k), (a, s) `above` and b `below`, s being 0 or 2; in units of 2**-_BITS.

    q_k goes from any k on to its limit, s x/2, up or down: later ones are at most the larger of both.
    """
    unit, (a, s), k = 1 << _TERM_BITS, above, 0
    x_low, x_high = x.lo >> PLACES - _TERM_BITS, -(-x.hi >> PLACES - _TERM_BITS)
    low = high = total_low = total_high = unit
    while True:
        divisor = below + 2 * k << _TERM_BITS
        low, high = low * x_low * (a + s * k) // divisor, -(-high * x_high * (a + s * k) // divisor)
        most = max(-(-x_high * (a + s * k) // (below + 2 * k)), x_high * s // 2)
        if most < unit:
            rest = -(-high * unit // (unit - most))
            if rest << _SUM_BITS < total_low:
                return FixedPointInterval(total_low << PLACES - _TERM_BITS, total_high + rest << PLACES - _TERM_BITS)
        total_low, total_high, k = total_low + low, total_high + high, k + 1


def _half_power(x: FixedPointInterval, m: int) -> FixedPointInterval:
    """x^(m/2)."""
    return x ** (m // 2) * (root(x) if m % 2 else whole(1))


def _pi() -> FixedPointInterval:
    half = half_pi(PLACES)
    return FixedPointInterval(2 * half - 2, 2 * half + 2)


@cache
def _gamma(m: int) -> FixedPointInterval:
    """Γ(m/2)."""
    return _times_quotient(root(_pi()) if m % 2 else whole(1), range(2 - m % 2, m, 2), range(2, 3))


@cache
def _inverse_beta(m: int, n: int) -> FixedPointInterval:
    """1 / B(m/2, n/2) = Γ((m+n)/2) / (Γ(m/2) Γ(n/2)): from m down to 2 or 1, and then, if it is 1, from n down."""
    first, second = 2 - m % 2, 2 - n % 2
    total = _times_quotient(whole(1), range(first + n, m + n, 2), range(first, m, 2))
    if first == 2:
        return total * whole(n) / whole(2)
    total = _times_quotient(total, range(second + 1, n + 1, 2), range(second, n, 2))
    return total / whole(2) if second == 2 else total / _pi()


def _times_quotient(total: FixedPointInterval, above: range, below: range) -> FixedPointInterval:
    """Times the product of the quotients of the numbers of two ranges, of which the second may be one number for all; many at a
    time, exactly."""
    for k in range(0, len(above), _MOST_INTEGER_FACTORS):
        some = above[k:k + _MOST_INTEGER_FACTORS]
        divisor = prod(below[k:k + _MOST_INTEGER_FACTORS]) if len(below) == len(above) else below[0] ** len(some)
        product = prod(some)
        total = FixedPointInterval(total.lo * product // divisor, -(-total.hi * product // divisor))
    return total
