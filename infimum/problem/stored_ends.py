"""Ends of bounds that are no doubles, as a checkpoint stores them."""

from fractions import Fraction
from typing import Any

from infimum.expr.real import ExactName, Real
from infimum.problem.variable_bounds import End, end_of


def end_to_store(end: End) -> Any:
    """An end that is no double, in the terms of JSON: a fraction as text, a Real by the doubles around it and its name; None
    where no more than these doubles is known."""
    if isinstance(end.number, Fraction):
        return str(end.number)
    if not isinstance(end.number, Real):
        return None
    name = end.number.name
    return [end.down, end.up, [list(power) for power in name.powers], str(name.factor), str(name.shift)]


def stored_end(stored: Any) -> End:
    """The same back again."""
    if isinstance(stored, str):
        numerator, _, denominator = stored.partition("/")
        return end_of(Fraction(int(numerator), int(denominator or 1)))
    lo, hi, powers, factor, shift = stored
    number = Real(lo, hi, ExactName(tuple((symbol, power) for symbol, power in powers), Fraction(factor), Fraction(shift)))
    return End(lo, hi, number, number.is_irrational)
