"""Numbers as users write them: checks, which rational each of them is, and the doubles next to it."""

import math
import operator
import sys
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from infimum.errors import OptionError

_LONGEST = 10_000  # decimal digits before or after the point: an exponent of a billion would take all memory
_SHOWN = 40        # characters of a number in a message


def round_down(value: Fraction) -> float:
    """The largest double not above a rational."""
    try:
        double = float(value)
    except OverflowError:
        return -math.inf if value < 0 else sys.float_info.max
    return double if Fraction(double) <= value else math.nextafter(double, -math.inf)


def round_up(value: Fraction) -> float:
    """The smallest double not below a rational."""
    return -round_down(-value)


def fraction(value: Any) -> Fraction | None:
    """The rational that a number is; None if it is none: infinite, NaN, not a number, or one such as infimum.pi. Raises
    OverflowError for a decimal whose exponent is so large that nobody could write the number out.

    >>> from decimal import Decimal
    >>> fraction(0.5), fraction(Decimal("0.1")), fraction(math.inf), fraction("1")
    (Fraction(1, 2), Fraction(1, 10), None, None)
    """
    if isinstance(value, Decimal) and value.is_finite() and value and abs(value.adjusted()) > _LONGEST:
        raise OverflowError(f"the exponent of {shown(value)} is too large")
    ratio = getattr(type(value), "as_integer_ratio", None)  # of the type: a Real makes up methods of NumPy's
    try:
        return Fraction(operator.index(value)) if ratio is None else Fraction(*ratio(value))
    except (TypeError, OverflowError, ValueError):
        return None


def shown(value: Any) -> str:
    """A number in a message: a very long one is shortened, which Python may refuse to write at all.

    >>> shown(10**5000), shown(Fraction(1, 3)), shown(0.1)
    ('a number of 16610 bits', '1/3', '0.1')
    """
    if isinstance(value, int) and abs(value) >= 10**_SHOWN:
        return f"a number of {value.bit_length()} bits"
    if isinstance(value, Fraction):
        longest = max(value.numerator.bit_length(), value.denominator.bit_length())
        return str(value) if longest < 3 * _SHOWN else f"a fraction of numbers of {longest} bits"
    text = repr(value)
    return text if len(text) <= 2 * _SHOWN else f"{text[:_SHOWN]}…"


def check_number(name: str, value: Any, optional: bool, positive: bool = False) -> None:
    """Raises OptionError unless it is a number that is not negative, or positive, or None where that is allowed."""
    if value is None and optional:
        return
    number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not number or not (value > 0 if positive else value >= 0):
        raise OptionError(f"{name} must be a {'positive number' if positive else 'number that is not negative'}"
                          f"{', or None' if optional else ''}, not {value!r}")


def check_limits(time_limit: Any, max_boxes: Any) -> None:
    """Raises OptionError unless both are positive numbers or None."""
    for name, limit in (("time_limit", time_limit), ("max_boxes", max_boxes)):
        check_number(name, limit, optional=True, positive=True)


def whole(name: str, value: Any) -> int:
    """A positive whole number, checked."""
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise OptionError(f"{name} must be a positive whole number, not {value!r}")
    return int(value)
